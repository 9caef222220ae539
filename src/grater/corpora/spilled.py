"""Hashes on disk: those of a set that has outgrown its place in memory (`grater.corpora.identity.HashSet`).

A log-structured set (O'Neil et al. 1996).  Hashes come in lots, each a *run*: a sorted temporary file without a name,
which goes with the process however that ends.  Of every `FANOUT` runs of one size a larger one is made, so there are
few to search.  In memory are the first hash of each page of a run, and a Bloom filter (Bloom 1970) of fixed size, two
bits a hash, which knows most new hashes without a look at the disk: 98 in 100 after two and a half million (1 GB of
text by the line), 93 after five, 10 after fifty million.  For the others a page of each run is read, which takes
microseconds.
"""

from __future__ import annotations

import os
import weakref
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from tempfile import TemporaryFile, gettempdir
from typing import Any, TypeAlias

import numpy as np

from grater.errors import GraterError
from grater.files import reason

Hashes: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]

WORD = 8
PAGE = 512
"""Hashes that are read together: four kilobytes."""

FANOUT = 8
FILTER_BITS = 25
"""The filter has 2 to this many bits: four megabytes."""

AT_ONCE = 1 << 16
"""Hashes that are merged together."""


class Spilled:
    """Runs by size, smallest first."""

    def __init__(self) -> None:
        self._levels: list[list[Run]] = []
        self._filter = Filter()

    def __len__(self) -> int:
        return sum(len(run) for runs in self._levels for run in runs)

    def __contains__(self, key: int) -> bool:
        return key in self._filter and any(key in run for runs in self._levels for run in runs)

    def take(self, places: array[int]) -> None:
        """Put in what is not 0; none of it is here yet."""
        values = np.frombuffer(places, np.uint64)
        values = np.sort(values[values != 0])
        self._filter.add(values)
        self._put(Run([values]), 0)

    def _put(self, run: Run, level: int) -> None:
        if level == len(self._levels):
            self._levels.append([])
        runs = self._levels[level]
        runs.append(run)
        if len(runs) == FANOUT:
            self._levels[level] = []
            self._put(Run(merged(runs)), level + 1)


class Filter:
    """Whether a hash may have been put in: never wrong about one that was."""

    def __init__(self) -> None:
        self._bits = bytearray(1 << FILTER_BITS - 3)
        self._mask = (1 << FILTER_BITS) - 1

    def __contains__(self, key: int) -> bool:
        first, second = key & self._mask, key >> 64 - FILTER_BITS
        bits = self._bits
        return bool(bits[first >> 3] >> (first & 7) & 1 and bits[second >> 3] >> (second & 7) & 1)

    def add(self, keys: Hashes) -> None:
        bits = np.frombuffer(self._bits, np.uint8)
        for places in (keys & np.uint64(self._mask), keys >> np.uint64(64 - FILTER_BITS)):
            np.bitwise_or.at(bits, places >> np.uint64(3), np.uint8(1) << (places & np.uint64(7)).astype(np.uint8))


class Run:
    """A sorted file of different hashes, in pages of which the first is known."""

    def __init__(self, lots: Iterable[Hashes]) -> None:
        self._firsts, self._n = array("Q"), 0
        try:
            with TemporaryFile(buffering=0) as stream:
                self._file = os.dup(stream.fileno())
            weakref.finalize(self, os.close, self._file)
            for lot in lots:
                self._write(lot)
        except OSError as error:
            raise GraterError(f"{gettempdir()}: cannot be written: {reason(error)}") from error

    def _write(self, lot: Hashes) -> None:
        self._firsts.extend(lot[-self._n % PAGE :: PAGE].tolist())
        self._n += len(lot)
        content = lot.data.cast("B")
        while content:
            content = content[os.write(self._file, content) :]

    def __len__(self) -> int:
        return self._n

    def __contains__(self, key: int) -> bool:
        page = bisect_right(self._firsts, key) - 1
        if page < 0:
            return False
        keys = array("Q", os.pread(self._file, WORD * PAGE, WORD * PAGE * page))
        return keys[bisect_right(keys, key) - 1] == key

    def between(self, low: int, high: int) -> Hashes:
        """The hashes in [low, high)."""
        first = max(0, bisect_right(self._firsts, low) - 1)
        last = bisect_right(self._firsts, high)
        content = os.pread(self._file, WORD * PAGE * (last - first), WORD * PAGE * first)
        values = np.frombuffer(content, np.uint64)
        start = np.searchsorted(values, np.uint64(low))
        end = np.searchsorted(values, np.uint64(high - 1), side="right")
        return values[start:end]


def merged(runs: Sequence[Run]) -> Iterator[Hashes]:
    """All hashes of several runs in order, some at a time: hashes spread evenly over their range."""
    n_lots = max(1, sum(map(len, runs)) // AT_ONCE)
    bounds = [(number << 64) // n_lots for number in range(n_lots + 1)]
    for low, high in pairwise(bounds):
        yield np.sort(np.concatenate([run.between(low, high) for run in runs]))
