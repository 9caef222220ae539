"""How commands speak: results on standard output, messages on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from grater.errors import UsageError
from grater.model import Json

messages = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(value: Json) -> None:
    """Machine output: one JSON document and nothing else; undefined numbers must be null by now."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def say(message: str) -> None:
    """A line to the person, beside the result."""
    messages.print(message, markup=False)


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun: `1 essay`, `2,391 edits`."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def require_outputs(outputs: Iterable[Path | None], inputs: Iterable[Path | None]) -> None:
    """Before a long job: its tables can be written, each in a place of its own, and over nothing that is read."""
    from grater.tables import require_table_place  # polars, which `grater score` need not wait for

    wanted = [path for path in outputs if path]
    require_different(wanted)
    for path in (each for each in inputs if each):
        for out in wanted:
            require_different([path, out])
    for out in wanted:
        require_table_place(out)


def require_different(paths: Iterable[Path]) -> None:
    """Refuse a path that is named twice: it would count twice, or be written over while it is needed."""
    seen: set[Path] = set()
    for path in paths:
        place = path if str(path) == "-" else Path(os.path.realpath(path))  # unlike `resolve`, fails at no path
        if place in seen:
            raise UsageError(f"expected different files, found {path} named twice")
        seen.add(place)
