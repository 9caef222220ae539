"""Tags, and chunks of our own sentences, well-formed and not, whose tags are given by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.analysis import LETTERS, analyse, analyse_all, analyse_words, chunks
from grater.corpora.text.tags import load_tagger
from grater.model import Essay, Span
from tests.corpora.text.learner_text import learner_text
from tests.examples import examples


@examples(100)
@given(st.text() | learner_text)
def test_offsets_are_exact_and_every_character_is_in_a_word(text: str) -> None:
    end = 0
    for sentence in analyse(text):
        assert len(sentence.spans) == len(sentence.words) == len(sentence.tags) > 0
        for span, word in zip(sentence.spans, sentence.words, strict=True):
            assert end <= span.start < span.end <= len(text)
            assert span.of(text) == word
            end = span.end
        for chunk in sentence.chunks:
            assert 0 <= chunk.start <= chunk.head < chunk.end <= len(sentence.words)
    words = [span.of(text) for sentence in analyse(text) for span in sentence.spans]
    assert "".join(words) == "".join(text.split())


@pytest.mark.parametrize("text", ["word " * 200_000, "x" * 1_000_000, "a.B" * 20_000, "Hi there. " * 20_000])
def test_a_long_text_is_no_trouble(text: str) -> None:
    sentences = analyse(text)
    assert sentences[-1].spans[-1].end == len(text.rstrip())


def test_an_essay_with_tokens_is_one_sentence_of_just_these_and_many_are_as_each_alone() -> None:
    essay = Essay("e", "We go . Then home", tokens=(Span(0, 2), Span(3, 5), Span(6, 7), Span(8, 17)))
    (sentence,) = analyse(essay)
    assert sentence.words == ("We", "go", ".", "Then home")
    assert sentence.spans == essay.tokens
    assert analyse(Essay("e", "words", tokens=())) == ()
    essays: list[Essay | str] = [
        "I like tea. You dont.",
        "",
        Essay("e", "She go home", tokens=(Span(0, 3), Span(4, 6), Span(7, 11))),
    ]
    assert analyse_all(essays) == [analyse(essay) for essay in essays]
    sentence = analyse_words(["She", "do", "n't", "go"])
    assert [span.of("She do n't go") for span in sentence.spans] == ["She", "do", "n't", "go"]
    assert sentence == analyse_words(("She", "do", "n't", "go"))
    assert analyse_words([]).words == ()


def test_learners_text_is_cut_tagged_and_chunked() -> None:
    first, second = analyse("My brother go to a bank.He have two car")
    assert first.words[-1] == "."
    assert second.words == ("He", "have", "two", "car")
    assert second.tags[0] == "PRP"
    assert [second.words[chunk.head] for chunk in second.chunks] == ["He", "have", "car"]
    assert [first.words[chunk.head] for chunk in first.chunks] == ["brother", "go", "bank"]


def shown(tagged: str) -> list[str]:
    """`NP the big dog` for each chunk of `the/DT big/JJ dog/NN`, the head last."""
    pairs = [each.rsplit("/", 1) for each in tagged.split()]
    words, tags = [word for word, _ in pairs], [tag for _, tag in pairs]
    found = chunks(words, tags)
    assert all(chunk.head == chunk.end - 1 for chunk in found)
    return [" ".join([chunk.kind, *words[chunk.start : chunk.end]]) for chunk in found]


@pytest.mark.parametrize(
    ("tagged", "expected"),
    [
        # chunks end at their head
        ("the/DT very/RB big/JJ dog/NN barks/VBZ", ["NP the very big dog", "VP barks"]),
        ("she/PRP has/VBZ not/RB really/RB been/VBN seen/VBN", ["NP she", "VP has not really been seen"]),
        ("he/PRP wants/VBZ to/TO go/VB", ["NP he", "VP wants", "VP to go"]),
        ("the/DT boy/NN 's/POS dog/NN", ["NP the boy", "NP 's dog"]),
        ("the/DT poor/JJ need/VBP this/DT", ["NP the poor", "VP need", "NP this"]),
        ("all/PDT the/DT two/CD hundred/CD houses/NNS", ["NP all the two hundred houses"]),
        ("a/DT big/JJ and/CC heavy/JJ box/NN", ["NP a big and heavy box"]),
        ("the/DT growing/VBG demand/NN", ["NP the growing demand"]),
        ("costs/NNS are/VBP growing/VBG", ["NP costs", "VP are growing"]),
        ("$/$ 5/CD million/CD were/VBD lost/VBN", ["NP $ 5 million", "VP were lost"]),
        ("two/CD came/VBD", ["NP two", "VP came"]),
        ("we/PRP left/VBD school/NN yesterday/NN", ["NP we", "VP left", "NP school", "NP yesterday"]),
        ("a/DT well/RB -/HYPH known/VBN plan/NN", ["NP a", "VP known", "NP plan"]),
        # learners errors do not break chunks
        ("I/PRP buyed/VBD new/JJ car/NN", ["NP I", "VP buyed", "NP new car"]),
        ("many/JJ informations/NNS is/VBZ needed/VBN", ["NP many informations", "VP is needed"]),
        ("he/PRP have/VBP went/VBD home/RB", ["NP he", "VP have went"]),
        ("the/DT the/DT car/NN", ["NP the", "NP the car"]),
        ("i/PRP dont/VBP know/VB he/PRP is/VBZ right/JJ", ["NP i", "VP dont know", "NP he", "VP is"]),
        ("student/NN must/MD to/TO study/VB", ["NP student", "VP must", "VP to study"]),
        ("it/PRP rained/VBD we/PRP stayed/VBD", ["NP it", "VP rained", "NP we", "VP stayed"]),
    ],
)
def test_chunks_end_at_their_head_also_in_learners_text(tagged: str, expected: list[str]) -> None:
    assert shown(tagged) == expected


@given(st.lists(st.sampled_from([*LETTERS, ".", "IN", "UH", "XX"]), max_size=60))
def test_chunks_are_in_order_and_disjoint_and_hold_every_noun_pronoun_and_verb(tags: list[str]) -> None:
    words = ["is" if index % 3 else "walk" for index in range(len(tags))]
    end, inside = 0, set[int]()
    for chunk in chunks(words, tags):
        assert end <= chunk.start <= chunk.head < chunk.end <= len(tags)
        assert chunk.kind in ("NP", "VP")
        end = chunk.end
        inside.update(range(chunk.start, chunk.end))
    assert {index for index, tag in enumerate(tags) if LETTERS.get(tag, ".") in "nhvmga"} <= inside


def test_a_thousand_adjectives_take_no_longer_than_they_should() -> None:
    assert chunks(["big"] * 100_000, ["JJ"] * 100_000) == ()  # quadratic matching would take minutes


SOME = "The the a dog dogs barked happily , . 😀 recieve 2009 U.S. i dont x-ray"
WORDS = st.sampled_from(SOME.split()) | st.text(max_size=8)
SENTENCES = st.lists(st.lists(WORDS, max_size=12), max_size=8)


@pytest.mark.parametrize(
    ("sentence", "tags"),
    [
        ("She has gone to the station .", "PRP VBZ VBN IN DT NN ."),
        ("They want to visit their friends .", "PRP VBP TO VB PRP$ NNS ."),
        ("i go to school by bus", "PRP VBP IN NN IN NN"),
        ("He gived me a beautifull present 😀", "PRP VBD PRP DT JJ NN NFP"),
        ("Children does n't likes homeworks .", "NNS VBZ RB VB NNS ."),
    ],
)
def test_the_shipped_tagger_knows_plain_and_learners_sentences(sentence: str, tags: str) -> None:
    words = sentence.split()
    found = load_tagger().tag(words)
    wrong = [(word, tag) for word, tag, right in zip(words, found, tags.split(), strict=True) if tag != right]
    assert len(wrong) <= 1  # a tagger errs; not in two words of so plain a sentence


@examples(60)
@given(SENTENCES)
def test_any_words_get_one_tag_each_and_the_same_in_any_batch(sentences: list[list[str]]) -> None:
    tagger = load_tagger()
    together = tagger.tag_all(sentences)
    assert [len(tags) for tags in together] == [len(words) for words in sentences]
    assert together == [tagger.tag(words) for words in sentences]
    assert together[::-1] == tagger.tag_all(sentences[::-1])
