"""Commands on results: adjudicate, review, evaluate, suggestions and report."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.annotate.store import Store, jobs
from grater.annotate.study import evaluation as study_evaluation
from grater.annotate.study.adjudication import Rule, Waiting, accept, decide, review, waiting
from grater.annotate.study.marks import study_suggestions
from grater.annotate.study.reporting import study_inputs
from grater.annotate.study.status import open_study
from grater.annotate.tables import Counting, judged_by_programs
from grater.cli.command import (
    Author,
    ConfidenceApart,
    ContextFlags,
    DropFlags,
    Earlier,
    ErrorsByFlag,
    FigureTypes,
    HeadlineFile,
    Json,
    Population,
    Redundancy,
    Resamples,
    Seed,
    TruthName,
    entries,
    file_types,
    print_json,
    say,
    show,
    warn,
)
from grater.cli.report import save_asked
from grater.cli.study import StudyName
from grater.errors import UsageError
from grater.measure.evaluation.sampled.results import Sampled
from grater.reporting.versions import told_versions
from grater.sheet import counted
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.intervals import RESAMPLES

StudyConfidence: TypeAlias = Annotated[
    float | None,
    typer.Option("--min-confidence", metavar="NUMBER", help="Ignore less confident judgments: low is 0, high is 1."),
]

adjudicate_app = typer.Typer()


@adjudicate_app.command()
def adjudicate(
    study: StudyName,
    table: Annotated[
        Path | None, typer.Argument(metavar="[TABLE]", help="Table of decisions, columns item and label.")
    ] = None,
    job: Annotated[str, typer.Option(help="The job to decide in.")] = "",
    rule: Annotated[
        Rule | None, typer.Option("--accept", help="Accept the answer of all raters, or of more than half.")
    ] = None,
    decider: Annotated[str | None, typer.Option("--as", help="Who decides; default: the only owner.")] = None,
    as_json: Json = False,
) -> None:
    """List undecided units; with a table or --accept, decide them. Decisions are stored as the annotator `gold`."""
    if not job or (table is not None and rule is not None):
        raise UsageError("expected --job NAME, and a table or --accept but not both")
    with open_study(study) as store:
        n_decided = _decided(store, job, table, rule, decider)
        with store.read() as tx:
            undecided = waiting(tx, jobs.named(tx, job))
    if as_json:
        print_json({"decided": n_decided, "waiting": [each.to_dict() for each in undecided]})
        return
    for each in undecided:
        typer.echo(_line(each))
    n_differ = sum(each.differs for each in undecided)
    say(f"{counted(n_decided, 'unit')} decided; {len(undecided):,} left, raters differ on {n_differ:,}")


def _decided(store: Store, job: str, table: Path | None, rule: Rule | None, decider: str | None) -> int:
    if table is not None:
        return decide(store, job, table, decider=decider)
    return accept(store, job, rule, decider=decider) if rule is not None else 0


def _line(unit: Waiting) -> str:
    lines = []
    for item_id, said in unit.answers.items():
        counts = Counter(answer.label for answer in said).most_common()
        lines.append(f"{item_id}  {', '.join(f'{label} {n}' for label, n in counts)}")
    return "\n".join(lines)


review_app = typer.Typer()


@review_app.command()
def review_marks(
    study: StudyName,
    job: Annotated[str, typer.Option(help="The marking job to check.")] = "marking",
    as_json: Json = False,
) -> None:
    """Run `corpus check` on a job's marks and return the findings to their annotators."""
    with open_study(study) as store:
        n_new = review(store, job)
    if as_json:
        print_json({"job": job, "findings": n_new})
    else:
        say(f"{job}: {counted(n_new, 'new finding')} for its annotators; they see them on their own page")


evaluate_app = typer.Typer()


