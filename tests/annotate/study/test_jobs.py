"""Jobs of every task: made by a plan, previewed, handed over when somebody leaves, and mended.

Whatever becomes of a job, the promises hold (`checks`), and nothing that a person did is lost.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from sqlalchemy import select

from grater.annotate import content, invitations, jobs, leases, people, plans, progress, units
from grater.annotate.gold import make_gold
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, Previews, add_job, batches
from grater.annotate.protocol import set_terms
from grater.annotate.requests import Body
from grater.annotate.samples import NewSample, start
from grater.annotate.store import Store, checks, events, schema
from grater.annotate.submissions import hand_in, take_desk
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.construction import CONSTRUCTIONS
from grater.errors import Conflict, NotFound, UsageError
from grater.model import Essay
from grater.uncertainty import generator
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import ESSAYS, write_decisions, write_essays, write_items, write_text
from tests.each import for_each

TEXT = "We arrive to the square at six. He depends of the weather for his flowers. A dog sleeps in the garden."
NAMES = ("Ann", "Bob", "Cleo", "Dan")


@pytest.fixture
def full(store: Store, tmp_path: Path) -> Store:
    """A study with essays, prepositions, suggestions, the ten items of one noun, and one item of any other kind."""
    nouns = [f"{stage}/{name}" for stage in ("no-context", "in-context") for name in CONSTRUCTIONS]
    kinds = {TASKS[name].kind for name in TASKS} - {"construction", "essay", "prep"}
    rows = [f"{noun},e0,44,60,construction/{noun},a form" for noun in nouns]
    rows += [f"a {kind},e0,10,12,{kind}," for kind in sorted(kinds)]
    table = write_text(tmp_path / "nouns.csv", "item,essay,start,end,kind,words", *rows)
    items, decisions = [write_items(tmp_path), table], [write_decisions(tmp_path)]
    import_files(store, corpora=[write_essays(tmp_path)], items=items, decisions=decisions)
    return store


@pytest.fixture
def study(store: Store) -> Store:
    """Six essays and four annotators."""
    write(store, content.add_essays, [Essay(f"e{n}", f"{TEXT} Number {n}.") for n in range(6)])
    for name in NAMES:
        write(store, people.add, name=name, role="annotator")
    return store


def units_of(store: Store, name: str) -> list[units.StudyUnit]:
    assert read(store, checks.violations) == []
    return [read(store, units.get, unit_id) for unit_id in read(store, units.ids_of_job, job_of(store, name))]


def job_of(store: Store, name: str) -> str:
    return read(store, jobs.named, name).job_id


def answer(store: Store, job_id: str, name: str, n: int = 1) -> None:
    person_id = read(store, people.named, name).person_id
    for _ in range(n):
        desk = take_desk(store, job_id=job_id, person_id=person_id)
        task = desk.unit.job.task
        form = {field.name: ["yes" if task == "construction" else "error"] for field in desk.shown.fields}
        hand_in(store, desk, {"edits": ["[]"]} if task == "marking" else form, seconds=1)


TAKEN_ALONG: dict[str, list[dict[str, str]]] = {"usage": [{}] * 11, "choice": [{"suggestion": "at"}]}
"""What the page of a task needs of a system, and no more: suggestions that differ from the writer's word."""


@pytest.mark.parametrize("task", sorted({*TASKS} - {"rank", "fate", "remaining"}))  # these: test_corrected.py
def test_every_task_makes_units_that_it_can_show(full: Store, task: str) -> None:
    add_job(full, NewJob(name=task, task=task))
    found = units_of(full, task)
    assert found
    for unit in found:
        TASKS[task].show(unit.unit, rng=generator(0, unit.unit_id))
    payloads = [unit.unit.items[0].payload for unit in found]
    assert payloads == TAKEN_ALONG.get(task, payloads)


