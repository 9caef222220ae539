"""`grater sample`: which items to judge, drawn so that the next system can use them again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, require_outputs, say
from grater.cli.sample_rates import parse_rates, score_rates
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.sampling.draw import add_system, draw_sample, draws_of, to_judge
from grater.sampling.strata import Allocation
from grater.sheet import counted
from grater.tables import Judgments, Sample, Table, read_decisions, read_judgments, read_sample, write_table

app = typer.Typer()


@dataclass(frozen=True, slots=True)
class Wish:
    """How to draw, as far as the person says."""

    strata: str | None
    allocation: Allocation | None
    n_flagged: int | None
    rates: Mapping[str, float]
    labels: Judgments | None


@app.command()
def sample(
    decisions: Annotated[Path, typer.Argument(metavar="DECISIONS", help="What the systems said of every item.")],
    out: Annotated[Path, typer.Option(metavar="SAMPLE", help="Write the sample here, its design beside it.")],
    system: Annotated[str | None, typer.Option(metavar="S", help="The system to draw a first sample for.")] = None,
    new_system: Annotated[
        str | None, typer.Option("--add-system", metavar="S2", help="Add a system or version to --sample.")
    ] = None,
    old: Annotated[
        Path | None, typer.Option("--sample", metavar="OLD", help="The sample to add to; SAMPLE itself if not given.")
    ] = None,
    n: Annotated[int | None, typer.Option("--n", min=1, metavar="N", help="How many items in all.")] = None,
    flagged: Annotated[
        int | None, typer.Option(min=0, metavar="M", help="How many of them from what the system flags.")
    ] = None,
    strata: Annotated[str | None, typer.Option(help="decision, score:N or label.")] = None,
    allocation: Annotated[Allocation | None, typer.Option(help="How to share out N; paper if not given.")] = None,
    rate: Annotated[
        list[str],
        typer.Option(metavar="STRATUM=RATE", help="Expected rate of errors, for neyman; 'score' to use scores."),
    ] = [],  # noqa: B006
    labels: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One cheap label for each item, for --strata label.")
    ] = None,
    judged: Annotated[
        Path | None, typer.Option("--judgments", metavar="FILE", help="Leave judged items out of --to-judge.")
    ] = None,
    list_out: Annotated[
        Path | None, typer.Option("--to-judge", metavar="FILE", help="Write the items still to judge, in order.")
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw items to judge from each stratum, or add a system to a sample and see what is still to judge."""
    require_outputs([out, list_out], [decisions, labels, judged])
    table, cheap = read_decisions(decisions), read_judgments(labels) if labels else None
    name = system or new_system
    if name is None or (system and (new_system or not n)):
        raise UsageError("expected --system S --n N for a first sample, or --add-system S2 for one more system")
    before = read_sample(old or out) if new_system else None
    rates = score_rates(table, name, strata, cheap) if rate == ["score"] else parse_rates(rate)
    wish = Wish(strata, allocation, flagged, rates, cheap)
    found = _more(before, table, name, n, wish) if before else _first(table, name, n or 0, wish, seed)
    known = read_judgments(judged).frame if judged else before.frame if before else None
    left = to_judge(found, known["item"].to_list() if known is not None else [])
    write_table(found, out)
    if list_out:
        write_table(pl.DataFrame({"item": left}, schema={"item": pl.String}), list_out)
    if as_json:
        print_json(_json(found, left))
    else:
        _tell(found, out, len(left))


def _first(decisions: Table, system: str, n: int, wish: Wish, seed: int) -> Sample:
    return draw_sample(
        decisions,
        system,
        n,
        strata=wish.strata or "decision",
        method=wish.allocation or "paper",
        n_flagged=wish.n_flagged,
        rates=wish.rates,
        labels=wish.labels,
        seed=seed,
    )


def _more(before: Sample, decisions: Table, system: str, n: int | None, wish: Wish) -> Sample:
    return add_system(
        before,
        decisions,
        system,
        n=n,
        strata=wish.strata,
        method=wish.allocation,
        n_flagged=wish.n_flagged,
        rates=wish.rates,
        labels=wish.labels,
    )


def _json(found: Sample, left: list[str]) -> dict[str, JsonValue]:
    draws: list[JsonValue] = [draw.as_json() for draw in draws_of(found)]
    seed = found.meta.seed if found.meta else None
    return {"items": found.frame["item"].n_unique(), "to_judge": left, "seed": seed, "draws": draws}


def _tell(found: Sample, out: Path, n_left: int) -> None:
    say(f"{out}: {counted(found.frame['item'].n_unique(), 'item')}, {n_left:,} still to judge")
    draw = draws_of(found)[-1]
    for name, drawn in draw.by_stratum.items():
        say(f"  {draw.system}, {name}: {drawn.n:,} of {drawn.size:,}")
