"""`grater study evaluate`: the systems of a study against its raters."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.evaluate_options import Redundancy, Resamples, TruthName
from grater.cli.options import Json, Seed
from grater.cli.output import show, warn
from grater.cli.study_option import StudyName
from grater.errors import UsageError
from grater.evaluate.evaluation import EvaluationOptions, evaluate
from grater.evaluate.sampled import sampled
from grater.statistics.bootstrap import Chance
from grater.statistics.intervals import RESAMPLES
from grater.store import decisions, open_store
from grater.study.samples import kind_of
from grater.study.tables import study_tables
from grater.tables import first_of_each

app = typer.Typer()


@app.command()
def results(
    study: StudyName,
    job: Annotated[list[str], typer.Option(metavar="NAME", help="Only judgments of these jobs.")] = [],  # noqa: B006
    kind: Annotated[str, typer.Option(help="Only items of this kind, as in prep.")] = "",
    sample: Annotated[str, typer.Option(metavar="NAME", help="Estimate for the whole corpus from this sample.")] = "",
    truth: TruthName = "majority",
    redundancy: Redundancy = None,
    with_programs: Annotated[bool, typer.Option("--with-programs", help="Let programs vote among people.")] = False,
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Precision, recall and F of every system: on the judged items, or, with --sample, for the whole corpus."""
    with open_store(study) as store, store.read() as tx:
        drawn = decisions.sample_named(tx, sample) if sample else None
        kind = kind_of(drawn) if drawn else kind
        tables = study_tables(tx, study, job_names=job, kind=kind, with_programs=with_programs)
    if tables.decisions is None or tables.judgments is None:
        missing = "decisions: run grater study decide" if tables.decisions is None else "judgments with verdicts"
        raise UsageError(f"{study}: the study has no {missing}")
    first = tables.redundancy if redundancy is None else redundancy
    if drawn is not None:
        judged = first_of_each(tables.judgments, first) if first and truth == "share" else tables.judgments
        estimates = sampled(tables.decisions, drawn, judged, truth=truth)
        warn(estimates.warnings)
        return show(estimates, as_json=as_json)
    gold = tables.gold if truth == "adjudicated" else None  # hidden gold is about other items than those judged
    options = EvaluationOptions(truth, chance=Chance(n_resamples=resamples, seed=seed), redundancy=first)
    found = evaluate(tables.decisions, tables.judgments, items=tables.items, gold=gold, options=options)
    warn(found.warnings)
    return show(found, as_json=as_json)
