"""The units of a job with their judgments, and its gold, for managers.

Nobody sees others' answers to a unit that they may still judge themselves (P9): a manager sees those to units that
are not finished only after giving up to rate in the job.  A unit whose answer a manager knows can become practice,
which says what was expected, or hidden gold.  Gold is also made from what experts agree on; the page of gold has what
is often missed, and disputes.  In the studio candidates come one after another, taken or passed by a key, and one
button sets the recommended rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field
from starlette.responses import Response

from grater.annotate import adjudication, gold, jobs, judgments, people, progress, protocol, tasks, trust, units, work
from grater.annotate.store import Tx
from grater.annotate.tasks import TASKS
from grater.annotate.terms import terms_of
from grater.annotate.trust import Dispute
from grater.annotate.units import StudyUnit
from grater.annotate.web import calls
from grater.annotate.web.calls import (
    A_PAGE,
    Body,
    Job,
    Most,
    Shape,
    Shown,
    Start,
    by_form,
    calls_about,
    inside,
    list_at,
    page_at,
)
from grater.annotate.web.context import (
    Changing,
    ChangingEverybody,
    Context,
    Reading,
    RequestContext,
    Routes,
    number_of,
)
from grater.annotate.web.rendering import pager
from grater.annotate.web.security import MANAGERS
from grater.annotate.web.work import Known
from grater.annotate.work import Sent, sent_for, shown_to_staff
from grater.annotate.work import look as give_up_rating
from grater.errors import BadInput, Problem, UsageError

pages = Routes(MANAGERS)

ROWS = 50
MET = "This unit cannot be changed: somebody has already worked on it, or its answer is known."


@pages.get("/manage/jobs/{job_id}/units")
def unit_list_page(context: Context, tx: Reading, job_id: str, page: int = 1) -> Response:
    job = jobs.get(tx, job_id)
    here = pager(progress.n_units(tx, job_id), page, size=ROWS)
    on_page = progress.some_units(tx, job_id, start=here.start, most=here.size)
    rows = [(unit, shown_to_staff(tx, unit.unit_id)) for unit in on_page]
    return context.page("manage_units.html", job=job, rows=rows, pager=here)


@page_at(pages, "/manage/units/{unit_id}")
def unit_view(context: RequestContext, tx: Reading, unit_id: str) -> Response:
    """One unit with its answers and its gold, as far as the manager may see them."""
    seen = _seen(tx, context, unit_id)
    return context.page("manage_unit.html", vars(seen), task=TASKS[seen.unit.job.task])


@dataclass(frozen=True)
class Seen:
    """A unit as page and API show it; the answers of others only to somebody who is not to judge it any more."""

    unit: StudyUnit
    may_see: bool
    sent: Sequence[Sent]
    decided: adjudication.Adjudication | None
    shown: tasks.Shown
    known: Sequence[gold.Gold]


def _seen(tx: Tx, context: RequestContext, unit_id: str) -> Seen:
    unit = units.get(tx, unit_id)
    may_see = work.may_see(tx, unit.job.job_id, unit_id, context.person_id)
    return Seen(
        unit=unit,
        may_see=may_see,
        sent=sent_for(tx, unit_id) if may_see else (),
        decided=adjudication.find(tx, unit_id) if may_see else None,
        shown=shown_to_staff(tx, unit_id),
        known=gold.of_unit(tx, unit_id),
    )


@pages.post("/manage/units/{unit_id}/look")
def look_form(context: Context, tx: Changing, unit_id: str) -> Response:
    """See the answers to the unit's job from now on, and no longer rate in it."""
    give_up_rating(tx, units.get(tx, unit_id).job.job_id, context.person_id)
    return context.go(f"/manage/units/{unit_id}")


@by_form(pages, "/manage/units/{unit_id}/known", refused=unit_view)
def make_known_form(context: RequestContext, tx: Changing, unit_id: str) -> Response:
    accepted = accepted_by(context, units.get(tx, unit_id).job.task)
    if not make_known(context, tx, unit_id, context.sent(NewKnown, accepted=accepted)).made:
        raise UsageError(MET)
    return context.go(f"/manage/units/{unit_id}")


def accepted_by(context: RequestContext, task: str) -> list[str]:
    """The labels that are ticked, or the words of a task without a closed set."""
    if TASKS[task].labels:
        return context.fields().get("accepted", [])
    return [word.strip() for word in context.text("accepted").split(",") if word.strip()]


