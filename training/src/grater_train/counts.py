"""The n-grams of a text, counted for every order up to the highest, in bounded memory.

N-grams are keys (`grater.detect.ngrams.counts`).  A key has two counts: `raw`, how often the n-gram was seen, and
`adjusted`, what Kneser-Ney smoothing counts (`kneser_ney`).  `Runs.add` writes records, one per key and in order, as
a run to disk.  `Runs.merged` reads all runs at once: it divides the keys into ranges of about `most` records, and
sums one range after the other.  The result does not depend on how the records came in.

Heafield, Pouzyrevsky, Clark & Koehn 2013 (ACL, short papers, 690-696), section 3.1-3.2.  The counts of a lower order
follow from those of the order above by dropping the first word: the raw count is the sum, the adjusted count the
number of different words dropped, or again the sum where the n-gram begins with `<s>`, which has nothing to its left.
An n-gram with `<s>` in second position belongs to a lower order and only waits there for its first `<s>` to be
dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.counts import START, Keys, Numbers, Packing, ngram_keys

MOST_RECORDS = 1 << 23
"""Records that are sorted at once; with what sorting needs, about half a gigabyte."""

Counts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
COLUMNS = (("keys", np.uint64), ("raw", np.int64), ("adjusted", np.int64))


@dataclass(frozen=True, slots=True)
class Records:
    """Keys with their counts, column by column."""

    keys: Keys
    raw: Counts
    adjusted: Counts

    def __len__(self) -> int:
        return len(self.keys)

    def part(self, start: int, end: int) -> Records:
        return Records(self.keys[start:end], self.raw[start:end], self.adjusted[start:end])


def tallied(keys: Keys) -> Records:
    """The count of each key in an array; adjusted counts are the same for now."""
    ordered = np.sort(keys)
    firsts = _firsts(ordered)
    counts = np.diff(firsts, append=len(ordered)).astype(np.int64)
    return Records(ordered[firsts], counts, counts)


def summed(records: Records) -> Records:
    """One record for each key, in order."""
    order = np.argsort(records.keys, kind="stable")
    ordered = records.keys[order]
    firsts = _firsts(ordered)
    if not len(firsts):
        return records
    raw, adjusted = (
        np.add.reduceat(counts[order], firsts, dtype=np.int64) for counts in (records.raw, records.adjusted)
    )
    return Records(ordered[firsts], raw, adjusted)


def joined(parts: Sequence[Records]) -> Records:
    """Records one after the other."""
    return Records(
        np.concatenate([part.keys for part in parts]),
        np.concatenate([part.raw for part in parts]),
        np.concatenate([part.adjusted for part in parts]),
    )


def _firsts(ordered: Keys) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each key of an ordered array begins."""
    is_first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


@dataclass(slots=True)
class Runs:
    """The runs of one order, on disk in `folder`; they are removed with the folder."""

    folder: Path
    name: str
    most: int = MOST_RECORDS
    n_runs: int = field(default=0, init=False)

    def add(self, records: Records) -> None:
        """Write one run: keys in order, each once."""
        if len(records):
            for column, dtype in COLUMNS:
                np.asarray(getattr(records, column), dtype).tofile(self._path(self.n_runs, column))
            self.n_runs += 1

    def merged(self) -> Iterator[Records]:
        """All records, one for each key, in order, in blocks."""
        runs = [self._run(number) for number in range(self.n_runs)]
        starts = [0] * len(runs)
        for bound in self._bounds(runs):
            ends = [len(run) if bound is None else int(np.searchsorted(run.keys, bound)) for run in runs]
            parts = [run.part(start, end) for run, start, end in zip(runs, starts, ends, strict=True) if end > start]
            starts = ends
            if parts:
                yield summed(joined(parts)) if len(parts) > 1 else joined(parts)

    def _run(self, number: int) -> Records:
        keys = np.memmap(self._path(number, "keys"), np.uint64, mode="r")
        raw, adjusted = (np.memmap(self._path(number, name), np.int64, mode="r") for name in ("raw", "adjusted"))
        return Records(keys, raw, adjusted)

    def _path(self, number: int, column: str) -> Path:
        return self.folder / f"{self.name}-{number}.{column}"

    def _bounds(self, runs: Sequence[Records]) -> list[np.uint64 | None]:
        """Keys that divide the records into ranges of about `most`, estimated by a sample; None is the end."""
        n_ranges = 1 + sum(map(len, runs)) // self.most
        if n_ranges == 1:
            return [None]
        step = max(1, self.most // 64)
        sample = np.sort(np.concatenate([run.keys[step // 2 :: step] for run in runs]))
        cuts = np.linspace(0, len(sample), n_ranges + 1).astype(int)[1:-1]
        return [*np.unique(sample[cuts]), None]


def count_ngrams(
    streams: Iterable[Numbers], packing: Packing, folder: Path, *, most: int = MOST_RECORDS
) -> list[Runs]:
    """The counts of every order, lowest first; a stream holds whole sentences."""
    return all_orders((tallied(ngram_keys(stream, packing)) for stream in streams), packing, folder, most=most)


def all_orders(blocks: Iterable[Records], packing: Packing, folder: Path, *, most: int = MOST_RECORDS) -> list[Runs]:
    """The counts of every order, lowest first, from those of the highest; in a block, keys in order, each once."""
    highest = Runs(folder, f"order{packing.order}", most)
    for records in blocks:
        highest.add(records)
    orders = [highest]
    while packing.order > 1:
        orders.insert(0, _count_lower(orders[0], packing, folder, most))
        packing = packing.lower()
    return orders


def _count_lower(higher: Runs, packing: Packing, folder: Path, most: int) -> Runs:
    lower = Runs(folder, f"order{packing.order - 1}", most)
    for records in higher.merged():
        keys = packing.suffixes(records.keys)
        begins = packing.lower().words(keys, 0) == START
        adjusted = np.where(begins, records.adjusted, 1)
        lower.add(summed(Records(keys, records.raw, adjusted)))
    return lower


def blocks_by_context(orders: Iterable[Records], packing: Packing) -> Iterator[Records]:
    """The same records in blocks that divide no context: an incomplete context goes to the next block."""
    held: Records | None = None
    for records in orders:
        block = joined([held, records]) if held is not None else records
        contexts = packing.prefixes(block.keys)
        cut = int(np.searchsorted(contexts, contexts[-1]))
        held = block.part(cut, len(block))
        if cut:
            yield block.part(0, cut)
    if held is not None:
        yield held
