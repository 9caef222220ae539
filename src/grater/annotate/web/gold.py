"""The gold of a job: made from what experts agree on, the trouble list, disputes.

In the studio candidates come one after another, taken or passed by a key, and one button sets the recommended rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from grater.annotate import gold, jobs, people, protocol, trust, units
from grater.annotate.tasks import TASKS
from grater.annotate.terms import terms_of
from grater.annotate.web.calls import Body, Job, Shape, Shown, by_form, calls_about, example
from grater.annotate.web.context import Context, RequestContext, number_of
from grater.annotate.web.raters import Dispute
from grater.annotate.web.units import MET, accepted_by
from grater.annotate.web.work import Known, known_json
from grater.annotate.work import shown_to_staff
from grater.errors import NotFound, UsageError

pages = APIRouter()
ENOUGH = 2 * protocol.QUIZ
"""Gold for the quiz of the recommended rule, and as many among the work."""


@pages.get("/manage/jobs/{job_id}/gold")
def gold_page(context: Context, job_id: str) -> Response:
    return _page(context, job_id)


@pages.post("/manage/jobs/{job_id}/gold")
def make_known_gold(context: Context, job_id: str) -> Response:
    """Items on which the experts of the study all agree; essays by their known errors."""
    try:
        made = make_gold(context, job_id, context.sent(gold.GoldWanted))
    except UsageError as error:
        return _page(context, job_id, problems=[str(error)])
    left = f"; {made.met} skipped: already gold, or already seen by raters" if made.met else ""
    return _page(context, job_id, done=f"{made.made} gold units made{left}.")


def _back(context: RequestContext, changed: GoldChanged | Dispute) -> Response:
    with context.server.store.read() as tx:
        job_id = units.get(tx, changed.unit_id).job.job_id
    return context.go(f"/manage/jobs/{job_id}/gold")


def _page(context: RequestContext, job_id: str, *, problems: Sequence[str] = (), done: str = "") -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        records = [(record, shown_to_staff(tx, record.unit_id)) for record in trust.gold_records(tx, job_id)]
        warnings = trust.gold_warnings(tx, job)
        asked = [
            (dispute, people.get(tx, dispute.person_id), shown_to_staff(tx, dispute.unit_id))
            for dispute in trust.disputes_of_job(tx, job_id)
        ]
    shown = {"job": job, "gold": records, "asked": asked, "rule": terms_of(job.options).gold, "warnings": warnings}
    return context.page("crowd_gold.html", shown, status=422 if problems else 200, problems=problems, done=done)


# The studio


@pages.get("/manage/jobs/{job_id}/gold/studio")
def studio_page(context: Context, job_id: str, n: int = 0) -> Response:
    """Candidate number `n`, from 0 on."""
    return _candidate_page(context, job_id, n)


@pages.post("/manage/jobs/{job_id}/gold/studio")
def accept(context: Context, job_id: str) -> Response:
    """Make the candidate gold with the answers that are ticked; the next one takes its place."""
    n = number_of(context, "n", 0)
    try:
        with context.changing() as tx:
            job = jobs.get(tx, job_id)
            item, reason, actor = context.text("item"), context.text("reason"), context.person.person_id
            is_made = gold.make_gold(tx, job, item, accepted_by(context, job.task), reason=reason, actor=actor)
    except UsageError as error:
        return _candidate_page(context, job_id, n, problem=str(error))
    if not is_made:
        return _candidate_page(context, job_id, n, problem=MET)
    return context.go(f"/manage/jobs/{job_id}/gold/studio?n={n}")


def _candidate_page(context: RequestContext, job_id: str, n: int, *, problem: str = "") -> Response:
    with context.server.store.read() as tx:
        job = jobs.get(tx, job_id)
        waiting = gold.candidates(tx, job)
        n_gold = len(units.ids_of_job(tx, job_id, role="gold"))
        here = waiting[n] if 0 <= n < len(waiting) else None
        shown = shown_to_staff(tx, here.unit_id) if here else None
        reasons = gold.earlier_reasons(tx)
    values = {"job": job, "task": TASKS[job.task], "here": here, "shown": shown, "n": n, "n_waiting": len(waiting)}
    more = {"n_gold": n_gold, "enough": ENOUGH, "reasons": reasons, "problems": [problem] if problem else []}
    return context.page("gold_studio.html", {**values, **more}, status=422 if problem else 200)


api = calls_about("gold")

Reason = Annotated[str, Field(max_length=gold.LONGEST_REASON)]


class GoldUnit(Shape):
    """`missed` of `seen` answers; `is_trouble`: a manager should look at it; `viewings`: raters who were given it."""

    unit_id: str
    state: Literal["active", "suspended", "forgiven"]
    pool: Literal["hidden", "quiz"]
    viewings: int
    seen: int
    missed: int
    disputes: int
    is_trouble: bool
    known: list[Known]
    shown: Shown


class GoldUnits(Shape):
    """The most missed first; `warnings` say what the job lacks in gold."""

    gold: list[GoldUnit]
    warnings: list[str]


class NewKnown(Body):
    """Labels that are `accepted`; `gold` is hidden among the work, `practice` comes first and says what was right."""

    model_config = example(role="practice", accepted=["error"], reason="One arrives at or in a place.")
    role: Literal["gold", "practice"]
    accepted: Annotated[tuple[str, ...], Field(min_length=1, max_length=100)]
    reason: Reason = ""


class NewGoldState(Body):
    """`forgiven` for good, `suspended` for now, or `active` again; everybody who saw it is counted anew.

    `pool` moves gold that nobody has seen to the entry quiz, or hides it among the work.
    """

    model_config = example(state="suspended")
    state: Literal["active", "suspended", "forgiven"] | None = None
    pool: Literal["hidden", "quiz"] | None = None


class NewReason(Body):
    model_config = example(reason="One depends on somebody, never of.")
    reason: Reason


class GoldChanged(Shape):
    unit_id: str
    state: str
    pool: str
    reason: str


class Disputes(Shape):
    """Open ones first."""

    disputes: list[Dispute]


class DisputeDecided(Body):
    """`grant` forgives the gold and settles every dispute about it; the rater reads the `answer`."""

    model_config = example(decision="refuse", answer="The sentence before rules that out.")
    decision: Literal["grant", "refuse"]
    answer: str = Field(default="", max_length=trust.LONGEST_DISPUTE)


@api.get("/jobs/{job_id}/gold")
def gold_list(context: Context, job_id: str) -> GoldUnits:
    """The gold of a job, with accepted answers and raters' results."""
    with context.server.store.read() as tx:
        job, units = jobs.get(tx, job_id), []
        for record in trust.gold_records(tx, job_id):
            fields = {name: getattr(record, name) for name in GoldUnit.model_fields if name not in ("known", "shown")}
            shown = Shown.of(shown_to_staff(tx, record.unit_id))
            units.append(GoldUnit(**fields, known=known_json(record.known), shown=shown))
        return GoldUnits(gold=units, warnings=trust.gold_warnings(tx, job))


