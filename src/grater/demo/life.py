"""The sample study brought to life: jobs under way, people who can log in, money owed, essays to adjudicate.

Everything is done as people would do it: they are invited and join, take a unit, submit it, write messages; only the
clock is set back, so that the study is a week and a half old.  Jobs that were judged elsewhere are archived.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from grater.annotate import adjudication, invitations, jobs, judgments, messages, people, progress
from grater.annotate.adjudication import sent_edit
from grater.annotate.gold import make_gold
from grater.annotate.invitations import NewInvitation
from grater.annotate.jobs import Job
from grater.annotate.marks import review
from grater.annotate.messages import NewReview
from grater.annotate.money import set_paid, settle
from grater.annotate.people import Person
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, Tx
from grater.annotate.store.transaction import DAY, MINUTE, utc_now
from grater.annotate.submissions import Desk, hand_in, take_desk
from grater.annotate.tasks import Answer
from grater.annotate.tasks.marking import NUMBER, REJECTED, SUGGESTED, suggestions_of
from grater.annotate.trust import open_dispute
from grater.annotate.writing import NewPublicPages, open_to_public
from grater.demo import living
from grater.demo.living import ADJUDICATOR, ANNOTATORS, MANAGER, OWNER, RATERS, SampleRater
from grater.demo.raters import ERROR, OK
from grater.model import Essay, Json
from grater.uncertainty import generator

CROWD, ESSAYS, OFFERED, NEXT = "Prepositions", "Term essays", "Term essays with suggestions", "Better or worse"
MARKED_AGAIN = "essays with suggestions (simulated)"
MARKERS = ("A", "B")
"""The annotators of the sample corpus, who are raters of the study."""

SYSTEM, NEXT_SYSTEM, OFFERING = "prep-maxent", "prep-lm", "prep-perceptron"
DAYS = 9.0
LEFT = 20
"""Minutes between the last answer and now."""

TERMS: Mapping[str, Json] = {
    "page": 5,
    "gold": {"minimum": 0.7, "least_seen": 4, "sure": 0.8},
    "pay": {"cents": 12, "currency": "EUR", "least_hourly": 1200},
    "pool": len(RATERS),
}


marking = partial(NewJob, task="marking", judgments=2)


@dataclass(slots=True)
class BackdatedClock:
    """The time of the study while it is played."""

    at: int

    def __call__(self) -> int:
        return self.at


def populate(store: Store, essays: Sequence[Essay], marked: Mapping[str, int]) -> str:
    """Fill a study with people at work; `marked` are the annotators' marks on each item.  Returns the password."""
    clock = BackdatedClock(utc_now() - int((DAYS + 1) * DAY))
    earlier, store.clock = store.clock, clock
    try:
        with store.write() as tx:
            imported = jobs.all(tx)
            for job in imported:
                jobs.archive(tx, job.job_id, True)
        password = _people(store)
        with store.write() as tx:
            open_to_public(
                tx, NewPublicPages(check_page=True, editors=False), actor=people.named(tx, OWNER).person_id
            )
        _essays(store, clock, essays)
        _crowd(store, clock, marked)
        title = "Is the other word better?"
        plan = NewJob(name=NEXT, task="verify", title=title, judgments=3, system=NEXT_SYSTEM, most=40, open=False)
        add_job(store, plan)
    finally:
        store.clock = earlier
    return password


def _people(store: Store) -> str:
    """Everybody joins by an invitation; all have the same password."""
    password = secrets.token_hex(6)
    password_hash = _hashed(password)
    roles = {OWNER: "owner", MANAGER: "manager", ADJUDICATOR: "adjudicator"}
    roles |= dict.fromkeys(ANNOTATORS, "annotator") | {rater.name: "worker" for rater in RATERS}
    with store.write() as tx:
        for name, role in roles.items():
            token = invitations.invite(tx, NewInvitation.checked(role=role))
            invitations.accept(tx, token, name=name, password_hash=password_hash)
    return password if password_hash else ""


def _hashed(password: str) -> str:
    """Empty where the packages of the server are not installed: nobody can log in without it."""
    try:
        from argon2 import PasswordHasher  # as `server.security` does, and without all of the server
    except ImportError:
        return ""
    return PasswordHasher().hash(password)


