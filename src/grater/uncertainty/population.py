"""What an interval is about: which population, which independent units, and what clustering costs.

A reader takes an interval as "for essays like these".  Errors cluster in essays (one learner, one topic, one
marker), so where essays are known they are what is drawn, and the *design effect* (Kish 1965, Survey Sampling,
section 8.2) says how many times the variance is that of as many independent items.  `Scope` holds this for one
result: its `sentence` stands under every table, its `warnings` go before it, and `to_dict` is its JSON.

Populations: `wider` (other essays, items or raters like these) and `these` (exactly this corpus, with the
finite-population correction).  Units: item, essay, document or rater, and with `n_raters` raters drawn beside them.

The rule for few units, `cluster_interval`: below `FEW_UNITS` Student's t on the spread of the resamples
(`grater.uncertainty.student_t`), from there on expanded percentiles (`grater.uncertainty.intervals`); below `TOO_FEW`
a warning.  In simulated corpora of 20 essays x 25 items limits that took items as independent held .72-.85 instead of
.95 (docs/agreement.md).

*Dispersion*: do events fall on units by chance alone, or do some units draw many of them?  The variance test of
Poisson counts with unequal exposure (Fisher 1925; Cochran 1954, Biometrics 10, 417-451, section 3.1): with x[u]
events in unit u, exposure t[u] and rate r = sum x / sum t,

    X2 = sum (x[u] - r t[u])^2 / (r t[u])

is chi-squared with n - 1 degrees of freedom where events fall by chance.  The *index of dispersion* X2 / (n - 1) is 1
then; above 1 some units have more than chance gives them: the "rich get richer".  p is one-sided, with Wilson and
Hilferty's cube root (1931), good to the third digit from ten units on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, isnan, nan, sqrt
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from grater.model import Interval
from grater.result import HIDDEN, Data, in_json, key
from grater.uncertainty.intervals import LEVEL, Ints, Numbers, percentile_interval

Population: TypeAlias = Literal["wider", "these"]

FEW_UNITS = 20
"""Essays below which an interval is Student's t on the cluster bootstrap."""

TOO_FEW = 10
"""Essays below which a result warns."""

ESSAYS_UNKNOWN = "their essays are not known"
AS_ASKED = "as asked"


@dataclass(frozen=True, slots=True)
class Scope(Data):
    """What the intervals of one result speak of.

    `unit` is what was drawn, `n_units` how many there are, 0 where that is not told; `n_raters` is 0 where raters
    were taken as they are.  `independent_because` says why items were drawn although they stand in essays.
    """

    unit: str = "item"
    n_units: int = 0
    population: Population = "wider"
    design_effect: float = nan
    n_raters: int = field(default=0, metadata=key("raters_drawn"))
    independent_because: str = field(default=ESSAYS_UNKNOWN, metadata=HIDDEN)
    level: float = LEVEL

    @property
    def is_clustered(self) -> bool:
        return self.unit not in ("item", "")

    @property
    def is_few(self) -> bool:
        """Whether intervals are Student's t."""
        return self.is_clustered and 0 < self.n_units < FEW_UNITS

    @property
    def of_each(self) -> Scope:
        """The same for systems that have some of the units each: no number is true of all of them."""
        return replace(self, n_units=0)

    @property
    @in_json()
    def sentence(self) -> str:
        """What a reader may say of the intervals: "95 % intervals generalise to other essays like these 20 (...)"."""
        return f"{100 * self.level:g} % intervals {self._verb()} {self._whom()}{self._how()}."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Where there are too few units, or too few raters that were drawn, to say much."""
        if self.population == "these":
            return ()
        drawn = [(self.unit, self.n_units)] if self.is_clustered else []
        drawn += [("rater", self.n_raters)] if self.n_raters else []
        return tuple(
            f"only {_counted(n, unit)}: intervals by {unit} are rough below {TOO_FEW}"
            for unit, n in drawn
            if n < TOO_FEW
        )

    def _verb(self) -> str:
        return "are for" if self.population == "these" else "generalise to"

    def _whom(self) -> str:
        if self.population == "these":
            unit = self.unit or "item"
            return f"exactly these {_counted(self.n_units, unit) if self.n_units else f'{unit}s'}"
        parts = [(self.unit, self.n_units), ("rater", self.n_raters)]
        likes = [f"other {unit}s like these {n:,}" for unit, n in parts if unit and n]
        if self.unit and not self.n_units:
            likes.insert(0, f"other {self.unit}s like these")
        return " and ".join(likes) or "other data like these"

    def _how(self) -> str:
        if self.population == "these":
            return ", not for others (finite-population correction)"
        if self.unit == "item":
            return f", taken as independent ({self.independent_because})"
        drawn = [f"resampled by {self.unit}"] if self.unit else []
        effect = [] if isnan(self.design_effect) else [f"design effect {self.design_effect:.1f}"]
        student = ["Student's t"] if self.is_few else []
        return f" ({', '.join([*drawn, *effect, *student])})" if drawn else ""


def cluster_interval(
    value: float,
    draws: Numbers,
    *,
    n_units: int,
    level: float = LEVEL,
    ends: tuple[float, float] = (-inf, inf),
) -> Interval:
    """A value with the interval of its draws by essay or rater: Student's t where these are few."""
    if n_units >= FEW_UNITS:
        return percentile_interval(value, draws, n_units=n_units, level=level, ends=ends)
    from grater.uncertainty.student_t import student_interval  # scipy: a fifth of a second that few need

    return student_interval(value, draws, n_units=n_units, level=level, ends=ends)


