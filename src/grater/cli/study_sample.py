"""`grater study sample`: items drawn from what a system flags and lets pass, kept in the study under a name."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json, Seed
from grater.cli.output import print_json, say
from grater.cli.sample_rates import parse_rates
from grater.cli.study_option import StudyName, pasted
from grater.errors import UsageError
from grater.sampling.strata import Allocation
from grater.sheet import counted
from grater.store import open_store
from grater.study.samples import Drawn, Wish, draw, extend

app = typer.Typer()


@app.command()
def sample(
    study: StudyName,
    system: Annotated[str | None, typer.Option(metavar="S", help="The system to draw a first sample for.")] = None,
    new_system: Annotated[
        str | None, typer.Option("--add-system", metavar="S2", help="Add a system to --sample.")
    ] = None,
    old: Annotated[str, typer.Option("--sample", metavar="NAME", help="The sample to add to.")] = "sample",
    n: Annotated[int | None, typer.Option("--n", min=1, help="How many items in all.")] = None,
    flagged: Annotated[int | None, typer.Option(min=0, help="How many of them flagged.")] = None,
    strata: Annotated[str, typer.Option(help="decision or score:N.")] = "decision",
    allocation: Annotated[Allocation, typer.Option(help="How to share out N.")] = "paper",
    rate: Annotated[list[str], typer.Option(metavar="STRATUM=RATE", help="Expected rates, for neyman.")] = [],  # noqa: B006
    kind: Annotated[str, typer.Option(help="The kind of items, where the system looks at several.")] = "",
    name: Annotated[str, typer.Option(help="What the sample is called.")] = "sample",
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw a sample, or add a system to one; what was judged before is used again."""
    if (system is None) == (new_system is None) or (system and n is None):
        raise UsageError("expected --system S --n N for a first sample, or --add-system S2 for one more system")
    with open_store(study) as store:
        if system and n:
            wish = Wish(system, n, flagged, strata, allocation, parse_rates(rate), seed, kind)
            found = draw(store, name, wish)
        else:
            name = name if name != old else f"{old}+{new_system}"
            found = extend(store, old, name, new_system or "", n=n)
    if as_json:
        print_json({"sample": name, "items": len(found.sample), "to_judge": list(found.left)})
        return
    _tell(study, name, found)


def _tell(study: str, name: str, found: Drawn) -> None:
    n_items = found.sample.frame["item"].n_unique()
    say(f"{name}: {counted(n_items, 'item')}, {len(found.left):,} of them not judged yet")
    if found.left:
        again = f"grater study job {pasted(study)} --task usage --sample {name}"
        say(f"next: {again}; or judge elsewhere and import judgments")
    else:
        say(f"next: grater study evaluate {pasted(study)} --sample {name}")
