"""Coefficients of agreement for any number of raters: what each is, its title, its value and its interval.

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

The ordinal distance is the squared difference of midranks, so it changes with the margins in every resample; its sums
are therefore the coincidences themselves (labels squared), those of the other scales one number and the margins.

Specific agreement (Dice 1945; Spitzer & Fleiss 1974; for any number of raters Cicchetti & Feinstein 1990) asks for
one label: where one rater says `error`, how often does another?

    specific sum_i n_ik (n_ik - 1) / sum_i n_ik (n_i - 1)

q counts the labels of the table, so a label that nobody used should not be in its order.  With one label only,
nothing can disagree by chance and every coefficient but observed agreement is undefined.  Intervals are BCa over
items (`grater.uncertainty.bootstrap`); half of the made-up item there is unanimous, spread over the labels, and half
of it is split between the most frequent label and each other.

*Other raters like these*: intervals that take raters as random, as well as items or essays.  Gwet 2014 (Handbook of
Inter-Rater Reliability, chapter 5) adds two variances: that over items with these raters, and that over raters with
these items, the latter by the jackknife, which leaves out one rater at a time.  (A bootstrap of raters would pair a
rater with himself, who always agrees.)  The jackknife's part holds some of the variance over items as well, so
intervals err on the safe side.  Both variances are those of log(1 - x), as in `grater.uncertainty.bootstrap`, or of x
where it reaches 1; that over items is read off the interval for these raters.  The interval is Student's t with the
degrees of freedom of Satterthwaite 1946.  Three raters are needed; with fewer than ten the interval is wide, as it
should be.
A rater who is left out changes the items that he or she judged and no others, so that leaving out each in turn costs
as much as counting all judgments once.

To add a coefficient, add a `Definition` to `COEFFICIENTS`: summary, JSON, tables, report and web pages read that
tuple.

Labels: those that may not mean what a reader thinks, and how near two of them are.

`Error` and `error`, `ok ` and `ok`, `1` and `1.0` are two labels to a computer, and raters who say the same then
disagree.  The three words of a verdict (error, ok, unknown) are one label however they are spelled, in agreement as
in evaluation; of other labels a warning names those that differ only in case, blanks or number format.

An ordinal scale, and weights by distance, need an order.  Numbers have one; words do not: by the alphabet `bad`,
`excellent`, `good`, `poor` gave alpha .170 where the truth was .641.  So words without an order are refused.

Nearness is a weight for kappa and AC2, a squared distance for alpha.  Cohen 1968 gives each pair of labels a weight,
1 for the same and less the further apart.  `linear` and `quadratic` take labels as equally spaced steps in their
order, as scikit-learn does, whatever numbers they are.  A matrix of one's own is taken as it is: symmetric or not,
finite, 1 on the diagonal.

Krippendorff 2011 measures distance by the scale: `nominal` 0 or 1, `interval` (v - w)^2, `ratio` ((v - w) / (v +
w))^2, 0 where both are 0.  (`ordinal` depends on the data.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, isnan, log, nan, sqrt
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import Problems, UsageError
from grater.measure.agreement.coded import Coded, Counts, as_numbers, table_of
from grater.model import Interval, Json
from grater.result import encode
from grater.tables import Judgments
from grater.uncertainty.bootstrap import PatternUnits, Sums, bca_interval, point_estimate, ratio, resampled_scores
from grater.uncertainty.intervals import LEVEL, RESAMPLES, Ints, Numbers

VERDICT_WORDS = ("error", "ok", "unknown")
MOST_NAMED = 6
FEWEST_ORDERED = 3
"""With two labels every order gives the same."""
Matrix: TypeAlias = npt.NDArray[np.float64]
WeightName: TypeAlias = Literal["identity", "linear", "quadratic"]
Scale: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

WEIGHTS: tuple[WeightName, ...] = ("identity", "linear", "quadratic")
WEIGHT_COLUMNS = ("label", "other", "weight")
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


def spelled_alike(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """The labels that differ only in case, blanks or number format, those of one meaning together."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        by_key[_key(label)].append(label)
    return [tuple(sorted(names)) for _, names in sorted(by_key.items()) if len(names) > 1]


def _key(label: str) -> str:
    plain = " ".join(label.casefold().split())
    number = as_numbers([plain]) if plain else None
    return repr(number[0] + 0.0) if number else plain


def one_spelling(judgments: Judgments) -> Judgments:
    """The judgments with error, ok and unknown each spelled in one way: in small letters where there were several."""
    labels = label_names(judgments)
    several = {name: _key(name) for names in spelled_alike(labels) for name in names if _key(name) in VERDICT_WORDS}
    if not several:
        return judgments
    label = pl.col("label").cast(pl.String).replace(several)
    return replace(judgments, frame=judgments.frame.with_columns(label=label))


