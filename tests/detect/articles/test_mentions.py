from __future__ import annotations

from grater.detect.articles.mentions import CLOSED_SINGULAR, MEMORY, NEVER, Memory, Mention
from grater.detect.articles.phrases import NounPhrase, noun_phrases
from grater.text.analysis import analyse


def remembered(text: str) -> list[tuple[str, Mention]]:
    """Each open noun with what the text said of it before."""
    memory, found = Memory(), []
    for sentence in analyse(text):
        for phrase in noun_phrases(sentence):
            if phrase.is_open:
                found.append((phrase.noun, memory.recall(phrase)))
            memory.add(phrase)
        memory.end_sentence()
    return found


def test_a_second_mention_knows_the_first() -> None:
    found = dict(remembered("She met a dog. It rained. The dog barked."))
    # two sentences ago is the third class of distance; a-singular is the fourth construction
    assert found["dog"] == Mention(distance=3, form=4, count=1, phrase=4)


def test_a_first_mention_knows_nothing() -> None:
    assert dict(remembered("She met a dog."))["dog"] == NEVER


def test_mentions_with_other_determiners_count_but_have_a_form_of_their_own() -> None:
    assert dict(remembered("My dog ran. The dog barked."))["dog"].form == CLOSED_SINGULAR


def test_the_same_phrase_is_told_from_the_same_noun() -> None:
    # the old dog was a-singular (4), the last dog was the-plural (5)
    found = remembered("She met an old dog. We saw the dogs. An old dog barked.")[-1][1]
    assert (found.form, found.phrase) == (5, 4)


def test_old_mentions_are_forgotten() -> None:
    text = "She met a dog. " + "It rained. " * MEMORY + "The dog barked."
    assert dict(remembered(text))["dog"] == NEVER


def test_a_phrase_does_not_see_itself() -> None:
    [phrase] = [each for each in noun_phrases(analyse("The dog barked.")[0]) if each.is_open]
    assert isinstance(phrase, NounPhrase)
    assert Memory().recall(phrase) == NEVER
