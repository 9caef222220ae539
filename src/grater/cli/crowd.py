"""`grater aggregate`, `grater raters` and `grater simulate`: joint answers, raters, and crowds of known skill."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.api import simulate as simulate_crowd
from grater.cli.command import (
    Json,
    Reading,
    Seed,
    Table,
    entries,
    print_json,
    require_outputs,
    say,
    show,
    takes_options,
)
from grater.errors import UsageError
from grater.measure.crowd.aggregate import METHODS, Options
from grater.measure.crowd.aggregate import aggregate as aggregate_judgments
from grater.measure.crowd.raters import raters as rate_raters
from grater.measure.crowd.simulate import Crowd
from grater.sheet import counted
from grater.signature import Signature
from grater.tables import parse_columns, read_gold, write_table

aggregate_app = typer.Typer()

GoldColumns = Annotated[
    list[str],
    typer.Option(
        "--gold-columns", metavar="OURS=THEIRS", help="Rename a column of the table of known answers; repeatable."
    ),
]

raters_app = typer.Typer()

simulate_app = typer.Typer()

DEFAULT = Crowd()


@aggregate_app.command()
@takes_options
def aggregate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table of judgments.")],
    method: Annotated[str, typer.Option(metavar="NAME", help=f"Method: {METHODS.listed()}.")] = "dawid-skene",
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Items with known answers, held fixed.")] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--true-labels", metavar="FILE", help="True labels; reports how often the answers are right."),
    ] = None,
    iterations: Annotated[int, typer.Option(help="Maximum iterations.")] = Options().iterations,
    tolerance: Annotated[
        float, typer.Option(help="Stop when the log-likelihood gains less than this per judgment.")
    ] = Options().tolerance,
    restarts: Annotated[int, typer.Option(help="Random starts of MACE.")] = Options().restarts,
    gold_columns: GoldColumns = [],  # noqa: B006
    *,
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the answers: item, label and posteriors.")
    ] = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Aggregate judgments: an answer with its posterior for each item, and the skill of each rater."""
    require_outputs([out], [file, gold, truth])
    METHODS[method]  # an unknown name is answered before a long table is read
    options = Options(iterations=iterations, tolerance=tolerance, restarts=restarts, seed=seed)
    names = parse_columns(gold_columns)
    known = read_gold(gold, columns=names, duplicates=reading.duplicates) if gold else None
    right = read_gold(truth, columns=names, duplicates=reading.duplicates) if truth else None
    result = aggregate_judgments(reading.read(file), method, gold=known, truth=right, options=options)
    if not result.fit.has_converged:
        say(f"warning: {method} did not converge in {iterations} iterations; allow more with --iterations")
    for warning in result.warnings:
        say(f"warning: {warning}")
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)


@raters_app.command()
@takes_options
def raters(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A table of judgments.")],
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Items with known answers.")] = None,
    gold_columns: GoldColumns = [],  # noqa: B006
    *,
    reading: Reading,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows as a table.")] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Profile each rater: judgments, accuracy on gold, agreement with others, skill, speed, most frequent label."""
    require_outputs([out], [file, gold])
    known = read_gold(gold, columns=parse_columns(gold_columns), duplicates=reading.duplicates) if gold else None
    result = rate_raters(reading.read(file), gold=known)
    if out:
        write_table(result.to_frame(), out)
    show(result, table=table, as_json=as_json)


def _share(text: str) -> object:
    return typer.Option(metavar="SHARE", help=text)


@simulate_app.command()
def simulate(
    out: Annotated[Path, typer.Option(metavar="FILE", help="Write the judgments to this file.")],
    items: Annotated[int, typer.Option("--n-items", help="Number of items.")] = DEFAULT.n_items,
    raters: Annotated[int, typer.Option("--n-raters", help="Number of raters.")] = DEFAULT.n_raters,
    judgments: Annotated[int, typer.Option("--judgments-per-item", help="Judgments per item.")] = DEFAULT.n_each,
    labels: Annotated[str, typer.Option(metavar="LABEL,LABEL", help="The labels to choose from.")] = ",".join(
        DEFAULT.labels
    ),
    prevalence: Annotated[str, typer.Option(metavar="N,N", help="Frequency of each label; default: equal.")] = "",
    skill: Annotated[float, typer.Option(help="A skilled rater's mean chance of being right.")] = DEFAULT.skill,
    spread: Annotated[float, typer.Option(help="Standard deviation of --skill.")] = DEFAULT.spread,
    spammers: Annotated[float, _share("Share of raters who answer at random.")] = DEFAULT.spammers,
    biased: Annotated[float, _share("Share of raters who prefer one label.")] = DEFAULT.biased,
    lazy: Annotated[float, _share("Share of raters who nearly always give the same answer.")] = DEFAULT.lazy,
    turning: Annotated[float, _share("Share of raters who become spammers halfway through.")] = DEFAULT.turning,
    difficulty: Annotated[float, typer.Option(help="Mean share of guesses per item.")] = DEFAULT.difficulty,
    truth: Annotated[
        Path | None, typer.Option("--true-labels-out", metavar="FILE", help="Also write the true labels.")
    ] = None,
    skills: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the raters' kinds and skills.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate judgments by raters of known skill, for planning and testing."""
    require_outputs([out, truth, skills], [])
    simulated = simulate_crowd(
        n_items=items,
        n_raters=raters,
        judgments_per_item=judgments,
        labels=tuple(entries([labels])),
        prevalence=_numbers(prevalence),
        skill=skill,
        spread=spread,
        spammers=spammers,
        biased=biased,
        lazy=lazy,
        turning=turning,
        difficulty=difficulty,
        seed=seed,
    )
    write_table(simulated.judgments, out)
    if truth:
        write_table(simulated.truth, truth)
    if skills:
        write_table(simulated.raters, skills)
    if as_json:
        print_json({**simulated.to_dict(), "signature": str(Signature("simulate", {"seed": str(seed)}))})
    else:
        kinds = ", ".join(f"{n} {kind}" for kind, n in simulated.n_by_kind.items())
        n_judgments, n_items = counted(len(simulated.judgments), "judgment"), counted(len(simulated.truth), "item")
        say(f"{out}: {n_judgments} of {n_items} by {kinds}")


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(entry) for entry in entries([text]))
    except ValueError:
        raise UsageError(f"expected numbers for --prevalence, found {text!r}; as in 0.2,0.8") from None
