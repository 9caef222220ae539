"""Training events: the prepositions of well-formed text, and gaps that have none, each with its context.

T&C 2008, section 3.1: the classifier learns from examples of prepositions used correctly.  The class of no
preposition, which the paper does not have, learns from gaps: of all places between two tokens with a word on the
right, each is taken with the same chance (`gap_rate`), so the odds of a gap are those of English up to one constant.

Text comes a paragraph a line; a line that was there before is left out.  Words are numbered as they come; `Events`
are renumbered once it is known which are frequent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.prepositions.candidates import MISSING, PREP, Candidate, preposition_places
from grater.detect.prepositions.contexts import FIELDS, N_WORDS, Rows, contexts
from grater.detect.prepositions.engine import answer_of
from grater.detect.prepositions.stems import stem_numbers, stemmed
from grater.detect.prepositions.vocabulary import GrowingVocabulary, Vocabulary, renumbering
from grater.rng import generator
from grater.text.analysis import Sentence, analyse_all

Labels: TypeAlias = npt.NDArray[np.int8]

GAP_RATE = 1 / 12
FOLDS = 100
"""Lines fall into a hundred folds by their own hash, so a line is held out in every run or in none."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The events of some lines: word numbers point into `words`, counted from 1."""

    rows: Rows
    labels: Labels
    folds: Labels
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Contexts, what stood there, and the fold of the line that each comes from."""

    rows: Rows
    labels: Labels
    folds: Labels
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.labels)


def distinct_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines with words, each once."""
    seen: set[bytes] = set()
    for line in lines:
        plain = line.strip()
        digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if plain and digest not in seen:
            seen.add(digest)
            yield plain


def fold_of(line: str) -> int:
    """The fold of a line, from 0 to 99."""
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8, person=b"fold").digest()
    return int.from_bytes(digest, "big") % FOLDS


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


def gathered(batches: Iterable[Batch], *, min_count: int = 3, tell: Callable[[int], None] | None = None) -> Events:
    """All batches as one, with a vocabulary of the words that stand in enough contexts."""
    growing = GrowingVocabulary()
    rows, labels, folds = [], [], []
    for batch in batches:
        numbers = np.array([0, *growing.numbers(batch.words)], np.int32)
        own = batch.rows.copy()
        own[:, :N_WORDS] = numbers[own[:, :N_WORDS]]
        rows.append(own)
        labels.append(batch.labels)
        folds.append(batch.folds)
        if tell:
            tell(len(own))
    if not sum(map(len, labels)):
        return Events(
            np.zeros((0, len(FIELDS)), np.int32), np.zeros(0, np.int8), np.zeros(0, np.int8), Vocabulary(())
        )
    whole = np.concatenate(rows)
    rows.clear()
    vocabulary, numbers = _frequent(whole, tuple(growing.places), min_count)
    whole[:, :N_WORDS] = numbers[whole[:, :N_WORDS]]
    whole = stemmed(whole, stem_numbers(vocabulary))
    return Events(whole, np.concatenate(labels), np.concatenate(folds), vocabulary)


def _frequent(rows: Rows, words: tuple[str, ...], min_count: int) -> tuple[Vocabulary, Rows]:
    """The vocabulary, most frequent first, and the new number of each old one."""
    counts = np.zeros(len(words) + 1, np.int64)
    for column in (0, 3):  # the neighbours: every word of a text is about as often one as another
        counts += np.bincount(rows[:, column], minlength=len(counts))
    order = np.argsort(-counts[1:], kind="stable")
    kept = order[counts[1:][order] >= min_count]
    vocabulary = Vocabulary(tuple(words[place] for place in kept.tolist()))
    return vocabulary, np.array(renumbering(words, vocabulary), np.int32)
