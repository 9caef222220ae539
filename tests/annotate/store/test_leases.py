"""Who gets which unit and when, and what becomes of an answered page: slots, surplus, redundancy, drafts."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from sqlalchemy import select
from sqlalchemy import text as sql

from grater.annotate import credentials, jobs, judgments, leases, marks, people, progress, submissions, trust, units
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.transaction import DAY, HOUR, MINUTE, PRIME
from grater.annotate.tasks.task import Answer
from grater.annotate.units import FINISHED, NewUnit
from grater.errors import Conflict, GraterError, NotFound, Stale, UsageError
from tests.annotate.store.crowds import Crowd, make_crowd, make_world
from tests.annotate.store.races import race, two_answers_at_once
from tests.annotate.store.worlds import FakeClock, new_units, read, write


@pytest.mark.parametrize(
    ("passed", "is_free"),
    [(10 * MINUTE - 1, False), (10 * MINUTE, True), (-MINUTE, False), (-30 * DAY, True)],
    ids=["in time", "too late", "a clock that differs a little", "a clock set back"],
)
def test_a_lease_that_is_over_goes_to_the_next_rater(
    store: Store, clock: FakeClock, passed: int, is_free: bool
) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    world.must_take(0)
    clock.advance(passed)
    assert (world.take(1) is not None) == is_free


def test_a_reload_gives_the_same_lease_and_one_who_comes_back_late_but_first_goes_on(
    store: Store, clock: FakeClock
) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    old = world.must_take(0)
    assert world.must_take(0) == old
    clock.advance(2 * HOUR)
    again = world.must_take(0)
    assert (again.lease_id, again.expires_at) == (old.lease_id, clock.now + 10 * MINUTE)
    assert world.take(1) is None


@pytest.mark.parametrize("comes_back", [False, True], ids=["gives back", "comes back"])
def test_one_whose_slot_another_is_just_taking_frees_nothing_and_has_none(
    store: Store, clock: FakeClock, comes_back: bool
) -> None:
    """The change begins while rater 1 has taken the slot and not committed, and is done after it."""
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    old, late = world.must_take(0), world.raters[0]
    clock.advance(10 * MINUTE)

    def take_and_wait(tx: Tx) -> None:
        assert leases.take(tx, job_id=world.job_id, person_id=world.raters[1]) is not None
        tx.execute(sql("SELECT 'taken, not committed'"))

    def come_or_give_back(tx: Tx) -> object:
        if comes_back:
            return leases.take(tx, job_id=world.job_id, person_id=late)
        return leases.give_back(tx, old.lease_id, person_id=late)

    found = race(store, take_and_wait, come_or_give_back, before="SELECT 'taken")[1].result()
    assert found is (None if comes_back else False)
    assert world.take(2) is None  # rater 1 has the only slot
    assert world.read(leases.find, old.lease_id, person_id=late) == replace(old, state="expired")
    world.require_promises()


def test_every_rater_has_another_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """From numbers that are the same each time: by chance two of three raters agree once in some thousand worlds.

    A unit after a wide gap is likely to be the next one for everybody, so orders agree more often than 1 in 12!.
    """
    rng = random.Random(1)
    for module in ("leases", "units"):
        monkeypatch.setattr(f"grater.annotate.{module}.new_shuffle", lambda: rng.randrange(1, PRIME))
    world = make_world(store, n_units=12, judgments=3, n_raters=3)
    orders = [[world.answer(rater).unit_id for _ in range(12)] for rater in range(3)]
    assert len({tuple(order) for order in orders}) == 3
    assert all(sorted(order) == sorted(world.unit_ids) for order in orders)


def test_batches_come_in_order(store: Store) -> None:
    world = make_world(store, n_units=0, judgments=1)
    with store.write() as tx:
        new = [NewUnit(each.items, each.essay_id, batch=2 - n % 3) for n, each in enumerate(new_units(tx, 9))]
        batches = dict(zip(units.add_all(tx, world.job_id, new), [each.batch for each in new], strict=True))
    assert [batches[world.answer().unit_id] for _ in range(9)] == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_an_assigned_job_gives_each_their_own_units_in_their_own_batches(store: Store) -> None:
    world = make_world(store, n_units=3, judgments=1, access="assigned")
    first, second, third = world.unit_ids
    with store.write() as tx:
        mine = [jobs.Assignment(first, world.raters[0], batch=2), jobs.Assignment(second, world.raters[0], batch=1)]
        jobs.assign(tx, world.job_id, [*mine, jobs.Assignment(third, world.raters[1])])
    assert [world.answer(0).unit_id for _ in range(2)] == [second, first]
    assert world.take(0) is None
    assert world.must_take(1).unit_id == third
    assert world.take(2) is None


def test_the_second_stage_waits_for_the_first_of_the_same_rater_and_the_delay(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=0, judgments=2)
    with store.write() as tx:
        (each,) = new_units(tx, 1)
        later = NewUnit(each.items, each.essay_id, stage="2", follows="first", delay_ms=3 * DAY)
        first, second = units.add_all(tx, world.job_id, [NewUnit(each.items, stage="1", name="first"), later])
    assert world.answer(0).unit_id == first
    clock.advance(3 * DAY - 1)
    assert world.take(0) is None
    clock.advance(1)
    assert world.must_take(0).unit_id == second
    assert world.must_take(1).unit_id == first  # somebody else's first stage opens nothing for this rater


def counts(world: Crowd) -> Counter[str]:
    world.require_promises()
    return Counter(str(row["status"]) for row in world.read(judgments.table, world.job_id, judgments.ALL))


def test_a_replay_gets_the_stored_result_and_another_body_or_another_rater_a_conflict(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    first, again = (world.send(lease, submission_id="a", says="one") for _ in range(2))
    assert [(each.status, each.is_replay) for each in (first, again)] == [("valid", False), ("valid", True)]
    with pytest.raises(Conflict, match="another answer"):
        world.send(lease, submission_id="a", says="two")
    with pytest.raises(Conflict):
        world.send(world.must_take(1), submission_id="a")
    assert counts(world) == {"valid": 1}


@pytest.mark.parametrize(
    ("judgments", "n_others", "status"),
    [(2, 1, "valid"), (1, 1, "surplus"), (1, 0, "valid")],
    ids=["a slot is still free", "none is left", "nobody took it"],
)
def test_late_work_takes_a_free_slot_or_is_surplus(
    store: Store, clock: FakeClock, judgments: int, n_others: int, status: str
) -> None:
    world = make_world(store, n_units=1, judgments=judgments, lease_minutes=10)
    late = world.must_take(0)
    clock.advance(HOUR)
    for rater in range(1, 1 + n_others):  # frees the old lease
        world.answer(rater)
    assert world.send(late).status == status
    assert sum(counts(world).values()) == 1 + n_others


def test_an_ejection_ends_what_counts_what_is_held_and_sessions_and_a_return_takes_what_is_left(store: Store) -> None:
    world = make_world(store, n_units=3, judgments=1)
    answered, held = {world.answer(0).unit_id for _ in range(2)}, world.must_take(0)
    token, _ = world.write(credentials.start_session, world.raters[0], hours=1)
    assert world.write(trust.eject, world.job, world.raters[0], why="gold") == 2
    assert counts(world) == {"untrusted": 2}
    assert world.read(leases.find, held.lease_id, person_id=held.person_id) == replace(held, state="revoked")
    assert world.read(people.find_session, token) is None
    n_gone = len({world.answer(1).unit_id for _ in range(2)} & answered)  # free for others at once
    assert n_gone > 0
    assert world.write(trust.reinstate, world.job, world.raters[0]) == (2 - n_gone, n_gone)
    assert counts(world) == Counter(valid=4 - n_gone, surplus=n_gone)


@pytest.mark.parametrize("item_ids", [[], ["other"], ["same", "same"]])
def test_answers_must_be_about_the_units_items(store: Store, item_ids: list[str]) -> None:
    world = make_world(store)
    lease = world.must_take()
    answers = [Answer(item_id, "ok") for item_id in item_ids]
    of_lease = {"lease_id": lease.lease_id, "person_id": lease.person_id}
    with pytest.raises(UsageError, match="one answer for each"):
        world.write(submissions.submit, submission_id="x", **of_lease, body={}, answers=answers)
    assert counts(world) == {}


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM judgments",
        "DELETE FROM submissions",
        "DELETE FROM events",
        "DELETE FROM leases",
        "UPDATE judgments SET label = 'ok'",
        "UPDATE events SET verb = 'nothing'",
        "UPDATE submissions SET body = '{}'",
        "UPDATE submissions SET person_id = 'x'",
        "UPDATE guidelines SET markdown = ''",
    ],
)
def test_the_database_itself_refuses_to_forget(store: Store, statement: str) -> None:
    world = make_world(store)
    write(store, jobs.add_guidelines, world.job_id, "Read first.")
    world.answer()
    with pytest.raises(GraterError, match="kept as they are"), store.write() as tx:
        tx.execute(sql(statement))
    assert counts(world) == {"valid": 1}


@pytest.mark.parametrize("change", ["n = 2, status = 'valid'", "n = 1, status = 'valid'", "status = 'gone'"])
def test_the_database_itself_refuses_to_count_twice(store: Store, change: str) -> None:
    """The partial unique indexes and the CHECK hold, whatever the code above them does."""
    world = make_world(store, n_units=1, judgments=2)
    lease = world.must_take()
    world.send(lease, submission_id="a")
    world.send(lease, submission_id="b")  # surplus
    with pytest.raises((Conflict, GraterError)), store.write() as tx:
        tx.execute(sql(f"UPDATE submissions SET {change} WHERE submission_id = 'b'"))
    assert counts(world) == {"valid": 1, "surplus": 1}


def statuses(world: Crowd) -> dict[str, str]:
    world.require_promises()
    with world.store.read() as tx:
        return {row.submission_id: row.status for row in tx.all(select(schema.submissions))}


def eject(world: Crowd, rater: int) -> None:
    world.write(trust.eject, world.job, world.raters[rater], why="gold")


@pytest.mark.parametrize(
    ("ejected", "after"),
    [([2], ("valid", "surplus")), ([0, 2], ("surplus", "valid"))],
    ids=["trusted", "ejected too"],
)
def test_the_oldest_surplus_answer_of_a_trusted_rater_takes_the_slot_of_an_ejected_one(
    store: Store, clock: FakeClock, ejected: list[int], after: tuple[str, str]
) -> None:
    world, late = make_world(store, n_units=1, judgments=1, n_raters=3), []
    for rater in range(2):
        late.append(world.must_take(rater))
        clock.advance(HOUR + 1)
    world.send(world.must_take(2), submission_id="in time")
    for number, lease in enumerate(late):
        clock.advance(1)
        world.send(lease, submission_id=f"late {number}")
    assert statuses(world) == {"in time": "valid", "late 0": "surplus", "late 1": "surplus"}
    for rater in ejected:
        eject(world, rater)
    assert statuses(world) == {"in time": "untrusted", "late 0": after[0], "late 1": after[1]}


def test_a_second_answer_of_the_same_rater_is_kept_as_surplus_and_stays_so(store: Store) -> None:
    world = make_world(store, n_units=1, judgments=2)
    lease = world.must_take(0)
    world.send(lease, submission_id="first")
    assert world.send(lease, submission_id="second").status == "surplus"
    world.send(world.must_take(1), submission_id="other")
    eject(world, 1)
    assert statuses(world) == {"first": "valid", "second": "surplus", "other": "untrusted"}


RULE = {"redundancy": {"least": 2, "most": 5, "lead": 2}}


def units_of(crowd: Crowd) -> list[tuple[int, int]]:
    """Valid judgments and those wanted, of every unit."""
    return [(unit.valid, unit.wanted) for unit in crowd.read(progress.some_units, crowd.job.job_id)]


def test_two_who_agree_are_enough_and_those_who_differ_are_followed_by_as_many_as_could_decide(store: Store) -> None:
    crowd = make_crowd(store, n_units=2, n_gold=0, judgments=2, n_raters=6, terms=RULE)
    agreed, split = [], []
    for rater, label in enumerate(("error", "ok", "ok", "error", "error")):
        while (lease := crowd.take(rater)) is not None:
            is_first = lease.unit_id == crowd.unit_ids[0]
            crowd.send(lease, label="error" if is_first else label)
        agreed.append(units_of(crowd)[0])
        split.append(units_of(crowd)[1])
    assert agreed[1:] == [(2, 2)] * 4
    assert split[1:] == [(2, 4), (3, 4), (4, 5), (5, 5)]  # a lead of two needs two more; five at most
    assert crowd.take(5) is None
    crowd.require_promises()


def test_a_removed_rater_leaves_no_more_open_than_the_rest_still_need(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=RULE)
    for rater, label in enumerate(("error", "ok", "ok", "ok")):
        crowd.work(rater, label=label)
    assert units_of(crowd) == [(4, 4)]
    write(store, trust.eject, crowd.job, crowd.raters[0])
    assert units_of(crowd) == [(3, 3)]  # three who agree: the free slot is closed
    assert write(store, trust.reinstate, crowd.job, crowd.raters[0]) == (0, 1)
    crowd.require_promises()


def finished(store: Store) -> list[str]:
    return [event.noun for event in read(store, events.all) if event.verb == FINISHED]


def test_of_two_last_answers_at_once_one_tells(store: Store) -> None:
    crowd = make_world(store, n_units=1, judgments=2)
    two_answers_at_once(crowd, "error", "error")
    assert finished(store) == list(crowd.unit_ids)


def test_it_is_told_once_when_the_last_judgment_comes_and_again_when_it_comes_again(store: Store) -> None:
    crowd = make_world(store, n_units=1, judgments=2)
    crowd.work(0)
    assert finished(store) == []
    crowd.work(1)
    assert finished(store) == list(crowd.unit_ids)
    write(store, trust.eject, crowd.job, crowd.raters[0])
    assert finished(store) == list(crowd.unit_ids)
    write(store, trust.reinstate, crowd.job, crowd.raters[0])
    assert finished(store) == list(crowd.unit_ids) * 2


def test_terms_that_ask_for_no_more_finish_a_unit(store: Store) -> None:
    crowd = make_world(store, n_units=1, judgments=3)
    for rater in range(2):
        crowd.work(rater)
    write(store, set_terms, crowd.job.job_id, {"redundancy": {"least": 2, "most": 3, "lead": 2}})
    assert finished(store) == list(crowd.unit_ids)


def save(world: Crowd, unit_id: str, revision: int, *, rater: int = 0, says: str = "") -> int:
    who = {"unit_id": unit_id, "person_id": world.raters[rater]}
    return world.write(marks.save_draft, **who, revision=revision, body={"says": says or str(revision)})


def test_a_draft_has_a_growing_revision_a_replay_changes_nothing_and_a_stale_one_is_refused(store: Store) -> None:
    world = make_world(store)
    unit_id = world.must_take().unit_id
    assert [save(world, unit_id, revision) for revision in (0, 1, 2, 2)] == [1, 2, 3, 3]
    for revision in (2, 7):
        with pytest.raises(Stale, match="newer draft"):
            save(world, unit_id, revision, says="other tab")
    found = world.read(marks.find_draft, unit_id=unit_id, person_id=world.raters[0])
    assert (found.revision, found.body) == (3, {"says": "2"})


def test_a_draft_keeps_its_lease_alive_and_needs_one_that_is_not_handed_in(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    lease = world.must_take()
    with pytest.raises(NotFound):
        save(world, lease.unit_id, 0, rater=1)
    clock.advance(9 * MINUTE)
    save(world, lease.unit_id, 0)
    clock.advance(9 * MINUTE)
    assert world.take(1) is None
    assert world.read(leases.find, lease.lease_id, person_id=world.raters[0]).state == "held"
    world.send(lease)
    with pytest.raises(Conflict, match="handed in"):
        save(world, lease.unit_id, 1)
