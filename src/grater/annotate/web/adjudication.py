"""Adjudication: the answers of two or more raters side by side, and the final answer.

Only finished units are shown, so nobody sees another's work before it is complete (P9).  An item is decided on the
task's own form, filled with what the raters agree on.  An essay has a separate page with the differences first: for
each place the adjudicator takes one annotator's edits, or says that nothing is wrong, or writes an edit of their own.
Errors that everybody overlooked are marked in the essay itself, on the desk of the marking page, and sent as the
field `more`; only that needs JavaScript.  A decision that was made before gives the same form again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Literal

from pydantic import Field
from starlette.responses import Response

from grater.annotate import adjudication, jobs, units
from grater.annotate.adjudication import REMARKS, EssayTable, Place, finished, progress_of, sent_edit, table_of
from grater.annotate.progress import FinishedUnit
from grater.annotate.requests import LARGEST
from grater.annotate.store import Tx
from grater.annotate.tasks import TASKS, Answer, Shown
from grater.annotate.tasks.marking import (
    LONGEST,
    MARKING,
    SET_ASIDE,
    TASK,
    edits_of,
    is_short_text,
    read_edits,
    tagset_of,
)
from grater.annotate.tasks.task import CONFIDENCE, LABEL
from grater.annotate.units import StudyUnit
from grater.annotate.web.calls import A_PAGE, Most, Shape, Start, calls_about, example, list_at, page_at
from grater.annotate.web.calls import Edit as EditShape
from grater.annotate.web.calls import Shown as ShownShape
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes, version_of
from grater.annotate.web.rendering import pager
from grater.annotate.web.security import ADJUDICATORS
from grater.annotate.web.units import Decision, SentAnswers
from grater.annotate.web.work import Reply, by_field
from grater.annotate.work import Sent, is_finished, sent_for, shown_to_staff
from grater.errors import BadInput, GraterError, NotFound, Problem, Stale
from grater.model import GOLD, Edit, Json, Span

pages = Routes(ADJUDICATORS)

ROWS = 50
AGAIN = "Yours is still below: compare, and save it again if it should count."
NOTHING, OWN, MORE = "nothing", "own", "more"


def finished_unit(tx: Tx, unit_id: str) -> tuple[StudyUnit, Shown, list[Sent], adjudication.Adjudication | None]:
    """A finished unit with its valid answers, and the decision, if there is one; P9 hides any other unit."""
    unit = units.get(tx, unit_id)
    if unit.role != "work" or not is_finished(tx, unit_id):
        raise NotFound("no such unit to adjudicate, or its judgments are not complete yet")
    valid = [each for each in sent_for(tx, unit_id) if each.submission.status == "valid"]
    return unit, shown_to_staff(tx, unit_id), valid, adjudication.find(tx, unit_id)


@pages.get("/adjudicate")
def queue_page(context: Context, tx: Reading) -> Response:
    """Jobs with finished units: how many are decided, and the next to decide."""
    queue = [(job, progress_of(finished(tx, job))) for job in jobs.all(tx) if job.archived_at is None]
    return context.page("adjudicate.html", queue=[(job, far) for job, far in queue if far.n_done])


@pages.get("/adjudicate/jobs/{job_id}")
def job_page(context: Context, tx: Reading, job_id: str, show: str = "", page: int = 1) -> Response:
    """Every finished unit of a job, also those that are decided: a decision can be made again."""
    job = jobs.get(tx, job_id)
    by_show = adjudication.shown_by(finished(tx, job))
    chosen = by_show.get(show, by_show[""])
    here = pager(len(chosen), page, size=ROWS)
    on_page = chosen[here.start : here.start + here.size]
    rows = [(each, shown_to_staff(tx, each.unit_id)) for each in on_page]
    values = {"job": job, "rows": rows, "pager": here, "show": show, "next": progress_of(by_show[""]).following}
    return context.page("adjudicate_job.html", values, counts={name: len(some) for name, some in by_show.items()})


@pages.post("/adjudicate/{unit_id}")
def decide_form(context: Context, unit_id: str) -> Response:
    """Store the decision and go on to the next unit of the job without one, or to the other jobs."""
    with context.server.store.read() as tx:
        unit, shown, _, _ = finished_unit(tx, unit_id)
        table = table_of(tx, unit) if unit.job.task == MARKING else None
    try:
        if table is not None:
            answers = answers_of(table, context.first_values())
        else:
            answers = TASKS[unit.job.task].read(unit.unit, context.fields(), kept=shown.kept)
        with context.changing() as tx:
            adjudication.save(
                tx,
                unit_id=unit_id,
                person_id=context.person_id,
                answers=answers,
                version=version_of(context.text("version")),
                comment=context.text("comment"),
                made_from=context.text("made_from") or None,
            )
    except (BadInput, Stale) as error:
        return _unit_page(context, unit_id, error)
    with context.server.store.read() as tx:
        following = progress_of(finished(tx, unit.job), unit_id).following
    return context.go(f"/adjudicate/{following}" if following else "/adjudicate")


@page_at(pages, "/adjudicate/{unit_id}")
def _unit_page(context: RequestContext, tx: Reading, unit_id: str, error: BadInput | Stale | None = None) -> Response:
    """The form of a unit; after an error as it was sent, on top of what somebody may have decided meanwhile."""
    unit, shown, sent, decision = finished_unit(tx, unit_id)
    table = table_of(tx, unit) if unit.job.task == MARKING else None
    far = progress_of(finished(tx, unit.job), unit_id)
    made_from = adjudication.answers_mark([each.submission for each in sent])
    status = 200 if error is None else 409 if isinstance(error, Stale) else 422
    stale = [str(error), AGAIN] if isinstance(error, Stale) else []
    if table is None:
        task = TASKS[unit.job.task]
        filled = context.fields() if error else filled_by(unit, shown, sent, decision.answers if decision else ())
        problems = by_field(error, shown.fields) if isinstance(error, BadInput) else {"": stale} if stale else {}
        values = {"unit": unit, "task": task, "shown": shown, "sent": sent, "decided": decision, "filled": filled}
        values |= {"made_from": made_from, "far": far}
        return context.page("adjudicate_unit.html", values, status=status, problems=problems)
    tags = tagset_of(unit.unit)
    choices = context.first_values() if error else earlier_choices(table)
    try:
        more = read_edits(table.unit.unit, choices.get(MORE) or "[]")
    except BadInput:  # complained about already
        more = ()
    return context.page(
        "adjudicate_essay.html",
        status=status,
        table=table,
        made_from=made_from,
        places=table.places,
        tags=tags,
        sent={"text": table.text, "tags": [asdict(tag) for tag in tags]},
        more=more,
        spans_of=spans_of,
        name_of=name_of,
        filled=choices,
        problems=[each.message for each in error.problems] if isinstance(error, BadInput) else stale,
        far=far,
    )


def filled_by(
    unit: StudyUnit, shown: Shown, sent: Sequence[Sent], decided: Sequence[Answer]
) -> Mapping[str, Sequence[str]]:
    """The form, filled with the earlier decision, or else with what all raters agree on."""
    if decided:
        # The form that says the same as a decision.
        form = _form_of(shown, decided)
        try:
            given = TASKS[unit.job.task].read(unit.unit, form, kept=shown.kept)
        except GraterError:  # imported decisions may be none that the form could give
            return {}
        # A form that would say something else is worse than none.
        return form if tuple(given) == tuple(decided) else {}
    bodies: list[Mapping[str, Json]] = [answered.submission.body for answered in sent]
    if not bodies or shown.kept:
        return {}
    names = [field.name for field in shown.fields]
    alike = {
        name: bodies[0].get(name) for name in names if all(body.get(name) == bodies[0].get(name) for body in bodies)
    }
    return {name: [str(value) for value in values] for name, values in alike.items() if isinstance(values, list)}


def _form_of(shown: Shown, decided: Sequence[Answer]) -> dict[str, list[str]]:
    """One field per item, or the label of the one item and its other fields."""
    if len(decided) == len(shown.fields):
        return {field.name: [answer.label] for field, answer in zip(shown.fields, decided, strict=True)}
    answer = decided[0]
    form = {LABEL: [answer.label], CONFIDENCE: [answer.confidence], "flags": list(answer.flags)}
    asked = [field.name for field in shown.fields if answer.label in field.asked_for]
    return form | {name: [", ".join(answer.alternatives)] for name in asked}


def decided(table: EssayTable, filled: Mapping[str, str]) -> tuple[Edit, ...]:
    """The edits that result from the choices; a place without a choice is a problem."""
    edits: list[Edit] = []
    open_places = []
    for number, place in enumerate(table.places, 1):
        choice = filled.get(f"choice {place.name}", "")
        if not is_short_text(filled.get(f"comment {place.name}", "")):
            raise BadInput(Problem("form", f"place {number}: expected a comment of at most {LONGEST:,} characters"))
        by_letter = {opinion.rater: opinion.edits for opinion in place.opinions}
        if choice == OWN:
            edits.append(_own(table, place, filled, number))
        elif choice in by_letter:
            edits += by_letter[choice]
        elif choice != NOTHING:
            open_places.append(number)
    if open_places:
        raise BadInput(Problem("form", f"not decided yet: {', '.join(map(str, open_places))}"))
    by_content = {_content(edit): edit for edit in [*edits, *read_edits(table.unit.unit, filled.get(MORE) or "[]")]}
    return tuple(sorted(by_content.values(), key=lambda edit: edit.span))


def _own(table: EssayTable, place: Place, filled: Mapping[str, str], number: int) -> Edit:
    spans = {name_of(span): span for span in spans_of(place)}
    tags = tagset_of(table.unit.unit)
    span = spans.get(filled.get(f"words {place.name}", ""))
    tag = filled.get(f"tag {place.name}", "")
    if span is None or tag not in tags:
        raise BadInput(
            Problem("form", f"place {number}: choose the words and the kind of error for your own correction")
        )
    words = filled.get(f"correction {place.name}", "")
    is_left_open = not words and not (tags[tag].owes_correction and len(span))
    replacements = () if is_left_open else (words,)
    return Edit(span, replacements, tag, GOLD, filled.get(f"comment {place.name}", ""))


def spans_of(place: Place) -> tuple[Span, ...]:
    """The words that the adjudicator's own edit can replace: those of any annotator, and all of them combined."""
    return tuple(dict.fromkeys([*(edit.span for edit in place.edits), place.span]))