def _essays(store: Store, clock: BackdatedClock, essays: Sequence[Essay]) -> None:
    """Two annotators mark essays, as the sample's did; the adjudicator has decided two, one waits to be looked at."""
    chosen = sorted(essays, key=lambda essay: -sum(bool(edit.comment) for edit in essay.edits))[:10]
    by_id = {essay.essay_id: essay for essay in chosen}
    by_two = partial(marking, annotators=ANNOTATORS)
    plain = by_two(name=ESSAYS, title="Mark term essays", essay_ids=tuple(by_id)[:6])
    title = "Mark essays with suggestions"
    offered = by_two(name=OFFERED, title=title, essay_ids=tuple(by_id)[6:], system=SYSTEM, suggested_share=0.5)
    for plan, n_done in ((plain, (5, 4)), (offered, (2, 1))):
        job = add_job(store, plan)
        for annotator, marks_of, n in zip(ANNOTATORS, MARKERS, n_done, strict=True):
            person_id = _person(store, annotator).person_id
            for _ in range(n):
                clock.at += 40 * MINUTE
                if desk := take_desk(store, job_id=job.job_id, person_id=person_id):
                    _mark(store, desk, by_id, marks_of)
    review(store, ESSAYS)
    _adjudicate_essays(store, clock)


def _mark(
    store: Store, desk: Desk, by_id: Mapping[str, Essay], marker: str, *, rng: np.random.Generator | None = None
) -> None:
    """Mark an essay as one of the sample's annotators did.

    What was offered on the same words, or some of them, is accepted or changed. With `rng`, so is some of what was
    offered elsewhere, only because it was shown.
    """
    essay = by_id[desk.unit.unit.essay.essay_id]
    is_shown = bool(desk.kept.get(SUGGESTED))
    offered = suggestions_of(desk.unit.unit) if is_shown else ()
    marked = [edit.span for edit in essay.edits if edit.rater == marker]
    left = {each.span: number for number, each in enumerate(offered)}
    rows = []
    for edit in (edit for edit in essay.edits if edit.rater == marker):
        place = edit.span if edit.span in left else next((span for span in left if span.touches(edit.span)), None)
        # no other mark can have the number of this suggestion
        rows.append(sent_edit(essay.text, edit) | ({} if place is None else {NUMBER: left.pop(place)}))
    if rng is not None:
        for number, each in enumerate(offered):
            if not any(each.span.touches(span) for span in marked) and rng.random() < living.SWAYED:
                quote = {"quote": each.span.of(essay.text), "comment": ""}
                rows.append({**each.as_json(), **quote, NUMBER: number})
                left.pop(each.span, None)
    fields = {"edits": [json.dumps(rows)]} | ({REJECTED: [json.dumps(list(left.values()))]} if is_shown else {})
    hand_in(store, desk, fields, seconds=60.0 * (5 + len(rows)))


def mark_with_suggestions(store: Store, essays: Sequence[Essay]) -> None:
    """The two annotators of the sample mark essays once more, about half of them with suggestions to accept.

    Whoever is shown a suggestion accepts some that they would not have marked: the bias that a report measures.
    """
    rng = generator(0, "accepted suggestions")
    by_id = {essay.essay_id: essay for essay in essays}
    plan = marking(
        name=MARKED_AGAIN, annotators=MARKERS, essay_ids=tuple(by_id), system=OFFERING, suggested_share=0.5
    )
    job = add_job(store, plan)
    for marker in MARKERS:
        person_id = _person(store, marker).person_id
        while desk := take_desk(store, job_id=job.job_id, person_id=person_id):
            _mark(store, desk, by_id, marker, rng=rng)
    with store.write() as tx:
        jobs.move(tx, job.job_id, "closed")


def _adjudicate_essays(store: Store, clock: BackdatedClock) -> None:
    """The first two essays are decided as the first annotator marked them."""
    with store.write() as tx:
        clock.at += 60 * MINUTE
        decider, job = people.named(tx, ADJUDICATOR), jobs.named(tx, ESSAYS)
        for done in progress.finished_units(tx, job.job_id, by="payload")[:2]:
            first = next(row for row in judgments.of_unit(tx, done.unit_id) if row.status == "valid")
            _decide(tx, done.unit_id, decider, judgments.answers_of(tx, first.submission_id))


def _decide(tx: Tx, unit_id: str, decider: Person, answers: Sequence[Answer]) -> None:
    person_id = decider.person_id
    adjudication.save(tx, unit_id=unit_id, person_id=person_id, answers=answers, comment=living.VERDICT)


