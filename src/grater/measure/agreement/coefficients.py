"""Coefficients of agreement for any number of raters: definitions, titles, values and intervals.

Fleiss, Gwet and Bennett are (po - pe) / (1 - pe).  po is the mean over items of the share of pairs of judgments that
agree (Fleiss 1971, eq. 3; with weights Gwet 2014, chapter 3); items may have different numbers of judgments, and
each counts once.  They differ in the chance pe, with p_k the mean over items of the share of label k, w the weights
and q the number of labels:

    fleiss   sum_kl w_kl p_k p_l                    Fleiss 1971; for two raters Scott's pi (1955)
    ac1      sum w / (q (q - 1)) sum_k p_k (1-p_k)  Gwet 2008; with weights AC2 (Gwet 2014, chapter 4)
    s        sum w / q^2                            Bennett, Alpert & Goldstein 1954; Brennan & Prediger 1981

Krippendorff's alpha (2011, "Computing Krippendorff's alpha-reliability") is 1 - observed / expected disagreement, on
four scales.  Each item with m judgments adds its m (m - 1) ordered pairs, weighted 1 / (m - 1), to the coincidences
o_kl; n_k are their margins, n the number of judgments in them, d the squared distances:

    alpha    1 - (n - 1) sum_kl o_kl d_kl / sum_kl n_k n_l d_kl

The ordinal distance is the squared difference of midranks, so it changes with the margins; its sums are therefore the
coincidences themselves (labels squared), those of the other scales one number and the margins.

Specific agreement (Dice 1945; Spitzer & Fleiss 1974; for any number of raters Cicchetti & Feinstein 1990) concerns
one label: where one rater says `error`, how often does another rater, too?

    specific sum_i n_ik (n_ik - 1) / sum_i n_ik (n_i - 1)

q counts the labels of the table, so its order should not list labels that nobody used. With only one label, chance
disagreement is impossible, and every coefficient except observed agreement is undefined. Intervals are those of
`grater.uncertainty`; intervals that generalise to other raters (rule 7) leave out one rater at a time and need at
least three.

To add a coefficient, add a `Definition` to `COEFFICIENTS`: the summary, JSON, tables, report and web pages all read
it.

*Labels.* A warning names a label that only one rater uses in place of another (`Err`). Ordinal scales and distance
weights need an order of labels, so words without a stated order are refused: in alphabetical order, `bad`,
`excellent`, `good`, `poor` gave alpha .170 instead of .641.

*Nearness* is a weight for kappa and AC2 and a squared distance for alpha. Cohen 1968 gives each pair of labels a
weight: 1 if they are equal, less the further apart they are; `linear` and `quadratic` take labels as equally spaced
steps, as scikit-learn does. Krippendorff 2011 measures distance by the scale: `nominal` 0 or 1, `interval` (v - w)^2,
`ratio` ((v - w) / (v + w))^2, 0 where both are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal, TypeAlias

import numpy as np

from grater.errors import UsageError
from grater.measure.units import MOST_NAMED, Coded, Counts, as_numbers, table_of
from grater.model import Interval, Json
from grater.result import encode
from grater.uncertainty import (
    Basis,
    Influence,
    Ints,
    Numbers,
    Rare,
    Units,
    from_left_out,
    influence,
    ratio,
    share,
    with_raters,
)
from grater.uncertainty import coefficient as coefficient_interval

FEWEST_ORDERED = 3
"""With two labels every order gives the same."""
Matrix: TypeAlias = Numbers
WeightName: TypeAlias = Literal["identity", "linear", "quadratic"]
Scale: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

WEIGHTS: tuple[WeightName, ...] = ("identity", "linear", "quadratic")
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


def odd_label_warnings(codes: Coded) -> Iterator[str]:
    """Warn of each label that only one rater uses, naming the label that the other raters use instead."""
    n_labels = len(codes.labels)
    uses = np.bincount(codes.rater * np.int64(n_labels) + codes.label, minlength=len(codes.raters) * n_labels)
    is_used = uses.reshape(-1, n_labels) > 0
    for label in np.flatnonzero(is_used.sum(axis=0) == 1):
        rater = int(is_used[:, label].argmax())
        for other in np.flatnonzero(~is_used[rater] & is_used.any(axis=0)):
            one, two = (codes.labels[code].strip().casefold() for code in (label, other))
            if one and two and one != two and (one.startswith(two) or two.startswith(one)):
                named = f"only {codes.raters[rater]} answers {codes.labels[label]!r}"
                yield f"{named}, and never {codes.labels[other]!r}: merge the two if they mean the same (--merge)"


def require_order(labels: Sequence[str], *, scale: Scale, weights: WeightName, order: Sequence[str]) -> None:
    """Refuse to order words alphabetically."""
    needed_for = "scale ordinal" if scale == "ordinal" else "" if weights == "identity" else f"weights {weights}"
    if not needed_for or order or len(labels) < FEWEST_ORDERED or as_numbers(labels) is not None:
        return
    names = ", ".join(map(str, labels[:MOST_NAMED])) + (", ..." if len(labels) > MOST_NAMED else "")
    raise UsageError(f"{needed_for} needs the order of labels that are not numbers ({names}); name it, lowest first")


def weight_matrix(weights: WeightName, n_labels: int) -> Matrix:
    steps = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) / max(1, n_labels - 1)
    match weights:
        case "identity":
            return np.eye(n_labels)
        case "linear":
            return 1 - steps
        case "quadratic":
            return 1 - steps**2


def distances(scale: Scale, labels: Sequence[str]) -> Matrix:
    if scale == "nominal":
        return 1 - np.eye(len(labels))
    if scale not in SCALES:
        raise UsageError(f"unknown scale {scale!r}. Known: {', '.join(SCALES)}")
    numbers = as_numbers(labels)
    if numbers is None:
        named = next(label for label in labels if as_numbers([label]) is None)
        raise UsageError(f"expected numbers as labels for scale {scale}, found {named!r}; merge it or use ordinal")
    if scale == "ratio" and min(numbers) < 0:
        raise UsageError(f"expected labels of at least 0 for scale ratio, found {min(numbers):g}; use interval")
    values: Matrix = np.array(numbers)
    apart = np.subtract.outer(values, values)
    if scale == "interval":
        return apart**2
    together = np.add.outer(values, values)
    return np.divide(apart, together, out=np.zeros_like(apart), where=together != 0) ** 2


# Coefficients


ONE_LABEL = "all judgments are of one label, so chance alone would agree as often"
NO_PAIR = "no item has two judgments"
NO_USE = "nobody gave this label"


def of_items(patterns: Ints, margins: Numbers) -> Numbers:  # noqa: ARG001
    """Each item weighs the same in the denominator (rule 0)."""
    return np.ones(len(patterns))


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A function of sums over items; `undefined` gives the reason when its value is nan.

    `den` is an item's share of the denominator, computed from its pattern and the margins (rule 0). A proportion
    counts its `cases`, and the items they come from. `is_by_label` marks coefficients that rest on the cases of the
    rarer label (rule 5).
    """

    name: str
    rows: Callable[[Ints], Numbers]
    score: Callable[[Numbers], Numbers]
    undefined: str = ONE_LABEL
    den: Callable[[Ints, Numbers], Numbers] = of_items
    cases: Callable[[Ints, Numbers], tuple[float, float]] | None = None
    is_by_label: bool = False