def name_of(span: Span) -> str:
    return f"{span.start}-{span.end}"


def earlier_choices(table: EssayTable) -> dict[str, str]:
    """The form with the earlier decision; without one, only what all annotators agree on is filled in."""
    places = table.places
    filled = {f"choice {place.name}": place.opinions[0].rater for place in places if place.kind == "same"}
    if table.earlier is None:
        return filled
    (answer,) = table.earlier.answers
    gold = edits_of(answer, rater=GOLD)
    left = list(zip(gold, adjudication.changed_tokens(table.unit.unit.essay, gold), strict=True))
    for place in places:
        there = [edit for edit, tokens in left if place.tokens.touches(tokens)]
        choice, taken = _earlier_choice(place, there)
        left = [(edit, tokens) for edit, tokens in left if edit not in taken]
        filled |= choice
    filled[MORE] = json.dumps([sent_edit(table.text, edit) for edit, _ in left])
    remarks = dict(adjudication.remarks_of(answer))
    filled |= {f"comment {place.name}": remarks[place.span] for place in places if place.span in remarks}
    return filled | ({"set_aside": "1"} if answer.label == SET_ASIDE else {}) | {"comment": table.earlier.comment}


def _earlier_choice(place: Place, gold: Sequence[Edit]) -> tuple[dict[str, str], Sequence[Edit]]:
    """The choice at a place that gives these edits, or some of them, and which."""
    by_content = {_content(edit): edit for edit in gold}
    for opinion in sorted(place.opinions, key=lambda opinion: -len(opinion.edits)):
        given = {_content(edit) for edit in opinion.edits}
        if given <= set(by_content) and (given or not gold):
            return {f"choice {place.name}": opinion.rater}, [by_content[content] for content in given]
    own = next((edit for edit in gold if edit.span in spans_of(place) and len(edit.replacements) <= 1), None)
    if own is None:
        # The choice that nothing is wrong at a place: that of an annotator who says so, where there is one.
        no_error = next((opinion.rater for opinion in place.opinions if not opinion.edits), NOTHING)
        return {f"choice {place.name}": no_error}, ()
    choice = {
        f"choice {place.name}": OWN,
        f"words {place.name}": name_of(own.span),
        f"tag {place.name}": own.tag,
        f"correction {place.name}": own.replacements[0] if own.replacements else "",
        f"comment {place.name}": own.comment,
    }
    return choice, (own,)


