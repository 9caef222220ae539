"""Judgments made elsewhere come in by columns, row for row as they would one at a time, or not at all."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from grater.annotate import content, jobs, judgments, worksheets
from grater.annotate.archive import rows as stored_rows
from grater.annotate.store import Store, checks
from grater.annotate.worksheets import add_judgments
from grater.model import Essay, Item, Span
from grater.tables import Judgments, read_judgments
from grater.tables.read import ANY
from tests.annotate.store.worlds import read, write
from tests.annotate.study.conftest import ON_BOTH

ROWS: list[dict[str, Any]] = [
    {"item": "b", "rater": "Zoë", "label": "ok"},
    {"item": "named", "rater": "Yan", "label": "error", "seconds": 4.5, "at": "2026-01-02T03:04:05Z"},
    {"item": "b", "rater": "Yan", "label": "tab\there\nand \\\\. there", "status": "untrusted", "seconds": 0.0},
    {"item": "b", "rater": "Xia", "label": " ,;", "status": "no such", "confidence": 0.5, "flags": "spelling | long"},
    {"item": "named", "rater": "Xia", "label": "\\.", "status": "", "seconds": -0.0, "group": "expert"},
    {"item": "b", "rater": "bot", "label": "\\N", "group": "program", "payload": '{"why": ["é", null], "a": 1e30}'},
    {"item": "c", "rater": "Zoë", "label": "ok", "status": "withdrawn", "stage": "second", "at": "some time ago"},
    {
        "item": "named",
        "rater": "Zoë",
        "label": "ok",
        "alternatives": "in|on",
        "confidence": 1.0,
        "score": float("nan"),
    },
]


def table_of(rows: list[dict[str, Any]]) -> Judgments:
    return read_judgments(pl.DataFrame(rows, infer_schema_length=None), name="crowd.csv", status=(ANY,))


COLUMNS = ("item", "rater", "label", "status", "seconds", "confidence", "flags", "alternatives", "stage", "payload")
STORED = [
    ("b", "Zoë", "ok", "valid", None, "", [], [], "", {}),
    ("b", "Yan", "tab\there\nand \\\\. there", "untrusted", 0.0, "", [], [], "", {}),
    ("b", "Xia", " ,;", "withdrawn", None, "0.5", ["spelling", "long"], [], "", {}),
    ("b", "bot", "\\N", "valid", None, "", [], [], "", {"why": ["é", None], "a": 1e30}),
    ("c", "Zoë", "ok", "withdrawn", None, "", [], [], "second", {}),
    ("named", "Yan", "error", "valid", 4.5, "", [], [], "", {}),
    ("named", "Xia", "\\.", "valid", 0.0, "", [], [], "", {}),
    ("named", "Zoë", "ok", "valid", None, "1", [], ["in", "on"], "", {}),
]
"""The rows as the study has them: what only text and quotes of a driver could confuse comes through unchanged."""


@ON_BOTH
def test_judgments_come_in_as_made_and_further_ones_join(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worksheets, "UNITS_AT_A_TIME", 2)
    write(store, content.add_essays, [Essay("e", "We waited on the bus.")])
    write(store, content.add_items, [content.study_item(Item("e", Span(10, 12), "prep"), outside_id="named")])
    assert write(store, add_judgments, table_of(ROWS), job="crowd", task="error") == (len(ROWS), 0)
    with store.read() as tx:
        assert checks.violations(tx) == []
        [job] = jobs.all(tx)
        rows = judgments.table(tx, job.job_id, judgments.ALL, names=True)
        groups = {row["rater"]: row["group"] for row in rows}
        names = {item_id: name for name, item_id in content.items_by_name(tx, ["named", "b", "c"]).items()}
        bodies = [row["body"] for row in stored_rows(tx, "submissions")]
        [dated] = [row["at"] for row in rows if row["seconds"] == 4.5]
    found = [tuple({**row, "item": names[str(row["item"])]}[name] for name in COLUMNS) for row in rows]
    assert sorted(found, key=repr) == sorted(STORED, key=repr)
    assert (job.state, job.judgments, dated) == ("closed", 4, "2026-01-02T03:04:05.000Z")
    assert groups == {"Zoë": "crowd", "Yan": "crowd", "Xia": "crowd", "bot": "program"}  # as first called
    assert {"item": "b", "rater": "Zoë", "label": "ok"} in bodies  # a row is its cells that say something
    known = [{**row, "status": "valid"} for row in ROWS[:2]]
    more = [{"item": item, "rater": "Ugo", "label": "ok"} for item in ("named", "new")]
    assert write(store, add_judgments, table_of([*known, *more]), job="crowd", task="error") == (2, 2)
    assert len(read(store, judgments.table, job.job_id, judgments.ALL)) == len(ROWS) + 2
    assert read(store, checks.violations) == []