def label_names(judgments: Judgments) -> list[str]:
    """The labels that occur."""
    return sorted(judgments.frame["label"].drop_nulls().unique().cast(pl.String).to_list())


def spelling_warnings(judgments: Judgments) -> Iterator[str]:
    """Names labels that are probably one."""
    alike = spelled_alike(label_names(judgments))
    one = [names for names in alike if _key(names[0]) in VERDICT_WORDS]
    apart = [names for names in alike if _key(names[0]) not in VERDICT_WORDS]
    if one:
        yield f"labels that differ only in spelling were taken as one: {_named(one)}"
    if apart:
        yield (
            f"labels differ only in case, blanks or number format: {_named(apart)}; "
            "they count as different; merge them if they mean the same"
        )


def _named(alike: Sequence[tuple[str, ...]]) -> str:
    shown = [" / ".join(map(repr, names)) for names in alike[:MOST_NAMED]]
    return ", ".join([*shown, *([f"and {len(alike) - MOST_NAMED} more"] if len(alike) > MOST_NAMED else [])])


def require_order(labels: Sequence[str], *, scale: str, weights: object, order: Sequence[str]) -> None:
    """Refuse an order of words by the alphabet."""
    needed_for = (
        "scale ordinal"
        if scale == "ordinal"
        else f"weights {weights}"
        if (isinstance(weights, str) and weights in ("linear", "quadratic"))
        else ""
    )
    if not needed_for or order or len(labels) < FEWEST_ORDERED or as_numbers(labels) is not None:
        return
    names = ", ".join(map(str, labels[:MOST_NAMED])) + (", ..." if len(labels) > MOST_NAMED else "")
    raise UsageError(f"{needed_for} needs the order of labels that are not numbers ({names}); name it, lowest first")


def weight_matrix(weights: WeightName | npt.ArrayLike, n_labels: int) -> Matrix:
    """Agreement weights for each pair of labels."""
    if isinstance(weights, str):
        return _weights_called(weights, n_labels)
    matrix = np.asarray(weights, np.float64)
    if matrix.shape != (n_labels, n_labels):
        raise UsageError(f"expected weights for {n_labels} x {n_labels} labels, found {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise UsageError("expected finite weights, found an infinite or missing one")
    if (matrix.diagonal() != 1).any() or (matrix > 1).any():
        raise UsageError("expected weights of 1 for equal labels and none above it, found others")
    return matrix


def _weights_called(name: str, n_labels: int) -> Matrix:
    steps = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) / max(1, n_labels - 1)
    match name:
        case "identity":
            return np.eye(n_labels)
        case "linear":
            return 1 - steps
        case "quadratic":
            return 1 - steps**2
    raise UsageError(f"unknown weights {name!r}. Known: {', '.join(WEIGHTS)}, or a matrix")


def matrix_of_rows(rows: Iterable[tuple[object, object, object]], labels: tuple[str, ...], *, name: str) -> Matrix:
    """The matrix of a table with the columns label, other, weight; bad rows are reported with their lines.

    A pair holds in both directions unless the other direction has a row of its own; a pair without a row weighs 0,
    and a label weighs 1 with itself.
    """
    problems = Problems(name)
    given: dict[tuple[str, str], float] = {}
    for line, (label, other, cell) in enumerate(rows, start=2):
        pair, weight = (str(label), str(other)), _weight(cell)
        if strange := next((one for one in pair if one not in labels), None):
            problems.add(f"expected a label of the judgments, found {strange!r}", line=line)
        elif weight is None:
            problems.add(f"expected a finite weight of at most 1, found {cell!r}", line=line)
        else:
            given[pair] = weight
    problems.done()
    matrix = np.eye(len(labels))
    for (label, other), weight in given.items():
        row, column = labels.index(label), labels.index(other)
        matrix[row, column] = weight
        if (other, label) not in given:
            matrix[column, row] = weight
    return matrix


def _weight(cell: object) -> float | None:
    try:
        weight = float(str(cell))
    except ValueError:
        return None
    return weight if isfinite(weight) and weight <= 1 else None