def _crowd(store: Store, clock: BackdatedClock, marked: Mapping[str, int]) -> None:
    """Twenty raters, known answers among the questions, pay; most of the work is done and some of it adjudicated."""
    asked, known = living.items_to_ask(marked)
    plan = NewJob(name=CROWD, task="error", judgments=5, item_ids=tuple(asked), title="Is this preposition right?")
    job = add_job(store, plan)
    with store.write() as tx:
        for item_id, label in known.items():
            make_gold(tx, job, item_id, [label], reason=living.REASONS[label])
        set_terms(tx, job.job_id, TERMS)
    begin, rng = clock.at, generator(0, "living crowd")
    leanings = living.leanings_of(asked, marked)
    scene = Scene(store=store, clock=clock, job=job, leanings=leanings, known=known, rng=rng)
    for day, rater, n in living.sittings(rng, days=DAYS):
        clock.at = max(clock.at, begin + int(day * DAY))
        _sit(scene, rater, n)
        if day < DAYS / 2:
            _pay(store, job)
    clock.at = utc_now() - LEFT * MINUTE
    _talk(store, job)
    _adjudicate_items(store)
    take_desk(store, job_id=job.job_id, person_id=_person(store, RATERS[0].name).person_id)


@dataclass(slots=True)
class Scene:
    """The crowd job while it is simulated; `is_missed`: a careful rater has missed a known answer, once."""

    store: Store
    clock: BackdatedClock
    job: Job
    leanings: Mapping[str, float]
    known: Mapping[str, str]
    rng: np.random.Generator
    is_missed: bool = False


def _sit(scene: Scene, rater: SampleRater, n: int) -> None:
    """A rater answers some questions, until there are no more or the rater is ejected."""
    person_id = _person(scene.store, rater.name).person_id
    for _ in range(n):
        desk = take_desk(scene.store, job_id=scene.job.job_id, person_id=person_id)
        if desk is None:
            return
        seconds = round(float(scene.rng.gamma(4.0, rater.seconds / 4)) + 1, 1)
        scene.clock.at += int(1000 * seconds)
        label = _answer(scene, rater, desk.unit.unit.items[0].item.item_id)
        hand_in(scene.store, desk, {"label": [label]}, seconds=seconds)


def _answer(scene: Scene, rater: SampleRater, item_id: str) -> str:
    """A rater's answer: careful raters miss a single known answer among them, guessers miss every one."""
    label = scene.known.get(item_id)
    if label is None:
        return living.answer_of(rater, scene.leanings[item_id], scene.rng)
    is_careful = rater.skill >= living.CAREFUL
    if is_careful and scene.is_missed:
        return label
    scene.is_missed |= is_careful
    return OK if label == ERROR else ERROR


def _pay(store: Store, job: Job) -> None:
    with store.write() as tx:
        settle(tx, job)
        set_paid(tx, job.job_id, actor=people.named(tx, MANAGER).person_id)


def _talk(store: Store, job: Job) -> None:
    """Questions of raters, answers, reviews, and one known answer that a rater doubts."""
    with store.write() as tx:
        manager = people.named(tx, MANAGER).person_id
        for name, text in living.MESSAGES:
            messages.send_to_staff(tx, job.job_id, text, person_id=people.named(tx, name).person_id)
        for name, text in living.ANSWERS:
            messages.send_to_rater(tx, job, people.named(tx, name).person_id, text, actor=manager)
        messages.send(tx, from_id=manager, job_id=job.job_id, text=living.NOTICE)
        for name, stars, clear, text in living.REVIEWS:
            sent = NewReview.checked(stars=stars, clear=clear, text=text)
            messages.review_job(tx, job.job_id, sent, person_id=people.named(tx, name).person_id)
        _dispute(tx, job)
        settle(tx, job)


def _dispute(tx: Tx, job: Job) -> None:
    """In a job that was closed for a while: only then do raters see what they missed."""
    closed = jobs.set_state(tx, job.job_id, "closed")
    for rater in RATERS:
        person = people.named(tx, rater.name)
        missed = messages.missed_by(tx, closed, person.person_id) if rater.skill > living.CAREFUL else []
        if missed:
            open_dispute(tx, missed[0].submission_id, text=living.DISPUTE, person_id=person.person_id)
            break
    jobs.set_state(tx, job.job_id, "open")


def _adjudicate_items(store: Store) -> None:
    """Unanimous answers are accepted, and the first contested items are decided."""
    adjudication.accept(store, CROWD, "unanimous", decider=ADJUDICATOR)
    with store.write() as tx:
        decider = people.named(tx, ADJUDICATOR)
        for each in adjudication.waiting(tx, jobs.named(tx, CROWD))[:4]:
            answers = [answer[0] for answer in each.answers.values()]
            _decide(tx, each.unit_id, decider, answers)


def _person(store: Store, name: str) -> Person:
    with store.read() as tx:
        return people.named(tx, name)
