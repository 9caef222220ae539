"""`grater scale shard`, `grater count` and `grater events`: big corpora, cut into shards and worked on by all cores.

`decide` and `corpus stats` share the options and the way to a corpus's shards.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from grater.cli.command import FORMAT_HELP, Json, counting, print_json, require_different, say
from grater.cli.inputs import reading
from grater.corpora import format_for
from grater.errors import UsageError
from grater.files import complaining
from grater.model import Json as JsonValue
from grater.scale.engines import Engine, engine_of, n_workers
from grater.scale.shards import SIZE, LazyCut, Shards, ShardSource, corpus_of, cut, is_cut, read_shards
from grater.sheet import counted

Jobs: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, metavar="N", help="Processes; one for small input, one per core for big if not given."
    ),
]
EngineChoice: TypeAlias = Annotated[
    Literal["processes", "spark"], typer.Option("--engine", help="Processes on this machine, or Apache Spark.")
]
Master: TypeAlias = Annotated[
    str | None, typer.Option("--master", metavar="URL", help="The Spark master, as in spark://host:7077 or local[4].")
]
Lines: TypeAlias = Annotated[
    bool, typer.Option("--lines", help="Text files have one paragraph per line: each is an essay.")
]

app = typer.Typer(no_args_is_help=True, help="Cut big corpora into shards, for many workers.")


@app.callback()
def group() -> None:
    pass


@app.command()
def shard(
    corpus: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Corpora in any format, as one.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of shards to write.")],
    size: Annotated[int, typer.Option("--shard-size", min=1, metavar="N", help="Characters of a shard.")] = SIZE,
    lines: Lines = False,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The documents the M2 sentences come from, to name them.")
    ] = None,
    format_name: Annotated[str | None, typer.Option("--format", metavar="FORMAT", help=FORMAT_HELP)] = None,
    as_json: Json = False,
) -> None:
    """Cut a corpus into numbered Parquet files that many workers can read; ids and documents are settled here."""
    require_different([*corpus, out])
    with reading("cutting", *corpus, n_passes=_n_passes(corpus, format_name, lines=lines)) as advance:
        essays = corpus_of(corpus, format_name=format_name, lines=lines, documents=documents, advance=advance)
        shards = cut(essays, out, size=size, lines=lines)
    if as_json:
        print_json({"folder": str(out), **_sizes(shards)})
        return
    say(f"{out}: {counted(shards.n_essays, 'essay')} in {counted(len(shards.shards), 'shard')}")


def _sizes(shards: Shards) -> dict[str, JsonValue]:
    n_shards = len(shards.shards)
    return {
        "shards": n_shards,
        "essays": shards.n_essays,
        "characters": shards.n_characters,
        "sha256": shards.sha256,
    }


def _n_passes(paths: Sequence[Path], format_name: str | None, *, lines: bool) -> int:
    return 1 if lines else max(format_for(path, format_name).n_passes for path in paths)


def engine_for(name: str, jobs: int | None, master: str | None, corpus: Sequence[Path]) -> Engine:
    """The engine that was asked for; without a word, processes by the size of the input."""
    if name == "spark":
        from grater.scale.spark import SparkEngine  # the one module that needs pyspark

        if jobs is not None:
            raise UsageError("expected --jobs or --engine spark, found both; Spark has workers of its own")
        return SparkEngine(master or "local[*]", tell=say)
    if master is not None:
        raise UsageError("expected --engine spark beside --master")
    return engine_of(n_workers(jobs, _n_bytes(corpus)), say)


def _n_bytes(paths: Sequence[Path]) -> int:
    files = (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]))
    return sum(file.stat().st_size for file in files if file.is_file())


@contextmanager
def shards_of(
    paths: Sequence[Path], title: str, *, out: Path, format_name: str | None = None, lines: bool = False
) -> Iterator[tuple[ShardSource, Callable[[int], None]]]:
    """The shards of a cut corpus, or of one that is cut as it is read, into a folder that is gone at the end.

    Also the callback that hears of every shard that is done.  The bar is over shards where their number is known.
    """
    if len(paths) == 1 and is_cut(paths[0]):
        with counting(title) as tell:
            shards = read_shards(paths[0])
            yield shards, _counter(tell, len(shards.shards))
        return
    n_passes = _n_passes(paths, format_name, lines=lines)
    with folder_beside(out) as folder, reading(title, *paths, n_passes=n_passes) as advance:
        essays = corpus_of(paths, format_name=format_name, lines=lines, advance=advance)
        yield LazyCut(essays, folder, lines=lines), lambda _: None


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
