"""The card of a model that `grater train` writes: what every such command asks for it, and says in it."""

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
    typer.Option("--data", metavar="NAME=LICENCE", help="A source for the model's card; may be given several times."),
]
CardDate: TypeAlias = Annotated[
    str, typer.Option("--date", metavar="DATE", help="The date for the card; today if not given.")
]


def require_model_name(out: Path) -> None:
    """A model is a system by its path, and is known for one by its ending."""
    if out.suffix != ".model":
        raise UsageError(f"{out}: expected a name that ends in .model, so that it can be given as --system")


def sources(data: Sequence[str]) -> list[Json]:
    """The sources as `--data` names them, each with its licence where that was given."""
    return [dict(zip(("name", "licence"), each.split("=", 1), strict=False)) for each in data]


def card_of(
    out: Path, kind: str, data: list[Json], date: str, command: Sequence[str], **more: Json
) -> dict[str, Json]:
    """What a model says of itself, but for its figures; `command` is what stands behind `grater train`."""
    return {
        "name": out.stem,
        "kind": kind,
        "data": data,
        **more,
        "date": date or datetime.now(UTC).date().isoformat(),
        "command": shlex.join(["grater", "train", *command]),
    }
