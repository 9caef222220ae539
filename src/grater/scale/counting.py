"""The n-grams of a corpus, orders 1 to 4, counted shard by shard and added up.

Words are in normal form and sentences have edges, as in `grater.detect.ngrams.counts`: an n-gram may begin with
`<s>` and end with `</s>`; neither is counted alone but the end, which every sentence has.  The same text counts
once, unless repeats are wanted.  With `hold_out`, the lines of two folds in a hundred are not counted but kept,
those with the smallest hashes first: perplexity is measured on them and thresholds are chosen on them.

Two steps.  A shard's counts are sorted by *bucket*, one of 4,096 by a hash of the n-gram.  Then the buckets are
added up, some at a time, by the same workers: in as many files as the number of words asks for, so that a worker
holds the n-grams of about `WORDS_AT_ONCE` words whatever the size of the corpus.  Files are the same to the byte,
however the corpus was cut."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from grater.corpora.text.sentences import sentence_tokens, sentences_of
from grater.corpora.text.tokens import tokens_of
from grater.detect.linear import finalised
from grater.detect.ngrams.counts import (
    END,
    HELD_OUT,
    MOST_HELD_OUT,
    SPECIAL,
    START,
    Packing,
    fold_of,
    ngram_keys,
    normal,
    smallest,
)
from grater.errors import UsageError
from grater.files import is_local, place, remove_folder, replacing
from grater.model import Essay, Json, hash_of
from grater.scale.engines import Engine
from grater.scale.jobs import (
    HELD_OUT_FILE,
    PARTIAL,
    Done,
    Part,
    PartFolder,
    Partial,
    Parts,
    Schema,
    about,
    existing_part,
    identity,
    ignore_done,
    part_name,
    run_job,
    summed_frames,
    write_part,
)
from grater.scale.shards import ShardEssay, ShardSource

ORDER = 4
N_BUCKETS = 1 << 12
WORDS_AT_ONCE = 3 << 18
"""The most n-grams held at once, three million: a few hundred megabytes."""
LEAST_WORDS, SHARED_FILES = 1 << 16, 16
"""A corpus of fewer words than those of sixteen files has files of at least 65,536, for several workers to add up."""
MOST_LOCAL_WORDS = 1 << 15
"""Different words that are numbered together, so that four of them fit into 60 bits."""

COUNTS, HELD = "counts", "held_out"

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]


# Types of polars are named where they are used: no help of a command waits for it.
def counted_schema() -> Schema:
    return {"order": pl.UInt8, "ngram": pl.String, "n": pl.UInt64}


def ngram_schema() -> Schema:
    return {"bucket": pl.UInt16, **counted_schema()}


def line_schema() -> Schema:
    return {"hash": pl.UInt64, "line": pl.String}


def sentences_of_essay(essay: Essay) -> Iterator[Sequence[str]]:
    """The words of each sentence; an essay with tokens is not tokenised again."""
    if essay.tokens is None:
        yield from (words for _, words in sentence_tokens(essay.text))
        return
    given = [essay.text[token.start : token.end] for token in tokens_of(essay)]
    starts = [token.start for token in tokens_of(essay)]
    bounds = [*np.searchsorted(starts, [span.start for span in sentences_of(essay)]).tolist(), len(given)]
    for first, last in pairwise(bounds):
        if given[first:last]:
            yield given[first:last]


_word_hash = lru_cache(maxsize=1 << 18)(hash_of)


class _Numbers(dict[str, int]):
    """The numbers of words as they are written; normal forms are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.normal = {word: number for number, word in enumerate(SPECIAL)}

    def __missing__(self, word: str) -> int:
        number = self[word] = self.normal.setdefault(normal(word), len(self.normal))
        return number


