"""The numbers of one portion, NUCLE Table 5 and Figures 2-4 with confidence intervals, and the tables people read.

Every density and share is a ratio of two sums over blocks (`counts`), resampled together.  A share of 0 or 1 does not
move under resampling, which would promise certainty; there the interval is Wilson's for as many cases as there are
units (fewer than the cases themselves, so rather too wide), and for a density of 0, as many as there are tokens.  The
top five and ten tags are those of the whole portion, not chosen anew in every resample.

NUCLE, section 4, sees that a few essays have many errors ("rich get richer"); `dispersion` tests it: edits in the
same blocks against chance, given their tokens (`grater.uncertainty.population`).  Annotators who find the same errors
would make chance look uneven, so where several read a block their mean counts; as far as they differ, the index by
chance is then below 1, and p is too large rather than too small.

Word types are distinct tokens as written (`types`) and without regard to case (`types_folded`); the paper does not
say which it counts.

In the tables up to three corpora stand side by side, more of them below each other.  Nothing is shown twice: a single
corpus has no column for the sum, a single annotator no row of their own.  Shares and densities stand with their
intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np

from grater.corpora.statistics.counts import TAIL, CorpusCounts, DocumentCounts, Histogram, Portion, Totals
from grater.model import Interval, Json
from grater.result import encode
from grater.sheet import UNDEFINED, Sheet, count, interval, number, p_value
from grater.uncertainty.bootstrap import Resampled, resample
from grater.uncertainty.population import Dispersion, Scope, dispersion
from grater.uncertainty.proportions import wilson
from grater.uncertainty.rng import generator

FIXED = ("tokens_read", "sentences_read", "edits", "edits_inside", "places", "places_with_several", "labels")
SENTENCES = ("0", "1", "2", "more")
"""The bars of NUCLE Figure 3 that the text gives as shares."""

NO_COUNT = {
    "tokens_read": "no annotator read any text here",
    "sentences_read": "no annotator read any text here",
    "edits": "there is no edit here",
    "places": "there is no edit here",
    "labels": "there is no edit here",
}
"""What it means that there is nothing to divide by."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made."""

    seed: int = 0
    n_resamples: int = 1000
    level: float = 0.95


@dataclass(frozen=True, slots=True)
class Estimates:
    """The numbers of a portion that have intervals; tags stand in order of frequency."""

    density: Interval
    inside: Interval
    alternatives: Interval
    sentences: Mapping[str, Interval]
    tags: Mapping[str, Interval]
    top5: Interval
    top10: Interval


def estimate(portion: Portion, resampling: Resampling) -> Estimates:
    tags = by_frequency(portion.counts.by_tag)
    ratios = Ratios.of(portion, tags, resampling)
    return Estimates(
        density=ratios.density(),
        inside=ratios.share(["edits_inside"], "edits"),
        alternatives=ratios.share(["places_with_several"], "places"),
        sentences={name: ratios.share([f"sentences:{name}"], "sentences_read") for name in SENTENCES},
        tags={tag: ratios.share([f"tag:{tag}"], "labels") for tag in tags},
        top5=ratios.top(tags, 5),
        top10=ratios.top(tags, 10),
    )


def by_frequency(by_tag: Mapping[str, int]) -> list[str]:
    """Tags from the most to the least frequent; a tie in the order of the alphabet."""
    return sorted(by_tag, key=lambda tag: (-by_tag[tag], tag))


@dataclass(frozen=True, slots=True)
class Ratios:
    """Ratios of named columns of a resampled portion."""

    columns: Mapping[str, int]
    resampled: Resampled
    level: float

    @classmethod
    def of(cls, portion: Portion, tags: Sequence[str], resampling: Resampling) -> Ratios:
        names = [*FIXED, *(f"sentences:{name}" for name in SENTENCES), *(f"tag:{tag}" for tag in tags)]
        blocks = [portion.by_block[block] for block in sorted(portion.by_block)]
        rows = np.array([_row(counts, tags) for counts in blocks], dtype=np.float64).reshape(-1, len(names))
        rng = generator(resampling.seed, "corpus statistics")
        resampled = resample(rows, n_resamples=resampling.n_resamples, rng=rng)
        return cls({name: index for index, name in enumerate(names)}, resampled, resampling.level)

    def share(self, part: Sequence[str], whole: str) -> Interval:
        ratio = self._ratio(part, whole)
        if ratio.value not in (0, 1) or self.resampled.n_units < 2:
            return ratio
        n_cases = min(self.resampled.n_units, self._sum(whole))
        return wilson(ratio.value * n_cases, n_cases, level=self.level)

    def top(self, tags: Sequence[str], n: int) -> Interval:
        """The share of the n most frequent tags; where there are no more than n, it is 1 for certain."""
        if 0 < len(tags) <= n:
            return Interval(1.0, 1.0, 1.0)
        return self.share([f"tag:{tag}" for tag in tags[:n]], "labels")

    def density(self) -> Interval:
        """Edits per 100 tokens read."""
        rate = self._ratio(["edits"], "tokens_read")
        if rate.value == 0 and self.resampled.n_units > 1:
            rate = wilson(0, self._sum("tokens_read"), level=self.level)
        return replace(rate, value=100 * rate.value, low=100 * rate.low, high=100 * rate.high)

    def _ratio(self, part: Sequence[str], whole: str) -> Interval:
        ratio = self.resampled.ratio([self.columns[name] for name in part], [self.columns[whole]], level=self.level)
        return ratio if self._sum(whole) else replace(ratio, undefined_because=NO_COUNT[whole])

    def _sum(self, name: str) -> float:
        return float(self.resampled.sums[self.columns[name]])


