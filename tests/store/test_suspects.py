"""Suspects with their newest decision, on both engines."""

from __future__ import annotations

from grater.model import Essay, Item, Span
from grater.store import Store, adjudications, checks, essays, items, jobs, people, suspects, units
from grater.store.units import NewUnit
from grater.tasks.task import Answer


def listed(store: Store) -> tuple[str, list[str]]:
    """A list of two suspects; its job and its units."""
    places = [Item("e", Span(start, start + 2), "prep-extraneous") for start in (2, 8)]
    with store.write() as tx:
        essays.add_all(tx, [Essay("e", "go to a; go to b")])
        items.add_all(tx, [items.of(item) for item in places])
        job = jobs.add(tx, name="mined", task="error")
        new = [NewUnit(((item.item_id, {}),), "e", wanted=0, payload={"place": n}) for n, item in enumerate(places)]
        return job.job_id, units.add_all(tx, job.job_id, [*new, NewUnit(((places[0].item_id, {}),), "e")])


def test_the_newest_decision_counts_and_an_empty_one_takes_back(store: Store) -> None:
    job_id, unit_ids = listed(store)
    with store.write() as tx:
        ada, bo = (people.add(tx, name=name, role="manager").person_id for name in ("Ada", "Bo"))
        item_id = Item("e", Span(2, 4), "prep-extraneous").item_id
        for person, label in ((ada, "error"), (bo, "ok")):
            adjudications.save(tx, unit_id=unit_ids[0], person_id=person, answers=[Answer(item_id, label)])
    with store.read() as tx:
        first, second = suspects.of_job(tx, job_id)  # the third unit wants a rater, and is no suspect
    assert (first.label, first.by, first.version, first.place) == ("ok", "Bo", 2, 1)
    assert (second.label, second.by, second.at, second.version, second.place) == ("", "", None, 0, 2)
    assert second.payload == {"place": 1}
    with store.write() as tx:
        adjudications.save(tx, unit_id=unit_ids[0], person_id=ada, answers=[])
    with store.read() as tx:
        first = suspects.of_job(tx, job_id)[0]
        assert (first.label, first.by, first.version) == ("", "", 3)
        assert checks.violations(tx) == []
