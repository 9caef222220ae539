"""Mined suspects by the API: mine, read the list, accept and reject, build the balanced corpus."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Shape

from grater.detect.mining.balanced import N_EACH, N_GOLD
from grater.detect.mining.ranking import MOST
from grater.errors import BadInput, Problem
from grater.server.api.shapes import Reply, job_json
from grater.server.api.study import Name
from grater.server.pages.manage_new_job import MOST_JUDGMENTS
from grater.server.pages.mining import SOURCE, require_few, shipped_counts
from grater.server.security.roles import API
from grater.server.visit import Visiting
from grater.study.balancing import balanced_job
from grater.study.mining import TASK, all_of, decide, far, mine_study, the_list
from grater.study.planning import JobPlan

router = APIRouter(prefix=API, tags=["mining"])


class NewList(BaseModel):
    """A list of the `most` worst suspects of the study's essays."""

    model_config = ConfigDict(extra="forbid")
    name: Name
    most: int = Shape(default=MOST, ge=1, le=MOST)


class Verdicts(BaseModel):
    """`y` (one too many), `n` (it is not) or nothing (take back) by trigram; all of them are stored, or none."""

    model_config = ConfigDict(extra="forbid")
    verdicts: Annotated[dict[str, Literal["y", "n", ""]], Shape(max_length=MOST)]


class NewBalanced(BaseModel):
    """A job of `n_each` errors and as many correct uses, `n_gold` of all as gold; not open yet."""

    model_config = ConfigDict(extra="forbid")
    name: Name
    judgments: int = Shape(default=3, ge=1, le=MOST_JUDGMENTS)
    n_each: int = Shape(default=N_EACH, ge=1, le=MOST)
    n_gold: int = Shape(default=N_GOLD, ge=0, le=MOST)
    seed: int = Shape(default=0, ge=0)


@router.post("/mining")
def new_list(visit: Visiting, sent: NewList) -> Reply:
    """Mine the essays of the study, counting in the language model that comes with grater."""
    store, actor = visit.server.store, visit.person.person_id
    require_few(store)
    return job_json(mine_study(store, sent.name, shipped_counts(), source=SOURCE, most=sent.most, actor=actor))


@router.get("/mining/{job_id}")
def mined_list(visit: Visiting, job_id: str) -> Reply:
    """A mined list, the most suspicious trigram first, with counts, verdicts and who gave them."""
    with visit.server.store.read() as tx:
        job, found = the_list(tx, job_id), all_of(tx, job_id)
    return {**job_json(job), **far(found).as_json(), "suspects": [each.as_json() for each in found]}


@router.post("/mining/{job_id}/verdicts")
def say_verdicts(visit: Visiting, job_id: str, sent: Verdicts) -> Reply:
    """Accept and reject trigrams of a list."""
    with visit.server.store.write() as tx:
        the_list(tx, job_id)
        known = {each.trigram: each for each in all_of(tx, job_id)}
        strange = next((trigram for trigram in sent.verdicts if trigram not in known), None)
        if strange is not None:
            raise BadInput(Problem("verdicts", f"expected trigrams of the list, found {strange[:80]!r}"))
        for trigram, verdict in sent.verdicts.items():
            decide(tx, known[trigram], verdict, visit.person)
        return far(all_of(tx, job_id)).as_json()


@router.post("/mining/{job_id}/balanced")
def balanced(visit: Visiting, job_id: str, sent: NewBalanced) -> Reply:
    """The balanced corpus of the accepted trigrams, as a job with gold."""
    plan = JobPlan(sent.name, TASK, sent.judgments, seed=sent.seed, is_open=False)
    store, actor = visit.server.store, visit.person.person_id
    numbers = {"n_each": sent.n_each, "n_gold": sent.n_gold}
    job, made = balanced_job(store, job_id, plan, shipped_counts(), actor=actor, **numbers)
    counts: Reply = {"errors": made.n_errors, "correct": made.n_correct, "gold": len(made.gold())}
    return {**job_json(job), **counts, "duplicates": made.n_duplicates, "shortfalls": made.shortfalls}
