"""McNemar's test: of the items that one of two systems got right and the other wrong, are the sides even?

McNemar 1947, Psychometrika 12, 153-157, without a correction for continuity; exact (binomial) and mid-p (Lancaster
1961; Fagerland, Lydersen & Laake 2013 recommend it).  Items on which raters are tied have no right answer and take
no part.  With no discordant item every p is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

from grater.errors import UsageError
from grater.model import Json


@dataclass(frozen=True, slots=True)
class McNemar:
    """`first` items only the first system got right, `second` only the second."""

    first: int
    second: int
    chi2: float
    p: float
    exact: float
    mid_p: float

    def to_dict(self) -> dict[str, Json]:
        return {
            "discordant": [self.first, self.second],
            "chi2": self.chi2,
            "p": self.p,
            "exact": self.exact,
            "mid_p": self.mid_p,
        }


def mcnemar(first: int, second: int) -> McNemar:
    """The three forms of the test for two counts of discordant items."""
    if first < 0 or second < 0:
        raise UsageError(f"expected counts of items, found {first} and {second}")
    n, fewer = first + second, min(first, second)
    if n == 0:
        return McNemar(first=0, second=0, chi2=0.0, p=1.0, exact=1.0, mid_p=1.0)
    chi2 = (first - second) ** 2 / n
    from scipy.special import bdtr  # a fifth of a second that most commands need not wait for

    at_most, below = float(bdtr(fewer, n, 0.5)), float(bdtr(fewer - 1, n, 0.5)) if fewer else 0.0
    return McNemar(
        first=first,
        second=second,
        chi2=chi2,
        p=erfc(sqrt(chi2 / 2)),
        exact=min(1.0, 2 * at_most),
        # Half of the chance of the observed counts: at a tie the two halves meet, and p is 1.
        mid_p=min(1.0, at_most + below),
    )
