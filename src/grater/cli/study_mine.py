"""`grater study mine`: mined lists of a study, their verdicts, and the balanced corpus built from them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.mine_counts import LeastBigram, Model, Most, Ratio, Text, Web1T, counter_of, source_of
from grater.cli.options import Json, Seed
from grater.cli.output import counted, print_json, say
from grater.cli.study_option import StudyName, pasted
from grater.detect.mining.balanced import N_EACH, N_GOLD, Balanced
from grater.detect.mining.ranking import MOST, RATIO
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.store import Store, jobs, open_store
from grater.store.jobs import Job
from grater.study.adjudicating import decider_of
from grater.study.balancing import balanced_job
from grater.study.mining import TASK, add_list, all_of, far, lists, mine_study, the_list, verdict_table
from grater.study.planning import JobPlan
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
    judgments: Annotated[int, typer.Option(min=1, metavar="N", help="For --balanced: judgments for each item.")] = 3,
    n_each: Annotated[
        int, typer.Option("--n", min=1, metavar="N", help="For --balanced: errors, and as many correct uses.")
    ] = N_EACH,
    n_gold: Annotated[int, typer.Option(min=0, metavar="N", help="For --balanced: items that are gold.")] = N_GOLD,
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
            plan = JobPlan(balanced, TASK, judgments, seed=seed, is_open=False)
            job, made = balanced_job(store, _named(store, name).job_id, plan, count, n_each=n_each, n_gold=n_gold)
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
        found = far(all_of(tx, job.job_id))
    if as_json:
        print_json({"list": job.name, "job_id": job.job_id, **found.as_json()})
        return
    said = f"{found.accepted:,} accepted, {found.rejected:,} rejected, {found.open:,} to look at"
    say(f"{job.name}: {counted(found.all, 'trigram')}: {said}")
    if found.open:
        say(f"  go through them with grater serve {pasted(study)}, on the page /mining/{job.job_id}")


def _tell_built(study: str, job: Job, made: Balanced, *, as_json: bool) -> None:
    n_found = len(made.gold())
    if as_json:
        numbers: dict[str, JsonValue] = {"errors": made.n_errors, "correct": made.n_correct, "gold": n_found}
        short: list[JsonValue] = [*made.shortfalls]
        print_json({"job": job.name, **numbers, "duplicates": made.n_duplicates, "shortfalls": short})
        return
    counts = f"{counted(made.n_errors, 'error')}, {counted(made.n_correct, 'correct use')}, {n_found:,} of them gold"
    say(f"{job.name}: {counts}; {counted(made.n_duplicates, 'duplicate')} left out")
    for line in made.shortfalls:
        say(f"  {line}")
    say(f"  open it: grater study change {pasted(study)} --job {shlex.quote(job.name)} --state open")
