from __future__ import annotations

import numpy as np

from grater.detect.learning.lines import HELD_OUT, fold_of
from grater.detect.prepositions.engine import ANSWERS, NONE
from grater.detect.prepositions.events import batch_of, gathered
from grater.detect.prepositions.training import HeldOutLines, batches_of
from tests.detect.prepositions.native_text import native_lines


def test_every_preposition_is_an_event_and_gaps_come_at_their_rate() -> None:
    lines = ["The boy sat on the wall.", "The girl sang to the king."]
    assert [ANSWERS[label] for label in batch_of(lines, gap_rate=0).labels] == ["on", "to"]
    with_all_gaps = batch_of(lines, gap_rate=1)
    assert (with_all_gaps.labels == NONE).sum() == 12  # a gap before every word, none before the full stops


def test_batches_gathered_are_the_same_for_one_process_and_several() -> None:
    lines = native_lines(1200)
    one, several = (gathered(batches_of(lines, n_workers=n)) for n in (1, 2))
    assert one.vocabulary == several.vocabulary
    assert np.array_equal(one.rows, several.rows)
    assert np.array_equal(one.labels, several.labels)


def test_a_rare_word_is_not_in_the_vocabulary() -> None:
    events = gathered(
        [batch_of(["He slept in Ulm.", "He slept in bed.", "He slept in bed again."], gap_rate=0)], min_count=2
    )
    assert "bed" in events.vocabulary
    assert "ulm" not in events.vocabulary


def test_no_text_gives_no_events() -> None:
    assert len(gathered([])) == 0
    assert len(gathered([batch_of(["Rain fell."], gap_rate=0)])) == 0


def test_held_out_lines_are_those_whose_events_are_held_out() -> None:
    held_out = HeldOutLines()
    lines = [f"{line}\n" for line in native_lines()]
    assert list(held_out.keeping([*lines, *lines])) == [*lines, *lines]
    expected = {line.strip() for line in lines if fold_of(line.strip()) < HELD_OUT}
    assert expected
    assert sorted(held_out.shuffled(0)) == sorted(expected)