def label_distance(apart: Matrix) -> Callable[[Ints, Numbers], Numbers]:
    """For each item, the sum over its labels of their mean distance to the labels of the corpus (rule 0)."""

    def den(patterns: Ints, margins: Numbers) -> Numbers:
        worth: Numbers = patterns @ (apart @ margins) / max(1.0, margins.sum())
        return worth

    return den


# Agreement beyond chance: each coefficient is its chance

Chance: TypeAlias = Callable[[Numbers, Matrix | None], Numbers]
"""The agreement by chance from mean shares of labels (last axis) and weights; None are weights of equal or not."""


def _fleiss_chance(shares: Numbers, weights: Matrix | None) -> Numbers:
    return np.asarray(((shares if weights is None else shares @ weights) * shares).sum(axis=-1))


def _gwet_chance(shares: Numbers, weights: Matrix | None) -> Numbers:
    n_labels = shares.shape[-1]
    total = n_labels if weights is None else weights.sum()
    scale = total / (n_labels * (n_labels - 1)) if n_labels > 1 else nan
    return np.asarray(scale * (shares * (1 - shares)).sum(axis=-1))


def _bennett_chance(shares: Numbers, weights: Matrix | None) -> Numbers:
    n_labels = shares.shape[-1]
    total = n_labels if weights is None else weights.sum()
    return np.asarray((total / n_labels**2 if n_labels > 1 else nan) * shares.sum(axis=-1))


