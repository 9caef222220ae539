from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from grater.detect.prepositions.corruption import RATES, corrupted, frequencies
from grater.detect.prepositions.engine import COLUMN_OF, NONE
from grater.text.analysis import analyse
from grater.text.prepositions import canonical
from tests.detect.prepositions.native_text import native_lines

EVEN = np.full(NONE, 1 / NONE)


def test_errors_come_at_their_rates() -> None:
    sentences = [sentence for line in native_lines(1500) for sentence in analyse(line)]
    found = list(corrupted(sentences, EVEN, np.random.default_rng(2)))
    n_prep = sum(not each.candidate.is_gap for each in found)
    counts = Counter(each.error for each in found)
    assert counts["choice"] / n_prep == pytest.approx(RATES["choice"], rel=0.2)
    assert counts["extraneous"] > 0
    assert counts["missing"] > 0


def test_a_wrong_choice_is_another_preposition_and_a_missing_one_a_gap() -> None:
    sentences = [sentence for line in native_lines() for sentence in analyse(line)]
    for each in corrupted(sentences, EVEN, np.random.default_rng(2)):
        word = each.candidate.sentence.words[each.candidate.index]
        if each.error in ("choice", "extraneous"):
            assert canonical(word)
            assert not each.candidate.is_gap
        elif each.error == "missing":
            assert each.candidate.is_gap


def test_frequent_prepositions_are_drawn_more_often_but_not_in_proportion() -> None:
    shares = frequencies([COLUMN_OF["of"]] * 899 + [COLUMN_OF["at"]] * 99 + [NONE] * 50)
    assert shares.sum() == pytest.approx(1)
    # square roots of 900, 100 and, for what was not seen, 1
    assert shares[COLUMN_OF["of"]] / shares[COLUMN_OF["at"]] == pytest.approx(3)
    assert shares[COLUMN_OF["at"]] / shares[COLUMN_OF["upon"]] == pytest.approx(10)
