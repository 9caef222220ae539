"""Counts, and numbers with their intervals, of small essays."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, isnan, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.counts import Counting, Histogram, block_of, count_essay, sentence_index
from grater.corpora.statistics import Estimates, corpus_statistics
from grater.model import Essay, Span
from grater.uncertainty import t_value
from tests.corpora.statistics.essays import edit, m2_block, two_sentences


def estimates_of(*essays: Essay) -> Estimates:
    return corpus_statistics({"x": essays}).whole.summary.estimates


def test_densities_and_shares_are_per_reading() -> None:
    # 12 tokens: one edit read once is 1/12; two readings with an edit each are 2/24.
    once = estimates_of(two_sentences(edit(11, 15, "likes")))
    twice = estimates_of(two_sentences(edit(11, 15, "likes"), edit(11, 15, "likes", rater="B")))
    assert once.density.value == twice.density.value == pytest.approx(100 / 12)
    read = two_sentences(edit(11, 15, "likes"))
    unread = two_sentences(essay_id="two", annotators=())
    estimates = estimates_of(read, unread)
    assert estimates.sentences["1"].value == 0.5
    assert estimates.density.value == pytest.approx(100 / 12)
    density = estimates_of(two_sentences(annotators=())).density
    assert isnan(density.value)
    assert density.undefined_because == "no annotator read any text here"


def test_the_interval_of_a_density_is_that_of_the_hand() -> None:
    # 0, 1 and 2 edits in 12 tokens each; leaving one out gives rates of 3/24, 2/24 and 1/24.
    marks = [edit(11, 15, "likes"), edit(0, 4, "He")]
    essays = [two_sentences(*marks[:number], essay_id=str(number)) for number in range(3)]
    density = estimates_of(*essays).density
    error = sqrt((100 / 24) ** 2 * 2 * 4 / 6)
    factor = exp(t_value(2) * error / (100 / 12))
    assert (density.low, density.high) == pytest.approx((100 / 12 / factor, 100 / 12 * factor))
    # up to five tags are the top five for certain
    top5 = estimates_of(two_sentences(edit(11, 15, "likes")), two_sentences(essay_id="two")).top5
    assert (top5.value, top5.low, top5.high) == (1, 1, 1)


def test_few_documents_have_no_limits_and_unknown_ones_make_sentences_independent_and_both_say_so() -> None:
    for n, documents in ((1, "1 document"), (2, "2 documents")):
        essays = [two_sentences(*[edit(11, 15, "likes")] * at, essay_id=str(at)) for at in range(1, n + 1)]
        statistics = corpus_statistics({"x": essays})
        density = statistics.whole.summary.estimates.density
        assert (isnan(density.value), isnan(density.low)) == (False, True)
        assert density.undefined_because == f"its cases come from {documents}; an interval needs 3"
        assert any(density.undefined_because in note for note in statistics.sheets()[-1].notes)
    blocks = [m2_block(f"Number {number} is well .") for number in range(9)]
    scope = corpus_statistics({"x": blocks}).scope
    assert (scope.unit, scope.n_units) == ("sentence", 9)
    assert "sentences taken as independent: their documents are not known" in scope.sentence
    of_essays = corpus_statistics({"x": [two_sentences()]})
    assert of_essays.scope.unit == "document"
    assert "units:document" in str(of_essays.signature)


def test_adjudicated_work_is_no_annotator() -> None:
    marked = [two_sentences(edit(11, 15, "likes"), essay_id=str(number)) for number in range(3)]
    judged = [
        replace(essay, edits=(*essay.edits, edit(0, 4, "He", rater="gold")), annotators=(*essay.annotators, "gold"))
        for essay in marked
    ]
    alone, beside = corpus_statistics({"x": marked}), corpus_statistics({"x": judged})
    assert beside.whole.summary.estimates == alone.whole.summary.estimates
    assert list(beside.whole.by_annotator) == list(alone.whole.by_annotator)
    assert any("gold holds adjudicated decisions" in note for note in beside.sheets()[-1].notes)
    only = [replace(essay, edits=essay.edits[1:], annotators=("gold",)) for essay in judged]
    assert corpus_statistics({"x": only}).whole.summary.counts.edits == 3, "nobody else marked anything"


def test_the_same_text_by_two_annotators_is_no_new_text() -> None:
    words = [f"Number {number} is wel ." for number in range(30)]
    blocks = [m2_block(text, *[edit(0, 6, "No.", rater="0")] * (len(text) % 2)) for text in words]
    one = corpus_statistics({"a": blocks}).whole.summary
    two = corpus_statistics({"a": blocks, "b": blocks}).whole.summary
    assert two.n_blocks == one.n_blocks
    assert two.estimates.density == one.estimates.density
    both = [
        replace(each, edits=(*each.edits, *(replace(own, rater="1") for own in each.edits)), annotators=("0", "1"))
        for each in blocks
    ]
    assert corpus_statistics({"a": both}).whole.summary.estimates == one.estimates


def test_essays_that_draw_many_edits_are_distinguished_from_chance() -> None:
    # NUCLE, section 4: "rich get richer".
    even = stats_of([5, 4, 6, 5, 4, 6, 5, 5])
    rich = stats_of([0, 0, 1, 0, 20, 0, 1, 18])
    assert even["dispersion"]["index"] < 1
    assert even["dispersion"]["p"] > 0.9
    assert rich["dispersion"]["index"] > 5
    assert rich["dispersion"]["p"] < 0.001
    assert rich["dispersion"]["units"] == 8
    edits = [5, 4, 8, 2, 7, 3, 5, 6]
    assert stats_of(edits, "AB")["dispersion"] == pytest.approx(stats_of(edits)["dispersion"])


def stats_of(edits: Sequence[int], annotators: str = "A") -> Any:
    """The numbers of essays of thirty words, so many of which are wrong in each, to each annotator."""
    essays = []
    for number, n_wrong in enumerate(edits):
        marks = tuple(
            edit(5 * place, 5 * place + 4, "x", rater=annotator)
            for annotator in annotators
            for place in range(n_wrong)
        )
        essays.append(Essay(f"e{number}", " ".join(["word"] * 30), edits=marks, annotators=tuple(annotators)))
    return corpus_statistics({"x": essays}).whole.summary.to_dict()


def test_a_block_is_that_of_the_document_whoever_marked_it_and_wherever_it_is_read() -> None:
    assert len({block_of(m2_block(f"Number {number} .", document="d7")) for number in range(20)}) == 1
    # zlib.crc32(b"one") % 1024, the same on every machine
    assert block_of(two_sentences()) == block_of(two_sentences(edit(11, 15, "likes", rater="B"))) == 0x7A6C86F1 % 1024


def test_m2_blocks_that_name_their_document_make_one_in_each_file() -> None:
    marked = m2_block("One .", edit(0, 3, "1", rater="0"), document="d1")
    blocks = [marked, m2_block("Two .", document="d2"), m2_block("Three .", document="d1")]
    one = corpus_statistics({"a": blocks}).whole.summary
    assert (one.documents.n, one.documents.by_edits) == (2, {0: 1, 1: 1}), "who found nothing has read it"
    both = corpus_statistics({"a": blocks, "b": [marked]}).whole.summary
    assert (both.documents.n, both.documents.by_edits) == (3, {0: 1, 1: 2})


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40))
def test_measures_are_those_of_the_list_and_nothing_read_has_none_with_a_reason(numbers: list[int]) -> None:
    # 0, 0, 0, 1, 1, 4, 101, 102
    histogram = Histogram({0: 3, 1: 2, 4: 1, 101: 1, 102: 1})
    assert (histogram.n, histogram.mean, histogram.median) == (8, 209 / 8, 1)
    assert (histogram.mode, histogram.highest, histogram.above(100)) == (0, 102, 2)
    shown = Histogram({}).as_json()
    assert (shown["n"], shown["mean"], shown["max"]) == (0, None, None)
    assert shown["reason"]
    histogram = Histogram({number: numbers.count(number) for number in numbers})
    ranked = sorted(numbers)
    assert histogram.median == (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    assert histogram.mean == pytest.approx(sum(numbers) / len(numbers))


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
