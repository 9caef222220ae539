"""Counts of n-grams that need not fit into memory: sorted runs on disk, merged by ranges of keys.

An n-gram is one 64-bit key: its words' numbers, the first word highest, some bits each.  So keys in order are n-grams
in order, dropping the first word is a mask and dropping the last a shift.  A key comes with two counts: `raw`, how
often the n-gram was seen, and `adjusted`, what Kneser-Ney smoothing counts (`kneser_ney`).

`Runs.add` writes records, one for each key and in order, as a run to disk.  `Runs.merged` goes through all runs at
once: it parts the keys into ranges of about `most` records, and sums up one range after the other.  What comes out
does not depend on how the records came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

MOST_RECORDS = 1 << 23
"""Records that are sorted at once; with what sorting needs, about half a gigabyte."""

Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Counts: TypeAlias = np.ndarray[Any, np.dtype[np.uint32]]
COLUMNS = (("keys", np.uint64), ("raw", np.uint32), ("adjusted", np.uint32))


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
    """How often each key stands in an array; adjusted counts are the same for now."""
    ordered = np.sort(keys)
    firsts = _firsts(ordered)
    counts = np.diff(firsts, append=len(ordered)).astype(np.uint32)
    return Records(ordered[firsts], counts, counts)


def summed(records: Records) -> Records:
    """One record for each key, in order."""
    order = np.argsort(records.keys, kind="stable")
    ordered = records.keys[order]
    firsts = _firsts(ordered)
    if not len(firsts):
        return records
    raw, adjusted = (
        np.add.reduceat(each[order], firsts, dtype=np.uint32) for each in (records.raw, records.adjusted)
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
    """The runs of one order, on disk in `folder`; they go when the folder goes."""

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
        keys, raw, adjusted = (np.memmap(self._path(number, name), dtype, mode="r") for name, dtype in COLUMNS)
        return Records(keys, raw, adjusted)

    def _path(self, number: int, column: str) -> Path:
        return self.folder / f"{self.name}-{number}.{column}"

    def _bounds(self, runs: Sequence[Records]) -> list[np.uint64 | None]:
        """Keys that part the records into ranges of about `most`, as far as a sample tells; None is the end."""
        n_ranges = 1 + sum(map(len, runs)) // self.most
        if n_ranges == 1:
            return [None]
        step = max(1, self.most // 64)
        sample = np.sort(np.concatenate([run.keys[step // 2 :: step] for run in runs]))
        cuts = np.linspace(0, len(sample), n_ranges + 1).astype(int)[1:-1]
        return [*np.unique(sample[cuts]), None]
