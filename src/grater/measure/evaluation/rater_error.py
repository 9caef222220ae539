"""What raters get wrong, as gold items show it, and scores corrected for it.

Rogan & Gladen 1978, Am. J. Epidemiology 107, 71-76.  Raters call a share se (sensitivity) of errors errors and a
share sp (specificity) of good items good.  Where the true rate is q they find errors at the rate
p = se q + (1 - sp)(1 - q), so q = (p + sp - 1) / (se + sp - 1).  The rater here is what an evaluation believes: the
majority, the share, or one rater.  Raters are assumed to err on gold as they do elsewhere, and on flagged items as on
others.

By side: a rater who sees a flag errs differently on what is flagged.  Sensitivity and specificity of each side of a
system's decision then come from the gold items of that side, ten of each kind at least; where a side has fewer, the
pooled ones stand in, with a warning.  Without it, a warning says where the two sides differ beyond chance (two
shares, z above 1.96).  Each system splits gold in its own way, so that corrections by side are not paired.

With se + sp <= 1 raters know nothing, with fewer than ten judged gold items of a kind nothing is known of them: the
result says so.  Uncertainty about se and sp comes from a Bayesian bootstrap (Rubin 1981) with half a case of each
kind added, so that thirty gold items without a mistake do not prove that raters are perfect.

The correction is linear in counts: with F flagged items and h hits as judged, the true hits are
(h - (1 - sp) F) / (se + sp - 1), and likewise for misses, each clipped to the size of its side.  So it is made on
sums, after they are resampled, and differences between systems stay paired: every resample has one se and one sp for
all systems.  McNemar's test looks at items one by one and stays as judged.  Estimates from a sample are corrected in
`sampled/results.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem
from grater.measure.agreement.coded import Unknown
from grater.measure.evaluation.cases import (
    CELLS,
    ERROR,
    OK,
    RATER,
    REASONS,
    SCORES,
    Cases,
    Counts,
    Truth,
    Truths,
    frame_of_truth,
    scores,
    truth_of,
    votes_of,
)
from grater.measure.evaluation.standard import Scored, drawn_sums, units_of
from grater.measure.sampling.plan import decided
from grater.model import Interval
from grater.result import HIDDEN, Data, in_json
from grater.sheet import counted, interval, number
from grater.signature import digest
from grater.tables import Judgments, Table, exploded
from grater.uncertainty.bootstrap import Chance
from grater.uncertainty.intervals import (
    ONE_UNIT,
    Numbers,
    are_alike,
    expanded_tail,
    generator,
    student_interval,
    tail_interval,
    wilson,
    z_value,
)

FEW_GOLD = 10
USELESS = "sensitivity and specificity add up to 1 or less: the raters' verdicts say nothing about the truth"


@dataclass(frozen=True, slots=True)
class RaterError(Data):
    """What raters make of gold: `n_caught` of `n_errors` errors, and `n_passed` of `n_ok` good items passed."""

    n_caught: float = field(metadata=HIDDEN)
    n_errors: int = field(metadata=HIDDEN)
    n_passed: float = field(metadata=HIDDEN)
    n_ok: int = field(metadata=HIDDEN)
    n_left_out: int = field(default=0, metadata=HIDDEN)
    level: float = field(default=0.95, metadata=HIDDEN)

    @property
    @in_json()
    def sensitivity(self) -> Interval:
        return wilson(self.n_caught, self.n_errors, level=self.level)

    @property
    @in_json()
    def specificity(self) -> Interval:
        return wilson(self.n_passed, self.n_ok, level=self.level)

    @property
    @in_json()
    def gold(self) -> dict[str, int]:
        return {"error": self.n_errors, "ok": self.n_ok, "left_out": self.n_left_out}

    @property
    def undefined_because(self) -> str:
        """Why nothing can be corrected; empty where it can."""
        for n, what in ((self.n_errors, "with an error"), (self.n_ok, "without an error")):
            if n < FEW_GOLD:
                return f"expected {FEW_GOLD} judged gold items {what} or more, found {n}"
        return USELESS if self.sensitivity.value + self.specificity.value <= 1 else ""

    @property
    def sentence(self) -> str:
        shares = [("sensitivity", self.sensitivity, self.n_errors), ("specificity", self.specificity, self.n_ok)]
        return f"raters: {'; '.join(f'{name} {interval(share)} on {n:,}' for name, share, n in shares)} gold items"

    @property
    def point(self) -> tuple[Numbers, Numbers]:
        """Sensitivity and specificity as seen."""
        return np.array(self.sensitivity.value), np.array(self.specificity.value)

    def drawn(self, n: int, rng: np.random.Generator) -> tuple[Numbers, Numbers]:
        """Sensitivity and specificity, n times each."""
        sensitivity = rng.beta(self.n_caught + 0.5, self.n_errors - self.n_caught + 0.5, n)
        return sensitivity, rng.beta(self.n_passed + 0.5, self.n_ok - self.n_passed + 0.5, n)


def true_rate(rate: float, sensitivity: float, specificity: float) -> float:
    """The rate of errors behind a judged one (Rogan & Gladen 1978), not held to [0, 1]; nan for raters who guess."""
    informed = sensitivity + specificity - 1
    return (rate + specificity - 1) / informed if informed > 0 else nan


def rater_error(
    judgments: Judgments,
    gold: Table,
    *,
    truth: str = "majority",
    merge: Mapping[str, str] | None = None,
    unknown: Unknown = "drop",
    seed: int = 0,
    level: float = 0.95,
    only: pl.Series | None = None,
) -> RaterError:
    """How often raters, taken together as `truth` says, see an error for one and a good item for good.

    With `only`, on these gold items alone.
    """
    known = _known(gold, merge or {})
    if only is not None:
        known = known.join(pl.DataFrame({"item": only}), on="item", how="semi")
    votes = votes_of(judgments, unknown=unknown)
    judged = frame_of_truth(votes, truth_of(votes, truth, seed=seed))
    rows = known.filter(pl.col("is_error").is_not_null()).join(judged, on="item")
    if rows.is_empty() and only is None and len(votes):
        message = f"expected gold for some of the judged items, found {len(known)} others; are these the same items?"
        raise BadInput(Problem(gold.name, message))
    errors, good = (rows.filter(side)["error"] for side in (pl.col("is_error"), ~pl.col("is_error")))
    return RaterError(
        n_caught=float(errors.sum()),
        n_errors=len(errors),
        n_passed=float((1 - good).sum()),
        n_ok=len(good),
        n_left_out=len(known) - len(rows),
        level=level,
    )


def left_out_words(raters: RaterError) -> str:
    """How many gold items say nothing of raters, and why they may not."""
    n = counted(raters.n_left_out, "gold item")
    return f"{n} left out: judged by nobody or by fewer raters than other items, or both verdicts accepted"


def as_many_votes(on_gold: Judgments, judgments: Judgments, *, truth: str = "majority") -> Judgments:
    """Answers to hidden gold, of each item as many as other items have judgments at the median, by lot.

    Everybody meets gold, and a majority of thirty errs less than the majority of three that is to be corrected; that
    of one errs more, so that gold with fewer answers is left out.  A share errs as often whatever the number of its
    votes, and one rater is taken as he or she is.
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


