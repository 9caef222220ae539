"""Mined suspects, accepted or rejected one by one: one key or one button each (Madnani et al. 2011, section 2.1).

Managers mine the study's essays or bring a list that `grater lab mine` wrote, and build the balanced corpus;
adjudicators and managers decide.  A decision is made from the version that the page showed: two people at one suspect
do not overwrite each other unseen.  Mining here is for few essays, while somebody waits, with the counts of the model
that comes with grater.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field
from starlette.responses import Response

from grater.annotate import content, jobs, mining
from grater.annotate.web.calls import (
    Body,
    Job,
    Number,
    Shape,
    by_form,
    calls_about,
    example,
    list_at,
    page_at,
)
from grater.annotate.web.context import Changing, Context, Reading, RequestContext, Routes, number_of, version_of
from grater.annotate.web.rendering import csv_file, pager
from grater.annotate.web.security import ADJUDICATORS, MANAGERS
from grater.annotate.web.uploads import received, sent_files
from grater.detect.mining import review
from grater.detect.mining.ranking import MOST, SHIPPED, counts_in_shipped_model
from grater.detect.mining.review import N_EACH, N_GOLD, NO, OPEN, YES
from grater.errors import BadInput, Problem, UsageError
from grater.tables import read_items

of_managers = Routes(MANAGERS)
pages = Routes(ADJUDICATORS)

A_PAGE = 100
SHOWN = {"open": OPEN, "accepted": YES, "rejected": NO}


@pages.get("/mining/{job_id}/verdicts.csv")
def verdict_file(tx: Reading, job_id: str) -> Response:
    """The list with its verdicts, as `grater lab mine --verdicts` reads it."""
    mining.the_list(tx, job_id)
    return csv_file(mining.verdict_table(tx, job_id), "verdicts.csv")


@page_at(pages, "/mining")
def _lists(context: RequestContext, tx: Reading) -> Response:
    rows = [(job, mining.far(tx, job.job_id)) for job in mining.lists(tx)]
    n_essays = content.n_essays(tx)
    values = {"rows": rows, "n_essays": n_essays, "may_make": context.role in MANAGERS, "most": MOST}
    return context.page("mining.html", values)


@page_at(pages, "/mining/{job_id}")
def _list(
    context: RequestContext,
    tx: Reading,
    job_id: str,
    *,
    built: jobs.Job | None = None,
    done: Sequence[str] = (),
) -> Response:
    job, reviewed = mining.the_list(tx, job_id), mining.far(tx, job_id)
    show, page = context.asked("show"), number_of(context, "page", 1)
    here = pager(getattr(reviewed, show) if show in SHOWN else reviewed.all, page, size=A_PAGE)
    rows = mining.all_of(tx, job_id, SHOWN.get(show), start=here.start, most=here.size)
    first_open = mining.next_open(tx, job_id, 0)
    values = {"job": job, "rows": rows, "far": reviewed, "pager": here, "show": show, "first_open": first_open}
    form = {"may_make": context.role in MANAGERS, "n_each": N_EACH, "n_gold": N_GOLD, "judgments": mining.JUDGMENTS}
    after = {"built": built, "done": done}
    return context.page("mining_list.html", {**values, **form, **after})


@by_form(of_managers, "/mining", refused=_lists)
def new_list_form(context: RequestContext) -> Response:
    """Mine the essays, or take the list that was sent."""
    job = _take_list(context) if sent_files(context) else _mine(context, context.sent(mining.NewList))
    return context.go(f"/mining/{job.job_id}")


@by_form(of_managers, "/mining/{job_id}/balanced", refused=_list)
def balanced_form(context: RequestContext, job_id: str) -> Response:
    job, made = _build(context, job_id, context.sent(mining.NewBalanced))
    return _list(context, job_id, built=job, done=made.lines(job.name))


@pages.get("/mining/{job_id}/{place}")
def suspect_page(context: Context, tx: Reading, job_id: str, place: int, after: int = 0) -> Response:
    """One suspect; `after` is the place of the one just decided, which can be withdrawn from here."""
    job, each = mining.the_list(tx, job_id), mining.the_suspect(tx, job_id, place)
    values = {"job": job, "each": each, "last": mining.find(tx, job_id, after)}
    more = {
        "shown": mining.examples(tx, each),
        "far": mining.far(tx, job_id),
        "next_open": mining.next_open(tx, job_id, place),
    }
    return context.page("mining_suspect.html", {**values, **more})


@pages.post("/mining/{job_id}/{place}")
def decided(context: Context, tx: Changing, job_id: str, place: int) -> Response:
    """Accept, reject or withdraw, then on to the next that is open; the same one again if it was withdrawn."""
    known = version_of(context.text("version"))
    mining.the_list(tx, job_id)
    each = mining.the_suspect(tx, job_id, place)
    verdict = mining.decide(tx, each, context.text("verdict"), context.person, version=known)
    following = mining.next_open(tx, job_id, place)
    if verdict == OPEN:
        return context.go(f"/mining/{job_id}/{place}")
    return context.go(f"/mining/{job_id}/{following}?after={place}" if following else f"/mining/{job_id}")


MOST_ESSAYS = 2000
"""Essays that a request mines; for more there is the command."""


def _mine(context: RequestContext, sent: mining.NewList) -> jobs.Job:
    with context.server.store.read() as tx:
        n_essays = content.n_essays(tx)
    if n_essays > MOST_ESSAYS:
        raise UsageError(f"{n_essays:,} essays are too many to mine here; use grater lab mine --study")
    actor = context.person_id
    return mining.mine_study(context.store, sent, counts_in_shipped_model, source=SHIPPED, actor=actor)


def _take_list(context: RequestContext) -> jobs.Job:
    """The list that was sent with a form; its verdicts are those of the person who brings it."""
    n_sent = len(sent_files(context))
    if n_sent != 1:
        raise BadInput(Problem("form", f"files: expected one list, found {n_sent}"))
    with received(context) as (path,):
        table = replace(read_items(path), name=path.name)
        return mining.add_list(context.store, context.text("name"), table, lambda _: context.person)


def _build(context: RequestContext, job_id: str, sent: mining.NewBalanced) -> tuple[jobs.Job, review.Balanced]:
    return mining.balanced_job(context.store, job_id, sent, counts_in_shipped_model, actor=context.person_id)


api = calls_about("mining", ADJUDICATORS)
making = calls_about("mining", MANAGERS)


class Verdicts(Body):
    """`y` (one too many), `n` (it is not) or nothing (withdraw) by trigram; all of them are stored, or none."""

    model_config = example(verdicts={"discussed about the": "y", "marry with her": "n"})
    verdicts: Annotated[dict[str, Literal["y", "n", ""]], Field(max_length=MOST)]


class Far(Shape):
    """The numbers of suspects accepted, rejected and open."""

    accepted: int
    rejected: int
    open: int


class Listed(Job, Far):
    """A mined list and its progress."""


class Suspect(Shape):
    """How often the `trigram` is found, and the `bigram` without its preposition; `by` gave the `verdict`."""

    unit: str
    trigram: str
    bigram: str
    n_trigram: Number
    n_bigram: Number
    expected: Number
    score: Number
    uses: int
    verdict: Literal["y", "n", ""]
    by: str | None
    version: int


class MinedList(Listed):
    suspects: list[Suspect]


class Balanced(Job):
    """`shortfalls` say what there was too little of."""

    errors: int
    correct: int
    gold: int
    duplicates: int
    shortfalls: list[str]


FIELDS = {"name": {"type": "string"}, "files": {"type": "string", "format": "binary"}}
FORM = {"schema": {"type": "object", "required": list(FIELDS), "properties": FIELDS}}
FILE = {"requestBody": {"required": True, "content": {"multipart/form-data": FORM}}}


@list_at(api, "/mining", "lists")
def mined_lists(tx: Reading) -> list[Listed]:
    """The mined lists of the study and their progress."""
    rows = [{**Job.of(job).model_dump(), **mining.far(tx, job.job_id).to_dict()} for job in mining.lists(tx)]
    return [Listed.model_validate(row) for row in rows]


@making.post("/mining")
def new_list(context: Context, sent: mining.NewList) -> Job:
    """Mine the essays of the study with the language model that comes with grater."""
    return Job.of(_mine(context, sent))


@making.post("/mining/import", openapi_extra=FILE)
def bring_list(context: Context) -> Job:
    """Import a list from `grater lab mine`, as `multipart/form-data`."""
    return Job.of(_take_list(context))


@api.get("/mining/{job_id}")
def mined_list(tx: Reading, job_id: str) -> MinedList:
    """A mined list, most suspicious trigram first, with counts and verdicts."""
    job, suspects = mining.the_list(tx, job_id), [suspect.to_dict() for suspect in mining.all_of(tx, job_id)]
    fields = {**Job.of(job).model_dump(), **mining.far(tx, job_id).to_dict()}
    return MinedList.model_validate({**fields, "suspects": suspects})


@api.post("/mining/{job_id}/verdicts")
def say_verdicts(context: Context, tx: Changing, job_id: str, sent: Verdicts) -> Far:
    """Accept and reject trigrams of a list."""
    mining.the_list(tx, job_id)
    known = {suspect.trigram: suspect for suspect in mining.all_of(tx, job_id)}
    strange = next((trigram for trigram in sent.verdicts if trigram not in known), None)
    if strange is not None:
        raise BadInput(Problem("verdicts", f"expected trigrams of the list, found {strange[:80]!r}"))
    for trigram, verdict in sent.verdicts.items():
        mining.decide(tx, known[trigram], verdict, context.person)
    return Far.model_validate(mining.far(tx, job_id).to_dict())


@making.post("/mining/{job_id}/balanced")
def balanced(context: Context, job_id: str, sent: mining.NewBalanced) -> Balanced:
    """Build the balanced corpus of the accepted trigrams as a job with gold."""
    job, made = _build(context, job_id, sent)
    return Balanced.model_validate({**Job.of(job).model_dump(), **made.to_dict()})