def observed(weights: Matrix) -> Coefficient:
    """The proportion of pairs of judgments that agree, averaged over items."""

    def rows(patterns: Ints) -> Numbers:
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights)])

    def cases(patterns: Ints, n_items: Numbers) -> tuple[float, float]:
        size = patterns.sum(axis=1)
        return float(n_items @ (size * (size - 1) / 2)), float(n_items.sum())

    return Coefficient("observed", rows, lambda sums: ratio(sums[..., 1], sums[..., 0]), NO_PAIR, cases=cases)


def fleiss(weights: Matrix) -> Coefficient:
    return replace(_beyond("fleiss", weights, _fleiss_chance), den=label_distance(1 - weights), is_by_label=True)


def gwet(weights: Matrix) -> Coefficient:
    is_plain = bool((weights == np.eye(len(weights))).all())
    return _beyond("ac1" if is_plain else "ac2", weights, _gwet_chance)


def bennett(weights: Matrix) -> Coefficient:
    return _beyond("s", weights, _bennett_chance)


def pair_agreement(patterns: Ints, weights: Matrix) -> Numbers:
    """The (weighted) proportion of agreeing pairs of judgments within each item."""
    n_judgments = patterns.sum(axis=1)
    # A judgment is not paired with itself: its own weight of 1 goes.
    agreeing = (patterns * (patterns @ weights)).sum(axis=1) - n_judgments
    return np.asarray(agreeing / (n_judgments * (n_judgments - 1)), np.float64)


def _beyond(name: str, weights: Matrix, chance: Chance) -> Coefficient:
    def rows(patterns: Ints) -> Numbers:
        shares = patterns / patterns.sum(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights), shares])

    def score(sums: Numbers) -> Numbers:
        expected = chance(ratio(sums[..., 2:], sums[..., :1]), weights)
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return Coefficient(name, rows, score)


def specific(label: int) -> Coefficient:
    """Agreement on one label: of pairs of judgments, once for each use of it, the share in which both use it."""

    def rows(patterns: Ints) -> Numbers:
        times, n_judgments = patterns[:, label], patterns.sum(axis=1)
        return np.column_stack([times * (times - 1), times * (n_judgments - 1)]).astype(np.float64)

    def den(patterns: Ints, margins: Numbers) -> Numbers:  # noqa: ARG001
        return rows(patterns)[:, 1]

    def cases(patterns: Ints, n_items: Numbers) -> tuple[float, float]:
        times = patterns[:, label]
        return float(n_items @ times), float(n_items @ (times > 0))

    return Coefficient("specific", rows, lambda sums: ratio(sums[..., 0], sums[..., 1]), NO_USE, den, cases)


# Krippendorff's alpha


def alpha(scale: Scale, labels: tuple[str, ...]) -> Coefficient:
    """Krippendorff's alpha for labels in the given order; the interval and ratio scales need numbers."""
    return _ordinal_alpha(len(labels)) if scale == "ordinal" else _alpha_of(distances(scale, labels))


def _alpha_of(apart: Matrix) -> Coefficient:
    def rows(patterns: Ints) -> Numbers:
        disagreeing = (patterns * (patterns @ apart)).sum(axis=1) / (patterns.sum(axis=1) - 1)
        return np.column_stack([disagreeing, patterns])

    def score(sums: Numbers) -> Numbers:
        return _alpha(sums[..., 0], sums[..., 1:], ((sums[..., 1:] @ apart) * sums[..., 1:]).sum(axis=-1))

    return Coefficient("alpha", rows, score, den=label_distance(apart), is_by_label=True)


def _alpha(disagreeing: Numbers, margins: Numbers, by_chance: Numbers) -> Numbers:
    return 1 - ratio(disagreeing * (margins.sum(axis=-1) - 1), by_chance)


def _ordinal_alpha(n_labels: int) -> Coefficient:
    upper = np.triu_indices(n_labels)

    def rows(patterns: Ints) -> Numbers:
        pairs = patterns[:, upper[0]] * (patterns[:, upper[1]] - (upper[0] == upper[1]))
        return np.asarray(pairs / (patterns.sum(axis=1, keepdims=True) - 1), np.float64)

    def score(sums: Numbers) -> Numbers:
        margins = np.zeros((*sums.shape[:-1], n_labels), sums.dtype)
        for pair, (first, second) in enumerate(zip(*upper, strict=True)):
            margins[..., first] += sums[..., pair]
            if first != second:
                margins[..., second] += sums[..., pair]
        midrank = margins.cumsum(axis=-1) - margins / 2
        apart = (midrank[..., upper[0]] - midrank[..., upper[1]]) ** 2
        by_chance = 2 * (margins[..., upper[0]] * margins[..., upper[1]] * apart).sum(axis=-1)
        return _alpha(2 * (sums * apart).sum(axis=-1), margins, by_chance)

    def den(patterns: Ints, margins: Numbers) -> Numbers:
        midrank = margins.cumsum() - margins / 2
        return label_distance(np.subtract.outer(midrank, midrank) ** 2)(patterns, margins)

    return Coefficient("alpha", rows, score, den=den, is_by_label=True)


