"""Commands on systems and what they flag: decide, sample, design and mine."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from rich.console import Console
from rich.progress import Progress
from typer import Option

from grater.cli.command import Json, Seed, print_json, say, takes_options
from grater.cli.study import StudyName, answers_of, pasted
from grater.detect.decisions import on_edits
from grater.detect.systems import load_systems
from grater.errors import UsageError
from grater.measure.sampling.plan import Allocation
from grater.model import EDIT
from grater.model import Json as JsonValue
from grater.options import Correcting, parse_rates
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.annotate.samples import Drawn


@takes_options
def run_systems(
    study: StudyName,
    system: Annotated[
        list[str],
        Option(
            metavar="NAME", help="A detector, a model file or an external system; NEW=NAME renames it; repeatable."
        ),
    ],
    kind: Annotated[
        str,
        Option(
            metavar="KIND",
            help="The kind of items an external system decides on, instead of prepositions; edit: its edits.",
        ),
    ] = "",
    correcting: Correcting = {},
    as_json: Json = False,
) -> None:
    """Run systems on the essays and store their decisions; a second run changes nothing.

    If its decisions differ from those stored under the same name, the run is refused.
    """
    from grater.annotate import content
    from grater.annotate.store import open_store
    from grater.annotate.systems import decide, places_of

    console = Console(stderr=True)
    with (
        open_store(study) as store,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        with store.read() as tx:
            n_essays = content.n_essays(tx)
            places = places_of(tx, kind) if kind and kind != EDIT else None
            essays = list(content.own_essays(tx)) if kind == EDIT else []
        cache, settings = answers_of(study, correcting)
        detectors = load_systems(system, places=places, chat={**settings, "cache": cache})
        detectors = on_edits(detectors, essays) if kind == EDIT else detectors
        task = bar.add_task("deciding", total=n_essays * len(detectors))
        done = decide(store, detectors, advance=lambda n: bar.advance(task, n))
    if as_json:
        print_json([each.to_dict() for each in done])
        return
    for each in done:
        say(f"{each.system}: {counted(each.n_items, 'item')}, {each.n_flagged:,} flagged, {each.n_new:,} new")
    say(f"next: grater job new {pasted(study)} --design sampling --system {shlex.quote(done[0].system)} --n 500")


def draw_sample(
    study: StudyName,
    system: Annotated[str | None, Option(metavar="NAME", help="The system to draw a first sample for.")] = None,
    new_system: Annotated[
        str | None, Option("--add-system", metavar="NAME", help="Add a system to a sample.")
    ] = None,
    old: Annotated[str, Option("--sample", metavar="NAME", help="The sample to add to.")] = "sample",
    n: Annotated[int | None, Option("--n", min=1, help="Number of items or units to draw.")] = None,
    flagged: Annotated[int | None, Option(min=0, help="Number of flagged items in the sample.")] = None,
    strata: Annotated[
        str, Option(help="How to stratify: decision, type, score:N or, of tables, label.")
    ] = "decision",
    allocation: Annotated[Allocation, Option(help="How to allocate N to the strata; default: paper.")] = "paper",
    rate: Annotated[
        list[str], Option(metavar="STRATUM=RATE", help="Expected error rate of a stratum; 'score' uses the scores.")
    ] = [],
    kind: Annotated[str, Option(help="Only items of this kind.")] = "",
    name: Annotated[str, Option(help="The sample's name.")] = "sample",
    width: Annotated[
        float | None,
        Option(
            metavar="WIDTH",
            help="Target width of the 95 % interval for recall.",
        ),
    ] = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Draw a sample, or add a system to one; earlier judgments are reused."""
    from grater.annotate.samples import NewSample, draw, extend
    from grater.annotate.store import open_store

    if (system is None) == (new_system is None) or (system and n is None):
        raise UsageError("expected --system NAME --n N for a first sample, or --add-system NAME for another system")
    if width is not None and not new_system:
        raise UsageError("expected --add-system NAME with --width: a first sample has no judgments yet")
    with open_store(study) as store:
        if system and n:
            sent = NewSample.checked(
                name=name,
                system=system,
                n=n,
                flagged=flagged,
                strata=strata,
                allocation=allocation,
                seed=seed,
                kind=kind,
            )
            drawn = draw(store, sent, rates=parse_rates(rate))  # type: ignore[arg-type]
        else:
            name = name if name != old else f"{old}+{new_system}"
            drawn = extend(store, old, name, new_system or "", n=n, width=width)
    if as_json:
        notes: list[JsonValue] = list(drawn.notes)
        print_json({"sample": name, "items": len(drawn.sample), "to_judge": list(drawn.left), "notes": notes})
        return
    _print_sample(study, name, drawn)


def _print_sample(study: str, name: str, drawn: Drawn) -> None:
    n_items = drawn.sample.frame["item"].n_unique()
    say(f"{name}: {counted(n_items, 'item')}, {len(drawn.left):,} of them not judged yet")
    for note in drawn.notes:
        say(f"note: {note}")
    if drawn.left:
        again = f"grater job new {pasted(study)} --task usage --sample {name}"
        say(f"next: {again}; or judge elsewhere and import judgments")
    else:
        say(f"next: grater study evaluate {pasted(study)} --sample {name}")
