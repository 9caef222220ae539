"""Raters' errors on gold items, and scores corrected for them.

Rogan & Gladen 1978, Am. J. Epidemiology 107, 71-76. Raters recognise a share se (sensitivity) of the errors and a
share sp (specificity) of the good items. At the true error rate q they therefore report p = se q + (1 - sp)(1 - q),
so q = (p + sp - 1) / (se + sp - 1). The "rater" is the truth that an evaluation uses: the majority, the share, or one
rater, assumed to err on gold as elsewhere.

The correction is linear in the totals of each side: with F flagged items and h judged hits, the true hits are (h - (1
- sp) F) / (se + sp - 1), clipped to [0, F], and likewise for misses. The limits of hits and misses are corrected,
recall and F follow from them by MOVER, and the effects of moving se and sp to their Wilson limits are added in
quadrature (rule 8). A completely judged corpus counts as a sample of two strata with all their items.

If se + sp <= 1, or fewer than ten gold items of a kind were judged, nothing is corrected, and the result gives the
reason. Raters who see flags err differently on flagged items: where their results on gold differ significantly
between what a system flags and the rest, each side with enough gold is corrected by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan, nan
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem
from grater.measure.evaluation.cases import ERROR, OK, RATER
from grater.measure.sampling.plan import decided
from grater.model import Interval
from grater.result import HIDDEN, Data, in_json
from grater.sheet import counted, digest, interval, number
from grater.tables import Judgments, Table, exploded
from grater.uncertainty import (
    Difference,
    Influence,
    Numbers,
    difference,
    generator,
    shares_differ,
    wilson,
    with_parameters,
    z_value,
)
from grater.uncertainty.sampled import Flags, SampleScores, Strata, influence_of, scores_of_totals, with_flagged_share

FEW_GOLD = 10
USELESS = "sensitivity and specificity add up to 1 or less: the raters' verdicts say nothing about the truth"


@dataclass(frozen=True, slots=True)
class RaterError(Data):
    """Raters' results on gold: `n_caught` of `n_errors` errors, and `n_passed` of `n_ok` good items accepted."""

    n_caught: float = field(metadata=HIDDEN)
    n_errors: int = field(metadata=HIDDEN)
    n_passed: float = field(metadata=HIDDEN)
    n_ok: int = field(metadata=HIDDEN)
    n_left_out: int = field(default=0, metadata=HIDDEN)

    @property
    @in_json()
    def sensitivity(self) -> Interval:
        return wilson(self.n_caught, self.n_errors)

    @property
    @in_json()
    def specificity(self) -> Interval:
        return wilson(self.n_passed, self.n_ok)

    @property
    @in_json()
    def gold(self) -> dict[str, int]:
        return {"error": self.n_errors, "ok": self.n_ok, "left_out": self.n_left_out}

    @property
    def undefined_because(self) -> str:
        """Why no correction is possible; empty if it is."""
        for n, what in ((self.n_errors, "with an error"), (self.n_ok, "without an error")):
            if n < FEW_GOLD:
                return f"expected {FEW_GOLD} judged gold items {what} or more, found {n}"
        return USELESS if self.sensitivity.value + self.specificity.value <= 1 else ""

    @property
    def sentence(self) -> str:
        shares = [("sensitivity", self.sensitivity, self.n_errors), ("specificity", self.specificity, self.n_ok)]
        return f"raters: {'; '.join(f'{name} {interval(share)} on {n:,}' for name, share, n in shares)} gold items"


def rater_error(
    judged: pl.DataFrame, gold: Table, *, merge: Mapping[str, str] | None = None, only: pl.Series | None = None
) -> RaterError:
    """How often the truth of an evaluation is right on gold: `judged` has item and error, a share from 0 to 1.

    With `only`, on these gold items alone.
    """
    known = _known(gold, merge or {})
    if only is not None:
        known = known.join(pl.DataFrame({"item": only}), on="item", how="semi")
    rows = known.filter(pl.col("is_error").is_not_null()).join(judged, on="item")
    if rows.is_empty() and only is None and len(judged):
        message = f"expected gold for some of the judged items, found {len(known)} others; are these the same items?"
        raise BadInput(Problem(gold.name, message))
    errors, good = (rows.filter(side)["error"] for side in (pl.col("is_error"), ~pl.col("is_error")))
    return RaterError(
        n_caught=float(errors.sum()),
        n_errors=len(errors),
        n_passed=float((1 - good).sum()),
        n_ok=len(good),
        n_left_out=len(known) - len(rows),
    )


def _known(gold: Table, merge: Mapping[str, str]) -> pl.DataFrame:
    """Gold items with `is_error`, null if gold accepts both verdicts; other labels are refused."""
    rows = exploded(gold.frame.select("item", "label"), "label").with_columns(
        pl.col("item").cast(pl.String), pl.col("label").replace(dict(merge)).str.to_lowercase()
    )
    strange = sorted(set(rows["label"]) - {ERROR, OK})
    if strange:
        message = f"expected the labels error and ok, found {', '.join(strange[:5])}"
        raise BadInput(Problem(gold.name, f"{message}; merge {strange[0]} into error or ok"))
    is_error, is_ok = ((pl.col("label") == verdict).any() for verdict in (ERROR, OK))
    return rows.group_by("item").agg(is_error=pl.when(is_error != is_ok).then(is_error))