# From margins alone, where labels are thousands (a tag with its correction is a label)


def margin_scores(sums: Numbers, n_labels: int) -> Numbers:
    """Every coefficient (last axis) from the sums `n, agreeing, disagreeing / (m - 1), shares ..., counts ...`."""
    if not n_labels:  # nobody marked anything: no coefficient need know how to do without labels
        return np.full((*sums.shape[:-1], len(COEFFICIENTS)), nan)
    counts, agreeing = sums[..., 3 + n_labels :], ratio(sums[..., 1], sums[..., 0])
    shares = ratio(sums[..., 3 : 3 + n_labels], sums[..., :1])
    by_chance = counts.sum(axis=-1) ** 2 - (counts**2).sum(axis=-1)
    values = {"alpha": _alpha(sums[..., 2], counts, by_chance), "observed": agreeing}
    for each in COEFFICIENTS:
        if each.chance is not None:
            expected = each.chance(shares, None)
            values[each.name] = ratio(agreeing - expected, 1 - expected)
    return np.stack([values[name] for name in NAMES], axis=-1)


def pair_scores(sums: Numbers, n_labels: int) -> Numbers:
    """Observed agreement and Cohen's kappa (1960) from `n, agreeing, first's labels ..., second's labels ...`."""
    n = sums[..., 0]
    agreeing = ratio(sums[..., 1], n)
    margins = sums[..., 2 : 2 + n_labels] * sums[..., 2 + n_labels :]
    expected = ratio(margins.sum(axis=-1), n * n)
    return np.stack([agreeing, ratio(agreeing - expected, 1 - expected)], axis=-1)


# The coefficients that are reported


@dataclass(frozen=True, slots=True)
class Definition:
    """A coefficient as reported: its name, its titles (which depend on the weights), and how to compute it.

    `chance` is the agreement by chance that it is beyond, if it is that; labels by the thousand need no more.
    """

    name: str
    titles: Mapping[str, str]
    of_table: Callable[[Matrix, Scale, tuple[str, ...]], Coefficient]
    chance: Chance | None = None


COEFFICIENTS = (
    Definition("alpha", {"alpha": "Krippendorff alpha"}, lambda _weights, scale, labels: alpha(scale, labels)),
    Definition("observed", {"observed": "Observed agreement"}, lambda weights, *_: observed(weights)),
    Definition("fleiss", {"fleiss": "Fleiss kappa"}, lambda weights, *_: fleiss(weights), _fleiss_chance),
    Definition("ac1", {"ac1": "Gwet AC1", "ac2": "Gwet AC2"}, lambda weights, *_: gwet(weights), _gwet_chance),
    Definition("s", {"s": "Bennett S"}, lambda weights, *_: bennett(weights), _bennett_chance),
)
NAMES = tuple(definition.name for definition in COEFFICIENTS)
TITLES = {"kappa": "Cohen kappa"} | {name: title for each in COEFFICIENTS for name, title in each.titles.items()}
"""The title of every coefficient by its name, for tables, report and pages alike."""

TITLE_OF_TWO = {"fleiss": "Scott pi (Fleiss kappa)"}


def coefficient_title(name: str, *, n_raters: int = 0) -> str:
    return TITLE_OF_TWO.get(name, TITLES[name]) if n_raters == 2 else TITLES[name]


BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def band(value: float) -> str:
    """The word of Landis & Koch 1977 (Biometrics 33, p. 165) for a kappa; empty for an undefined value.

    The authors themselves call the bands arbitrary; the interval says more than the band.
    """
    if value != value:
        return ""
    if value < 0:
        return "poor"
    return next((name for bound, name in BANDS if value <= bound), "almost perfect")


def band_words(estimate: Interval) -> str:
    """The bands that an interval covers, such as "fair to moderate"; empty without an interval."""
    low, high = band(estimate.low), band(estimate.high)
    return low if low == high else f"{low} to {high}"


