"""The metrics: what each must be able to do, and which there are.

A metric counts a hypothesis against references (`count`), turns sums of counts into scores (`scores`) and names how
it did so (`signature`).  For the human ceiling it also counts against each annotator by itself (`against_each`) and
chooses among some of them (`among`).  Third parties join by the entry-point group `grater.metrics`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from grater.corpora.format import Source
from grater.errors import UsageError
from grater.evaluate.edits.counts import AnnotatorCounts, Bools, SentenceCounts
from grater.evaluate.edits.errant_match import Mode
from grater.evaluate.edits.errant_types import Tier
from grater.evaluate.edits.systems import Hypothesis, References, Sentences
from grater.evaluate.resampling import Numbers
from grater.model import Essay
from grater.registry import Registry
from grater.signature import Signature


@dataclass(frozen=True, slots=True)
class Options:
    """Every metric takes what concerns it; `tier` None asks for no scores by type."""

    beta: float = 0.5
    mode: Mode = "cs"
    tier: Tier | None = None
    max_unchanged: int = 2
    spacy_model: str | None = None

    def __post_init__(self) -> None:
        if not self.beta > 0 or self.beta == float("inf"):
            raise UsageError(f"expected a beta above 0, found {self.beta:g}")


class Metric(Protocol):
    """`columns` are the names of its counts; `references_are_texts` where references are texts beside a source."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]: ...

    @property
    def references_are_texts(self) -> bool: ...

    def read(self, source: Source) -> Sentences:
        """An M2 file in the shape that this metric works on quickest."""

    def score_names(self, options: Options) -> tuple[str, ...]:
        """The scores in the order of the table; systems are ranked and compared by the last."""

    def scores(self, sums: Numbers, options: Options) -> Numbers:
        """From sums of counts in the last axis to scores in the last axis."""

    def values(self, counts: SentenceCounts, options: Options) -> Numbers:
        """The scores of a whole corpus, as the official tool gives them."""

    def sentence_scores(self, counts: SentenceCounts, options: Options) -> Numbers:
        """The scores of every sentence by itself: (sentences, scores)."""

    def count(
        self, references: References, hypotheses: Sequence[Hypothesis], options: Options
    ) -> list[SentenceCounts]: ...

    def signature(self, references: References, options: Options) -> Signature: ...

    def as_hypothesis(self, essays: Sequence[Essay], annotator: str) -> Hypothesis:
        """What a system would have put out that corrects as the annotator did."""

    def against_each(
        self, references: References, hypotheses: Sequence[Hypothesis], options: Options
    ) -> Iterator[AnnotatorCounts]:
        """Counts of each hypothesis, one after the other; every annotator must have read every sentence."""

    def among(self, counts: AnnotatorCounts, subsets: Bools, options: Options) -> list[SentenceCounts]:
        """Counts against each of some sets of annotators."""


METRICS: Registry[Metric] = Registry(
    "metric",
    "grater.metrics",
    {
        "errant": "grater.evaluate.edits.metric_errant:METRIC",
        "gleu": "grater.evaluate.edits.metric_gleu:METRIC",
        "m2": "grater.evaluate.edits.metric_m2:METRIC",
    },
)
