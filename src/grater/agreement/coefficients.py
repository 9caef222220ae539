"""Agreement beyond chance for any number of raters: Scott, Fleiss, Gwet, Bennett.

All are (po - pe) / (1 - pe).  po is the mean over items of the share of pairs of judgments that agree (Fleiss 1971,
eq. 3; with weights Gwet 2014, chapter 3); items may have different numbers of judgments, and each counts once.  They
differ in the chance pe, with p_k the mean over items of the share of label k, w the weights and q the number of
labels:

    fleiss   sum_kl w_kl p_k p_l                    Fleiss 1971; for two raters Scott's pi (1955)
    ac1      sum w / (q (q - 1)) sum_k p_k (1-p_k)  Gwet 2008; with weights AC2 (Gwet 2014, chapter 4)
    s        sum w / q^2                            Bennett, Alpert & Goldstein 1954; Brennan & Prediger 1981

q counts the labels of the table, so a label that nobody used should not be in its order.  With one label only pe is 1
(for S and AC1: q - 1 is 0) and the coefficient undefined.

Krippendorff's alpha: 1 - observed / expected disagreement, on four scales.

Krippendorff 2011, "Computing Krippendorff's alpha-reliability".  Each item with m judgments adds its m (m - 1)
ordered pairs, weighted 1 / (m - 1), to the coincidences o_kl; n_k are their margins and n the number of judgments in
them:

    alpha = 1 - (n - 1) sum_kl o_kl d_kl / sum_kl n_k n_l d_kl

The ordinal distance is the squared difference of midranks, so it changes with the margins in every resample; its sums
are therefore the coincidences themselves (labels squared), those of the other scales one number and the margins.
With one label only nothing can disagree by chance and alpha is undefined.

Coefficients from margins alone, for labels that are equal or not: no table of labels by labels is made.

The same formulas as `cohen`, `kappa` and `alpha` with identity weights, for label sets of thousands (a tag with its
correction is a label) and for tables of expectations.  The last axis holds the sums.  For two raters these are `n,
agreeing, first's labels ..., second's labels ...`; for any number `n, share of pairs that agree, pairs that disagree
/ (m - 1), shares of labels ..., counts of labels ...`.

Limits for coefficients of agreement: the bootstrap over items, bias-corrected and accelerated.

Items are resampled by drawing weights for their distinct patterns (statistics.md), not rows.  Limits are BCa (Efron
1987, J. Am. Stat. Assoc. 82, 171-185), which a coefficient that is skewed by rare labels needs; their tails are
expanded for few items (Hesterberg 2015, `grater.statistics`).

Departure: resamples are drawn from the items and *one made-up item* more.  Half of it is unanimous, spread over the
labels; half of it is split between the most frequent label and each other.  Where a label is so rare that the sample
happens to show no item on which raters agree, or disagree, about it, a plain bootstrap cannot imagine one, and its
limits are far too sure; with the made-up item they err on the safe side, and at several hundred items nothing changes
(docs/agreement.md has both).  The value itself knows nothing of it, and limits always include the value.

The words of Landis & Koch 1977 (Biometrics 33, p. 165) for a kappa, as the papers print them beside it.

The bands are arbitrary by their authors' own word, and a value says more with its limits than with its band.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isnan, nan

import numpy as np

from grater.agreement.counts import Counts
from grater.agreement.weights import Matrix, Scale, distances
from grater.model import Interval, Json
from grater.statistics.bca import (
    Coefficient,
    Numbers,
    PatternUnits,
    Sums,
    Whole,
    bca_interval,
    gradient,
    ratio,
    resampled_scores,
)


def observed(weights: Matrix) -> Coefficient:
    """The share of pairs of judgments that agree, averaged over items."""

    def rows(patterns: Whole) -> Numbers:
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights)])

    return Coefficient("observed", rows, lambda sums: ratio(sums[..., 1], sums[..., 0]), "no item has two judgments")


def fleiss(weights: Matrix) -> Coefficient:
    def chance(shares: Sums) -> Sums:
        return np.asarray(((shares @ weights) * shares).sum(axis=-1))

    return _beyond("fleiss", weights, chance)


def gwet(weights: Matrix) -> Coefficient:
    n_labels = len(weights)
    scale = weights.sum() / (n_labels * (n_labels - 1)) if n_labels > 1 else np.nan
    is_plain = bool((weights == np.eye(n_labels)).all())
    return _beyond("ac1" if is_plain else "ac2", weights, lambda shares: scale * (shares * (1 - shares)).sum(axis=-1))


def bennett(weights: Matrix) -> Coefficient:
    chance = weights.sum() / len(weights) ** 2 if len(weights) > 1 else np.nan
    return _beyond("s", weights, lambda shares: chance * shares.sum(axis=-1))


def pair_agreement(patterns: Whole, weights: Matrix) -> Numbers:
    """The (weighted) share of an item's pairs of judgments that agree."""
    n_judgments = patterns.sum(axis=1)
    # A judgment is not paired with itself: its own weight of 1 goes.
    agreeing = (patterns * (patterns @ weights)).sum(axis=1) - n_judgments
    return np.asarray(agreeing / (n_judgments * (n_judgments - 1)), np.float64)


