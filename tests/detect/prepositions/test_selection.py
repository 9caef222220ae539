from __future__ import annotations

import numpy as np
import pytest

from grater.detect.prepositions.candidates import ANSWERS, COLUMN_OF
from grater.detect.prepositions.selection import TITLE, Tally, result_of, selection_test
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.model import Essay
from tests.detect.prepositions.native_text import native_lines
from tests.detect.prepositions.tiny import tiny_detector


def tally_of_pairs(*pairs: tuple[str, str], texts: int = 3) -> Tally:
    """What stood there and what was chosen, in so many texts in turn."""
    tally = Tally()
    scores = np.full((len(pairs), len(ANSWERS)), -9.0)
    for place, (_, chosen) in enumerate(pairs):
        scores[place, COLUMN_OF[chosen]] = 0
    scores[:, -1] = 5.0  # none at all, which selection sets aside
    written = np.array([COLUMN_OF[stood] for stood, _ in pairs])
    tally.add(scores, written, [str(place % texts) for place in range(len(pairs))])
    return tally


def test_accuracy_and_majority_are_shares_of_all_prepositions_and_f_is_of_each() -> None:
    pairs = [("of", "of"), ("of", "of"), ("of", "in"), ("in", "in"), ("upon", "under"), ("at", "of")]
    found = result_of("any", tally_of_pairs(*pairs))
    assert (found.n, found.commonest) == (6, "of")
    assert (found.accuracy.value, found.majority.value) == pytest.approx((3 / 6, 3 / 6))
    of = found.by_preposition[0]
    assert (of.preposition, of.n) == ("of", 3)
    assert (of.precision.value, of.recall.value, of.f1.value) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert of.f1.low <= of.f1.value <= of.f1.high


def test_selection_is_for_preposition_detectors() -> None:
    with pytest.raises(UsageError, match="expected a detector of prepositions, found article"):
        selection_test(load_system("article"), [])


def test_texts_are_the_units() -> None:
    """Defect 12 of issue 34: a text in which everything is wrong is one case, not fifty."""
    pairs = [("in", "of" if place % 10 == 0 else "in") for place in range(500)]
    clustered = result_of("any", tally_of_pairs(*pairs, texts=10)).accuracy
    spread = result_of("any", tally_of_pairs(*pairs, texts=490)).accuracy
    assert clustered.value == spread.value == 0.9
    assert clustered.high - clustered.low > 4 * (spread.high - spread.low)


def test_a_system_fills_the_blanks_of_text_it_has_learnt_with_a_row_for_every_score() -> None:
    result = selection_test(tiny_detector(), [Essay("e", "\n".join(native_lines(50)))])
    assert result.accuracy.value > 2 * result.majority.value
    frame = result.to_frame()
    accuracy = frame.filter(frame["preposition"].is_null() & (frame["score"] == "accuracy"))
    assert accuracy["value"].to_list() == [result.accuracy.value]
    assert [sheet.title for sheet in result.sheets()] == [TITLE]
