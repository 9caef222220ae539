"""`grater simulate`: judgments of raters whose skill is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grater.cli.judgment_options import entries
from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_outputs, say
from grater.crowd.simulate import Crowd
from grater.crowd.simulate import simulate as simulate_crowd
from grater.errors import UsageError
from grater.rng import generator
from grater.sheet import counted
from grater.signature import Signature
from grater.tables import write_table

app = typer.Typer()

DEFAULT = Crowd()


def _share(text: str) -> object:
    return typer.Option(metavar="SHARE", help=text)


@app.command()
def simulate(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The judgments.")],
    items: Annotated[int, typer.Option("--n-items", help="How many items.")] = DEFAULT.n_items,
    raters: Annotated[int, typer.Option("--n-raters", help="How many raters.")] = DEFAULT.n_raters,
    judgments: Annotated[int, typer.Option("--judgments-per-item", help="Judgments of each item.")] = DEFAULT.n_each,
    labels: Annotated[str, typer.Option(metavar="LABEL,LABEL", help="The labels to choose from.")] = ",".join(
        DEFAULT.labels
    ),
    prevalence: Annotated[
        str, typer.Option(metavar="N,N", help="How frequent each label is; equal if not given.")
    ] = "",
    skill: Annotated[float, typer.Option(help="A skilled rater's mean chance of being right.")] = DEFAULT.skill,
    spread: Annotated[float, typer.Option(help="Its standard deviation.")] = DEFAULT.spread,
    spammers: Annotated[float, _share("Raters who say anything.")] = DEFAULT.spammers,
    biased: Annotated[float, _share("Raters who lean to a label.")] = DEFAULT.biased,
    lazy: Annotated[float, _share("Raters who nearly always say the same.")] = DEFAULT.lazy,
    turning: Annotated[float, _share("Raters who turn into spammers half-way.")] = DEFAULT.turning,
    difficulty: Annotated[float, typer.Option(help="Mean share of blind guesses on an item.")] = DEFAULT.difficulty,
    truth: Annotated[
        Path | None, typer.Option("--true-labels-out", metavar="FILE", help="Write the true labels too.")
    ] = None,
    skills: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the raters' kinds and skills too.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Judgments of raters of known skill, for planning and for trying things out."""
    require_outputs([out, truth, skills], [])
    crowd = Crowd(
        n_items=items,
        n_raters=raters,
        n_each=judgments,
        labels=tuple(entries([labels])),
        prevalence=_numbers(prevalence),
        skill=skill,
        spread=spread,
        spammers=spammers,
        biased=biased,
        lazy=lazy,
        turning=turning,
        difficulty=difficulty,
    )
    simulated = simulate_crowd(crowd, rng=generator(seed, "simulate"))
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
