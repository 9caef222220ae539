"""What a method takes and what it gives: `fit(ballots, options) -> Fit`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from grater.crowd.aggregate.ballots import Ballots, Numbers
from grater.errors import UsageError

__all__ = ["Fit", "Method", "Numbers", "Options"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """When to stop, and where chance comes from.

    A run stops once an iteration gains less than `tolerance` in log-likelihood per judgment, as crowd-kit does.
    `restarts` is for methods that start at random.
    """

    iterations: int = 100
    tolerance: float = 1e-6
    restarts: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("iterations", "restarts"):
            if getattr(self, name) < 1:
                raise UsageError(f"expected --{name} of at least 1, found {getattr(self, name)}")
        if self.tolerance != self.tolerance:
            raise UsageError("expected a number for --tolerance, found nan")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """`posteriors` has a row for each item and a column for each label.

    `skill`, a number for each rater, is what the method's paper calls so; None where the method has no such thing.
    `history` is the log-likelihood after each iteration; `of_items` is what else was learnt of each item.
    """

    posteriors: Numbers
    skill: Numbers | None = None
    history: tuple[float, ...] = ()
    has_converged: bool = True
    of_items: Mapping[str, Numbers] = field(default_factory=dict)
    details: object = None


Method: TypeAlias = Callable[[Ballots, Options], Fit]
