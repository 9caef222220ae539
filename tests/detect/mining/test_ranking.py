from __future__ import annotations

from math import log

import pytest

from grater.detect.mining.ranking import Trigram, Use, rank, uses_of, wanted_ngrams
from grater.model import Essay, Span


def use(trigram: Trigram, essay_id: str = "e") -> Use:
    context = " ".join(trigram)
    start = len(trigram[0]) + 1
    return Use(trigram, essay_id, "", Span(start, start + len(trigram[1])), context, start)


COUNTS = {
    ("marry", "her"): 100,
    ("marry", "with", "her"): 0,
    ("lived", "her"): 1,
    ("lived", "with", "her"): 50,
    ("enter", "rooms"): 200,
    ("enter", "with", "rooms"): 4,
}


def test_the_expected_count_is_the_bigram_times_the_rate_of_the_preposition() -> None:
    uses = [use(("marry", "with", "her")), use(("lived", "with", "her")), use(("enter", "with", "rooms"))]
    first, second = rank(uses, COUNTS, ratio=0.2)
    rate = 54 / 301  # 0 + 50 + 4 trigrams to 100 + 1 + 200 bigrams
    assert first.trigram == ("marry", "with", "her")
    assert first.expected == pytest.approx(100 * rate)
    assert first.score == pytest.approx(log((100 * rate + 0.5) / 0.5))
    assert (second.trigram, second.n_trigram) == (("enter", "with", "rooms"), 4)


def test_trigrams_that_are_as_frequent_as_expected_are_no_suspects() -> None:
    uses = [use(("lived", "with", "her")), use(("marry", "with", "her"))]
    assert [suspect.trigram for suspect in rank(uses, COUNTS)] == [("marry", "with", "her")]


def test_a_trigram_whose_bigram_is_unattested_says_nothing() -> None:
    assert rank([use(("blue", "with", "her"))], COUNTS) == []
    assert rank([use(("marry", "with", "her"))], COUNTS, least_bigram=101) == []


def test_all_uses_of_a_trigram_make_one_suspect() -> None:
    uses = [use(("marry", "with", "her"), name) for name in ("one", "two")]
    (suspect,) = rank(uses, COUNTS)
    assert [each.essay_id for each in suspect.uses] == ["one", "two"]


def test_the_order_of_essays_does_not_change_the_ranking() -> None:
    uses = [use(("marry", "with", "her")), use(("enter", "with", "rooms")), use(("lived", "with", "her"))]
    forward, backward = rank(uses, COUNTS), rank(uses[::-1], COUNTS)
    assert [suspect.trigram for suspect in forward] == [suspect.trigram for suspect in backward]


def test_counts_are_wanted_of_trigrams_and_of_what_is_left_without_the_preposition() -> None:
    assert wanted_ngrams([use(("marry", "with", "her"))]) == {("marry", "with", "her"), ("marry", "her")}


def test_uses_stand_between_two_words_and_know_their_place() -> None:
    text = "On Monday we talked. They discussed about the new plan in (our) office."
    found = list(uses_of([Essay("essay", text)]))
    assert [each.trigram for each in found] == [("discussed", "about", "the")]
    (about,) = found
    assert about.span.of(text) == about.target == "about"
    assert about.context == "They discussed about the new plan in (our) office."
    assert about.item.kind == "prep"