def distances(scale: Scale, labels: Sequence[str]) -> Matrix:
    """Squared distances between labels on a scale that does not depend on the data."""
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


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A function of sums over items (`grater.uncertainty.bootstrap`); `undefined` says why it is nan where it is."""

    name: str
    rows: Callable[[Ints], Numbers]
    score: Callable[[Sums], Sums]
    undefined: str = ONE_LABEL


# Agreement beyond chance: each coefficient is its chance

Chance: TypeAlias = Callable[[Sums, Matrix | None], Sums]
"""The agreement by chance from mean shares of labels (last axis) and weights; None are weights of equal or not."""


def _fleiss_chance(shares: Sums, weights: Matrix | None) -> Sums:
    return np.asarray(((shares if weights is None else shares @ weights) * shares).sum(axis=-1))


def _gwet_chance(shares: Sums, weights: Matrix | None) -> Sums:
    n_labels = shares.shape[-1]
    total = n_labels if weights is None else weights.sum()
    scale = total / (n_labels * (n_labels - 1)) if n_labels > 1 else nan
    return np.asarray(scale * (shares * (1 - shares)).sum(axis=-1))


def _bennett_chance(shares: Sums, weights: Matrix | None) -> Sums:
    n_labels = shares.shape[-1]
    total = n_labels if weights is None else weights.sum()
    return np.asarray((total / n_labels**2 if n_labels > 1 else nan) * shares.sum(axis=-1))


def observed(weights: Matrix) -> Coefficient:
    """The share of pairs of judgments that agree, averaged over items."""

    def rows(patterns: Ints) -> Numbers:
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights)])

    return Coefficient("observed", rows, lambda sums: ratio(sums[..., 1], sums[..., 0]), NO_PAIR)


def fleiss(weights: Matrix) -> Coefficient:
    return _beyond("fleiss", weights, _fleiss_chance)


def gwet(weights: Matrix) -> Coefficient:
    is_plain = bool((weights == np.eye(len(weights))).all())
    return _beyond("ac1" if is_plain else "ac2", weights, _gwet_chance)


def bennett(weights: Matrix) -> Coefficient:
    return _beyond("s", weights, _bennett_chance)


def pair_agreement(patterns: Ints, weights: Matrix) -> Numbers:
    """The (weighted) share of an item's pairs of judgments that agree."""
    n_judgments = patterns.sum(axis=1)
    # A judgment is not paired with itself: its own weight of 1 goes.
    agreeing = (patterns * (patterns @ weights)).sum(axis=1) - n_judgments
    return np.asarray(agreeing / (n_judgments * (n_judgments - 1)), np.float64)


def _beyond(name: str, weights: Matrix, chance: Chance) -> Coefficient:
    def rows(patterns: Ints) -> Numbers:
        shares = patterns / patterns.sum(axis=1, keepdims=True)
        return np.column_stack([np.ones(len(patterns)), pair_agreement(patterns, weights), shares])

    def score(sums: Sums) -> Sums:
        expected = chance(ratio(sums[..., 2:], sums[..., :1]), weights)
        return ratio(ratio(sums[..., 1], sums[..., 0]) - expected, 1 - expected)

    return Coefficient(name, rows, score)


def specific(label: int) -> Coefficient:
    """Agreement on one label: of the pairs of judgments of which one gives it, counted for each, the share that does
    so twice."""

    def rows(patterns: Ints) -> Numbers:
        times, n_judgments = patterns[:, label], patterns.sum(axis=1)
        return np.column_stack([times * (times - 1), times * (n_judgments - 1)]).astype(np.float64)

    return Coefficient("specific", rows, lambda sums: ratio(sums[..., 0], sums[..., 1]), NO_USE)


# Krippendorff's alpha


def alpha(scale: Scale, labels: tuple[str, ...]) -> Coefficient:
    """The coefficient for labels in their order; numbers for the scales interval and ratio."""
    return _ordinal_alpha(len(labels)) if scale == "ordinal" else _alpha_of(distances(scale, labels))


def _alpha_of(apart: Matrix) -> Coefficient:
    def rows(patterns: Ints) -> Numbers:
        disagreeing = (patterns * (patterns @ apart)).sum(axis=1) / (patterns.sum(axis=1) - 1)
        return np.column_stack([disagreeing, patterns])

    def score(sums: Sums) -> Sums:
        return _alpha(sums[..., 0], sums[..., 1:], ((sums[..., 1:] @ apart) * sums[..., 1:]).sum(axis=-1))

    return Coefficient("alpha", rows, score)


def _alpha(disagreeing: Sums, margins: Sums, by_chance: Sums) -> Sums:
    return 1 - ratio(disagreeing * (margins.sum(axis=-1) - 1), by_chance)


def _ordinal_alpha(n_labels: int) -> Coefficient:
    upper = np.triu_indices(n_labels)

    def rows(patterns: Ints) -> Numbers:
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


# From margins alone, where labels are thousands (a tag with its correction is a label)