@evaluate_app.command()
def evaluate_study(
    study: StudyName,
    job: Annotated[list[str], typer.Option(metavar="NAME", help="Only judgments of these jobs.")] = [],  # noqa: B006
    kind: Annotated[str, typer.Option(help="Only items of this kind, such as prep.")] = "",
    sample: Annotated[str, typer.Option(metavar="NAME", help="Estimate for the whole corpus from this sample.")] = "",
    truth: TruthName = "majority",
    redundancy: Redundancy = None,
    with_programs: Annotated[bool, typer.Option("--with-programs", help="Also count the votes of programs.")] = False,
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: StudyConfidence = None,
    contexts: ContextFlags = "",
    confidence_apart: ConfidenceApart = None,
    assist: Annotated[
        str,
        typer.Option(metavar="PROGRAM", help="With --sample: a program that judged every item, as a cheap judge."),
    ] = "",
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Also show scores corrected for raters' errors on gold.")
    ] = False,
    errors_by_flag: ErrorsByFlag = False,
    population: Population = "wider",
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score every system: precision, recall and F on the judged items, or for the whole corpus with --sample."""
    counting = Counting(tuple(entries(drop_flags)), min_confidence)
    with open_study(study) as store, store.read() as tx:
        programs = {} if with_programs else judged_by_programs(tx, job_names=job)
        for program, n_judged in programs.items():
            say(f"{program}, a program: {counted(n_judged, 'judgment')} not counted; --with-programs counts them")
        result = study_evaluation.evaluate_study(
            tx,
            study,
            job_names=job,
            kind=kind,
            sample=sample,
            truth=truth,
            redundancy=redundancy,
            with_programs=with_programs,
            scheme=study_evaluation.Scheme(counting, tuple(entries([contexts])), confidence_apart),
            population=population,
            assist=assist,
            corrected=corrected,
            errors_by_flag=errors_by_flag,
            chance=Chance(n_resamples=resamples, seed=seed),
        )
    warn(result.all_warnings if isinstance(result, Sampled) else result.warnings)
    show(result, as_json=as_json)


suggestions_app = typer.Typer()


@suggestions_app.command()
def suggestions(
    study: StudyName,
    job: Annotated[list[str], typer.Option(metavar="NAME", help="Only judgments of these jobs.")] = [],  # noqa: B006
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure the effect of a system's suggestions on marking: agreement and scores with and without, and bias."""
    with open_study(study) as store, store.read() as tx:
        result = study_suggestions(tx, job_names=job, chance=Chance(n_resamples=resamples, seed=seed))
    show(result, as_json=as_json)


report_app = typer.Typer()


@report_app.command()
def write_report(
    study: StudyName,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder for the report; default: report.")
    ] = None,
    title: Annotated[str, typer.Option(help="The title; default: the study's name.")] = "",
    job: Annotated[list[str], typer.Option(metavar="NAME", help="Only judgments of these jobs.")] = [],  # noqa: B006
    kind: Annotated[str, typer.Option(help="Only items of this kind, such as prep.")] = "",
    names: Annotated[bool, typer.Option("--names", help="Name raters instead of using pseudonyms.")] = False,
    author: Author = "",
    earlier: Earlier = [],  # noqa: B006
    headline: HeadlineFile = None,
    drop_flags: DropFlags = [],  # noqa: B006
    min_confidence: StudyConfidence = None,
    figures: FigureTypes = [],  # noqa: B006
    resamples: Resamples = RESAMPLES,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Write the report: an HTML page that works offline, Markdown, LaTeX tables, every figure."""
    wanted = file_types(figures)
    counting = Counting(tuple(entries(drop_flags)), min_confidence)
    with open_study(study) as store, store.read() as tx:
        inputs = study_inputs(
            tx,
            title=title,
            author=author,
            job_names=job,
            kind=kind,
            counting=counting,
            earlier=told_versions(earlier),
            chance=Chance(n_resamples=resamples, seed=seed),
            names=names,
        )
    save_asked(inputs, out or (None if headline else Path("report")), headline, wanted, as_json=as_json)
