from __future__ import annotations

import numpy as np
import pytest

from grater.detect.mining.mined import Mined, balanced_from, mine
from grater.detect.mining.uses import by_trigram, uses_of
from grater.errors import UsageError
from grater.model import Essay

TEXT = "I entered into the room. We lived with her aunt. He looked at the sky. They walked into the garden."
COUNTS = {("entered", "the"): 900.0, ("lived", "with", "her"): 80.0, ("looked", "at", "the"): 70.0}


def mined() -> Mined:
    uses = list(uses_of([Essay("e", TEXT)]))
    return mine(uses, lambda wanted: {ngram: COUNTS.get(ngram, 0.0) for ngram in wanted})


def trigrams(verdicts: dict[str, str]) -> dict[str, str]:
    made = balanced_from(mined(), verdicts, rng=np.random.default_rng(0), n_gold=0)
    return dict(made.items.select("trigram", "label").iter_rows())


def test_uses_are_found_by_their_words() -> None:
    found = by_trigram(mined().uses)
    assert [use.context for use in found["looked at the"]] == ["He looked at the sky."]


def test_accepted_trigrams_are_errors_and_correct_ones_are_attested_and_no_suspects() -> None:
    assert trigrams({"entered into the": "y"}) in (
        {"entered into the": "error", "lived with her": "ok"},
        {"entered into the": "error", "looked at the": "ok"},
    )


def test_what_stands_on_the_list_is_never_taken_for_correct() -> None:
    # by these counts "lived with her" is beyond suspicion, but somebody's list has it
    listed = {"entered into the": "y", "lived with her": "n"}
    assert trigrams(listed) == {"entered into the": "error", "looked at the": "ok"}


def test_an_accepted_trigram_need_not_be_a_suspect_by_these_counts() -> None:
    found = trigrams({"walked into the": "y", "looked at the": ""})
    assert found == {"walked into the": "error", "lived with her": "ok"}


def test_an_accepted_trigram_of_other_essays_is_refused() -> None:
    with pytest.raises(UsageError, match="'climbed up the' is accepted but not in these essays"):
        trigrams({"climbed up the": "y"})


def test_a_corpus_that_falls_short_says_so() -> None:
    verdicts = dict.fromkeys(("entered into the", "walked into the", "looked at the"), "y")
    made = balanced_from(mined(), verdicts, rng=np.random.default_rng(0), n_each=4, n_gold=0)
    assert made.shortfalls == [
        "wanted 4 errors, found 3: accept more trigrams",
        "wanted 3 correct uses, found 1: bring more essays",
    ]


@pytest.mark.parametrize("odd", [{"ratio": float("nan")}, {"least_bigram": float("nan")}, {"ratio": -1.0}])
def test_limits_that_compare_with_nothing_are_refused(odd: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="expected a least count and a ratio of 0 or more"):
        mine([], lambda _: {}, **odd)
