"""Training events: the prepositions of well-formed text, and gaps that have none, each with its context.

T&C 2008, section 3.1: the classifier learns from examples of prepositions used correctly.  The class of no
preposition, which the paper does not have, learns from gaps: of all places between two tokens with a word on the
right, each is taken with the same chance (`gap_rate`), so the odds of a gap are those of English up to one constant.

Text comes a paragraph a line (`learning.lines`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from grater.detect.learning import events
from grater.detect.learning.events import MIN_COUNT, Batch, Events, Layout
from grater.detect.learning.lines import fold_of
from grater.detect.learning.vocabulary import GrowingVocabulary
from grater.detect.prepositions.candidates import MISSING, PREP, Candidate, preposition_places
from grater.detect.prepositions.contexts import FIELDS, N_WORDS, contexts
from grater.detect.prepositions.engine import answer_of
from grater.detect.prepositions.stems import stem_numbers, stemmed
from grater.rng import generator
from grater.text.analysis import Sentence, analyse_all

GAP_RATE = 1 / 12
LAYOUT = Layout(len(FIELDS), N_WORDS, counted=(0, 3))
"""Counted are the neighbours: every word of a text is about as often one as another."""


def batch_of(lines: Sequence[str], *, number: int = 0, gap_rate: float = GAP_RATE, seed: int = 0) -> Batch:
    """The events of some lines; `number` tells batches apart where chance is needed."""
    rng = generator(seed, "gaps", str(number))
    candidates: list[Candidate] = []
    folds: list[int] = []
    for line, sentences in zip(lines, analyse_all(lines), strict=True):
        found = [each for sentence in sentences for each in _events_of(sentence, rng, gap_rate)]
        candidates += found
        folds += [fold_of(line)] * len(found)
    vocabulary = GrowingVocabulary()
    rows = contexts(candidates, vocabulary) if candidates else np.zeros((0, len(FIELDS)), np.int32)
    labels = np.array([answer_of(candidate) for candidate in candidates], np.int8)
    return Batch(rows, labels, np.array(folds, np.int8), tuple(vocabulary.places))


def _events_of(sentence: Sentence, rng: np.random.Generator, gap_rate: float) -> Iterator[Candidate]:
    for place in preposition_places(sentence):
        yield Candidate(sentence, place, PREP)
    for place in np.flatnonzero(rng.random(len(sentence.words)) < gap_rate).tolist():
        if sentence.words[place][0].isalnum():
            yield Candidate(sentence, place, MISSING)


def gathered(
    batches: Iterable[Batch], *, min_count: int = MIN_COUNT, tell: Callable[[int], None] = lambda _: None
) -> Events:
    """All batches as one, the heads by their stems."""
    found = events.gathered(batches, LAYOUT, min_count=min_count, tell=tell)
    return replace(found, rows=stemmed(found.rows, stem_numbers(found.vocabulary)))
