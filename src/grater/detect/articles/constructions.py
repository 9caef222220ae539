"""The five article-number constructions of a noun (Lee, Tetreault & Chodorow 2009, Table 1).

They are numbered in the order of the table, which is that of their frequency in the paper's corpus.  *a* with a
plural is no construction: where a writer has it, nothing of the five was written.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

Article: TypeAlias = Literal["null", "a", "the"]
Number: TypeAlias = Literal["singular", "plural"]

CONSTRUCTIONS = ("null-singular", "the-singular", "null-plural", "a-singular", "the-plural")
NONE_OF_THEM = len(CONSTRUCTIONS)
"""The number of *a* with a plural."""

ARTICLE_OF: tuple[Article, ...] = ("null", "the", "null", "a", "the")
NUMBER_OF: tuple[Number, ...] = ("singular", "singular", "plural", "singular", "plural")
PLACE_OF = {
    (article, number): place for place, (article, number) in enumerate(zip(ARTICLE_OF, NUMBER_OF, strict=True))
}

CONFUSABLE = frozenset(
    frozenset(map(CONSTRUCTIONS.index, pair))
    for pair in (
        ("null-plural", "the-plural"),
        ("a-singular", "the-singular"),
        ("a-singular", "null-plural"),
        ("the-singular", "the-plural"),
    )
)
"""The pairs that raters call right together most often (section 4)."""


def construction(article: Article, number: Number) -> int:
    """The number of a construction; `NONE_OF_THEM` for *a* with a plural."""
    return PLACE_OF.get((article, number), NONE_OF_THEM)


def is_confusable(one: int, other: int) -> bool:
    """Whether raters often find both right where they find one right."""
    return frozenset((one, other)) in CONFUSABLE
