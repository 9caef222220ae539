"""How good the systems are: against the majority, each rater in turn, weighted, by agreement, by threshold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grater.evaluate.binned import Bin, agreement_of, histogram
from grater.evaluate.detectors import Evaluation
from grater.evaluate.draws import Chance
from grater.evaluate.pairs import Comparison, compare_systems, is_comparable
from grater.evaluate.standard import Scored
from grater.evaluate.thresholds import curve_of_thresholds, scored_systems, signature_of_curve
from grater.report.charts.agreement_bins import agreement_bins
from grater.report.charts.agreement_histogram import agreement_histogram
from grater.report.charts.forest import forest
from grater.report.charts.precision_recall import precision_recall
from grater.report.charts.raters_in_turn import raters_in_turn
from grater.report.figure import Section, Sheet
from grater.report.items import CONTENTIOUS, list_name
from grater.report.sections.people import people_as_systems
from grater.report.words import interval, many, number, sentence
from grater.tables import Judgments, Table

SCORES = ("precision", "recall", "f0.5", "kappa")
COUNTS = ("hit", "false_alarm", "miss")
IN_BINS = ("precision", "recall", "kappa")
SPLIT = 0.75
MOST_BARS = 10


def systems_section(found: Evaluation, *, chance: Chance, experts: Judgments | None = None) -> Section:
    """Scores, rank groups, the spread over raters, and what people reach."""
    whole = found.whole
    comparison = _comparison(found, chance)
    ranked = comparison.systems if comparison else whole.standard
    people = people_as_systems(found, experts, chance=chance) if experts is not None else ()
    ceiling = people[0]["f0.5"] if people else None
    figures = [forest(whole.standard, groups=comparison.groups if comparison else None, ceiling=ceiling)]
    if len(whole.by_rater) > 1:
        figures.append(raters_in_turn(whole.by_rater, ranked))
    unjudged = f", {whole.n_unjudged:,} of them without a usable judgment" if whole.n_unjudged else ""
    words = f"{many(len(whole.standard), 'system')} on {many(whole.n_items, 'item')}{unjudged}."
    sheets = [_sheet("scores", "Against the majority of raters", whole.standard)]
    if whole.weighted:
        sheets.append(
            _sheet(
                "weighted-scores",
                "Weighted by the share of raters (Madnani et al. 2011, equations 1 to 3)",
                whole.weighted,
                note="Counts add up the shares of raters over all items; they lead to the items by majority.",
            )
        )
    if comparison:
        sheets.append(_pairs(comparison))
    if people:
        sheets.append(_people(people))
    return Section(
        "systems",
        "How good the systems are",
        (words, *map(sentence, found.warnings)),
        tuple(figures),
        tuple(sheets),
        str(found.signature),
    )


def bins_section(found: Evaluation) -> Section:
    """Where raters agree and where they do not (Madnani et al. 2011, 4.2)."""
    agreement = agreement_of(found.cases)
    n_split = int((agreement[~np.isnan(agreement)] < SPLIT).sum())
    bars = histogram(found.cases, n_bars=_n_bars(found))
    figures = [agreement_histogram(bars, n_split=n_split, split=SPLIT)]
    if found.whole.bins:
        figures += [agreement_bins(found.whole.bins), agreement_bins(found.whole.bins, scores=("kappa",))]
    words = (
        "A system that fails only where people disagree is better than its score; one that fails elsewhere is worse."
    )
    sheets = (_bins(found.whole.bins),) if found.whole.bins else ()
    title, signature = "Where raters agree, and where they do not", str(found.signature)
    return Section("bins", title, (words,), tuple(figures), sheets, signature)


def _bins(bins: Sequence[Bin]) -> Sheet:
    """The numbers of the figures; items on which raters part lead to the list of them."""
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    for each in bins:
        for scored in each.systems:
            if each.low < SPLIT:
                links[len(rows), 1] = CONTENTIOUS
            rows.append((each.title, f"{each.n:,}", scored.system, *(interval(scored[score]) for score in IN_BINS)))
    columns = ("agreement", "items", "system", *IN_BINS)
    return Sheet("bins", "Systems by how far raters agree", columns, tuple(rows), links=links)


def _n_bars(found: Evaluation) -> int:
    """No finer than shares of so many raters can be."""
    equal = found.cases.equal
    votes = equal.n_votes[equal.is_judged]
    return int(min(MOST_BARS, max(1, np.median(votes) // 2))) if len(votes) else MOST_BARS


def curves_section(found: Evaluation, decisions: Table, *, chance: Chance) -> Section | None:
    """Every threshold, for systems that give scores."""
    names = [name for name in scored_systems(decisions) if name in found.cases.systems]
    curves = [curve_of_thresholds(found.cases, decisions, name, found.truth, chance=chance) for name in names]
    if not curves:
        return None
    figures = (precision_recall(curves), precision_recall(curves, is_weighted=True))
    best = [
        f"{curve.system} is best at {_threshold(curve.best.threshold)} (F0.5 {interval(curve.best.standard['f0.5'])})"
        for curve in curves
    ]
    words = (
        "; ".join(best)
        + ". A threshold chosen on the data that it is reported on is too good: check it on other items."
    )
    signature = "\n".join(str(signature_of_curve(curve, found.signature)) for curve in curves)
    return Section("thresholds", "Every threshold", (words,), figures, (), signature)


def _threshold(value: float | None) -> str:
    return "its own flags" if value is None else f"a score of {value:.3g}".replace("-", "−")


def _comparison(found: Evaluation, chance: Chance) -> Comparison | None:
    here = np.ones(len(found.cases), bool)
    if len(found.cases.systems) < 2 or not is_comparable(found.cases, found.truth, here):
        return None
    return compare_systems(found.cases, found.truth, chance=chance)


def _sheet(name: str, title: str, systems: Sequence[Scored], *, note: str = "") -> Sheet:
    columns = (
        "system",
        *("F0.5" if score == "f0.5" else score for score in SCORES),
        "hits",
        "false alarms",
        "misses",
    )
    rows = tuple(
        (
            each.system,
            *(interval(each[score]) for score in SCORES),
            *(f"{getattr(each.counts, cell):,.4g}" for cell in COUNTS),
        )
        for each in systems
    )
    first = 1 + len(SCORES)
    links = {
        (row, first + place): list_name(each.system, cell)
        for row, each in enumerate(systems)
        for place, cell in enumerate(COUNTS)
    }
    return Sheet(name, title, columns, rows, note, links)


def _people(people: Sequence[Scored]) -> Sheet:
    rows = tuple((each.system, *(interval(each[score]) for score in SCORES)) for each in people)
    columns = ("expert", *("F0.5" if score == "f0.5" else score for score in SCORES))
    note = "Experts held against the raters as if they were systems; the best of them is the line in the figure."
    return Sheet("people", "What people reach", columns, rows, note)


def _pairs(comparison: Comparison) -> Sheet:
    rows = tuple(
        (
            f"{pair.test.first} − {pair.test.second}",
            interval(pair.test.difference),
            number(pair.test.holm["bootstrap"], digits=3),
            number(pair.mcnemar_holm, digits=3),
        )
        for pair in comparison.pairs
    )
    columns = ("pair", "difference in F0.5", "p (bootstrap)", "p (McNemar)")
    return Sheet(
        "pairs",
        f"Systems compared on {comparison.n_items:,} common items",
        columns,
        rows,
        "p by Holm's method over all pairs.",
    )