def _known(gold: Table, merge: Mapping[str, str]) -> pl.DataFrame:
    """Gold items with `is_error`, null where gold accepts both verdicts; other labels are refused."""
    rows = exploded(gold.frame.select("item", "label"), "label").with_columns(
        pl.col("item").cast(pl.String), pl.col("label").replace(dict(merge)).str.to_lowercase()
    )
    strange = sorted(set(rows["label"]) - {ERROR, OK})
    if strange:
        message = f"expected the labels error and ok, found {', '.join(strange[:5])}"
        raise BadInput(Problem(gold.name, f"{message}; merge {strange[0]} into error or ok"))
    is_error, is_ok = ((pl.col("label") == verdict).any() for verdict in (ERROR, OK))
    return rows.group_by("item").agg(is_error=pl.when(is_error != is_ok).then(is_error))


def corrected_interval(
    value: float,
    drawn: Numbers,
    undefined_because: str,
    *,
    least: float = 0.0,
    most: float = 1.0,
    level: float = 0.95,
    n_units: float = inf,
) -> Interval:
    """Percentiles of corrected resamples, further out where few essays (`n_units`) were drawn.

    One in which raters know nothing says that everything is possible.  Essays that are all alike are as many cases.
    """
    if isnan(value):
        return Interval(nan, nan, nan, undefined_because)
    if not drawn.size:
        return Interval(value, nan, nan, "no resample was drawn")
    if n_units < 2:
        return Interval(value, nan, nan, ONE_UNIT)
    tail = (1 - level) / 2 if n_units == inf else expanded_tail(n_units, level=level)
    is_nan = np.isnan(drawn)
    if n_units < inf and are_alike(drawn):
        return student_interval(value, drawn, n_units=n_units, level=level, ends=(least, most))
    low = tail_interval(value, np.where(is_nan, least, drawn), tail).low
    return Interval(value, low, tail_interval(value, np.where(is_nan, most, drawn), tail).high)


