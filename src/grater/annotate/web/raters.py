"""The raters of a crowd job, from both sides, and its money.

Managers see signals and the best raters, and flag, reject, reinstate, pay a bonus or write; and the cost of the job
(the paper's Table 5), hourly pay, money owed and paid.  A rater sees the missed questions with their reasons,
disputes them, writes to those who run the study, reviews the job, and states facts about themselves.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field
from starlette.responses import Response

from grater.annotate import jobs, messages, money, panels, people, standing, trust
from grater.annotate import raters as study_raters
from grater.annotate.jobs import Job
from grater.annotate.messages import AboutYou, Message, NewMessage, NewRaterMessage, NewReview, missed_by
from grater.annotate.money import NewBonus
from grater.annotate.raters import best, line_of, rater_lines
from grater.annotate.store import Tx
from grater.annotate.store.transaction import new_id
from grater.annotate.terms import terms_of
from grater.annotate.trust import Dispute, open_dispute
from grater.annotate.web import calls
from grater.annotate.web.calls import (
    Body,
    Interval,
    Shape,
    Shown,
    When,
    by_form,
    calls_about,
    example,
    inside,
    list_at,
)
from grater.annotate.web.context import Changing, Context, Reading, Routes, require_slow
from grater.annotate.web.rendering import csv_file
from grater.annotate.web.security import EVERYBODY, MANAGERS
from grater.annotate.web.work import Known, crowd_view
from grater.errors import BadInput, Problem

pages = Routes(MANAGERS)
own_pages = Routes(EVERYBODY)
"""A rater's own side."""

RATER = "/manage/jobs/{job_id}/raters/{person_id}"


@pages.get("/manage/jobs/{job_id}/raters")
def raters_page(context: Context, tx: Reading, job_id: str) -> Response:
    job = jobs.get(tx, job_id)
    lines, behind = context.server.live.lines(tx, job)
    others = [other for other in jobs.all(tx) if other.job_id != job_id and other.state != "closed"]
    return context.page("crowd_raters.html", job=job, lines=lines, top=best(lines), others=others, behind=behind)


@pages.get(RATER)
def rater_page(context: Context, tx: Reading, job_id: str, person_id: str) -> Response:
    job = jobs.get(tx, job_id)
    shown = {
        "line": line_of(tx, job, person_id),
        "messages": messages.with_rater(tx, person_id),
        "payments": [payment for payment in money.payments_of(tx, job_id) if payment.person_id == person_id],
    }
    return context.page("crowd_rater.html", shown, job=job, payment_id=new_id())


@own_pages.get("/jobs/{job_id}/talk")
def talk_page(context: Context, tx: Reading, job_id: str) -> Response:
    job = jobs.visible(tx, job_id)
    shown = {
        "job": job,
        "crowd": crowd_view(tx, job, context.person),
        "missed": missed_by(tx, job, context.person_id),
        "messages": messages.of_rater(tx, context.person_id),
    }
    return context.page("crowd_talk.html", shown)


@own_pages.post("/jobs/{job_id}/about")
def say_about_form(context: Context, tx: Changing, job_id: str) -> Response:
    """Country, languages, consent and answers to the job's own questions, where it asks for them."""
    languages = [word.strip() for word in context.text("languages").split(",") if word.strip()]
    sent = context.sent(AboutYou, languages=languages, answers=context.fields().get("answers", []))
    say_about(context, tx, job_id, sent)
    return context.go(f"/jobs/{job_id}" if sent.when == standing.BEFORE else f"/jobs/{job_id}/done")


@pages.get("/manage/jobs/{job_id}/money")
def money_page(context: Context, tx: Reading, job_id: str) -> Response:
    job = jobs.get(tx, job_id)
    shown = {
        "job": job,
        "costs": money.job_costs(tx, job),
        "payments": money.payments_of(tx, job_id),
        "panels": sorted({panel.provider.name for panel in panels.of_job(tx, job_id)}),
        "names": {person.person_id: person.name for person in people.all(tx)},
    }
    return context.page("crowd_money.html", shown)


@pages.get("/manage/jobs/{job_id}/payments.csv")
def payment_file(context: Context, tx: Reading, job_id: str) -> Response:
    """Who is owed what, by the panel's own ids; `?panel=prolific` for those of one panel."""
    panel = context.request.query_params.get("panel", "")
    frame = money.owed_frame(tx, jobs.get(tx, job_id), panel=panel)
    return csv_file(frame, "payments.csv")


money_api = calls_about("money", MANAGERS)


class Costs(Shape):
    """Money in whole cents of the `currency`, only where pay is agreed; `share_valid` with its limits."""

    judgments: int
    valid: int
    raters: int
    turn_around_hours: calls.Number = None
    share_valid: list[calls.Number]
    currency: str = ""
    policy: str = ""
    cents: int = 0
    bonus_cents: int = 0
    wasted_cents: int = 0
    gold_cents: int = 0
    cents_per_valid: calls.Number = None
    hourly_median_cents: calls.Number = None
    hourly_slow_quarter_cents: calls.Number = None
    warning: str = ""