@api.post("/jobs/{job_id}/gold")
def make_gold(context: Context, job_id: str, sent: gold.GoldWanted) -> gold.MadeGold:
    """Make gold from expert agreement; for marked essays, from known errors."""
    with context.changing() as tx:
        return gold.known_gold(tx, jobs.get(tx, job_id), sent, actor=context.person.person_id)


class Candidates(Shape):
    """The surest first."""

    candidates: list[gold.Candidate]


@api.get("/jobs/{job_id}/gold/candidates")
def candidate_list(context: Context, job_id: str) -> Candidates:
    """Units that could become gold: from earlier jobs, agreeing experts, or agreeing raters of another job."""
    with context.server.store.read() as tx:
        return Candidates(candidates=gold.candidates(tx, jobs.get(tx, job_id)))


@by_form(pages, "/manage/jobs/{job_id}/gold/rule", then="/manage/jobs/{job_id}/terms")
@api.post("/jobs/{job_id}/gold/rule")
def use_rule(context: Context, job_id: str) -> Job:
    """Use the recommended gold rule: a quiz of 12, then remove raters who are surely below 80 %."""
    with context.changing() as tx:
        return Job.of(protocol.use_recommended_rule(tx, job_id, actor=context.person.person_id))


@api.post("/units/{unit_id}/known")
def make_known(context: Context, unit_id: str, sent: NewKnown) -> gold.MadeGold:
    """Turn a unit of one item into gold or practice, unless raters have seen it."""
    with context.changing() as tx:
        unit, actor = units.get(tx, unit_id), context.person.person_id
        item_id = unit.unit.items[0].item.item_id
        is_made = gold.make_gold(
            tx, unit.job, item_id, sent.accepted, reason=sent.reason, role=sent.role, actor=actor
        )
    return gold.MadeGold(made=int(is_made), met=int(not is_made))


@by_form(pages, "/manage/gold/{unit_id}/state", then=_back)
@api.post("/gold/{unit_id}/state")
def set_gold_state(context: Context, unit_id: str, sent: NewGoldState) -> GoldChanged:
    """Forgive, suspend or reactivate gold, and recount everyone who saw it; or move it to the other pool."""
    with context.changing() as tx:
        if sent.state is not None:
            trust.set_gold_state(tx, unit_id, sent.state, actor=context.person.person_id)
        if sent.pool is not None:
            gold.set_pool(tx, unit_id, sent.pool, actor=context.person.person_id)
        return _changed(gold.of_unit(tx, unit_id))


@by_form(pages, "/manage/gold/{unit_id}/reason", then=_back)
@api.post("/gold/{unit_id}/reason")
def set_gold_reason(context: Context, unit_id: str, sent: NewReason) -> GoldChanged:
    """Set the explanation raters see, when the job is closed, of gold that they missed."""
    with context.changing() as tx:
        gold.set_reason(tx, unit_id, sent.reason, actor=context.person.person_id)
        return _changed(gold.of_unit(tx, unit_id))


@api.get("/jobs/{job_id}/disputes")
def dispute_list(context: Context, job_id: str) -> Disputes:
    """Disputes about the gold of a job."""
    with context.server.store.read() as tx:
        jobs.get(tx, job_id)
        return Disputes(disputes=[Dispute.of(dispute) for dispute in trust.disputes_of_job(tx, job_id)])


@by_form(pages, "/manage/disputes/{dispute_id}", then=_back)
@api.post("/disputes/{dispute_id}")
def decide_dispute(context: Context, dispute_id: str, sent: DisputeDecided) -> Dispute:
    """Grant or refuse a dispute."""
    is_granted, actor = sent.decision == "grant", context.person.person_id
    with context.changing() as tx:
        decided = trust.decide_dispute(tx, dispute_id, is_granted=is_granted, answer=sent.answer, actor=actor)
    return Dispute.of(decided)


def _changed(known: list[gold.Gold]) -> GoldChanged:
    if not known:
        raise NotFound(gold.NO_GOLD)
    return GoldChanged.of(known[0])
