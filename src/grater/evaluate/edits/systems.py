"""The two sides of a score: what the references say, and what a system made of the same sentences.

References are essays, one a sentence, with their annotators; a plain text file as a reference is an annotator who
rewrote every sentence.  A hypothesis is plain text, a sentence a line, or edits (M2).  A metric may have a quicker
shape of its own for edits (`errant_table.EditTable`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

from grater.corpora.format import Source
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.evaluate.edits.errant_table import EditTable
from grater.evaluate.edits.pairing import require_same_sources, source_words
from grater.model import Edit, Essay, Span, short_hash

Sentences: TypeAlias = Sequence[Essay] | EditTable
"""Sentences with the edits of annotators."""


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """The sentences that all systems are scored on; `name` is for messages."""

    name: str
    sentences: Sentences

    @property
    def essays(self) -> Sequence[Essay]:
        if isinstance(self.sentences, EditTable):
            raise UsageError(f"{self.name}: expected essays, found a table of edits; read the file as a corpus")
        return self.sentences


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """A system's output: lines of text, or sentences with its edits; `name` is the file, for messages."""

    system: str
    name: str
    texts: Sequence[str] | None = None
    sentences: Sentences = ()

    @property
    def essays(self) -> Sequence[Essay]:
        return References(self.name, self.sentences).essays

    @property
    def n_sentences(self) -> int:
        return len(self.essays if self.texts is None else self.texts)

    def only(self, places: Sequence[int]) -> Hypothesis:
        """The output for some of the sentences."""
        if self.texts is not None:
            return replace(self, texts=[self.texts[place] for place in places])
        return replace(self, sentences=[self.essays[place] for place in places])


def read_sentences(source: Source) -> list[str]:
    """Plain text, a sentence a line, blank ones too."""
    problems, sentences = Problems(source.name), []
    for number, line in enumerate(source.lines(), 1):
        if "\0" in line:
            problems.add("expected text, found a NUL character; is it UTF-16? Convert it to UTF-8 first", line=number)
        sentences.append(line.removesuffix("\n").removesuffix("\r"))
    problems.done()
    return sentences


def rewritten(sources: Sequence[str], texts: Mapping[str, Sequence[str]], *, source_name: str) -> list[Essay]:
    """Essays whose annotators rewrote each sentence as a whole; `texts` are their sentences by name."""
    for name, lines in texts.items():
        _require_as_many(sources, lines, source_name, name)
    return [
        Essay(
            short_hash(f"{number}:{source}"),
            source,
            tuple(_edits(source, number, texts)),
            tuple(texts),
            line=number + 1,
        )
        for number, source in enumerate(sources)
    ]


def _edits(source: str, number: int, texts: Mapping[str, Sequence[str]]) -> Iterator[Edit]:
    for name, lines in texts.items():
        if lines[number].split() != source.split():
            yield Edit(Span(0, len(source)), (lines[number],), "", name)


def _require_as_many(sources: Sequence[str], lines: Sequence[str], source_name: str, name: str) -> None:
    if len(lines) == len(sources):
        return
    at = min(len(lines), len(sources))
    first = (sources if len(sources) > at else lines)[at]
    message = (
        f"expected {len(sources)} sentences, as in {source_name}, found {len(lines)}; sentence {at + 1} is the first"
    )
    raise BadInput(Problem(name, f"{message} that only one of them has: {first!r}", at + 1))


def require_texts_fit(references: References, hypothesis: Hypothesis, texts: Sequence[str]) -> None:
    """Raise unless plain text has as many lines as the references, cut into words as they are."""
    require_same_sources(_sourced(references), texts, reference_name=references.name, hypothesis_name=hypothesis.name)
    _require_same_tokens(references, hypothesis, texts)


def _sourced(references: References) -> Sequence[Essay]:
    sentences = references.sentences
    return sentences.sentences if isinstance(sentences, EditTable) else sentences  # type: ignore[return-value]


def _require_same_tokens(references: References, hypothesis: Hypothesis, texts: Sequence[str]) -> None:
    """Lines that have every character of their source show how the text was cut; a few may be real corrections."""
    n_same, differing = 0, list[int]()
    for number, (essay, text) in enumerate(zip(_sourced(references), texts, strict=True)):
        words, found = source_words(essay), text.split()
        if words == found:
            n_same += 1
        elif "".join(words) == "".join(found):
            differing.append(number)
    if len(differing) > n_same:
        number = differing[0]
        words, found = source_words(_sourced(references)[number]), texts[number].split()
        pairs = zip_longest(words, found, fillvalue="nothing")
        expected, instead = next((one, other) for one, other in pairs if one != other)
        message = (
            f"expected words as in {references.name}, found {instead!r} in place of {expected!r}; {len(differing)}"
        )
        raise BadInput(
            Problem(hypothesis.name, f"{message} lines are tokenised in another way, this first", number + 1)
        )
