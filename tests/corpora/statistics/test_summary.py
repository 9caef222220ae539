from collections.abc import Sequence
from dataclasses import replace
from math import exp, isnan, sqrt
from typing import Any

import pytest

from grater.corpora.statistics import Estimates, corpus_statistics
from grater.model import Essay
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


def test_up_to_five_tags_are_the_top_five_for_certain() -> None:
    top5 = estimates_of(two_sentences(edit(11, 15, "likes")), two_sentences(essay_id="two")).top5
    assert (top5.value, top5.low, top5.high) == (1, 1, 1)


@pytest.mark.parametrize(("n", "documents"), [(1, "1 document"), (2, "2 documents")])
def test_fewer_than_three_documents_have_no_limits_and_say_why(n: int, documents: str) -> None:
    essays = [two_sentences(*[edit(11, 15, "likes")] * number, essay_id=str(number)) for number in range(1, n + 1)]
    statistics = corpus_statistics({"x": essays})
    density = statistics.whole.summary.estimates.density
    assert not isnan(density.value)
    assert isnan(density.low)
    assert density.undefined_because == f"its cases come from {documents}; an interval needs 3"
    assert any(density.undefined_because in note for note in statistics.sheets()[-1].notes)


def test_m2_without_documents_takes_sentences_as_independent_and_says_so() -> None:
    blocks = [m2_block(f"Number {number} is well .") for number in range(9)]
    scope = corpus_statistics({"x": blocks}).scope
    assert (scope.unit, scope.n_units) == ("sentence", 9)
    assert "sentences taken as independent: their documents are not known" in scope.sentence
    essays = corpus_statistics({"x": [two_sentences()]})
    assert essays.scope.unit == "document"
    assert "units:document" in str(essays.signature)


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