api = calls_about("units", MANAGERS)


class UnitLine(Shape):
    """A unit and what its page shows."""

    unit_id: str
    wanted: int
    valid: int
    is_done: bool
    shown: Shown


class SentAnswers(Shape):
    """The answers of one rater."""

    rater: str = inside("person", "pseudonym")
    submission_id: str = inside("submission", "submission_id")
    status: str = inside("submission", "status")
    at: calls.When = inside("submission", "at")
    seconds: float | None = inside("submission", "seconds")
    answers: list[calls.Answer]


class Decision(Shape):
    """The answer that counts in the end, by an adjudicator."""

    version: int
    answers: list[calls.Answer]
    comment: str
    at: calls.When


class Unit(Shape):
    """`may_see` is false where what was `sent` is kept from you, because you may still be asked.

    `known` are the accepted answers of gold and practice.
    """

    unit_id: str = inside("unit", "unit_id")
    job_id: str = inside("unit", "job", "job_id")
    task: str = inside("unit", "job", "task")
    role: str = inside("unit", "role")
    stage: str = inside("unit", "unit", "stage")
    batch: int = inside("unit", "batch")
    essay_id: str = inside("unit", "unit", "essay", "essay_id")
    wanted: int = inside("unit", "wanted")
    shown: Shown
    known: list[Known]
    may_see: bool
    sent: list[SentAnswers]
    decision: Decision | None = inside("decided")


class Judgment(Shape):
    """A row of the judgments table; raters have pseudonyms."""

    item: str
    rater: str
    label: str
    status: str
    confidence: str
    seconds: float | None
    at: calls.When
    flags: list[str]
    alternatives: list[str]
    stage: str
    batch: int
    group: str
    role: str
    kind: str
    job: str
    unit: str
    submission: str
    guidelines: int
    payload: calls.Object


@list_at(api, "/jobs/{job_id}/units", "units")
def unit_list(tx: Reading, job_id: str, start: Start = 0, most: Most = A_PAGE) -> list[UnitLine]:
    """The work units of a job in order, with what raters see and their progress."""
    jobs.get(tx, job_id)
    return [
        UnitLine.model_validate({**asdict(unit), "is_done": unit.is_done, "shown": shown_to_staff(tx, unit.unit_id)})
        for unit in progress.some_units(tx, job_id, start=start, most=most)
    ]


@api.get("/units/{unit_id}")
def one_unit(context: Context, tx: Reading, unit_id: str) -> Unit:
    """A unit with its judgments, once it is finished or you have given up rating in the job."""
    return Unit.of(_seen(tx, context, unit_id))


@list_at(api, "/jobs/{job_id}/judgments", "judgments")
def job_judgments(
    context: Context,
    tx: Reading,
    job_id: str,
    status: Annotated[str, Query(description="One, or several with commas: " + ", ".join(judgments.ALL))] = "valid",
    start: Start = 0,
    most: Most = A_PAGE,
) -> list[Judgment]:
    """Judgments as rows of the judgments table, raters by pseudonym.

    Units that are not finished are left out until you give up to rate in the job (`look`).
    """
    statuses = status.split(",")
    if strange := [name for name in statuses if name not in judgments.ALL]:
        raise BadInput(Problem("status", f"expected {', '.join(judgments.ALL)}, found {strange[0][:20]!r}"))
    jobs.get(tx, job_id)
    of_done = not work.is_out(tx, job_id, context.person_id)
    rows = judgments.table(tx, job_id, statuses, of_done=of_done, start=start, most=most)
    return [Judgment.model_validate(row) for row in rows]


@api.post("/jobs/{job_id}/look", status_code=204)
def look(context: Context, tx: Changing, job_id: str) -> None:
    """See the answers to unfinished units; you can no longer rate in the job."""
    give_up_rating(tx, job_id, context.person_id)


@by_form(pages, "/manage/units/{unit_id}/work", then="/manage/units/{unit_id}", refused=unit_view)
@api.post("/units/{unit_id}/work")
def back_to_work(context: Context, tx: ChangingEverybody, unit_id: str) -> Unit:
    """Turn a gold or practice unit that nobody has seen back into work."""
    units.return_to_work(tx, unit_id, actor=context.person_id)
    return one_unit(context, tx, unit_id)


# Gold

ENOUGH = 2 * protocol.QUIZ
"""Gold for the quiz of the recommended rule, and as many among the work."""


