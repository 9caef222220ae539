"""`grater study decide`: systems run over the essays of a study."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from grater.cli.options import Json
from grater.cli.output import print_json, say
from grater.cli.study_option import StudyName, pasted
from grater.detect.systems import load_systems
from grater.sheet import counted
from grater.store import essays, open_store
from grater.study.systems import decide, places_of

app = typer.Typer()


@app.command()
def run(
    study: StudyName,
    system: Annotated[
        list[str],
        typer.Option(
            metavar="NAME", help="A system of grater systems, a model, or one from outside; NEW=NAME renames it."
        ),
    ],
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="A system from outside decides on the study's items of this kind, not prepositions."
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Run systems over the essays and keep what they decide; a second run changes nothing.

    A system that decides otherwise than before, in flags, scores, suggestions or places, is refused under its name.
    """
    console = Console(stderr=True)
    with (
        open_store(study) as store,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        with store.read() as tx:
            n_essays = essays.count(tx)
            places = places_of(tx, kind) if kind else None
        detectors = load_systems(system, places=places)
        task = bar.add_task("deciding", total=n_essays * len(detectors))
        done = decide(store, detectors, advance=lambda n: bar.advance(task, n))
    if as_json:
        print_json([each.as_json() for each in done])
        return
    for each in done:
        say(f"{each.system}: {counted(each.n_items, 'item')}, {each.n_flagged:,} flagged, {each.n_new:,} new")
    say(f"next: grater study design {pasted(study)} sampling --system {shlex.quote(done[0].system)} --n 500")
