"""The corpus study as people read it: NUCLE Table 5 and Figures 2-4 as tables.

Up to three corpora stand side by side, more of them below each other.  Nothing is shown twice: a single corpus has no
column for the sum, a single annotator no row of their own.  Shares and densities stand with their intervals.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan, nan

from grater.corpora.statistics.counts import TAIL
from grater.corpora.statistics.summary import Summary
from grater.model import Interval
from grater.sheet import UNDEFINED, Sheet, count, interval, number, p_value
from grater.statistics.dispersion import Dispersion

MOST_ROWS = 40
BAR_WIDTH = 30
EIGHTHS = " ▏▎▍▌▋▊▉"
DENSITY = "edits per 100 tokens"

Line = tuple[str, str]
"""A label and a value."""


def overview(summaries: Mapping[str, Summary]) -> Sheet:
    """Every number of one corpus, or of several side by side."""
    columns = [sections(summary) for summary in summaries.values()]
    rows, rules = list[tuple[str, ...]](), list[int]()
    for together in zip(*columns, strict=True):
        rules.append(len(rows))
        rows += [(lines[0][0], *(value for _, value in lines)) for lines in zip(*together, strict=True)]
    title = "Corpus" if len(summaries) == 1 else "Corpora"
    return Sheet(title, ("", *summaries), tuple(rows), name="corpus", rules=tuple(rules[1:]))


def portions(title: str, summaries: Mapping[str, Summary]) -> Sheet:
    """Parts of a corpus below each other: files, annotators, first languages."""
    rows = [(name, *_sizes_and_density(summary)) for name, summary in list(summaries.items())[:MOST_ROWS]]
    n_more = len(summaries) - MOST_ROWS
    if n_more > 0:
        rows.append((f"and {n_more:,} more", *[""] * 5))
    columns = ("", "documents", "sentences", "tokens", "edits", DENSITY)
    return Sheet(title, columns, tuple(rows), name=title.lower().replace(" ", "-"))


def tag_shares(summary: Summary) -> Sheet:
    """NUCLE Figure 4: tags by frequency, with the share of each and of all down to it."""
    by_tag, n_labels, n_so_far = summary.counts.by_tag, summary.counts.labels, 0
    tags, rows = list(summary.estimates.tags), list[tuple[str, ...]]()
    for tag in tags[:MOST_ROWS]:
        n_so_far += by_tag[tag]
        share, bar = interval(summary.estimates.tags[tag]), bar_of(by_tag[tag] / by_tag[tags[0]])
        rows.append((tag or "(no tag)", count(by_tag[tag]), share, number(n_so_far / n_labels), bar))
    if len(tags) > MOST_ROWS:
        rows.append((f"and {len(tags) - MOST_ROWS} more", count(n_labels - n_so_far), "", "", ""))
    return Sheet("Tags", ("", "edits", "share", "cumulative", ""), tuple(rows), name="tags")


def sections(summary: Summary) -> list[list[Line]]:
    return [_sizes(summary), _means(summary), _per_sentence(summary), _per_document(summary), _tags(summary)]


def _sizes_and_density(summary: Summary) -> list[str]:
    totals = summary.totals
    sizes = [_whole(n) for n in (totals.documents, totals.sentences, totals.tokens, totals.edits)]
    return [*sizes, interval(summary.estimates.density, digits=2)]


def _sizes(summary: Summary) -> list[Line]:
    totals = summary.totals
    return [
        ("Documents", _whole(totals.documents)),
        ("Sentences", _whole(totals.sentences)),
        ("Word tokens", _whole(totals.tokens)),
        ("Word types", _whole(summary.types)),
        ("Edits", _whole(totals.edits)),
    ]


def _means(summary: Summary) -> list[Line]:
    totals = summary.totals
    return [
        ("Sentences per document", _mean(totals.sentences_per_document)),
        ("Tokens per document", _mean(totals.tokens_per_document)),
        ("Tokens per sentence", _mean(totals.tokens_per_sentence)),
        ("Edits per document", _mean(totals.edits_per_document)),
        (DENSITY.capitalize(), interval(summary.estimates.density, digits=2)),
    ]


def _per_sentence(summary: Summary) -> list[Line]:
    names = {"0": "no edit", "1": "one", "2": "two", "more": "more"}
    histogram = summary.per_sentence
    return [
        *(_share(f"Sentences with {names[name]}", share) for name, share in summary.estimates.sentences.items()),
        ("Most edits in a sentence", _whole(histogram.highest if histogram.n else None)),
        _share("Edits inside one sentence", summary.estimates.inside),
    ]


def _per_document(summary: Summary) -> list[Line]:
    histogram = summary.per_document
    labels = ["Edits per document, median", "  most frequent number", "  most", f"  documents with over {TAIL}"]
    spread = (f"Dispersion over {summary.scope.unit}s (1 by chance)", _dispersion(summary.dispersion))
    if histogram is None or not histogram.n:
        return [*((label, UNDEFINED) for label in labels), spread]
    numbers = [f"{histogram.median:g}", *map(count, (histogram.mode, histogram.highest, histogram.above(TAIL)))]
    return [*zip(labels, numbers, strict=True), spread]


def _dispersion(spread: Dispersion) -> str:
    """`3.42, p < .0001`: how much more unevenly edits fall on documents than by chance."""
    if isnan(spread.index):
        return UNDEFINED
    p = p_value(spread.p)
    return f"{spread.index:.2f}, p {p if p.startswith('<') else f'= {p}'}"


def _tags(summary: Summary) -> list[Line]:
    estimates = summary.estimates
    return [
        _share("Edits with the top 5 tags", estimates.top5),
        _share("Edits with the top 10 tags", estimates.top10),
        _share("Spans with alternatives", estimates.alternatives),
    ]


def _share(label: str, share: Interval) -> Line:
    return label, interval(share)


def _whole(n: int | None) -> str:
    return UNDEFINED if n is None else count(n)


def _mean(value: float | None) -> str:
    return number(nan if value is None else value, digits=2)


def bar_of(share: float) -> str:
    """A bar of unicode blocks, to an eighth of a column; anything above nothing shows."""
    n_eighths = max(round(share * BAR_WIDTH * 8), 1 if share > 0 else 0)
    return "█" * (n_eighths // 8) + EIGHTHS[n_eighths % 8].strip()