def _back(context: RequestContext, decided: Dispute | None) -> Response:
    unit_id = decided.unit_id if decided else context.request.path_params["unit_id"]
    with context.server.store.read() as tx:
        job_id = units.get(tx, unit_id).job.job_id
    return context.go(f"/manage/jobs/{job_id}/gold")


@page_at(pages, "/manage/jobs/{job_id}/gold")
def _gold_page(context: RequestContext, tx: Reading, job_id: str, *, done: str = "") -> Response:
    job = jobs.get(tx, job_id)
    records = [(record, shown_to_staff(tx, record.unit_id)) for record in trust.gold_records(tx, job_id)]
    warnings = trust.gold_warnings(tx, job)
    asked = [
        (dispute, people.get(tx, dispute.person_id), shown_to_staff(tx, dispute.unit_id))
        for dispute in trust.disputes_of_job(tx, job_id)
    ]
    shown = {"job": job, "gold": records, "asked": asked, "rule": terms_of(job.options).gold, "warnings": warnings}
    return context.page("crowd_gold.html", shown, done=done)


def _after_making(context: RequestContext, made: gold.MadeGold) -> Response:
    left = f"; {made.met} skipped: already gold, or already seen by raters" if made.met else ""
    return _gold_page(context, **context.request.path_params, done=f"{made.made} gold units made{left}.")


# The studio


@page_at(pages, "/manage/jobs/{job_id}/gold/studio")
def studio_page(context: RequestContext, tx: Reading, job_id: str) -> Response:
    """Candidate number `n`, from 0 on."""
    job, n = jobs.get(tx, job_id), number_of(context, "n", 0)
    waiting = gold.candidates(tx, job)
    here = waiting[n] if 0 <= n < len(waiting) else None
    values = {"job": job, "task": TASKS[job.task], "here": here, "n": n, "n_waiting": len(waiting)}
    values |= {"shown": shown_to_staff(tx, here.unit_id) if here else None, "reasons": gold.earlier_reasons(tx)}
    n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
    return context.page("gold_studio.html", values, n_gold=n_gold, enough=ENOUGH)


@by_form(pages, "/manage/jobs/{job_id}/gold/studio", refused=studio_page)
def accept(context: RequestContext, tx: Changing, job_id: str) -> Response:
    """Make the candidate gold with the answers that are ticked; the next one takes its place."""
    job, n = jobs.get(tx, job_id), number_of(context, "n", 0)
    item, reason, actor = context.text("item"), context.text("reason"), context.person_id
    if not gold.make_gold(tx, job, item, accepted_by(context, job.task), reason=reason, actor=actor):
        raise UsageError(MET)
    return context.go(f"/manage/jobs/{job_id}/gold/studio?n={n}")


gold_api = calls_about("gold", MANAGERS)

Reason = Annotated[str, Field(max_length=gold.LONGEST_REASON)]


class GoldRecord(Shape):
    """`missed` of `seen` answers; `is_trouble`: a manager should look at it; `viewings`: raters who were given it."""

    unit_id: str
    state: Literal["active", "suspended", "forgiven"]
    pool: Literal["hidden", "quiz", "shown"]
    viewings: int
    seen: int
    missed: int
    disputes: int
    is_trouble: bool
    known: list[Known]


class GoldUnit(GoldRecord):
    """A unit of gold and what its page shows."""

    shown: Shown


class GoldUnits(Shape):
    """The most missed first; `warnings` say what the job lacks in gold."""

    gold: list[GoldUnit]
    warnings: list[str]


class NewKnown(Body):
    """Labels that are `accepted`; `gold` is hidden among the work, `practice` comes first and shows the expected
    answer."""

    model_config = calls.example(role="practice", accepted=["error"], reason="One arrives at or in a place.")
    role: Literal["gold", "practice"]
    accepted: Annotated[tuple[str, ...], Field(min_length=1, max_length=100)]
    reason: Reason = ""


class NewGoldState(Body):
    """`forgiven` for good, `suspended` for now, or `active` again; everybody who saw it is counted again.

    `pool` moves gold that nobody has seen to the entry quiz, or hides it among the work.
    """

    model_config = calls.example(state="suspended")
    state: Literal["active", "suspended", "forgiven"] | None = None
    pool: Literal["hidden", "quiz"] | None = None


class NewReason(Body):
    model_config = calls.example(reason="One depends on somebody, never of.")
    reason: Reason