def _beyond(name: str, weights: Matrix, chance: Callable[[Sums], Sums]) -> Coefficient:
    def rows(patterns: Whole) -> Numbers:
        shares = patterns / patterns.sum(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights), shares])

    def score(sums: Sums) -> Sums:
        expected = chance(ratio(sums[..., 2:], sums[..., :1]))
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return Coefficient(name, rows, score)


def alpha(scale: Scale, labels: tuple[str, ...]) -> Coefficient:
    """The coefficient for labels in their order; numbers for the scales interval and ratio."""
    return _ordinal(len(labels)) if scale == "ordinal" else _with_distances(distances(scale, labels))


def _with_distances(apart: Matrix) -> Coefficient:
    def rows(patterns: Whole) -> Numbers:
        disagreeing = (patterns * (patterns @ apart)).sum(axis=1) / (patterns.sum(axis=1) - 1)
        return np.column_stack([disagreeing, patterns])

    def score(sums: Sums) -> Sums:
        return _alpha(sums[..., 0], sums[..., 1:], ((sums[..., 1:] @ apart) * sums[..., 1:]).sum(axis=-1))

    return Coefficient("alpha", rows, score)


def _alpha(disagreeing: Sums, margins: Sums, by_chance: Sums) -> Sums:
    return 1 - ratio(disagreeing * (margins.sum(axis=-1) - 1), by_chance)


def _ordinal(n_labels: int) -> Coefficient:
    upper = np.triu_indices(n_labels)

    def rows(patterns: Whole) -> Numbers:
        pairs = patterns[:, upper[0]] * (patterns[:, upper[1]] - (upper[0] == upper[1]))
        return np.asarray(pairs / (patterns.sum(axis=1, keepdims=True) - 1), np.float64)

    def score(sums: Sums) -> Sums:
        margins = np.zeros((*sums.shape[:-1], n_labels), sums.dtype)
        for pair, (first, second) in enumerate(zip(*upper, strict=True)):
            margins[..., first] += sums[..., pair]
            if first != second:
                margins[..., second] += sums[..., pair]
        midrank = margins.cumsum(axis=-1) - margins / 2
        apart = (midrank[..., upper[0]] - midrank[..., upper[1]]) ** 2
        by_chance = 2 * (margins[..., upper[0]] * margins[..., upper[1]] * apart).sum(axis=-1)
        return _alpha(2 * (sums * apart).sum(axis=-1), margins, by_chance)

    return Coefficient("alpha", rows, score)


OF_PAIR = ("observed", "kappa")
OF_ALL = ("observed", "fleiss", "ac1", "s", "alpha")


def pair_scores(sums: Sums, n_labels: int) -> Sums:
    """Observed agreement and Cohen's kappa (1960)."""
    n = sums[..., 0]
    observed = ratio(sums[..., 1], n)
    margins = sums[..., 2 : 2 + n_labels] * sums[..., 2 + n_labels :]
    expected = ratio(margins.sum(axis=-1), n * n)
    return np.stack([observed, ratio(observed - expected, 1 - expected)], axis=-1)