class Owed(Shape):
    """The amounts to pay now, by the panel's own id for a rater; `amount` in whole units, as in 12.34."""

    panel: str | None
    id: str | None
    amount: str
    currency: str


class Payments(Shape):
    costs: Costs
    payments: list[money.Payment]
    owed: list[Owed]


class Settled(Shape):
    """By how many cents the total changed; nothing where it was written down before."""

    cents: int


class Paid(Shape):
    rows: int


@money_api.get("/jobs/{job_id}/payments", response_model_exclude_unset=True)
def payment_list(tx: Reading, job_id: str, panel: str = "") -> Payments:
    """The cost of a job, every payment, and what is owed now, optionally for one panel."""
    job = jobs.get(tx, job_id)
    owed = money.owed_frame(tx, job, panel=panel).to_dicts()
    return Payments(
        costs=costs_json(tx, job),
        payments=money.payments_of(tx, job_id),
        owed=[Owed.model_validate(row) for row in owed],
    )


@by_form(pages, "/manage/jobs/{job_id}/payments/settle", then="/manage/jobs/{job_id}/money")
@money_api.post("/jobs/{job_id}/payments/settle")
def settle_payments(context: Context, tx: Changing, job_id: str) -> Settled:
    """Record what is owed now; repeating it changes nothing."""
    return Settled(cents=money.settle(tx, jobs.get(tx, job_id), actor=context.person_id))


@by_form(pages, "/manage/jobs/{job_id}/payments/paid", then="/manage/jobs/{job_id}/money")
@money_api.post("/jobs/{job_id}/payments/paid")
def payments_paid(context: Context, tx: Changing, job_id: str) -> Paid:
    """Mark everything owed in a job as paid."""
    return Paid(rows=money.set_paid(tx, jobs.get(tx, job_id).job_id, actor=context.person_id))


@by_form(pages, f"{RATER}/bonus", then=RATER)
@money_api.post("/jobs/{job_id}/raters/{person_id}/bonus")
def pay_bonus(context: Context, tx: Changing, job_id: str, person_id: str, sent: NewBonus) -> money.Payment:
    """Pay a rater a bonus, in the currency of the job."""
    return money.bonus(tx, jobs.get(tx, job_id), person_id, sent, actor=context.person_id)


def costs_json(tx: Tx, job: Job) -> Costs:
    return Costs.model_validate(money.job_costs(tx, job).to_dict())


api = calls_about("raters", MANAGERS)
talk = calls_about("talk", EVERYBODY)


class MissedQuestion(Shape):
    """A question with a known answer that you missed."""

    submission_id: str
    shown: Shown
    answers: list[calls.Answer]
    known: list[Known]
    dispute: Dispute | None


class NewDispute(Body):
    model_config = example(submission_id="my-program-000017", text="The writer may mean this.")
    submission_id: calls.Id
    text: str = Field(min_length=1, max_length=trust.LONGEST_DISPUTE)


@list_at(talk, "/jobs/{job_id}/missed", "missed", name="MissedQuestions")
def missed(context: Context, tx: Reading, job_id: str) -> list[MissedQuestion]:
    """The questions with known answers that you missed, with the expected answers and why, once the job is closed."""
    missed = missed_by(tx, jobs.visible(tx, job_id), context.person_id)
    return [MissedQuestion.of(question) for question in missed]


@by_form(own_pages, "/jobs/{job_id}/disputes", then="/jobs/{job_id}/talk")
@talk.post("/jobs/{job_id}/disputes")
def dispute(context: Context, tx: Changing, job_id: str, sent: NewDispute) -> Dispute:
    """Dispute the known answer to a question you missed, once for each."""
    jobs.visible(tx, job_id)
    return open_dispute(tx, sent.submission_id, text=sent.text, person_id=context.person_id)


@list_at(talk, "/jobs/{job_id}/messages", "messages")
def my_messages(context: Context, tx: Reading, job_id: str) -> list[Message]:
    """Your messages, newest first."""
    jobs.visible(tx, job_id)
    return messages.of_rater(tx, context.person_id)


@by_form(own_pages, "/jobs/{job_id}/messages", then="/jobs/{job_id}/talk")
@talk.post("/jobs/{job_id}/messages", status_code=204)
def send_message(context: Context, job_id: str, sent: NewMessage) -> None:
    """Write to the people who run the study; marks your messages as read."""
    require_slow(context, "message")
    with context.changing() as tx:
        messages.send_to_staff(tx, job_id, sent.text, person_id=context.person_id)


@by_form(own_pages, "/jobs/{job_id}/reviews", then="/jobs/{job_id}/talk#review")
@talk.post("/jobs/{job_id}/reviews", status_code=204)
def review(context: Context, job_id: str, sent: NewReview) -> None:
    """Review a job, as often as you like."""
    require_slow(context, "review")
    with context.changing() as tx:
        messages.review_job(tx, job_id, sent, person_id=context.person_id)


