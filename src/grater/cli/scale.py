"""`grater lab shard` and `count`: big corpora, cut into shards and worked on by all cores."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, TypeAlias, Unpack, cast

from grater.cli.command import Done
from grater.model import Json as JsonValue
from grater.options import Documents, FormatName, Opt, TextLines, Working, described
from grater.progress import reading
from grater.scale.corpus import engine_for, n_passes, texts_in_shards
from grater.scale.counting import ORDER, CountJob, run_count
from grater.scale.shards import SIZE, corpus_of, cut
from grater.sheet import counted

OutFolder: TypeAlias = Annotated[Path, Opt("The folder to write, or to resume.", "FOLDER", writes="folder")]

Texts: TypeAlias = Annotated[Path, Opt("Text with one paragraph per line, corpora, or a folder of shards.", "TEXT")]


@described
def shard(
    *corpora: Annotated[Path, Opt("Corpora in any format, treated as one.", "CORPUS")],
    out: OutFolder,
    shard_size: Annotated[int, Opt("Characters per shard.", "N", min=1)] = SIZE,
    lines: TextLines = False,
    documents: Documents = None,
    format_name: FormatName = None,
) -> Done:
    """Cut a corpus into numbered Parquet files that many workers can read."""
    with reading("cutting", *corpora, n_passes=n_passes(corpora, format_name, lines=lines)) as advance:
        essays = corpus_of(corpora, format_name=format_name, lines=lines, documents=documents, advance=advance)
        shards = cut(essays, out, size=shard_size, lines=lines)
    n_shards, n_essays = len(shards.shards), shards.n_essays
    sizes = {"essays": n_essays, "characters": shards.n_characters}
    value = {"folder": str(out), "shards": n_shards, **sizes, "sha256": shards.sha256}
    return Done(value, [f"{out}: {counted(n_essays, 'essay')} in {counted(n_shards, 'shard')}"])


@described
def count(
    *texts: Texts,
    out: OutFolder,
    order: Annotated[int, Opt("The longest n-gram, in words.", "N", min=1, max=4)] = ORDER,
    hold_out: Annotated[bool, Opt("Hold out 2 % of lines, for grater-train lm.")] = False,
    repeats: Annotated[bool, Opt("Count every occurrence of a repeated line.")] = False,
    format_name: FormatName = None,
    **options: Unpack[Working],
) -> Done:
    """Count the n-grams of a text, orders 1 to 4; grater-train lm and mine take the folder."""
    job = CountJob(order=order, hold_out=hold_out, repeats=repeats)
    with (
        closing(engine_for(texts, **options)) as chosen,
        texts_in_shards(texts, "counting", out=out, format_name=format_name) as (shards, done),
    ):
        parts = run_count(job, shards, out, chosen, done=done)
    totals: dict[str, int] = {"ngrams": parts.n_rows, **cast(dict[str, int], parts.about["totals"])}
    n_words, n_sentences = counted(totals["tokens"], "word"), counted(totals["sentences"], "sentence")
    messages = [f"{out}: {counted(parts.n_rows, 'n-gram')} of {n_words} in {n_sentences}"]
    return Done({"folder": str(out), **dict[str, JsonValue](totals)}, messages)
