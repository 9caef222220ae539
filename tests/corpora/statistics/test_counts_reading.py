import pytest

from grater.corpora.counts import Counting, count_essay, sentence_index
from grater.model import Essay, Span
from tests.corpora.statistics.essays import edit, m2_block, two_sentences

APART, MERGED = Counting(), Counting(merge_alternatives=True)


def test_annotators_are_those_listed_and_the_raters_of_edits() -> None:
    counted = count_essay(two_sentences(edit(11, 15, "likes"), annotators=("A", "B")), APART)
    assert (counted.text.sentences, counted.text.tokens, len(counted.words)) == (2, 12, 11)
    assert {name: (reading.sentences_read, reading.edits) for name, reading in counted.by_annotator.items()} == {
        "A": (2, 1),
        "B": (2, 0),
    }
    counted = count_essay(two_sentences(edit(11, 15, "likes", rater="C")), APART)
    assert set(counted.by_annotator) == {"A", "C"}
    counted = count_essay(two_sentences(annotators=()), APART)
    assert counted.text.unread == 2
    assert counted.by_annotator == {}
    counted = count_essay(m2_block("All is well .", edit(0, 0, tag="noop", rater="1")), APART)
    assert {name: reading.edits for name, reading in counted.by_annotator.items()} == {"0": 0, "1": 0}


def test_edits_and_tokens_are_counted_per_sentence() -> None:
    reading = count_essay(two_sentences(edit(16, 28, "football; he")), APART).by_annotator["A"]
    assert (reading.edits, reading.edits_inside, reading.by_sentence) == (1, 0, {0: 2})
    counted = count_essay(Essay("e", "", (edit(0, 0, "x"),), ("A",)), APART)
    reading = counted.by_annotator["A"]
    assert (reading.edits, reading.edits_inside, reading.by_sentence) == (1, 0, {})
    counted = count_essay(m2_block("Stop . Go don't ."), APART)
    assert (counted.text.sentences, counted.text.tokens) == (1, 5)


@pytest.mark.parametrize(
    ("span", "index"),
    [
        (Span(0, 5), 0),
        (Span(16, 26), 0),  # with the space after the full stop
        (Span(26, 26), 1),  # an insertion where the second sentence starts
        (Span(26, 28), 1),
        (Span(25, 27), None),  # into the first letter of the second
        (Span(54, 54), 1),
    ],
)
def test_sentence_reaches_to_the_start_of_the_next(span: Span, index: int | None) -> None:
    assert sentence_index(span, [0, 26]) == index


def test_edits_on_one_span_can_be_merged_under_each_of_their_tags() -> None:
    essay = two_sentences(edit(11, 15, "likes", tag="SVA"), edit(11, 15, "loves", tag="Wci"), edit(37, 40, ""))
    apart, merged = (count_essay(essay, counting).by_annotator["A"] for counting in (APART, MERGED))
    assert (apart.edits, apart.places, apart.places_with_several) == (3, 2, 1)
    assert (merged.edits, merged.places, merged.places_with_several) == (2, 2, 1)
    assert apart.by_sentence == {1: 1, 2: 1}
    assert merged.by_sentence == {1: 2}
    first, second = edit(11, 15, "likes", tag="SVA"), edit(11, 15, "loves", tag="Wci")
    reading = count_essay(two_sentences(first, second, edit(11, 15, "like", tag="SVA")), MERGED).by_annotator["A"]
    assert reading.by_tag == {"SVA": 1, "Wci": 1}
    assert (reading.edits, reading.labels) == (1, 2)


def test_broad_tags_are_split_by_their_words_on_demand() -> None:
    essay = two_sentences(edit(37, 39, "on", tag="Wcip"), edit(16, 24, "soccer", tag="Wcip"))
    assert count_essay(essay, APART).by_annotator["A"].by_tag == {"Wcip": 2}
    halves = count_essay(essay, Counting(split_tags=True)).by_annotator["A"].by_tag
    assert halves == {"Wcip/prep": 1, "Wcip/other": 1}
