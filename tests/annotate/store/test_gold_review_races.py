"""The crowd's rules when everything happens at once (P3-P6): each race ends in a study that keeps its promises."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from grater.annotate import credentials, leases, progress, trust
from grater.annotate.leases import Lease, UnitSlot
from grater.annotate.store import Store
from grater.errors import StoreBusy
from grater.model import Json
from tests.annotate.store.crowds import Crowd, make_crowd


def together(*calls: Callable[[], object]) -> list[object]:
    """All at once; a database that was busy is asked again, as clients do."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(_patiently, call) for call in calls]]


def _patiently(call: Callable[[], object]) -> object:
    for _ in range(20):
        try:
            return call()
        except StoreBusy:
            continue
    raise AssertionError("the store was busy for too long")


def held_gold(crowd: Crowd, place: int) -> Lease:
    """Another gold in the same rater's hands, as on a page that shows several units."""
    with crowd.store.write() as tx:
        unit_id = sorted(crowd.gold_ids)[place]
        at = UnitSlot(unit_id, None)
        return leases.issue(tx, crowd.job, at, person_id=crowd.raters[0], place=place + 1)


def test_two_gold_misses_in_parallel_put_a_rater_out_once(store: Store) -> None:
    crowd = make_crowd(store, n_units=20, n_gold=6, terms={"gold": {"least_seen": 2}, "page": 5})
    held = [held_gold(crowd, place) for place in range(3)]
    together(*(lambda lease=lease: crowd.send(lease, label="ok") for lease in held))
    assert (crowd.trust().state, crowd.trust().why) == ("ejected", "gold")
    assert set(crowd.statuses()) == {"untrusted"}
    crowd.require_promises()


def test_a_submission_that_comes_during_an_ejection_is_untrusted_and_frees_its_slot(store: Store) -> None:
    crowd = make_crowd(store, n_units=12, n_gold=4, judgments=1, terms={"gold": {"least_seen": 2}, "page": 5})
    lease = crowd.must_take()

    def eject() -> None:
        with store.write() as tx:
            trust.eject(tx, crowd.job, crowd.raters[0])

    together(eject, lambda: crowd.send(lease))
    assert crowd.statuses() == ["untrusted"]
    crowd.require_promises()
    for rater in range(1, 6):
        crowd.work(rater, n=40)
    with store.read() as tx:
        assert {unit.valid for unit in progress.of_job(tx, crowd.job.job_id).by_unit} == {1}


def test_forgiveness_while_everybody_works_leaves_trust_as_counted_from_scratch(store: Store) -> None:
    crowd = make_crowd(store, n_units=30, n_gold=8, judgments=5, terms={"gold": {"least_seen": 3}, "page": 3})

    def forgive() -> None:
        for unit_id in sorted(crowd.gold_ids)[:3]:
            with store.write() as tx:
                trust.set_gold_state(tx, unit_id, "forgiven")

    def work(rater: int) -> Callable[[], object]:
        return lambda: [_patiently(lambda: crowd.work(rater, gold="ok" if rater < 2 else "error")) for _ in range(9)]

    together(forgive, *(work(rater) for rater in range(4)))
    crowd.require_promises()


def test_reinstatement_while_others_refill_the_slots_never_overfills_them(store: Store) -> None:
    crowd = make_crowd(store, n_units=10, n_gold=6, judgments=1, terms={"gold": {"least_seen": 50}, "page": 3})
    crowd.work(n=9)
    with store.write() as tx:
        trust.eject(tx, crowd.job, crowd.raters[0])

    def reinstate() -> None:
        with store.write() as tx:
            trust.reinstate(tx, crowd.job, crowd.raters[0])

    together(reinstate, *(lambda rater=rater: crowd.work(rater, n=4) for rater in (1, 2)))
    assert set(crowd.statuses()) <= {"valid", "surplus"}
    crowd.require_promises()


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_quiz_that_ends_in_two_tabs_at_once_is_judged_once(store: Store, attempts: int) -> None:
    terms: dict[str, Json] = {"gold": {"quiz": 2, "attempts": attempts, "minimum": 1.0}, "page": 5}
    crowd = make_crowd(store, n_gold=8, terms=terms)
    crowd.work(n=1, gold="ok")
    lease = crowd.must_take()
    together(*(lambda: crowd.send(lease, label="ok") for _ in range(3)))
    assert crowd.trust().attempts == 1
    assert crowd.trust().state == ("ejected" if attempts == 1 else "quiz")
    with store.write() as tx:
        credentials.start_session(tx, crowd.raters[0], hours=1)  # a new browser changes nothing
    assert (crowd.take() is None) == (attempts == 1)
    crowd.require_promises()
