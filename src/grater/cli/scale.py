"""`grater scale shard` and `count`: big corpora, cut into shards and worked on by all cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from grater.cli.command import Json, print_json, require_different, say, say_done
from grater.cli.engines import EngineChoice, Grouping, Jobs, Lines, Master, engine_for, n_passes, shards_of
from grater.cli.inputs import Format, reading
from grater.corpora import format_for
from grater.model import Json as JsonValue
from grater.scale.counting import ORDER, CountJob, run_count
from grater.scale.parts import Parts
from grater.scale.shards import SIZE, Shards, ShardSource, corpus_of, cut, is_cut
from grater.sheet import counted

app = typer.Typer(no_args_is_help=True, help="Cut large corpora into shards for parallel work.")


@app.callback()
def group() -> None:
    pass


@app.command()
def shard(
    corpus: Annotated[list[Path], typer.Argument(metavar="CORPUS", help="Corpora in any format, treated as one.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of shards to write.")],
    size: Annotated[int, typer.Option("--shard-size", min=1, metavar="N", help="Characters per shard.")] = SIZE,
    lines: Lines = False,
    documents: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The documents the M2 sentences come from, to name them.")
    ] = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Cut a corpus into numbered Parquet files that many workers can read; ids and documents are settled here."""
    require_different([*corpus, out])
    with reading("cutting", *corpus, n_passes=n_passes(corpus, format_name, lines=lines)) as advance:
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


count_app = typer.Typer()

TEXT_HELP = "Text files or folders with one paragraph per line, corpora in other formats, or a folder of shards."
Texts: TypeAlias = Annotated[list[Path], typer.Argument(metavar="TEXT", help=TEXT_HELP)]


@count_app.command()
def count(
    texts: Texts,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of counts to write, or to resume.")],
    order: Annotated[int, typer.Option(min=1, max=4, metavar="N", help="The longest n-gram, in words.")] = ORDER,
    hold_out: Annotated[bool, typer.Option("--hold-out", help="Hold out 2 % of lines, for grater-train lm.")] = False,
    repeats: Annotated[bool, typer.Option("--repeats", help="Count every occurrence of a repeated line.")] = False,
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
    totals = {"ngrams": parts.n_rows, **_totals(parts)}
    n_words, n_sentences = counted(totals["tokens"], "word"), counted(totals["sentences"], "sentence")
    message = f"{out}: {counted(parts.n_rows, 'n-gram')} of {n_words} in {n_sentences}"
    say_done(message, {"folder": str(out), **totals}, as_json=as_json)


def _totals(parts: Parts) -> dict[str, int]:
    totals = parts.about["totals"]
    assert isinstance(totals, dict)
    return totals


def texts_in_shards(
    texts: Sequence[Path], title: str, *, out: Path, format_name: str | None, group_lines: Grouping | None = None
) -> AbstractContextManager[tuple[ShardSource, Callable[[int], None]]]:
    """Text is read by the line; other formats by the essay."""
    require_different([*texts, out])
    if len(texts) == 1 and is_cut(texts[0]):
        return shards_of(texts, title, out=out, group_lines=group_lines)
    lines = all(format_for(path, format_name).name == "text" for path in texts)
    return shards_of(texts, title, out=out, format_name=format_name, lines=lines, group_lines=group_lines)