@dataclass(slots=True)
class _Block:
    """Sentences as numbers of words."""

    numbers: _Numbers = field(default_factory=_Numbers)
    stream: list[int] = field(default_factory=list)

    def add(self, words: Iterable[str]) -> None:
        self.stream.append(START)
        self.stream.extend(map(self.numbers.__getitem__, words))
        self.stream.append(END)

    @property
    def n_words(self) -> int:
        return len(self.numbers.normal)

    def counts(self, order: int) -> pl.DataFrame:
        """The n-grams of all orders with their counts."""
        stream = np.array(self.stream, np.uint32)
        words = pl.Series(list(self.numbers.normal), dtype=pl.String)
        hashes = np.array([_word_hash(word) for word in self.numbers.normal], np.uint64)
        bits = Packing.for_words(order, len(words)).bits
        return pl.concat([_ngrams(stream, Packing(length, bits), words, hashes) for length in range(1, order + 1)])


def _ngrams(
    stream: np.ndarray[Any, np.dtype[np.uint32]], packing: Packing, words: pl.Series, hashes: Hashes
) -> pl.DataFrame:
    keys = ngram_keys(stream, packing)
    distinct, counts = np.unique(keys[packing.is_real(keys)], return_counts=True)
    columns = [packing.words(distinct, position) for position in range(packing.order)]
    bucket = np.full(len(distinct), packing.order, np.uint64)
    for column in columns:
        bucket = finalised(bucket ^ hashes[column])
    spelt = [words.gather(column).alias(f"w{position}") for position, column in enumerate(columns)]
    ngrams = pl.DataFrame(spelt).select(pl.concat_str(pl.all(), separator=" ").alias("ngram"))["ngram"]
    return pl.DataFrame(
        {
            "bucket": pl.Series(bucket % np.uint64(N_BUCKETS)).cast(pl.UInt16),
            "order": pl.Series(np.full(len(distinct), packing.order, np.uint8)),
            "ngram": ngrams,
            "n": pl.Series(counts.astype(np.uint64)),
        },
        schema=ngram_schema(),
    )


@dataclass(frozen=True, slots=True)
class CountJob:
    """The first step: the counts of a shard, and the lines that are held out."""

    order: int = ORDER
    hold_out: bool = False
    repeats: bool = False
    name: str = "count"
    version: int = 1

    @property
    def options(self) -> Mapping[str, Json]:
        return {"order": self.order, "hold_out": self.hold_out, "repeats": self.repeats}

    @property
    def tables(self) -> Mapping[str, Schema]:
        counts = {COUNTS: ngram_schema()}
        return {**counts, HELD: line_schema()} if self.hold_out else counts

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        held: list[str] = []
        blocks, n_sentences, n_tokens = [_Block()], 0, 0
        frames = [pl.DataFrame(schema=ngram_schema())]
        for each in essays:
            text = each.essay.text.strip()
            if not text or (each.is_repeat and not self.repeats):
                continue
            if self.hold_out and fold_of(text) < HELD_OUT:
                held.append(text)
                continue
            for words in sentences_of_essay(each.essay):
                n_sentences, n_tokens = n_sentences + 1, n_tokens + len(words)
                blocks[0].add(words)
                if blocks[0].n_words > MOST_LOCAL_WORDS:
                    frames.append(blocks[0].counts(self.order))
                    blocks[0] = _Block()
        frames.append(blocks[0].counts(self.order))
        totals = {"sentences": n_sentences, "tokens": n_tokens}
        counts = pl.concat(frames).sort("bucket")  # buckets lie together, so that the second step skips the others
        return Partial(tables={COUNTS: counts, HELD: held_out_table(held)}, totals=totals)


@dataclass(frozen=True, slots=True)
class BucketTask:
    """The second step: the counts of some buckets over all shards."""

    number: int
    first: int
    last: int
    partials: tuple[Path, ...]
    path: Path

    @property
    def name(self) -> str:
        return f"sum {self.number}"

    def run(self) -> tuple[int, Part]:
        counts = _in_order(summed_frames(map(self._read, self.partials), counted_schema()))
        n_words = int(counts.filter(pl.col("order") == 1)["n"].sum())
        return self.number, write_part(counts, self.path, {"unigrams": n_words})

    def _read(self, path: Path) -> pl.DataFrame:
        wanted = pl.col("bucket").is_between(self.first, self.last, closed="left")
        source = path if is_local(path) else BytesIO(path.read_bytes())
        return pl.scan_parquet(source).filter(wanted).drop("bucket").collect()


