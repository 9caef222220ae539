"""Well-formed text with errors of article and number put in, to choose thresholds on.

Rates are our guess at an intermediate writer, near what annotators of learner essays mark: of a hundred open phrases
some nine are wrong.  Articles are left out most often, then number goes wrong, then articles are put in, then *a*
and *the* change places.  The text is analysed again afterwards, so that the tagger sees what it would see in an
essay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from grater.detect.articles.constructions import ARTICLE_OF, CONSTRUCTIONS, NONE_OF_THEM
from grater.detect.articles.forms import ARTICLE, Change, changes, within_reach
from grater.detect.articles.mentions import Memory
from grater.detect.articles.phrases import NounPhrase, noun_phrases
from grater.detect.articles.rows import Placed, placed_phrases
from grater.model import DELETE
from grater.text.analysis import Sentence, analyse_words

RATES: dict[str, dict[str, float]] = {
    "null-singular": {"the-singular": 0.03, "a-singular": 0.007, "null-plural": 0.02},
    "the-singular": {"null-singular": 0.06, "a-singular": 0.01, "the-plural": 0.01},
    "null-plural": {"the-plural": 0.03, "null-singular": 0.04},
    "a-singular": {"null-singular": 0.06, "the-singular": 0.02},
    "the-plural": {"null-plural": 0.05, "the-singular": 0.03},
}
"""By the construction that stood there: what it becomes, and how often."""


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A phrase of corrupted text; `right` is what stood there, `NONE_OF_THEM` where that is not known."""

    placed: Placed
    right: int


def corrupted(passages: Iterable[Iterable[Sentence]], rng: np.random.Generator) -> Iterator[Corrupted]:
    """The open phrases of all passages with errors put in."""
    for passage in passages:
        memory = Memory()
        for sentence in passage:
            words, right = with_errors(sentence, rng)
            if not words:
                continue
            for placed in placed_phrases([analyse_words(words)], memory):
                yield Corrupted(placed, right.get(placed.phrase.head, NONE_OF_THEM))


def with_errors(sentence: Sentence, rng: np.random.Generator) -> tuple[list[str], dict[int, int]]:
    """The words with errors put in, and what stood there by the new place of each open phrase's head."""
    words: list[str] = []
    right: dict[int, int] = {}
    done = 0
    for phrase in noun_phrases(sentence):
        if not phrase.is_open or phrase.construction == NONE_OF_THEM:
            continue
        words += sentence.words[done : phrase.left]
        words += _written(phrase, changes(phrase, _drawn(phrase, rng)))
        right[len(words) - 1] = phrase.construction
        done = phrase.head + 1
    return [*words, *sentence.words[done:]], right


def _drawn(phrase: NounPhrase, rng: np.random.Generator) -> int:
    """Another construction, or mostly the same."""
    chance = rng.random()
    reach = within_reach(phrase)
    for name, rate in RATES[CONSTRUCTIONS[phrase.construction]].items():
        chance -= rate
        if chance < 0:
            target = CONSTRUCTIONS.index(name)
            return target if target in reach else phrase.construction
    return phrase.construction


def _written(phrase: NounPhrase, made: list[Change]) -> list[str]:
    """The words of a phrase with its changes, but for capitals."""
    words = list(phrase.sentence.words[phrase.left : phrase.head + 1])
    for change in made:
        if change.kind != ARTICLE:
            words[-1] = change.suggestion
    for change in made:
        if change.kind == ARTICLE and phrase.article_at is None:
            words.insert(0, change.suggestion)
        elif change.kind == ARTICLE and change.suggestion == DELETE:
            del words[0]
        elif change.kind == ARTICLE:
            words[0] = change.suggestion
    return words


def error_rate() -> float:
    """The share of wrong phrases if all constructions were equally frequent."""
    return sum(sum(of.values()) for of in RATES.values()) / len(ARTICLE_OF)
