"""Somebody leaves a job: what they have not done becomes another's, and the promises hold."""

from __future__ import annotations

from collections import Counter

import pytest

from grater.errors import UsageError
from grater.model import Essay
from grater.server.work import desk_of, hand_in, take_next
from grater.store import Store, assignments, checks, essays, people
from grater.study.handing_over import hand_over_by_name
from grater.study.planning import JobPlan, add_job
from grater.study.seating import add_seat

TEXT = "We met at noon. She depends of him."


@pytest.fixture
def job_id(store: Store) -> str:
    """Six essays, each for two of Ann, Bob and Cleo."""
    with store.write() as tx:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            people.add(tx, name=name, role="annotator")
        essays.add_all(tx, [Essay(f"e{number}", TEXT) for number in range(6)])
    plan = JobPlan("marks", "marking", 2, annotators=("Ann", "Bob", "Cleo"), batch_size=1)
    return add_job(store, plan).job_id


def person_id(store: Store, name: str) -> str:
    with store.read() as tx:
        return people.named(tx, name).person_id


def answer(store: Store, job_id: str, name: str, n: int) -> None:
    for _ in range(n):
        lease = take_next(store, job_id=job_id, person_id=person_id(store, name))
        assert lease is not None
        with store.read() as tx:
            desk = desk_of(tx, lease.lease_id, person_id=lease.person_id)
        hand_in(store, desk, {"edits": ["[]"]}, seconds=1)


def assigned(store: Store, job_id: str) -> Counter[str]:
    with store.read() as tx:
        assert checks.violations(tx) == []
        return Counter(people.the(tx, each.person_id).name for each in assignments.of_job(tx, job_id))


def hand_over(store: Store, giver: str, taker: str) -> int:
    return hand_over_by_name(store, job="marks", giver=giver, taker=taker)


def test_what_is_done_or_held_stays_and_the_rest_goes_over(store: Store, job_id: str) -> None:
    assert assigned(store, job_id) == {"Ann": 4, "Bob": 4, "Cleo": 4}
    answer(store, job_id, "Ann", 1)
    take_next(store, job_id=job_id, person_id=person_id(store, "Ann"))
    assert hand_over(store, "Ann", "Dan") == 2
    assert assigned(store, job_id) == {"Ann": 2, "Bob": 4, "Cleo": 4, "Dan": 2}
    answer(store, job_id, "Dan", 2)
    assert take_next(store, job_id=job_id, person_id=person_id(store, "Dan")) is None


def test_when_somebody_is_shut_out_the_units_starve_until_they_are_handed_over(store: Store, job_id: str) -> None:
    for name in ("Bob", "Cleo"):
        answer(store, job_id, name, 4)
    with store.write() as tx:
        people.set_state(tx, people.named(tx, "Ann").person_id, "ended")
    with store.read() as tx:
        assert any("assign somebody" in str(each) for each in checks.violations(tx))
    assert hand_over(store, "Ann", "Dan") == 4
    answer(store, job_id, "Dan", 4)
    assert assigned(store, job_id)["Dan"] == 4


def test_nobody_is_asked_twice_about_a_unit(store: Store, job_id: str) -> None:
    """Each essay is for two of three, so Bob has two of Ann's four already."""
    assert hand_over(store, "Ann", "Bob") == 2
    assert assigned(store, job_id) == {"Ann": 2, "Bob": 6, "Cleo": 4}


@pytest.mark.parametrize(
    ("giver", "taker", "words"),
    [
        ("Ann", "Ann", "nothing left"),
        ("Dan", "Ann", "nothing left"),
        ("Ann", "Gone", "shut out"),
        ("Ann", "The pair", "cannot both work in a job"),
    ],
)
def test_what_cannot_go_over_is_refused(store: Store, job_id: str, giver: str, taker: str, words: str) -> None:
    add_seat(store, ("Ann", "Dan"), name="The pair")
    with store.write() as tx:
        people.set_state(tx, people.add(tx, name="Gone", role="annotator").person_id, "ended")
    with pytest.raises(UsageError, match=words):
        hand_over(store, giver, taker)
    assert assigned(store, job_id) == {"Ann": 4, "Bob": 4, "Cleo": 4}


@pytest.mark.usefixtures("job_id")
def test_a_job_for_anybody_has_nothing_to_hand_over(store: Store) -> None:
    add_job(store, JobPlan("pool", "marking"))
    with pytest.raises(UsageError, match="anybody may take its units"):
        hand_over_by_name(store, job="pool", giver="Ann", taker="Dan")


def test_the_second_stage_of_a_noun_stays_with_whoever_did_the_first(store: Store) -> None:
    with store.write() as tx:
        for name in ("Ann", "Bob"):
            people.add(tx, name=name, role="annotator")
        essays.add_all(tx, [Essay("e", "The dog slept near the door. A dog barked at the gate. Dogs like walks.")])
    job = add_job(store, JobPlan("marks", "construction", 1, annotators=("Ann",), delay_days=0))
    lease = take_next(store, job_id=job.job_id, person_id=person_id(store, "Ann"))
    assert lease is not None
    with store.read() as tx:
        desk = desk_of(tx, lease.lease_id, person_id=lease.person_id)
    hand_in(store, desk, {field.name: ["yes"] for field in desk.shown.fields}, seconds=1)
    all_units = assigned(store, job.job_id)["Ann"]
    assert hand_over(store, "Ann", "Bob") == all_units - 2
    assert assigned(store, job.job_id) == {"Ann": 2, "Bob": all_units - 2}
