"""Events for learning from well-formed text, errors put into it, and thresholds tuned on what was held out."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest

from grater.corpora.text.analysis import Sentence, analyse
from grater.corpora.text.prepositions import canonical
from grater.detect.ngrams.counts import HELD_OUT, fold_of
from grater.detect.prepositions.candidates import ANSWERS, COLUMN_OF, NONE, answer_of, candidates_of
from grater.detect.prepositions.detector import margins
from grater.detect.prepositions.engines import NgramEngine
from grater.errors import UsageError
from grater_train.kneser_ney import language_model
from grater_train.ngrams import ModelSize, train
from grater_train.prepositions import (
    FEW,
    RATES,
    HeldOutLines,
    _balance,
    batch_of,
    batches_of,
    corrupted,
    costs_of,
    frequencies,
    gathered,
    lowest_threshold,
    tuned,
)
from tests.detect.ngrams.texts import SENTENCES
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
    assert sorted(held_out.in_order()) == sorted(expected)


EVEN = np.full(NONE, 1 / NONE)


@cache
def sentences() -> list[Sentence]:
    return [sentence for line in native_lines(700) for sentence in analyse(line)]


def test_errors_come_at_their_rates() -> None:
    found = list(corrupted(sentences(), EVEN, np.random.default_rng(2)))
    n_prep = sum(not each.candidate.is_gap for each in found)
    counts = Counter(each.error for each in found)
    assert counts["choice"] / n_prep == pytest.approx(RATES["choice"], rel=0.2)
    assert counts["extraneous"] > 0
    assert counts["missing"] > 0


def test_a_wrong_choice_is_another_preposition_and_a_missing_one_a_gap() -> None:
    for each in corrupted(sentences(), EVEN, np.random.default_rng(2)):
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


LINES = [" ".join(words) for words in SENTENCES]


@pytest.fixture(scope="module")
def engine() -> NgramEngine:
    trained = train(SENTENCES, ModelSize(prune=(0,)))
    return NgramEngine(language_model(trained.smoothed, trained.vocabulary))


def test_a_preposition_costs_its_mean_margin_drawn_towards_that_of_all(engine: NgramEngine) -> None:
    candidates = [each for line in LINES for sentence in analyse(line) for each in candidates_of(sentence)]
    written = np.array([answer_of(candidate) for candidate in candidates], np.int64)
    uses = margins(engine.scores(candidates), written.tolist()).values[:, 1]
    costs = costs_of(engine, candidates, written)
    is_use = written != NONE
    mean = uses[is_use].mean()
    steps = []
    for answer in range(NONE):
        own = uses[written == answer]
        steps.append(costs[answer] - (own.sum() + FEW * mean) / (len(own) + FEW))
    steps.append(costs[NONE] - mean)
    assert steps == pytest.approx([steps[0]] * (NONE + 1), abs=2e-4)  # costs are rounded to four places


def test_the_step_leaves_as_many_uses_above_it_as_gaps_above_its_opposite() -> None:
    gaps = np.array([-3.0, -1.0, 1.0, 3.0])
    step = _balance(np.array([1.0, 3.0, 5.0, 7.0]), gaps)
    assert 1 <= step < 3  # of the uses three lie above it, and of the gaps three above its opposite
    assert (gaps > -step).sum() == 3


def test_thresholds_come_with_the_costs(engine: NgramEngine) -> None:
    priced, thresholds = tuned(engine, LINES)
    assert priced.costs.any()
    assert min(thresholds.choice, thresholds.extraneous, thresholds.missing) >= 0


def test_text_without_prepositions_is_refused(engine: NgramEngine) -> None:
    with pytest.raises(UsageError, match="expected prepositions in the text"):
        tuned(engine, ["nothing here"])


def test_the_threshold_lets_through_no_more_than_the_allowed_false_alarms() -> None:
    right, wrong = np.arange(100.0), np.array([150.0])
    threshold = lowest_threshold(wrong, right, false_alarms=0.03)
    assert threshold == 96.0
    assert (right > threshold).sum() == 3


def test_a_threshold_is_never_below_a_tie() -> None:
    assert lowest_threshold(np.array([3.0]), np.array([-5.0, -4.0]), false_alarms=0.5) == 0.0


def test_without_right_uses_there_is_no_threshold() -> None:
    with pytest.raises(UsageError, match="found none"):
        lowest_threshold(np.ones(1), np.ones(0), false_alarms=0.1)
