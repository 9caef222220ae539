"""Agreement of metrics with people: correlations between metrics' scores of systems and people's preferences.

*Systems like these.* Pearson's r on Fisher's scale: z ± 1.96 max(1 / √(n - 3), the standard error of leaving out one
system at a time). Spearman's rho: standard error √((1 + rho²/2) / (n - 3)) on the same scale (Bonett & Wright 2000),
t(n - 2). With 12 systems r = .6 has about [.1, .9]. *These systems, more sentences*: r with fixed systems and metric
scores, while people's scores vary by leaving out one unit at a time; for other systems this interval would cover only
.42 to .61. No interval below `FEWEST` systems.

*Reliability* is the share of the variance of people's scores that is not sampling error, 1 - Σ V_i / Σ (x_i - mean)²;
no metric can be expected to correlate better than its square root, the *ceiling*. Pairwise accuracy is the share of
*pairs* of systems separated by people (Holm) that a metric orders correctly; its ties count half. *Windows* are runs
of neighbours in people's ranking, where correlations are lower than over the whole range (Mathur, Baldwin & Cohn
2020). Williams' test compares two metrics (1959; Graham & Baldwin 2014), with Holm's correction over all pairs.

For sentences, the result is how often the metric prefers the same of two outputs as a judge.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import atanh, isfinite, isnan, nan, sqrt, tanh
from typing import TypeAlias

import numpy as np
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.model import Interval
from grater.result import OPTIONAL, Data, Estimate
from grater.sheet import Sheet, count, counted, interval, number, p_value, undefined_notes
from grater.tables.files import Source, load
from grater.tables.schema import text_of
from grater.uncertainty import Influence, Numbers, PairTest, coefficient, from_left_out, holm, t_value, z_value

FEWEST = 6
"""Systems below which a correlation has no interval."""
WINDOW = 8
RELIABLE = 0.85
SCORE_COLUMNS = ("system", "metric", "score")
Scores: TypeAlias = Mapping[str, Mapping[str, float]]
"""The scores of systems, by metric."""


def read_metric_scores(source: Source, *, name: str | None = None) -> dict[str, dict[str, float]]:
    """A table `system, metric, score`; higher is better."""
    raw = load(source, name=name or "metrics frame")
    if missing := [column for column in SCORE_COLUMNS if column not in raw.columns]:
        found = ", ".join(raw.columns)
        raise BadInput(
            Problem(raw.name, f"expected columns {', '.join(SCORE_COLUMNS)}, found {found}; add {missing[0]!r}")
        )
    scores: dict[str, dict[str, float]] = {}
    cells = (raw.columns[column].to_list() for column in SCORE_COLUMNS)
    for line, (system, metric, score) in enumerate(zip(*cells, strict=True), start=2):
        try:
            value = float(score)
        except (TypeError, ValueError):
            value = nan
        if not isfinite(value):
            raise BadInput(Problem(raw.name, f"expected a number in column 'score', found {score!r}", line))
        of_metric = scores.setdefault(str(text_of(metric)), {})
        if of_metric.setdefault(str(text_of(system)), value) != value:
            raise BadInput(Problem(raw.name, f"expected one score of {system} by {metric}, found two", line))
    return scores


@dataclass(frozen=True, slots=True)
class Window(Data):
    """The correlation among neighbours in people's ranking, from `first` to `last`."""

    first: str
    last: str
    pearson: Interval


@dataclass(frozen=True, slots=True)
class MetricAgreement(Data):
    """How well one metric agrees with people, on the systems that it scored."""

    metric: str
    n: int
    pearson: Interval
    spearman: Interval
    pearson_these_systems: Interval
    n_separated: int
    ordered_right: float
    windows: tuple[Window, ...] = field(default=(), metadata=OPTIONAL)
    on_sentences: Interval | None = field(default=None, metadata=OPTIONAL)


