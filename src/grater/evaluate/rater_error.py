"""Estimates corrected for what raters get wrong, as gold items show it.

Rogan & Gladen 1978, Am. J. Epidemiology 107, 71-76.  Raters call a share se (sensitivity) of errors errors and a
share sp (specificity) of good items good.  Where the true rate is q they find errors at the rate
p = se q + (1 - sp)(1 - q), so q = (p + sp - 1) / (se + sp - 1).  The rater here is what the estimate believes: the
majority, the share, or one rater.  Hits and misses are corrected apart; P, R and F follow.  Raters are taken to err
on gold as they do on the sample, and on flagged items as on others.

A corrected rate outside [0, 1] is set to the nearer end, and a warning says so.  With se + sp <= 1 raters know
nothing, with fewer than ten judged gold items of a kind nothing is known of them: nan with the reason.

Limits carry the doubt in se, sp and every stratum through by a Bayesian bootstrap (Rubin 1981) with half a case of
each kind added, so that thirty gold items without a mistake are no proof of perfect raters.  A finite corpus removes
only the doubt about which items were drawn, not that about verdicts.  A resample with se + sp <= 1 counts as 0 for
the low limit and as 1 for the high one.  Gold items in the sample are taken as if they were others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem
from grater.evaluate.sampled import Sampled, SystemEstimate
from grater.evaluate.sampled_truth import ERROR, OK, truth_of
from grater.intervals.wilson import wilson
from grater.model import Interval
from grater.rng import generator
from grater.sampling.scores import BETAS, Stratum, pooled_rate
from grater.signature import Signature, digest
from grater.tables import Judgments, Table, exploded

Numbers: TypeAlias = npt.NDArray[np.float64]

FEW_GOLD = 10
RESAMPLES = 4000
USELESS = "sensitivity and specificity add up to 1 or less: the raters' verdicts say nothing of the truth"


@dataclass(frozen=True, slots=True)
class RaterError:
    """What raters make of gold: `found` of `n_errors` errors, `passed` of `n_ok` good items; the rest is left out."""

    found: float
    n_errors: int
    passed: float
    n_ok: int
    n_left_out: int = 0
    level: float = 0.95

    @property
    def sensitivity(self) -> Interval:
        return wilson(self.found, self.n_errors, level=self.level)

    @property
    def specificity(self) -> Interval:
        return wilson(self.passed, self.n_ok, level=self.level)

    @property
    def reason(self) -> str:
        """Why nothing can be corrected, or nothing."""
        for n, what in ((self.n_errors, "with an error"), (self.n_ok, "without an error")):
            if n < FEW_GOLD:
                return f"expected {FEW_GOLD} judged gold items {what} or more, found {n}"
        return USELESS if self.sensitivity.value + self.specificity.value <= 1 else ""


@dataclass(frozen=True, slots=True)
class Corrected:
    """One system after the correction; hit and miss are totals over the corpus."""

    system: str
    precision: Interval
    recall: Interval
    f: Mapping[float, Interval]
    hit: Interval
    miss: Interval


@dataclass(frozen=True, slots=True)
class Correction:
    """Every system corrected, with what it was corrected by."""

    raters: RaterError
    systems: tuple[Corrected, ...]
    warnings: tuple[str, ...]
    signature: Signature


def true_rate(rate: float, sensitivity: float, specificity: float) -> float:
    """The rate of errors behind a judged one (Rogan & Gladen 1978), not held to [0, 1]; nan for raters who guess."""
    informed = sensitivity + specificity - 1
    return (rate + specificity - 1) / informed if informed > 0 else nan


def correct(
    found: Sampled,
    judgments: Judgments,
    gold: Table,
    *,
    truth: str = "majority",
    merge: Mapping[str, str] | None = None,
    fpc: bool = True,
    level: float = 0.95,
    n_resamples: int = RESAMPLES,
    seed: int = 0,
) -> Correction:
    """The estimates of a sample, corrected by gold items; judgments and truth are those of the estimates."""
    raters = rater_error(judgments, gold, truth=truth, merge=merge, level=level)
    systems = tuple(
        corrected(each, raters, fpc=fpc, n_resamples=n_resamples, rng=generator(seed, "rater-error", each.system))
        for each in found.systems
    )
    warnings = [warning for each in found.systems for warning in _warnings(each, raters)]
    reason = [f"nothing is corrected: {raters.reason}"] if raters.reason else []
    left_out = [f"{raters.n_left_out} gold items are left out: not judged, or both verdicts accepted"]
    return Correction(
        raters,
        systems,
        (*reason, *warnings, *(left_out if raters.n_left_out else [])),
        _signature(found, gold, n_resamples=n_resamples, seed=seed),
    )


def rater_error(
    judgments: Judgments,
    gold: Table,
    *,
    truth: str = "majority",
    merge: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> RaterError:
    """How often raters, taken together as `truth` says, see an error for one and a good item for good."""
    known = _known(gold, merge or {})
    rows = known.filter(pl.col("is_error").is_not_null()).join(truth_of(judgments, truth), on="item")
    if rows.is_empty():
        message = f"expected gold for some of the judged items, found {len(known)} others; are these the same items?"
        raise BadInput(Problem(gold.name, message))
    errors, good = (rows.filter(side)["error"] for side in (pl.col("is_error"), ~pl.col("is_error")))
    found, passed = float(errors.sum()), float((1 - good).sum())
    return RaterError(found, len(errors), passed, len(good), len(known) - len(rows), level)


def corrected(
    estimate: SystemEstimate,
    raters: RaterError,
    *,
    fpc: bool = True,
    n_resamples: int = RESAMPLES,
    rng: np.random.Generator,
) -> Corrected:
    """One system, with limits from resampled gold items and judged items."""
    if raters.reason:
        none = Interval(nan, nan, nan, raters.reason)
        return Corrected(estimate.system, none, none, dict.fromkeys(BETAS, none), none, none)
    sides = [_side(estimate.strata, is_flagged=is_flagged) for is_flagged in (True, False)]
    sizes = [sum(each.size for each in side) for side in sides]
    drawn = _drawn(raters, n_resamples, rng)
    value = _totals(sides, [np.array([pooled_rate(side)]) for side in sides], _point(raters))
    spread = _totals(sides, [_rates(side, raters, n_resamples, rng, fpc=fpc) for side in sides], drawn)

    def interval(name: str, beta: float, most: float = 1.0) -> Interval:
        (middle,), each = (_score(name, *totals, sizes[0], beta) for totals in (value, spread))
        return _limits(float(middle), each, most, raters.level)

    f = {beta: interval("f", beta) for beta in BETAS}
    hit, miss = (interval(name, 1.0, size) for name, size in zip(("hit", "miss"), sizes, strict=True))
    return Corrected(estimate.system, interval("precision", 1.0), interval("recall", 1.0), f, hit, miss)


def _known(gold: Table, merge: Mapping[str, str]) -> pl.DataFrame:
    """Gold items with `is_error`, null where gold accepts both verdicts; other labels are refused."""
    rows = exploded(gold.frame.select("item", "label"), "label").with_columns(
        pl.col("item").cast(pl.String), pl.col("label").replace(dict(merge)).str.to_lowercase()
    )
    strange = sorted(set(rows["label"]) - {ERROR, OK})
    if strange:
        message = f"expected the labels error and ok, found {', '.join(strange[:5])}"
        raise BadInput(Problem(gold.name, f"{message}; say --merge {strange[0]}=error, or =ok"))
    is_error, is_ok = ((pl.col("label") == verdict).any() for verdict in (ERROR, OK))
    return rows.group_by("item").agg(is_error=pl.when(is_error != is_ok).then(is_error))


def _side(strata: Sequence[Stratum], *, is_flagged: bool) -> list[Stratum]:
    return [each for each in strata if each.is_flagged == is_flagged and each.size > 0]


def _point(raters: RaterError) -> tuple[Numbers, Numbers]:
    return np.array([raters.sensitivity.value]), np.array([raters.specificity.value])


def _drawn(raters: RaterError, n: int, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
    sensitivity = rng.beta(raters.found + 0.5, raters.n_errors - raters.found + 0.5, n)
    return sensitivity, rng.beta(raters.passed + 0.5, raters.n_ok - raters.passed + 0.5, n)


def _rates(side: Sequence[Stratum], raters: RaterError, n: int, rng: np.random.Generator, *, fpc: bool) -> Numbers:
    """The judged rate of errors of one side, resampled within its strata."""
    total = np.zeros(n)
    for stratum in side:
        worth = _worth(stratum, raters) if fpc else stratum.n_judged
        rate = stratum.rate if stratum.n_judged else 0.0
        is_known = worth == inf
        total += stratum.size * (
            np.full(n, rate) if is_known else rng.beta(worth * rate + 0.5, worth * (1 - rate) + 0.5, n)
        )
    return total / (sum(stratum.size for stratum in side) or nan)


def _worth(stratum: Stratum, raters: RaterError) -> float:
    """What the judged items of a finite stratum are worth: the variance of their verdicts without what is not chance.

    Verdicts have variance p (1 - p); d² q (1 - q) of it, d = se + sp - 1, is that of the truth, which is fixed.
    """
    if stratum.size <= 1 or not stratum.n_judged:
        return stratum.n_judged
    sensitivity, specificity = raters.sensitivity.value, raters.specificity.value
    rate = (stratum.errors + 0.5) / (stratum.n_judged + 1)
    truth = min(1.0, max(0.0, true_rate(rate, sensitivity, specificity)))
    fixed = (sensitivity + specificity - 1) ** 2 * truth * (1 - truth) / (rate * (1 - rate))
    left = 1 - min(1.0, fixed) * (stratum.n_judged - 1) / (stratum.size - 1)
    return stratum.n_judged / left if left > 0 else inf


def _totals(
    sides: Sequence[Sequence[Stratum]], rates: Sequence[Numbers], raters: tuple[Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """Hits and misses over the corpus after the correction, held to what their side can hold."""
    sensitivity, specificity = raters
    informed = np.where(sensitivity + specificity > 1, sensitivity + specificity - 1, nan)
    hits, misses = (
        sum(each.size for each in side) * np.clip((rate + specificity - 1) / informed, 0, 1) if side else 0 * informed
        for side, rate in zip(sides, rates, strict=True)
    )
    return hits, misses


def _score(name: str, hits: Numbers, misses: Numbers, n_flagged: float, beta: float) -> Numbers:
    match name:
        case "hit":
            return hits
        case "miss":
            return misses
        case "precision":
            top, bottom = hits, np.full_like(hits, n_flagged)
        case "recall":
            top, bottom = hits, hits + misses
        case _:
            top, bottom = (1 + beta**2) * hits, n_flagged + beta**2 * (hits + misses)
    return np.divide(top, bottom, out=np.full_like(hits, nan), where=bottom > 0)


def _limits(value: float, spread: Numbers, most: float, level: float) -> Interval:
    if value != value:
        return Interval(nan, nan, nan, "nothing to divide by after the correction, or nothing judged")
    tail, is_nan = (1 - level) / 2, np.isnan(spread)
    low = float(np.quantile(np.where(is_nan, 0.0, spread), tail))
    high = float(np.quantile(np.where(is_nan, most, spread), 1 - tail))
    return Interval(value, min(value, low), max(value, high))


def _warnings(estimate: SystemEstimate, raters: RaterError) -> Iterator[str]:
    """What clipping did, and whether recall hangs on specificity."""
    if raters.reason:
        return
    sensitivity, specificity = raters.sensitivity.value, raters.specificity.value
    for is_flagged, word in ((True, "flagged"), (False, "unflagged")):
        judged = pooled_rate(_side(estimate.strata, is_flagged=is_flagged))
        rate = true_rate(judged, sensitivity, specificity)
        if not 0 <= rate <= 1 and rate == rate:
            end = "0" if rate < 0 else "1"
            yield f"{estimate.system}: the corrected rate of errors in {word} items is {rate:.4f}; set to {end}"
        # As often as the low limit of specificity allows, not as its value says: gold without a mistake is no proof.
        false_calls = (1 - raters.specificity.low) * (1 - min(1.0, max(0.0, rate)))
        if not is_flagged and judged > 0 and 2 * false_calls >= judged:
            yield (
                f"{estimate.system}: {judged:.1%} of unflagged items are called errors, and raters may do so with "
                f"{1 - raters.specificity.low:.1%} of good ones: specificity limits what can be known of recall; "
                "judge more gold items without errors"
            )


def _signature(found: Sampled, gold: Table, *, n_resamples: int, seed: int) -> Signature:
    rows = gold.frame.select("item", "label").sort("item").iter_rows()
    options = {
        **found.signature.options,
        "correction": "rogan-gladen",
        "gold": digest(f"{item}|{label}" for item, label in rows),
        "resamples": str(n_resamples),
        "resampling-seed": str(seed),
    }
    return Signature("sampled-corrected", options)
