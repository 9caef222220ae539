"""What the classifier sees of a noun phrase: words on both sides, earlier mentions, never its own article."""

from __future__ import annotations

import pytest

from grater.corpora.text.analysis import analyse
from grater.detect.articles.features import (
    CLASSES,
    CLOSED_SINGULAR,
    FIELDS,
    WORDS,
    Memory,
    Mention,
    PlacedPhrase,
    placed_phrases,
)
from grater.detect.articles.phrases import noun_phrases


def fields_of(text: str) -> dict[str, object]:
    """The fields of the last open phrase; words as words."""
    placed: PlacedPhrase = list(placed_phrases(analyse(text), Memory()))[-1]
    return {
        **dict(zip(WORDS, placed.words, strict=True)),
        **dict(zip(FIELDS[len(WORDS) : CLASSES[0]], placed.rest, strict=True)),
    }


def test_words_are_taken_from_both_sides_of_the_phrase() -> None:
    found = fields_of("Yesterday she slowly opened the heavy old door of hers.")
    assert [found[name] for name in ("head", "l1", "l2", "l3", "m1", "m2")] == [
        *("door", "opened", "slowly", "she", "heavy", "old"),
    ]
    assert [found[name] for name in ("r1", "r2", "verb")] == ["of", "hers", "opened"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("She opened the door quickly.", "She opened door quickly."),
        ("She opened a heavy door.", "She opened heavy doors."),
        ("They read the long letter to me.", "They read long letters to me."),
    ],
)
def test_a_row_does_not_depend_on_its_own_article_and_number(one: str, other: str) -> None:
    assert fields_of(one) == fields_of(other)


def remembered(text: str) -> list[tuple[str, Mention]]:
    """Each open noun with what the text said of it before."""
    memory, found = Memory(), []
    for sentence in analyse(text):
        for phrase in noun_phrases(sentence):
            if phrase.is_open:
                found.append((phrase.noun, memory.recall(phrase)))
            memory.add(phrase)
        memory.sentence += 1
    return found


def test_a_second_mention_knows_the_first() -> None:
    found = dict(remembered("She met a dog. It rained. The dog barked."))
    # two sentences ago is the third class of distance; a-singular is the fourth construction
    assert found["dog"] == Mention(distance=3, form=4, count=1, phrase=4)


def test_mentions_with_other_determiners_count_but_have_a_form_of_their_own() -> None:
    assert dict(remembered("My dog ran. The dog barked."))["dog"].form == CLOSED_SINGULAR


def test_the_same_phrase_is_distinguished_from_the_same_noun() -> None:
    # the old dog was a-singular (4), the last dog was the-plural (5)
    found = remembered("She met an old dog. We saw the dogs. An old dog barked.")[-1][1]
    assert (found.form, found.phrase) == (5, 4)
