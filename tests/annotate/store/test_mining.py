"""Suspects with their newest decision, on both engines."""

from __future__ import annotations

from grater.annotate import adjudication, content, jobs, people, units
from grater.annotate.mining import all_of, find, next_open
from grater.annotate.store import Store, Tx
from grater.annotate.tasks.task import Answer
from grater.model import Essay, Item, Span

PLACES = [Item("e", Span(start, start + 2), "prep-extraneous") for start in (3, 12, 21)]


def listed(store: Store, n: int = 2, *, name: str = "mined") -> tuple[str, list[str]]:
    """A list of `n` suspects, and a unit that wants a rater; its job and its units."""
    places = PLACES[:n]
    with store.write() as tx:
        content.add_essays(tx, [Essay("e", "go to a; go to b; go to c")])
        content.add_items(tx, [content.study_item(item) for item in places])
        job = jobs.add(tx, name=name, task="error")
        new = [
            units.NewUnit(((item.item_id, {}),), "e", wanted=0, payload={"place": n}) for n, item in enumerate(places)
        ]
        return job.job_id, units.add_all(tx, job.job_id, [*new, units.NewUnit(((places[0].item_id, {}),), "e")])


def decide(tx: Tx, unit_ids: list[str], place: int, label: str, person_id: str) -> None:
    """The newest decision about the suspect at a place; no label takes it back."""
    answers = [Answer(PLACES[place - 1].item_id, label)] if label else []
    adjudication.save(tx, unit_id=unit_ids[place - 1], person_id=person_id, answers=answers)


def test_one_suspect_is_found_by_its_place_in_its_own_list(store: Store) -> None:
    other_id, _ = listed(store, 3, name="other")
    job_id, _ = listed(store)
    with store.read() as tx:
        assert [find(tx, job_id, place) for place in (1, 2)] == all_of(tx, job_id)
        # 3 is the unit that wants a rater; and people may type any number
        assert {find(tx, job_id, place) for place in (-1, 0, 3, 4, 2**31, 2**63, 10**30)} == {None}
        third = find(tx, other_id, 3)
    assert (third.place, third.item) == (3, PLACES[2])


def test_the_next_open_one_is_after_this_one_or_else_from_the_start(store: Store) -> None:
    job_id, unit_ids = listed(store, 3)

    def following() -> list[int]:
        with store.read() as tx:
            return [next_open(tx, job_id, place) for place in range(4)]

    assert following() == [1, 2, 3, 1]
    with store.write() as tx:
        ada = people.add(tx, name="Ada", role="manager").person_id
        decide(tx, unit_ids, 2, "ok", ada)
    assert following() == [1, 3, 3, 1]
    with store.write() as tx:
        decide(tx, unit_ids, 1, "error", ada)
    assert following() == [3, 3, 3, 0]  # the only open one has no next
