"""How commands speak: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from grater.model import Json

messages = Console(stderr=True, highlight=False, soft_wrap=True)

WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""


def print_json(value: Json) -> None:
    """Machine output: one JSON document and nothing else; undefined numbers must be null by now."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def say(message: str) -> None:
    """A line to the person, beside the result."""
    messages.print(message, markup=False)


@contextmanager
def reading(title: str, *paths: Path) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of some files, on a terminal and for long input only; gives the callback that moves it."""
    total = sum(path.stat().st_size for path in paths if path.is_file())
    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    shown = messages.is_terminal and total >= WORTH_A_BAR
    with Progress(*columns, console=messages, transient=True, disable=not shown) as progress:
        bar = progress.add_task(title, total=total)
        yield lambda n_bytes: progress.advance(bar, n_bytes)
