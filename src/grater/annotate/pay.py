"""Pay for crowd work: policies in whole cents, the cost of a job, and earnings per hour.

T,C&M 2013, Table 5 gives judgments, cost and turn-around of each task; 7.1 asks requesters to report pay.  Money is
whole cents of one currency and never a float; cents are never mixed between currencies.  A policy pays for every
submission, for those of raters who were not ejected, or for those that ended valid; `all`, the default, pays
submitted work whatever happens to it.

A rater is paid for a unit once, however often they answered it (a second tab, a revised essay): of several answers
the one that counts decides, else one that came too late, else one that was withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.model import Interval
from grater.uncertainty.proportions import wilson

Policy: TypeAlias = Literal["all", "not-untrusted", "valid"]
POLICIES: tuple[Policy, ...] = ("all", "not-untrusted", "valid")
POLICY_WORDS: dict[str, str] = {
    "all": "every judgment",
    "not-untrusted": "every judgment except untrusted ones",
    "valid": "valid judgments only",
}
PAID: dict[Policy, frozenset[str]] = {
    "all": frozenset(("valid", "surplus", "untrusted", "withdrawn")),
    "not-untrusted": frozenset(("valid", "surplus", "withdrawn")),
    "valid": frozenset(("valid",)),
}
DECIDES = ("valid", "untrusted", "surplus", "withdrawn")
"""Of several answers to one unit, the first of these statuses decides; at most one is valid or untrusted."""
HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Pay:
    """Cents of a currency per unit, and the policy; gold and quiz units are paid like others."""

    cents: int
    currency: str = "EUR"
    policy: Policy = "all"
    least_hourly: int = 0

    def __post_init__(self) -> None:
        if self.cents < 0 or self.least_hourly < 0:
            raise UsageError(f"expected pay of 0 cents or more, found {self.cents}")
        if self.policy not in POLICIES:
            raise UsageError(f"expected pay policy {', '.join(POLICIES)}, found {self.policy!r}")
        if len(self.currency) != 3 or not self.currency.isupper() or not self.currency.isascii():
            raise UsageError(f"expected a currency in three letters, as in EUR, found {self.currency!r}")


@dataclass(frozen=True, slots=True)
class Work:
    """One submission, as far as pay is concerned; `seconds` where they were measured.

    Without a `unit` it is work of its own.
    """

    rater: str
    status: str
    seconds: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class UnitsAnswered:
    """What one rater has answered: different units, and those whose answer counts or is not trusted."""

    n_units: int
    n_valid: int
    n_untrusted: int


@dataclass(frozen=True, slots=True)
class Bill:
    """What a job cost: cents in all, by rater, wasted on judgments that do not count, and per valid judgment."""

    currency: str
    cents: int
    by_rater: dict[str, int]
    wasted: int
    n_valid: int

    @property
    def per_valid(self) -> float:
        """Cents for each judgment that counts; nan without any."""
        return self.cents / self.n_valid if self.n_valid else float("nan")


@dataclass(frozen=True, slots=True)
class HourlyPay:
    """Cents per hour: the median of raters, and the first quartile."""

    median: float
    slow_quarter: float
    n_raters: int
    warning: str = ""


def paid_once(done: Iterable[Work]) -> list[Work]:
    """The paid work: one piece per rater and unit, with the time of all its answers."""
    by_unit: dict[tuple[str, str] | int, Work] = {}
    for number, work in enumerate(done):
        key = (work.rater, work.unit) if work.unit else number
        by_unit[key] = _together(by_unit[key], work) if key in by_unit else work
    return list(by_unit.values())


def _together(first: Work, second: Work) -> Work:
    deciding = min(first, second, key=lambda work: DECIDES.index(work.status))
    known = [work.seconds for work in (first, second) if work.seconds is not None]
    return replace(deciding, seconds=sum(known) if known else None)


def owed(pay: Pay, work: Work) -> int:
    """Cents owed for one piece of work."""
    return pay.cents if work.status in PAID[pay.policy] else 0


def earned(pay: Pay, answered: UnitsAnswered) -> int:
    """Cents owed to one rater: what `bill` says of the same work, from counts alone.

    Of the answers to a unit at most one is valid or untrusted, and that one decides.
    """
    n_paid = {
        "all": answered.n_units,
        "not-untrusted": answered.n_units - answered.n_untrusted,
        "valid": answered.n_valid,
    }
    return pay.cents * n_paid[pay.policy]


def bill(pay: Pay, done: Iterable[Work]) -> Bill:
    """The whole job; what is owed to raters adds up to the total, to the cent."""
    by_rater: dict[str, int] = {}
    wasted = n_valid = 0
    for work in paid_once(done):
        cents = owed(pay, work)
        by_rater[work.rater] = by_rater.get(work.rater, 0) + cents
        wasted += 0 if work.status == "valid" else cents
        n_valid += work.status == "valid"
    return Bill(
        currency=pay.currency, cents=sum(by_rater.values()), by_rater=by_rater, wasted=wasted, n_valid=n_valid
    )


def hourly(pay: Pay, done: Sequence[Work]) -> HourlyPay:
    """Earnings per hour of the median rater and of the slower quarter, with a warning where below the minimum."""
    timed = [work for work in paid_once(done) if work.seconds]
    raters = sorted({work.rater for work in timed})
    rates = []
    for rater in raters:
        own = [work for work in timed if work.rater == rater]
        seconds = sum(work.seconds or 0.0 for work in own)
        rates.append(HOUR * sum(owed(pay, work) for work in own) / seconds)
    if not rates:
        return HourlyPay(float("nan"), float("nan"), 0)
    middle, slow = (float(np.quantile(rates, share)) for share in (0.5, 0.25))
    return HourlyPay(median=middle, slow_quarter=slow, n_raters=len(rates), warning=_warning(pay, middle, slow))


def _warning(pay: Pay, middle: float, slow: float) -> str:
    if not pay.least_hourly or slow >= pay.least_hourly:
        return ""
    who = "half" if middle < pay.least_hourly else "a quarter"
    return f"{who} of the raters make less than {money(pay.least_hourly, pay.currency)} an hour"


def money(cents: float, currency: str) -> str:
    """`12.05 EUR`."""
    return f"{cents / 100:,.2f} {currency}"


def valid_share(done: Sequence[Work]) -> Interval:
    """The share of submissions that count."""
    return wilson(sum(work.status == "valid" for work in done), len(done))
