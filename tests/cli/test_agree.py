from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.cli.command import is_corpus
from grater.corpora import write_corpus
from grater.errors import GraterError
from grater.model import Essay
from grater.tables import Judgments, write_table
from tests.cli.running import Capture, as_json, grater, invoked, widest
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion
from tests.measure.agreement.test_difficulty import items_table
from tests.measure.agreement.test_raters_needed import crowd_of, experts_of

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


SENTENCES = ["She like the music very much .", "He goes to school by the foot ."]
FIRST = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 5 6|||ArtOrDet||||||REQUIRED|||-NONE-|||0"]
SECOND = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 4 6|||Prep|||on|||REQUIRED|||-NONE-|||0"]


def m2(path: Path, *marks: str) -> Path:
    sentences = zip(SENTENCES, marks, strict=True)
    blocks = [f"S {sentence}\n{mark}\n" if mark else f"S {sentence}\n" for sentence, mark in sentences]
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return [m2(tmp_path / "ann.m2", *FIRST), m2(tmp_path / "bob.m2", *SECOND)]


def of_corpora(capsys: Capture, files: list[Path], *options: object) -> Any:
    return json.loads(grater(capsys, "agree", *files, "--json", *options).out)


def test_json_has_the_three_criteria_shaped_like_judgments(files: list[Path], capsys: Capture) -> None:
    value = of_corpora(capsys, files)
    assert (value["unit"], value["units"], value["raters"]) == ("token", 15, ["ann", "bob"])
    for criterion in ("identification", "classification", "exact"):
        part = value[criterion]
        for key in ("items", "raters", "labels", "observed", "pairs", "fleiss", "alpha", "ac1", "signature"):
            assert key in part, (criterion, key)
        [pair] = part["pairs"]
        assert pair["raters"] == ["ann", "bob"]
    # the two differ on "by" alone, of fifteen tokens
    assert value["identification"]["observed"] == pytest.approx(14 / 15)
    assert value["identification"]["pairs"][0]["confusion"] == [[12, 1], [0, 2]]
    # both marked "like" and "the": SVA against SVA, ArtOrDet against Prep
    assert value["classification"]["pairs"][0]["n"] == 2
    assert value["classification"]["observed"] == pytest.approx(1 / 2)


def test_undefined_kappas_have_a_reason_and_dropped_annotators_a_warning(tmp_path: Path, capsys: Capture) -> None:
    files = [m2(tmp_path / "ann.m2", FIRST[0], ""), m2(tmp_path / "bob.m2", SECOND[0], "")]
    [pair] = of_corpora(capsys, files)["exact"]["pairs"]
    assert pair["kappa"]["value"] is None
    assert "one label only" in pair["kappa"]["reason"]
    second = SECOND[0].removesuffix("0") + "1"
    noop = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1"
    blocks = [f"S {SENTENCES[0]}\n{FIRST[0]}\n{second}\n", f"S {SENTENCES[1]}\n{FIRST[1]}\n"]
    blocks += [f"S Sentence number {n} is fine .\n{noop.removesuffix('1')}0\n{noop}\n" for n in range(3)]
    path = tmp_path / "both.m2"
    path.write_text("\n".join(blocks), encoding="utf-8")
    value = of_corpora(capsys, [path])
    assert any("drops an annotator who agrees" in warning for warning in value["warnings"])


def test_three_annotators_have_pairs_resampled_by_document(
    files: list[Path], tmp_path: Path, capsys: Capture
) -> None:
    shown = grater(capsys, "agree", *files, m2(tmp_path / "cat.m2", FIRST[0], SECOND[1])).out
    for text in ("ann – bob", "ann – cat", "bob – cat", "average"):
        assert text in shown
    documents = tmp_path / "document.txt"
    documents.write_text(" ".join(SENTENCES), encoding="utf-8")
    value = of_corpora(capsys, files, "--documents", documents)
    assert "units:document" in value["signature"]
    assert "its cases come from 1 document" in value["identification"]["observed_interval"]["reason"]


hardest = partial(invoked, "agree --hardest")
as_hardest = partial(as_json, "agree --hardest")


@pytest.fixture
def tables(tmp_path: Path) -> list[object]:
    write_table(crowd_of("aabb", "aaab", "aaaa"), tmp_path / "crowd.csv")
    write_table(experts_of(E="aaa", F="aab"), tmp_path / "experts.csv")
    write_table(items_table(use=["time", "place", "time"]), tmp_path / "items.csv")
    return [tmp_path / "crowd.csv", "--experts", tmp_path / "experts.csv", "--items", tmp_path / "items.csv"]


