"""Part-of-speech tags: the tag set, and taggers by name.

The tags are those of the Penn Treebank as the English treebanks of Universal Dependencies write them (XPOS).
`load_tagger()` gives the tagger that comes with grater; a path gives a model of `grater train tagger`;
`spacy:NAME` gives a spaCy model, which must be installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Protocol

from grater.model import Json
from grater.models import read_model, shipped
from grater.text.tagging.perceptron import PerceptronTagger
from grater.text.tagging.weights import KIND, Weights

SPACY = "spacy:"


class Tagger(Protocol):
    """Gives one tag to each word, the same whatever else is in the batch."""

    @property
    def name(self) -> str: ...

    @property
    def card(self) -> Mapping[str, Json]: ...

    def tag(self, words: Sequence[str]) -> tuple[str, ...]: ...

    def tag_all(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]: ...


def load_tagger(name_or_path: str | PurePath | None = None) -> Tagger:
    """A tagger by its name or file; the shipped one by default.  Loaded once."""
    return _load(None if name_or_path is None else str(name_or_path))


@lru_cache(maxsize=4)
def _load(name: str | None) -> Tagger:
    if name is not None and name.startswith(SPACY):
        from grater.text.tagging.spacy import SpacyTagger

        return SpacyTagger.named(name.removeprefix(SPACY))
    path = shipped("tagger") if name is None else name
    return PerceptronTagger(Weights.of(read_model(path, kind=KIND)))