def coefficient_json(interval: Interval) -> dict[str, Json]:
    words = band_words(interval)
    return {**interval.as_json(), **({"band": words} if words else {})}


def observed_json(observed: Interval) -> dict[str, Json]:
    """`observed` is a bare number; its interval is in `observed_interval`."""
    return {"observed": encode(observed.value), "observed_interval": observed.as_json()}


def coefficients_json(values: Mapping[str, Interval]) -> dict[str, Json]:
    others = {name: coefficient_json(value) for name, value in values.items() if name != "observed"}
    return {**observed_json(values["observed"]), **others}


# Values with intervals


FEWEST = 3


def influence_of(coefficient: Coefficient, counts: Counts, basis: Basis, *, by_item: bool = False) -> Influence:
    patterns, margins = counts.patterns, (counts.n_items @ counts.patterns).astype(np.float64)
    rows = np.column_stack([coefficient.rows(patterns), coefficient.den(patterns, margins)])
    units = counts.as_items(rows) if by_item else counts.units(rows)
    return influence(Units(units.rows[:, :-1], units.unit, units.times), coefficient.score, units.rows[:, -1], basis)


def with_interval(
    coefficient: Coefficient, counts: Counts, basis: Basis, *, without: Numbers | None = None
) -> Interval:
    """The value with its interval; for other raters, `without` has the values with each rater left out."""
    if not counts.n_compared:
        return Interval(nan, nan, nan, NO_PAIR)
    it = influence_of(coefficient, counts, basis)
    if without is not None:
        it = for_other_raters(it, without, influence_of(coefficient, counts, basis, by_item=True))
    if coefficient.cases is not None:
        n, n_items = coefficient.cases(counts.patterns, counts.n_items.astype(np.float64))
        return share(it, n=n, n_design=n_items, undefined=coefficient.undefined, is_agreement=True)
    rare = rare_of(counts) if coefficient.is_by_label else None
    return coefficient_interval(it, rare=rare, undefined=coefficient.undefined)


def rare_of(counts: Counts) -> Rare:
    """Items without the most frequent label, averaged over raters, and the units they are in."""
    margins = counts.n_items @ counts.patterns
    is_rare = counts.patterns.sum(axis=1) > counts.patterns[:, int(margins.argmax())]
    units = counts.units(is_rare[:, None].astype(np.float64))
    share_of_rare = 1 - float(margins.max(initial=0)) / max(1.0, float(margins.sum()))
    return Rare(counts.n_compared * share_of_rare, float(units.counts @ (units.rows[:, 0] > 0)))


def for_other_raters(it: Influence, without: Numbers, by_item: Influence) -> Influence:
    """Rule 7: `without` has the score with each rater left out."""
    joint = with_raters(it, from_left_out(it.value, without), by_item)
    return replace(joint, unit="rater" if it.unit == "item" else it.unit)  # Student's t, for items too


def require_random(coded: Coded, basis: Basis) -> None:
    if coded.anonymous_raters:
        raise UsageError("raters are positions, not people: they cannot represent others")
    if len(coded.raters) < FEWEST:
        found = f"found {len(coded.raters)}"
        raise UsageError(f"expected at least {FEWEST} raters to generalise to others like them, {found}")
    if basis.interval == "bootstrap":
        raise UsageError("intervals for other raters need `interval` jackknife")


def without_each_rater(coefficients: Sequence[Coefficient], coded: Coded) -> list[Numbers]:
    """For each coefficient, its values with one rater left out at a time, in the order of raters.

    Leaving a rater out changes only the items that this rater judged.
    """
    table = table_of(coded.item, coded.label, len(coded.labels))
    order = np.argsort(coded.rater, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(coded.rater, minlength=len(coded.raters)))[:-1])
    values: list[list[float]] = [[] for _ in coefficients]
    totals = [_sums(coefficient, table) for coefficient in coefficients]
    for rows in parts:
        before = table[coded.item[rows]]
        after = before.copy()
        after[np.arange(len(rows)), coded.label[rows]] -= 1
        for column, coefficient, total in zip(values, coefficients, totals, strict=True):
            changed = total - _sums(coefficient, before) + _sums(coefficient, after)
            column.append(float(coefficient.score(changed)))
    return [np.array(column) for column in values]


def _sums(coefficient: Coefficient, rows: Ints) -> Numbers:
    compared = rows[rows.sum(axis=1) > 1]
    sums: Numbers = coefficient.rows(compared).sum(axis=0)
    return sums