def _row(counts: CorpusCounts, tags: Sequence[str]) -> list[int]:
    fixed = [getattr(counts, name) for name in FIXED]
    few = [counts.sentences_with(number) for number in range(3)]
    n_more = sum(counts.by_sentence.values()) - sum(few)
    return [*fixed, *few, n_more, *(counts.by_tag.get(tag, 0) for tag in tags)]


@dataclass(frozen=True, slots=True)
class Summary:
    """All numbers of a portion; `n_blocks` blocks of documents or sentences were resampled for the intervals."""

    counts: CorpusCounts
    document_counts: DocumentCounts
    types: int
    types_folded: int
    estimates: Estimates
    n_blocks: int
    dispersion: Dispersion

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
        """What was resampled for the intervals."""
        if not self.document_counts.unknown:
            return "document"
        return "document, or sentence where unknown" if self.document_counts.known else "sentence"

    @property
    def scope(self) -> Scope:
        """What the intervals speak of."""
        return Scope(unit=self.unit.split(",")[0])

    def measures(self) -> dict[str, Interval]:
        """Every number by its name; one without an interval has no bounds."""
        totals, estimates = self.totals, self.estimates
        plain = {
            "documents": totals.documents,
            "sentences": totals.sentences,
            "tokens": totals.tokens,
            "types": self.types,
            "edits": totals.edits,
            "sentences per document": totals.sentences_per_document,
            "tokens per document": totals.tokens_per_document,
            "tokens per sentence": totals.tokens_per_sentence,
            "edits per document": totals.edits_per_document,
        }
        return {
            **{name: Interval(nan if value is None else value, nan, nan) for name, value in plain.items()},
            "edits per 100 tokens": estimates.density,
            **{f"sentences with {name} edits": share for name, share in estimates.sentences.items()},
            "edits inside one sentence": estimates.inside,
            "spans with alternatives": estimates.alternatives,
            "edits with the top 5 tags": estimates.top5,
            "edits with the top 10 tags": estimates.top10,
            **{f"tag {tag}": share for tag, share in estimates.tags.items()},
        }

    def to_dict(self) -> dict[str, Json]:
        """The keys of a corpus, without those that divide it further."""
        counts, estimates = self.counts, self.estimates
        return {
            "documents": self.document_counts.n,
            **({"reason": self.document_counts.unknown_because} if self.document_counts.unknown else {}),
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "types": self.types,
            "types_folded": self.types_folded,
            "edits": counts.edits,
            "readings": self.totals.readings_as_json(),
            "unread_sentences": counts.unread,
            "density": {**estimates.density.as_json(), "per": "100 tokens read by an annotator"},
            "by_tag": {tag: counts.by_tag[tag] for tag in estimates.tags},
            "tag_shares": encode(estimates.tags),
            "top5": estimates.top5.as_json(),
            "top10": estimates.top10.as_json(),
            "per_document": self._per_document(),
            "dispersion": self.dispersion.to_dict(),
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
            return {**means, "reason": self.document_counts.unknown_because}
        unit = "a document, once for each annotator who read it"
        return {**means, "unit": unit, **histogram.as_json(), f"above_{TAIL}": histogram.above(TAIL)}

    def _per_sentence(self) -> dict[str, Json]:
        return {
            "tokens": self.totals.tokens_per_sentence,
            "unit": "a sentence, once for each annotator who read it",
            **self.per_sentence.as_json(),
            "shares": encode(self.estimates.sentences),
        }

    def _alternatives(self) -> dict[str, Json]:
        return {
            "places": self.counts.places,
            "places_with_several": self.counts.places_with_several,
            "edits_with_several_corrections": self.counts.edits_with_several,
            "share": self.estimates.alternatives.as_json(),
        }


def summarise(portion: Portion, resampling: Resampling) -> Summary:
    blocks = [portion.by_block[block] for block in sorted(portion.by_block)]
    return Summary(
        counts=portion.counts,
        document_counts=portion.documents,
        types=len(portion.words),
        types_folded=len({word.casefold() for word in portion.words}),
        estimates=estimate(portion, resampling),
        n_blocks=len(portion.by_block),
        dispersion=_dispersion(blocks),
    )


def _dispersion(blocks: Sequence[CorpusCounts]) -> Dispersion:
    readings = np.array([max(counts.tokens_read / max(counts.tokens, 1), 1) for counts in blocks])
    edits = np.array([counts.edits for counts in blocks]) / readings
    return dispersion(edits, np.array([counts.tokens_read for counts in blocks]) / readings)


# What a person reads


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
    spread = (f"Dispersion over {summary.scope.unit}s (1 by chance)", _dispersion_line(summary.dispersion))
    if histogram is None or not histogram.n:
        return [*((label, UNDEFINED) for label in labels), spread]
    numbers = [f"{histogram.median:g}", *map(count, (histogram.mode, histogram.highest, histogram.above(TAIL)))]
    return [*zip(labels, numbers, strict=True), spread]


def _dispersion_line(spread: Dispersion) -> str:
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
