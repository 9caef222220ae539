"""A rater takes back their last answer: once, until the next one, and gold like work."""

from __future__ import annotations

import pytest

from grater.annotate import adjudication, jobs, judgments, leases, money, panels, submissions, trust
from grater.annotate.raters import pace_of
from grater.annotate.store import Store, events
from grater.annotate.store.transaction import HOUR
from grater.annotate.tasks.task import Answer
from grater.annotate.terms import POLICIES
from grater.errors import Conflict, NotFound
from grater.model import Json
from tests.annotate.store.crowds import Crowd, make_crowd, statements
from tests.annotate.store.worlds import FakeClock, write

TESTED: dict[str, Json] = {"gold": {"least_seen": 9}, "page": 2, "pay": {"cents": 5}}


def take_back(crowd: Crowd, lease: leases.Lease) -> leases.Lease:
    return crowd.write(submissions.take_back, lease.lease_id, person_id=lease.person_id)


def next_of(crowd: Crowd, *, is_gold: bool) -> leases.Lease:
    """Work until a unit of this kind is in hand."""
    while crowd.is_gold(lease := crowd.must_take()) != is_gold:
        crowd.send(lease)
    return lease


@pytest.mark.parametrize("is_gold", [False, True])
def test_an_answer_taken_back_is_kept_as_withdrawn_and_the_next_one_counts(store: Store, is_gold: bool) -> None:
    crowd = make_crowd(store, n_units=8, n_gold=8, judgments=1, terms=TESTED)
    lease = next_of(crowd, is_gold=is_gold)
    crowd.send(lease)
    counted, following = crowd.trust(), crowd.must_take()
    again = take_back(crowd, lease)
    crowd.require_promises()
    assert (again.unit_id, again.n) == (lease.unit_id, lease.n)
    assert crowd.trust().seen == counted.seen - is_gold
    assert crowd.must_take() == again
    crowd.send(again, label="unknown" if not is_gold else "error")
    assert crowd.must_take().lease_id == following.lease_id  # what was in hand comes after it
    assert sorted(row.status for row in crowd.read(judgments.of_unit, lease.unit_id)) == ["valid", "withdrawn"]
    log = [event for event in crowd.read(events.all) if event.noun == f"of-{lease.lease_id}"]
    assert log[-1].payload["why"] == "taken back"
    assert crowd.trust() == counted
    crowd.require_promises()
    n_units = len({work.unit for work in crowd.read(money.work_of, crowd.job_id)})
    assert owed_everywhere(crowd) == 5 * n_units


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("is_gold", [False, True])
def test_rater_manager_and_payments_agree_on_what_is_owed_after_an_undo(
    store: Store, is_gold: bool, policy: str
) -> None:
    terms = {**TESTED, "pay": {"cents": 5, "policy": policy}}
    crowd = make_crowd(store, n_units=8, n_gold=8, judgments=1, terms=terms)
    lease = next_of(crowd, is_gold=is_gold)
    crowd.send(lease)
    before = owed_everywhere(crowd)
    again = take_back(crowd, lease)
    assert owed_everywhere(crowd) == before - 5
    crowd.send(again)
    assert owed_everywhere(crowd) == before
    write(store, trust.eject, crowd.job, crowd.raters[0])
    assert owed_everywhere(crowd) == (before if policy == "all" else 0)
    crowd.require_promises()


def owed_everywhere(crowd: Crowd) -> int:
    """Cents of the only rater who works: as they see it, as the manager does, as it is written down."""
    with crowd.store.write() as tx:
        money.settle(tx, crowd.job)
        written = sum(payment.cents for payment in money.payments_of(tx, crowd.job.job_id))
        seen = pace_of(tx, crowd.job, crowd.raters[0]).earned
        assert (seen, money.job_costs(tx, crowd.job).cents) == (f"{written / 100:.2f} EUR", written)
    return written


def test_only_the_last_answer_and_only_once(store: Store) -> None:
    crowd = make_crowd(store, n_units=8, n_gold=0, terms={})
    first = crowd.must_take()
    crowd.send(first)
    second = crowd.must_take()
    crowd.send(second)
    with pytest.raises(Conflict, match="only your last answer"):
        take_back(crowd, first)
    again = take_back(crowd, second)
    with pytest.raises(Conflict, match="only your last answer"):
        take_back(crowd, second)
    crowd.send(again, label="ok")
    with pytest.raises(Conflict, match="only your last answer"):
        take_back(crowd, again)
    with store.write() as tx, pytest.raises(NotFound):
        submissions.take_back(tx, second.lease_id, person_id=crowd.raters[1])
    crowd.require_promises()


def test_missed_gold_is_taken_back_like_work_but_no_quiz_and_nothing_that_is_decided(store: Store) -> None:
    terms: dict[str, Json] = {"gold": {"least_seen": 9, "quiz": 2, "minimum": 0.5}, "page": 2}
    crowd = make_crowd(store, n_units=8, n_gold=12, judgments=1, terms=terms)
    for label in ("error", "ok"):
        lease = crowd.must_take()
        crowd.send(lease, label=label)
        with pytest.raises(Conflict):
            take_back(crowd, lease)
    lease = next_of(crowd, is_gold=True)
    crowd.send(lease, label="ok")
    crowd.send(take_back(crowd, lease))
    lease = next_of(crowd, is_gold=False)
    crowd.send(lease)
    answers = [Answer(crowd.item_of(lease.unit_id), "ok")]
    write(store, adjudication.save, unit_id=lease.unit_id, person_id=crowd.raters[1], answers=answers)
    with pytest.raises(Conflict):
        take_back(crowd, lease)
    crowd.require_promises()


def test_nothing_is_taken_back_for_a_code_or_in_a_closed_job(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={"limit": 1})
    panel = crowd.write(panels.add, crowd.job_id, panels.NewPanel(provider="prolific", codes={"completed": "C-1"}))
    person_id = crowd.write(panels.enter, panel.panel_id, "abc").person_id
    lease = crowd.write(leases.take, job_id=crowd.job_id, person_id=person_id)
    crowd.send(lease)
    assert crowd.write(panels.conclude, crowd.job_id, person_id).code == "C-1"
    other = crowd.must_take()
    crowd.send(other)
    crowd.write(jobs.set_state, crowd.job_id, "paused")
    for each in (lease, other):
        with pytest.raises(Conflict):
            take_back(crowd, each)


def test_what_was_taken_back_and_let_go_is_still_the_next_unit(store: Store, clock: FakeClock) -> None:
    crowd = make_crowd(store, n_units=8, n_gold=8, judgments=1, terms=TESTED)
    lease = next_of(crowd, is_gold=False)
    crowd.send(lease)
    again = take_back(crowd, lease)
    clock.advance(-30 * HOUR)  # a clock that jumps changes nothing
    crowd.must_take(1)
    assert crowd.must_take().unit_id == again.unit_id
    crowd.require_promises()


def test_gold_and_work_are_taken_back_by_the_same_statements(store: Store) -> None:
    crowd = make_crowd(store, n_units=8, n_gold=8, judgments=1, terms=TESTED)
    asked: dict[bool, list[str]] = {}
    crowd.send(crowd.must_take())
    for is_gold in (True, False):
        lease = next_of(crowd, is_gold=is_gold)
        crowd.send(lease)
        crowd.must_take()
        with statements(store) as sent:
            take_back(crowd, lease)
        asked[is_gold] = [statement.split()[0] for statement in sent]
    assert asked[True] == asked[False]
