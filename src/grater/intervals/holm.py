"""Many tests at once: Holm's step-down correction (Holm 1979, Scandinavian Journal of Statistics 6, 65-70)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan, nan


def holm(values: Sequence[float]) -> list[float]:
    """p of each test, adjusted for their number; those that are undefined stay so and do not count."""
    order = sorted((p, place) for place, p in enumerate(values) if not isnan(p))
    adjusted, highest = [nan] * len(values), 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = highest
    return adjusted
