"""How commands speak: results on standard output, messages and progress on standard error."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from grater.corpora import format_for, read_corpus
from grater.corpora.source import OPENERS
from grater.errors import UsageError
from grater.model import Essay, Json

messages = Console(stderr=True, highlight=False, soft_wrap=True)

WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""


def print_json(value: Json) -> None:
    """Machine output: one JSON document and nothing else; undefined numbers must be null by now."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def say(message: str) -> None:
    """A line to the person, beside the result."""
    messages.print(message, markup=False)


def counted(n: int, one: str, several: str | None = None) -> str:
    """A number with its noun: `1 essay`, `2,391 edits`."""
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def require_different(paths: Iterable[Path]) -> None:
    """Refuse a path that is named twice: it would count twice, or be written over while it is needed."""
    seen: set[Path] = set()
    for path in paths:
        place = path if str(path) == "-" else Path(os.path.realpath(path))  # unlike `resolve`, fails at no path
        if place in seen:
            raise UsageError(f"expected different files, found {path} named twice")
        seen.add(place)


@contextmanager
def reading(title: str, *paths: Path, n_passes: int = 1) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of some files, on a terminal and for long input only; gives the callback that moves it."""
    n_bytes = n_passes * sum(_size(path) for path in paths)
    is_packed = any(path.suffix.lower() in OPENERS for path in paths)  # then nobody knows how much it unpacks to
    columns = [TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()]
    shown = messages.is_terminal and n_bytes >= WORTH_A_BAR
    with Progress(*columns, console=messages, transient=True, disable=not shown) as progress:
        bar = progress.add_task(title, total=None if is_packed else n_bytes)
        yield lambda n_bytes: progress.advance(bar, n_bytes)


@contextmanager
def reading_all(paths: Sequence[Path], format_name: str | None) -> Iterator[dict[str, Iterator[Essay]]]:
    """The corpora at some paths by their names as given, each to be read once, under one progress bar."""
    require_different(paths)
    n_passes = max(format_for(path, format_name).n_passes for path in paths)
    with reading("reading", *paths, n_passes=n_passes) as advance:
        yield {str(path): read_corpus(path, format_name=format_name, advance=advance) for path in paths}


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
