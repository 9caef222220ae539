"""One report for each corrector: what is right and what it breaks, what it misses, what a reader still meets.

A table for each corrector leads, by type: the share of its edits that people call better, the share that they call
worse (both weighted as the sample was drawn), and the share of marked errors that it corrects.  Examples of each
follow; the sections on recall and on remaining errors compare all correctors.  Types of edits are ours, those of
marks are the annotators'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.measure.corrections.recall import Recall, Remaining
from grater.measure.evaluation.evaluation import Evaluation
from grater.model import DELETE, Interval
from grater.reporting.document import Figure, ItemList, Row, Section, section_of, sentences
from grater.reporting.drawing import forest, interval_columns
from grater.reporting.items import ItemViews, Texts, in_its_sentence, item_list, list_name
from grater.sheet import Sheet, count, counted, interval
from grater.tables import Table

ALL = "all types"
MISSED, WORSE = "missed-error", "worse"
EXAMPLES = {"hit": "better", WORSE: "worse", MISSED: "missed"}
"""The lists of a corrector's items, and what its examples show."""
N_EXAMPLES = 3
HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Correctors:
    """Recall from marked source sentences with the errors that each system missed, and errors left in its output."""

    recall: Recall | None = None
    remaining: Remaining | None = None
    missed: tuple[ItemList, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class JudgedEdits:
    """Edits that people call better and, of the same edits where that is known, those that they call worse."""

    better: Evaluation
    worse: Evaluation | None
    decisions: Table

    def worse_lists(self, texts: Texts, *, most: int) -> Iterator[ItemList]:
        """By system, the edits that most raters call worse."""
        cases = self.better.cases
        if self.worse is None:
            return
        broken = self.worse.cases.items.filter(pl.Series(self.worse.truth.values > HALF))
        is_worse = cases.items.is_in(broken.implode()).to_numpy()
        for column, system in enumerate(cases.systems):
            rows = np.flatnonzero(is_worse & (cases.flagged[:, column] == 1))
            title = f"Edits of {system} that make a sentence worse"
            yield item_list(ItemViews(cases, texts), list_name(system, WORSE), title, rows, most)


def corrector_sections(known: Correctors, judged: JudgedEdits | None, lists: Sequence[ItemList]) -> Iterator[Section]:
    """The table of each corrector with examples, then recall and what is left of all of them."""
    results = [each for each in (judged.better if judged else None, known.recall, known.remaining) if each]
    systems = [each.system for each in (judged.better.systems if judged else ())]
    systems += [each.system for each in (known.recall.systems if known.recall else ())]
    systems = list(dict.fromkeys(systems))
    if systems:
        sheets = [sheet for system in systems for sheet in _sheets(system, known, judged, lists)]
        words = [_words(system, known, judged) for system in systems]
        warnings = sentences(dict.fromkeys(line for each in results for line in each.warnings))
        yield section_of(results[0], "correctors", "Correctors, one by one", words, sheets=sheets, warnings=warnings)
    if known.recall is not None:
        yield _recall_section(known.recall)
    if known.remaining is not None:
        yield _remaining_section(known.remaining)


def _scores(evaluation: Evaluation | None, system: str) -> dict[str, tuple[float, Interval]]:
    """The flags of a system and their precision, by type and of all."""
    if evaluation is None:
        return {}
    types = [each for each in evaluation.types if each.system == system]
    found = {each.type: (each.n_flags, each.scores["precision"]) for each in types}
    for each in evaluation.systems:
        n_flags = each.counts.hit + each.counts.false_alarm
        if each.system == system and n_flags:
            found[ALL] = (n_flags, each["precision"])
    return found


def _sheets(system: str, known: Correctors, judged: JudgedEdits | None, lists: Sequence[ItemList]) -> Iterator[Sheet]:
    better = _scores(judged.better if judged else None, system)
    worse = _scores(judged.worse if judged else None, system)
    recall = next((each for each in (known.recall.systems if known.recall else ()) if each.system == system), None)
    corrected = {**recall.by_type, ALL: recall.recall} if recall else {}
    names = sorted(better.keys() - {ALL}, key=lambda name: (-better[name][0], name))
    names += [*sorted(corrected.keys() - better.keys() - {ALL}), ALL]
    left = {each.system: each.errors for each in (known.remaining.systems if known.remaining else ())}
    cells = {
        "type": {name: name for name in names},
        "edits": {name: count(better[name][0]) for name in better},
        "better": {name: interval(better[name][1]) for name in better},
        "worse": {name: interval(worse[name][1]) for name in worse},
        "errors corrected": {name: interval(corrected[name]) for name in corrected},
        "errors left per 100 words": {ALL: interval(left[system], digits=2)} if system in left else {},
    }
    columns = [column for column, known_cells in cells.items() if known_cells]
    rows = tuple(tuple(cells[column].get(name, "") for column in columns) for name in names)
    there = {group.name for group in lists if group.n_items}
    behind = {"better": "false_alarm", "worse": WORSE, "errors corrected": MISSED}
    lead_to = {column: list_name(system, cell) for column, cell in behind.items() if column in columns}
    links = {(len(rows) - 1, columns.index(column)): name for column, name in lead_to.items() if name in there}
    title = f"{system}: its edits by type, and the errors that it corrects"
    yield Sheet(title, tuple(columns), rows, name=f"corrector-{system}", links=links, rules=(len(rows) - 1,))
    if examples := tuple(_examples(system, judged, lists)):
        yield Sheet(f"Examples of {system}", ("", "sentence"), examples, name=f"examples-{system}")


def _examples(system: str, judged: JudgedEdits | None, lists: Sequence[ItemList]) -> Iterator[tuple[str, str]]:
    """A few sentences of each list, every edit as `[of → on]`."""
    own = judged.decisions.frame.filter(pl.col("system").cast(pl.String) == system) if judged else pl.DataFrame()
    written = dict(own.select(pl.col("item", "suggestion").cast(pl.String)).iter_rows()) if judged else {}
    for cell, words in EXAMPLES.items():
        group = next((each for each in lists if each.name == list_name(system, cell)), None)
        found = dict[str, None]()
        for view in group.items if group else ():
            shown = in_its_sentence(view)
            suggestion = written.get(view.item_id)
            change = f" → {suggestion}".replace(DELETE, "(nothing)") if suggestion and cell != MISSED else ""
            found[" ".join(f"{shown.before}[{shown.target}{change}]{shown.after}".split())] = None
        yield from ((words, sentence) for sentence in list(found)[:N_EXAMPLES])


def _words(system: str, known: Correctors, judged: JudgedEdits | None) -> str:
    """One sentence on each corrector."""
    parts = []
    better = _scores(judged.better if judged else None, system).get(ALL)
    worse = _scores(judged.worse if judged else None, system).get(ALL)
    if better:
        edits = counted(round(better[0]), "edit" if judged and judged.better.sample else "judged edit")
        parts.append(f"{interval(better[1])} of its {edits} make a sentence better")
    if worse:
        parts.append(f"{interval(worse[1])} make it worse")
    for recall in known.recall.systems if known.recall else ():
        parts += [f"it corrects {interval(recall.recall)} of the errors"] if recall.system == system else []
    for left in known.remaining.systems if known.remaining else ():
        if left.system == system:
            kinds = ", ".join(f"{value.value:.2f} {name.replace('_', '-')}" for name, value in left.kinds.items())
            per_hundred = interval(left.errors, digits=2)
            parts.append(f"a reader of its output still meets {per_hundred} errors per 100 words ({kinds})")
    return f"{system}: {'; '.join(parts)}."


def _recall_section(result: Recall) -> Section:
    rows: list[Row] = [
        {"system": each.system, "group": each.group, **interval_columns(each.recall)} for each in result.systems
    ]
    shown = "; ".join(f"{each.system} {interval(each.recall)}" for each in result.systems)
    marks = counted(result.n_verified, "verified error")
    words = f"Of the errors in the source sentences, systems correct: {shown} ({marks})."
    figure = Figure("recall", "Share of the errors that each system corrects", words, forest(rows, "recall"))
    title = "What correctors find and miss"
    return section_of(result, "recall", title, [words], figures=[figure], sheets=result.sheets())


def _remaining_section(result: Remaining) -> Section:
    rows: list[Row] = [
        {"system": each.system, "group": "", **interval_columns(each.errors)} for each in result.systems
    ]
    shown = "; ".join(f"{each.system} {interval(each.errors, digits=2)}" for each in result.systems)
    words = f"Errors that remain per 100 words of corrected text: {shown}."
    title = "Remaining errors"
    figure = Figure("remaining", "Errors left per 100 words", words, forest(rows, "errors per 100 words"))
    return section_of(result, "remaining", title, [words], figures=[figure], sheets=result.sheets())
