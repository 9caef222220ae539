"""How far raters agree: coefficients with limits, where they part, and how much of it is on few items."""

from __future__ import annotations

from grater.agreement.bands import band
from grater.agreement.confusion import ok_label
from grater.agreement.raters_needed import raters_needed
from grater.agreement.summary import Agreement, Options, agreement
from grater.report.charts.confusion_map import confusion_map
from grater.report.charts.reliability import needed, reliability
from grater.report.figure import Figure, Section, Sheet
from grater.report.words import interval, many, sentence
from grater.tables import Judgments

TITLES = {
    "observed": "observed agreement",
    "fleiss": "Fleiss kappa",
    "alpha": "Krippendorff alpha",
    "ac1": "Gwet AC1",
}
MOST_PAIRS = 2
MOST_LABELS = 8


def agreement_section(
    judgments: Judgments, *, name: str = "agreement", title: str = "How far raters agree", seed: int = 0
) -> Section:
    """Coefficients over all raters, and the two pairs with most common items face to face."""
    found = agreement(judgments, Options(seed=seed, ok=_ok(judgments)))
    kappa = found.mean.kappa if found.mean else found.coefficients["fleiss"]
    words = (
        f"{many(len(judgments), 'judgment')} of {many(found.n_items, 'item')} by {many(len(found.raters), 'rater')}: "
        f"kappa {interval(kappa)}, {band(kappa.value) or 'undefined'} in the words of Landis and Koch."
    )
    return Section(
        name,
        title,
        (words, *map(sentence, found.warnings)),
        _maps(found),
        (_sheet(found, name),),
        str(found.signature),
    )


def experts_section(
    crowd: Judgments,
    experts: Judgments,
    *,
    name: str = "raters-needed",
    title: str = "How many raters match an expert",
) -> Section:
    """The majority of 1, 2, ... raters against experts (T,C&M 2013, 5.2 and 5.3)."""
    found = raters_needed(crowd, experts)
    figure = reliability(found, name=name, title=title)
    return Section(name, title, (needed(found), *map(sentence, found.warnings)), (figure,), (), str(found.signature))


def _ok(judgments: Judgments) -> str | None:
    return ok_label(sorted(judgments.frame["label"].cast(str).unique().to_list()))


def _maps(found: Agreement) -> tuple[Figure, ...]:
    ranked = sorted(found.pairs, key=lambda pair: -int(pair.table.cells.sum()))
    return tuple(confusion_map(pair.table) for pair in ranked[:MOST_PAIRS] if len(found.labels) <= MOST_LABELS)


def _sheet(found: Agreement, name: str) -> Sheet:
    rows = [(title, interval(found.coefficients[key])) for key, title in TITLES.items() if key in found.coefficients]
    if found.mean:
        rows.insert(1, ("Cohen's kappa, mean of pairs", interval(found.mean.kappa)))
    title = f"Agreement over all {'experts' if name == 'experts' else 'raters'}"
    return Sheet(f"{name}-coefficients", title, ("coefficient", "value"), tuple(rows))