@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """Sums over items of nominal labels, from which no table of labels by labels is made.

    `shares` and `counts` have the labels in their last axis; `disagreeing` are the pairs that disagree / (m - 1).
    """

    observed: Sums
    disagreeing: Sums
    shares: Sums
    counts: Sums

    def beyond(self, chance: Chance) -> Sums:
        expected = chance(self.shares, None)
        return ratio(self.observed - expected, 1 - expected)

    @property
    def alpha(self) -> Sums:
        total = self.counts.sum(axis=-1)
        return _alpha(self.disagreeing, self.counts, total**2 - (self.counts**2).sum(axis=-1))


def margin_scores(sums: Sums, n_labels: int) -> Sums:
    """Every coefficient (last axis) from `n, agreeing share, disagreeing pairs / (m - 1), shares ..., counts ...`."""
    if not n_labels:  # nobody marked anything: no coefficient need know how to do without labels
        return np.full((*sums.shape[:-1], len(COEFFICIENTS)), nan)
    margins = Margins(
        observed=ratio(sums[..., 1], sums[..., 0]),
        disagreeing=sums[..., 2],
        shares=ratio(sums[..., 3 : 3 + n_labels], sums[..., :1]),
        counts=sums[..., 3 + n_labels :],
    )
    return np.stack([definition.of_margins(margins) for definition in COEFFICIENTS], axis=-1)


def pair_scores(sums: Sums, n_labels: int) -> Sums:
    """Observed agreement and Cohen's kappa (1960) from `n, agreeing, first's labels ..., second's labels ...`."""
    n = sums[..., 0]
    agreeing = ratio(sums[..., 1], n)
    margins = sums[..., 2 : 2 + n_labels] * sums[..., 2 + n_labels :]
    expected = ratio(margins.sum(axis=-1), n * n)
    return np.stack([agreeing, ratio(agreeing - expected, 1 - expected)], axis=-1)


PAIR_SCORES = ("observed", "kappa")


# The coefficients that are reported


@dataclass(frozen=True, slots=True)
class Definition:
    """A coefficient as it is reported: its name, its titles by name (weights may change it), and two ways to it."""

    name: str
    titles: Mapping[str, str]
    of_table: Callable[[Matrix, Scale, tuple[str, ...]], Coefficient]
    of_margins: Callable[[Margins], Sums]


COEFFICIENTS: tuple[Definition, ...] = (
    Definition(
        name="observed",
        titles={"observed": "Observed agreement"},
        of_table=lambda weights, _scale, _labels: observed(weights),
        of_margins=lambda margins: margins.observed,
    ),
    Definition(
        name="fleiss",
        titles={"fleiss": "Fleiss kappa"},
        of_table=lambda weights, _scale, _labels: fleiss(weights),
        of_margins=lambda margins: margins.beyond(_fleiss_chance),
    ),
    Definition(
        name="ac1",
        titles={"ac1": "Gwet AC1", "ac2": "Gwet AC2"},
        of_table=lambda weights, _scale, _labels: gwet(weights),
        of_margins=lambda margins: margins.beyond(_gwet_chance),
    ),
    Definition(
        name="s",
        titles={"s": "Bennett S"},
        of_table=lambda weights, _scale, _labels: bennett(weights),
        of_margins=lambda margins: margins.beyond(_bennett_chance),
    ),
    Definition(
        name="alpha",
        titles={"alpha": "Krippendorff alpha"},
        of_table=lambda _weights, scale, labels: alpha(scale, labels),
        of_margins=lambda margins: margins.alpha,
    ),
)
NAMES = tuple(definition.name for definition in COEFFICIENTS)
TITLES = {"kappa": "Cohen kappa"} | {
    name: title for definition in COEFFICIENTS for name, title in definition.titles.items()
}
"""The title of every coefficient by its name, for tables, report and pages alike."""

TITLE_OF_TWO = {"fleiss": "Scott pi (Fleiss kappa)"}


def coefficient_title(name: str, *, n_raters: int = 0) -> str:
    """The title of a coefficient; for two raters Fleiss kappa is Scott's pi."""
    return TITLE_OF_TWO.get(name, TITLES[name]) if n_raters == 2 else TITLES[name]


BANDS = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def band(value: float) -> str:
    """The word of Landis & Koch 1977 (Biometrics 33, p. 165) for a kappa; empty for an undefined value.

    The bands are arbitrary by their authors' own word, and a value says more with its interval than with its band.
    """
    if value != value:
        return ""
    if value < 0:
        return "poor"
    return next((name for bound, name in BANDS if value <= bound), "almost perfect")


def band_words(estimate: Interval) -> str:
    """The band of an interval, "fair to moderate" where its ends fall in two; empty without an interval."""
    low, high = band(estimate.low), band(estimate.high)
    return low if low == high else f"{low} to {high}"