@dataclass(frozen=True, slots=True)
class MetricPair(Data):
    """Williams' test of the Pearson correlations of two metrics with people."""

    metrics: tuple[str, str]
    difference: float
    p: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class MetricsAndPeople(Data):
    """The reliability of people's scores, and each metric against them, best correlated first."""

    reliability: float
    ceiling: float
    metrics: tuple[MetricAgreement, ...]
    pairs: tuple[MetricPair, ...]
    scores: Scores
    warnings: tuple[str, ...] = ()

    def estimates(self) -> Iterator[Estimate]:
        for each in self.metrics:
            of = {"system": each.metric, "other": "people"}
            yield {**of, "score": "pearson"}, each.pearson
            yield {**of, "score": "spearman"}, each.spearman
            yield {**of, "score": "pearson, these systems"}, each.pearson_these_systems

    def sheets(self) -> Iterator[Sheet]:
        has_sentences = any(each.on_sentences for each in self.metrics)
        rows = [
            (
                each.metric,
                count(each.n),
                interval(each.pearson),
                interval(each.spearman),
                interval(each.pearson_these_systems),
                f"{count(each.ordered_right)} of {each.n_separated}",
                *([interval(each.on_sentences)] if each.on_sentences else [""] * has_sentences),
            )
            for each in self.metrics
        ]
        columns = ("", "systems", "Pearson", "Spearman", "Pearson, these systems", "pairs right")
        notes = [
            f"People's scores have reliability {number(self.reliability)}: no metric can be expected to correlate "
            f"better than {number(self.ceiling)}.",
            "Pearson and Spearman are for systems like these; the next column for exactly these systems, on other "
            "sentences. Pairs are those that people separate.",
            *undefined_notes(each for metric in self.metrics for each in (metric.pearson, metric.spearman)),
        ]
        extra = ("on sentences",) if has_sentences else ()
        yield Sheet("Metrics and people", (*columns, *extra), tuple(rows), tuple(notes), name="metrics")
        if self.pairs:
            tests = [(" – ".join(each.metrics), number(each.difference), p_value(each.p_holm)) for each in self.pairs]
            title = "Differences of Pearson correlations by Williams' test; p after Holm"
            yield Sheet(title, ("", "difference", "p"), tuple(tests), name="metric-pairs")
        windows = [
            (each.metric, f"{window.first} – {window.last}", interval(window.pearson))
            for each in self.metrics
            for window in each.windows
        ]
        if windows:
            title = f"Pearson among {WINDOW} neighbours in people's ranking"
            yield Sheet(title, ("", "systems", "Pearson"), tuple(windows), name="windows")


def pearson(x: Numbers, y: Numbers) -> Numbers:
    """The correlation of y with each row of x; nan if either is constant."""
    x, y = x - x.mean(axis=-1, keepdims=True), y - y.mean(axis=-1, keepdims=True)
    below = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    found: Numbers = np.divide((x * y).sum(axis=-1), below, out=np.full(below.shape, nan), where=below > 1e-12)
    return found


def ranks(values: Numbers) -> Numbers:
    return pl.Series(values).rank("average").to_numpy()


def _undefined(value: float, n: int) -> str:
    if isnan(value):
        return "all scores are the same" if n > 1 else "there is one system"
    if n < FEWEST:
        return f"a correlation of {counted(n, 'system')} has no interval; it needs {FEWEST}"
    return "the correlation is perfect, so the data show no spread" if abs(value) > 1 - 1e-12 else ""


def pearson_interval(x: Numbers, y: Numbers) -> Interval:
    """The interval of Pearson's correlation for systems like these."""
    value, n = float(pearson(x, y)), len(x)
    if reason := _undefined(value, n):
        return Interval(value, nan, nan, reason)
    kept = ~np.eye(n, dtype=bool)
    without = np.array([float(pearson(x[keep], y[keep])) for keep in kept])
    z = np.arctanh(np.clip(without[np.isfinite(without)], -1 + 1e-9, 1 - 1e-9))
    jackknife = sqrt((n - 1) / n * float(((z - z.mean()) ** 2).sum()))
    half = z_value() * max(1 / sqrt(n - 3), jackknife)
    return Interval(value, tanh(atanh(value) - half), tanh(atanh(value) + half))


def spearman_interval(x: Numbers, y: Numbers) -> Interval:
    """The interval of Spearman's correlation for systems like these."""
    value, n = float(pearson(ranks(x), ranks(y))), len(x)
    if reason := _undefined(value, n):
        return Interval(value, nan, nan, reason)
    half = t_value(n - 2) * sqrt((1 + value**2 / 2) / (n - 3))
    return Interval(value, tanh(atanh(value) - half), tanh(atanh(value) + half))


