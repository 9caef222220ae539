"""A spaCy model as a tagger: its fine-grained tags (`token.tag_`), on our tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from grater.errors import MissingExtra
from grater.model import Json

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