def design_effect(influence: Numbers, unit_of: Ints) -> float:
    """The variance with units drawn whole over that with items drawn one by one; nan where nothing varies.

    `influence` is what each item adds to the statistic at first order; `unit_of` the code of its essay, from 0 on.
    """
    of_units = np.bincount(unit_of, weights=influence).astype(np.float64)
    return variance_ratio(of_units, float(influence @ influence), n_items=len(influence))


def variance_ratio(of_units: Numbers, of_items: float, *, n_items: int) -> float:
    """The same from the sum of influences in each unit and the sum of squares over items."""
    n_units = len(of_units)
    if n_units < 2 or n_items < 2 or of_items <= 0:
        return nan
    by_unit = float(of_units @ of_units) * n_units / (n_units - 1)
    return by_unit / (of_items * n_items / (n_items - 1))


def effective_units(lengths: Numbers, times: Ints | None = None) -> float:
    """How many essays of one length these are worth, where they are very unequal: worth fewer than half of them.

    (Sum of lengths)² / (sum of squared lengths): Carter, Schnepel & Steigerwald 2017, Review of Economics and
    Statistics 99, 698-709, after Kish 1965.  Thirty essays of Pareto lengths, as if they were thirty, held .90.
    """
    weights = np.ones(len(lengths)) if times is None else times
    n, squares = float(weights.sum()), float(weights @ lengths**2)
    worth = float(weights @ lengths) ** 2 / squares if squares else n
    return max(2.0, worth) if worth < n / 2 else n


def widening(n_units: float, n_effective: float) -> float:
    """What the error of n units of unequal lengths misses, over what that of as many of one length does."""
    return sqrt(n_effective / (n_effective - 1) * (n_units - 1) / n_units) if n_units > 1 else 1.0


def _counted(n: int, unit: str) -> str:
    return f"{n:,} {unit}" if n == 1 else f"{n:,} {unit}s"


@dataclass(frozen=True, slots=True)
class Dispersion(Data):
    """`index` is 1 by chance; both numbers are nan where fewer than two units have any exposure, or no event."""

    index: float
    p: float
    n_units: int


def dispersion(events: Numbers, exposure: Numbers) -> Dispersion:
    """The test of events in units of some exposure: edits in essays of a number of tokens."""
    is_exposed = exposure > 0
    events, exposure = events[is_exposed], exposure[is_exposed]
    n_units = len(events)
    if n_units < 2 or not events.sum():
        return Dispersion(index=nan, p=nan, n_units=n_units)
    expected = exposure * (events.sum() / exposure.sum())
    freedom = n_units - 1
    index = float(np.sum((events - expected) ** 2 / expected)) / freedom
    spread = 2 / (9 * freedom)
    return Dispersion(
        index=index, p=NormalDist().cdf((1 - spread - index ** (1 / 3)) / sqrt(spread)), n_units=n_units
    )
