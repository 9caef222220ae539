"""Mistakes can be mended, and nothing that a person did is lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from grater.annotate import content, invitations, jobs, people, units
from grater.annotate import units as all_units
from grater.annotate.content import delete_essay
from grater.annotate.jobs import NewNames
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, checks, events, leases, open_store, schema
from grater.annotate.study.gold import make_gold
from grater.annotate.study.work import desk_of, hand_in, take_next
from grater.annotate.units import delete_job
from grater.errors import Conflict, GraterError, NotFound, UsageError
from grater.model import Essay

TEXT = "We arrive to the square at six. He depends of the weather. A dog sleeps in the garden."


@pytest.fixture
def study(tmp_path: Path) -> Store:
    store = open_store(tmp_path / "study.db", create=True)
    with store.write() as tx:
        content.add_essays(tx, [Essay("one", TEXT), Essay("two", f"{TEXT} Again.")])
        people.add(tx, name="Ana", role="annotator")
    return store


def answered(store: Store, job_id: str) -> None:
    with store.read() as tx:
        ana = people.named(tx, "Ana").person_id
    lease = take_next(store, job_id=job_id, person_id=ana)
    assert lease is not None
    with store.read() as tx:
        desk = desk_of(tx, lease.lease_id, person_id=ana)
    hand_in(store, desk, {"label": ["error"]}, seconds=3)


def well(store: Store) -> None:
    with store.read() as tx:
        assert checks.violations(tx) == []
    store.close()


def test_a_job_that_somebody_looked_at_and_nobody_answered_is_deleted_whole(study: Store) -> None:
    plan = NewJob(name="error", task="error", judgments=2, annotators=("Ana", "Ben"))
    with study.write() as tx:
        ana, _ = people.named(tx, "Ana"), people.add(tx, name="Ben", role="annotator")
    job, kept = add_job(study, plan), add_job(study, NewJob(name="other", task="marking"))
    lease = take_next(study, job_id=job.job_id, person_id=ana.person_id)
    with study.write() as tx:
        item_id = all_units.get(tx, all_units.ids_of_job(tx, job.job_id)[-1]).unit.items[0].item.item_id
        make_gold(tx, job, item_id, ["error"], reason="So it is.")
        invitations.make(tx, role="worker", job_id=job.job_id)
        delete_job(tx, job.job_id, word="delete")
        assert [each.name for each in jobs.all(tx)] == ["other"]
        assert not tx.all(select(schema.units).where(schema.units.c.job_id != kept.job_id))
        assert [event.payload["name"] for event in events.all(tx) if event.verb == "job.deleted"] == ["error"]
        assert lease is not None
        assert leases.find(tx, lease.lease_id, person_id=ana.person_id) is None
    add_job(study, NewJob(name="error", task="error"))  # the name is free again
    well(study)


def test_a_job_with_a_judgment_stays_and_the_database_itself_sees_to_it(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error"))
    answered(study, job.job_id)
    with pytest.raises(Conflict, match="has judgments, which are kept; close and archive it"), study.write() as tx:
        delete_job(tx, job.job_id, word="delete")
    with pytest.raises(GraterError, match="kept as they are"), study.write() as tx:
        tx.execute(schema.guidelines.delete())
    with pytest.raises(Conflict, match="is open; close it first"), study.write() as tx:
        jobs.archive(tx, job.job_id, True)
    with study.write() as tx:
        jobs.move(tx, job.job_id, "closed")
        assert jobs.archive(tx, job.job_id, True).archived_at == tx.now
    with pytest.raises(Conflict, match="restore it first"), study.write() as tx:
        jobs.move(tx, job.job_id, "open")
    with study.write() as tx:
        assert jobs.archive(tx, job.job_id, False).archived_at is None
    well(study)


def test_nothing_is_deleted_without_the_word(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error"))
    for word in ("", "yes"):
        with pytest.raises(UsageError, match="type the word 'delete'"), study.write() as tx:
            delete_job(tx, job.job_id, word=word)
    well(study)


def test_jobs_that_ask_for_a_renamed_one_go_by_its_new_name(study: Store) -> None:
    first, second = (add_job(study, NewJob(name=name, task="error")) for name in ("first", "second"))
    with study.write() as tx:
        set_terms(tx, second.job_id, {"qualifications": [{"job": "first", "judgments": 5, "accuracy": 0.5}]})
        with pytest.raises(Conflict, match="choose another name"):
            jobs.rename(tx, first.job_id, NewNames(name="second"))
        assert jobs.rename(tx, first.job_id, NewNames(title="Prepositions")).name == "first"
        jobs.rename(tx, first.job_id, NewNames(name="pilot"))
        set_terms(tx, second.job_id, {"page": 5})  # would be refused if it still asked for `first`
        verbs = [event.verb for event in events.all(tx)]
    assert verbs.count("job.renamed") == 2
    well(study)


def test_practice_that_nobody_has_met_is_work_again(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error", judgments=3))
    with study.write() as tx:
        unit_id = all_units.ids_of_job(tx, job.job_id)[0]
        item_id = all_units.get(tx, unit_id).unit.items[0].item.item_id
        make_gold(tx, job, item_id, ["error"], reason="", role="practice")
        units.return_to_work(tx, unit_id)
        unit = all_units.get(tx, unit_id)
        assert (unit.role, unit.wanted) == ("work", 3)
        make_gold(tx, job, item_id, ["error"], reason="", role="practice")
    answered(study, job.job_id)  # practice comes first
    with pytest.raises(Conflict, match="knows what was expected"), study.write() as tx:
        units.return_to_work(tx, unit_id)
    well(study)


def test_an_essay_goes_with_its_items_unless_a_job_asks_about_it(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error", essay_ids=("one",)))
    with pytest.raises(Conflict, match="a job asks about it"), study.write() as tx:
        delete_essay(tx, "one", word="delete")
    with study.write() as tx:
        delete_essay(tx, "two", word="delete")
        assert [essay.essay_id for essay in content.all_essays(tx)] == ["one"]
        assert {each.item.essay_id for each in content.all_items(tx) if each.item} == {"one"}
        with pytest.raises(NotFound):
            delete_essay(tx, "two", word="delete")
        delete_job(tx, job.job_id, word="delete")
        delete_essay(tx, "one", word="delete")
        assert content.n_items(tx) == 0
    well(study)