def as_many_votes(on_gold: Judgments, judgments: Judgments, *, truth: str = "majority") -> Judgments:
    """Answers to hidden gold, randomly reduced to the median number of judgments of other items.

    Everyone answers gold, and a majority of thirty errs less often than the majority of three that is to be
    corrected. A single answer errs more often, so gold with fewer answers is left out. Shares err equally often
    whatever the number of votes, and single raters need no reduction.
    """
    counts = sorted(judgments.frame["item"].value_counts(name="n")["n"])
    most = counts[len(counts) // 2] if counts else len(on_gold)
    if truth.startswith(RATER):
        return on_gold
    least = 1 if truth == "share" else most
    rows = on_gold.frame.sort(pl.col("item").cast(pl.String), pl.col("rater").cast(pl.String))
    lots = pl.Series("lot", generator(0, "rater-error", "gold").random(len(rows)))
    is_kept = (pl.col("lot").rank("ordinal").over("item") <= most) & (pl.len().over("item") >= least)
    return replace(on_gold, frame=rows.with_columns(lots).filter(is_kept).drop("lot"))


# By side of a system's decision


@dataclass(frozen=True, slots=True)
class Sides:
    """Raters' results on gold that a system flags, and on other gold; the same record twice if they do not differ."""

    flagged: RaterError
    passed: RaterError

    @property
    def is_apart(self) -> bool:
        return self.flagged is not self.passed

    @property
    def parameters(self) -> list[Interval]:
        """Sensitivity and specificity on flagged items and, if different, on the others."""
        pairs = (self.flagged, self.passed) if self.is_apart else (self.flagged,)
        return [share for side in pairs for share in (side.sensitivity, side.specificity)]

    def differences(self) -> Iterator[tuple[str, float, float]]:
        """Shares that differ significantly between the sides, by the test for two proportions."""
        first, second = self.flagged, self.passed
        shares = [
            ("sensitivity", first.n_caught, first.n_errors, second.n_caught, second.n_errors),
            ("specificity", first.n_passed, first.n_ok, second.n_passed, second.n_ok),
        ]
        for name, hits, n, other_hits, other_n in shares:
            if min(n, other_n) >= FEW_GOLD and shares_differ(hits, n, other_hits, other_n):
                yield name, hits / n, other_hits / other_n


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Raters' errors on gold, for each system; with too little gold, `raters.undefined_because` says so."""

    raters: RaterError
    gold: str
    sides: Mapping[str, Sides]
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """How raters err on gold, on both sides of the systems whose scores are corrected by side."""
        apart = [
            f"{name}, {where}: {side.sentence}"
            for name, sides in self.sides.items()
            if sides.is_apart
            for where, side in (("on its flags", sides.flagged), ("on the rest", sides.passed))
        ]
        return (self.raters.sentence, *apart)

    @property
    def options(self) -> dict[str, str]:
        by_side = {"errors": "by-flag"} if any(sides.is_apart for sides in self.sides.values()) else {}
        return {"correction": "rogan-gladen", "gold": self.gold, **by_side}


def correction_of(
    judged: pl.DataFrame,
    gold: Table,
    decisions: Table,
    systems: Sequence[str],
    *,
    merge: Mapping[str, str] | None = None,
) -> Correction:
    def read(only: pl.Series | None = None) -> RaterError:
        return rater_error(judged, gold, merge=merge, only=only)

    raters, chosen, notes = read(), {}, []
    for system in systems:
        chosen[system] = Sides(raters, raters)
        rows = decided(decisions, system)
        apart = Sides(*(read(rows.filter(pl.col("flagged") == side)["item"]) for side in (True, False)))
        is_usable = not (apart.flagged.undefined_because or apart.passed.undefined_because)
        found = list(apart.differences())
        if is_usable and found:
            chosen[system] = apart
        advice = "each side is corrected by itself" if is_usable else "judge more gold on both sides"
        notes += [
            f"{system}: {name} of raters is {number(share)} on gold that it flags and {number(other)} on the rest: "
            f"they err differently there; {advice}"
            for name, share, other in found
        ]
    if raters.undefined_because:
        notes = [f"nothing is corrected: {raters.undefined_because}"]
    if raters.n_left_out:
        n = counted(raters.n_left_out, "gold item")
        notes.append(f"{n} left out: judged by nobody or by fewer raters than other items, or both verdicts accepted")
    rows_of_gold = gold.frame.select("item", "label").sort("item").iter_rows()
    return Correction(raters, digest(f"{item}|{label}" for item, label in rows_of_gold), chosen, tuple(notes))


# Corrected scores

Rates: TypeAlias = Sequence[float]
"""Sensitivity and specificity on flagged items and, where they differ, on the rest (`Sides.parameters`)."""


def true_errors(errors: Numbers | float, n: Numbers | float, sensitivity: float, specificity: float) -> Numbers:
    """The true number of errors behind those judged among n items; nan for raters who guess."""
    informed = sensitivity + specificity - 1
    true: Numbers = np.clip(
        (errors - (1 - specificity) * np.asarray(n)) / (informed if informed > 0 else nan), 0.0, n
    )
    return true


def corrected(judged: SampleScores, n_passed: float, sides: Sides) -> SampleScores:
    n_flagged = judged.hit.value + judged.false_alarm.value
    reason = next((side.undefined_because for side in (sides.flagged, sides.passed) if side.undefined_because), "")
    if reason:
        none = Interval(nan, nan, nan, reason)
        f = dict.fromkeys(judged.f, none)
        return SampleScores(none, none, f, none, none, none, judged.method)
    parameters = sides.parameters

    def shares(at: Rates) -> dict[str, Interval]:
        hit = _corrected_total(judged.hit, n_flagged, *at[:2])
        miss = _corrected_total(judged.miss, n_passed, *at[-2:])
        scores = scores_of_totals(hit, miss, n_flagged, n_passed)
        if judged.flagged_share is not None:
            scores = with_flagged_share(scores, judged.flagged_share, n_passed)
        return {**scores.named(), "missed": _times(miss, 1 / n_passed if n_passed else 0.0)}

    def moved(name: str) -> Callable[[Rates], float]:
        return lambda at: shares(at)[name].value

    found = shares([parameter.value for parameter in parameters])
    pairs = [(side.sensitivity, side.specificity) for side in (sides.flagged, sides.passed)]
    if any(se.low + sp.value <= 1 or se.value + sp.low <= 1 for se, sp in pairs):
        # Raters who may have guessed leave everything possible.
        wide = {name: own if isnan(own.low) else Interval(own.value, 0.0, 1.0) for name, own in found.items()}
    else:
        wide = {name: with_parameters(own, moved(name), parameters) for name, own in found.items()}
    hit = _times(wide["precision"], n_flagged) if n_flagged else judged.hit
    return SampleScores(
        precision=wide["precision"],
        recall=wide["recall"],
        f={beta: wide[f"f{beta:g}"] for beta in judged.f},
        hit=hit,
        false_alarm=Interval(n_flagged - hit.value, n_flagged - hit.high, n_flagged - hit.low, hit.undefined_because),
        miss=_times(wide["missed"], n_passed),
        method=judged.method,
        flagged_share=judged.flagged_share,
    )


def _times(share: Interval, n: float) -> Interval:
    return Interval(share.value * n, share.low * n, share.high * n, share.undefined_because)


def _corrected_total(total: Interval, n: float, sensitivity: float, specificity: float) -> Interval:
    value, low, high = (
        float(true_errors(each, n, sensitivity, specificity)) for each in (total.value, total.low, total.high)
    )
    return Interval(value, low, high, total.undefined_because)


def corrected_difference(strata: Strata, name: str, first: Flags, second: Flags, raters: RaterError) -> Difference:
    """The corrected score of the system that flags the cells `first`, less that of `second`.

    Sensitivity and specificity add to the variance, so that p and interval agree.
    """
    if raters.undefined_because:
        return Difference(Interval(nan, nan, nan, raters.undefined_because), nan)

    def at(sensitivity: float, specificity: float) -> Influence:
        correct = partial(true_errors, sensitivity=sensitivity, specificity=specificity)
        return influence_of(strata, name, first, correct) - influence_of(strata, name, second, correct)

    se, sp = raters.sensitivity, raters.specificity
    it, extra = at(se.value, sp.value), 0.0
    for low, high in (((se.low, sp.value), (se.high, sp.value)), ((se.value, sp.low), (se.value, sp.high))):
        moved = [abs(at(*rates).value - it.value) for rates in (low, high)]
        extra += max(1.0 if isnan(each) else each for each in moved) ** 2
    variance = it.variance + extra / z_value() ** 2
    return difference(replace(it, variance=variance))


def limits_of_correction(system: str, judged: SampleScores, n_passed: float, sides: Sides) -> Iterator[str]:
    """Where a corrected rate was clipped, and where specificity limits what recall can be estimated."""
    n_flagged = judged.hit.value + judged.false_alarm.value
    words = (
        ("flagged", judged.hit.value, n_flagged, sides.flagged),
        ("unflagged", judged.miss.value, n_passed, sides.passed),
    )
    for word, errors, n, side in words:
        se, sp = side.sensitivity.value, side.specificity.value
        rate = (errors / n + sp - 1) / (se + sp - 1) if n and se + sp > 1 else nan
        if rate < 0 or rate > 1:
            end = "0" if rate < 0 else "1"
            yield f"{system}: the corrected rate of errors in {word} items is {rate:.4f}; set to {end}"
        # By the low limit of specificity: gold without a mistake proves nothing.
        false_calls = (1 - side.specificity.low) * (1 - min(1.0, max(0.0, rate)))
        if word == "unflagged" and errors > 0 and 2 * false_calls >= errors / n:
            yield (
                f"{system}: {errors / n:.1%} of unflagged items are called errors, and raters may do so with "
                f"{1 - side.specificity.low:.1%} of good ones: specificity limits what can be known of recall; "
                "judge more gold items without errors"
            )