def _content(edit: Edit) -> tuple[Span, tuple[str, ...], str, str]:
    return edit.span, edit.replacements, edit.tag, edit.comment


def answers_of(table: EssayTable, filled: Mapping[str, str]) -> tuple[Answer, ...]:
    """Read the answers with the task's own reader, so that a decision obeys the rules of an annotator's work."""
    sent = json.dumps([sent_edit(table.text, edit) for edit in decided(table, filled)])
    (answer,) = TASK.read(table.unit.unit, {"edits": [sent], "set_aside": ["1"] * ("set_aside" in filled)}, kept={})
    comments = [(place.span, filled.get(f"comment {place.name}", "")) for place in table.places]
    remarks: list[Json] = [
        {"start": span.start, "end": span.end, "comment": comment} for span, comment in comments if comment
    ]
    return (replace(answer, payload={**answer.payload, REMARKS: remarks}) if remarks else answer,)


api = calls_about("adjudication", ADJUDICATORS)

Show = Literal["undecided", "differ", "decided"]


class Opinion(Shape):
    """One annotator's edits at a place; none means that nothing is wrong there."""

    rater: str
    edits: list[EditShape]


class Difference(Shape):
    """A place of an essay, and in what annotators differ there, `same` where they do not."""

    start: int
    end: int
    kind: adjudication.Kind
    opinions: list[Opinion]


