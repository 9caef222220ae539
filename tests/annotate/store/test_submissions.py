"""What becomes of an answered page."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text as sql

from grater.annotate import credentials, jobs, judgments, leases, people, submissions, trust
from grater.annotate.store import Store, Tx, checks
from grater.annotate.store.transaction import HOUR
from grater.annotate.tasks.task import Answer
from grater.errors import Conflict, GraterError, NotFound, UsageError
from tests.annotate.store.worlds import FakeClock, World, make_world


def counts(world: World) -> dict[str, int]:
    with world.store.read() as tx:
        rows = judgments.table(tx, world.job_id, judgments.ALL)
        assert checks.violations(tx) == []
    return {status: n for status in judgments.ALL if (n := sum(row["status"] == status for row in rows))}


def test_a_replay_gets_the_stored_result(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    first = world.submit(lease, submission_id="a")
    again = world.submit(lease, submission_id="a")
    assert (first.status, first.is_replay) == ("valid", False)
    assert (again.status, again.is_replay) == ("valid", True)
    assert counts(world) == {"valid": 1}


def test_the_same_id_with_another_body_is_a_conflict(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    world.submit(lease, submission_id="a", says="one")
    with pytest.raises(Conflict, match="another answer"):
        world.submit(lease, submission_id="a", says="two")
    assert counts(world) == {"valid": 1}


def test_the_id_of_another_rater_is_a_conflict_that_tells_nothing(store: Store) -> None:
    world = make_world(store)
    world.submit(world.must_take(0), submission_id="a")
    with pytest.raises(Conflict):
        world.submit(world.must_take(1), submission_id="a")


def test_a_second_tab_with_another_id_is_kept_as_surplus(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    world.submit(lease, submission_id="a")
    assert world.submit(lease, submission_id="b").status == "surplus"
    assert counts(world) == {"valid": 1, "surplus": 1}


def test_nobody_submits_for_another(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take(0)
    with pytest.raises(NotFound), store.write() as tx:
        submissions.submit(
            tx, submission_id="x", lease_id=lease.lease_id, person_id=world.raters[1], body={}, answers=[]
        )


def test_late_work_takes_a_slot_that_is_still_free(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=2, lease_minutes=10)
    late = world.must_take(0)
    clock.advance(HOUR)
    world.work(1)  # frees the old lease
    assert world.submit(late).status == "valid"
    assert counts(world) == {"valid": 2}


def test_late_work_without_a_slot_is_kept_as_surplus(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    late = world.must_take(0)
    clock.advance(HOUR)
    world.work(1)
    assert world.submit(late).status == "surplus"
    assert counts(world) == {"valid": 1, "surplus": 1}


def test_work_on_a_lease_that_ran_out_but_nobody_took_is_valid(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    late = world.must_take(0)
    clock.advance(HOUR)
    assert world.submit(late).status == "valid"
    assert counts(world) == {"valid": 1}


def test_an_ejection_frees_slots_and_a_return_takes_what_is_left(store: Store) -> None:
    world = make_world(store, n_units=2, judgments=1)
    held = [world.work(0), world.work(0)]
    with store.write() as tx:
        assert trust.eject(tx, jobs.get(tx, world.job_id), world.raters[0], why="gold") == 2
    assert counts(world) == {"untrusted": 2}
    world.work(1)
    with store.write() as tx:
        assert trust.reinstate(tx, jobs.get(tx, world.job_id), world.raters[0]) == (1, 1)
    assert counts(world) == {"valid": 2, "surplus": 1}
    assert len(held) == 2


def test_an_ejection_ends_what_counts_what_is_held_and_every_session_together(store: Store) -> None:
    world = make_world(store, n_units=2, judgments=1)
    world.work(0)
    held = world.must_take(0)
    with store.write() as tx:
        token, _ = credentials.start_session(tx, world.raters[0], hours=1)
    with store.write() as tx:
        trust.eject(tx, jobs.get(tx, world.job_id), world.raters[0])
    assert counts(world) == {"untrusted": 1}
    with store.read() as tx:
        assert leases.find(tx, held.lease_id, person_id=held.person_id) == replace(held, state="revoked")
        assert people.find_session(tx, token) is None
    assert {world.work(1).unit_id for _ in range(2)} == set(world.unit_ids)  # free for others at once


def test_work_that_arrives_after_an_ejection_is_untrusted(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take(0)
    with store.write() as tx:
        trust.eject(tx, jobs.get(tx, world.job_id), world.raters[0])
    assert world.submit(lease).status == "untrusted"
    assert counts(world) == {"untrusted": 1}


def test_an_ejection_that_fails_half_way_changes_nothing(store: Store) -> None:
    world = make_world(store)
    world.work(0)
    with pytest.raises(UsageError), store.write() as tx:
        _eject_and_stumble(tx, world)
    assert counts(world) == {"valid": 1}


def _eject_and_stumble(tx: Tx, world: World) -> None:
    trust.eject(tx, jobs.get(tx, world.job_id), world.raters[0])
    raise UsageError("the power is gone")


@pytest.mark.parametrize("item_ids", [[], ["other"], ["same", "same"]])
def test_answers_must_be_about_the_units_items(store: Store, item_ids: list[str]) -> None:
    world = make_world(store)
    lease = world.must_take()
    answers = [Answer(item_id, "ok") for item_id in item_ids]
    with pytest.raises(UsageError, match="one answer for each"), store.write() as tx:
        submissions.submit(
            tx, submission_id="x", lease_id=lease.lease_id, person_id=lease.person_id, body={}, answers=answers
        )
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
    with store.write() as tx:
        jobs.add_guidelines(tx, world.job_id, "Read first.")
    world.work()
    with pytest.raises(GraterError, match="kept as they are"), store.write() as tx:
        tx.execute(sql(statement))
    assert counts(world) == {"valid": 1}


@pytest.mark.parametrize(
    "change", ["n = 2", "n = 1, status = 'valid'", "status = 'gone'"], ids=["two slots", "two in a slot", "no status"]
)
def test_the_database_itself_refuses_to_count_twice(store: Store, change: str) -> None:
    """The partial unique indexes and the CHECK hold, whatever the code above them does."""
    world = make_world(store, n_units=1, judgments=2)
    lease = world.must_take()
    world.submit(lease, submission_id="a")
    world.submit(lease, submission_id="b")  # surplus
    where = "submission_id = 'b'"
    wanted = change if "status" in change else f"{change}, status = 'valid'"
    with pytest.raises((Conflict, GraterError)), store.write() as tx:
        tx.execute(sql(f"UPDATE submissions SET {wanted} WHERE {where}"))
    assert counts(world) == {"valid": 1, "surplus": 1}
