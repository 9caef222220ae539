from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from grater.cli.command import is_corpus
from grater.corpora import write_corpus
from grater.errors import GraterError
from grater.model import Essay
from grater.tables import write_table
from tests.cli.running import as_json, invoked, widest
from tests.measure.agreement.tables import TABLE_3, judgments, of_confusion
from tests.measure.agreement.test_difficulty import items_table
from tests.measure.agreement.test_raters_needed import crowd_of, experts_of

run = partial(invoked, "agree")
found = partial(as_json, "agree")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_table(of_confusion(TABLE_3), Path("table3.csv"))


def test_table_3_on_a_terminal() -> None:
    shown = run("table3.csv").stdout
    for text in (
        "Agreement of 2 raters on 1,336 items",
        ".630 [.546, .713]",
        "substantial",
        "26/86",
        "37/97",
        "1,213",
    ):
        assert text in shown
    scope = "95 % intervals generalise to other items like these 1,336, with these raters (items taken as independent"
    assert scope in shown
    assert widest(shown.split("95 %")[0]) <= 80


def test_two_files_are_one_table() -> None:
    frame = pl.read_csv("table3.csv")
    paths = [Path(f"{rater}.csv") for rater in ("r0", "r1")]
    for path in paths:
        frame.filter(pl.col("rater") == path.stem).write_csv(path)
    assert found(*paths)["observed"] == found("table3.csv")["observed"]
    again = paths[0].rename("again.csv")
    with pytest.raises(GraterError, match="once, found it in rows"):
        run(again, "table3.csv")


