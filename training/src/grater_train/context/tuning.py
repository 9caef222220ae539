"""Calibrations and shipped thresholds, from text whose errors are known and from text without any.

A *possible flag* is the best correction of one name of error in one slot, its margin, and whether it would
be right.  Right by edits: an annotator has an edit of the wanted tags on the item (`corpora.judgments`).

The shipped threshold is the same margin for all names of a group (prepositions, articles, number, verb forms): the
lowest at which well-formed text that the network did not learn from gets no more flags of the group than wanted, and
at which most flags of the group with just that margin are right.  A threshold of one probability for all names
flagged fewer errors of learners for the same number of false alarms.

Platt's numbers are fitted by maximum likelihood with his smoothed targets, so that a small table gives no certainty,
and to margins above `NEAR` where enough are: the many flags that would never be made are a different matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import NDArray

from grater.corpora.judgments import judgments_from_edits
from grater.detect.context.calibration import LEAST, NAMES, PRECISIONS, SILENT, Calibration, is_sign
from grater.detect.context.detector import ContextDetector
from grater.errors import UsageError
from grater.model import Essay, Item

TAGS: Mapping[str, tuple[str, ...]] = {
    "prep": ("Prep", "M:PREP", "R:PREP", "U:PREP", "MT", "RT", "UT"),
    "prep-missing": ("Prep", "M:PREP", "R:PREP", "U:PREP", "MT", "RT", "UT"),
    "article": ("ArtOrDet", "M:DET", "R:DET", "U:DET", "MD", "RD", "UD", "FD"),
    "number": ("Nn", "R:NOUN:NUM", "R:NOUN:INFL", "AGN", "FN", "CN"),
    "verb-form": ("SVA", "Vform", "R:VERB:SVA", "R:VERB:FORM", "R:VERB:INFL", "AGV", "FV"),
}
"""The errors of each kind in the tag sets of NUCLE, ERRANT and the FCE."""

BUDGET = 0.2
"""Flags of each group per 1,000 words of well-formed text at the shipped threshold."""

MOSTLY = 0.6
"""Of the flags of a group whose margin is the shipped threshold, the least share that is right."""

NEAR, ENOUGH = -4.0, 100
"""The margin from which on flags are fitted, and how many of them are enough."""

STEPS = 50

MARGINS = np.arange(0.0, 20.0, 0.05)
"""Thresholds that are tried, the lowest first."""


@dataclass(frozen=True, slots=True)
class PossibleFlag:
    """The likeliest correction of one name of error in a slot."""

    item: Item
    name: str
    margin: float
    word: str


def possible_flags(detector: ContextDetector, essays: Iterable[Essay]) -> Iterator[PossibleFlag]:
    """For every slot the best correction of each name of error."""
    for essay_id, _, answered in detector.answers(essays):
        for option in answered.options():
            item = Item(essay_id, answered.slot.span, answered.slot.kind)
            yield PossibleFlag(item=item, name=option.name, margin=option.margin, word=option.word)


def right_items(
    essays: Sequence[Essay], items: Iterable[Item], *, tags: Collection[str], raters: Collection[str] = ()
) -> frozenset[str]:
    """The ids of the items that any of these annotators, or any at all, corrects with one of the tags."""
    if not tags:
        return frozenset()
    by_id = {item.item_id: item for item in items}
    judged = judgments_from_edits(essays, by_id, tags=tags).frame
    rows = judged.select("item", "rater", "label").iter_rows()
    return frozenset(
        str(item) for item, rater, label in rows if label == "error" and (not raters or str(rater) in raters)
    )


def calibrated(
    detector: ContextDetector,
    essays: Sequence[Essay],
    well_formed: Sequence[Essay],
    *,
    tags: Mapping[str, Collection[str]] = TAGS,
    raters: Collection[str] = (),
    per_thousand: float = BUDGET,
) -> dict[str, Calibration]:
    """Calibrations from essays whose errors are known, with shipped thresholds from well-formed text."""
    table = list(possible_flags(detector, essays))
    items = {flag.item.item_id: flag.item for flag in table}
    used = {edit.tag for essay in essays for edit in essay.edits}
    right = {
        kind: right_items(essays, of_kind, tags=used.intersection(of), raters=raters)
        for kind, of in tags.items()
        if (of_kind := [item for item in items.values() if item.kind == kind])
    }
    n_words = sum(len(essay.text.split()) for essay in well_formed)
    flags = list(possible_flags(detector, well_formed))
    least = mostly_right_from(table, right)
    shipped = shipped_at(fitted(table, right), flags, n_words=n_words, per_thousand=per_thousand, least=least)
    return {name: replace(one, usual=usual_share(table, name, one)) for name, one in shipped.items()}


def usual_share(table: Iterable[PossibleFlag], name: str, calibration: Calibration) -> float:
    """Of the possible flags of a name the share that are signs of errors (`calibration.shifts`)."""
    own = [is_sign(flag.margin, calibration) for flag in table if flag.name == name]
    return round(sum(own) / max(1, len(own)), 5)


def fitted(table: Sequence[PossibleFlag], right: Mapping[str, Collection[str]]) -> dict[str, Calibration]:
    """A calibration by name; `right` are the ids of right items by kind.

    A name with too few flags, or none right, has a calibration that flags nothing.
    """
    return {name: _fit([flag for flag in table if flag.name == name], right) for name in NAMES}


def mostly_right_from(table: Sequence[PossibleFlag], right: Mapping[str, Collection[str]]) -> dict[str, float]:
    """By group the margin from which on flags are mostly right; groups with too few flags are left out."""
    groups = {_group(name) for name in NAMES}
    fits = {group: _fit([flag for flag in table if _group(flag.name) == group], right) for group in groups}
    return {group: one.margin(MOSTLY) for group, one in fits.items() if one != SILENT}


def _fit(own: Sequence[PossibleFlag], right: Mapping[str, Collection[str]]) -> Calibration:
    is_right = [flag.item.item_id in right[flag.item.kind] for flag in own]
    can_fit = len(own) >= LEAST and 0 < sum(is_right) < len(own)
    return fit([flag.margin for flag in own], is_right) if can_fit else SILENT


def shipped_at(
    calibrations: Mapping[str, Calibration],
    native: Sequence[PossibleFlag],
    *,
    n_words: int,
    per_thousand: float,
    least: Mapping[str, float] | None = None,
) -> dict[str, Calibration]:
    """The same with a threshold for each group: the lowest with few enough flags in well-formed text, or `least`."""
    margins: dict[str, list[float]] = defaultdict(list)
    for flag in native:
        if calibrations[flag.name] != SILENT:
            margins[_group(flag.name)].append(flag.margin)
    most = int(per_thousand * n_words / 1000)
    at = {group: _lowest(np.array(own), most) for group, own in margins.items()}
    for group, margin in (least or {}).items():
        at[group] = max(at.get(group, 0.0), round(margin, 4))
    return {
        name: SILENT
        if calibrations[name] == SILENT
        else replace(calibrations[name], shipped=at.get(_group(name), 0.0))
        for name in NAMES
    }


def _group(name: str) -> str:
    """*prep*, *article*, or the name itself."""
    return next((group for group in ("prep", "article") if name.startswith(group)), name)


def _lowest(margins: NDArray[np.float64], most: int) -> float:
    """The lowest margin that few enough exceed."""
    n_above = (margins[:, None] > MARGINS).sum(axis=0)
    few = np.flatnonzero(n_above <= most)
    return round(float(MARGINS[few[0]]), 4) if len(few) else inf


def fit(
    margins: Sequence[float], is_right: Sequence[bool], *, shipped: float = inf, decimals: int = 4
) -> Calibration:
    """The calibration of a table of flags, whatever their margin, and whether each was right."""
    values, truths = np.array(margins, np.float64), np.array(is_right, np.bool_)
    if len(values) < LEAST or not 0 < truths.sum() < len(truths):
        raise UsageError(f"expected at least {LEAST} flags, some right and some wrong, found {len(values)}")
    near = values > NEAR
    if near.sum() < ENOUGH or not LEAST <= truths[near].sum() < near.sum():
        near[:] = True
    slope, intercept = _platt(values[near], truths[near])
    thresholds = _thresholds(values, truths)
    rounded = {level: round(margin, decimals) for level, margin in thresholds.items()}
    return Calibration(
        slope=round(slope, decimals), intercept=round(intercept, decimals), shipped=shipped, thresholds=rounded
    )


def _platt(values: NDArray[np.float64], truths: NDArray[np.bool_]) -> tuple[float, float]:
    """Newton's method on the logistic likelihood; Platt 1999, section 2.2, has the targets."""
    n_right, n_wrong = int(truths.sum()), int((~truths).sum())
    targets = np.where(truths, (n_right + 1) / (n_right + 2), 1 / (n_wrong + 2))
    columns = np.stack([values, np.ones_like(values)], axis=1)
    weights = np.zeros(2)
    for _ in range(STEPS):
        shares = 1 / (1 + np.exp(-np.clip(columns @ weights, -60, 60)))
        curvature = (columns * (shares * (1 - shares))[:, None]).T @ columns + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, columns.T @ (targets - shares))
        weights = weights + np.clip(step, -5, 5)
        if np.abs(step).max() < 1e-9:
            break
    return float(weights[0]), float(weights[1])


def _thresholds(values: NDArray[np.float64], truths: NDArray[np.bool_]) -> dict[float, float]:
    """For each precision the lowest threshold; equal margins are flagged together or not at all."""
    order = np.argsort(-values, kind="stable")
    ordered = values[order]
    precision = np.cumsum(truths[order]) / np.arange(1, len(order) + 1)
    is_last = np.append(ordered[1:] < ordered[:-1], True)
    is_shown = is_last & (np.arange(1, len(order) + 1) >= LEAST)
    thresholds: dict[float, float] = {}
    for level in PRECISIONS:
        reached = np.flatnonzero(is_shown & (precision >= level))
        if len(reached):
            last = int(reached[-1])
            below = ordered[last + 1] if last + 1 < len(ordered) else ordered[last] - 1
            thresholds[level] = float((ordered[last] + below) / 2)
    return thresholds
