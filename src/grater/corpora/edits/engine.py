"""What makes edits of a sentence and its correction: our own rules, or the errant package.

`grater` (the default) needs nothing but the tagger that comes with the package, so the same text gives the same
edits on every machine.  `errant:MODEL` is the errant package (extra `errant`) with a spaCy model of that name: its
edits change with the versions of both.  An engine's `name` goes into the signature of every score made with it.

Both sides are tokenised already: words between white space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeAlias

from grater.corpora.edits.align import Step, Words, align, changed_part
from grater.corpora.edits.merge import merge
from grater.corpora.edits.types import type_of
from grater.corpora.text.tagging.perceptron import Part, PerceptronTagger
from grater.corpora.text.tags import Tagger, load_tagger
from grater.errors import MissingExtra, UsageError

RULES = 2
"""Raised whenever the rules of alignment, merging or typing change what comes out."""

GRATER = "grater"
ERRANT = "errant"
AT_ONCE = 512

N_BEFORE, N_AFTER = 2, 4
"""Words around a change that the type of an edit or the tag of a word may depend on."""

Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence and those of its correction."""


class WordEdit(NamedTuple):
    """The words [start, end) of the source, what stands for them (words joined by spaces), and the type."""

    start: int
    end: int
    type: str
    correction: str


class Engine(Protocol):
    """Makes edits of pairs, in order."""

    @property
    def name(self) -> str: ...

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]: ...


def load_engine(name: str = GRATER) -> Engine:
    """An engine by its name: `grater`, or `errant:MODEL` with the name of a spaCy model."""
    if name == GRATER:
        return GraterEngine()
    kind, _, model = name.partition(":")
    if kind != ERRANT:
        raise UsageError(f"expected the engine grater, errant or errant:MODEL, found {name!r}")
    return ErrantEngine(model or "en_core_web_sm")


class GraterEngine:
    """Our own alignment, merging and types; sentences are tagged a few hundred at a time."""

    def __init__(self, tagger: Tagger | None = None) -> None:
        self.tagger = tagger or load_tagger()

    @property
    def name(self) -> str:
        return f"{GRATER}-{RULES}/{self.tagger.card.get('hash') or self.tagger.name}"

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]:
        remaining = iter(pairs)
        while batch := list(islice(remaining, AT_ONCE)):
            yield from self._batch(batch)

    def _batch(self, pairs: Sequence[Pair]) -> Iterator[tuple[WordEdit, ...]]:
        changes = [_Change.of(list(old), list(new)) for old, new in pairs]
        parts = iter(self._parts([change for change in changes if change]))
        for change in changes:
            yield tuple(_edits(*next(parts), change.first)) if change else ()

    def _parts(self, changes: Sequence[_Change]) -> list[tuple[Words, Words]]:
        """The words that the edits of each pair depend on, with their tags."""
        if isinstance(self.tagger, PerceptronTagger):
            old_tags = self.tagger.tag_parts([change.source() for change in changes])
            targets = [change.target(tags) for change, tags in zip(changes, old_tags, strict=True)]
            new_tags = [
                part.before + tags for part, tags in zip(targets, self.tagger.tag_parts(targets), strict=True)
            ]
        else:
            old_tags = self.tagger.tag_all([change.old for change in changes])
            new_tags = self.tagger.tag_all([change.new for change in changes])
        return [change.words(*tags) for change, *tags in zip(changes, old_tags, new_tags, strict=True)]

    def _tagged(self, pairs: Sequence[Pair]) -> list[tuple[Words, Words]]:
        sides = [side for pair in pairs for side in pair]
        tags = self.tagger.tag_all(sides)
        words = [Words(tuple(side), side_tags) for side, side_tags in zip(sides, tags, strict=True)]
        return list(zip(words[::2], words[1::2], strict=True))

    def types(self, words: Sequence[str], edits: Sequence[WordEdit]) -> list[str]:
        """Types for edits that somebody else made; of those that overlap or correct nothing, an empty one."""
        steps, corrected = _applied(words, edits)
        (source, target), *_ = self._tagged([(words, corrected)])
        return ["" if step is None else type_of(step, source, target) for step in steps]


