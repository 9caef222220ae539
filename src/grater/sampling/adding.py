"""How far to draw for one more system, so that as few items as possible are still to be judged.

An old sample is cut at a threshold of the permanent random numbers in each stratum (`draw.py`).  A new system's
strata are cut about there, with the same chances: an item that both systems leave alone is in the sample if it was
before, and only items that the new system flags and the old one did not have a greater chance than they had.  Five
new flags that were drawn with chance 1/6, and now are with chance 3/4, ask for about three labels.

With a wanted width of the interval of recall, and judgments to take rates of errors from, the thresholds are the
lowest that reach it: `least_thresholds` tries growing thresholds for what the system leaves alone, finds for each the
lowest one for its flags, and keeps the pair that asks for the fewest labels.  Rates of cells with few judgments lean
on those of their old stratum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.sampling.plan import recall_width
from grater.statistics.intervals import Ints, Numbers
from grater.statistics.stratified import Stratum

STEPS = 12
"""Thresholds tried for what the system leaves alone, and halvings of the interval for its flags."""


def kept_sizes(
    frame: pl.DataFrame, old: Mapping[str, float], chances: Mapping[str, float], by_side: Mapping[bool, float]
) -> dict[str, int]:
    """The size of each new stratum's draw: the chance of the old one of its name, else that of its side.

    What is not flagged is never cut above the old threshold, where all were judged that could be.
    """
    sizes = {}
    for name, is_flagged, numbers in frame.group_by("stratum", "flagged").agg("random").iter_rows():
        wanted = round(len(numbers) * chances.get(name, by_side[is_flagged]))
        below = int(np.sum(np.array(numbers) <= old.get(name, by_side[is_flagged])))
        sizes[name] = max(1, wanted if is_flagged else min(wanted, below))
    return sizes


def sizes_below(frame: pl.DataFrame, thresholds: Mapping[str, float]) -> dict[str, int]:
    """The number of items of each stratum that lie below its threshold, at least one."""
    rows = frame.group_by("stratum").agg("random").iter_rows()
    return {name: max(1, int(np.sum(np.array(numbers) <= thresholds[name]))) for name, numbers in rows}


@dataclass(frozen=True, slots=True, eq=False)
class Growing:
    """A sample that grows: by item its random number, side, stratum and cell, and whether it is in already."""

    random: Numbers
    is_flagged: npt.NDArray[np.bool_]
    is_drawn: npt.NDArray[np.bool_]
    stratum: Ints
    cell: Ints
    cell_flags: npt.NDArray[np.bool_]
    rates: Numbers

    def drawn(self, thresholds: Numbers) -> npt.NDArray[np.bool_]:
        return self.is_drawn | (self.random <= thresholds[self.stratum])

    def n_new(self, thresholds: Numbers) -> int:
        return int((self.drawn(thresholds) & ~self.is_drawn).sum())

    def width(self, thresholds: Numbers) -> float:
        """The width of the interval of recall, if the new judgments fall out as the old ones did."""
        n_cells = len(self.rates)
        sizes = np.bincount(self.cell, minlength=n_cells).astype(float)
        judged = np.bincount(self.cell, weights=self.drawn(thresholds), minlength=n_cells)
        strata = [
            Stratum(str(place), bool(self.cell_flags[place]), size, n, n * self.rates[place])
            for place, (size, n) in enumerate(zip(sizes, judged, strict=True))
        ]
        return recall_width(strata, fpc=False, n_items=float(sizes.sum()))


def growing(whole: pl.DataFrame, old_strata: Sequence[str], errors: Mapping[str, float]) -> Growing:
    """From the corpus with its old strata, its new one, its numbers, and what was judged: error shares by item."""
    names = whole["stratum"].unique().sort()
    keys = whole.select(cell=pl.concat_str([*old_strata, "stratum"], separator="\n"), old=pl.concat_str(old_strata))
    cells, olds = (keys[name].unique().sort() for name in ("cell", "old"))
    codes = [_codes(keys["cell"], cells), _codes(keys["old"], olds), _codes(whole["stratum"], names)]
    flags = np.zeros(len(cells), bool)
    is_flagged = whole["flagged"].to_numpy()
    flags[codes[0]] = is_flagged
    return Growing(
        random=whole["random"].to_numpy(),
        is_flagged=is_flagged,
        is_drawn=whole["is_drawn"].to_numpy(),
        stratum=codes[2],
        cell=codes[0],
        cell_flags=flags,
        rates=_rates(codes[0], codes[1], np.array([errors.get(item, np.nan) for item in whole["item"]])),
    )


def _codes(values: pl.Series, names: pl.Series) -> Ints:
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[value] for value in values], np.int64)


def _rates(cell: Ints, old: Ints, error: Numbers) -> Numbers:
    """The rate of errors of each cell, with one made-up judgment at the rate of its old stratum."""
    known = ~np.isnan(error)
    n_old, x_old = (np.bincount(old, weights=weights) for weights in (known, np.where(known, error, 0.0)))
    base = (x_old + 0.5) / (n_old + 1)
    n, x = (np.bincount(cell, weights=weights) for weights in (known, np.where(known, error, 0.0)))
    of_old = np.zeros(len(n))
    of_old[cell] = base[old]
    rates: Numbers = (x + of_old) / (n + 1)
    return rates


def least_thresholds(sample: Growing, start: Numbers, is_flagged: npt.NDArray[np.bool_], width: float) -> Numbers:
    """The thresholds by stratum that reach the width with the fewest new items; all there are where none does."""
    best, fewest = np.ones(len(start)), inf
    lowest = np.where(is_flagged, start[~is_flagged].min(initial=1.0), start)
    for step in range(STEPS + 1):
        share = (step / STEPS) ** 2
        passed = lowest + share * (1 - lowest)
        chosen = _lowest_for_flags(sample, np.where(is_flagged, lowest, passed), is_flagged, width)
        if chosen is not None and sample.n_new(chosen) < fewest:
            best, fewest = chosen, sample.n_new(chosen)
    return best


def _lowest_for_flags(
    sample: Growing, thresholds: Numbers, is_flagged: npt.NDArray[np.bool_], width: float
) -> Numbers | None:
    """The thresholds with that of flags as low as the width allows; None where no threshold does."""

    def at(threshold: float) -> Numbers:
        return np.where(is_flagged, np.maximum(thresholds, threshold), thresholds)

    if sample.width(at(1.0)) > width:
        return None
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if sample.width(at(middle)) <= width else (middle, high)
    return at(high)