Rates: TypeAlias = tuple[Numbers, Numbers]
"""Sensitivity and specificity."""
Sides: TypeAlias = tuple[RaterError, RaterError]
"""What raters make of gold that a system flags, and of gold that it does not."""


def sides_of(read: Callable[..., RaterError], decisions: Table, system: str) -> Sides:
    """What `read` finds on the gold items that a system flags, and on those that it does not."""
    rows = decided(decisions, system)
    flagged, passed = (read(only=rows.filter(pl.col("flagged") == side)["item"]) for side in (True, False))
    return flagged, passed


def usable(sides: Sides | None) -> Sides | None:
    """The sides, where gold says enough of both."""
    return sides if sides is not None and not any(side.undefined_because for side in sides) else None


def side_lines(system: str, sides: Sides | None, *, by_flag: bool | None) -> Iterator[str]:
    """Where raters err differently on the two sides, and where gold is too little to tell."""
    if by_flag and usable(sides) is None:
        yield f"{system}: too few gold items on one side of its decision; corrected by all gold items together"
    if by_flag or sides is None:
        return
    advice = "each side is corrected by itself" if by_flag is None else "correct each side by itself"
    for name, share, other in _differences(sides):
        yield (
            f"{system}: {name} of raters is {number(share)} on gold that it flags and {number(other)} on the rest: "
            f"they err differently there; {advice}"
        )


def differs(sides: Sides) -> bool:
    """Whether raters err differently on the two sides, beyond chance."""
    return any(True for _ in _differences(sides))


def is_by_side(sides: Sides | None, by_flag: bool | None) -> bool:
    """Whether each side is corrected by itself: where asked, or, with None, where raters err differently there."""
    return sides is not None and (bool(by_flag) or (by_flag is None and differs(sides)))


def _differences(sides: Sides) -> Iterator[tuple[str, float, float]]:
    first, second = sides
    shares = [
        ("sensitivity", first.n_caught, first.n_errors, second.n_caught, second.n_errors),
        ("specificity", first.n_passed, first.n_ok, second.n_passed, second.n_ok),
    ]
    for name, hits, n, other_hits, other_n in shares:
        if min(n, other_n) >= FEW_GOLD and abs(_z(hits, n, other_hits, other_n)) > z_value():
            yield name, hits / n, other_hits / other_n


def _z(hits: float, n: int, other_hits: float, other_n: int) -> float:
    """The test for two shares, with their common rate."""
    rate = (hits + other_hits) / (n + other_n)
    error = sqrt(rate * (1 - rate) * (1 / n + 1 / other_n))
    return (hits / n - other_hits / other_n) / error if error else 0.0


HELD = "corrected intervals held in .91 to .97 of simulated worlds, least for precision where errors are rare"
"""docs/benchmarks.md, coverage: the printed 95 % is a little more than they keep there."""


