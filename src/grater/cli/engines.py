"""What commands on big corpora share: the options of processes and Spark, and the way to a corpus's shards.

Apart from `scale`, so that `decide` and `corpus stats` do not wait for what counting and training import.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from grater.cli.command import counting, say
from grater.cli.inputs import reading
from grater.corpora import format_for
from grater.errors import UsageError
from grater.files import complaining
from grater.scale.engines import Engine, engine_of, n_workers
from grater.scale.shards import LazyCut, ShardEssay, Shards, ShardSource, corpus_of, is_cut, read_shards

Jobs: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        min=1,
        metavar="N",
        help="Number of processes; default: one for small input, one per core for large.",
    ),
]
EngineChoice: TypeAlias = Annotated[
    Literal["processes", "spark"],
    typer.Option("--engine", help="Run in processes on this machine, or on Apache Spark."),
]
Master: TypeAlias = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="The Spark master, as in spark://host:7077 or local[4].")
]
Lines: TypeAlias = Annotated[bool, typer.Option("--lines", help="Read each line of a text file as an essay.")]


def n_passes(paths: Sequence[Path], format_name: str | None, *, lines: bool) -> int:
    """How often a corpus is gone through when it is read."""
    return 1 if lines else max(format_for(path, format_name).n_passes for path in paths)


def engine_for(name: str, jobs: int | None, master: str | None, corpus: Sequence[Path]) -> Engine:
    """The engine that was asked for; without a word, processes by the size of the input."""
    if name == "spark":
        from grater.scale.spark import SparkEngine  # the one module that needs pyspark

        if jobs is not None:
            raise UsageError("expected --jobs or --engine spark, found both; Spark has its own workers")
        return SparkEngine(master or "local[*]", tell=say)
    if master is not None:
        raise UsageError("expected --engine spark with --master")
    return engine_of(n_workers(jobs, _n_bytes(corpus)), say)


def _n_bytes(paths: Sequence[Path]) -> int:
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return sum(file.stat().st_size for file in files if file.is_file())


Grouping: TypeAlias = Callable[[Iterable[ShardEssay]], Iterator[ShardEssay]]


@contextmanager
def shards_of(
    paths: Sequence[Path],
    title: str,
    *,
    out: Path,
    format_name: str | None = None,
    lines: bool = False,
    group_lines: Grouping | None = None,
) -> Iterator[tuple[ShardSource, Callable[[int], None]]]:
    """The shards of a cut corpus, or of one that is cut as it is read, into a folder that is gone at the end.

    Also the callback that hears of every shard that is done.  The bar is over shards where their number is known.
    With `group_lines`, text of one essay per line is cut anew, by its groups.
    """
    if len(paths) == 1 and is_cut(paths[0]):
        with counting(title) as tell, _regrouped(read_shards(paths[0]), out, group_lines) as (shards, n_shards):
            yield shards, _counter(tell, n_shards)
        return
    n_readings = n_passes(paths, format_name, lines=lines)
    with folder_beside(out) as folder, reading(title, *paths, n_passes=n_readings) as advance:
        essays = corpus_of(paths, format_name=format_name, lines=lines, advance=advance)
        grouped = group_lines(essays) if group_lines and lines else essays
        yield LazyCut(grouped, folder, lines=lines), lambda _: None


@contextmanager
def _regrouped(shards: Shards, out: Path, group_lines: Grouping | None) -> Iterator[tuple[ShardSource, int]]:
    """The shards, and about how many there are."""
    if group_lines is None or not shards.lines:
        yield shards, len(shards.shards)
        return
    with folder_beside(out) as folder:
        essays = (essay for shard in shards for essay in shard.read())
        yield LazyCut(group_lines(essays), folder), len(shards.shards)


@contextmanager
def folder_beside(out: Path) -> Iterator[Path]:
    """A folder on the disk of the output, where workers on other machines see it too; gone at the end."""
    with complaining(out):
        folder = tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}.")
    with folder as name:
        yield Path(name)


def _counter(tell: Callable[[int, int], None], n_shards: int) -> Callable[[int], None]:
    done: set[int] = set()

    def hear(number: int) -> None:
        done.add(number)
        tell(len(done), n_shards)

    return hear
