"""How a system does where raters agree, and where they do not.

Madnani et al. 2011, 4.2, figures 1 and 2.  The agreement of an item is the share of its majority.  Bins are 50-75,
75-90 and 90-100 % unless asked: low edge closed, high edge open, the last closed; items below the lowest edge are a
row of their own.  Scores in a bin are unweighted (the bins have used the agreement already), against the majority; a
tie is half on each side.  Error rates differ between data sets, and precision with them: to compare systems on
*different* data read kappa by agreement, as the paper advises; `different_rates` warns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan

import numpy as np

from grater.errors import UsageError
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.draws import Chance
from grater.evaluate.resampling import Ints, Numbers
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import Truth
from grater.model import Interval

EDGES = (0.5, 0.75, 0.9, 1.0)
FEW = 30
"""Items in a bin below which its numbers say little."""


@dataclass(frozen=True, slots=True, eq=False)
class Bin:
    """Items whose agreement is in [low, high), or in [low, high] in the last bin; `systems` in their order."""

    low: float
    high: float
    n: int
    systems: tuple[Scored, ...]

    @property
    def title(self) -> str:
        return f"{100 * self.low:g}-{100 * self.high:g} %"


def agreement_of(cases: Cases) -> Numbers:
    """The share of each item's majority; nan without a vote."""
    cases = cases.equal
    votes = cases.n_votes.astype(np.float64)
    most = np.maximum(cases.n_error, cases.n_votes - cases.n_error)
    out: Numbers = np.divide(most, votes, out=np.full(len(cases), np.nan), where=votes > 0)
    return out


def binned(
    cases: Cases,
    truth: Truth,
    *,
    chance: Chance,
    edges: Sequence[float] = EDGES,
    where: Truths | None = None,
) -> list[Bin]:
    """Every system in every bin; items below the lowest edge come first, where there are any."""
    check_edges(edges)
    agreement = agreement_of(cases)
    allowed = ~np.isnan(agreement) if where is None else where & ~np.isnan(agreement)
    found = []
    for low, high, is_inside in _bins(agreement, edges):
        inside = is_inside & allowed
        if inside.any() or low >= edges[0]:
            systems = against(cases, truth, chance=chance, where=inside)
            found.append(Bin(low, high, int((inside & ~np.isnan(truth.values)).sum()), tuple(systems)))
    return found


def check_edges(edges: Sequence[float]) -> None:
    if len(edges) < 2 or list(edges) != sorted(set(edges)) or edges[0] < 0 or edges[-1] > 1:
        shown = ",".join(f"{edge:g}" for edge in edges)
        raise UsageError(f"expected edges from low to high within 0 to 1, as in 0.5,0.75,0.9,1, found {shown}")


def _bins(agreement: Numbers, edges: Sequence[float]) -> Iterator[tuple[float, float, Truths]]:
    yield 0.0, edges[0], agreement < edges[0]
    for low, high in pairwise(edges):
        is_below = agreement <= high if high == edges[-1] else agreement < high
        yield low, high, (agreement >= low) & is_below
    if edges[-1] < 1:
        yield edges[-1], 1.0, agreement > edges[-1]


def histogram(cases: Cases, *, n_bars: int = 10, where: Truths | None = None) -> list[tuple[float, float, int]]:
    """Items by their agreement from one half to one (figure 1): low, high, how many; the last bar is closed."""
    agreement = agreement_of(cases)
    shown = agreement[~np.isnan(agreement) & (True if where is None else where)]
    bars: Ints
    bars, edges = np.histogram(shown, bins=n_bars, range=(0.5, 1.0))
    return [(float(low), float(high), int(n)) for low, high, n in zip(edges, edges[1:], bars, strict=False)]


def curve(bins: Sequence[Bin], system: str, score: str = "kappa") -> list[tuple[float, Interval]]:
    """A score against the middle of each bin: the precision-agreement and kappa-agreement plots."""
    return [
        ((each.low + each.high) / 2, scored[score])
        for each in bins
        for scored in each.systems
        if scored.system == system
    ]


def small_bins(bins: Sequence[Bin]) -> list[str]:
    """A warning for every bin that is too small to read."""
    return [
        f"items of agreement {each.title}: only {each.n}; with fewer than {FEW} the numbers say little"
        for each in bins
        if 0 < each.n < FEW
    ]


def different_rates(first: Sequence[Bin], second: Sequence[Bin]) -> list[str]:
    """Bins in which two data sets have error rates that their limits keep apart: there, read kappa, not precision."""
    return [
        f"error rates differ between the data sets where agreement is {one.title}: compare kappa, not precision"
        for one, other in zip(first, second, strict=False)
        if _apart(one.systems[0]["error_rate"], other.systems[0]["error_rate"])
    ]


def _apart(one: Interval, other: Interval) -> bool:
    numbers = (one.low, one.high, other.low, other.high)
    return not any(map(isnan, numbers)) and (one.high < other.low or other.high < one.low)
