"""What was annotated: sizes, densities, tags (NUCLE 2013, Table 5, figures 2 to 4), and how far annotators agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grater.agreement.bands import band
from grater.agreement.edits import edit_agreement
from grater.agreement.edits.summary import CorpusAgreement
from grater.agreement.edits.sums import Criterion
from grater.corpora.statistics import corpus_statistics
from grater.corpora.statistics.study import CorpusStatistics
from grater.model import Essay
from grater.report.charts.counts_histogram import counts_histogram, tag_bars
from grater.report.figure import Figure, Section, Sheet
from grater.report.words import interval, many

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
    sheets = (_agreement(edit_agreement(essays)),) if n_readers > 1 else ()
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


def _agreement(found: CorpusAgreement) -> Sheet:
    rows = tuple((what, *_pair(found, name)) for name, what in CRITERIA.items() if name in found.criteria)
    return Sheet(
        "edit-agreement", "How far annotators agree (NUCLE 2013, Table 3)", ("on", "kappa", "which is"), rows
    )


def _pair(found: CorpusAgreement, criterion: Criterion) -> tuple[str, str]:
    kappa = found.criteria[criterion].mean_kappa
    return interval(kappa), band(kappa.value)
