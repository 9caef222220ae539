from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.tags import load_tagger
from tests.examples import examples

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
