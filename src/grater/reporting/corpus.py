"""The annotated corpus: sizes, densities and tags (NUCLE 2013, Table 5, figures 2 to 4), and agreement on edits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grater.corpora.statistics import CorpusStatistics, corpus_statistics
from grater.measure.agreement.coefficients import band_words
from grater.measure.agreement.edits import CorpusAgreement, Criterion, edit_agreement, pairs_sheet
from grater.model import Essay, Interval, as_annotated
from grater.reporting.document import Figure, Section, interval, percent_of, section_of, sentences
from grater.reporting.drawing import HEIGHT, SERIES, WIDTH, data, names_axis
from grater.sheet import Sheet, counted, listed, natural

CRITERIA: dict[Criterion, str] = {
    "identification": "which tokens are wrong",
    "classification": "error type, where both marked",
    "exact": "error type and correction, where both marked",
}
MOST_BARS, MOST_NAMED = 30, 16


def annotators_section(essays: Sequence[Essay]) -> Section | None:
    """Agreement on edits; None where no essay was read by two annotators."""
    read = [as_annotated(essay) for essay in essays]
    shared = [essay for essay in read if len(essay.annotators) > 1]
    if not shared:
        return None
    agreement = edit_agreement(read)
    n_readers = len({rater for essay in shared for rater in essay.annotators})
    kappa, band = _pair(agreement, "identification")
    on_scale = f" ({band} on the Landis and Koch scale)" if band else ""
    words = (
        f"{counted(n_readers, 'annotator')}, {counted(len(shared), 'essay')} read by two or more of them: on which "
        f"tokens are wrong they agree with kappa {kappa}{on_scale}."
    )
    rows = tuple((what, *_pair(agreement, name)) for name, what in CRITERIA.items() if name in agreement.criteria)
    title = "Agreement among annotators"
    whose = "mean of pairs" if n_readers > 2 else "NUCLE 2013, Table 3"
    sheets = [Sheet(f"{title} ({whose})", ("on", "kappa", "band"), rows, name="edit-agreement")]
    if n_readers > 2 and not agreement.no_pairs:
        sheets.append(replace(pairs_sheet(agreement), title="Kappa of each pair of annotators (NUCLE 2013, Table 3)"))
    return section_of(agreement, "annotators", title, [words], sheets=sheets)


def corpus_section(essays: Sequence[Essay]) -> Section:
    """The corpus study: sizes, densities, tags."""
    statistics = corpus_statistics({"corpus": essays})
    counts = statistics.whole.summary.counts
    density = statistics.whole.summary.estimates.density
    marked = f"; {interval(density, digits=1)} edits per 100 tokens" if counts.edits else ""
    words = (
        f"{counted(len(essays), 'essay')} with {counted(counts.sentences, 'sentence')} and "
        f"{counted(counts.tokens, 'token')}{marked}."
    )
    read = [as_annotated(essay) for essay in essays]
    n_readers = max(len(essay.annotators) for essay in read)
    everybody, annotators = ({name for essay in group for name in essay.annotators} for group in (essays, read))
    apart = sorted(everybody - annotators, key=natural)
    left_out = [f"Excluded, since they are not annotators: {listed(apart)}."] if apart else []
    return Section(
        name="corpus",
        title="Corpus",
        words=(words, *left_out),
        figures=tuple(_figures(statistics, n_readers)),
        signature=str(statistics.signature),
        scope=statistics.whole.summary.scope.sentence,
        warnings=sentences(statistics.warnings),
    )


def _figures(statistics: CorpusStatistics, n_readers: int) -> Iterator[Figure]:
    summary = statistics.whole.summary
    if not summary.counts.edits:
        return
    if summary.per_document:
        yield counts_histogram(summary.per_document.by_number, "document", n_readers, source="NUCLE 2013, figure 2")
    yield counts_histogram(summary.per_sentence.by_number, "sentence", n_readers, source="NUCLE 2013, figure 3")
    yield tag_bars(summary.counts.by_tag, summary.estimates.tags)


def _pair(agreement: CorpusAgreement, criterion: Criterion) -> tuple[str, str]:
    kappa = agreement.criteria[criterion].mean_kappa
    return interval(kappa), band_words(kappa)


def counts_histogram(by_number: Mapping[int, int], unit: str, n_readers: int, *, source: str) -> Figure:
    """`by_number` maps a number of edits to the number of units (documents) that have it.

    A document that `n_readers` marked, each alone, is there once for each of them.
    """
    step = max(1, (max(by_number, default=0) + 1) // MOST_BARS)
    bars: dict[int, int] = {}
    for key, n in by_number.items():
        bars[key // step * step] = bars.get(key // step * step, 0) + n
    rows = [{"low": low - 0.5, "high": low + step - 0.5, "n": n} for low, n in sorted(bars.items())]
    named = range(0, max(by_number, default=0) + 1, step * (1 + len(bars) // MOST_NAMED))
    x = {
        "field": "low",
        "bin": {"binned": True, "step": step},
        "type": "quantitative",
        "title": "edits",
        "axis": {"format": "d", "values": list(named)},
    }
    units = f"{unit}s" if n_readers == 1 else f"{unit}s, once per annotator"
    y = {"field": "n", "type": "quantitative", "title": units, "scale": {"nice": 5}, "axis": {"tickCount": 5}}
    mark = {"type": "bar", "color": SERIES[0], "binSpacing": 2}
    encoding = {"x": x, "x2": {"field": "high"}, "y": y}
    spec = {**data(rows), "width": WIDTH, "height": HEIGHT - 60, "mark": mark, "encoding": encoding}
    n_units, n_without = sum(by_number.values()), by_number.get(0, 0)
    mean = sum(key * n for key, n in by_number.items()) / n_units if n_units else 0.0
    whose = f"A {unit}" if n_readers == 1 else f"Counted once per annotator, a {unit}"
    words = (
        f"{whose} has {mean:.1f} edits on average; {n_without:,} of {counted(n_units, unit)} "
        f"({percent_of(n_without, n_units)}) {'has' if n_without == 1 else 'have'} none."
    )
    return Figure(name=f"edits-per-{unit}", title=f"Edits per {unit}", words=words, spec=spec, source=source)


def tag_bars(by_tag: Mapping[str, int], shares: Mapping[str, Interval]) -> Figure:
    """The tags from the commonest down; `shares` of all edits, by tag, have intervals."""
    ranked = sorted(by_tag.items(), key=lambda pair: (-pair[1], pair[0]))
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
    words = f"{counted(sum(by_tag.values()), 'edit')}; the most frequent tags are {first}."
    return Figure(name="tags", title="Edits by tag", words=words, spec=spec, source="NUCLE 2013, figure 4")