@talk.post("/jobs/{job_id}/about", status_code=204)
def say_about(context: Context, tx: Changing, job_id: str, sent: AboutYou) -> None:
    """State your country and languages, agree to the information, answer questions, if a job asks for them."""
    job = jobs.visible(tx, job_id)
    terms = terms_of(job.options)
    if sent.when == standing.BEFORE and standing.lacks_consent(terms, context.person) and not sent.consent:
        raise BadInput(Problem("form", "expected your consent to the information about this job"))
    agreed = terms.consent if sent.consent else ""
    who = context.person_id
    standing.say_about(tx, who, country=sent.country, languages=sent.languages, consent=agreed)
    standing.answer_questions(tx, job, who, sent.when, sent.answers)


class Signals(Shape):
    """The comparison of a rater with the others; `top_share` is the share of their most frequent label."""

    n: int
    n_compared: int
    with_others: Interval
    skill: calls.Number
    top_label: str
    top_share: calls.Number
    others_share: calls.Number


class Rater(Shape):
    """`marks` are what to look at: quick, one answer, against the others; `on_gold` is null before any gold."""

    person_id: str = inside("person", "person_id")
    name: str = inside("person", "name")
    pseudonym: str = inside("person", "pseudonym")
    state: str = inside("trust", "state")
    why: str = inside("trust", "why")
    valid: int = inside("done", "valid")
    untrusted: int = inside("done", "untrusted")
    surplus: int = inside("done", "surplus")
    withdrawn: int = inside("done", "withdrawn")
    last_at: When = inside("done", "last_at")
    gold_seen: int = inside("trust", "seen")
    gold_right: int = inside("trust", "right")
    on_gold: Interval | None
    seconds: float | None
    others_seconds: float | None
    marks: list[str]
    signals: Signals | None


class Raters(Shape):
    """`best` are the ids of those to ask back."""

    raters: list[Rater]
    best: list[str]


class WholeRater(Shape):
    rater: Rater
    gold: list[standing.GoldAnswer]
    messages: list[Message]
    payments: list[money.Payment]


class NewStanding(Body):
    """`flag`: no more work, what was done stays.  `reject`: ejected, judgments lose their status.  `reinstate`."""

    model_config = example(change="flag")
    change: Literal["flag", "reject", "reinstate"]


class Written(Shape):
    """How many messages were written; one to all is one."""

    messages: int


@api.get("/jobs/{job_id}/raters")
def rater_list(tx: Reading, job_id: str) -> Raters:
    """The raters of a job, with signals that never remove anyone by themselves."""
    lines = rater_lines(tx, jobs.get(tx, job_id))
    return Raters(raters=[Rater.of(line) for line in lines], best=[line.person.person_id for line in best(lines)])


@api.get("/jobs/{job_id}/raters/{person_id}")
def one_rater(tx: Reading, job_id: str, person_id: str) -> WholeRater:
    """One rater: signals, gold answers, messages, payments."""
    return WholeRater(
        rater=Rater.of(line_of(tx, jobs.get(tx, job_id), person_id)),
        gold=standing.gold_answers(tx, job_id, person_id),
        messages=messages.with_rater(tx, person_id),
        payments=[payment for payment in money.payments_of(tx, job_id) if payment.person_id == person_id],
    )


@by_form(pages, f"{RATER}/standing", then=RATER)
@api.post("/jobs/{job_id}/raters/{person_id}/standing")
def change_standing(context: Context, tx: Changing, job_id: str, person_id: str, sent: NewStanding) -> standing.Trust:
    """Flag, reject or reinstate a rater of a job."""
    job, actor = jobs.get(tx, job_id), context.person_id
    return study_raters.change_standing(tx, job, person_id, sent.change, actor=actor)


@by_form(pages, f"{RATER}/messages", then=RATER)
@api.post("/jobs/{job_id}/raters/{person_id}/messages", status_code=204)
def write_to_rater(context: Context, tx: Changing, job_id: str, person_id: str, sent: NewMessage) -> None:
    """Write to one rater; marks their messages as read."""
    messages.send_to_rater(tx, jobs.get(tx, job_id), person_id, sent.text, actor=context.person_id)


@by_form(pages, "/manage/jobs/{job_id}/raters", then="/manage/jobs/{job_id}/raters")
@api.post("/jobs/{job_id}/raters/messages")
def write_to_raters(context: Context, tx: Changing, job_id: str, sent: NewRaterMessage) -> Written:
    """Write to all raters of a job, or to the best."""
    job, actor = jobs.get(tx, job_id), context.person_id
    if sent.to == "all":
        messages.send(tx, from_id=actor, job_id=job_id, text=sent.text)
        return Written(messages=1)
    link = context.server.settings.link(f"/jobs/{jobs.get(tx, sent.job_id).job_id}") if sent.job_id else ""
    return Written(messages=messages.send_to_best(tx, job, f"{sent.text}\n{link}".rstrip(), actor=actor))
