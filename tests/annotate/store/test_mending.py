"""What was judged stays, on both engines: by triggers, and when a rater answers while a job is deleted."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import text as sql

from grater.annotate import gold, jobs, judgments, leases, people, submissions, units
from grater.annotate.store import Store, Tx, migrations
from grater.errors import Conflict, GraterError, NotFound
from grater.model import Json
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.races import interrupted, writing


def a_crowd(store: Store, **more: int) -> Crowd:
    return make_crowd(store, **{"n_units": 2, "n_gold": 0, "judgments": 1, **more}, terms={})


def deletion(crowd: Crowd) -> Callable[[], jobs.Job]:
    return partial(crowd.write, units.delete_job, crowd.job_id)


def is_there(crowd: Crowd) -> bool:
    return any(job.job_id == crowd.job.job_id for job in crowd.read(jobs.all))


def n_answers(crowd: Crowd) -> int:
    return len(crowd.read(judgments.by_submission, crowd.job_id, judgments.ALL))


@pytest.mark.parametrize("table", migrations.WITH_JOB)
def test_the_database_keeps_what_belongs_to_a_judged_job(store: Store, table: str) -> None:
    judged = a_crowd(store)
    judged.work(0, n=1)
    empty = judged.write(jobs.add, name="empty", task="error", judgments=1)
    for job in (judged.job, empty):
        judged.write(jobs.add_guidelines, job.job_id, "Mark what is wrong.")
    for statement in (f"DELETE FROM {table}", *([f"TRUNCATE {table} CASCADE"] if store.is_postgres else [])):
        with pytest.raises(GraterError, match="kept as they are"), store.write() as tx:
            tx.execute(sql(statement))
    judged.write(units.delete_job, empty.job_id)
    assert [job.job_id for job in judged.read(jobs.all)] == [judged.job.job_id]
    judged.require_promises()


@pytest.mark.parametrize("before", ["DELETE FROM unit_items", "DELETE FROM jobs"])
def test_an_answer_that_comes_while_its_job_is_deleted_is_stored_or_refused(store: Store, before: str) -> None:
    crowd = a_crowd(store)
    lease = crowd.must_take()

    def delete() -> bool:
        with suppress(Conflict, NotFound):
            return bool(deletion(crowd)())
        return False

    is_deleted, sent = interrupted(store, delete, lambda: crowd.send(lease), before=before)
    assert is_deleted != (sent.exception() is None)
    assert isinstance(sent.exception(), (NotFound, Conflict, type(None)))
    assert (is_there(crowd), n_answers(crowd)) == ((False, 0) if is_deleted else (True, 1))
    crowd.require_promises()


@pytest.mark.parametrize("before", ["INSERT INTO submissions", "UPDATE slots"])
def test_a_job_whose_answer_is_just_being_stored_is_not_deleted(store: Store, before: str) -> None:
    crowd = a_crowd(store)
    lease = crowd.must_take()
    try:
        receipt, deleted = interrupted(store, lambda: crowd.send(lease), deletion(crowd), before=before)
    except (Conflict, NotFound):
        assert (is_there(crowd), n_answers(crowd)) == (False, 0)
    else:
        assert receipt.status == "valid"
        assert isinstance(deleted.exception(), Conflict)
        assert (is_there(crowd), n_answers(crowd)) == (True, 1)
    crowd.require_promises()


@pytest.mark.parametrize("before", ["SELECT exists|SELECT EXISTS", "UPDATE units"])
def test_gold_that_a_rater_takes_while_it_becomes_work_comes_to_them_as_work(store: Store, before: str) -> None:
    crowd, back = a_quiz(store)
    _, taken = interrupted(store, back, crowd.take, before=before)
    lease = taken.result()
    assert lease.n is not None  # a slot: it is work by now, whichever unit it is
    crowd.send(lease)
    crowd.require_promises()


def test_gold_that_a_rater_has_just_taken_stays_gold(store: Store) -> None:
    crowd, back = a_quiz(store)
    lease, changed = interrupted(store, crowd.take, back, before="INSERT INTO leases")
    assert lease is not None
    assert crowd.is_gold(lease)
    assert isinstance(changed.exception(), Conflict)
    assert crowd.send(lease).is_right is True
    crowd.require_promises()


def a_quiz(store: Store) -> tuple[Crowd, Callable[[], None]]:
    """Raters who begin with the only gold, and the change that makes it work, with the terms that want no gold."""
    terms: dict[str, Json] = {"gold": {"quiz": 1, "least_seen": 1}, "page": 5}
    crowd = make_crowd(store, n_units=2, n_gold=1, judgments=1, terms=terms)
    (unit_id,) = crowd.gold_ids

    def change(tx: Tx) -> None:
        units.return_to_work(tx, unit_id)
        jobs.set_options(tx, crowd.job.job_id, {"crowd": {}})

    return crowd, writing(store, change)


def test_a_rater_who_answers_and_takes_again_what_was_given_up_does_not_block_a_deletion(store: Store) -> None:
    crowd = a_crowd(store)
    answered = crowd.must_take()
    crowd.send(answered)
    given_up = crowd.must_take()
    lease = crowd.write(submissions.take_back, answered.lease_id, person_id=crowd.raters[0])

    def answer_and_take(tx: Tx) -> leases.Lease | None:
        people.lock(tx, lease.person_id)
        crowd.receive(tx, lease, label="error")
        return leases.take(tx, job_id=lease.job_id, person_id=lease.person_id)

    before = "SELECT jobs.job_id.* AS given_up_lease_id"
    taken, deleted = interrupted(store, writing(store, answer_and_take), deletion(crowd), before=before)
    assert taken is not None
    assert taken.lease_id == given_up.lease_id
    assert isinstance(deleted.exception(), Conflict)
    crowd.require_promises()


def test_gold_that_is_being_made_does_not_block_the_deletion_of_its_job(store: Store) -> None:
    crowd = a_crowd(store)
    unit_id = crowd.unit_ids[0]
    item_id = crowd.item_of(unit_id)
    make = writing(store, lambda tx: gold.convert(tx, unit_id, item_id, ["ok"], reason=""))
    is_made, deleted = interrupted(store, make, deletion(crowd), before="UPDATE units")
    assert (is_made, deleted.exception()) == (True, None)
    assert not is_there(crowd)
