"""`grater study mine`: mined lists of a study, their verdicts, and the balanced corpus built from them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.mine import Each, Gold, LeastBigram, Model, Most, Ratio, Text, Web1T, counter_of, source_of
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, pasted
from grater.detect.mining.ranking import MOST, RATIO
from grater.detect.mining.review import N_EACH, N_GOLD, Balanced
from grater.errors import UsageError
from grater.sheet import counted
from grater.store import Store, jobs, open_store
from grater.store.jobs import Job
from grater.study.adjudication import decider_of
from grater.study.mining import JUDGMENTS, add_list, balanced_job, far, lists, mine_study, the_list, verdict_table
from grater.tables import read_items, write_table

app = typer.Typer()


@app.command()
def mine(
    study: StudyName,
    name: Annotated[str, typer.Option(help="What the list is called.")] = "mined",
    given: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="A list of grater mine extraneous, instead of mining here."),
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the list with its verdicts; nothing is mined.")
    ] = None,
    balanced: Annotated[
        str, typer.Option(metavar="JOB", help="Build the balanced corpus as a job of this name; nothing is mined.")
    ] = "",
    judgments: Annotated[
        int, typer.Option(min=1, metavar="N", help="For --balanced: judgments for each item.")
    ] = JUDGMENTS,
    n_each: Each = N_EACH,
    n_gold: Gold = N_GOLD,
    web1t: Web1T = None,
    text: Text = [],  # noqa: B006
    model: Model = None,
    least_bigram: LeastBigram = 1,
    ratio: Ratio = RATIO,
    most: Most = MOST,
    decider: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Whose the verdicts of --list are; the owner's if not.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Mine the essays of a study; people accept or reject each suspect on the page /mining."""
    if sum(map(bool, (given, verdicts, balanced))) > 1:
        raise UsageError("expected one of --list, --verdicts and --balanced")
    count = counter_of(web1t, text, model)
    with open_store(study) as store:
        if balanced:
            listed, sizes = _named(store, name).job_id, {"judgments": judgments, "n_each": n_each, "n_gold": n_gold}
            job, made = balanced_job(store, listed, balanced, count, seed=seed, actor=None, **sizes)
            _tell_built(study, job, made, as_json=as_json)
            return
        if given:
            add_list(store, name, read_items(given), lambda tx: decider_of(tx, decider))
        elif not verdicts and not _is_there(store, name):
            source = source_of(web1t, text, model)
            mine_study(store, name, count, source=source, most=most, least_bigram=least_bigram, ratio=ratio)
        job = _named(store, name)
        if verdicts:
            with store.read() as tx:
                write_table(verdict_table(tx, job.job_id), verdicts)
        _tell(store, study, job, as_json=as_json)


def _is_there(store: Store, name: str) -> bool:
    """Whether there is such a list already: the same step again changes nothing."""
    with store.read() as tx:
        return any(job.name == name for job in lists(tx))


def _named(store: Store, name: str) -> Job:
    with store.read() as tx:
        return the_list(tx, jobs.named(tx, name).job_id)


def _tell(store: Store, study: str, job: Job, *, as_json: bool) -> None:
    with store.read() as tx:
        found = far(tx, job.job_id)
    if as_json:
        print_json({"list": job.name, "job_id": job.job_id, **found.as_json()})
        return
    say(f"{job.name}: {counted(found.all, 'trigram')}: {found.words}")
    if found.open:
        say(f"  go through them with grater serve {pasted(study)}, on the page /mining/{job.job_id}")


def _tell_built(study: str, job: Job, made: Balanced, *, as_json: bool) -> None:
    if as_json:
        print_json({"job": job.name, **made.as_json()})
        return
    say("\n  ".join(made.lines(job.name)))
    say(f"  open it: grater study change {pasted(study)} --job {shlex.quote(job.name)} --state open")
