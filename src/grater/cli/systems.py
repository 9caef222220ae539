"""`grater systems`: the detectors that are installed, with the cards of their models."""

from __future__ import annotations

from typing import Annotated

import typer

from grater.cli.options import Json, Table
from grater.cli.output import say, show
from grater.detect.systems import system_cards

app = typer.Typer()

OUTSIDE = ("harper", "languagetool:URL", "corrected:FILE", "edits:FILE", "command:LINE")
"""Systems that grater did not write (docs/howto/bring-your-own-detector.md)."""


@app.command()
def systems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]", help="Systems or model files to show; all without a name.")
    ] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Show the detectors by name: what they look for, and what they were made of."""
    show(system_cards(names or ()), table=table, as_json=as_json)
    if not names and not as_json:
        say(f"from outside, where a NAME is expected: {', '.join(OUTSIDE)}")
