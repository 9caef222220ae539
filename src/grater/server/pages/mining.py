"""Mined suspects, accepted or rejected one by one: one key or one button each (Madnani et al. 2011, section 2.1).

Managers mine the study's essays or bring a list that `grater mine extraneous` wrote, and build the balanced corpus;
whoever may adjudicate decides.  A decision is made from the version that the page showed: two people at one suspect
do not overwrite each other unseen.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi import APIRouter
from starlette.datastructures import UploadFile
from starlette.responses import Response

from grater.detect.mining.balanced import N_EACH, N_GOLD
from grater.detect.mining.mined import Counter
from grater.detect.mining.ranking import MOST
from grater.detect.mining.sources import counts_in_model_file
from grater.detect.mining.verdicts import NO, OPEN, YES
from grater.errors import BadInput, GraterError, NotFound, Problem, StoreBusy, StoreFull, UsageError
from grater.models import shipped
from grater.server.downloads import csv_file
from grater.server.numbers import number_of, version_of
from grater.server.pages.manage_import import without_folder
from grater.server.pages.manage_new_job import LONGEST_NAME, MOST_JUDGMENTS
from grater.server.problems import lines_of
from grater.server.security.roles import MANAGERS
from grater.server.uploads import unpack
from grater.server.visit import Visit, Visiting
from grater.store import Store, essays
from grater.store.jobs import Job
from grater.study.balancing import balanced_job
from grater.study.mining import (
    TASK,
    Verdict,
    add_list,
    all_of,
    decide,
    examples,
    far,
    lists,
    mine_study,
    the_list,
    verdict_table,
)
from grater.study.planning import JobPlan
from grater.tables import read_items

router = APIRouter()

SOURCE = "prep-lm"
MOST_ESSAYS = 2000
"""Essays that a page mines while somebody waits; for more there is the command."""
A_PAGE = 100
SHOWN = {"open": OPEN, "accepted": YES, "rejected": NO}


@router.get("/mining")
def lists_page(visit: Visiting) -> Response:
    return _lists(visit, problems=[])


@router.post("/mining")
def new_list(visit: Visiting) -> Response:
    """Mine the essays, or take the list that was sent."""
    try:
        job = made_list(visit)
    except (StoreBusy, StoreFull):
        raise
    except GraterError as error:
        return _lists(visit, problems=lines_of(error))
    return visit.go(f"/mining/{job.job_id}")


@router.get("/mining/{job_id}")
def list_page(visit: Visiting, job_id: str, page: int = 1, show: str = "") -> Response:
    return _list(visit, job_id, page=page, show=show, problems=[], told="")


@router.get("/mining/{job_id}/verdicts.csv")
def verdict_file(visit: Visiting, job_id: str) -> Response:
    """The list with its verdicts, as `grater mine extraneous --verdicts` reads it."""
    with visit.server.store.read() as tx:
        the_list(tx, job_id)
        return csv_file(verdict_table(tx, job_id), "verdicts.csv")


@router.post("/mining/{job_id}/balanced")
def balanced(visit: Visiting, job_id: str) -> Response:
    """The balanced corpus as a job, not open yet."""
    try:
        plan = JobPlan(
            name_of(visit),
            TASK,
            number_of(visit, "judgments", 3, most=MOST_JUDGMENTS),
            seed=number_of(visit, "seed", 0, least=0, most=2**31),
            is_open=False,
        )
        numbers = {
            "n_each": number_of(visit, "n_each", N_EACH, most=MOST),
            "n_gold": number_of(visit, "n_gold", N_GOLD, least=0, most=MOST),
        }
        store, actor = visit.server.store, visit.person.person_id
        job, made = balanced_job(store, job_id, plan, shipped_counts(), actor=actor, **numbers)
    except (StoreBusy, StoreFull, NotFound):
        raise
    except GraterError as error:
        return _list(visit, job_id, page=1, show="", problems=lines_of(error), told="")
    counts = f"{made.n_errors} errors, {made.n_correct} correct uses, {len(made.gold())} of them gold"
    told = [f"{job.name}: {counts}; {made.n_duplicates} duplicates left out.", *made.shortfalls]
    return _list(visit, job_id, page=1, show="", problems=[], told=" ".join(told), built=job)


@router.get("/mining/{job_id}/{place}")
def suspect_page(visit: Visiting, job_id: str, place: int, after: int = 0) -> Response:
    """One suspect; `after` is the place of the one just decided, which can be taken back from here."""
    with visit.server.store.read() as tx:
        job, found = the_list(tx, job_id), all_of(tx, job_id)
        each = _at(found, place)
        shown = examples(tx, each)
    last = _at(found, after) if 0 < after <= len(found) else None
    values = {"job": job, "each": each, "shown": shown, "far": far(found), "last": last, "n": len(found)}
    return visit.page("mining_suspect.html", values, next_open=_next_open(found, place))


@router.post("/mining/{job_id}/{place}")
def decided(visit: Visiting, job_id: str, place: int) -> Response:
    """Accept, reject or take back, then on to the next that is open; the same one again if it was taken back."""
    known = version_of(visit.text("version"))
    with visit.server.store.write() as tx:
        the_list(tx, job_id)
        found = all_of(tx, job_id)
        verdict = decide(tx, _at(found, place), visit.text("verdict"), visit.person, version=known)
    if verdict == OPEN:
        return visit.go(f"/mining/{job_id}/{place}")
    following = _next_open(found, place)
    return visit.go(f"/mining/{job_id}/{following}?after={place}" if following else f"/mining/{job_id}")


def made_list(visit: Visit) -> Job:
    """The list that a filled form asks for."""
    name = name_of(visit)
    uploads = [each for each in visit.form.getlist("files") if isinstance(each, UploadFile) and each.filename]
    if uploads:
        return _uploaded(visit, name, uploads)
    require_few(visit.server.store)
    most = number_of(visit, "most", MOST, most=MOST)
    actor = visit.person.person_id
    return mine_study(visit.server.store, name, shipped_counts(), source=SOURCE, most=most, actor=actor)


def require_few(store: Store) -> None:
    with store.read() as tx:
        n_essays = essays.count(tx)
    if n_essays > MOST_ESSAYS:
        raise UsageError(f"{n_essays:,} essays are many to wait for: mine them with grater study mine")


def shipped_counts() -> Counter:
    """Rough counts from the language model that comes with grater."""
    return partial(counts_in_model_file, shipped(SOURCE))


def name_of(visit: Visit) -> str:
    name = visit.text("name")
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(Problem("form", f"name: expected 1 to {LONGEST_NAME} letters, found {len(name)}"))
    return name


def _uploaded(visit: Visit, name: str, uploads: list[UploadFile]) -> Job:
    """A list that was sent; messages name the file, not our folder."""
    if len(uploads) != 1:
        raise BadInput(Problem("form", f"files: expected one list, found {len(uploads)}"))
    with TemporaryDirectory(prefix="grater-mining-") as folder:
        most = visit.server.settings.most_unpacked_bytes
        sent = [(str(each.filename), each.file) for each in uploads]
        try:
            (path,) = unpack(sent, Path(folder), most_bytes=most)
            table = replace(read_items(path), name=path.name)
            return add_list(visit.server.store, name, table, lambda _: visit.person)
        except GraterError as error:
            raise without_folder(Path(folder), error) from error


def _at(found: list[Verdict], place: int) -> Verdict:
    if not 0 < place <= len(found):
        raise NotFound(f"there is no suspect {place} in this list of {len(found)}")
    return found[place - 1]


def _next_open(found: list[Verdict], place: int) -> int:
    """The next open suspect after a place, from the start again after the end; 0 where none is open."""
    order = [*found[place:], *found[: place - 1]]
    return next((each.listed.place for each in order if each.verdict == OPEN), 0)


def _lists(visit: Visit, *, problems: list[str]) -> Response:
    with visit.server.store.read() as tx:
        found = [(job, far(all_of(tx, job.job_id))) for job in lists(tx)]
        n_essays = essays.count(tx)
    values = {"found": found, "n_essays": n_essays, "may_make": visit.role in MANAGERS, "most": MOST}
    return visit.page("mining.html", values, status=422 if problems else 200, problems=problems)


def _list(
    visit: Visit, job_id: str, *, page: int, show: str, problems: list[str], told: str, built: Job | None = None
) -> Response:
    with visit.server.store.read() as tx:
        job, found = the_list(tx, job_id), all_of(tx, job_id)
    wanted = [each for each in found if show not in SHOWN or each.verdict == SHOWN[show]]
    n_pages = max(1, -(-len(wanted) // A_PAGE))
    page = max(1, min(page, n_pages))
    rows = wanted[(page - 1) * A_PAGE : page * A_PAGE]
    values = {"job": job, "rows": rows, "far": far(found), "page": page, "n_pages": n_pages, "show": show}
    more = {"first_open": _next_open(found, 0), "may_make": visit.role in MANAGERS, "built": built, "told": told}
    sizes = {"n_each": N_EACH, "n_gold": N_GOLD}
    return visit.page(
        "mining_list.html", {**values, **more, **sizes}, status=422 if problems else 200, problems=problems
    )
