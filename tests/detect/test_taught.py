"""What learners are told where a detector's own suggestion is one that no teacher would make."""

from __future__ import annotations

import pytest

from grater.detect.detector import Finding
from grater.detect.taught import taught
from grater.model import Decision, Item, Span


def finding(text: str, target: str, suggestion: str, *others: str, kind: str = "spelling") -> Finding:
    start = text.index(target)
    item = Item("e1", Span(start, start + len(target)), kind)
    decision = Decision(item_id=item.item_id, system="any", flagged=True, suggestion=suggestion)
    return Finding(item=item, decision=decision, target=target, probabilities=(), alternatives=others)


@pytest.mark.parametrize(
    ("text", "target", "suggestion", "words", "better"),
    [
        ("I am agree with you.", "agree", "agreeing", "am agree", "agree"),
        ("I’m agree with you.", "agree", "agreeing", "I’m agree", "I agree"),
        ("He's agree.", "agree", "agreeing", "He's agree", "He agrees"),
        ("I am totally agree.", "agree", "agreeing", "am totally agree", "totally agree"),
        ("It is depend on you.", "depend", "depending", "is depend", "depends"),
        ("He was know it.", "know", "knowing", "was know", "knew"),
        ("She is not agree.", "agree", "agreeing", "is not agree", "does not agree"),
        ("I am agree with it.", "agree", "agreed", "am agree", "agree"),
        ("I am work in a bank.", "work", "working", "work", "working"),
        ("I agree with agree.", "agree", "agreeing", "agree", "agreeing"),
    ],
)
def test_a_verb_without_a_progressive_loses_its_be(
    text: str, target: str, suggestion: str, words: str, better: str
) -> None:
    mended = taught(finding(text, target, suggestion, kind="verb-form"), text)
    assert mended.target == mended.item.span.of(text) == words
    assert mended.decision.suggestion == better
    assert mended.decision.item_id == mended.item.item_id


@pytest.mark.parametrize(
    ("word", "offered", "better"),
    [
        ("him's", ("ham's", "hem's"), ("his",)),
        ("Your's", ("Yours", "Four's"), ("Yours", "Your")),
        ("theirselves", ("theirs elves",), ("themselves",)),
        ("childrens", ("children's", "children"), ("children",)),
        ("feets", ("fee's", "feats"), ("feet",)),
        ("homeworks", ("homework's",), ("homework",)),
        ("lifes", ("life's", "lies"), ("lives",)),
        ("knowed", ("kn owed",), ("knew", "known")),
        ("dont", ("don't", "dent", "don"), ("don't",)),
        ("wich", ("wish", "which"), ("wish", "which")),
        ("ones", ("one's",), ("one's",)),
    ],
)
def test_a_form_made_by_rule_becomes_the_form_that_english_has(
    word: str, offered: tuple[str, ...], better: tuple[str, ...]
) -> None:
    text = f"We saw {word} there."
    mended = taught(finding(text, word, *offered), text)
    assert (mended.decision.suggestion, *mended.alternatives) == better
