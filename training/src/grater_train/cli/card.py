"""What every command asks for the card of its model, and says in it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.errors import UsageError
from grater.model import Json

ModelFile: TypeAlias = Annotated[
    Path, typer.Option("--out", metavar="MODEL", help="The model file to write, NAME.model.")
]
Data: TypeAlias = Annotated[
    list[str],
    typer.Option("--data", metavar="NAME=LICENCE", help="A source to name in the model card; repeatable."),
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Random seed.")]
CardDate: TypeAlias = Annotated[
    str, typer.Option("--date", metavar="DATE", help="The date on the model card; default: today.")
]


def require_model_name(out: Path) -> None:
    """A model is a system by its path, and is recognised by its suffix."""
    if out.suffix != ".model":
        raise UsageError(f"{out}: expected a name that ends in .model, so that it can be given as --system")


def sources(data: Sequence[str]) -> list[Json]:
    """The sources of the card, each with its licence where that was given."""
    return [dict(zip(("name", "licence"), source.split("=", 1), strict=False)) for source in data]


def card_of(
    out: Path, kind: str, data: list[Json], date: str, command: Sequence[str], **more: Json
) -> dict[str, Json]:
    """The card of a model without its figures; `command` is what follows `grater-train`."""
    return {
        "name": out.stem,
        "kind": kind,
        "data": data,
        **more,
        "date": date or datetime.now(UTC).date().isoformat(),
        "command": shlex.join(["grater-train", *command]),
    }
