"""Rows that come by columns are kept as those that come one at a time."""

from __future__ import annotations

from dataclasses import asdict, replace

import polars as pl
import pytest

from grater.annotate import content, importing
from grater.annotate.content import StudyItem
from grater.annotate.store import Store, events
from grater.errors import Conflict
from grater.model import Decision

DECIDED = [
    Decision("a", "S", True, 0.1 + 0.2, "choice", 'tab\there \\N, "é"'),
    Decision("b", "S", False),
    Decision("a", "T", True, -1e-300, suggestion=""),
    Decision("b", "T", True, float("inf")),
]


def frame_of(decided: list[Decision]) -> pl.DataFrame:
    return pl.DataFrame([asdict(each) for each in decided], schema_overrides={"score": pl.Float64})


def test_decisions(store: Store) -> None:
    with store.write() as tx:
        content.add_items(tx, [StudyItem("a", None), StudyItem("b", None)])
        assert importing.add_decisions(tx, frame_of(DECIDED)) == len(DECIDED)
        content.add_decisions(tx, [replace(each, system=f"{each.system} by rows") for each in DECIDED])
    with store.read() as tx:
        found = list(content.all_decisions(tx))
        told = [event.payload for event in events.all(tx) if event.verb == "decisions.added"]
        names = content.system_names(tx)
    by_rows = [replace(each, system=each.system.removesuffix(" by rows")) for each in found if "by" in each.system]
    assert (
        [each for each in found if "by" not in each.system]
        == by_rows
        == sorted(DECIDED, key=lambda each: each.system)
    )
    assert told == [{"n": len(DECIDED)}] * 2
    assert names == ["S", "S by rows", "T", "T by rows"]


def test_two_decisions_on_one_item_are_refused_and_nothing_stays(store: Store) -> None:
    with store.write() as tx:
        content.add_items(tx, [StudyItem("a", None)])
    with pytest.raises(Conflict), store.write() as tx:
        importing.add_decisions(tx, frame_of([Decision("a", "S", True), Decision("a", "S", False)]))
    with store.read() as tx:
        assert (content.n_decisions(tx), content.system_names(tx)) == (0, [])
