from collections.abc import Sequence
from math import isnan
from typing import Any

import pytest

from grater.corpora.statistics import Estimates, by_frequency, corpus_statistics
from grater.model import Essay
from tests.corpora.statistics.essays import edit, m2_block, two_sentences


def estimates_of(*essays: Essay) -> Estimates:
    return corpus_statistics({"x": essays}, resamples=200).whole.summary.estimates


def test_second_annotator_does_not_raise_the_density() -> None:
    # 12 tokens: one edit read once is 1/12; two readings with an edit each are 2/24.
    once = estimates_of(two_sentences(edit(11, 15, "likes")))
    twice = estimates_of(two_sentences(edit(11, 15, "likes"), edit(11, 15, "likes", rater="B")))
    assert once.density.value == twice.density.value == pytest.approx(100 / 12)


def test_sentences_that_nobody_read_are_in_no_share() -> None:
    read = two_sentences(edit(11, 15, "likes"))
    unread = two_sentences(essay_id="two", annotators=())
    estimates = estimates_of(read, unread)
    assert estimates.sentences["1"].value == 0.5
    assert estimates.density.value == pytest.approx(100 / 12)


def test_text_without_annotators_has_no_density_and_says_why() -> None:
    density = estimates_of(two_sentences(annotators=())).density
    assert isnan(density.value)
    assert density.undefined_because == "no annotator read any text here"


def test_corpus_without_edits_has_a_density_of_zero_with_room_above() -> None:
    density = estimates_of(two_sentences(), two_sentences(essay_id="two")).density
    # Wilson with 24 tokens: 100 z² / (24 + z²)
    assert (density.value, density.low) == (0, 0)
    assert density.high == pytest.approx(13.798, abs=1e-3)


def test_share_of_one_keeps_room_below() -> None:
    essays = [two_sentences(edit(11, 15, "likes"), essay_id=str(number)) for number in range(10)]
    inside = estimates_of(*essays).inside
    assert (inside.value, inside.high) == (1, 1)
    assert 0 < inside.low < 1


def test_up_to_five_tags_are_the_top_five_for_certain() -> None:
    top5 = estimates_of(two_sentences(edit(11, 15, "likes")), two_sentences(essay_id="two")).top5
    assert (top5.value, top5.low, top5.high) == (1, 1, 1)


def test_single_document_has_no_limits() -> None:
    density = estimates_of(two_sentences(edit(11, 15, "likes"))).density
    assert not isnan(density.value)
    assert isnan(density.low)


def test_share_of_zero_or_one_in_a_single_document_has_no_limits_either() -> None:
    estimates = estimates_of(two_sentences(edit(11, 15, "likes")))
    assert (estimates.inside.value, estimates.sentences["2"].value) == (1, 0)
    assert isnan(estimates.inside.low)
    assert isnan(estimates.sentences["2"].high)


def test_m2_without_documents_resamples_sentences_and_says_so() -> None:
    blocks = [m2_block(f"Number {number} is well .") for number in range(9)]
    summary = corpus_statistics({"x": blocks}, resamples=10).whole.summary
    assert summary.unit == "sentence"
    essays = corpus_statistics({"x": [two_sentences()]}, resamples=10)
    assert essays.whole.summary.unit == "document"
    assert "unit:document" in str(essays.signature)


def test_same_text_by_two_annotators_is_drawn_together() -> None:
    blocks = [m2_block(f"Number {number} is wel .", edit(0, 6, "No.", rater="0")) for number in range(30)]
    one = corpus_statistics({"a": blocks}, resamples=10).whole.summary
    two = corpus_statistics({"a": blocks, "b": blocks}, resamples=10).whole.summary
    assert two.n_blocks == one.n_blocks
    assert two.estimates.sentences == one.estimates.sentences


def test_tags_of_the_same_frequency_stand_in_the_order_of_the_alphabet() -> None:
    assert by_frequency({"Vt": 1, "Nn": 2, "ArtOrDet": 1}) == ["Nn", "ArtOrDet", "Vt"]


def test_essays_that_draw_many_edits_are_told_from_chance() -> None:
    """NUCLE, section 4: "rich get richer"."""
    even = stats_of([5, 4, 6, 5, 4, 6, 5, 5])
    rich = stats_of([0, 0, 1, 0, 20, 0, 1, 18])
    assert even["dispersion"]["index"] < 1
    assert even["dispersion"]["p"] > 0.9
    assert rich["dispersion"]["index"] > 5
    assert rich["dispersion"]["p"] < 0.001
    assert rich["dispersion"]["units"] == 8


def test_annotators_who_find_the_same_edits_do_not_make_chance_look_uneven() -> None:
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
    return corpus_statistics({"x": essays}, resamples=20).whole.summary.to_dict()