def test_both_ends_the_split_and_columns_are_in_json_and_on_a_terminal(tables: list[object]) -> None:
    value = as_hardest(*tables)
    assert [item["item"] for item in value["crowd"]["hardest"]] == ["i0", "i1", "i2"]
    assert value["crowd"]["majority_share"]["value"] == pytest.approx((0.5 + 0.75 + 1) / 3)
    assert value["experts"]["hardest"][0]["item"] == "i2"
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0"]
    assert value["unanimous"] == 2
    assert [(part["column"], part["value"], part["items"]) for part in value["crowd"]["by"]] == [
        ("use", "place", 1),
        ("use", "time", 2),
    ]
    shown = hardest(*tables).stdout
    for text in (
        "Easiest for the crowd",
        "Hardest for the experts",
        "Only the crowd is split: 1 of 2 items",
        "What goes with disagreement, crowd",
        "difficulty|",
    ):
        assert text in shown
    assert widest(shown.split("95 %")[0]) <= 80
    value = as_hardest(*tables, "--top", 1, "--split", 0.8)
    assert len(value["crowd"]["easiest"]) == 1
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0", "i1"]


def test_factors_of_difficulty_are_worked_out_from_the_essays(tmp_path: Path) -> None:
    texts = ("He waited for the bus in the morning.", "The gondolier bargained for pomegranates.")
    places = [(f"i{at}", f"e{at}", text.index("for"), text.index("for") + 3, "prep") for at, text in enumerate(texts)]
    frame = pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row")
    frame.write_csv(tmp_path / "items.csv")
    write_corpus([Essay(f"e{at}", text) for at, text in enumerate(texts)], tmp_path / "e.jsonl", lambda _: None)
    write_table(crowd_of("aaaa", "aabb"), tmp_path / "crowd.csv")
    files = (tmp_path / "crowd.csv", "--items", tmp_path / "items.csv", "--essays", tmp_path / "e.jsonl")
    by = as_hardest(*files)["crowd"]["by"]
    lengths = {part["value"]: part["majority_share"]["value"] for part in by if part["column"] == "length"}
    columns = {part["column"] for part in by}
    assert columns == {"frequency", "surprise", "length", "alternatives"}, "use and errors do not vary"
    assert lengths == {"9": 1.0, "6": 0.5}, "the crowd is split on the shorter, rarer sentence"


needed = partial(invoked, "raters --needed")
as_needed = partial(as_json, "raters --needed")


@pytest.fixture
def a_crowd(tmp_path: Path) -> Path:
    write_table(crowd_of(*["aab", "bba"] * 3), tmp_path / "crowd.csv")
    return tmp_path / "crowd.csv"


@pytest.fixture
def experts(tmp_path: Path) -> Path:
    write_table(experts_of(E="ababab", F="ababaa"), tmp_path / "experts.csv")
    return tmp_path / "experts.csv"


def test_json_and_a_terminal_have_the_curve_and_the_answer(a_crowd: Path, experts: Path) -> None:
    value = as_needed(a_crowd, "--experts", experts)
    assert [curve["against"] for curve in value["curves"]] == ["E", "F", "mean of experts"]
    points = value["curves"][2]["points"]
    assert [point["raters"] for point in points] == [1, 2, 3]
    # by hand in tests/measure/agreement/test_raters_needed.py
    assert [point["kappa"]["value"] for point in points] == pytest.approx([5 / 18, 5 / 18, 5 / 6])
    assert value["target"]["kappa"]["value"] == pytest.approx(2 / 3)
    assert value["smallest"]["value"] == 3
    assert value["method"] == "exact"
    output = needed(a_crowd, "--experts", experts).stdout
    shown = ("A crowd of N raters, 6 items", ".833", "3 raters match the experts", "raters-needed|")
    for text in shown:
        assert text in output
    assert widest(output) <= 120


def test_unknown_is_left_out_with_a_word(experts: Path, tmp_path: Path) -> None:
    write_table(judgments("i0 w a", "i0 v unknown", "i1 w b"), tmp_path / "crowd.csv")
    result = needed(tmp_path / "crowd.csv", "--experts", experts)
    assert "left out 1 judgment: label unknown" in result.stderr
    write_table(judgments("i0 w unknown"), tmp_path / "none.csv")
    with pytest.raises(GraterError, match="every judgment is unknown"):
        needed(tmp_path / "none.csv", "--experts", experts)
