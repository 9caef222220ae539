"""A leaderboard: systems that were scored on the same sentences, with the sentences behind every cell.

One page in the look of the report. A figure and a table rank the systems by their last score, with intervals and
rank groups; scores by type of error, where the measure knows types, and by length of sentence; the paired tests. A
cell leads to a list of the sentences that it counts: those with true positives, false positives and misses, or, of
a measure without such counts, those with the lowest scores. A list shows what the system and each annotator change,
word by word (a plain diff, for reading; scores come from the measure's own edits). It holds the sentences with most
mistakes first, and no more than `MOST_LISTED`.

Lengths are in words of the source. Intervals of a part (type, length) come from the sentences of that part alone,
and nothing is tested there: with many cells, some differ by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

import numpy as np

from grater import __version__
from grater.measure.corrections.scores import (
    Hypothesis,
    Metric,
    MetricOptions,
    References,
    ScoredCounts,
    Scores,
    SentenceCounts,
    corrected_texts,
    design_of,
    hypothesis_texts,
    influences_of,
    metric_title,
    score_title,
    scored,
    source_words,
)
from grater.reporting.document import PARTS, Figure, ItemList, ItemView, Report, Section, lead_words, section_of
from grater.reporting.drawing import forest
from grater.sheet import Sheet, counted, percent
from grater.uncertainty import BASIS, Basis, Ints, Numbers

MOST_LISTED = 20
MOST_OF_A_PART = 10
LENGTHS = ((1, 10), (11, 20), (21, 30), (31, 40), (41, 10_000))
COUNTS = ("tp", "fp", "fn")
TITLES = {"tp": "corrected as an annotator does", "fp": "changed unnecessarily", "fn": "with an error missed"}
UNCHANGED = "no change"
NO_TYPES = "Scores by type of error need the measure ERRANT, and references with ERRANT's types."
OF_TYPES = "Edits in the references count under their own type, edits made only by the system under the system's."


@dataclass(frozen=True, slots=True, eq=False)
class _Data:
    """The data for every part of the page."""

    metric: Metric
    scores: Scores
    options: MetricOptions
    basis: Basis
    sources: Sequence[Sequence[str]]
    changes: Sequence[Sequence[tuple[str, str]]]
    """For each sentence what everybody changes: annotators first, then systems."""
    documents: Sequence[str | None] | None
    counted_edits: bool


def board(
    metric: Metric,
    scores: Scores,
    references: References,
    hypotheses: Sequence[Hypothesis],
    *,
    options: MetricOptions,
    basis: Basis = BASIS,
) -> Report:
    """The page as a value; `grater.reporting.save.report_html` writes it."""
    page = _Data(
        metric=metric,
        scores=scores,
        options=options,
        basis=basis,
        sources=[source_words(essay) for essay in references.essays],
        changes=list(_all_changes(references, hypotheses)),
        documents=references.documents,
        counted_edits=metric.columns == COUNTS,
    )
    parts = [_by_type(page), _by_length(page)]
    sections = [*_tests(page), *(section for section, _ in parts if section)]
    lists = [*_overall_lists(page), *(items for _, of_part in parts for items in of_part)]
    return Report(
        title=f"{metric_title(scores.metric)} of {counted(len(scores.systems), 'system')}",
        headline=_headline(scores),
        answer=_ranking(page),
        leader=scores.systems[0].system,
        sections=sections,
        lists=lists,
        left_out=() if parts[0][0] else (NO_TYPES,),
        made=f"Made with grater {__version__}.",
        lists_title="The sentences behind the numbers",
    )


def _all_changes(references: References, hypotheses: Sequence[Hypothesis]) -> Iterator[list[tuple[str, str]]]:
    texts = {hypothesis.system: hypothesis_texts(references, hypothesis) for hypothesis in hypotheses}
    for number, essay in enumerate(references.essays):
        words = source_words(essay)
        people = {f"annotator {name}": text for name, text in corrected_texts(essay).items()}
        outputs = {**people, **{system: lines[number] for system, lines in texts.items()}}
        yield [(who, changed_words(words, text.split())) for who, text in outputs.items()]


def changed_words(words: Sequence[str], corrected: Sequence[str]) -> str:
    """`of → in · ∅ → the`: what a correction changes, in the order of the sentence."""
    matcher = SequenceMatcher(None, words, corrected, autojunk=False)
    changes = [
        f"{' '.join(words[start:end]) or '∅'} → {' '.join(corrected[new_start:new_end]) or '∅'}"
        for operation, start, end, new_start, new_end in matcher.get_opcodes()
        if operation != "equal"
    ]
    return " · ".join(changes) or UNCHANGED


def _headline(scores: Scores) -> tuple[str, ...]:
    best, *others = scores.systems
    title = score_title(scores.headline)
    lines = [f"{best.system} has the highest {title}: {percent(best.overall.scores[scores.headline])}."]
    baseline = scores.signature.options.get("baseline")
    if others and not baseline:
        same = [system.system for system in others if set(system.group) & set(best.group)]
        lines.append(lead_words(best.system, same))
    return tuple(lines)


def _ranking(page: _Data) -> Section:
    scores = page.scores
    sheet = scores.sheets()[0]
    first_count = len(sheet.columns) - 1 - len(COUNTS)
    links = {
        (row, first_count + column if page.counted_edits else len(sheet.columns) - 2): _list_name(row, kind)
        for row in range(len(scores.systems))
        for column, kind in enumerate(COUNTS if page.counted_edits else ("lowest",))
    }
    sheet = replace(sheet, links=links, columns=("system", *sheet.columns[1:]), signature="")
    return section_of(scores, "answer", PARTS[0], (), figures=[_forest(scores)], sheets=[sheet])


def _forest(scores: Scores) -> Figure:
    rows = []
    for system in scores.systems:
        score = system.overall.scores[scores.headline]
        numbers = {"value": score.value, "low": score.low, "high": score.high}
        shown = {name: 100 * number if np.isfinite(number) else None for name, number in numbers.items()}
        rows.append({"system": system.system, "group": system.group, **shown})
    spec = forest(rows, score_title(scores.headline))
    headlines = [f"{system.system} {percent(system.overall.scores[scores.headline])}" for system in scores.systems]
    words = f"{'; '.join(headlines)}. Systems that share a letter do not differ significantly."
    if scores.signature.options.get("baseline") or len(headlines) == 1:
        words = f"{'; '.join(headlines)}."
    return Figure(name="systems", title=f"{score_title(scores.headline)} of every system", words=words, spec=spec)


def _list_name(system: int, *parts: object) -> str:
    return "-".join(["s", str(system), *map(str, parts)])


def _overall_lists(page: _Data) -> Iterator[ItemList]:
    for number, system in enumerate(page.scores.systems):
        counts = system.sentences
        if not page.counted_edits:
            title = f"{system.system}: sentences with the lowest {score_title(page.scores.headline)}"
            yield _list(page, _list_name(number, "lowest"), title, number, _mistakes(page, counts), MOST_LISTED)
            continue
        for column, kind in enumerate(COUNTS):
            title = f"{system.system}: sentences {TITLES[kind]}"
            weights = counts.expected[:, column]
            yield _list(page, _list_name(number, kind), title, number, weights, MOST_LISTED)


def _mistakes(page: _Data, counts: SentenceCounts) -> Numbers:
    """How much is wrong with each sentence: false positives and misses, or what its score lacks."""
    if page.counted_edits:
        mistakes: Numbers = counts.expected[:, 1:].sum(axis=1)
        return mistakes
    own = page.metric.sentence_scores(counts, page.options)[:, -1]
    return np.nan_to_num(1 - own)


def _list(page: _Data, name: str, title: str, system: int, weights: Numbers | Ints, most: int) -> ItemList:
    """The sentences of weight above 0, the heaviest first."""
    places = [int(place) for place in np.argsort(-weights, kind="stable") if weights[place] > 0]
    views = []
    for place in places[:most]:
        # A sentence, what this system does with it, and what annotators change in it.
        text, changes = " ".join(page.sources[place]), page.changes[place]
        own = [change for change in changes if change[0] == page.scores.systems[system].system]
        people = [change for change in changes if change[0].startswith("annotator ")]
        views.append(ItemView(str(place + 1), text, "", "", labels=(), decisions=(*own, *people), is_whole=True))
    return ItemList(name, title, len(places), tuple(views))


def _by_type(page: _Data) -> tuple[Section | None, list[ItemList]]:
    systems = page.scores.systems
    types = sorted({name for system in systems for name in system.by_type})
    if not types:
        return None, []
    rows, links, lists = [], {}, list[ItemList]()
    for row, kind in enumerate(types):
        cells = []
        for number, system in enumerate(systems):
            scored = system.by_type.get(kind)
            cells.append(percent(scored.scores[page.scores.headline]) if scored else "–")
            if scored:
                links[row, number + 1] = name = _list_name(number, "type", row)
                weights = system.sentences.by_type[kind] @ np.array([1, 100, 100])
                title = f"{system.system}: sentences with {kind}"
                lists.append(_list(page, name, title, number, weights, MOST_OF_A_PART))
        rows.append((kind, *cells))
    title = f"{score_title(page.scores.headline)} by type of error"
    sheet = Sheet(title, ("type", *(system.system for system in systems)), tuple(rows), name="types", links=links)
    words = (
        f"{score_title(page.scores.headline)} of every system by type. {OF_TYPES} Differences are not tested here."
    )
    return Section("types", "By type of error", (words,), sheets=(sheet,)), lists


def _by_length(page: _Data) -> tuple[Section | None, list[ItemList]]:
    systems = page.scores.systems
    counts = [system.sentences for system in systems]
    lengths = np.array([len(words) for words in page.sources], np.int64)
    rows: list[tuple[str, ...]] = []
    links: dict[tuple[int, int], str] = {}
    lists: list[ItemList] = []
    for low, high in LENGTHS:
        is_within = (low <= lengths) & (lengths <= high)
        if not is_within.any():
            continue
        places = is_within.nonzero()[0].tolist()
        scored = _scored_part(
            page.metric, counts, places, options=page.options, documents=page.documents, basis=page.basis
        )
        words = f"over {low - 1}" if high == LENGTHS[-1][1] else f"{low} to {high}"
        for number, system in enumerate(systems):
            links[len(rows), number + 2] = name = _list_name(number, "length", low)
            weights = np.where(is_within, _mistakes(page, system.sentences), 0)
            title = f"{system.system}: sentences of {words} words with mistakes"
            lists.append(_list(page, name, title, number, weights, MOST_OF_A_PART))
        rows.append((words, f"{len(places):,}", *(percent(own.scores[page.scores.headline]) for own in scored)))
    title = f"{score_title(page.scores.headline)} by length of sentence"
    columns = ("words", "sentences", *(system.system for system in systems))
    sheet = Sheet(title, columns, tuple(rows), name="lengths", links=links)
    words_of = (f"{score_title(page.scores.headline)} on sentences of each length. Differences are not tested here.",)
    return Section("lengths", "By length of sentence", words_of, sheets=(sheet,)), lists


def _scored_part(
    metric: Metric,
    counts: Sequence[SentenceCounts],
    places: Sequence[int],
    *,
    options: MetricOptions,
    documents: Sequence[str | None] | None,
    basis: Basis,
) -> list[ScoredCounts]:
    """The scores of each system on some of the sentences, with intervals from these sentences only."""
    chosen = np.array(places, np.int64)
    part = [replace(own, cells=own.cells[chosen], n_rows=own.n_rows[chosen], by_type={}) for own in counts]
    design = design_of(len(places), None if documents is None else [documents[place] for place in places], basis)
    return [
        scored(metric, influences_of(metric, design.units(metric.rows(own)), options, basis), own.expected, options)
        for own in part
    ]


def _tests(page: _Data) -> list[Section]:
    if not page.scores.pairs:
        return []
    sheet = replace(page.scores.sheets()[-1], signature="")
    sheet = replace(sheet, columns=("pair", *sheet.columns[1:]))
    words = "Every pair was tested on the same sentences, with Holm's correction for the number of pairs."
    return [Section("pairs", "Differences", (words,), sheets=(sheet,))]
