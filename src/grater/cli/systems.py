"""`grater systems`: the detectors that are installed, with the cards of their models."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from grater.cli.options import Json
from grater.cli.output import number_table, print_json, say
from grater.detect.systems import SYSTEMS, load_system
from grater.errors import GraterError
from grater.model import Json as JsonValue

app = typer.Typer()

OUTSIDE = ("harper", "languagetool:URL", "corrected:FILE", "edits:FILE", "command:LINE")
"""Systems that grater did not write (docs/howto/bring-your-own-detector.md)."""


@app.command()
def systems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]", help="Systems or model files to show; all without a name.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the detectors by name: what they look for, and what they were made of."""
    found = [_described(name, must=bool(names)) for name in names or SYSTEMS.names()]
    if as_json:
        print_json({"systems": found})
        return
    table = number_table("Systems", ("system", "kinds", "made from", "hash"))
    for each in found:
        if "problem" in each:
            say(f"{each['system']}: {each['problem']}")
        else:
            card = each["card"] if isinstance(each["card"], dict) else {}
            table.add_row(str(each["system"]), ", ".join(each["kinds"]), _sources(card), str(card.get("hash", "")))  # type: ignore[arg-type]
    Console(highlight=False).print(table)
    if not names:
        say(f"from outside, where a NAME is asked for: {', '.join(OUTSIDE)}")


def _described(name: str, *, must: bool) -> dict[str, JsonValue]:
    """A system's card; one that cannot be loaded is named with the reason, unless it was asked for."""
    try:
        system = load_system(name)
    except GraterError as error:
        if must:
            raise
        return {"system": name, "problem": str(error)}
    return {"system": system.name, "kinds": list(system.kinds), "card": dict(system.card)}


def _sources(card: dict[str, JsonValue]) -> str:
    data = card.get("data")
    if not isinstance(data, list):
        return ""
    return ", ".join(str(each.get("name", "")) if isinstance(each, dict) else str(each) for each in data)
