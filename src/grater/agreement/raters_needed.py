"""Reliability against the number of raters, and the smallest number that matches the experts.

Tetreault, Chodorow & Madnani 2013, Figures 1 and 2: agreement and kappa of a crowd of N with each expert and with the
writer, for N = 1 ... n.  The experts are matched at the smallest N whose kappa reaches theirs: the mean over experts
of the crowd's kappa with each against the mean kappa between experts; or, where the writer's word is known (a rater
called `writer`), the crowd's kappa with the writer against the experts' mean kappa with the writer.

Departures: expectations in place of draws (`wins.py`) unless draws are asked for; limits by resampling items, for the
curves and for the smallest N, the experts' own kappa being resampled along.  The limits of N are whole numbers;
infinite where a resample's crowd does not reach the experts with all its judgments.

How many raters match an expert (Tetreault, Chodorow & Madnani 2013, 5.2 and 5.3; docs/raters-needed.md).

Raters needed as JSON: `grater raters-needed --json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan

import numpy as np

from grater.agreement.coefficients import coefficient_json, pair_scores
from grater.agreement.majorities import (
    MOST_WORK,
    WRITER,
    Design,
    crowd_rows,
    design,
    draw,
    exact_wins,
    expert_rows,
    nan_mean,
    work,
)
from grater.model import Interval, Json
from grater.result import encode
from grater.rng import generator
from grater.signature import Signature
from grater.statistics.bootstrap import MOST_WEIGHTS
from grater.statistics.intervals import RESAMPLES, Numbers, expanded_tail
from grater.tables import Judgments, data_hash

MEAN = "mean of experts"
DRAWS_INSTEAD = 1000
FUZZ = 1e-9
"""Kappas that differ by less are the same: N = 2m and 2m - 1 agree only up to rounding."""

NO_PAIR = "no two experts to compare: their kappa is what a crowd must reach"
ONE_LABEL = "one label only on these items, so that chance alone agrees as well"


@dataclass(frozen=True, slots=True)
class NeedOptions:
    """`n_draws` 0 is the exact expectation."""

    n_draws: int = 0
    n_resamples: int = RESAMPLES
    level: float = 0.95
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Point:
    """A crowd of `n_raters` against one expert; `n_left_out` shared items have fewer judgments."""

    n_raters: int
    n_items: float
    n_left_out: int
    agreement: Interval
    kappa: Interval


@dataclass(frozen=True, slots=True)
class Curve:
    """`against` is an expert, the writer, or the mean of all experts."""

    against: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """The kappa to be matched, and the pairs that it is the mean of."""

    what: str
    kappa: Interval
    pairs: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, slots=True, eq=False)
class RatersNeeded:
    """`smallest` is the number of raters; its value is nan where the crowd does not reach the experts."""

    n_items: int
    n_crowd_only: int
    n_experts_only: int
    labels: tuple[str, ...]
    experts: tuple[str, ...]
    curves: tuple[Curve, ...]
    target: Target
    smallest: Interval
    method: str
    signature: Signature
    warnings: tuple[str, ...] = ()

    def curve(self, against: str) -> Curve:
        return next(curve for curve in self.curves if curve.against == against)


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """[..., N - 1, line, (agreement, kappa)] of the crowd, the lines being experts and their mean; [..., pair, the
    same two] of experts."""

    crowd: Numbers
    experts: Numbers


def raters_needed(crowd: Judgments, experts: Judgments, options: NeedOptions | None = None) -> RatersNeeded:
    """The curves of a crowd against experts on the items that both judged."""
    options = options or NeedOptions()
    found = design(crowd, experts)
    too_big = not options.n_draws and work(found.counts) > MOST_WORK
    used = replace(options, n_draws=DRAWS_INSTEAD) if too_big else options
    rng = generator(options.seed, "raters-needed")
    drawn = draw(found, n_draws=used.n_draws, rng=rng) if used.n_draws else None
    wins = drawn.wins if drawn else exact_wins(found)
    scores = _scores(found, wins, found.n_items[None, :].astype(np.float64))
    value = Scores(_with_mean(found, drawn.scores) if drawn else scores.crowd[0], scores.experts[0])
    resampled = _resampled(found, wins, options, rng)
    result = RatersNeeded(
        found.n,
        found.n_crowd_only,
        found.n_experts_only,
        found.labels,
        found.experts,
        tuple(_curves(found, wins, value, resampled, options)),
        _target(found, value, resampled, options),
        _smallest(found, value, resampled, options),
        "draws" if used.n_draws else "exact",
        _signature(used, data_hash(crowd, experts)),
    )
    return replace(result, warnings=tuple(_warnings(result, found, too_big=too_big)))


def _signature(options: NeedOptions, data: str) -> Signature:
    method = {"draws": str(options.n_draws)} if options.n_draws else {"method": "exact"}
    chance = {"resamples": str(options.n_resamples), "seed": str(options.seed), "level": f"{options.level:g}"}
    rules = {"ties": "random", "limits": "bootstrap-items", "data": data}
    return Signature("raters-needed", {**method, **rules, **chance})


def _scores(found: Design, wins: Numbers, weights: Numbers) -> Scores:
    """The scores with so many items of each kind, a row of weights for each answer."""
    n_labels = len(found.labels)
    by_n = [pair_scores(_sums(weights, crowd_rows(found, each)), n_labels) for each in np.moveaxis(wins, 2, 0)]
    experts = pair_scores(_sums(weights, expert_rows(found)), n_labels)
    return Scores(_with_mean(found, np.stack(by_n, axis=1)), experts)


def _sums(weights: Numbers, rows: Numbers) -> Numbers:
    return (weights @ rows.reshape(len(rows), -1)).reshape(len(weights), *rows.shape[1:])


def _with_mean(found: Design, scores: Numbers) -> Numbers:
    """The lines of the experts, and at the end the mean of those who are not the writer."""
    experts = [place for place, name in enumerate(found.experts) if name != WRITER]
    mean = nan_mean(scores[..., experts, :], axis=-2)
    return np.concatenate([scores, mean[..., None, :]], axis=-2)


def _resampled(found: Design, wins: Numbers, options: NeedOptions, rng: np.random.Generator) -> Scores:
    blocks = [_scores(found, wins, weights) for weights in _weights(found, options.n_resamples, rng)]
    if not blocks:
        return _scores(found, wins, np.zeros((0, len(found.n_items))))
    return Scores(np.concatenate([b.crowd for b in blocks]), np.concatenate([b.experts for b in blocks]))


def _weights(found: Design, n_resamples: int, rng: np.random.Generator) -> Iterator[Numbers]:
    n_at_once = max(1, MOST_WEIGHTS // len(found.n_items))
    for start in range(0, n_resamples, n_at_once):
        n_now = min(n_at_once, n_resamples - start)
        yield rng.multinomial(found.n, found.n_items / found.n, size=n_now).astype(np.float64)


def _curves(found: Design, wins: Numbers, value: Scores, resampled: Scores, options: NeedOptions) -> Iterator[Curve]:
    size = found.counts.sum(axis=1)
    judged = found.said >= 0
    for line, name in enumerate([*found.experts, MEAN]):
        if name == MEAN and not _has_mean(found):
            continue
        points = []
        for column in range(wins.shape[2]):
            enough = size > column
            shared = judged[:, [line]] if name != MEAN else judged[:, _experts(found)]
            n_items = float((found.n_items[:, None] * (enough[:, None] & shared)).sum(axis=0).mean())
            agreement, kappa = (
                _interval(value.crowd[column, line, which], resampled.crowd[:, column, line, which], found.n, options)
                for which in range(2)
            )
            n_left_out = int(found.n_items[~enough].sum())
            points.append(Point(column + 1, n_items, n_left_out, agreement, kappa))
        yield Curve(name, tuple(points))


def _experts(found: Design) -> list[int]:
    return [place for place, name in enumerate(found.experts) if name != WRITER]


def _has_mean(found: Design) -> bool:
    return len(_experts(found)) > 0


def _interval(value: float, draws: Numbers, n_items: int, options: NeedOptions) -> Interval:
    if isnan(value):
        return Interval(nan, nan, nan, ONE_LABEL)
    draws = draws[~np.isnan(draws)]
    if n_items < 2 or not draws.size:
        return Interval(float(value), nan, nan, "a single item cannot be resampled")
    tail = expanded_tail(n_items, level=options.level)
    low, high = np.quantile(draws, [tail, 1 - tail])
    return Interval(float(value), min(float(low), float(value)), max(float(high), float(value)))


def _target(found: Design, value: Scores, resampled: Scores, options: NeedOptions) -> Target:
    what = "experts with the writer" if WRITER in found.experts else "experts with each other"
    if not found.pairs:
        return Target(what, Interval(nan, nan, nan, NO_PAIR), ())
    kappas = value.experts[:, 1]
    mean = nan_mean(kappas, axis=0)
    draws = nan_mean(resampled.experts[:, :, 1], axis=1)
    names = [(found.experts[first], found.experts[second]) for first, second in found.pairs]
    pairs = tuple((*pair, float(kappa)) for pair, kappa in zip(names, kappas, strict=True))
    return Target(what, _interval(float(mean), draws, found.n, options), pairs)


def _smallest(found: Design, value: Scores, resampled: Scores, options: NeedOptions) -> Interval:
    if not found.pairs:
        return Interval(nan, nan, nan, NO_PAIR)
    line = found.experts.index(WRITER) if WRITER in found.experts else len(found.experts)
    target = float(nan_mean(value.experts[:, 1], axis=0))
    if isnan(target):
        return Interval(nan, nan, nan, ONE_LABEL)
    number = float(first_reaching(value.crowd[None, :, line, 1], np.array([target]))[0])
    targets = nan_mean(resampled.experts[:, :, 1], axis=1)
    known = ~np.isnan(targets)
    draws = first_reaching(resampled.crowd[known][:, :, line, 1], targets[known])
    if not draws.size:
        return _reported(nan, nan, found)
    tail = (1 - options.level) / 2
    low, high = np.quantile(draws, [tail, 1 - tail], method="inverted_cdf")
    return _reported(number, min(float(low), number), max(float(high), number), found)


def first_reaching(kappas: Numbers, targets: Numbers) -> Numbers:
    """For every row of kappas the first N that reaches its target; infinite where none does."""
    reached = kappas >= targets[:, None] - FUZZ
    first: Numbers = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1.0, inf)
    return first


def _reported(value: float, low: float, high: float, found: Design) -> Interval:
    if value == inf:
        reason = f"the crowd's kappa stays below the experts' up to N = {found.most}"
        return Interval(nan, nan if low == inf else low, inf, reason)
    reason = f"some resamples do not reach the experts with {found.most} judgments" if high == inf else ""
    return Interval(value, low, high, reason)


def _warnings(result: RatersNeeded, found: Design, *, too_big: bool) -> Iterator[str]:
    if too_big:
        yield f"too many judgments an item for exact expectations: {DRAWS_INSTEAD} draws were made instead"
    if found.n_crowd_only or found.n_experts_only:
        yield (
            f"{found.n_crowd_only:,} items have no expert and {found.n_experts_only:,} no crowd; they take no part"
        )
    left_out = _left_out_at(result.curves, result.smallest)
    if left_out:
        yield f"{left_out:,} items have fewer than {result.smallest.value:.0f} judgments and take no part there"


def _left_out_at(curves: Sequence[Curve], smallest: Interval) -> int:
    if isnan(smallest.value):
        return 0
    return curves[0].points[int(smallest.value) - 1].n_left_out


def needed_json(found: RatersNeeded) -> dict[str, Json]:
    """Every curve by its expert; `smallest` has null for a limit that lies beyond the judgments that there are."""
    target = found.target
    pairs = [{"raters": [first, second], "kappa": encode(kappa)} for first, second, kappa in target.pairs]
    return {
        "items": found.n_items,
        "crowd_only": found.n_crowd_only,
        "experts_only": found.n_experts_only,
        "labels": list(found.labels),
        "experts": list(found.experts),
        "method": found.method,
        "curves": [_curve(curve) for curve in found.curves],
        "target": {"of": target.what, "kappa": coefficient_json(target.kappa), "pairs": pairs},
        "smallest": whole_json(found.smallest),
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def whole_json(interval: Interval) -> dict[str, Json]:
    """A number of raters with its limits, as whole numbers."""
    numbers = {"value": interval.value, "low": interval.low, "high": interval.high}
    shown: dict[str, Json] = {name: int(each) if isfinite(each) else None for name, each in numbers.items()}
    return {**shown, **({"reason": interval.undefined_because} if interval.undefined_because else {})}


def _curve(curve: Curve) -> dict[str, Json]:
    points: list[Json] = [
        {
            "raters": point.n_raters,
            "items": point.n_items,
            "left_out": point.n_left_out,
            "agreement": point.agreement.as_json(),
            "kappa": coefficient_json(point.kappa),
        }
        for point in curve.points
    ]
    return {"against": curve.against, "points": points}