class Case(Shape):
    """A finished unit with the answers, under letters; `places` for an essay.

    A decision names the `version` and the answers (`made_from`) that it was made from.
    """

    unit_id: str
    job_id: str
    task: str
    shown: ShownShape
    sent: list[SentAnswers]
    places: list[Difference]
    version: int
    made_from: str
    decision: Decision | None


class NewDecision(Reply):
    """An answer as for a lease; `version` is the decision that this one was made from, 0 for none.

    `made_from` is that of the case; without it, or without a version, later changes are not noticed.
    """

    model_config = example(fields={"label": ["ok"]}, version=0, comment="The writer means the place.")
    version: int | None = Field(default=None, ge=0, le=LARGEST)
    made_from: str | None = Field(default=None, max_length=64)
    comment: str = Field(default="", max_length=adjudication.LONGEST_COMMENT)


@list_at(api, "/jobs/{job_id}/finished", "units", name="FinishedUnits")
def finished_units(
    tx: Reading, job_id: str, show: Show | None = None, start: Start = 0, most: Most = A_PAGE
) -> list[FinishedUnit]:
    """Finished units of a job, decided or not; those on which raters disagree first."""
    return list(adjudication.shown_by(finished(tx, jobs.get(tx, job_id)))[show or ""][start : start + most])


@api.get("/units/{unit_id}/decision")
def one_case(tx: Reading, unit_id: str) -> Case:
    """The answers to a finished unit side by side, and the decision, if there is one."""
    places: list[Difference] = []
    unit, shown, sent, decided = finished_unit(tx, unit_id)
    if unit.job.task == MARKING:
        table = table_of(tx, unit)
        places = [_place(table.text, place) for place in table.places]
    return Case(
        unit_id=unit_id,
        job_id=unit.job.job_id,
        task=unit.job.task,
        shown=ShownShape.of(shown),
        sent=[
            SentAnswers.of(answered).model_copy(update={"rater": adjudication.letter_of(number)})
            for number, answered in enumerate(sent)
        ],
        places=places,
        version=decided.version if decided else 0,
        made_from=adjudication.answers_mark([each.submission for each in sent]),
        decision=Decision.of(decided) if decided else None,
    )


@api.post("/units/{unit_id}/decision")
def decide(context: Context, tx: Changing, unit_id: str, sent: NewDecision) -> Decision:
    """Save the final answer, as the annotator `gold`; the originals stay.

    It is a conflict (409) if somebody has decided since this `version`, or a rater has revised an answer since
    `made_from`.
    """
    unit, shown, _, _ = finished_unit(tx, unit_id)
    answers = TASKS[unit.job.task].read(unit.unit, sent.as_fields(), kept=shown.kept)
    made = adjudication.save(
        tx,
        unit_id=unit_id,
        person_id=context.person_id,
        answers=answers,
        version=sent.version,
        comment=sent.comment,
        made_from=sent.made_from,
    )
    return Decision.of(made)


def _place(text: str, place: Place) -> Difference:
    opinions = [
        Opinion(
            rater=opinion.rater, edits=[EditShape.model_validate(sent_edit(text, edit)) for edit in opinion.edits]
        )
        for opinion in place.opinions
    ]
    return Difference(start=place.span.start, end=place.span.end, kind=place.kind, opinions=opinions)
