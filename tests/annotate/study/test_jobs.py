"""Jobs of every task, and who does what in them.

Somebody leaves a job: what they have not done becomes another's, and the promises hold.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from grater.annotate import content, jobs, people, plans, units
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job, batches
from grater.annotate.store import Store, checks
from grater.annotate.study.work import desk_of, hand_in, take_next
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.annotate.units import StudyUnit
from grater.errors import Conflict, UsageError
from grater.model import Essay
from grater.uncertainty import generator
from tests.annotate.study.files import ESSAYS, write_decisions, write_essays, write_items, write_text


@pytest.fixture
def full(store: Store, tmp_path: Path) -> Store:
    """A study with essays, prepositions, suggestions, the ten items of one noun, and one item of any other kind."""
    nouns = [
        f"{stage}{name},e0,44,60,construction/{stage}/{name},a form"
        for stage in ("no-context", "in-context")
        for name in CONSTRUCTIONS
    ]
    kinds = {TASKS[name].kind for name in TASKS} - {"construction", "essay", "prep"}
    others = [f"a {kind},e0,10,12,{kind}," for kind in sorted(kinds)]
    table = write_text(tmp_path / "nouns.csv", "item,essay,start,end,kind,words", *nouns, *others)
    import_files(
        store,
        corpora=[write_essays(tmp_path)],
        items=[write_items(tmp_path), table],
        decisions=[write_decisions(tmp_path)],
    )
    return store


def units_of(store: Store, name: str) -> list[StudyUnit]:
    with store.read() as tx:
        job = jobs.named(tx, name)
        assert checks.violations(tx) == []
        return [units.get(tx, unit_id) for unit_id in units.ids_of_job(tx, job.job_id)]


@pytest.mark.parametrize("task", sorted(TASKS))
def test_every_task_makes_units_that_it_can_show(full: Store, task: str) -> None:
    add_job(full, NewJob(name=task, task=task))
    found = units_of(full, task)
    assert found
    for unit in found:
        TASKS[task].show(unit.unit, rng=generator(0, unit.unit_id))


def test_prepositions_are_found_in_the_essays(full: Store) -> None:
    add_job(full, NewJob(name="usage", task="usage"))
    found = sorted(
        (each.unit.essay.essay_id, each.unit.items[0].item.span.of(each.unit.essay.text))
        for each in units_of(full, "usage")
    )
    # counted by hand in the three texts; "After" begins a sentence
    assert found == sorted(
        [("e0", word) for word in ("on", "for", "with", "from")]
        + [("e1", word) for word in ("in", "of", "at")]
        + [("e2", word) for word in ("about", "during", "After", "to")]
    )


def test_only_suggestions_that_differ_from_the_writer_are_shown(full: Store) -> None:
    add_job(full, NewJob(name="choice", task="choice"))
    (unit,) = units_of(full, "choice")
    assert unit.unit.items[0].payload == {"suggestion": "at"}


def test_nothing_of_an_item_but_what_its_page_needs_goes_along(full: Store) -> None:
    add_job(full, NewJob(name="error", task="error"))
    assert {len(each.unit.items[0].payload) for each in units_of(full, "error")} == {0}


def test_the_second_stage_of_a_noun_follows_its_first(full: Store) -> None:
    add_job(full, NewJob(name="nouns", task="construction", delay_days=2))
    first, second = units_of(full, "nouns")
    assert (first.unit.stage, second.unit.stage) == ("no-context", "in-context")
    assert (second.follows, second.delay_ms) == (first.unit_id, 2 * 24 * 3600 * 1000)
    assert len(first.unit.items) == len(second.unit.items) == 5


def test_marking_is_one_unit_an_essay_without_the_marks_of_others(full: Store) -> None:
    add_job(full, NewJob(name="marking", task="marking"))
    found = units_of(full, "marking")
    assert sorted(each.unit.essay.text for each in found) == sorted(ESSAYS)
    assert all(each.unit.essay.edits == () and each.unit.essay.annotators == () for each in found)


def test_a_job_has_its_tasks_guidelines_or_its_own(full: Store) -> None:
    add_job(full, NewJob(name="a", task="error"))
    add_job(full, NewJob(name="b", task="error", guidelines="Only look at *on*."))
    with full.read() as tx:
        told = [jobs.current_guidelines(tx, jobs.named(tx, name).job_id) for name in ("a", "b")]
    assert [each and each.markdown for each in told] == [TASKS["error"].guidelines, "Only look at *on*."]


def test_a_name_is_used_once_and_nothing_is_half_done(full: Store) -> None:
    add_job(full, NewJob(name="a", task="error", most=2))
    assert len(units_of(full, "a")) == 2
    with pytest.raises(Conflict):
        add_job(full, NewJob(name="a", task="usage"))
    with pytest.raises(UsageError, match="no units"):
        add_job(full, NewJob(name="b", task="error", kind="article"))
    with full.read() as tx:
        assert [job.name for job in jobs.all(tx)] == ["a"]


def test_named_annotators_get_their_own_units_and_all_of_them_the_overlap(full: Store) -> None:
    with full.write() as tx:
        for name in ("Ann", "Bob", "Cem"):
            people.add(tx, name=name, role="annotator")
    plan = NewJob(
        name="a", task="error", judgments=2, annotators=("Ann", "Bob", "Cem"), batch_size=2, overlap_every=3
    )
    job = add_job(full, plan)
    with full.read() as tx:
        counts = Counter(each.unit_id for each in jobs.assignments_of(tx, job.job_id))
    for unit in units_of(full, "a"):
        assert counts[unit.unit_id] == unit.wanted == (3 if unit.overlap else 2)


def test_nobody_is_asked_in_a_job_alone_and_on_a_joint_seat(full: Store) -> None:
    with full.write() as tx:
        for name in ("Ann", "Bob", "Cem"):
            people.add(tx, name=name, role="annotator")
        people.add_seat(tx, ["Ann", "Bob"], name="AB")
        people.add_seat(tx, ["Bob", "Cem"], name="BC")
    for one, other in (("AB", "Ann"), ("Bob", "AB"), ("AB", "BC")):
        with pytest.raises(UsageError, match=f"'{one}' and '{other}' cannot both work in a job"):
            add_job(full, NewJob(name="both", task="error", annotators=(one, other)))
    add_job(full, NewJob(name="others", task="error", judgments=2, annotators=("AB", "Cem")))
    with full.read() as tx:
        assert [job.name for job in jobs.all(tx)] == ["others"], "nothing is half done"


def test_pairs_are_balanced() -> None:
    """Ten annotators, two an essay, ninety essays: each of the 45 pairs twice (NUCLE 2013, section 3)."""
    people = [f"a{n}" for n in range(10)]
    found = batches(90, rng=np.random.default_rng(0), people=people, each=2)
    assert set(Counter(batch.people for batch in found).values()) == {2}
    assert {pair for batch in found for pair in combinations(batch.people, 2)} == set(combinations(sorted(people), 2))


def test_batches_hold_every_unit_once_in_an_order_of_chance() -> None:
    found = batches(20, rng=np.random.default_rng(0), size=6)
    order = [unit for batch in found for unit in batch.units]
    assert [len(batch.units) for batch in found] == [6, 6, 6, 2]
    assert sorted(order) == list(range(20))
    assert order != list(range(20))


def test_every_kth_batch_is_the_same_for_all() -> None:
    found = batches(40, rng=np.random.default_rng(0), size=5, people=["x", "y", "z"], each=1, overlap_every=4)
    assert [batch.overlap for batch in found] == [False, False, False, True] * 2
    assert [batch.people for batch in found if batch.overlap] == [("x", "y", "z")] * 2


@pytest.mark.parametrize("wrong", [{"people": ["x"], "each": 2}, {"overlap_every": 2}])
def test_impossible_plans_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        batches(4, rng=np.random.default_rng(0), **wrong)  # type: ignore[arg-type]


TEXT = "We met at noon. She depends of him."


@pytest.fixture
def job_id(store: Store) -> str:
    """Six essays, each for two of Ann, Bob and Cleo."""
    with store.write() as tx:
        for name in ("Ann", "Bob", "Cleo", "Dan"):
            people.add(tx, name=name, role="annotator")
        content.add_essays(tx, [Essay(f"e{number}", TEXT) for number in range(6)])
    plan = NewJob(name="marks", task="marking", judgments=2, annotators=("Ann", "Bob", "Cleo"), batch_size=1)
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
        return Counter(people.get(tx, each.person_id).name for each in jobs.assignments_of(tx, job_id))


def hand_over(store: Store, giver: str, taker: str) -> int:
    with store.write() as tx:
        return plans.hand_over(tx, jobs.named(tx, "marks"), people.named(tx, giver), people.named(tx, taker))


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
        ("Ann", "Ann", "no units left"),
        ("Dan", "Ann", "no units left"),
        ("Ann", "Gone", "no access"),
        ("Ann", "The pair", "cannot both work in a job"),
    ],
)
def test_what_cannot_go_over_is_refused(store: Store, job_id: str, giver: str, taker: str, words: str) -> None:
    with store.write() as tx:
        people.add_seat(tx, ("Ann", "Dan"), name="The pair")
        people.set_state(tx, people.add(tx, name="Gone", role="annotator").person_id, "ended")
    with pytest.raises(UsageError, match=words):
        hand_over(store, giver, taker)
    assert assigned(store, job_id) == {"Ann": 4, "Bob": 4, "Cleo": 4}


@pytest.mark.usefixtures("job_id")
def test_a_job_for_anybody_has_nothing_to_hand_over(store: Store) -> None:
    add_job(store, NewJob(name="pool", task="marking"))
    with pytest.raises(UsageError, match="its units are not assigned"), store.write() as tx:
        plans.hand_over(tx, jobs.named(tx, "pool"), people.named(tx, "Ann"), people.named(tx, "Dan"))


def test_the_second_stage_of_a_noun_stays_with_whoever_did_the_first(store: Store) -> None:
    with store.write() as tx:
        for name in ("Ann", "Bob"):
            people.add(tx, name=name, role="annotator")
        content.add_essays(
            tx, [Essay("e", "The dog slept near the door. A dog barked at the gate. Dogs like walks.")]
        )
    job = add_job(store, NewJob(name="marks", task="construction", judgments=1, annotators=("Ann",), delay_days=0))
    lease = take_next(store, job_id=job.job_id, person_id=person_id(store, "Ann"))
    assert lease is not None
    with store.read() as tx:
        desk = desk_of(tx, lease.lease_id, person_id=lease.person_id)
    hand_in(store, desk, {field.name: ["yes"] for field in desk.shown.fields}, seconds=1)
    all_units = assigned(store, job.job_id)["Ann"]
    assert hand_over(store, "Ann", "Bob") == all_units - 2
    assert assigned(store, job.job_id) == {"Ann": 2, "Bob": all_units - 2}
