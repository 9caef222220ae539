from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.cli.command import is_corpus
from grater.errors import GraterError
from grater.tables import Judgments, write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion

run = partial(invoked, "agree")
found = partial(as_json, "agree")


@pytest.fixture
def prepositions(tmp_path: Path) -> Path:
    path = tmp_path / "table3.csv"
    write_table(of_confusion(TABLE_3), path)
    return path


def written(tmp_path: Path, table: Judgments, name: str = "table.csv") -> Path:
    write_table(table, tmp_path / name)
    return tmp_path / name


def test_table_3_on_a_terminal(prepositions: Path) -> None:
    shown = run(prepositions).stdout
    for text in ("Agreement of 2 raters on 1,336 items", ".630 [.546, .713]", "substantial", "26/86", "37/97"):
        assert text in shown
    assert "1,213" in shown
    assert (
        "95 % intervals generalise to other items like these 1,336, with these raters (items taken as independent"
        in shown
    )
    assert widest(shown.split("95 %")[0]) <= 80


def test_two_files_are_one_table(prepositions: Path, tmp_path: Path) -> None:
    frame = pl.read_csv(prepositions)
    paths = [tmp_path / f"{rater}.csv" for rater in ("r0", "r1")]
    for path in paths:
        frame.filter(pl.col("rater") == path.stem).write_csv(path)
    assert found(*paths)["observed"] == found(prepositions)["observed"]
    again = paths[0].rename(tmp_path / "again.csv")
    with pytest.raises(GraterError, match="once, found it in rows"):
        run(again, prepositions)


def test_batches_have_their_kappas_in_order_of_time_and_a_range(tmp_path: Path) -> None:
    rows = [f"{batch}{n} 1 {n % 2}" for batch in "zb" for n in range(20)]
    rows += [f"{batch}{n} 2 {(n + (n % every == 0)) % 2}" for batch, every in (("z", 4), ("b", 3)) for n in range(20)]
    table = judgments(*rows)
    at = pl.when(pl.col("item").str.starts_with("z")).then(pl.lit("2008-01")).otherwise(pl.lit("2008-02"))
    frame = table.frame.with_columns(batch=pl.col("item").str.slice(0, 1), at=at)
    path = written(tmp_path, Judgments(frame, "table"))
    [by] = found(path, "--by", "batch")["by"]
    assert [group["group"] for group in by["groups"]] == ["z", "b"]
    kappas = [group["value"] for group in by["groups"]]
    assert by["range"] == [min(kappas), max(kappas)]
    shown = run(path, "--by", "batch").stdout
    assert "range" in shown
    assert "combined" in shown


@pytest.mark.parametrize("units", ["item", "essay"])
def test_units_raters_and_the_bootstrap_are_named_in_the_signature(tmp_path: Path, units: str) -> None:
    rows = [f"i{n} {rater} {(n + (n % rater == 0)) % 2}" for n in range(60) for rater in (3, 4, 5)]
    path = written(tmp_path, judgments(*rows, essay=[n // 4 for n in range(60) for _ in range(3)]))
    options = ("--units", units, "--interval", "bootstrap", "--resamples", 50, "--seed", 3)
    signature = found(path, *options)["signature"]
    assert all(part in signature for part in (f"units:{units}", "interval:bootstrap", "resamples:50", "seed:3"))
    value = found(path, "--units", units, "--raters", "random", "--compare", "3,4:3,5")
    assert all(part in value["signature"] for part in (f"units:{units}", "interval:jackknife-t", "raters:random"))
    assert "seed" not in value["signature"]
    comparison = value["comparisons"]["3 and 4 against 3 and 5"]
    assert comparison["items"] == 60
    assert 0 < comparison["p"] <= 1


def test_own_weights_come_from_a_file(tmp_path: Path) -> None:
    table = written(
        tmp_path, judgments(*(f"i{n} {r} {'ab'[(n + (r * n) % 5) % 2]}" for n in range(20) for r in (1, 2)))
    )
    weights = tmp_path / "weights.csv"
    weights.write_text("label,other,weight\na,b,0.5\n", encoding="utf-8")
    assert "ac2" in found(table, "--weights", weights)
    weights.write_text("label,other,weight\na,b,inf\nb,c,1\n", encoding="utf-8")
    with pytest.raises(GraterError) as error:
        run(table, "--weights", weights)
    assert str(error.value).splitlines() == [
        f"{weights}:2: expected a finite weight of at most 1, found 'inf'",
        f"{weights}:3: expected a label of the judgments, found 'c'",
    ]


def test_what_is_left_out_is_reported_on_standard_error(tmp_path: Path) -> None:
    table = judgments("a 1 x", "a 2 x", "b 1 x", "b 2 y", confidence=[1.0, 1.0, 0.2, 1.0])
    result = run(written(tmp_path, table), "--min-confidence", 0.5)
    assert "left out 1 judgment: confidence below 0.5" in result.stderr
    assert "1 of 2 items have only one judgment" in result.stdout


def test_corpora_are_known_from_tables(tmp_path: Path) -> None:
    corpus, table = tmp_path / "essays.jsonl", tmp_path / "table.jsonl"
    corpus.write_text('{"format":"grater-corpus","version":1}\n', encoding="utf-8")
    table.write_text('{"item": "1", "rater": "a", "label": "ok"}\n', encoding="utf-8")
    named = {name: is_corpus(Path(name)) for name in ("a.m2", "a.sgml.gz", "a.csv", "a.tsv.gz", "a.parquet")}
    assert named == {"a.m2": True, "a.sgml.gz": True, "a.csv": False, "a.tsv.gz": False, "a.parquet": False}
    assert (is_corpus(corpus), is_corpus(table)) == (True, False)