def test_prepositions_are_found_in_the_essays(full: Store) -> None:
    add_job(full, NewJob(name="usage", task="usage"))
    found = {essay: set[str]() for essay in ("e0", "e1", "e2")}
    for each in units_of(full, "usage"):
        found[each.unit.essay.essay_id].add(each.unit.items[0].item.span.of(each.unit.essay.text))
    # counted by hand in the three texts; "After" begins a sentence
    assert found == {
        "e0": {"on", "for", "with", "from"},
        "e1": {"in", "of", "at"},
        "e2": {"about", "during", "After", "to"},
    }


def test_the_second_stage_of_a_noun_follows_its_first(full: Store) -> None:
    add_job(full, NewJob(name="nouns", task="construction", delay_days=2))
    first, second = units_of(full, "nouns")
    assert (first.unit.stage, second.unit.stage) == ("no-context", "in-context")
    assert (second.follows, second.delay_ms) == (first.unit_id, 2 * 24 * 3600 * 1000)
    assert len(first.unit.items) == len(second.unit.items) == 5


def test_marking_is_one_unit_an_essay_without_the_marks_of_others(full: Store) -> None:
    add_job(full, NewJob(name="marking", task="marking"))
    found = [each.unit.essay for each in units_of(full, "marking")]
    assert sorted(essay.text for essay in found) == sorted(ESSAYS)
    assert {(essay.edits, essay.annotators) for essay in found} == {((), ())}


SENTENCES = (
    *("The dog slept near the door.", "A dog barked at the gate.", "Dogs like long walks.", "We saw the dogs again."),
    *("He bought a house.", "The house was old.", "Houses cost too much here.", "She painted the houses."),
)


def test_the_design_chooses_nouns_and_asks_of_each_place_in_two_stages(store: Store) -> None:
    write(store, content.add_essays, [Essay(f"e{place}", " ".join(SENTENCES)) for place in range(20)])
    job = start(store, "constructions")
    found = [each for each in read(store, content.all_items) if each.kind.startswith("construction/")]
    assert "nouns mostly the-plural, low entropy: 0 instead of 3" in str(job.options["not_filled"])
    places = Counter((each.item.essay_id, each.item.span) for each in found if each.item)
    assert set(places.values()) == {10}
    assert {each.payload["noun"] for each in found} <= {"dog", "house", "door", "gate", "walk"}
    assert all(each.payload["words"] for each in found)


def test_a_plain_job_takes_the_nouns_of_a_small_corpus_which_a_design_refuses(store: Store) -> None:
    write(store, content.add_essays, [Essay("none", "She slept.")])
    with pytest.raises(UsageError, match="choose items from more text"):
        add_job(store, NewJob(name="trial", task="construction"))
    write(store, content.add_essays, [Essay("e", " ".join(SENTENCES))])
    with pytest.raises(UsageError, match="choose items from more text"):
        start(store, "constructions")
    add_job(store, NewJob(name="trial", task="construction"))
    stages = Counter(each.unit.stage for each in units_of(store, "trial"))
    assert stages["no-context"] == stages["in-context"] > 3


def test_a_job_has_its_tasks_guidelines_or_its_own(full: Store) -> None:
    made = [add_job(full, NewJob(name=words, task="error", guidelines=words or None)) for words in ("", "Only *on*.")]
    first, second = (read(full, jobs.current_guidelines, job.job_id).markdown for job in made)
    assert (second, first[:100]) == ("Only *on*.", TASKS["error"].guidelines[:100])
    about = ("Confused preposition", "Article or determiner", "Collocation")
    assert [words in first for words in about] == [True, False, False], "only what the job asks about"


@for_each([NewJob, NewSample])
def test_what_is_kept_has_a_name_that_people_can_see(model: type[Body]) -> None:
    sent = {"task": "marking"} if model is NewJob else {"system": "S"}
    for name in ("a", "Käthe's first <job>", "😀", "x" * 80):
        assert model.checked(name=name, **sent).model_dump()["name"] == name
    for name in (" ", "a\nb", "a\0b", "\u202eevil", "x" * 81):
        with pytest.raises(UsageError, match="expected"):
            model.checked(name=name, **sent)


