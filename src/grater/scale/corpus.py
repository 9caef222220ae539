"""Open the shards of a big corpus and choose the engine that works on them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeAlias

from grater.corpora import format_for
from grater.errors import UsageError
from grater.files import URL, complaining, is_local, n_bytes_of, place, remove_folder
from grater.options import require_different
from grater.progress import NOTES, counting, reading
from grater.scale.engines import Engine, SparkEngine, engine_of, n_workers
from grater.scale.shards import LazyCut, ShardEssay, ShardSource, corpus_of, is_cut, read_shards


def n_passes(paths: Sequence[Path], format_name: str | None, *, lines: bool) -> int:
    """How many times a corpus is read from front to back."""
    return 1 if lines else max(format_for(path, format_name).n_passes for path in paths)


def engine_for(
    corpus: Sequence[Path], *, jobs: int | None = None, engine: str = "processes", master: str | None = None
) -> Engine:
    """The requested engine; by default processes, depending on the size of the input."""
    if engine == "spark":
        if jobs is not None:
            raise UsageError("expected `jobs` or `engine` spark, found both; Spark has its own workers")
        return SparkEngine(master, tell=NOTES.info)
    if master is not None:
        raise UsageError("expected `engine` spark with `master`")
    return engine_of(n_workers(jobs, n_bytes_of(corpus)), NOTES.info)


Grouping: TypeAlias = Callable[[Iterable[ShardEssay]], Iterator[ShardEssay]]


@contextmanager
def shards_of(
    paths: Sequence[Path],
    title: str,
    *,
    out: Path,
    format_name: str | None = None,
    lines: bool = False,
    documents: Path | None = None,
    group_lines: Grouping | None = None,
) -> Iterator[tuple[ShardSource, Callable[[int], None]]]:
    """The shards of a cut corpus, or of one that is cut as it is read, into a temporary folder.

    Also the callback for every shard that is done.  The bar is over shards where their number is known.
    With `group_lines`, text of one essay per line is cut again, by its groups.
    """
    if len(paths) == 1 and is_cut(paths[0]):
        shards, finished = read_shards(paths[0]), set[int]()
        with counting(title) as tell:

            def done(number: int) -> None:
                finished.add(number)
                tell(len(finished), len(shards.shards))

            if group_lines and shards.lines:
                with temporary_folder(out) as folder:
                    yield LazyCut(group_lines(essay for shard in shards for essay in shard.read()), folder), done
            else:
                yield shards, done
        return
    n_readings = n_passes(paths, format_name, lines=lines)
    with temporary_folder(out) as folder, reading(title, *paths, n_passes=n_readings) as advance:
        essays = corpus_of(paths, format_name=format_name, lines=lines, documents=documents, advance=advance)
        yield LazyCut(group_lines(essays) if group_lines and lines else essays, folder, lines=lines), lambda _: None


@contextmanager
def temporary_folder(out: Path) -> Iterator[Path]:
    """A folder next to the output, where workers on other machines see it too; deleted at the end."""
    if not is_local(target := place(out)):
        target_folder = target.with_name(f"{target.name}.cut")
        try:
            yield target_folder
        finally:
            remove_folder(target_folder)
        return
    with complaining(out):
        folder = tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}.")
    with folder as name:
        yield Path(name)


def texts_in_shards(
    texts: Sequence[Path], title: str, *, out: Path, format_name: str | None, group_lines: Grouping | None = None
) -> AbstractContextManager[tuple[ShardSource, Callable[[int], None]]]:
    """Text is read by the line; other formats by the essay."""
    require_different([*texts, out])
    if len(texts) == 1 and is_cut(texts[0]):
        return shards_of(texts, title, out=out, group_lines=group_lines)
    lines = all(format_for(path, format_name).name == "text" for path in texts)
    return shards_of(texts, title, out=out, format_name=format_name, lines=lines, group_lines=group_lines)


def is_cut_here(file: Path | str) -> bool:
    """Whether a path is a folder of shards, or a URL of one; other paths are not opened."""
    return (Path(file).is_dir() or bool(URL.match(str(file)))) and is_cut(Path(file))
