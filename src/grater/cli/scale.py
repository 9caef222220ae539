"""`grater scale shard` and `count`: big corpora, cut into shards and worked on by all cores.

Other commands on big corpora take their engine and the way to a corpus's shards from here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias, cast

from typer import Argument, Option

from grater.cli.command import (
    EngineChoice,
    Format,
    Jobs,
    Json,
    Lines,
    Master,
    counting,
    n_bytes_of,
    reading,
    require_different,
    say,
    say_done,
)
from grater.corpora import format_for
from grater.errors import UsageError
from grater.files import complaining, is_local, place, remove_folder
from grater.scale.counting import ORDER, CountJob, run_count
from grater.scale.engines import Engine, SparkEngine, engine_of, n_workers
from grater.scale.shards import SIZE, LazyCut, ShardEssay, ShardSource, corpus_of, cut, is_cut, read_shards
from grater.sheet import counted


def n_passes(paths: Sequence[Path], format_name: str | None, *, lines: bool) -> int:
    """How often a corpus is gone through when it is read."""
    return 1 if lines else max(format_for(path, format_name).n_passes for path in paths)


def engine_for(name: str, jobs: int | None, master: str | None, corpus: Sequence[Path]) -> Engine:
    """The engine that was asked for; without a word, processes by the size of the input."""
    if name == "spark":
        if jobs is not None:
            raise UsageError("expected --jobs or --engine spark, found both; Spark has its own workers")
        return SparkEngine(master, tell=say)
    if master is not None:
        raise UsageError("expected --engine spark with --master")
    return engine_of(n_workers(jobs, n_bytes_of(corpus)), say)


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
        shards, finished = read_shards(paths[0]), set[int]()
        with counting(title) as tell:

            def done(number: int) -> None:
                finished.add(number)
                tell(len(finished), len(shards.shards))

            if group_lines and shards.lines:
                with folder_beside(out) as folder:
                    yield LazyCut(group_lines(essay for shard in shards for essay in shard.read()), folder), done
            else:
                yield shards, done
        return
    n_readings = n_passes(paths, format_name, lines=lines)
    with folder_beside(out) as folder, reading(title, *paths, n_passes=n_readings) as advance:
        essays = corpus_of(paths, format_name=format_name, lines=lines, advance=advance)
        yield LazyCut(group_lines(essays) if group_lines and lines else essays, folder, lines=lines), lambda _: None


@contextmanager
def folder_beside(out: Path) -> Iterator[Path]:
    """A folder beside the output, where workers on other machines see it too; gone at the end."""
    if not is_local(target := place(out)):
        beside = target.with_name(f"{target.name}.cut")
        try:
            yield beside
        finally:
            remove_folder(beside)
        return
    with complaining(out):
        folder = tempfile.TemporaryDirectory(dir=out.absolute().parent, prefix=f".{out.name}.")
    with folder as name:
        yield Path(name)


def shard(
    corpus: Annotated[list[Path], Argument(metavar="CORPUS", help="Corpora in any format, treated as one.")],
    out: Annotated[Path, Option(metavar="FOLDER", help="The folder of shards to write.")],
    size: Annotated[int, Option("--shard-size", min=1, metavar="N", help="Characters per shard.")] = SIZE,
    lines: Lines = False,
    documents: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="The documents of sentences: SGML, a table with a column document, or an id per line.",
        ),
    ] = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Cut a corpus into numbered Parquet files that many workers can read; ids and documents are settled here."""
    require_different([*corpus, out])
    with reading("cutting", *corpus, n_passes=n_passes(corpus, format_name, lines=lines)) as advance:
        essays = corpus_of(corpus, format_name=format_name, lines=lines, documents=documents, advance=advance)
        shards = cut(essays, out, size=size, lines=lines)
    n_shards, n_essays = len(shards.shards), shards.n_essays
    sizes = {"essays": n_essays, "characters": shards.n_characters}
    message = f"{out}: {counted(n_essays, 'essay')} in {counted(n_shards, 'shard')}"
    say_done(message, {"folder": str(out), "shards": n_shards, **sizes, "sha256": shards.sha256}, as_json=as_json)


TEXT_HELP = "Text files or folders with one paragraph per line, corpora in other formats, or a folder of shards."
Texts: TypeAlias = Annotated[list[Path], Argument(metavar="TEXT", help=TEXT_HELP)]


def count(
    texts: Texts,
    out: Annotated[Path, Option(metavar="FOLDER", help="The folder of counts to write, or to resume.")],
    order: Annotated[int, Option(min=1, max=4, metavar="N", help="The longest n-gram, in words.")] = ORDER,
    hold_out: Annotated[bool, Option("--hold-out", help="Hold out 2 % of lines, for grater-train lm.")] = False,
    repeats: Annotated[bool, Option("--repeats", help="Count every occurrence of a repeated line.")] = False,
    jobs: Jobs = None,
    engine: EngineChoice = "processes",
    master: Master = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Count the n-grams of a text, orders 1 to 4; grater-train lm and mine take the folder."""
    job = CountJob(order=order, hold_out=hold_out, repeats=repeats)
    with (
        closing(engine_for(engine, jobs, master, texts)) as chosen,
        texts_in_shards(texts, "counting", out=out, format_name=format_name) as (shards, done),
    ):
        parts = run_count(job, shards, out, chosen, done=done)
    totals = {"ngrams": parts.n_rows, **cast(dict[str, int], parts.about["totals"])}
    n_words, n_sentences = counted(totals["tokens"], "word"), counted(totals["sentences"], "sentence")
    message = f"{out}: {counted(parts.n_rows, 'n-gram')} of {n_words} in {n_sentences}"
    say_done(message, {"folder": str(out), **totals}, as_json=as_json)


def texts_in_shards(
    texts: Sequence[Path], title: str, *, out: Path, format_name: str | None, group_lines: Grouping | None = None
) -> AbstractContextManager[tuple[ShardSource, Callable[[int], None]]]:
    """Text is read by the line; other formats by the essay."""
    require_different([*texts, out])
    if len(texts) == 1 and is_cut(texts[0]):
        return shards_of(texts, title, out=out, group_lines=group_lines)
    lines = all(format_for(path, format_name).name == "text" for path in texts)
    return shards_of(texts, title, out=out, format_name=format_name, lines=lines, group_lines=group_lines)
