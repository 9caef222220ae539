"""Tables written and read back, harmless in a spreadsheet; samples know what corpus they were drawn from."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.errors import BadInput, GraterError, UsageError
from grater.tables import (
    Sample,
    SampleMeta,
    items_hash,
    read_decisions,
    read_gold,
    read_judgments,
    read_sample,
    read_table,
    require_same_items,
    with_stratum_size,
    write_table,
)
from grater.tables.schema import Kind
from tests.examples import examples

TYPES = [".csv", ".tsv", ".jsonl", ".parquet", ".csv.gz", ".jsonl.gz"]
CELL = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
NASTY = st.sampled_from(
    ["=1+1", "'=x", "''-y", "-NONE-", "-1", "+4.5", "@a", "\tx", "\r", "\n", '"', "a,b", "NA", "1.0", " x "]
)
TEXT = CELL | NASTY
TYPED: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("confidence", "seconds", "score", "probability", "stratum_size", "random"), pl.Float64),
    **dict.fromkeys(("start", "end"), pl.Int64),
    "flagged": pl.Boolean,
}
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def frames(
    draw: st.DrawFn, required: dict[str, st.SearchStrategy[object]], others: dict[str, st.SearchStrategy[object]]
) -> pl.DataFrame:
    """Some rows with every required cell filled and the others now and then; the first column tells rows apart."""
    columns = required | {name: st.none() | cells for name, cells in others.items()}
    rows = draw(st.lists(st.tuples(*columns.values()), min_size=1, max_size=5, unique_by=lambda row: row[0]))
    return pl.DataFrame(rows, schema={name: TYPED.get(name, pl.String) for name in columns}, orient="row")


TABLES: dict[Kind, st.SearchStrategy[pl.DataFrame]] = {
    "judgments": frames(
        {"item": TEXT, "rater": TEXT, "label": TEXT},
        {
            "confidence": FINITE,
            "seconds": st.floats(0, 1e300),
            **dict.fromkeys(("at", "flags", "group", "=further"), TEXT),
        },
    ),
    "decisions": frames(
        {"item": TEXT, "system": TEXT, "flagged": st.booleans()}, {"score": FINITE, "type": TEXT, "suggestion": TEXT}
    ),
    "items": frames(
        {"item": TEXT, "essay": TEXT, "start": st.integers(0, 9), "end": st.integers(9, 2**40), "kind": TEXT},
        {"document": TEXT, "context": TEXT, "first language": TEXT},
    ),
    "gold": frames({"item": TEXT, "label": TEXT}, {"reason": TEXT}),
    "sample": frames(
        {"item": TEXT, "stratum": TEXT, "probability": st.floats(0, 1, exclude_min=True)},
        {"stratum_size": st.floats(1, 1e9), "random": st.floats(0, 1), "system": TEXT},
    ),
}


@pytest.mark.parametrize("suffix", TYPES)
@pytest.mark.parametrize("kind", list(TABLES))
def test_what_is_written_is_read_back(kind: Kind, suffix: str) -> None:
    @examples(15)
    @given(TABLES[kind])
    def round_trip(frame: pl.DataFrame) -> None:
        table = read_table(kind, frame)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"t{suffix}"
            write_table(table, path)
            again = read_table(kind, path)
        assert again.frame.to_dict(as_series=False) == table.frame.to_dict(as_series=False)
        assert again.frame.schema == table.frame.schema

    round_trip()


def test_a_formula_is_kept_from_the_spreadsheet_and_what_runs_nothing_stays_as_it_is(tmp_path: Path) -> None:
    for cell in ("=SUM(A1)", "+x", "-x", "@x", "\tx", "\rx", "＝x", "'=x", "-1-1", "+4511223344x"):
        frame = pl.DataFrame({"item": ["a"], "label": [cell]})
        write_table(frame, tmp_path / "g.csv")
        assert f"'{cell}" in (tmp_path / "g.csv").read_bytes().decode()
        assert read_gold(tmp_path / "g.csv").frame["label"].to_list() == [cell]
        write_table(frame, tmp_path / "raw.csv", raw=True)
        assert f"'{cell}" not in (tmp_path / "raw.csv").read_bytes().decode()
    for cell in ("-NONE-", "-1", "+4.5", "-6e-05", "it's", "a=b", "'tis"):
        write_table(pl.DataFrame({"item": ["a"], "label": [cell]}), tmp_path / "g.csv")
        assert (tmp_path / "g.csv").read_text() == f"item,label\na,{cell}\n"
    decisions = read_decisions(pl.DataFrame({"item": ["a"], "system": ["S"], "flagged": [1], "score": [-0.5]}))
    write_table(decisions, tmp_path / "d.csv")
    assert (tmp_path / "d.csv").read_text() == "item,system,flagged,score\na,S,true,-0.5\n"
    write_table(pl.DataFrame({"item": ["a"], "label": ["=1"]}), tmp_path / "g.jsonl")
    assert json.loads((tmp_path / "g.jsonl").read_text()) == {"item": "a", "label": "=1"}


def test_anonymous_raters_stay_anonymous(tmp_path: Path) -> None:
    judgments = read_judgments(pl.DataFrame({"item": ["a", "a"], "label": ["x", "y"]}))
    write_table(judgments, tmp_path / "j.csv")
    assert (tmp_path / "j.csv").read_text() == "item,label\na,x\na,y\n"
    again = read_judgments(tmp_path / "j.csv")
    assert again.anonymous_raters
    assert again.frame.equals(judgments.frame)


def test_a_failed_write_leaves_the_old_file_and_nothing_else_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    write_table(pl.DataFrame({"item": ["a"], "label": ["x"]}), path)
    with pytest.raises(UsageError, match="expected single values in column 'label'"):
        write_table(pl.DataFrame({"item": ["a"], "label": [["x"]]}), path)
    assert path.read_text() == "item,label\na,x\n"
    assert [found.name for found in tmp_path.iterdir()] == ["g.csv"]
    with pytest.raises(GraterError, match=r"g\.csv: cannot be written: there is no folder .*none; make it first"):
        write_table(pl.DataFrame({"item": ["a"]}), tmp_path / "none" / "g.csv")


FRAME = pl.DataFrame({"item": ["a", "c"], "stratum": ["flagged", "flagged"], "probability": [0.5, 0.25]})


def test_meta_data_with_a_hash_of_the_items_is_next_to_the_sample_and_comes_back(
    tmp_path: Path,
) -> None:
    meta = SampleMeta(7, "stratified", ("S", "T"), items_hash("abc"), {"note": "first draw"})
    write_table(Sample(FRAME, "mine", meta), tmp_path / "s.csv.gz")
    found = json.loads((tmp_path / "s.meta.json").read_text())
    own = {"seed": 7, "design": "stratified", "systems": ["S", "T"], "items": items_hash("abc")}
    assert found == {**own, "note": "first draw"}
    assert items_hash("cbab") == own["items"] == hashlib.sha256(b"a\nb\nc").hexdigest()[:16]
    sample = read_sample(tmp_path / "s.csv.gz")
    assert sample.meta == meta
    assert sample.frame.equals(FRAME)


def test_a_sample_goes_with_its_own_corpus_only() -> None:
    hashed = Sample(FRAME, "s.csv", SampleMeta(items=items_hash("abc")))
    require_same_items(hashed, ["c", "b", "a", "a"])
    without = Sample(FRAME, "s.csv")
    require_same_items(without, ["a", "c", "d"])
    for sample, items, words in (
        (hashed, "abcd", "expected items with hash"),
        (hashed, "ab", r"1 of its items are not in this one \(c\)"),
        (without, "a", ""),
    ):
        with pytest.raises(BadInput, match=rf"s\.csv: was drawn from another corpus: .*{words}"):
            require_same_items(sample, list(items))


def test_bad_meta_data_is_refused(tmp_path: Path) -> None:
    write_table(FRAME, tmp_path / "s.csv")
    for text, words in (
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, found list"),
        ('{"seed": "x"}', "expected 'seed' to be a whole number"),
        ('{"systems": "S"}', "expected 'systems' to be a list of names"),
        ('{"items": 3}', "expected 'items' to be text"),
    ):
        (tmp_path / "s.meta.json").write_text(text)
        with pytest.raises(BadInput, match=f"s.meta.json: {words}"):
            read_sample(tmp_path / "s.csv")


def test_a_stratum_is_as_large_as_its_draws_say() -> None:
    # 1/0.5 + 1/0.25 = 6; with equal probabilities of 0.5, 2/0.5 = 4
    equal = FRAME.with_columns(probability=pl.lit(0.5))
    given = equal.with_columns(stratum_size=pl.Series([9.0, None]))
    for frame, sizes in ((FRAME, [6.0, 6.0]), (equal, [4.0, 4.0]), (given, [9.0, 4.0])):
        assert with_stratum_size(Sample(frame, "s"))["stratum_size"].to_list() == sizes


def test_equal_tables_are_equal_files(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv.gz", tmp_path / "two.csv.gz"
    for path in (one, two):
        write_table(FRAME, path)
    assert one.read_bytes() == two.read_bytes()
    assert one.read_bytes()[4:8] == bytes(4)  # no time of writing in the pack (RFC 1952, MTIME)
