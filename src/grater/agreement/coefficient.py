"""A coefficient of agreement as what it is: a function of sums over items.

`rows` says what each pattern of counts adds to the sums, `score` makes the number from them.  Counts add up, scores
do not; so resampling, the delta method and tests come for nothing, and a new coefficient is two short functions.
`score` works on many sums at once (the last axis holds the sums), and on complex numbers: that is how the delta
method takes its derivatives, exact to the last digit (`gradient`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.agreement.counts import Whole

Numbers: TypeAlias = npt.NDArray[np.float64]
Sums: TypeAlias = npt.NDArray[Any]
"""Real, or complex while a derivative is taken."""

STEP = 1e-20


@dataclass(frozen=True, slots=True)
class Coefficient:
    """`name` as published; `undefined` says why it is nan where it is."""

    name: str
    rows: Callable[[Whole], Numbers]
    score: Callable[[Sums], Sums]
    undefined: str = "all judgments are of one label, so that chance alone agrees as well"


def ratio(top: Sums, bottom: Sums) -> Sums:
    """top / bottom, nan where there is nothing to divide by."""
    top, bottom = np.broadcast_arrays(top, bottom)
    out = np.full(top.shape, np.nan, np.result_type(top, bottom, np.float64))
    return np.divide(top, bottom, out=out, where=bottom != 0)


def gradient(score: Callable[[Sums], Sums], sums: Numbers) -> Numbers:
    """The derivative of the score by each sum, by a complex step (Squire & Trapp 1998)."""
    steps = sums[None, :] + 1j * STEP * np.eye(sums.size)
    derivative: Numbers = score(steps).imag / STEP
    return derivative
