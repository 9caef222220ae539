"""How many items to draw from each stratum.

`equal`: the same number from each.  `proportional`: by size.  `paper`: the OK sample twice the Error sample (T&C
2008, 6.3), by size within each.  `neyman`: n_k in proportion to N_k |f_k - R| sqrt(p_k (1 - p_k)), which makes the
variance of recall smallest (Neyman 1934, with the linearised ratio in place of the mean); it needs a guess of the
rate of errors in each stratum.

Every stratum gets two items, or all it has, so that none goes unseen; what a small stratum cannot give is shared out
among the others.  Sizes add up to n exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.errors import UsageError
from grater.sampling.scores import Stratum

Allocation: TypeAlias = Literal["equal", "paper", "proportional", "neyman"]
Numbers: TypeAlias = npt.NDArray[np.float64]

LEAST = 2
PAPER_RATIO = 2.0


def allocate(
    strata: Sequence[Stratum],
    n: int,
    *,
    method: Allocation = "paper",
    n_flagged: int | None = None,
    rates: Mapping[str, float] | None = None,
) -> dict[str, int]:
    """The number of items to draw by name of stratum; `n_flagged` of them from what the system flags, if given."""
    weights = weights_of(strata, method, rates or {})
    if n_flagged is None:
        return _shared(strata, weights, n)
    if not 0 <= n_flagged <= n:
        raise UsageError(f"expected --flagged from 0 to {n}, found {n_flagged}")
    parts = [(True, n_flagged), (False, n - n_flagged)]
    found: dict[str, int] = {}
    for is_flagged, n_part in parts:
        places = [place for place, stratum in enumerate(strata) if stratum.is_flagged == is_flagged]
        if n_part and not places:
            raise UsageError(f"expected a stratum for {n_part} items, found none {_word(is_flagged)}")
        found |= _shared([strata[place] for place in places], weights[places], n_part)
    return found


def weights_of(strata: Sequence[Stratum], method: Allocation, rates: Mapping[str, float]) -> Numbers:
    """What each stratum's number should be in proportion to."""
    sizes = np.array([stratum.size for stratum in strata], float)
    flagged = np.array([stratum.is_flagged for stratum in strata], bool)
    match method:
        case "equal":
            return np.ones(len(strata))
        case "proportional":
            return sizes
        case "paper":
            within = [sizes[flagged].sum() if flag else sizes[~flagged].sum() for flag in flagged]
            ratio = np.where(flagged, 1.0, PAPER_RATIO)
            return np.asarray(ratio * sizes / np.array(within, float), float)
        case "neyman":
            return neyman_weights(with_rates(strata, rates))


def with_rates(strata: Sequence[Stratum], rates: Mapping[str, float]) -> list[Stratum]:
    """The strata as if judged, with these rates; a rate for `flagged` or `unflagged` holds for all of that side."""
    found = []
    for stratum in strata:
        rate = rates.get(stratum.name, rates.get(_word(stratum.is_flagged)))
        if rate is None:
            raise UsageError(
                f"expected a rate of errors for stratum {stratum.name!r}, found none; give it with --rate"
            )
        if not 0 <= rate <= 1:
            raise UsageError(f"expected a rate from 0 to 1 for stratum {stratum.name!r}, found {rate:g}")
        found.append(replace(stratum, n_judged=1.0, errors=rate))
    return found


def neyman_weights(strata: Sequence[Stratum]) -> Numbers:
    """N_k |f_k - R| sqrt(p_k (1 - p_k)) from the strata's own rates."""
    errors = [stratum.size * stratum.rate for stratum in strata]
    hits = sum(each for each, stratum in zip(errors, strata, strict=True) if stratum.is_flagged)
    recall = hits / sum(errors) if sum(errors) else 0.5
    return np.array(
        [each.size * abs(each.is_flagged - recall) * sqrt(each.rate * (1 - each.rate)) for each in strata], float
    )


def _shared(strata: Sequence[Stratum], weights: Numbers, n: int) -> dict[str, int]:
    most = np.array([stratum.size for stratum in strata], float)
    least = np.minimum(LEAST, most)
    if n and not least.sum() <= n <= most.sum():
        raise UsageError(f"expected from {least.sum():.0f} to {most.sum():.0f} items for {_names(strata)}, found {n}")
    wanted = between(weights if weights.sum() > 0 else most, least if n else 0 * least, most, n)
    return dict(zip((stratum.name for stratum in strata), _whole(wanted, most, n), strict=True))


def between(weights: Numbers, least: Numbers, most: Numbers, n: float) -> Numbers:
    """Numbers in proportion to the weights that keep their bounds and add up to n."""
    low, high = 0.0, 1.0
    while np.clip(high * weights, least, most).sum() < n and high < 1e300:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(middle * weights, least, most).sum() < n else (low, middle)
    return np.clip(high * weights, least, most)


def _whole(wanted: Numbers, most: Numbers, n: int) -> list[int]:
    """Whole numbers next to those wanted: the largest remainders are rounded up; of equals, the first."""
    whole = np.floor(wanted + 1e-9)
    while whole.sum() < n:
        # A stratum that is full takes no more; where weights are 0 the emptiest one gives what is still asked for.
        whole[np.argmax(np.where(whole < most, wanted - whole, -np.inf))] += 1
    return [int(each) for each in whole]


def _word(is_flagged: bool) -> str:
    return "flagged" if is_flagged else "unflagged"


def _names(strata: Sequence[Stratum]) -> str:
    return f"{len(strata)} strata" if len(strata) > 3 else ", ".join(stratum.name for stratum in strata)
