"""Harper, the offline grammar checker of Automattic, by its Python package `harper-py` (pip install harper-py).

Its spans are code points, like ours.  A suggestion may replace, remove or put text after the words it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from grater.errors import MissingExtra
from grater.model import Edit, Essay, Span

REMOVE, INSERT_AFTER = 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Harper:
    """Harper as a corrector."""

    name: str = "harper"

    @property
    def about(self) -> str:
        return "Harper, by harper-py"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        linter = _linter()
        for essay in essays:
            lints = linter.lint(essay.text, language="plaintext")
            yield essay, tuple(_edit(lint, essay, self.name) for lint in lints)


def _edit(lint: Any, essay: Essay, rater: str) -> Edit:
    span = Span(lint.span.start, lint.span.end)
    texts = tuple(dict.fromkeys(_replacement(each, span.of(essay.text)) for each in lint.suggestions))
    return Edit(span, texts, lint.lint_kind, rater, lint.message)


def _replacement(suggestion: Any, words: str) -> str:
    if suggestion.kind == REMOVE:
        return ""
    text = str(suggestion.replacement_text)
    return words + text if suggestion.kind == INSERT_AFTER else text


def _linter() -> Any:
    try:
        import harper
    except ImportError as error:
        raise MissingExtra("the system 'harper' needs the package harper-py: pip install harper-py") from error
    return harper.Linter()