def williams(r12: float, r13: float, r23: float, n: int) -> float:
    """The p value of r12 = r13, where r23 is the correlation of the two variables compared."""
    from scipy.special import stdtr

    if n < 4 or any(isnan(r) for r in (r12, r13, r23)):
        return nan
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    below = 2 * k * (n - 1) / (n - 3) + (r12 + r13) ** 2 / 4 * (1 - r23) ** 3
    if below <= 1e-15:
        return 1.0 if r12 == r13 else nan
    t = (r12 - r13) * sqrt((n - 1) * (1 + r23) / below)
    return float(2 * stdtr(n - 3, -abs(t)))


def metrics_and_people(
    people: Mapping[str, Influence],
    tests: Sequence[PairTest],
    scores: Scores,
    *,
    unit: str,
    on_sentences: Mapping[str, Interval] | None = None,
) -> MetricsAndPeople:
    """Each metric against people's scores; `people` has the most preferred system first."""
    known = {name: each for name, each in people.items() if not isnan(each.value)}
    warnings, found = [], []
    x = np.array([each.value for each in known.values()])
    variance, spread = sum(each.variance for each in known.values()), float(((x - x.mean()) ** 2).sum())
    reliability = max(0.0, 1 - variance / spread) if spread else nan
    if not reliability >= RELIABLE:
        warnings.append(
            f"people's scores have reliability {number(reliability)}, below {number(RELIABLE, digits=2)}: rank more "
            "sentences before you compare metrics"
        )
    for metric, of in scores.items():
        names = [name for name in known if name in of]
        missing, strange = [name for name in known if name not in of], [name for name in of if name not in known]
        if missing or strange:
            parts = [f"no score of {', '.join(missing)}"] if missing else []
            parts += [f"no rankings of {', '.join(strange)}"] if strange else []
            warnings.append(f"{metric}: {'; '.join(parts)}")
        if len(names) < 2:
            raise UsageError(f"{metric}: expected scores of at least two ranked systems, found {len(names)}")
        human = np.array([known[name].value for name in names])
        own = np.array([of[name] for name in names])
        left_out = human - np.stack([known[name].change for name in names], axis=1)
        value, den = float(pearson(human, own)), np.sum([known[name].den for name in names], axis=0)
        its = from_left_out(value, pearson(left_out, own), unit, den)
        tested = [each for each in tests if each.is_apart() and each.first in of and each.second in of]
        signs = [np.sign((of[each.first] - of[each.second]) * each.difference.value) for each in tested]
        places = [slice(at, at + WINDOW) for at in range(len(names) - WINDOW + 1) if len(names) > WINDOW]
        windows = [Window(names[at][0], names[at][-1], pearson_interval(human[at], own[at])) for at in places]
        found.append(
            MetricAgreement(
                metric=metric,
                n=len(names),
                pearson=pearson_interval(human, own),
                spearman=spearman_interval(human, own),
                pearson_these_systems=coefficient(its, undefined=_undefined(value, 2)),
                n_separated=len(tested),
                ordered_right=float(sum((1 + sign) / 2 for sign in signs)),
                windows=tuple(windows),
                on_sentences=(on_sentences or {}).get(metric),
            )
        )
    found.sort(key=lambda each: (-np.nan_to_num(each.pearson.value, nan=-2.0), each.metric))
    return MetricsAndPeople(
        reliability=reliability,
        ceiling=sqrt(reliability),
        metrics=tuple(found),
        pairs=tuple(_metric_pairs([each.metric for each in found], scores, known)),
        scores={metric: {name: of[name] for name in known if name in of} for metric, of in scores.items()},
        warnings=tuple(warnings),
    )


def _metric_pairs(metrics: Sequence[str], scores: Scores, known: Mapping[str, Influence]) -> Iterator[MetricPair]:
    tests = []
    for one, other in combinations(metrics, 2):
        names = [name for name in known if name in scores[one] and name in scores[other]]
        human = np.array([known[name].value for name in names])
        first, second = (np.array([scores[metric][name] for name in names]) for metric in (one, other))
        r12, r13, r23 = (float(pearson(*each)) for each in ((human, first), (human, second), (first, second)))
        tests.append(((one, other), r12 - r13, williams(r12, r13, r23, len(names))))
    adjusted = holm([p for _, _, p in tests])
    for (pair, difference, p), p_holm in zip(tests, adjusted, strict=True):
        yield MetricPair(pair, difference, p, p_holm)
