"""Do events fall on units by chance alone, or do some units draw many of them?

The variance test of Poisson counts with unequal exposure (Fisher 1925; Cochran 1954, Biometrics 10, 417-451, section
3.1): with x[u] events in unit u, exposure t[u] and rate r = sum x / sum t,

    X2 = sum (x[u] - r t[u])^2 / (r t[u])

is chi-squared with n - 1 degrees of freedom where events fall by chance.  The *index of dispersion* X2 / (n - 1) is 1
then; above 1 some units have more than chance gives them: the "rich get richer".  p is one-sided, with Wilson and
Hilferty's cube root (1931), good to the third digit from ten units on.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import NormalDist

import numpy as np

from grater.model import Json
from grater.statistics.intervals import Numbers


@dataclass(frozen=True, slots=True)
class Dispersion:
    """`index` is 1 by chance; both numbers are nan where fewer than two units have any exposure, or no event."""

    index: float
    p: float
    n_units: int

    def to_dict(self) -> dict[str, Json]:
        index, p = (None if isnan(value) else value for value in (self.index, self.p))
        return {"index": index, "p": p, "units": self.n_units}


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