class DisputeDecided(Body):
    """`grant` forgives the gold and settles every dispute about it; the rater reads the `answer`."""

    model_config = calls.example(decision="refuse", answer="The sentence before rules that out.")
    decision: Literal["grant", "refuse"]
    answer: str = Field(default="", max_length=trust.LONGEST_DISPUTE)


@gold_api.get("/jobs/{job_id}/gold")
def gold_list(tx: Reading, job_id: str) -> GoldUnits:
    """The gold of a job, with accepted answers and raters' results."""
    job, found = jobs.get(tx, job_id), []
    for record in trust.gold_records(tx, job_id):
        shown = Shown.of(shown_to_staff(tx, record.unit_id))
        found.append(GoldUnit(**GoldRecord.of(record).model_dump(), shown=shown))
    return GoldUnits(gold=found, warnings=trust.gold_warnings(tx, job))


@by_form(pages, "/manage/jobs/{job_id}/gold", then=_after_making, refused=_gold_page)
@gold_api.post("/jobs/{job_id}/gold")
def make_gold(context: Context, tx: Changing, job_id: str, sent: gold.GoldWanted) -> gold.MadeGold:
    """Make gold from expert agreement; for marked essays, from known errors."""
    return gold.known_gold(tx, jobs.get(tx, job_id), sent, actor=context.person_id)


@list_at(gold_api, "/jobs/{job_id}/gold/candidates", "candidates")
def candidate_list(tx: Reading, job_id: str) -> list[gold.Candidate]:
    """Units that could become gold, surest first: from earlier jobs, agreeing experts, agreeing raters of another."""
    return gold.candidates(tx, jobs.get(tx, job_id))


@by_form(pages, "/manage/jobs/{job_id}/gold/rule", then="/manage/jobs/{job_id}/terms")
@gold_api.post("/jobs/{job_id}/gold/rule")
def use_rule(context: Context, tx: Changing, job_id: str) -> Job:
    """Use the recommended gold rule: a quiz of 12, then remove raters who are surely below 80 %."""
    return Job.of(protocol.use_recommended_rule(tx, job_id, actor=context.person_id))


@gold_api.post("/units/{unit_id}/known")
def make_known(context: Context, tx: Changing, unit_id: str, sent: NewKnown) -> gold.MadeGold:
    """Turn a unit of one item into gold or practice, unless raters have seen it."""
    unit, actor = units.get(tx, unit_id), context.person_id
    item_id = unit.unit.items[0].item.item_id
    is_made = gold.make_gold(tx, unit.job, item_id, sent.accepted, reason=sent.reason, role=sent.role, actor=actor)
    return gold.MadeGold(made=int(is_made), met=int(not is_made))


@by_form(pages, "/manage/gold/{unit_id}/state", then=_back)
@gold_api.post("/gold/{unit_id}/state", status_code=204)
def set_gold_state(context: Context, tx: Changing, unit_id: str, sent: NewGoldState) -> None:
    """Forgive, suspend or reactivate gold, and update everyone's trust; or move it to the other pool."""
    if sent.state is not None:
        trust.set_gold_state(tx, unit_id, sent.state, actor=context.person_id)
    if sent.pool is not None:
        gold.set_pool(tx, unit_id, sent.pool, actor=context.person_id)


@by_form(pages, "/manage/gold/{unit_id}/reason", then=_back)
@gold_api.post("/gold/{unit_id}/reason", status_code=204)
def set_gold_reason(context: Context, tx: Changing, unit_id: str, sent: NewReason) -> None:
    """Set the explanation raters see, when the job is closed, of gold that they missed."""
    gold.set_reason(tx, unit_id, sent.reason, actor=context.person_id)


@list_at(gold_api, "/jobs/{job_id}/disputes", "disputes")
def dispute_list(tx: Reading, job_id: str) -> list[Dispute]:
    """Disputes about the gold of a job, open ones first."""
    jobs.get(tx, job_id)
    return trust.disputes_of_job(tx, job_id)


@by_form(pages, "/manage/disputes/{dispute_id}", then=_back)
@gold_api.post("/disputes/{dispute_id}")
def decide_dispute(context: Context, tx: Changing, dispute_id: str, sent: DisputeDecided) -> Dispute:
    """Grant or refuse a dispute."""
    is_granted, actor = sent.decision == "grant", context.person_id
    return trust.decide_dispute(tx, dispute_id, is_granted=is_granted, answer=sent.answer, actor=actor)
