"""Gold that is added to a job looks like its work (P5), and can be shown to raters, or is refused (P4)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import content, jobs, units
from grater.annotate.gold import LOOKS, make_gold
from grater.annotate.store import Store, Tx, open_store
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.marking import SUGGESTIONS
from grater.annotate.units import NewUnit
from grater.annotate.work import shown_to_staff
from grater.errors import UsageError
from grater.model import Essay, Item, Span
from tests.annotate.tasks.units import rng, unit_for

TEXT = "Friends waited on the bus stop on a Monday."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "study.db", create=True) as store:
        yield store


def two_items(tx: Tx) -> list[str]:
    content.add_essays(tx, [Essay("e", TEXT)])
    places = [Item("e", Span(start, start + 2), "prep") for start in (15, 31)]
    content.add_items(tx, [content.study_item(place) for place in places])
    return [place.item_id for place in places]


class Noted(dict[str, Any]):
    """Notes which names were looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)


@pytest.mark.parametrize("name", sorted(TASKS))
def test_whatever_a_task_reads_of_a_units_payload_gold_has_too(name: str) -> None:
    """Suggestions differ from essay to essay: a job that offers them takes no other gold than its own units."""
    payload = Noted()
    TASKS[name].show(replace(unit_for(name), payload=payload), rng=rng())
    assert payload.names <= {*LOOKS, SUGGESTIONS}


def test_a_job_that_offers_marks_takes_no_essay_without_them_as_gold(store: Store) -> None:
    with store.write() as tx:
        content.add_essays(tx, [Essay("e", TEXT)])
        whole = Item("e", Span(0, len(TEXT)), "essay")
        content.add_items(tx, [content.study_item(whole)])
        job = jobs.add(tx, name="offered", task="marking", judgments=1, options={SUGGESTIONS: {"system": "x"}})
        with pytest.raises(UsageError, match="offers a system's marks"):
            make_gold(tx, job, whole.item_id, ["15-17|Wcip"], reason="")


def test_added_gold_asks_the_question_of_its_job(store: Store) -> None:
    with store.write() as tx:
        work, known = two_items(tx)
        job = jobs.add(tx, name="lists", task="error", judgments=1)
        (work_id,) = units.add_all(tx, job.job_id, [NewUnit(((work, {}),), "e", payload={"asks": "collocation"})])
        assert make_gold(tx, job, known, ["error"], reason="")
        (gold_id,) = units.ids_of_job(tx, job.job_id, role="gold")
        shown = [shown_to_staff(tx, unit_id) for unit_id in (work_id, gold_id)]
    assert shown[0].fields == shown[1].fields


@pytest.mark.parametrize(("task", "label"), [("construction", "yes"), ("verify", "suggestion"), ("choice", "system")])
def test_gold_that_no_page_can_show_is_refused(store: Store, task: str, label: str) -> None:
    with store.write() as tx:
        _, known = two_items(tx)
        job = jobs.add(tx, name=task, task=task, judgments=1)
        label = label if label in TASKS[task].labels else TASKS[task].labels[0]
        with pytest.raises(UsageError, match="cannot be shown"):
            make_gold(tx, job, known, [label], reason="")
        assert units.ids_of_job(tx, job.job_id) == []
