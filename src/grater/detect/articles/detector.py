"""The detector of wrong articles and wrong number: phrases, a model's probabilities, caution, in that order.

Every open noun phrase gives two findings: the article (its token, or the gap where one could stand) and the number
(the noun).  One target construction is chosen for the phrase, the one whose confidence exceeds its threshold by
most; what has to change for it is flagged, so that all flags of a phrase, applied together, give that construction.
A decision's score is by how much the best target that changes the item exceeds its threshold.  *a* for *an*, or the
other way round, is flagged by rule where nothing else is wrong with the article.

Mentions are remembered through an essay, and on through essays that follow each other and name the same `document`
(sentences of M2).  The number that a verb shows is not used unless asked for: a learner's verb may itself be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf

import numpy as np

from grater.detect.articles.confidence import Caution, confidences, excesses, strengths
from grater.detect.articles.constructions import ARTICLE_OF, CONSTRUCTIONS, NONE_OF_THEM, NUMBER_OF
from grater.detect.articles.forms import (
    ARTICLE,
    NUMBER,
    Change,
    Kind,
    changes,
    place_of,
    target_of,
    within_reach,
    wrong_form,
)
from grater.detect.articles.mentions import Memory
from grater.detect.articles.model import ArticleModel
from grater.detect.articles.phrases import NounPhrase
from grater.detect.articles.rows import COLUMN, Placed, placed_phrases
from grater.detect.batches import grouped
from grater.detect.detector import Finding
from grater.detect.learning.scores import Scores
from grater.model import Decision, Essay, Item, Json
from grater.text.analysis import analyse_all

DECIMALS = 6
"""Machines may differ in the last digits of an exponential; nothing that is shown does."""

KINDS: tuple[Kind, ...] = (ARTICLE, NUMBER)
STRANGE = "a-plural"


@dataclass(frozen=True, slots=True)
class ArticleDetector:
    """A model with its caution."""

    name: str
    model: ArticleModel
    caution: Caution
    card: Mapping[str, Json]
    with_agreement: bool = False
    kinds: tuple[str, ...] = KINDS

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        memory, document = Memory(), None
        for group in grouped(essays):
            waiting: list[tuple[str, Placed]] = []
            for essay, sentences in zip(group, analyse_all(group), strict=True):
                if document is None or essay.metadata.get("document") != document:
                    memory = Memory()
                document = essay.metadata.get("document")
                waiting += [(essay.essay_id, placed) for placed in placed_phrases(sentences, memory)]
            yield from self._decided(waiting)

    def _decided(self, waiting: list[tuple[str, Placed]]) -> Iterator[Finding]:
        phrases = [placed.phrase for _, placed in waiting]
        if not phrases:
            return
        scores, excess = self.judged([placed for _, placed in waiting])
        shares = np.round(np.exp(scores), DECIMALS).tolist()
        for (essay_id, _), phrase, of, over in zip(waiting, phrases, shares, excess.tolist(), strict=True):
            yield from self._findings(essay_id, phrase, of, over)

    def judged(self, placed: list[Placed]) -> tuple[Scores, Scores]:
        """Of each phrase: the log-probabilities of the constructions, and by how much each exceeds its threshold."""
        rows = self.model.rows(placed)
        scores = self.model.scores(rows, with_agreement=self.with_agreement)
        written = [each.phrase.construction for each in placed]
        strength = strengths([self.model.habits.of(number) for number in rows[:, COLUMN["head"]].tolist()])
        excess = excesses(confidences(scores, written, strength, self.caution), written, self.caution)
        for place, each in enumerate(placed):
            for target in set(range(len(CONSTRUCTIONS))).difference(within_reach(each.phrase)):
                excess[place, target] = -inf
        return scores, np.round(excess, DECIMALS)

    def _findings(
        self, essay_id: str, phrase: NounPhrase, shares: list[float], excess: list[float]
    ) -> Iterator[Finding]:
        target = max(range(len(CONSTRUCTIONS)), key=lambda place: excess[place])
        made = changes(phrase, target) if excess[target] > 0 else []
        form = wrong_form(phrase)
        if form and not any(change.kind == ARTICLE for change in made):
            made = [*made, form]
        beliefs = _beliefs(shares, phrase.construction)
        for kind in KINDS:
            change = next((change for change in made if change.kind == kind), None)
            score = max(
                (excess[place] for place in range(len(excess)) if _changes(phrase, place, kind)), default=-inf
            )
            yield self._finding(essay_id, phrase, kind, change, score, beliefs)

    def _finding(
        self,
        essay_id: str,
        phrase: NounPhrase,
        kind: Kind,
        change: Change | None,
        score: float,
        beliefs: tuple[tuple[str, float], ...],
    ) -> Finding:
        item = Item(essay_id, place_of(phrase, kind), kind)
        shown = None if score == -inf else score
        if change is None:
            decision = Decision(item.item_id, self.name, False, None if shown is None else min(shown, 0.0))
        else:
            decision = Decision(item.item_id, self.name, True, max(shown or 0.0, 0.0), change.type, change.suggestion)
        return Finding(item, decision, target_of(phrase, kind), beliefs)


def _changes(phrase: NounPhrase, target: int, kind: Kind) -> bool:
    """Whether a construction would change the item of a kind."""
    return ARTICLE_OF[target] != phrase.article if kind == ARTICLE else NUMBER_OF[target] != phrase.number


def _beliefs(shares: list[float], written: int) -> tuple[tuple[str, float], ...]:
    """The constructions and their probabilities, likeliest first; *a* with a plural has none."""
    named = sorted(zip(CONSTRUCTIONS, shares, strict=True), key=lambda each: -each[1])
    return (*named, (STRANGE, 0.0)) if written == NONE_OF_THEM else tuple(named)
