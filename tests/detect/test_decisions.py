from __future__ import annotations

from pathlib import Path

import pytest

from grater.detect.decisions import DecisionRows, read_item_places, summary
from grater.errors import BadInput
from grater.model import Essay
from tests.detect.prepositions.tiny import tiny_detector

ESSAY = Essay("e", "The girl waited on the bus.", metadata={"document": "d"})


def test_a_place_is_in_the_decisions_or_in_the_items() -> None:
    together, apart = DecisionRows(with_places=True), DecisionRows(with_places=False)
    for rows in (together, apart):
        rows.add([ESSAY], tiny_detector())
    assert {"start", "end"} <= set(together.decisions().columns)
    assert "start" not in apart.decisions().columns
    assert apart.items()["document"].unique().to_list() == ["d"]
    assert set(apart.items()["item"]) == set(apart.decisions()["item"])


def test_a_summary_counts_flags_by_type() -> None:
    rows = DecisionRows(with_places=True)
    rows.add([ESSAY], tiny_detector())
    (counts,) = summary(rows.decisions())
    assert counts["items"] == len(rows.decisions())
    assert counts["flagged"] == counts["choice"] + counts["extraneous"] + counts["missing"] > 0


def test_two_items_at_one_place_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text("item,essay,start,end,kind\na,e,0,3,prep\nb,e,0,3,prep\n", encoding="utf-8")
    with pytest.raises(BadInput, match="expected one item at a place, found 'b' where 'a' is"):
        read_item_places(path)
