from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grater.corpora.text.analysis import analyse
from grater.detect.articles.detector import Caution, from_file, load, save
from grater.detect.articles.features import Memory, placed_phrases
from grater.errors import BadInput, UsageError
from grater.models import write_model
from grater_train.articles import (
    ArticleOptions,
    batch_of,
    fitted,
    fitted_caution,
    gathered,
    habits_from,
    passages,
    train,
    trial_of,
)
from tests.detect.articles.made_text import made_lines
from tests.detect.articles.tiny import tiny_events, tiny_model


def test_passages_keep_lines_in_order_and_each_once() -> None:
    lines = [f"line {number}\n" for number in range(130)]
    found = list(passages([*lines, *lines]))
    assert [len(each) for each in found] == [60, 60, 10]
    assert found[0][:2] == ["line 0", "line 1"]


def test_a_share_of_passages_is_spread_evenly() -> None:
    lines = [f"line {number}" for number in range(600)]
    found = [int(passage[0].split()[1]) for passage in passages(lines, share=0.3)]
    assert found == [180, 360, 540]


def test_the_model_learns_the_rules_of_the_made_up_english() -> None:
    figures = tiny_model().card["figures"]
    assert isinstance(figures, dict)
    assert figures["held_out_accuracy"] > 0.97


def test_training_twice_gives_the_same_model() -> None:
    again = fitted(tiny_events(), ArticleOptions(min_count=1))
    assert np.array_equal(again.table, tiny_model().table)
    assert again.step == tiny_model().step


def test_a_model_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "tiny.model"
    model = replace(tiny_model(), card={"thresholds": Caution(missing=2.0).as_json()})
    save(model, path)
    back = load(path)
    placed = [each for line in made_lines()[:20] for each in placed_phrases(analyse(line), Memory())]
    assert np.array_equal(back.scores(back.rows(placed)), model.scores(model.rows(placed)))
    assert back.habits.by_number.keys() == model.habits.by_number.keys()
    assert all(back.habits.of(number) == pytest.approx(of) for number, of in model.habits.by_number.items())
    assert from_file(path).caution == Caution(missing=2.0)
    assert from_file(path).name == "tiny"


def test_what_is_no_model_of_articles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.model"
    write_model(path, kind="articles", card={}, arrays={"keys": np.zeros((4, 1), np.uint8)}, strings={})
    with pytest.raises(BadInput, match="expected the parts of a model of articles"):
        load(path)


def test_a_model_without_thresholds_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tiny.model"
    save(replace(tiny_model(), card={}), path)
    with pytest.raises(BadInput, match="expected thresholds"):
        from_file(path)


def test_too_little_text_is_refused() -> None:
    events = gathered([batch_of(["A dog ran."])])
    with pytest.raises(UsageError, match="expected more text"):
        fitted(events, ArticleOptions())


def test_thresholds_find_the_errors_that_were_put_in() -> None:
    held = [made_lines()[start : start + 30] for start in range(1, 1400, 60)]
    model = train(tiny_events(), held, ArticleOptions(min_count=1), card={"name": "tiny"})
    caution = Caution.of(model.card["thresholds"])
    hit, false_alarm, miss = trial_of(model, held).outcomes(caution)
    assert hit / (hit + false_alarm) > 0.85
    assert hit / (hit + miss) > 0.5


def test_hiding_the_verb_changes_only_what_it_gives_away() -> None:
    model = tiny_model()
    rows = model.rows(list(placed_phrases(analyse("Anna saw dogs near the river."), Memory())))
    seen, hidden = model.scores(rows), model.scores(rows, with_agreement=False)
    assert not np.array_equal(seen[0], hidden[0])  # a verb stands before *dogs*
    assert np.array_equal(seen[1], hidden[1])


def test_without_errors_nothing_is_flagged_for_certain() -> None:
    trial = trial_of(tiny_model(), [made_lines()[:2]])
    assert fitted_caution(trial).missing > 0


def test_habits_are_known_of_frequent_nouns_only() -> None:
    numbers = np.array([7] * 30 + [8] * 3, np.int32)
    habits = habits_from(numbers, np.array([1] * 30 + [0] * 3, np.int8))
    assert habits.of(7) == (0.0, 1.0, 0.0, 0.0, 0.0)
    assert habits.of(8) is None
    assert habits.classes(np.array([7, 8], np.int32)).tolist()[1] == [0, 0]