def test_a_name_is_the_tasks_by_default_and_used_once_and_nothing_is_half_done(full: Store) -> None:
    assert [add_job(full, NewJob(name="", task="error", most=2)).name for _ in range(2)] == ["error", "error-2"]
    assert len(units_of(full, "error")) == 2
    with pytest.raises(Conflict):
        add_job(full, NewJob(name="error", task="usage"))
    with pytest.raises(UsageError, match="no units"):
        add_job(full, NewJob(name="b", task="error", kind="article"))
    assert [job.name for job in read(full, jobs.all)] == ["error", "error-2"]


def test_pairs_are_balanced() -> None:
    """Ten annotators, two an essay, ninety essays: each of the 45 pairs twice (NUCLE 2013, section 3)."""
    names = tuple(f"a{n}" for n in range(10))
    found = batches(NewJob(name="a", task="marking", annotators=names, judgments=2), 90)
    assert Counter(batch.people for batch in found) == dict.fromkeys(combinations(names, 2), 2)


def test_batches_hold_every_unit_once_in_an_order_of_chance() -> None:
    found = [batch.units for batch in batches(NewJob(name="a", task="marking", batch_size=6), 20)]
    assert [len(batch) for batch in found] == [6, 6, 6, 2]
    order = [unit for batch in found for unit in batch]
    assert sorted(order) == list(range(20)) != order


def test_named_annotators_get_their_own_units_and_all_of_them_every_kth_batch(study: Store) -> None:
    plan = NewJob(name="a", task="marking", judgments=2, annotators=NAMES[:3], batch_size=1, overlap_every=3)
    counts = Counter(each.unit_id for each in read(study, jobs.assignments_of, add_job(study, plan).job_id))
    found = units_of(study, "a")
    assert sum(unit.overlap for unit in found) == 2
    for unit in found:
        assert counts[unit.unit_id] == unit.wanted == (3 if unit.overlap else 2)


def test_impossible_plans_are_refused_as_is_anybody_alone_and_on_a_joint_seat(study: Store) -> None:
    for wrong in ({"annotators": ("Ann",), "judgments": 2}, {"overlap_every": 2}):
        with pytest.raises(UsageError, match="annotators"):
            add_job(study, NewJob.checked(name="a", task="marking", **wrong))
    for pair, name in ((["Ann", "Bob"], "AB"), (["Bob", "Cleo"], "BC")):
        write(study, people.add_seat, pair, name=name)
    for one, other in (("AB", "Ann"), ("Bob", "AB"), ("AB", "BC")):
        with pytest.raises(UsageError, match=f"'{one}' and '{other}' cannot both work in a job"):
            add_job(study, NewJob(name="both", task="error", annotators=(one, other)))
    add_job(study, NewJob(name="others", task="error", judgments=2, annotators=("AB", "Cleo")))


@pytest.mark.parametrize(
    "plan",
    [
        NewJob(name="a", task="error", judgments=3),
        NewJob(name="b", task="marking", judgments=2, most=3),
        NewJob(name="c", task="construction", judgments=2),
        NewJob(name="d", task="usage", judgments=2, annotators=NAMES[:3], batch_size=4, overlap_every=2),
    ],
    ids=lambda plan: plan.task,
)
def test_a_preview_has_the_units_and_judgments_of_the_job_and_stores_nothing(study: Store, plan: NewJob) -> None:
    previews = Previews()
    for n_essays in (6, 7):  # the second time with what has come in since
        before = (read(study, events.latest), read(study, content.n_items))
        seen = read(study, previews.of, plan)
        assert (read(study, events.latest), read(study, content.n_items)) == before
        if n_essays == 6:
            write(study, content.add_essays, [Essay("late", TEXT)])
    far = read(study, progress.counts_of, add_job(study, plan).job_id)
    assert (seen.units, seen.judgments) == (far.units, far.wanted)


# Somebody leaves


@pytest.fixture
def job_id(study: Store) -> str:
    """Six essays, each for two of Ann, Bob and Cleo."""
    plan = NewJob(name="marks", task="marking", judgments=2, annotators=NAMES[:3], batch_size=1)
    return add_job(study, plan).job_id


def assigned(store: Store, job_id: str) -> Counter[str]:
    assert read(store, checks.violations) == []
    people_of = (each.person_id for each in read(store, jobs.assignments_of, job_id))
    return Counter(read(store, people.get, person_id).name for person_id in people_of)


