"""From a number of the report to the items behind it."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

from grater.reporting.build import Inputs, build
from grater.reporting.document import ItemView, Report, Section
from grater.reporting.items import texts_of
from grater.tables import read_judgments
from tests.reporting.made_up import N_ITEMS, essays, inputs, items


def split_inputs() -> Inputs:
    """Two raters: of every eighth item one says error and one ok, which is no majority."""
    rows = [
        {"item": f"i{place}", "rater": rater, "label": label}
        for place in range(N_ITEMS)
        for rater, label in zip("ab", ("error", "ok") if place % 8 == 0 else ("ok", "ok"), strict=True)
    ]
    return replace(inputs(), judgments=read_judgments(pl.DataFrame(rows)), experts=None)


@pytest.fixture(scope="module")
def even() -> Report:
    return build(split_inputs())


@pytest.fixture(scope="module")
def report() -> Report:
    return build(inputs())


def section(report: Report, name: str) -> Section:
    return next(section for section in report.sections if section.name == name)


def test_a_tie_is_in_both_lists_and_counts_half_in_each(even: Report) -> None:
    [scores] = [sheet for sheet in even.sheets if sheet.name == "scores"]
    by_name = {group.name: group for group in even.lists}
    hits, alarms = by_name["items-careful-hit"], by_name["items-careful-false_alarm"]
    assert hits.n_items
    assert {view.item_id for view in hits.items} <= {view.item_id for view in alarms.items}
    row = next(row for row in scores.rows if row[0] == "careful")
    assert float(row[5]) == hits.n_items / 2
    assert (
        hits.note
        == f"{hits.n_items} items where raters are split evenly: each counts half as an error, half as correct."
    )


def test_every_count_of_every_table_leads_to_its_list(report: Report) -> None:
    names = {group.name for group in report.lists}
    for sheet in report.sheets:
        counts = [place for place, column in enumerate(sheet.columns) if column in ("hits", "false alarms", "misses")]
        for row in range(len(sheet.rows)):
            assert all(sheet.links.get((row, place)) in names for place in counts), sheet.name


def test_items_on_which_raters_part_lead_to_the_contentious(report: Report) -> None:
    [bins] = section(report, "bins").sheets
    assert {bins.rows[row][0] for row, _ in bins.links} == {"50-75 %"}
    assert set(bins.links.values()) == {"contentious"}


def test_a_hard_item_is_shown_in_its_sentence_and_leads_to_its_judgments(report: Report) -> None:
    hardest, easiest = section(report, "difficulty").sheets[:2]
    shown = {f"contentious-{view.item_id}" for group in report.lists for view in group.items}
    assert set(hardest.links.values()) <= shown
    assert len(hardest.links) == len(hardest.rows)
    assert not easiest.links
    assert all("[" in row[0] and "]" in row[0] for row in hardest.rows)


def test_a_line_has_whole_words_round_its_item() -> None:
    assert texts_of(items(), essays()).line("i33") == (
        "…the morning. We arrived <b>at<[/b]> the station in the morning.…"
    )
    assert texts_of(items(), ()).line("i33") == "at"
    assert texts_of(None, ()).line("i33") == "i33"


def test_who_said_the_same_stands_together() -> None:
    said = (("Ann", "ok"), ("Bob", "error"), ("Cleo", "error"))
    assert ItemView("i", "", "at", "", said, ()).by_label == [("error", ["Bob", "Cleo"]), ("ok", ["Ann"])]


def test_what_only_the_crowd_is_split_on_is_named(report: Report) -> None:
    words = " ".join(section(report, "difficulty").words)
    sheets = {sheet.name: sheet for sheet in section(report, "difficulty").sheets}
    assert "Experts agree on" in words
    assert all(row[1] in ("error", "ok") for row in sheets["only-crowd-split"].rows)