def coefficient_json(interval: Interval) -> dict[str, Json]:
    """The interval with its band."""
    words = band_words(interval)
    return {**interval.as_json(), **({"band": words} if words else {})}


def observed_json(observed: Interval) -> dict[str, Json]:
    """`observed` is a bare number; its interval is in `observed_interval`."""
    return {"observed": encode(observed.value), "observed_interval": observed.as_json()}


def coefficients_json(values: Mapping[str, Interval]) -> dict[str, Json]:
    """Every coefficient over all raters, by name."""
    others = {name: coefficient_json(value) for name, value in values.items() if name != "observed"}
    return {**observed_json(values["observed"]), **others}


# Values with intervals


def bootstrap_intervals(
    coefficients: Sequence[Coefficient],
    counts: Counts,
    *,
    rng: np.random.Generator,
    n_resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> list[Interval]:
    """Each coefficient with its interval, all from the same resamples."""
    values = [point_estimate(coefficient, counts.patterns, counts.n_items) for coefficient in coefficients]
    if counts.n_compared < 2 or len(counts.labels) < 2:
        return [_without_interval(c, value, counts) for c, value in zip(coefficients, values, strict=True)]
    units = pattern_units(counts)
    draws = resampled_scores(coefficients, units, rng=rng, n_resamples=n_resamples)
    return [
        bca_interval(coefficient, value, units, scores, level=level)
        for coefficient, value, scores in zip(coefficients, values, draws, strict=True)
    ]


def _without_interval(coefficient: Coefficient, value: float, counts: Counts) -> Interval:
    """What can be said of too little data: perhaps a value, and why there is no interval."""
    if counts.n_compared == 0:
        return Interval(nan, nan, nan, NO_PAIR)
    if value != value:
        return Interval(nan, nan, nan, coefficient.undefined)
    why = "all judgments are of one label" if len(counts.labels) < 2 else "a single item cannot be resampled"
    return Interval(value, nan, nan, why)


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
    return PatternUnits(
        patterns=np.vstack([counts.patterns, unanimous, split]),
        n_items=n_items,
        made_up=made_up / made_up.sum(),
        groups=counts.groups,
    )


def _median(values: Ints, times: Ints) -> int:
    """The middle value where each occurs `times` times; the lower of two."""
    order = np.argsort(values)
    middle = np.searchsorted(times[order].cumsum(), times.sum() / 2)
    return int(values[order][middle])


# Other raters like these


FEWEST = 3


def require_random(coded: Coded) -> None:
    """Refuse raters that cannot stand for others."""
    if coded.anonymous_raters:
        raise UsageError("raters are positions, not people: they cannot be drawn")
    if len(coded.raters) < FEWEST:
        raise UsageError(
            f"expected at least {FEWEST} raters to generalise to others like them, found {len(coded.raters)}"
        )


def without_each_rater(coefficients: Sequence[Coefficient], coded: Coded) -> list[Numbers]:
    """For each coefficient its values with one rater left out, in the order of raters."""
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


def _sums(coefficient: Coefficient, rows: Sums) -> Numbers:
    compared = rows[rows.sum(axis=1) > 1]
    sums: Numbers = coefficient.rows(compared).sum(axis=0)
    return sums


def random_interval(fixed: Interval, without: Numbers, *, n_units: int, level: float) -> Interval:
    """The interval for other raters too: `fixed` is for these raters, `without` has the values with one left out."""
    from scipy.special import stdtrit  # a fifth of a second that most commands need not wait for

    without = without[~np.isnan(without)]
    if isnan(fixed.value) or isnan(fixed.low) or len(without) < FEWEST:
        return fixed
    is_plain = max(fixed.high, float(without.max())) >= 1
    value, low, high = (number if is_plain else -log(1 - number) for number in (fixed.value, fixed.low, fixed.high))
    left = without if is_plain else -np.log(1 - without)
    over_items = ((high - low) / 2 / float(stdtrit(n_units - 1, (1 + level) / 2))) ** 2
    over_raters = float(np.var(left)) * (len(left) - 1)
    total = over_items + over_raters
    if total == 0:
        return fixed
    freedom = total**2 / (over_items**2 / (n_units - 1) + over_raters**2 / (len(left) - 1))
    half = float(stdtrit(freedom, (1 + level) / 2)) * sqrt(total)
    if is_plain:
        return Interval(fixed.value, max(-1.0, value - half), min(1.0, value + half))
    return Interval(fixed.value, max(-1.0, 1 - exp(half - value)), 1 - exp(-value - half))
