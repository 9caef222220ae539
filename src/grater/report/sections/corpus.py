"""What was annotated: sizes, densities, tags (NUCLE 2013, Table 5, figures 2 to 4), and how far annotators agree."""

from __future__ import annotations

from collections.abc import Sequence

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
    words = (
        f"{many(len(essays), 'essay')} with {many(counts.sentences, 'sentence')} and {many(counts.tokens, 'token')}."
    )
    has_pairs = any(len(essay.annotators) > 1 for essay in essays)
    sheets = (_agreement(edit_agreement(essays)),) if has_pairs else ()
    return Section("corpus", "What was annotated", (words,), tuple(_figures(found)), sheets, str(found.signature))


def _figures(found: CorpusStatistics) -> list[Figure]:
    summary = found.whole.summary
    figures = []
    if not summary.counts.edits:
        return []
    if summary.per_document:
        numbers = summary.per_document.by_number
        figures.append(
            counts_histogram(
                numbers, name="edits-per-document", of_what="document", counted="edits", source="NUCLE 2013, figure 2"
            )
        )
    numbers = summary.per_sentence.by_number
    figures.append(
        counts_histogram(
            numbers, name="edits-per-sentence", of_what="sentence", counted="edits", source="NUCLE 2013, figure 3"
        )
    )
    return [*figures, tag_bars(summary.counts.by_tag)]


def _agreement(found: CorpusAgreement) -> Sheet:
    rows = tuple((what, *_pair(found, name)) for name, what in CRITERIA.items() if name in found.criteria)
    return Sheet(
        "edit-agreement", "How far annotators agree (NUCLE 2013, Table 3)", ("on", "kappa", "which is"), rows
    )


def _pair(found: CorpusAgreement, criterion: Criterion) -> tuple[str, str]:
    kappa = found.criteria[criterion].mean_kappa
    return interval(kappa), band(kappa.value)