def hand_over(store: Store, giver: str, taker: str, job: str = "marks") -> int:
    pair = (read(store, people.named, name) for name in (giver, taker))
    return write(store, plans.hand_over, read(store, jobs.named, job), *pair)


def test_what_is_done_or_held_stays_and_the_rest_goes_over(study: Store, job_id: str) -> None:
    assert assigned(study, job_id) == {"Ann": 4, "Bob": 4, "Cleo": 4}
    answer(study, job_id, "Ann")
    ann, dan = (read(study, people.named, name).person_id for name in ("Ann", "Dan"))
    write(study, leases.take, job_id=job_id, person_id=ann)
    assert hand_over(study, "Ann", "Dan") == 2
    assert assigned(study, job_id) == {"Ann": 2, "Bob": 4, "Cleo": 4, "Dan": 2}
    answer(study, job_id, "Dan", 2)
    assert write(study, leases.take, job_id=job_id, person_id=dan) is None


def test_when_somebody_is_shut_out_the_units_starve_until_they_are_handed_over(study: Store, job_id: str) -> None:
    for name in ("Bob", "Cleo"):
        answer(study, job_id, name, 4)
    write(study, people.set_state, read(study, people.named, "Ann").person_id, "ended")
    assert any("assign somebody" in str(each) for each in read(study, checks.violations))
    assert hand_over(study, "Ann", "Dan") == 4
    answer(study, job_id, "Dan", 4)
    assert assigned(study, job_id)["Dan"] == 4


def test_what_cannot_go_over_is_refused_and_nobody_is_asked_twice_about_a_unit(study: Store, job_id: str) -> None:
    add_job(study, NewJob(name="pool", task="marking"))
    with study.write() as tx:
        people.add_seat(tx, ("Ann", "Dan"), name="The pair")
        people.set_state(tx, people.add(tx, name="Gone", role="annotator").person_id, "ended")
    for giver, taker, job, words in (
        ("Ann", "Ann", "marks", "no units left"),
        ("Dan", "Ann", "marks", "no units left"),
        ("Ann", "Gone", "marks", "no access"),
        ("Ann", "The pair", "marks", "cannot both work in a job"),
        ("Ann", "Dan", "pool", "its units are not assigned"),
    ):
        with pytest.raises(UsageError, match=words):
            hand_over(study, giver, taker, job)
    assert assigned(study, job_id) == {"Ann": 4, "Bob": 4, "Cleo": 4}
    assert hand_over(study, "Ann", "Bob") == 2, "each essay is for two of three, so Bob has two of Ann's four already"
    assert assigned(study, job_id) == {"Ann": 2, "Bob": 6, "Cleo": 4}


def test_the_second_stage_of_a_noun_stays_with_the_rater_of_the_first(store: Store) -> None:
    for name in ("Ann", "Bob"):
        write(store, people.add, name=name, role="annotator")
    write(store, content.add_essays, [Essay("e", " ".join(SENTENCES[:3]))])
    job = add_job(store, NewJob(name="marks", task="construction", annotators=("Ann",), delay_days=0))
    answer(store, job.job_id, "Ann")
    n_units = assigned(store, job.job_id)["Ann"]
    assert hand_over(store, "Ann", "Bob") == n_units - 2
    assert assigned(store, job.job_id) == {"Ann": 2, "Bob": n_units - 2}


# Mistakes are mended