class _Change(NamedTuple):
    """A pair that differs, and the words [first, end) and [first, new_end) that its edits and their types depend on.

    The tag of a word depends on two words on each side and on the tags before it, so those of the target before
    `first` are those of the source.
    """

    old: list[str]
    new: list[str]
    first: int
    end: int
    new_end: int

    @staticmethod
    def of(old: list[str], new: list[str]) -> _Change | None:
        """None if nothing has changed."""
        if old == new:
            return None
        start, end, new_end = changed_part(old, new)
        return _Change(
            old, new, max(0, start - N_BEFORE), min(len(old), end + N_AFTER), min(len(new), new_end + N_AFTER)
        )

    def source(self) -> Part:
        return Part(self.old, 0, self.end)

    def target(self, old_tags: tuple[str, ...]) -> Part:
        return Part(self.new, self.first, self.new_end, old_tags[: self.first])

    def words(self, old_tags: tuple[str, ...], new_tags: tuple[str, ...]) -> tuple[Words, Words]:
        old, new = slice(self.first, self.end), slice(self.first, self.new_end)
        return Words(tuple(self.old[old]), old_tags[old]), Words(tuple(self.new[new]), new_tags[new])


def _edits(source: Words, target: Words, first: int) -> Iterator[WordEdit]:
    for step in merge(align(source, target), source, target):
        correction = " ".join(target.texts[step.new_start : step.new_end])
        yield WordEdit(first + step.start, first + step.end, type_of(step, source, target), correction)


def _applied(words: Sequence[str], edits: Sequence[WordEdit]) -> tuple[list[Step | None], list[str]]:
    """Where each edit stands in the source and in the corrected sentence, and that sentence."""
    steps: list[Step | None] = [None] * len(edits)
    corrected: list[str] = []
    at = 0
    for index, edit in sorted(enumerate(edits), key=lambda pair: (pair[1].start, pair[1].end)):
        if edit.start < at:
            continue
        corrected += words[at : edit.start]
        new = edit.correction.split()
        if new or edit.start < edit.end:
            steps[index] = Step("E", edit.start, edit.end, len(corrected), len(corrected) + len(new))
        corrected += new
        at = edit.end
    return steps, corrected + list(words[at:])


class ErrantEngine:
    """The errant package, as `errant_parallel` runs it.  spaCy is loaded for it here and nowhere else."""

    def __init__(self, spacy_model: str) -> None:
        self.spacy_model = spacy_model
        self.annotator = _load_errant(spacy_model)

    @property
    def name(self) -> str:
        return f"{ERRANT}-{_version(ERRANT)}/{self.spacy_model}"

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]:
        for words, corrected in pairs:
            yield () if list(words) == list(corrected) else tuple(self._edits(words, corrected))

    def _edits(self, words: Sequence[str], corrected: Sequence[str]) -> Iterator[WordEdit]:
        parse = self.annotator.parse
        for edit in self.annotator.annotate(parse(" ".join(words)), parse(" ".join(corrected))):
            yield WordEdit(edit.o_start, edit.o_end, edit.type, edit.c_str)


def _load_errant(spacy_model: str) -> Any:
    try:
        spacy, errant = import_module("spacy"), import_module("errant")
    except ImportError as error:
        raise MissingExtra(
            f"the engine errant needs the package {error.name}; install it with: pip install 'grater[errant]'"
        ) from error
    try:
        pipeline = spacy.load(spacy_model, disable=["ner"])  # as errant.load does with its own
    except OSError as error:
        raise MissingExtra(
            f"the spaCy model {spacy_model!r} is not installed; install it (python -m spacy download {spacy_model}), "
            "or name one that is"
        ) from error
    return errant.load("en", pipeline)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "unknown"