def _in_order(counts: pl.DataFrame) -> pl.DataFrame:
    """By order and n-gram; texts alone are sorted several times faster than behind a number."""
    orders = (counts.filter(pl.col("order") == order).sort("ngram") for order in range(1, ORDER + 1))
    return pl.concat(orders, rechunk=True)


def run_count(job: CountJob, shards: ShardSource, folder: Path, engine: Engine, *, done: Done = ignore_done) -> Parts:
    """Count a corpus into a folder; what an earlier run has left there is not done again."""
    folder = place(folder)
    described = about(job, COUNTS)
    PartFolder(path=folder, about=described).begin()
    tables = run_job(job, shards, {table: folder / PARTIAL / table for table in job.tables}, engine, done=done)
    totals = tables[COUNTS].totals
    if not totals.get("tokens"):
        raise UsageError("expected text to count, found no words in it")
    if job.hold_out:
        keep_held_out(tables[HELD], folder / HELD_OUT_FILE)
    made_from = identity(job.name, job.version, dict(job.options), shards.sha256, n_files(totals["tokens"]))
    parts = _add_buckets(tables[COUNTS].paths, totals, folder, made_from, engine)
    finished = PartFolder(folder, {**described, "corpus": shards.sha256, "totals": totals}).finish(parts)
    remove_folder(folder / PARTIAL)
    return finished


def n_files(n_words: int) -> int:
    """The number of files that the counts of `n_words` words are added up in, the same for every engine."""
    shared = min(SHARED_FILES, -(-n_words // LEAST_WORDS))
    return min(N_BUCKETS, max(shared, -(-n_words // WORDS_AT_ONCE)))


def _add_buckets(
    partials: Sequence[Path], totals: Mapping[str, int], folder: Path, made_from: str, engine: Engine
) -> list[Part]:
    n = n_files(totals["tokens"])
    bounds = pairwise(number * N_BUCKETS // n for number in range(n + 1))
    tasks = [
        BucketTask(number, first, last, tuple(partials), folder / part_name(number, made_from))
        for number, (first, last) in enumerate(bounds)
    ]
    earlier = {task.number: existing_part(task.path) for task in tasks}
    results = {number: part for number, part in earlier.items() if part}
    results |= dict(engine.run(task for task in tasks if task.number not in results))
    return [results[number] for number in sorted(results)]


def held_out_table(lines: Iterable[str]) -> pl.DataFrame:
    """A table of lines and their hashes, smallest hash first."""
    return pl.DataFrame([(hash_of(line), line) for line in smallest(lines)], schema=line_schema(), orient="row")


def keep_held_out(lines: Parts, path: Path) -> None:
    """The lines with the smallest hashes of all shards, in one file; as many again are held at a time."""
    kept = [pl.DataFrame(schema=line_schema())]
    for frame in lines.frames():
        kept.append(frame)
        if sum(map(len, kept)) > 2 * MOST_HELD_OUT:
            kept = [_smallest(kept)]
    with replacing(path) as stream:
        _smallest(kept).write_parquet(stream)


def _smallest(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).sort("hash", "line").head(MOST_HELD_OUT)


def held_out_lines(folder: Path) -> list[str]:
    """The lines that were held out of counts, smallest hash first; none where none were."""
    path = folder / HELD_OUT_FILE
    return pl.read_parquet(path)["line"].to_list() if path.exists() else []


def counts_in_parts(parts: Parts, wanted: Collection[Sequence[str]]) -> dict[tuple[str, ...], float]:
    """The counts of these n-grams, given as normalised words."""
    spelt = pl.Series("ngram", sorted({" ".join(ngram) for ngram in wanted}), dtype=pl.String)
    counts: dict[tuple[str, ...], float] = {}
    for frame in parts.frames():
        rows = frame.filter(pl.col("ngram").is_in(spelt.implode()))
        counts |= {tuple(ngram.split(" ")): float(n) for ngram, n in zip(rows["ngram"], rows["n"], strict=True)}
    return counts