def all_scores(sums: Sums, n_labels: int) -> Sums:
    """Observed agreement, Fleiss kappa, Gwet's AC1, Bennett's S and Krippendorff's alpha."""
    observed = ratio(sums[..., 1], sums[..., 0])
    shares = ratio(sums[..., 3 : 3 + n_labels], sums[..., :1])
    margins = sums[..., 3 + n_labels :]
    fleiss = (shares**2).sum(axis=-1)
    gwet = (shares * (1 - shares)).sum(axis=-1) / (n_labels - 1) if n_labels > 1 else np.full_like(observed, np.nan)
    bennett = np.full_like(observed, 1 / n_labels if n_labels > 1 else np.nan)
    beyond = [ratio(observed - chance, 1 - chance) for chance in (fleiss, gwet, bennett)]
    total = margins.sum(axis=-1)
    alpha = 1 - ratio(sums[..., 2] * (total - 1), total**2 - (margins**2).sum(axis=-1))
    return np.stack([observed, *beyond, alpha], axis=-1)


RESAMPLES = 1000


def pattern_units(counts: Counts) -> PatternUnits:
    """The items of the counts and the made-up one, which has as many judgments as the median item."""
    n_labels = len(counts.labels)
    size = _median(counts.patterns.sum(axis=1), counts.n_items)
    modal = int((counts.n_items @ counts.patterns).argmax())
    unanimous = size * np.eye(n_labels, dtype=np.int64)
    split = unanimous // 2
    split[:, modal] += size - size // 2
    split = np.delete(split, modal, axis=0)
    shares = [np.full(n_labels, 0.5 / n_labels), np.full(n_labels - 1, 0.5 / max(1, n_labels - 1))]
    made_up = np.concatenate([np.zeros(len(counts.patterns)), *shares])
    n_items = np.concatenate([counts.n_items, np.zeros(2 * n_labels - 1, np.int64)])
    return PatternUnits(np.vstack([counts.patterns, unanimous, split]), n_items, made_up / made_up.sum())


def _median(values: Whole, times: Whole) -> int:
    """The middle value where each occurs so many times; the lower of two."""
    order = np.argsort(values)
    middle = np.searchsorted(times[order].cumsum(), times.sum() / 2)
    return int(values[order][middle])


def bootstrap_intervals(
    coefficients: Sequence[Coefficient],
    counts: Counts,
    *,
    rng: np.random.Generator,
    n_resamples: int = RESAMPLES,
    level: float = 0.95,
) -> list[Interval]:
    """Each coefficient with its limits, all from the same resamples."""
    values = [point_estimate(coefficient, counts.patterns, counts.n_items) for coefficient in coefficients]
    if counts.n_compared < 2 or len(counts.labels) < 2:
        return [without_interval(c, number, counts) for c, number in zip(coefficients, values, strict=True)]
    drawn_from = pattern_units(counts)
    drawn = resampled_scores(coefficients, drawn_from, rng=rng, n_resamples=n_resamples)
    return [
        bca_interval(coefficient, number, drawn_from, draws, level=level)
        for coefficient, number, draws in zip(coefficients, values, drawn, strict=True)
    ]


def point_estimate(coefficient: Coefficient, patterns: Whole, weights: Numbers | Whole) -> float:
    """The coefficient of the data as it is."""
    return float(coefficient.score(weights @ coefficient.rows(patterns)))


def delta_error(coefficient: Coefficient, counts: Counts) -> float:
    """The standard error by the delta method, for a z test; nan where the coefficient is undefined."""
    rows = coefficient.rows(counts.patterns)
    influence = rows @ gradient(coefficient.score, counts.n_items @ rows)
    centred = influence - counts.n_items @ influence / max(1, counts.n_compared)
    return float(np.sqrt(counts.n_items @ centred**2))


def without_interval(coefficient: Coefficient, number: float, counts: Counts) -> Interval:
    """What can be said of too little data: perhaps a value, and why there are no limits."""
    if counts.n_compared == 0:
        return Interval(nan, nan, nan, "no item has two judgments")
    if number != number:
        return Interval(nan, nan, nan, coefficient.undefined)
    why = "all judgments are of one label" if len(counts.labels) < 2 else "a single item cannot be resampled"
    return Interval(number, nan, nan, why)


BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def band(value: float) -> str:
    """`poor` below 0, `almost perfect` above .8; nothing for an undefined value."""
    if value != value:
        return ""
    if value < 0:
        return "poor"
    return next((name for limit, name in BANDS if value <= limit), "almost perfect")


def coefficient_json(interval: Interval) -> dict[str, Json]:
    return {**interval.as_json(), **({"band": band(interval.value)} if band(interval.value) else {})}


def number(value: float) -> float | None:
    return None if isnan(value) else value
