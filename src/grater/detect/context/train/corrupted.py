"""Sentences with errors put in, as essays with their corrections: what a model is calibrated on without learners.

The errors are those of training (`noise`), in sentences that training did not see.  Each sentence is an essay of its
own, its words one space apart, read by one annotator who sees every error.  Tags are those of NUCLE.  Sentences in
which a word is masked are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from grater.detect.context.heads import ARTICLES, FORMS, surfaces
from grater.detect.context.train.noise import IGNORED, NONE, NoiseMaker
from grater.detect.context.train.training import AT_ONCE, TextArrays
from grater.detect.context.train.words import MASK, PADDING, WordTables
from grater.model import DELETE, Edit, Essay, Span
from grater.text.inflect import plural, singular
from grater.text.prepositions import PREPOSITIONS
from grater.text.verbs import verb_base, verb_forms

ANNOTATOR = "noise"
PREP, PREP_GAP, ARTICLE, ARTICLE_GAP, NUMBER, VERB = range(6)


def corrupted_essays(
    tables: WordTables, noise: NoiseMaker, text: TextArrays, sentences: NDArray[np.int64], *, seed: int
) -> Iterator[Essay]:
    """The sentences with noise; the same for the same seed."""
    generator = torch.Generator(device=noise.device).manual_seed(seed)
    for at in range(0, len(sentences), AT_ONCE):
        group = sentences[at : at + AT_ONCE]
        noisy = noise(*text.batch(group, noise.device), generator)
        for sentence, words, labels in zip(group.tolist(), noisy.words.tolist(), noisy.labels.tolist(), strict=True):
            if MASK not in words:
                yield _Corrupted(tables, [word for word in words if word != PADDING], labels).essay(str(sentence))


@dataclass(frozen=True, slots=True, eq=False)
class _Corrupted:
    """One sentence: numbers of its word types, and the labels at each."""

    tables: WordTables
    words: list[int]
    labels: list[list[int]]

    def essay(self, essay_id: str) -> Essay:
        written = [self.tables.types[word] for word in self.words]
        ends = np.cumsum([len(word) + 1 for word in written]).tolist()
        spans = [Span(end - 1 - len(word), end - 1) for word, end in zip(written, ends, strict=True)]
        edits = tuple(edit for at in range(len(written)) for edit in self._edits(at, spans))
        return Essay(essay_id=essay_id, text=" ".join(written), edits=edits, annotators=(ANNOTATOR,))

    def _edits(self, at: int, spans: list[Span]) -> Iterator[Edit]:
        span, label, tables = spans[at], self.labels[at], self.tables
        gap = Span(span.start, span.start)
        if label[PREP_GAP] not in (IGNORED, NONE):
            yield _edit(gap, PREPOSITIONS[label[PREP_GAP]], "Prep")
        if label[ARTICLE_GAP] != IGNORED and ARTICLES[label[ARTICLE_GAP]] != DELETE:
            yield _edit(gap, ARTICLES[label[ARTICLE_GAP]], "ArtOrDet")
        if label[PREP] not in (IGNORED, tables.preposition[self.words[at]]):
            yield _edit(span, (*PREPOSITIONS, DELETE)[label[PREP]], "Prep")
        if label[ARTICLE] not in (IGNORED, tables.article[self.words[at]]):
            yield _edit(span, ARTICLES[label[ARTICLE]], "ArtOrDet")
        if label[NUMBER] != IGNORED:
            word = tables.types[self.words[at]]
            right = (singular, plural)[label[NUMBER]](word)
            if right != word:
                yield _edit(span, right, "Nn")
        if label[VERB] != IGNORED:
            yield from self._verb_edits(at, spans)

    def _verb_edits(self, at: int, spans: list[Span]) -> Iterator[Edit]:
        """A verb with the *to* before it, where its form is not the label's."""
        form, word = self.labels[at][VERB], self.tables.types[self.words[at]]
        has_to = at > 0 and self.tables.types[self.words[at - 1]].lower() == "to"
        written = f"to {word}" if has_to else word
        rights = [right for base in (verb_base(word, "VBD"), verb_base(word)) if (right := _form(base, form, word))]
        if rights and written not in rights and not (word == "am" and FORMS[form] == "present"):
            start = spans[at - 1].start if has_to else spans[at].start
            yield _edit(Span(start, spans[at].end), rights[0], "Vform")


def _form(base: str, form: int, word: str) -> str | None:
    """A form of a verb, if the word is one of its forms."""
    written = surfaces(verb_forms(base))
    return written[form] if word in written else None


def _edit(span: Span, word: str, tag: str) -> Edit:
    return Edit(span=span, replacements=("" if word == DELETE else word,), tag=tag, rater=ANNOTATOR)
