"""The corpus study of one portion: NUCLE Table 5 and Figures 2-4 as one value.

Word types are distinct tokens as written (`types`) and without regard to case (`types_folded`); the paper does not
say which it counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grater.corpora.statistics.counts import CorpusCounts
from grater.corpora.statistics.documents import DocumentCounts
from grater.corpora.statistics.estimates import Estimates, Resampling, estimate
from grater.corpora.statistics.histograms import TAIL, Histogram
from grater.corpora.statistics.portion import Portion
from grater.corpora.statistics.table5 import Totals
from grater.model import Interval, Json


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of a portion; `n_blocks` blocks of documents or sentences were resampled for the limits."""

    counts: CorpusCounts
    document_counts: DocumentCounts
    types: int
    types_folded: int
    estimates: Estimates
    n_blocks: int

    @property
    def totals(self) -> Totals:
        counts, n_read = self.counts, sum(self.document_counts.by_edits.values())
        return Totals(
            documents=self.document_counts.n,
            sentences=counts.sentences,
            tokens=counts.tokens,
            edits=counts.edits,
            documents_read=None if self.document_counts.unknown else n_read,
            sentences_read=counts.sentences_read,
            tokens_read=counts.tokens_read,
        )

    @property
    def per_document(self) -> Histogram | None:
        """Readings of a document by their number of edits (Figure 2); none where documents are unknown."""
        return None if self.document_counts.unknown else Histogram(self.document_counts.by_edits)

    @property
    def per_sentence(self) -> Histogram:
        """Readings of a sentence by their number of edits inside it (Figure 3)."""
        return Histogram(self.counts.by_sentence)

    @property
    def unit(self) -> str:
        """What was resampled for the limits."""
        if not self.document_counts.unknown:
            return "document"
        return "document, or sentence where unknown" if self.document_counts.known else "sentence"

    def as_json(self) -> dict[str, Json]:
        """The keys of `grater corpus stats --json`, without those that divide the portion further."""
        counts, estimates = self.counts, self.estimates
        return {
            "documents": self.document_counts.n,
            **({"reason": self.document_counts.reason} if self.document_counts.unknown else {}),
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "types": self.types,
            "types_folded": self.types_folded,
            "edits": counts.edits,
            "readings": self.totals.readings_as_json(),
            "unread_sentences": counts.unread,
            "density": {**estimates.density.as_json(), "per": "100 tokens read by an annotator"},
            "by_tag": {tag: counts.by_tag[tag] for tag in estimates.tags},
            "tag_shares": intervals_json(estimates.tags),
            "top5": estimates.top5.as_json(),
            "top10": estimates.top10.as_json(),
            "per_document": self._per_document(),
            "per_sentence": self._per_sentence(),
            "inside_sentence": {"edits": counts.edits_inside, "share": estimates.inside.as_json()},
            "alternatives": self._alternatives(),
            "interval": {"unit": self.unit, "blocks": self.n_blocks},
        }

    def _per_document(self) -> dict[str, Json]:
        totals, histogram = self.totals, self.per_document
        means: dict[str, Json] = {
            "sentences": totals.sentences_per_document,
            "tokens": totals.tokens_per_document,
            "edits": totals.edits_per_document,
        }
        if histogram is None:
            return {**means, "reason": self.document_counts.reason}
        unit = "a document, once for each annotator who read it"
        return {**means, "unit": unit, **histogram.as_json(), f"above_{TAIL}": histogram.above(TAIL)}

    def _per_sentence(self) -> dict[str, Json]:
        return {
            "tokens": self.totals.tokens_per_sentence,
            "unit": "a sentence, once for each annotator who read it",
            **self.per_sentence.as_json(),
            "shares": intervals_json(self.estimates.sentences),
        }

    def _alternatives(self) -> dict[str, Json]:
        return {
            "places": self.counts.places,
            "places_with_several": self.counts.places_with_several,
            "edits_with_several_corrections": self.counts.edits_with_several,
            "share": self.estimates.alternatives.as_json(),
        }


def summarise(portion: Portion, resampling: Resampling) -> Summary:
    return Summary(
        counts=portion.counts,
        document_counts=portion.documents,
        types=len(portion.words),
        types_folded=len({word.casefold() for word in portion.words}),
        estimates=estimate(portion, resampling),
        n_blocks=len(portion.by_block),
    )


def intervals_json(intervals: Mapping[str, Interval]) -> dict[str, Json]:
    return {name: interval.as_json() for name, interval in intervals.items()}
