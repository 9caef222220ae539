"""Mined suspects through the API: mine, read the list, accept and reject, build the balanced corpus."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grater.annotate.study.mining import JUDGMENTS, all_of, decide, far, lists, the_list
from grater.annotate.web.calls import Body, Job, Name, Number, Shape, calls_about, example, form_of, within
from grater.annotate.web.context import Context
from grater.annotate.web.mining.lists import build_now, mine_now, take_list
from grater.detect.mining.ranking import MOST
from grater.detect.mining.review import N_EACH, N_GOLD
from grater.errors import BadInput, Problem

router = calls_about("mining")


class NewList(Body):
    """A list of the `most` worst suspects of the study's essays."""

    model_config = example(name="suspects", most=50)
    name: Name
    most: Annotated[int, within("mining.most")] = MOST


class Verdicts(Body):
    """`y` (one too many), `n` (it is not) or nothing (take back) by trigram; all of them are stored, or none."""

    model_config = example(verdicts={"discussed about the": "y", "marry with her": "n"})
    verdicts: Annotated[dict[str, Literal["y", "n", ""]], Field(max_length=MOST)]


class NewBalanced(Body):
    """A job of `n_each` errors and as many correct uses, `n_gold` of all as gold; not open yet."""

    model_config = example(name="balanced", judgments=3, n_each=1, n_gold=0)
    name: Name
    judgments: Annotated[int, within("job.judgments")] = JUDGMENTS
    n_each: Annotated[int, within("mining.n_each")] = N_EACH
    n_gold: Annotated[int, within("mining.n_gold")] = N_GOLD
    seed: Annotated[int, within("seed")] = 0


class Far(Shape):
    """How many suspects are accepted, rejected, open."""

    accepted: int
    rejected: int
    open: int


class Listed(Job, Far):
    """A mined list and how far it is."""


class Lists(Shape):
    lists: list[Listed]


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


FILE = form_of("name", "files", name={"type": "string"}, files={"type": "string", "format": "binary"})


@router.get("/mining")
def mined_lists(context: Context) -> Lists:
    """The mined lists of the study and their progress."""
    with context.server.store.read() as tx:
        rows = [{**Job.of(job).model_dump(), **far(tx, job.job_id).to_dict()} for job in lists(tx)]
    return Lists(lists=[Listed.model_validate(row) for row in rows])


@router.post("/mining")
def new_list(context: Context, sent: NewList) -> Job:
    """Mine the essays of the study with the language model that comes with grater."""
    return Job.of(mine_now(context, sent.name, most=sent.most))


@router.post("/mining/import", openapi_extra=FILE)
def bring_list(context: Context) -> Job:
    """Import a list from `grater mine extraneous`, as `multipart/form-data`."""
    return Job.of(take_list(context))


@router.get("/mining/{job_id}")
def mined_list(context: Context, job_id: str) -> MinedList:
    """A mined list, most suspicious trigram first, with counts and verdicts."""
    with context.server.store.read() as tx:
        job, suspects = the_list(tx, job_id), [suspect.to_dict() for suspect in all_of(tx, job_id)]
        fields = {**Job.of(job).model_dump(), **far(tx, job_id).to_dict()}
    return MinedList.model_validate({**fields, "suspects": suspects})


@router.post("/mining/{job_id}/verdicts")
def say_verdicts(context: Context, job_id: str, sent: Verdicts) -> Far:
    """Accept and reject trigrams of a list."""
    with context.changing() as tx:
        the_list(tx, job_id)
        known = {suspect.trigram: suspect for suspect in all_of(tx, job_id)}
        strange = next((trigram for trigram in sent.verdicts if trigram not in known), None)
        if strange is not None:
            raise BadInput(Problem("verdicts", f"expected trigrams of the list, found {strange[:80]!r}"))
        for trigram, verdict in sent.verdicts.items():
            decide(tx, known[trigram], verdict, context.person)
        return Far.model_validate(far(tx, job_id).to_dict())


@router.post("/mining/{job_id}/balanced")
def balanced(context: Context, job_id: str, sent: NewBalanced) -> Balanced:
    """Build the balanced corpus of the accepted trigrams as a job with gold."""
    job, made = build_now(context, job_id, **sent.model_dump())
    return Balanced.model_validate({**Job.of(job).model_dump(), **made.to_dict()})