@dataclass(frozen=True, slots=True, eq=False)
class Correction:
    """Raters as gold shows them; where gold is too little, `raters.undefined_because` says so.

    `by_side` has, for each system in turn, what raters make of the gold that it flags and of the rest, None where
    gold says too little of one of them; it is empty where all items are corrected alike.
    """

    raters: RaterError
    gold: str
    by_side: tuple[Sides | None, ...] = ()
    warnings: tuple[str, ...] = ()

    def seen(self, sums: Numbers) -> Numbers:
        """Systems x counts after the correction, by sensitivity and specificity as seen."""
        if not self.by_side:
            return corrected_sums(sums, self.raters.point, self.raters.point)
        sides = [sides or (self.raters, self.raters) for sides in self.by_side]
        rows = zip(sums, sides, strict=True)
        return np.stack([corrected_sums(row, flagged.point, passed.point) for row, (flagged, passed) in rows])

    def drawn(self, sums: Numbers, *, seed: int) -> Numbers:
        """Resamples x systems x counts after the correction, with sensitivity and specificity drawn for each."""
        rng = generator(seed, "evaluate", "rater-error")
        pooled = self.raters.drawn(len(sums), rng)
        columns = []
        for place in range(sums.shape[1]):
            sides = self.by_side[place] if self.by_side else None
            flagged, passed = (side.drawn(len(sums), rng) for side in sides) if sides else (pooled, pooled)
            columns.append(corrected_sums(sums[:, place], flagged, passed))
        return np.stack(columns, axis=1)

    def notes(self, systems: Sequence[str]) -> tuple[str, ...]:
        """How raters err on gold, and on both sides of the systems that are corrected so."""
        sides = [(name, pair) for name, pair in zip(systems, self.by_side, strict=False) if pair]
        apart = [
            f"{name}, {where}: {side.sentence}"
            for name, pair in sides
            for where, side in zip(("on its flags", "on the rest"), pair, strict=True)
        ]
        return (self.raters.sentence, *apart, *([] if self.raters.undefined_because else [HELD]))

    @property
    def options(self) -> dict[str, str]:
        """Its words in a signature."""
        by_side = {"errors": "by-flag"} if self.by_side else {}
        return {"correction": "rogan-gladen", "gold": self.gold, **by_side}


def correction_by_side(
    raters: RaterError, gold: Table, sides: Mapping[str, Sides], *, by_flag: bool | None
) -> Correction:
    """The correction of named systems, each side by itself with `by_flag`; with None only where the sides differ."""
    rows = gold.frame.select("item", "label").sort("item").iter_rows()
    by_side = tuple(usable(pair) if is_by_side(pair, by_flag) else None for pair in sides.values())
    return Correction(
        raters=raters,
        gold=digest(f"{item}|{label}" for item, label in rows),
        by_side=by_side if any(by_side) else (),
        warnings=tuple(line for name, pair in sides.items() for line in side_lines(name, pair, by_flag=by_flag)),
    )


def corrected_sums(sums: Numbers, on_flagged: Rates, on_passed: Rates) -> Numbers:
    """The four counts of the last axis after the correction; nan where raters know nothing."""
    hit, false_alarm, miss, rejection = np.moveaxis(sums, -1, 0)
    flagged, passed = hit + false_alarm, miss + rejection
    hits, misses = _true_errors(hit, flagged, *on_flagged), _true_errors(miss, passed, *on_passed)
    return np.stack([hits, flagged - hits, misses, passed - misses], axis=-1)


def _true_errors(errors: Numbers, n: Numbers, sensitivity: Numbers, specificity: Numbers) -> Numbers:
    informed = np.where(sensitivity + specificity > 1, sensitivity + specificity - 1, nan)
    true: Numbers = np.clip((errors - (1 - specificity) * n) / informed, 0.0, n)
    return true


def corrected_scores(
    cases: Cases, truth: Truth, correction: Correction, *, chance: Chance, where: Truths | None = None
) -> list[Scored]:
    """Every system against the truth behind the verdicts."""
    wanted = ~np.isnan(truth.values)
    places = np.flatnonzero(wanted if where is None else wanted & where)
    units = units_of(cases, truth, places, unit=chance.unit)
    shape = (-1, len(cases.systems), len(CELLS))
    resamples = drawn_sums(cases, truth, places, units, chance=chance)
    numbers = scores(correction.drawn(resamples.sums.reshape(shape), seed=chance.seed))
    sums = correction.seen(units.sums.reshape(shape)[0])
    n_items = (cases.flagged[places] >= 0).sum(axis=0)
    undefined_because = correction.raters.undefined_because
    n_units = resamples.n_effective or float(resamples.n_units)
    around = partial(corrected_interval, level=chance.level, n_units=n_units)
    return [
        _corrected(system, int(n_items[at]), sums[at], numbers[:, at], undefined_because, around)
        for at, system in enumerate(cases.systems)
    ]


def _corrected(
    system: str, n: int, sums: Numbers, drawn: Numbers, undefined_because: str, around: Callable[..., Interval]
) -> Scored:
    if undefined_because:
        none = Interval(nan, nan, nan, undefined_because)
        return Scored(system, n, Counts(nan, nan, nan, nan), dict.fromkeys(SCORES, none))
    values = scores(sums)
    intervals = {
        name: around(float(values[column]), drawn[:, column], REASONS[name]) for column, name in enumerate(SCORES)
    }
    return Scored(system, n, Counts.of_row(sums), intervals)
