"""Check my writing: feedback for anyone who writes, and their answers as judgments where they agree to that.

Nothing of a text is stored unless its writer consents; then the text becomes an essay of the study, every answered
mark an item, and every answer a judgment of the task `verify`: who takes a suggestion says that it is better, who
rejects it that their own word is.  These judgments stay in a separate job, since writers are no independent
judges of their own words; each text has a separate rater, who has no name and cannot log in.  Where a manager has
closed that job, or has another of its name, nothing is kept.

"Check my writing" and LanguageTool's protocol for editors need no account.  Both are closed unless an owner opens
them here, or the command that starts the server does (`grater.annotate.web.context`); what that opened, no page
closes.  What is opened stays so through restarts, and leaves an event; a study made again from its archive is closed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import select

from grater.annotate import content, jobs, people, units
from grater.annotate.jobs import Assignment, Job
from grater.annotate.people import Person
from grater.annotate.requests import Body, example
from grater.annotate.store import Store, Tx, events, schema
from grater.annotate.store.database import PUBLIC_META, set_meta
from grater.annotate.store.transaction import new_id
from grater.annotate.submissions import answer_once
from grater.annotate.tasks import Answer
from grater.annotate.tasks.task import LABEL
from grater.annotate.tasks.verify import SUGGESTION as SUGGESTION_BETTER
from grater.annotate.tasks.verify import TASK as VERIFY
from grater.annotate.tasks.verify import WRITER as WRITER_BETTER
from grater.annotate.units import NewUnit
from grater.detect.detector import Finding
from grater.detect.feedback import Feedback
from grater.detect.marks import change
from grater.errors import UsageError
from grater.model import Essay, Item

JOB = "check my writing"
ACCEPT, REJECT = "accept", "reject"
LABELS = {ACCEPT: SUGGESTION_BETTER, REJECT: WRITER_BETTER}
CONSENT = "Keep my text and my answers in this study, without my name, to measure how good these marks are."
NOT_KEPT = "Nothing was kept: this study does not collect answers of writers at the moment."
TITLE = "Check my writing: writers on marks in their own texts"
MOST_KEPT = 30
OPEN = "open"
KEYS = dict(zip(("check_page", "editors"), PUBLIC_META, strict=True))
OPEN_PAGES = select(schema.meta.c.key).where(schema.meta.c.value == OPEN, schema.meta.c.key.in_(PUBLIC_META))


def changed(text: str, findings: Iterable[Finding]) -> str:
    """The text with these suggestions taken; of two that touch, the first."""
    done, end = "", 0
    for each in sorted((change(text, finding) for finding in findings), key=lambda each: each.span):
        if each.replacements and each.span.start >= end:
            done += text[end : each.span.start] + each.replacements[0]
            end = each.span.end
    return done + text[end:]


def keep(store: Store, feedback: Feedback, answers: Mapping[str, str]) -> int:
    """Store a text and its writer's answers to marks, by item; return the number of judgments.

    To be called with the writer's consent only.  A text that is sent twice is stored once for every time, as the work
    of another rater.
    """
    strange = sorted(set(answers.values()) - set(LABELS))
    if strange:
        raise UsageError(f"expected {ACCEPT} or {REJECT}, found {strange[0][:20]!r}")
    answered = [
        finding
        for finding in feedback.flags
        if finding.item.item_id in answers and (finding.decision.suggestion is not None)
    ]
    if not answered:
        raise UsageError("expected an answer to one mark at least, found none; accept or reject a mark first")
    if len(answered) > MOST_KEPT:
        raise UsageError(f"expected answers to at most {MOST_KEPT} marks of a text, found {len(answered)}")
    with store.write() as tx:
        writer = people.add(tx, name=f"writer {new_id()}", role="worker", payload={"from": JOB})
        essay = Essay(essay_id=new_id(), text=feedback.essay.text, metadata={"from": JOB, "consent": CONSENT})
        content.add_essays(tx, [essay])
        _judge(
            tx, _job(tx), writer, essay, [(finding, LABELS[answers[finding.item.item_id]]) for finding in answered]
        )
    return len(answered)


def _job(tx: Tx) -> Job:
    """The job of writers' answers; made when the first comes."""
    known = next((job for job in jobs.all(tx) if job.name == JOB), None)
    if known is not None and (known.task, known.access, known.state) != (VERIFY.name, "assigned", "open"):
        raise UsageError(NOT_KEPT)
    if known is not None:
        return known
    made = jobs.add(tx, name=JOB, task=VERIFY.name, title=TITLE, access="assigned", actor=None)
    jobs.add_guidelines(tx, made.job_id, VERIFY.guidelines, actor=None)
    return jobs.set_state(tx, made.job_id, "open", actor=None)


def _judge(tx: Tx, job: Job, writer: Person, essay: Essay, answered: Sequence[tuple[Finding, str]]) -> None:
    """One unit for each answer, assigned to the writer and answered at once."""
    places = [Item(essay.essay_id, finding.item.span, finding.item.kind) for finding, _ in answered]
    content.add_items(tx, map(content.study_item, places))
    new = [
        NewUnit(
            ((place.item_id, {"suggestion": finding.decision.suggestion, "system": finding.decision.system}),),
            essay.essay_id,
            wanted=1,
        )
        for place, (finding, _) in zip(places, answered, strict=True)
    ]
    unit_ids = units.add_all(tx, job.job_id, new)
    jobs.assign(tx, job.job_id, [Assignment(unit_id, writer.person_id) for unit_id in unit_ids])
    for unit_id, place, (_, label) in zip(unit_ids, places, answered, strict=True):
        answers = [Answer(place.item_id, label)]
        answer_once(tx, job, unit_id, writer.person_id, body={LABEL: [label]}, answers=answers)


class NewPublicPages(Body):
    """`check_page` is the page at `/check`, `editors` are the calls at `/v2`."""

    model_config = example(check_page=True, editors=False)
    check_page: bool
    editors: bool


def public_pages(tx: Tx) -> NewPublicPages:
    """What the owners of the study have opened."""
    is_open = {row.key for row in tx.all(OPEN_PAGES)}
    return NewPublicPages(**{name: key in is_open for name, key in KEYS.items()})


def open_to_public(tx: Tx, wanted: NewPublicPages, *, actor: str | None = None) -> None:
    """Open and close; the same again changes nothing."""
    if wanted != public_pages(tx):
        for name, is_open in wanted.model_dump().items():
            set_meta(tx, KEYS[name], OPEN if is_open else "")
        events.write(tx, actor, "study.public", "", wanted.model_dump())