def test_a_job_that_somebody_looked_at_and_nobody_answered_is_deleted_whole(study: Store) -> None:
    plan = NewJob(name="error", task="error", judgments=2, annotators=("Ann", "Bob"))
    job, kept = add_job(study, plan), add_job(study, NewJob(name="other", task="marking"))
    item_id = units_of(study, "error")[-1].unit.items[0].item.item_id
    with study.write() as tx:
        ann = people.named(tx, "Ann").person_id
        lease = leases.take(tx, job_id=job.job_id, person_id=ann)
        make_gold(tx, job, item_id, ["error"], reason="So it is.")
        invitations.make(tx, role="worker", job_id=job.job_id)
    for word in ("", "yes"):
        with pytest.raises(UsageError, match="type the word 'delete'"):
            write(study, units.delete_job, job.job_id, word=word)
    with study.write() as tx:
        units.delete_job(tx, job.job_id, word="delete")
        assert [each.name for each in jobs.all(tx)] == ["other"]
        assert not tx.all(select(schema.units).where(schema.units.c.job_id != kept.job_id))
        assert [event.payload["name"] for event in events.all(tx) if event.verb == "job.deleted"] == ["error"]
        assert leases.find(tx, lease.lease_id, person_id=ann) is None
    add_job(study, NewJob(name="error", task="error"))  # the name is free again
    assert units_of(study, "error")


def test_a_job_with_a_judgment_stays_and_can_be_archived(study: Store) -> None:
    job_id = add_job(study, NewJob(name="error", task="error")).job_id
    answer(study, job_id, "Ann")
    with pytest.raises(Conflict, match="has judgments, which are kept; close and archive it"):
        write(study, units.delete_job, job_id, word="delete")
    with pytest.raises(Conflict, match="is open; close it first"):
        write(study, jobs.archive, job_id, True)
    write(study, jobs.move, job_id, "closed")
    assert write(study, jobs.archive, job_id, True).archived_at is not None
    with pytest.raises(Conflict, match="restore it first"):
        write(study, jobs.move, job_id, "open")
    assert write(study, jobs.archive, job_id, False).archived_at is None
    assert units_of(study, "error")


def test_jobs_that_ask_for_a_renamed_one_go_by_its_new_name(study: Store) -> None:
    first, second = (add_job(study, NewJob(name=name, task="marking")) for name in ("first", "second"))
    with study.write() as tx:
        set_terms(tx, second.job_id, {"qualifications": [{"job": "first", "judgments": 5, "accuracy": 0.5}]})
        with pytest.raises(Conflict, match="choose another name"):
            jobs.rename(tx, first.job_id, jobs.NewNames(name="second"))
        assert jobs.rename(tx, first.job_id, jobs.NewNames(title="Prepositions")).name == "first"
        jobs.rename(tx, first.job_id, jobs.NewNames(name="pilot"))
        set_terms(tx, second.job_id, {"page": 5})  # would be refused if it still asked for `first`
        assert [event.verb for event in events.all(tx)].count("job.renamed") == 2
    assert units_of(study, "pilot")


def test_practice_that_nobody_has_met_is_work_again(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error", judgments=3))
    unit = units_of(study, "error")[0]
    item_id = unit.unit.items[0].item.item_id
    for is_met in (False, True):
        write(study, make_gold, job, item_id, ["error"], reason="", role="practice")
        if is_met:
            answer(study, job.job_id, "Ann")  # practice comes first
            with pytest.raises(Conflict, match="knows what was expected"):
                write(study, units.return_to_work, unit.unit_id)
        else:
            write(study, units.return_to_work, unit.unit_id)
            found = {each.unit_id: (each.role, each.wanted) for each in units_of(study, "error")}
            assert found[unit.unit_id] == ("work", 3)
    assert read(study, checks.violations) == []


def test_an_essay_goes_with_its_items_unless_a_job_asks_about_it(study: Store) -> None:
    job = add_job(study, NewJob(name="error", task="error", essay_ids=("e0",)))
    with pytest.raises(Conflict, match="a job asks about it"):
        write(study, content.delete_essay, "e0", word="delete")
    with study.write() as tx:
        for n in range(1, 6):
            content.delete_essay(tx, f"e{n}", word="delete")
        assert [essay.essay_id for essay in content.all_essays(tx)] == ["e0"]
        assert {each.item.essay_id for each in content.all_items(tx) if each.item} == {"e0"}
        with pytest.raises(NotFound):
            content.delete_essay(tx, "e1", word="delete")
        units.delete_job(tx, job.job_id, word="delete")
        content.delete_essay(tx, "e0", word="delete")
        assert content.n_items(tx) == 0
        assert checks.violations(tx) == []
