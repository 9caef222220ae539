"""The full rating scheme of prepositions: extraneous, wrong choice or OK, with and without flagged contexts.

T&C 2008, 5.2 and Table 3.  The paper takes *2 correct* and *e equally good* together, removes the contexts that a
rater flagged for spelling or grammar, and then prints a 3 x 3 table with its kappa.  Here the table of all items and
the table after the removal stand beside each other, with what confident judgments alone give: a kappa after the
removal is compared with the paper's, a plain one with nobody's.  The paper does not say whether one rater's flag was
enough; here it is (`agreement.groups` has both readings).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from grater.agreement.confusion import Confusion, disagreements
from grater.agreement.essays import known_essays
from grater.agreement.groups import without_flagged
from grater.agreement.summary import Agreement, Options, agreement, kappa_cells
from grater.report.agreement import confusion_map
from grater.report.document import Figure, Section, interval, listed, sentence
from grater.sheet import Sheet, count
from grater.tables import Judgments, Table, with_confidence
from grater.tables.judgments import with_labels
from grater.tables.schema import entries

EXTRANEOUS, WRONG_CHOICE, OK = "Extraneous", "Wrong-Choice", "OK"
LABELS = {"0": EXTRANEOUS, "1": WRONG_CHOICE, "2": OK, "e": OK}
ORDER = (EXTRANEOUS, WRONG_CHOICE, OK)
"""The labels of the paper's Table 3, in its order."""

ALL, CLEAN, SURE = "all items", "no other error nearby", "confident judgments only"


def usage_section(judgments: Judgments, *, places: Table | None = None, seed: int = 0) -> Section:
    """Agreement in three classes on all items, after the paper's removal, and of confident judgments."""
    named = with_labels(judgments, LABELS)
    options = Options(seed=seed, ok=OK, order=_order(named))
    results = {name: agreement(part, options, essays=known_essays(part, places)) for name, part in _parts(named)}
    return Section(
        name="usage",
        title="Prepositions in three classes",
        words=(_words(results), results[ALL].scope.sentence, *map(sentence, results[ALL].warnings)),
        figures=tuple(_maps(results)),
        sheets=(_kappas_sheet(results), *_tables(results)),
        signature=str(results[ALL].signature),
    )


def _order(judgments: Judgments) -> tuple[str, ...]:
    given = set(judgments.frame["label"].cast(pl.String).unique().to_list())
    return tuple(label for label in ORDER if label in given)


def _parts(judgments: Judgments) -> Iterator[tuple[str, Judgments]]:
    yield ALL, judgments
    flags = _flags(judgments)
    clean = without_flagged(judgments, flags, by="any") if flags else judgments
    if flags and len(clean):
        yield CLEAN, clean
    if "confidence" in judgments.frame.columns and judgments.frame["confidence"].n_unique() > 1:
        yield SURE, with_confidence(judgments, 1)


def _flags(judgments: Judgments) -> list[str]:
    """Every flag that somebody set: all are about errors near the preposition."""
    if "flags" not in judgments.frame.columns:
        return []
    return judgments.frame.select(entries("flags").explode()).to_series().drop_nulls().unique().sort().to_list()


def _words(results: Mapping[str, Agreement]) -> str:
    name, plain = results[ALL].headline
    text = (
        f"Over the classes {listed(ORDER)}, {name} is {interval(plain)} on {results[ALL].counts.n_compared:,} items"
    )
    if CLEAN not in results:
        return f"{text}; nobody flagged other errors nearby."
    clean = results[CLEAN]
    removed = f"{interval(clean.headline[1])} on the {clean.counts.n_compared:,} with no other error flagged nearby"
    return f"{text} and {removed}, which is how T&C 2008 count (.630 on 1,336 items)."


def _kappas_sheet(results: Mapping[str, Agreement]) -> Sheet:
    rows = tuple(
        (name, count(result.counts.n_compared), interval(result.observed), *kappa_cells(result.headline[1]))
        for name, result in results.items()
    )
    columns = ("", "items", "observed", results[ALL].headline[0], "band")
    return Sheet(name="usage-agreement", title="Agreement in three classes", columns=columns, rows=rows)


def _tables(results: Mapping[str, Agreement]) -> Iterator[Sheet]:
    """The paper's Table 3 of two raters, and how often one accepts what the other calls an error."""
    for name in (ALL, CLEAN):
        if name in results and len(results[name].pairs) == 1:
            table = results[name].pairs[0].table
            yield _confusion_sheet(table, name)
            yield _accepted_sheet(table, name)


def _confusion_sheet(table: Confusion, name: str) -> Sheet:
    first, second = table.raters
    rows = tuple((label, *map(count, cells)) for label, cells in zip(table.labels, table.cells.tolist(), strict=True))
    stem = f"usage-confusion{'-clean' if name == CLEAN else ''}"
    return Sheet(
        name=stem,
        title=f"{first} against {second}: {name}",
        columns=(f"{first}↓ {second}→", *table.labels),
        rows=rows,
    )


def _accepted_sheet(table: Confusion, name: str) -> Sheet:
    rows = tuple(
        (f"errors to {rate.rater}, OK to {rate.other}", f"{rate.n_ok:,}/{rate.n:,}", interval(rate.rate))
        for rate in disagreements(table, ok=OK)
    )
    stem = f"usage-disagreement{'-clean' if name == CLEAN else ''}"
    return Sheet(name=stem, title=f"Disagreement on errors: {name}", columns=("", "items", "rate"), rows=rows)


def _maps(results: Mapping[str, Agreement]) -> Iterator[Figure]:
    for name in (ALL, CLEAN):
        if name in results and results[name].pairs:
            pair = max(results[name].pairs, key=lambda pair: int(pair.table.cells.sum()))
            stem = f"usage-{'clean' if name == CLEAN else 'all'}"
            yield confusion_map(pair.table, name=stem, about=name, source="T&C 2008, Table 3")
