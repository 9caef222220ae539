"""A large table is one of a few rows here: what counts as large is set to one row."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import grater
from grater.errors import BadInput
from grater.measure.agreement import coded, counts
from grater.measure.crowd.aggregate import ballots, fit
from grater.tables import Judgments, large, read_judgments

N_ITEMS = 40
IDS = ("item", "rater", "label")


def rows_of(n_items: int = N_ITEMS) -> pl.DataFrame:
    """Three raters on each item, some of whom disagree; ids are texts, whole numbers and texts."""
    rows = [
        (f"item {item}", rater, "ok" if (item * 7 + rater) % 5 else "error")
        for item in range(n_items)
        for rater in (1, 2, 3)
    ]
    return pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row").sample(
        fraction=1, shuffle=True, seed=1
    )


def both_readings(path: Path, monkeypatch: pytest.MonkeyPatch, **options: object) -> tuple[Judgments, Judgments]:
    small = read_judgments(path, **options)  # type: ignore[arg-type]
    monkeypatch.setattr(large, "LARGE", 1)
    monkeypatch.setattr(large, "ROWS_AT_ONCE", 7)
    monkeypatch.setattr(large, "LARGE_BYTES", 1)
    monkeypatch.setattr(large, "BYTES_AT_ONCE", 16)
    return small, read_judgments(path, **options)  # type: ignore[arg-type]


def in_text(judgments: Judgments) -> pl.DataFrame:
    return judgments.frame.with_columns(pl.col(IDS).cast(pl.String))


def test_a_large_table_has_the_rows_of_a_small_one_and_its_ids_as_categories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = rows_of().with_columns(seconds=pl.int_range(pl.len()).cast(pl.Float64), comment=pl.lit("so"))
    frame.rename({"rater": "worker"}).write_parquet(tmp_path / "j.parquet")
    small, big = both_readings(tmp_path / "j.parquet", monkeypatch, merge={"error": "unknown"})
    assert in_text(big).equals(small.frame)
    assert large.are_categories(*(big.frame[name] for name in IDS))


def test_results_of_a_large_table_are_those_of_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows_of().write_parquet(tmp_path / "j.parquet")
    decisions = pl.DataFrame({"item": [f"item {item}" for item in range(N_ITEMS)], "system": "s"})
    decisions = decisions.with_columns(flagged=pl.int_range(pl.len()) % 3 == 0)
    small, big = both_readings(tmp_path / "j.parquet", monkeypatch)
    assert grater.agreement(big).to_dict() == grater.agreement(small).to_dict()
    for method in ("majority", "dawid-skene"):
        expected = grater.aggregate(small, method=method).to_frame()
        assert grater.aggregate(big, method=method).to_frame().equals(expected)
    assert grater.evaluate(decisions, big).to_dict() == grater.evaluate(decisions, small).to_dict()


LINES = tuple(f"item {row // 3};{row % 3};{'ok' if row % 5 else 'error'};0,{row}" for row in range(60))
HEADER = "item;rater;label;seconds"
TEXTS = {
    "plain.csv": "\n".join([HEADER, *LINES]).replace(",", ".").replace(";", ","),
    "named separator.csv": "\n".join(["sep=;", HEADER, *LINES, ""]),
    "mark, blank lines.csv": "\n\n".join(["\ufeff", HEADER, *LINES, ""]),
    "carriage returns.csv": "\r\n".join([HEADER, *LINES, ""]),
    "line ends in quotes.csv": "\n".join(
        [HEADER, *(f'"line\n""one"", {line}'.replace(";", '";', 1) for line in LINES)]
    ),
    "a quote in a cell.csv": "\n".join([HEADER, *LINES[:9], 'a 5" nail;1;ok;1', *LINES[9:]]),
    "tabs.tsv": "\n".join([HEADER, *LINES]).replace(",", ".").replace(";", "\t"),
    "packed.csv.gz": "\n".join([HEADER, *LINES]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_large_file_of_text_has_the_rows_of_a_small_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = TEXTS[name].encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    small, big = both_readings(tmp_path / name, monkeypatch)
    assert in_text(big).equals(small.frame)
    assert large.are_categories(*(big.frame[name] for name in IDS))


def test_lines_of_json_are_read_in_pieces_where_these_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of().to_dicts()
    (tmp_path / "j.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    small, big = both_readings(tmp_path / "j.jsonl", monkeypatch)
    assert in_text(big).equals(small.frame)
    assert large.are_categories(*(big.frame[name] for name in IDS))
    (tmp_path / "j.jsonl").write_text("\n".join(map(json.dumps, [*rows, rows[0] | {"rater": "four"}])), "utf-8")
    assert read_judgments(tmp_path / "j.jsonl").frame["rater"].to_list()[-1] == "four"


def test_what_cannot_be_read_in_pieces_is_told_by_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "j.csv").write_text("\n".join([HEADER, *LINES[:30], "item 11;2", *LINES[30:]]), "utf-8")
    monkeypatch.setattr(large, "LARGE_BYTES", 1)
    with pytest.raises(BadInput, match=r"j\.csv:32: expected 4 cells"):
        read_judgments(tmp_path / "j.csv")


def test_unknown_is_left_out_of_a_large_table_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_hard = pl.col("item") == "item 3"
    frame = rows_of().with_columns(label=pl.when(is_hard).then(pl.lit("unknown")).otherwise("label"))
    frame.write_parquet(tmp_path / "j.parquet")
    small, big = both_readings(tmp_path / "j.parquet", monkeypatch)
    assert grater.agreement(big).to_dict() == grater.agreement(small).to_dict()


def test_more_labels_than_a_byte_can_tell_apart_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pl.DataFrame({"item": range(300), "rater": "r", "label": [f"word{number}" for number in range(300)]})
    rows.write_parquet(tmp_path / "j.parquet")
    small, big = both_readings(tmp_path / "j.parquet", monkeypatch)
    assert in_text(big).equals(small.frame)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (pl.when(pl.col("item") == "item 5").then(pl.lit("")).otherwise("item").alias("item"), "found an empty cell"),
        (pl.when(pl.col("rater") == 2).then(1).otherwise("rater").alias("rater"), "once, found it in rows"),
    ],
    ids=["empty", "twice"],
)
def test_what_is_wrong_with_a_large_table_is_told_in_the_same_words(
    change: pl.Expr, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows_of().with_columns(change).write_parquet(tmp_path / "j.parquet")
    with pytest.raises(BadInput, match=message) as small:
        read_judgments(tmp_path / "j.parquet")
    monkeypatch.setattr(large, "LARGE", 1)
    with pytest.raises(BadInput) as big:
        read_judgments(tmp_path / "j.parquet")
    assert str(big.value) == str(small.value)


def test_repeats_are_seen_in_several_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "KEYS_AT_ONCE", 8)
    items = pl.Series([f"i{row // 2}" for row in range(50)]).cast(pl.Categorical)
    raters = pl.Series([f"r{row % 2}" for row in range(50)]).cast(pl.Categorical)
    assert not large.has_repeats(items, raters)
    assert large.has_repeats(items.append(items[:1]), raters.append(raters[:1]))


@pytest.mark.parametrize("is_shuffled", [False, True])
def test_results_do_not_depend_on_the_pieces_in_which_a_table_is_counted(
    monkeypatch: pytest.MonkeyPatch, is_shuffled: bool
) -> None:
    frame = rows_of() if is_shuffled else rows_of().sort("item", "rater")
    gold = pl.DataFrame({"item": ["item 3", "item 17", "item 39"], "label": ["error", "ok", "error"]})

    def results() -> list[pl.DataFrame]:
        methods = ("majority", "dawid-skene")
        answers = [grater.aggregate(frame, method=method, gold=gold).to_frame() for method in methods]
        return [grater.agreement(frame).to_frame(), *answers]

    whole = results()
    for module, name in (
        (counts, "PIECE"),
        (counts, "ROWS_AT_ONCE"),
        (coded, "ROWS_AT_ONCE"),
        (fit, "ITEMS_AT_ONCE"),
    ):
        monkeypatch.setattr(module, name, 7)
    for name in ("ROWS_AT_ONCE", "JUDGMENTS_AT_ONCE"):
        monkeypatch.setattr(ballots, name, 7)
    for expected, in_pieces in zip(whole, results(), strict=True):
        assert_frame_equal(in_pieces, expected, rel_tol=1e-12)
