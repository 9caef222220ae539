"""Mining by the pages and the API, while somebody waits: few essays, counts in the model that comes with grater."""

from __future__ import annotations

from dataclasses import replace

from grater.annotate.store import essays
from grater.annotate.store.jobs import Job
from grater.annotate.study.mining import add_list, balanced_job, mine_study
from grater.annotate.web.context import RequestContext
from grater.annotate.web.uploads import received, sent_files
from grater.detect.mining.review import Balanced
from grater.detect.mining.sources import SHIPPED, counts_in_shipped_model
from grater.errors import BadInput, Problem, UsageError
from grater.tables import read_items

MOST_ESSAYS = 2000
"""Essays that a request mines; for more there is the command."""


def mine_now(context: RequestContext, name: str, *, most: int) -> Job:
    """A list of the `most` worst suspects."""
    store, actor = context.store, context.person.person_id
    with store.read() as tx:
        n_essays = essays.count(tx)
    if n_essays > MOST_ESSAYS:
        raise UsageError(f"{n_essays:,} essays are too many to mine here; use grater study mine")
    return mine_study(store, name, counts_in_shipped_model, source=SHIPPED, most=most, actor=actor)


def take_list(context: RequestContext) -> Job:
    """The list that was sent with a form; its verdicts are those of whoever brings it."""
    n_sent = len(sent_files(context))
    if n_sent != 1:
        raise BadInput(Problem("form", f"files: expected one list, found {n_sent}"))
    with received(context) as (path,):
        table = replace(read_items(path), name=path.name)
        return add_list(context.store, context.text("name"), table, lambda _: context.person)


def build_now(context: RequestContext, job_id: str, name: str, **numbers: int) -> tuple[Job, Balanced]:
    """The balanced corpus of a list; `numbers` are those of `balanced_job`."""
    store, actor = context.store, context.person.person_id
    return balanced_job(store, job_id, name, counts_in_shipped_model, actor=actor, **numbers)
