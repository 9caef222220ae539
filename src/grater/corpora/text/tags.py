"""Part-of-speech tags: the tag set, and taggers by name.

The tags are those of the Penn Treebank as the English treebanks of Universal Dependencies write them (XPOS).
`load_tagger()` gives the tagger that comes with grater; a path gives a model that was trained; `spacy:NAME` gives a
spaCy model, which must be installed: its fine-grained tags (`token.tag_`), on our tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import PurePath
from typing import Any, Protocol

from grater.corpora.text.tagging.perceptron import KIND, PerceptronTagger, Weights
from grater.errors import MissingExtra
from grater.model import Json
from grater.models import expecting, read_model, shipped

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
        return SpacyTagger.named(name.removeprefix(SPACY))
    path = shipped("tagger") if name is None else name
    model = read_model(path, kind=KIND)
    with expecting("a tagger", path):
        return PerceptronTagger(Weights.of(model))


N_AT_ONCE = 64


class SpacyTagger:
    """Any spaCy pipeline that sets tags; only what tagging needs of it is run."""

    def __init__(self, pipeline: Any, name: str) -> None:
        self.pipeline = pipeline
        self.name = f"spacy:{name}"
        self.card: Mapping[str, Json] = {
            "name": self.name,
            "kind": "tagger",
            "version": pipeline.meta.get("version", ""),
        }

    @staticmethod
    def named(name: str) -> SpacyTagger:
        """An installed spaCy model by its name."""
        try:
            spacy = import_module("spacy")
        except ImportError as error:
            raise MissingExtra(f"the tagger 'spacy:{name}' needs spaCy: pip install 'grater[spacy]'") from error
        try:
            pipeline = spacy.load(name, exclude=["ner", "lemmatizer", "textcat"])
        except OSError as error:
            hint = f"install it with: python -m spacy download {name}"
            raise MissingExtra(f"expected the spaCy model {name!r}, found none of that name; {hint}") from error
        return SpacyTagger(pipeline, name)

    def tag(self, words: Sequence[str]) -> tuple[str, ...]:
        return self.tag_all([words])[0]

    def tag_all(self, sentences: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
        docs = [self._doc(words) for words in sentences]
        return [tuple(token.tag_ for token in doc) for doc in self.pipeline.pipe(docs, batch_size=N_AT_ONCE)]

    def _doc(self, words: Sequence[str]) -> Any:
        tokens = import_module("spacy.tokens")
        return tokens.Doc(self.pipeline.vocab, words=list(words))
