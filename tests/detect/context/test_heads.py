"""The columns of the network's answers."""

from __future__ import annotations

from grater.corpora.text.verbs import verb_forms
from grater.detect.context.heads import HEADS, WIDTH, surfaces


def test_heads_lie_side_by_side() -> None:
    assert [(head.name, head.start, head.end) for head in HEADS] == [
        ("prep", 0, 35),
        ("prep-gap", 35, 70),
        ("article", 70, 73),
        ("article-gap", 73, 76),
        ("number", 76, 78),
        ("verb", 78, 86),
    ]
    assert WIDTH == 86


def test_surfaces_are_in_the_order_of_the_forms() -> None:
    assert surfaces(verb_forms("go")) == ("go", "to go", "go", "goes", "went", "went", "gone", "going")
    assert surfaces(verb_forms("be")) == ("be", "to be", "are", "is", "was", "were", "been", "being")
