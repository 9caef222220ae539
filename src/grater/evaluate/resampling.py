"""Many systems on the same units: draw units again, and add up what every system did on them.

Efron & Tibshirani 1993, chapter 13, for the bootstrap; Noreen 1989 and Yeh 2000 ("More accurate tests for the
statistical significance of result differences", COLING) for swaps.  Counts add up, so a resample is a row of weights
times the matrix of counts.  All systems share the weights: differences are paired, and a system's limits do not
depend on which others stand beside it.

`Design` says what is drawn.  Units are sentences, or documents with all their sentences.  Where a sentence has
several rows, one for each reference that may be drawn (GLEU), a row is drawn for every copy of the sentence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.intervals.bootstrap import MOST_WEIGHTS

Numbers: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """`unit_of` has each sentence's unit, from 0 on; `shares` the chance of each of its rows, if it has several."""

    unit_of: Ints
    n_units: int
    shares: Numbers | None = None

    @property
    def is_clustered(self) -> bool:
        return self.n_units != len(self.unit_of)

    @property
    def width(self) -> int:
        """Numbers that one resample takes."""
        return len(self.unit_of) * (1 if self.shares is None else self.shares.shape[1])


def by_sentence(n_sentences: int, *, shares: Numbers | None = None) -> Design:
    """Every sentence is drawn by itself."""
    return Design(np.arange(n_sentences), n_sentences, shares)


def by_document(documents: Sequence[str], *, shares: Numbers | None = None) -> Design:
    """Sentences are drawn together with the others of their document."""
    places = {name: place for place, name in enumerate(dict.fromkeys(documents))}
    return Design(np.array([places[name] for name in documents], np.int64), len(places), shares)


def resampled_sums(cells: Numbers, design: Design, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over units drawn with replacement: (sentences, rows, columns) gives (resamples, columns)."""
    n_sentences, n_rows, n_columns = cells.shape
    if n_sentences != len(design.unit_of):
        raise UsageError(f"expected counts of {len(design.unit_of)} sentences, found {n_sentences}")
    flat = cells.reshape(n_sentences * n_rows, n_columns)
    sums = [_weights(design, n_now, rng) @ flat for n_now in _portions(n_resamples, design.width)]
    return np.concatenate([np.zeros((0, n_columns)), *sums])


def swapped_sums(rows: Numbers, design: Design, *, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """Sums over the half of the units that change sides: (sentences, columns) gives (resamples, columns)."""
    sums = []
    for n_now in _portions(n_resamples, len(design.unit_of)):
        sides = rng.integers(0, 2, size=(n_now, design.n_units), dtype=np.uint8)
        sums.append(_of_sentences(sides, design).astype(np.float64) @ rows)
    return np.concatenate([np.zeros((0, rows.shape[1])), *sums])


def _weights(design: Design, n_resamples: int, rng: np.random.Generator) -> Numbers:
    """How often each row is drawn, in every resample."""
    drawn = rng.integers(0, max(1, design.n_units), size=(n_resamples, design.n_units))
    drawn += np.arange(n_resamples)[:, None] * design.n_units
    times = np.bincount(drawn.ravel(), minlength=n_resamples * design.n_units)
    of_sentences = _of_sentences(times.reshape(n_resamples, design.n_units), design)
    if design.shares is None:
        return of_sentences.astype(np.float64)
    return rng.multinomial(of_sentences, design.shares).reshape(n_resamples, -1).astype(np.float64)


def _of_sentences(of_units: npt.NDArray[T], design: Design) -> npt.NDArray[T]:
    return of_units[:, design.unit_of] if design.is_clustered else of_units


def _portions(n_resamples: int, width: int) -> Iterator[int]:
    """Resamples at one time, so that memory stays flat however many sentences there are."""
    at_once = max(1, MOST_WEIGHTS // max(1, width))
    for start in range(0, n_resamples, at_once):
        yield min(at_once, n_resamples - start)
