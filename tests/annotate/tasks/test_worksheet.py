"""A sample judged in a spreadsheet: written blind, filled by people, read back as judgments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from openpyxl import Workbook

import grater
from grater.annotate.tasks import TASKS, Unit, UnitItem
from grater.annotate.tasks.worksheet import sample_worksheet, sheet_of
from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.model import Item
from grater.tables import Judgments, read_judgments, write_worksheet
from grater.tables.files import load
from grater.tables.worksheets import Worksheet
from tests.annotate.tasks.units import ESSAY, IN, OF

ITEMS = [(f"i{place}", Item("essay-1", span, "prep")) for place, span in enumerate((OF, IN))]


def sheet(task: str = "error", suggestions: Mapping[str, str] = {}) -> Worksheet:
    payloads = {name: {"suggestion": word} for name, word in suggestions.items()}
    asked = [(name, Unit(name, ESSAY, (UnitItem(item, payloads.get(name, {})),))) for name, item in ITEMS]
    return sheet_of(TASKS[task], asked)


def filled(folder: Path, answers: dict[str, str], *, rater: str = "", name: str = "ada.csv") -> Path:
    """The sheet as CSV, with these labels by item."""
    path = folder / name
    write_worksheet(sheet(), path)
    frame = pl.read_csv(path, infer_schema=False)
    label = pl.col("item").replace_strict(answers, default=None, return_dtype=pl.String)
    frame.with_columns(label=label, rater=pl.lit(rater)).write_csv(path)
    return path


def rows(judgments: Judgments) -> list[tuple[str, str, str]]:
    return judgments.frame.select("item", "rater", "label").rows()


def test_a_row_shows_the_sentence_its_target_and_no_more_than_the_page() -> None:
    made = sheet(suggestions={"i0": "on"})
    first = dict(zip(made.columns, made.rows[0], strict=True))
    assert first["sentence"] == "She depends [[of]] her brother for the bread."
    assert first["answers"] == "error | ok | unknown"
    assert (first["label"], first["rater"]) == ("", "")
    assert not any("on" in cell.split() for cell in made.rows[0])
    shown = sheet("verify", suggestions={"i0": "on", "i1": "at"})
    assert "Suggestion: on" in " ".join(shown.rows[0])
    assert "flags" in sheet("usage").columns
    assert "alternatives" in sheet("usage").columns


def test_a_sample_is_judged_in_a_sheet_from_python(tmp_path: Path) -> None:
    places = [(name, "essay-1", item.span.start, item.span.end, "prep") for name, item in ITEMS]
    items = pl.DataFrame(places, ["item", "essay", "start", "end", "kind"], orient="row")
    decisions = pl.DataFrame({"item": ["i0", "i1"], "system": "S", "flagged": [1, 0], "suggestion": ["on", None]})
    path, new = tmp_path / "ada.csv", tmp_path / "new.csv"
    draw = partial(grater.sample, decisions, system="S", n=2, essays=[ESSAY], items=items)
    earlier = pl.DataFrame({"item": ["i1"], "rater": ["bo"], "label": ["ok"]})
    draw(worksheet=path, judgments=earlier)
    answered = {"label": pl.lit("error"), "rater": pl.lit("ada")}
    pl.read_csv(path, infer_schema=False).with_columns(**answered).write_csv(path)
    assert rows(grater.read_judgments(path)) == [("i0", "ada", "error")]
    draw(worksheet=new, task="verify")
    assert pl.read_csv(new, infer_schema=False).filter(pl.col("item") != "#")["item"].to_list() == ["i0"]
    with pytest.raises(UnknownName, match="unknown task 'err'"):
        draw(worksheet=new, task="err")


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_a_sheet_with_answers_is_not_written_over_and_an_empty_one_is(tmp_path: Path, suffix: str) -> None:
    path, made = tmp_path / f"sheet{suffix}", sheet()
    write_worksheet(made, path)
    place = made.columns.index("label")
    answered = tuple((*row[:place], "eror", *row[place + 1 :]) for row in made.rows)
    write_worksheet(replace(made, rows=answered), path)
    with pytest.raises(UsageError, match="has answers already; give the new worksheet another name"):
        write_worksheet(made, path)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_instructions_come_with_the_sheet(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"sheet{suffix}"
    write_worksheet(sheet(), path)
    if suffix == ".csv":
        content = path.read_bytes()
        assert content.startswith(b"\xef\xbb\xbf")
        assert "Write one of the answers" in content.decode("utf-8-sig").splitlines()[2]
        lines = pl.read_csv(path, infer_schema=False).filter(pl.col("item") == "#")["sentence"]
        assert lines.str.starts_with("• ").any()
        assert not lines.str.starts_with("'").any(), "the guard that formulas get"
    else:
        assert load(path, name="s").columns["item"].to_list() == ["i0", "i1"]
    with pytest.raises(BadInput, match="expected answers in the column label, found none on 2 items"):
        read_judgments(path)


def test_filled_sheets_are_judgments_and_a_bad_answer_names_its_row_and_cell(tmp_path: Path) -> None:
    ada = read_judgments(filled(tmp_path, {"i0": "error", "i1": "ok"}))
    assert rows(ada) == [("i0", "ada", "error"), ("i1", "ada", "ok")]
    half = read_judgments(filled(tmp_path, {"i1": " OK "}, rater="Bo", name="half.csv"))
    assert rows(half) == [("i1", "Bo", "ok")]
    assert half.dropped == {"rows without an answer": 1}
    path = filled(tmp_path, {"i0": "eror", "i1": "ok"}, name="wrong.csv")
    line = 1 + next(place for place, row in enumerate(path.read_text().splitlines()) if row.startswith("i0,"))
    complaint = rf"wrong\.csv:{line}: expected one of error, ok, unknown in cell F{line}, found 'eror'"
    with pytest.raises(BadInput, match=complaint):
        read_judgments(path)


def test_habits_of_spreadsheets_change_nothing(tmp_path: Path) -> None:
    path = filled(tmp_path, {"i0": "Error", "i1": "ok"})
    frame = pl.read_csv(path, infer_schema=False).filter(~pl.col("item").str.starts_with("#"))
    blank = pl.DataFrame({name: [None] for name in frame.columns}, schema=frame.schema)
    mixed = pl.concat([frame.reverse(), blank]).select(reversed(frame.columns)).with_columns(mine=pl.lit("a note"))
    mixed.write_csv(path, include_bom=True, separator=";", line_terminator="\r\n", quote_style="always")
    book = Workbook()
    for row in [mixed.columns, *mixed.rows()]:
        book.active.append(row)
    book.save(path.with_suffix(".xlsx"))
    for name in (path, path.with_suffix(".xlsx")):
        assert sorted(rows(read_judgments(name))) == [("i0", "ada", "error"), ("i1", "ada", "ok")]


def test_essays_and_tasks_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    for item_ids, essays, words in (
        (["i0"], [], "expected the essays of all items, found none called essay-1"),
        ([], [ESSAY], "nothing is left to judge"),
    ):
        with pytest.raises(GraterError, match=words):
            sample_worksheet(item_ids, dict(ITEMS), essays)
    with pytest.raises(UsageError, match="puts words in a random order"):
        sheet("choice", suggestions={"i0": "on", "i1": "at"})
    with pytest.raises(UsageError, match=r"expected a worksheet with extension \.csv or \.xlsx"):
        write_worksheet(sheet(), tmp_path / "sheet.ods")
