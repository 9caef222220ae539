"""Dynamic redundancy: fewer judgments where raters agree, more where they do not, and none too many."""

from __future__ import annotations

from grater.annotate import progress, trust
from grater.annotate.store import Store
from tests.annotate.store.crowds import Crowd, make_crowd

RULE = {"redundancy": {"least": 2, "most": 5, "lead": 2}}


def units_of(crowd: Crowd) -> list[tuple[int, int]]:
    """Valid judgments and those wanted, of every unit."""
    with crowd.store.read() as tx:
        return [(unit.valid, unit.wanted) for unit in progress.of_job(tx, crowd.job.job_id).by_unit]


def small(store: Store, *, n_units: int = 1) -> Crowd:
    return make_crowd(store, n_units=n_units, n_gold=0, judgments=2, n_raters=6, terms=RULE)


def test_two_who_agree_are_enough(store: Store) -> None:
    crowd = small(store)
    crowd.work(0)
    crowd.work(1)
    assert units_of(crowd) == [(2, 2)]
    assert crowd.take(2) is None
    crowd.require_promises()


def test_two_who_differ_are_followed_by_as_many_as_could_decide(store: Store) -> None:
    crowd = small(store)
    crowd.work(0, label="error")
    crowd.work(1, label="ok")
    assert units_of(crowd) == [(2, 4)]  # a lead of two needs two more
    crowd.work(2, label="ok")
    assert units_of(crowd) == [(3, 4)]
    crowd.work(3, label="error")
    assert units_of(crowd) == [(4, 5)]  # five at most
    crowd.work(4, label="error")
    assert units_of(crowd) == [(5, 5)]
    assert crowd.take(5) is None
    crowd.require_promises()


def test_who_is_put_out_leaves_no_more_open_than_the_rest_still_need(store: Store) -> None:
    crowd = small(store)
    crowd.work(0, label="error")
    crowd.work(1, label="ok")
    crowd.work(2, label="ok")
    crowd.work(3, label="ok")
    assert units_of(crowd) == [(4, 4)]
    with store.write() as tx:
        trust.eject(tx, crowd.job, crowd.raters[0])
    assert units_of(crowd) == [(3, 3)]  # three who agree: the free slot is closed
    with store.write() as tx:
        assert trust.reinstate(tx, crowd.job, crowd.raters[0]) == (0, 1)
    crowd.require_promises()


def test_a_fixed_number_changes_nothing(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms={"redundancy": {"least": 2, "most": 2}})
    crowd.work(0, label="error")
    crowd.work(1, label="ok")
    assert units_of(crowd) == [(2, 2)]
    crowd.require_promises()
