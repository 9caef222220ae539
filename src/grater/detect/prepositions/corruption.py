"""Well-formed text with errors put in, to choose thresholds on.

The rates are those of learners as the papers have them: 6 % of prepositions are wrong (T&C 2008, section 2), about a
fifth of those extraneous (COLING 2008: up to 18 %), and, our guess, half as many are missing as are chosen wrongly. A
wrong choice is drawn by the prepositions' own frequencies, flattened by a square root; an extraneous one the same
way, into a gap where a noun phrase begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from grater.detect.learning.scores import Scores
from grater.detect.prepositions.candidates import Candidate, candidates_of, gap_places, preposition_places
from grater.detect.prepositions.engine import NONE
from grater.detect.prepositions.thresholds import CHOICE, EXTRANEOUS, MISSING_TYPE
from grater.text.analysis import Sentence, analyse_words
from grater.text.prepositions import PREPOSITIONS, canonical

RATES = {CHOICE: 0.048, EXTRANEOUS: 0.012, MISSING_TYPE: 0.024}
"""Of prepositions; extraneous ones are put into gaps, which are about as many."""


@dataclass(frozen=True, slots=True)
class Corrupted:
    """A candidate of corrupted text; `error` is the type of the error there, empty where there is none."""

    candidate: Candidate
    error: str


def frequencies(labels: Iterable[int]) -> Scores:
    """The flattened frequencies of the prepositions among labels."""
    counts = np.bincount(np.fromiter(labels, np.int64), minlength=NONE + 1)[:NONE]
    flat = np.sqrt(counts + 1.0)
    shares: Scores = flat / flat.sum()
    return shares


def corrupted(sentences: Iterable[Sentence], shares: Scores, rng: np.random.Generator) -> Iterator[Corrupted]:
    """The candidates of all sentences with errors put in."""
    for sentence in sentences:
        words, errors = _with_errors(sentence, shares, rng)
        if not words:
            continue
        for candidate in candidates_of(analyse_words(words)):
            is_insertion = errors.get(candidate.index) == MISSING_TYPE
            error = errors.get(candidate.index, "") if candidate.is_gap == is_insertion else ""
            yield Corrupted(candidate, error)


def _with_errors(sentence: Sentence, shares: Scores, rng: np.random.Generator) -> tuple[list[str], dict[int, str]]:
    """The words, and the type of error at the places that have one (of the word behind it where one is missing)."""
    prepositions, gaps = set(preposition_places(sentence)), set(gap_places(sentence))
    words: list[str] = []
    errors: dict[int, str] = {}
    chances = rng.random(len(sentence.words)).tolist()
    for place, word in enumerate(sentence.words):
        if place in prepositions and chances[place] < RATES[CHOICE]:
            errors[len(words)] = CHOICE
            words.append(_another(word, shares, rng))
        elif place in prepositions and chances[place] > 1 - RATES[MISSING_TYPE]:
            errors[len(words)] = MISSING_TYPE
        elif place in gaps and chances[place] < RATES[EXTRANEOUS]:
            errors[len(words)] = EXTRANEOUS
            words += [_another("", shares, rng), word]
        else:
            words.append(word)
    return words, errors


def _another(word: str, shares: Scores, rng: np.random.Generator) -> str:
    """A preposition that is not the word itself, with its capital."""
    while True:
        drawn = PREPOSITIONS[int(rng.choice(NONE, p=shares))]
        if drawn != canonical(word):
            return drawn.capitalize() if word[:1].isupper() else drawn
