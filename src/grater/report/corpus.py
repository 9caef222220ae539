"""How many of something each text has: documents by edits, sentences by edits (NUCLE 2013, figures 2 and 3), and
how often each tag was given (figure 4).

What was annotated: sizes, densities, tags (NUCLE 2013, Table 5, figures 2 to 4), and how far annotators agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grater.agreement.coefficients import band
from grater.agreement.edit_marks import Criterion
from grater.agreement.edits import CorpusAgreement, edit_agreement
from grater.corpora.statistics import corpus_statistics
from grater.corpora.statistics.study import CorpusStatistics
from grater.model import Essay, Interval
from grater.report.document import Figure, Section, Sheet, interval, listed, many, percent
from grater.report.drawing import SERIES
from grater.report.layers import HEIGHT, WIDTH, data, names_axis

MOST_BARS, MOST_NAMED = 30, 16


def counts_histogram(
    by_number: Mapping[int, int], *, name: str, of_what: str, counted: str, n_readers: int = 1, source: str = ""
) -> Figure:
    """`by_number` maps how many `counted` (edits) there are to how many `of_what` (documents) have so many.

    A document that `n_readers` marked, each alone, is there once for each of them.
    """
    n = sum(by_number.values())
    step = max(1, (max(by_number, default=0) + 1) // MOST_BARS)
    bars: dict[int, int] = {}
    for key, count in by_number.items():
        bars[key // step * step] = bars.get(key // step * step, 0) + count
    rows = [{"low": low - 0.5, "high": low + step - 0.5, "n": count} for low, count in sorted(bars.items())]
    x = {"field": "low", "bin": {"binned": True, "step": step}, "type": "quantitative", "title": counted}
    named = range(0, max(by_number, default=0) + 1, step * (1 + len(bars) // MOST_NAMED))
    x["axis"] = {"format": "d", "values": list(named)}
    what = f"{of_what}s" if n_readers == 1 else f"{of_what}s, each once an annotator"
    y = {"field": "n", "type": "quantitative", "title": what, "scale": {"nice": 5}, "axis": {"tickCount": 5}}
    encoding = {"x": x, "x2": {"field": "high"}, "y": y}
    mark = {"type": "bar", "color": SERIES[0], "binSpacing": 2}
    mean = sum(key * count for key, count in by_number.items()) / n if n else 0.0
    none = by_number.get(0, 0)
    whose = "" if n_readers == 1 else ", counted once for each annotator who read it,"
    words = (
        f"A {of_what}{whose} has {mean:.1f} {counted} on average; {none:,} of {many(n, of_what)} "
        f"({percent(none, n)}) {'has' if none == 1 else 'have'} none."
    )
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT - 60, "mark": mark, "encoding": encoding}
    return Figure(name, f"{counted.capitalize()} per {of_what}", words, spec, source)


def tag_bars(
    by_tag: Mapping[str, int],
    *,
    shares: Mapping[str, Interval],
    name: str = "tags",
    source: str = "NUCLE 2013, figure 4",
) -> Figure:
    """The tags from the commonest down; `shares` of all edits, by tag, have limits."""
    ranked = sorted(by_tag.items(), key=lambda pair: (-pair[1], pair[0]))
    total = sum(by_tag.values())
    rows = [{"tag": tag, "n": n} for tag, n in ranked]
    encoding = {
        "y": names_axis("tag", None, [tag for tag, _ in ranked], axis={"labelFontSize": 11}),
        "x": {"field": "n", "type": "quantitative", "title": "edits", "axis": {"tickCount": 5}},
    }
    bars = {"mark": {"type": "bar", "color": SERIES[0], "cornerRadiusEnd": 2}, "encoding": encoding}
    labels = {
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 11},
        "encoding": {**encoding, "text": {"field": "n", "format": ","}},
    }
    spec = {**data(rows), "width": WIDTH - 80, "height": 19 * len(rows), "layer": [bars, labels]}
    first = listed([f"{tag} ({interval(shares[tag])})" for tag, _ in ranked[:3]])
    return Figure(
        name, "Which errors were marked", f"{many(total, 'edit')}; the commonest tags are {first}.", spec, source
    )


CRITERIA: dict[Criterion, str] = {
    "identification": "which tokens are wrong",
    "classification": "which error it is, where both marked",
    "exact": "error and correction alike, where both marked",
}


def corpus_section(essays: Sequence[Essay]) -> Section:
    """The corpus study, and agreement on edits where two annotators read the same essays."""
    found = corpus_statistics({"corpus": essays})
    counts = found.whole.summary.counts
    density = found.whole.summary.estimates.density
    marked = f"; {interval(density, digits=1)} edits in 100 tokens" if counts.edits else ""
    words = (
        f"{many(len(essays), 'essay')} with {many(counts.sentences, 'sentence')} and {many(counts.tokens, 'token')}"
        f"{marked}."
    )
    n_readers = max(len(essay.annotators) for essay in essays)
    sheets = (_agreement_sheet(edit_agreement(essays)),) if n_readers > 1 else ()
    figures = tuple(_figures(found, n_readers))
    return Section("corpus", "What was annotated", (words,), figures, sheets, str(found.signature))


def _figures(found: CorpusStatistics, n_readers: int) -> list[Figure]:
    summary = found.whole.summary
    figures: list[Figure] = []
    if not summary.counts.edits:
        return []
    if summary.per_document:
        figures.append(_histogram("document", summary.per_document.by_number, n_readers, "NUCLE 2013, figure 2"))
    figures.append(_histogram("sentence", summary.per_sentence.by_number, n_readers, "NUCLE 2013, figure 3"))
    return [*figures, tag_bars(summary.counts.by_tag, shares=summary.estimates.tags)]


def _histogram(of_what: str, by_number: Mapping[int, int], n_readers: int, source: str) -> Figure:
    name = f"edits-per-{of_what}"
    return counts_histogram(
        by_number, name=name, of_what=of_what, counted="edits", n_readers=n_readers, source=source
    )


def _agreement_sheet(found: CorpusAgreement) -> Sheet:
    rows = tuple((what, *_pair(found, name)) for name, what in CRITERIA.items() if name in found.criteria)
    return Sheet(
        "edit-agreement", "How far annotators agree (NUCLE 2013, Table 3)", ("on", "kappa", "which is"), rows
    )


def _pair(found: CorpusAgreement, criterion: Criterion) -> tuple[str, str]:
    kappa = found.criteria[criterion].mean_kappa
    return interval(kappa), band(kappa.value)
