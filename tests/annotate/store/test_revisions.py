"""Drafts and adjudications: a newer revision is never silently overwritten."""

from __future__ import annotations

import pytest

from grater.annotate import adjudication, jobs, judgments, leases, marks
from grater.annotate.store import Store
from grater.annotate.store.transaction import MINUTE
from grater.annotate.tasks.task import Answer
from grater.errors import Conflict, NotFound, Stale
from tests.annotate.store.worlds import FakeClock, World, make_world


def save(world: World, *, unit_id: str, revision: int, says: str, rater: int = 0) -> int:
    with world.store.write() as tx:
        return marks.save_draft(
            tx, unit_id=unit_id, person_id=world.raters[rater], revision=revision, body={"says": says}
        )


def test_a_draft_has_a_growing_revision(store: Store) -> None:
    world = make_world(store)
    unit_id = world.must_take().unit_id
    assert [save(world, unit_id=unit_id, revision=n, says=str(n)) for n in range(3)] == [1, 2, 3]
    with store.read() as tx:
        found = marks.find_draft(tx, unit_id=unit_id, person_id=world.raters[0])
        assert found is not None
        assert (found.revision, found.body) == (3, {"says": "2"})


def test_a_stale_draft_is_refused_and_a_replay_is_not(store: Store) -> None:
    world = make_world(store)
    unit_id = world.must_take().unit_id
    save(world, unit_id=unit_id, revision=0, says="one")
    assert save(world, unit_id=unit_id, revision=0, says="one") == 1
    with pytest.raises(Stale, match="newer draft"):
        save(world, unit_id=unit_id, revision=0, says="other tab")
    with pytest.raises(Stale):
        save(world, unit_id=unit_id, revision=7, says="from nowhere")


def test_nobody_drafts_without_a_lease_or_after_handing_in(store: Store) -> None:
    world = make_world(store)
    lease = world.must_take()
    with pytest.raises(NotFound):
        save(world, unit_id=lease.unit_id, revision=0, says="x", rater=1)
    world.submit(lease)
    with pytest.raises(Conflict, match="handed in"):
        save(world, unit_id=lease.unit_id, revision=0, says="x")


def test_saving_a_draft_keeps_the_lease_alive(store: Store, clock: FakeClock) -> None:
    world = make_world(store, n_units=1, judgments=1, lease_minutes=10)
    lease = world.must_take()
    clock.advance(9 * MINUTE)
    save(world, unit_id=lease.unit_id, revision=0, says="still here")
    clock.advance(9 * MINUTE)
    assert world.take(1) is None
    with store.read() as tx:
        found = leases.find(tx, lease.lease_id, person_id=world.raters[0])
    assert found is not None
    assert found.state == "held"


def test_an_adjudication_made_from_an_older_version_is_stale(store: Store) -> None:
    world = make_world(store)
    unit_id, answers = world.unit_ids[0], (Answer("i", "error", "high", ("spelling",), ("at",), {"why": "idiom"}),)
    with store.write() as tx:
        person_id = world.raters[0]
        first = adjudication.save(tx, unit_id=unit_id, person_id=person_id, answers=answers, version=0)
    with pytest.raises(Stale), store.write() as tx:
        adjudication.save(tx, unit_id=unit_id, person_id=person_id, answers=answers, version=0)
    with store.write() as tx:
        second = adjudication.save(tx, unit_id=unit_id, person_id=person_id, answers=answers, version=1)
        assert adjudication.all(tx) == [second]
    assert (first.version, second.version, second.answers) == (1, 2, answers)


def test_guidelines_have_versions_and_a_judgment_knows_the_one_that_its_rater_saw(store: Store) -> None:
    world = make_world(store)
    with store.write() as tx:
        jobs.add_guidelines(tx, world.job_id, "Read.")
    lease = world.must_take()
    with store.write() as tx:
        assert jobs.add_guidelines(tx, world.job_id, "Read.").version == 1
        assert jobs.add_guidelines(tx, world.job_id, "Read twice.").version == 2
    world.submit(lease)
    with store.read() as tx:
        assert [row["guidelines"] for row in judgments.table(tx)] == [1]
        assert [each.version for each in jobs.guidelines_versions(tx, world.job_id)] == [1, 2]
