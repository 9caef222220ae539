"""A progress bar over the files that a command reads, on a terminal and for long input only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from grater.cli.output import messages, require_different, say
from grater.corpora import format_for, read_corpus
from grater.corpora.guess import left_out
from grater.corpora.merge import Reread
from grater.corpora.source import OPENERS
from grater.model import Essay
from grater.sheet import counted

WORTH_A_BAR = 5_000_000
"""Bytes of input below which a progress bar would only flicker."""

MOST_NAMED = 5


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
def reading_all(
    paths: Sequence[Path], format_name: str | None, *, n_readings: int = 1
) -> Iterator[dict[str, Iterable[Essay]]]:
    """The corpora at some paths by their names as given, each to be read `n_readings` times, under one bar."""
    require_different(paths)
    n_passes = n_readings * max(format_for(path, format_name).n_passes for path in paths)
    with reading("reading", *paths, n_passes=n_passes) as advance:
        read = partial(read_corpus, format_name=format_name, advance=advance)
        yield {str(path): Reread(partial(read, path)) for path in paths}


def tell_left_out(paths: Iterable[Path], format_name: str | None) -> None:
    """Name the files of folders that nobody reads; an essay in another format must not go missing unnoticed."""
    for path in paths:
        chosen = format_for(path, format_name)
        files = [str(file.relative_to(path)) for file in left_out(path, chosen)]
        if files:
            more = ", ..." if len(files) > MOST_NAMED else ""
            names = ", ".join(files[:MOST_NAMED]) + more
            say(f"{path}: left out {counted(len(files), 'file')} of another format than {chosen.name}: {names}")


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
