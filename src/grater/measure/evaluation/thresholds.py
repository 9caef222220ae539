"""Every threshold on a system's scores: the precision-recall curve with bands, unweighted and weighted.

At threshold t an item is flagged if its score is t or beyond. `standard.against` scores each threshold like a
separate system, with the same counts and intervals. Bands are pointwise: the confidence level holds at each
threshold, not for the whole curve. Weighted scores are those of Madnani et al. 2011 (`standard.py`).

More than `n_points` distinct scores are thinned to quantiles in which items and errors have equal total weight, so
that even with rare errors the curve has enough points; the operating point and the best point are always kept. High
scores mean errors unless the mean score of flagged items is below that of the others. The operating point is the
system's own flags; if no threshold gives these flags (filters, a threshold for each type), it has no threshold and
comes last. Decided items without a score are counted and left out. Points go from the strictest threshold to the
laxest, which flags everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import polars as pl

from grater.errors import UnknownName, UsageError, unknown
from grater.measure.evaluation.cases import ABSENT, CELLS, DECIMALS, Cases, Flags, Truth, f_score, graded
from grater.measure.evaluation.standard import Scored, against
from grater.result import HIDDEN, Data, in_json, key
from grater.sheet import Signature, digest
from grater.uncertainty import Basis, Ints, Numbers

N_POINTS = 50
SHOWN = ("precision", "recall", "f0.5")

TOO_GOOD = "it was chosen on the data it is reported on, so it is too optimistic: check it on other items"


def _threshold(point: Point | None) -> float | None:
    return point.threshold if point else None


@dataclass(frozen=True, slots=True, eq=False)
class Point(Data):
    """One threshold; None stands for flags that no threshold gives."""

    threshold: float | None
    standard: Scored = field(metadata=key(flat=True, write=lambda scored: scored.as_json(SHOWN)))
    weighted: Scored = field(metadata=key(write=lambda scored: scored.as_json(SHOWN)))
    is_operating: bool = False
    is_best: bool = field(default=False, metadata=HIDDEN)
    is_best_weighted: bool = field(default=False, metadata=HIDDEN)


@dataclass(frozen=True, slots=True, eq=False)
class Curve(Data):
    """One system's points; `higher` is the meaning of high scores, `n_unscored` counts judged items without a score,
    and `data` hashes scores, flags and truths in any order of rows.
    """

    system: str
    higher: Literal["error", "ok"]
    points: tuple[Point, ...]
    n_items: int
    n_unscored: int
    data: str = field(metadata=HIDDEN)
    warnings: tuple[str, ...] = field(default=(), metadata=HIDDEN)

    @property
    def operating(self) -> Point:
        return next(point for point in self.points if point.is_operating)

    @property
    @in_json(write=_threshold)
    def best(self) -> Point:
        """The highest F0.5 of all thresholds; ties go to the strictest."""
        return next(point for point in self.points if point.is_best)

    @property
    @in_json(write=_threshold)
    def best_weighted(self) -> Point | None:
        """The same by weighted scores; None if no scored item has a share."""
        return next((point for point in self.points if point.is_best_weighted), None)

    def signature(self, evaluation: Signature) -> Signature:
        own = {"system": self.system, "higher": self.higher, "points": str(len(self.points)), "scores": self.data}
        return Signature("curve", {**evaluation.options, **own})


def curve_of_thresholds(cases: Cases, system: str, truth: Truth, *, basis: Basis, n_points: int = N_POINTS) -> Curve:
    """The curve of one system; a system that is unknown or has no scores is refused."""
    if system not in cases.systems:
        raise UnknownName(unknown("system", system, list(cases.systems)))
    if system not in scored_systems(cases):
        raise UsageError(f"no curve for {system}: thresholds need scores, and its decisions have none in `score`")
    column = cases.systems.index(system)
    scores, flags = cases.scores[:, column], cases.flagged[:, column]
    has_score, judged = ~np.isnan(scores), (flags != ABSENT) & ~np.isnan(truth.values)
    if not (judged & has_score).any():
        raise UsageError(f"no curve for {system}: no item that it scored was judged")
    side = direction(scores[has_score], flags[has_score])
    sign = 1 if side == "error" else -1
    keys = sign * scores  # which rise with the belief in an error
    used = np.flatnonzero(judged & has_score)
    own, is_own = keys[used], flags[used] == 1
    # The threshold that gives the system's own flags, if there is one.
    lowest = float(own[is_own].min(initial=np.inf))
    operating = None if not is_own.any() or (own[~is_own] >= lowest).any() else lowest
    best = _best(own, truth.values[used])
    # Shares may know other items than the truth does (adjudicated labels), or none of these.
    shares = graded(cases, truth, seed=basis.seed)
    shared = np.flatnonzero(has_score & ~np.isnan(shares.values))
    best_weighted = _best(keys[shared], shares.values[shared]) if shared.size else None
    kept = [key for key in (best, best_weighted, operating) if key is not None]
    shown = _quantiles(own, truth.values[used], n_points, kept)[::-1]
    # Items x thresholds: the flags at each threshold, and in the last column the system's own.
    flagged = np.full((len(keys), len(shown) + 1), ABSENT, np.int8)
    flagged[has_score] = np.column_stack([keys[has_score, None] >= shown, flags[has_score]])
    marked = cases.as_systems(flagged, column)
    standard, weighted = (against(marked, of, basis=basis, is_property=False) for of in (truth, shares))
    points = tuple(
        Point(
            threshold=None if key is None else sign * key,
            standard=replace(plain, system=system),
            weighted=replace(by_shares, system=system),
            is_operating=key == operating,
            is_best=key == best,
            is_best_weighted=key is not None and key == best_weighted,
        )
        for key, plain, by_shares in zip([*shown.tolist(), None], standard, weighted, strict=True)
        if key is not None or operating is None
    )
    values = (scores[used], flags[used], truth.values[used])
    data = digest(column[np.lexsort(values)].astype(np.float64).tobytes().hex() for column in values)
    n_unscored = int((judged & ~has_score).sum())
    warnings = [f"F0.5 is best at the threshold {sign * best:g}; {TOO_GOOD}"]
    warnings += ["low scores mean errors; items at or below a threshold are flagged"] if side == "ok" else []
    if n_unscored:
        warnings.append(f"{n_unscored:,} judged items have no score and are left out of the curve")
    if operating is None:
        warnings.append("no threshold gives its own flags, which are a point without a threshold")
    named = tuple(f"{system}: {warning}" for warning in warnings)
    return Curve(system, side, points, n_items=len(used), n_unscored=n_unscored, data=data, warnings=named)


def curves_of_systems(cases: Cases, truth: Truth, *, basis: Basis) -> tuple[list[Curve], list[str]]:
    """A curve for every system with scores, and a warning for each without; refused if none has any."""
    scored = scored_systems(cases)
    warnings = [f"{system} gave no scores and has no curve" for system in cases.systems if system not in scored]
    curves = [curve_of_thresholds(cases, system, truth, basis=basis) for system in scored or cases.systems[:1]]
    return curves, warnings


def scored_systems(cases: Cases) -> list[str]:
    return sorted(name for name, of in zip(cases.systems, cases.scores.T, strict=True) if not np.isnan(of).all())


def direction(scores: Numbers, flags: Flags) -> Literal["error", "ok"]:
    """The meaning of a high score, from the mean scores of flagged and other items."""
    is_flagged = flags == 1
    if is_flagged.all() or not is_flagged.any():
        return "error"
    # Sorted, so that the order of rows never tips a tie.
    passed, caught = (np.sort(scores[where]).mean() for where in (~is_flagged, is_flagged))
    return "ok" if caught < passed else "error"


def _best(keys: Numbers, truth: Numbers) -> float:
    """The threshold of the highest F0.5, flagging it and everything above; of equal ones the strictest."""
    order = np.lexsort((truth, -keys))
    key, value = keys[order], truth[order]
    last = np.flatnonzero(np.append(key[1:] != key[:-1], True))
    hit, n = np.cumsum(value), np.arange(1, len(value) + 1)
    cells = np.stack([hit, n - hit, hit[-1] - hit, 0 * hit], axis=-1)[last]
    return float(key[last][np.argmax(np.round(f_score(cells, 0.5), DECIMALS))])


def _quantiles(keys: Numbers, truth: Numbers, n_points: int, kept: Sequence[float]) -> Numbers:
    """At most `n_points` distinct keys, lowest first, including `kept`."""
    distinct = np.unique(keys)
    if len(distinct) <= n_points - 1:  # a place is left for flags that no threshold gives
        return np.unique([*distinct, *kept])
    order = np.lexsort((truth, keys))
    weight = 1 / len(keys) + truth[order] / max(float(truth[order].sum()), 1)
    along = np.cumsum(weight)
    steps = np.linspace(0, 1, n_points - len(set(kept)) - 1) * along[-1]
    places: Ints = np.minimum(np.searchsorted(along, steps), len(keys) - 1)
    return np.unique([*keys[order][places], *kept])


def frame_of_curve(curve: Curve, signature: Signature) -> pl.DataFrame:
    """One row per point: counts, scores and bands, then the weighted ones; undefined values are null."""
    rows = [
        {
            "system": curve.system,
            "threshold": point.threshold,
            "operating": point.is_operating,
            "best": point.is_best,
            "best_weighted": point.is_best_weighted,
            **_cells(point.standard, ""),
            **_cells(point.weighted, "weighted_"),
            "signature": str(signature),
        }
        for point in curve.points
    ]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(pl.col(pl.Float64).fill_nan(None))


def _cells(scored: Scored, prefix: str) -> dict[str, float]:
    counts = zip(CELLS, scored.counts.row().tolist(), strict=True)
    cells = {f"{prefix}{name}": count for name, count in counts}
    for name in SHOWN:
        score, column = scored[name], f"{prefix}{name}"
        cells |= {column: score.value, f"{column}_low": score.low, f"{column}_high": score.high}
    return cells