@pytest.mark.parametrize("units", ["item", "essay"])
def test_units_raters_and_the_bootstrap_are_named_in_the_signature(units: str) -> None:
    rows = [f"i{n} {rater} {(n + (n % rater == 0)) % 2}" for n in range(60) for rater in (3, 4, 5)]
    write_table(judgments(*rows, essay=[n // 4 for n in range(60) for _ in range(3)]), Path("t.csv"))
    signature = as_json(f"agree t.csv --units {units} --interval bootstrap --resamples 50 --seed 3")["signature"]
    assert all(part in signature for part in (f"units:{units}", "interval:bootstrap", "resamples:50", "seed:3"))
    value = as_json(f"agree t.csv --units {units} --raters random --compare 3,4:3,5")
    assert all(part in value["signature"] for part in (f"units:{units}", "interval:jackknife-t", "raters:random"))
    assert "seed" not in value["signature"]
    comparison = value["comparisons"]["3 and 4 against 3 and 5"]
    assert comparison["items"] == 60
    assert 0 < comparison["p"] <= 1


def test_what_is_left_out_is_reported_on_standard_error() -> None:
    table = judgments("a 1 x", "a 2 x", "b 1 x", "b 2 y", confidence=[1.0, 1.0, 0.2, 1.0])
    write_table(table, Path("t.csv"))
    result = run("t.csv", "--min-confidence", 0.5)
    assert "left out 1 judgment: confidence below 0.5" in result.stderr
    assert "1 of 2 items have only one judgment" in result.stdout


def test_corpora_are_known_from_tables() -> None:
    corpus, table = Path("essays.jsonl"), Path("table.jsonl")
    corpus.write_text('{"format":"grater-corpus","version":1}\n', encoding="utf-8")
    table.write_text('{"item": "1", "rater": "a", "label": "ok"}\n', encoding="utf-8")
    files = (corpus, table, *map(Path, ("a.m2", "a.sgml.gz", "a.csv", "a.tsv.gz", "a.parquet")))
    assert [path.name for path in files if is_corpus(path)] == ["essays.jsonl", "a.m2", "a.sgml.gz"]


SENTENCES = ["She like the music very much .", "He goes to school by the foot ."]
FIRST = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 5 6|||ArtOrDet||||||REQUIRED|||-NONE-|||0"]
SECOND = ["A 1 2|||SVA|||likes|||REQUIRED|||-NONE-|||0", "A 4 6|||Prep|||on|||REQUIRED|||-NONE-|||0"]


def m2(name: str, *marks: str) -> str:
    sentences = zip(SENTENCES, marks, strict=True)
    blocks = [f"S {sentence}\n{mark}\n" if mark else f"S {sentence}\n" for sentence, mark in sentences]
    Path(name).write_text("\n".join(blocks), encoding="utf-8")
    return name


def test_undefined_kappas_have_a_reason_and_dropped_annotators_a_warning() -> None:
    [pair] = found(m2("ann.m2", FIRST[0], ""), m2("bob.m2", SECOND[0], ""))["exact"]["pairs"]
    assert pair["kappa"]["value"] is None
    assert "one label only" in pair["kappa"]["reason"]
    second = SECOND[0].removesuffix("0") + "1"
    noop = "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1"
    blocks = [f"S {SENTENCES[0]}\n{FIRST[0]}\n{second}\n", f"S {SENTENCES[1]}\n{FIRST[1]}\n"]
    blocks += [f"S Sentence number {n} is fine .\n{noop.removesuffix('1')}0\n{noop}\n" for n in range(3)]
    Path("both.m2").write_text("\n".join(blocks), encoding="utf-8")
    assert any("drops an annotator who agrees" in warning for warning in found("both.m2")["warnings"])


def test_three_annotators_have_pairs_resampled_by_document() -> None:
    files = m2("ann.m2", *FIRST), m2("bob.m2", *SECOND)
    shown = run(*files, m2("cat.m2", FIRST[0], SECOND[1])).stdout
    for text in ("ann – bob", "ann – cat", "bob – cat", "average"):
        assert text in shown
    Path("document.txt").write_text(" ".join(SENTENCES), encoding="utf-8")
    value = found(*files, "--documents", "document.txt")
    assert "units:document" in value["signature"]
    assert "its cases come from 1 document" in value["identification"]["observed_interval"]["reason"]
    assert (value["unit"], value["units"], value["raters"]) == ("token", 15, ["ann", "bob"])
    # the two differ on "by" alone, of fifteen tokens, and both marked "like" and "the": one of two types is the same
    assert value["identification"]["pairs"][0]["confusion"] == [[12, 1], [0, 2]]
    assert value["classification"]["observed"] == pytest.approx(1 / 2)


def test_both_ends_the_split_and_columns_are_in_json_and_on_a_terminal() -> None:
    write_table(crowd_of("aabb", "aaab", "aaaa"), Path("crowd.csv"))
    write_table(experts_of(E="aaa", F="aab"), Path("experts.csv"))
    write_table(items_table(use=["time", "place", "time"]), Path("items.csv"))
    command = "agree --hardest crowd.csv --experts experts.csv --items items.csv"
    value = as_json(command)
    assert [item["item"] for item in value["crowd"]["hardest"]] == ["i0", "i1", "i2"]
    assert value["crowd"]["majority_share"]["value"] == pytest.approx((0.5 + 0.75 + 1) / 3)
    assert value["experts"]["hardest"][0]["item"] == "i2"
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0"]
    assert value["unanimous"] == 2
    by = [(part["column"], part["value"], part["items"]) for part in value["crowd"]["by"]]
    assert by == [("use", "place", 1), ("use", "time", 2)]
    shown = invoked(command).stdout
    for text in (
        *("Easiest for the crowd", "Hardest for the experts", "Only the crowd is split: 1 of 2 items"),
        *("What goes with disagreement, crowd", "difficulty|"),
    ):
        assert text in shown
    assert widest(shown.split("95 %")[0]) <= 80
    value = as_json(f"{command} --top 1 --split 0.8")
    assert len(value["crowd"]["easiest"]) == 1
    assert [each["crowd"]["item"] for each in value["split"]] == ["i0", "i1"]


def test_factors_of_difficulty_are_worked_out_from_the_essays() -> None:
    texts = ("He waited for the bus in the morning.", "The gondolier bargained for pomegranates.")
    places = [(f"i{at}", f"e{at}", text.index("for"), text.index("for") + 3, "prep") for at, text in enumerate(texts)]
    frame = pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row")
    frame.write_csv("items.csv")
    write_corpus([Essay(f"e{at}", text) for at, text in enumerate(texts)], Path("e.jsonl"), lambda _: None)
    write_table(crowd_of("aaaa", "aabb"), Path("crowd.csv"))
    by = as_json("agree --hardest crowd.csv --items items.csv --essays e.jsonl")["crowd"]["by"]
    lengths = {part["value"]: part["majority_share"]["value"] for part in by if part["column"] == "length"}
    columns = {part["column"] for part in by}
    assert columns == {"frequency", "surprise", "length", "alternatives"}, "use and errors do not vary"
    assert lengths == {"9": 1.0, "6": 0.5}, "the crowd is split on the shorter, rarer sentence"


def test_the_raters_needed_are_shown_and_unknown_is_left_out_with_a_word() -> None:
    # by hand in tests/measure/agreement/test_raters_needed.py
    write_table(crowd_of(*["aab", "bba"] * 3), Path("crowd.csv"))
    write_table(experts_of(E="ababab", F="ababaa"), Path("experts.csv"))
    command = "raters --needed crowd.csv --experts experts.csv"
    output = invoked(command).stdout
    for text in ("A crowd of N raters, 6 items", ".833", "3 raters match the experts", "raters-needed|"):
        assert text in output
    assert widest(output) <= 120
    write_table(judgments("i0 w a", "i0 v unknown", "i1 w b"), Path("crowd.csv"))
    assert "left out 1 judgment: label unknown" in invoked(command).stderr
    write_table(judgments("i0 w unknown"), Path("crowd.csv"))
    with pytest.raises(GraterError, match="every judgment is unknown"):
        invoked(command)
