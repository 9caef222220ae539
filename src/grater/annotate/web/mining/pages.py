"""Mined suspects, accepted or rejected one by one: one key or one button each (Madnani et al. 2011, section 2.1).

Managers mine the study's essays or bring a list that `grater mine extraneous` wrote, and build the balanced corpus;
whoever may adjudicate decides.  A decision is made from the version that the page showed: two people at one suspect
do not overwrite each other unseen.
"""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from grater.annotate.store import essays
from grater.annotate.store.adjudications import next_open_suspect
from grater.annotate.store.jobs import Job
from grater.annotate.study.mining import (
    JUDGMENTS,
    decide,
    examples,
    far,
    find,
    lists,
    some_of,
    the_list,
    the_suspect,
    verdict_table,
)
from grater.annotate.web.context import Context, RequestContext, number_of, version_of
from grater.annotate.web.errors import lines_of
from grater.annotate.web.mining.lists import build_now, mine_now, take_list
from grater.annotate.web.rendering import csv_file, pager
from grater.annotate.web.roles import MANAGERS
from grater.annotate.web.uploads import sent_files
from grater.detect.mining.ranking import MOST
from grater.detect.mining.review import N_EACH, N_GOLD, NO, OPEN, YES
from grater.errors import GraterError, NotFound, StoreBusy, StoreFull

router = APIRouter()

A_PAGE = 100
SHOWN = {"open": OPEN, "accepted": YES, "rejected": NO}


@router.get("/mining")
def lists_page(context: Context) -> Response:
    return _lists(context, problems=[])


@router.post("/mining")
def new_list(context: Context) -> Response:
    """Mine the essays, or take the list that was sent."""
    try:
        if sent_files(context):
            job = take_list(context)
        else:
            job = mine_now(context, context.text("name"), most=number_of(context, "most", MOST))
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _lists(context, problems=lines_of(error))
    return context.go(f"/mining/{job.job_id}")


@router.get("/mining/{job_id}")
def list_page(context: Context, job_id: str, page: int = 1, show: str = "") -> Response:
    return _list(context, job_id, page=page, show=show)


@router.get("/mining/{job_id}/verdicts.csv")
def verdict_file(context: Context, job_id: str) -> Response:
    """The list with its verdicts, as `grater mine extraneous --verdicts` reads it."""
    with context.server.store.read() as tx:
        the_list(tx, job_id)
        return csv_file(verdict_table(tx, job_id), "verdicts.csv")


@router.post("/mining/{job_id}/balanced")
def balanced(context: Context, job_id: str) -> Response:
    """The balanced corpus as a job, not open yet."""
    try:
        numbers = {
            "judgments": number_of(context, "judgments", JUDGMENTS),
            "n_each": number_of(context, "n_each", N_EACH),
            "n_gold": number_of(context, "n_gold", N_GOLD),
            "seed": number_of(context, "seed", 0),
        }
        job, made = build_now(context, job_id, context.text("name"), **numbers)
    except (StoreBusy, StoreFull, NotFound):
        raise
    except GraterError as error:
        return _list(context, job_id, problems=lines_of(error))
    return _list(context, job_id, built=job, told=made.lines(job.name))


@router.get("/mining/{job_id}/{place}")
def suspect_page(context: Context, job_id: str, place: int, after: int = 0) -> Response:
    """One suspect; `after` is the place of the one just decided, which can be taken back from here."""
    with context.server.store.read() as tx:
        job, each = the_list(tx, job_id), the_suspect(tx, job_id, place)
        values = {"job": job, "each": each, "last": find(tx, job_id, after), "shown": examples(tx, each)}
        more = {"far": far(tx, job_id), "next_open": next_open_suspect(tx, job_id, place)}
    return context.page("mining_suspect.html", {**values, **more})


@router.post("/mining/{job_id}/{place}")
def decided(context: Context, job_id: str, place: int) -> Response:
    """Accept, reject or take back, then on to the next that is open; the same one again if it was taken back."""
    known = version_of(context.text("version"))
    with context.changing() as tx:
        the_list(tx, job_id)
        each = the_suspect(tx, job_id, place)
        verdict = decide(tx, each, context.text("verdict"), context.person, version=known)
        following = next_open_suspect(tx, job_id, place)
    if verdict == OPEN:
        return context.go(f"/mining/{job_id}/{place}")
    return context.go(f"/mining/{job_id}/{following}?after={place}" if following else f"/mining/{job_id}")


def _lists(context: RequestContext, *, problems: list[str]) -> Response:
    with context.server.store.read() as tx:
        rows = [(job, far(tx, job.job_id)) for job in lists(tx)]
        n_essays = essays.count(tx)
    values = {"rows": rows, "n_essays": n_essays, "may_make": context.role in MANAGERS, "most": MOST}
    return context.page("mining.html", values, status=422 if problems else 200, problems=problems)


def _list(
    context: RequestContext,
    job_id: str,
    *,
    page: int = 1,
    show: str = "",
    problems: list[str] | None = None,
    built: Job | None = None,
    told: list[str] | None = None,
) -> Response:
    with context.server.store.read() as tx:
        job, reviewed = the_list(tx, job_id), far(tx, job_id)
        here = pager(reviewed.to_dict().get(show, reviewed.all), page, size=A_PAGE)
        rows = some_of(tx, job_id, SHOWN.get(show), start=here.start, most=here.size)
        first_open = next_open_suspect(tx, job_id, 0)
    values = {"job": job, "rows": rows, "far": reviewed, "pager": here, "show": show, "first_open": first_open}
    form = {"may_make": context.role in MANAGERS, "n_each": N_EACH, "n_gold": N_GOLD, "judgments": JUDGMENTS}
    said = {"problems": problems or [], "built": built, "told": told or []}
    return context.page("mining_list.html", {**values, **form, **said}, status=422 if problems else 200)
