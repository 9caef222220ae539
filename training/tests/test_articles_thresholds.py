"""Corrections and thresholds, on made-up trials whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grater.corpora.text.analysis import Sentence, analyse
from grater.detect.articles.constructions import CONSTRUCTIONS, NONE_OF_THEM
from grater.detect.articles.detector import Caution
from grater.uncertainty import generator
from grater_train import articles as training
from grater_train.articles import Trial, corrected, corrupted, fitted_caution, with_errors, with_thresholds
from tests.detect.articles.made_text import made_lines


def sentence(text: str) -> Sentence:
    [found] = analyse(text)
    return found


def always(monkeypatch: object, wanted: str, becomes: str) -> None:
    rates = {name: ({becomes: 1.0} if name == wanted else {}) for name in CONSTRUCTIONS}
    monkeypatch.setattr(training, "RATES", rates)  # type: ignore[attr-defined]


def test_an_error_is_put_in_and_what_stood_there_is_known(monkeypatch: object) -> None:
    always(monkeypatch, "a-singular", "null-singular")
    words, right = with_errors(sentence("She saw an old house near the river."), generator(0))
    assert words == ["She", "saw", "old", "house", "near", "the", "river", "."]
    assert {words[place]: CONSTRUCTIONS[of] for place, of in right.items()} == {
        "house": "a-singular",
        "river": "the-singular",
    }


def test_number_goes_wrong_too(monkeypatch: object) -> None:
    always(monkeypatch, "the-plural", "the-singular")
    words, _ = with_errors(sentence("We fed the geese."), generator(0))
    assert words == ["We", "fed", "the", "goose", "."]


def test_text_without_chance_of_error_stays_as_it_is(monkeypatch: object) -> None:
    monkeypatch.setattr(training, "RATES", {name: {} for name in CONSTRUCTIONS})  # type: ignore[attr-defined]
    found = list(corrupted([analyse(line) for line in made_lines()[:20]], generator(0)))
    assert found
    assert all(each.right in (each.placed.phrase.construction, NONE_OF_THEM) for each in found)


def test_the_same_seed_gives_the_same_errors() -> None:
    passages = [analyse(line) for line in made_lines()[:40]]
    one, other = ([(each.placed.words, each.right) for each in corrupted(passages, generator(3))] for _ in range(2))
    assert one == other


def test_about_one_phrase_in_ten_goes_wrong() -> None:
    rates = [sum(becomes.values()) for becomes in training.RATES.values()]
    assert 0.05 < sum(rates) / len(rates) < 0.12


NULL_SINGULAR, THE_SINGULAR, NULL_PLURAL, _, THE_PLURAL = range(5)


def trial(n: int = 20_000, *, confusable: float = -1.5, own: float = 0.0) -> Trial:
    """Phrases whose number may be wrong: with *the*, a confusable pair, and without an article, none.

    The chance of an error follows the margin with the corrections that are given.
    """
    rng = generator(0, "trial")
    is_pair = rng.random(n) < 0.5
    written = np.where(is_pair, THE_SINGULAR, NULL_SINGULAR)
    target = np.where(is_pair, THE_PLURAL, NULL_PLURAL)
    rows, margin = np.arange(n), rng.uniform(0.1, 6, n)
    scores = np.full((n, 5), -20.0)
    scores[rows, written] = 0
    scores[rows, target] = margin
    strength = np.zeros((n, 5))
    strength[rows, target] = rng.random(n)
    chance = 1 / (1 + np.exp(3 - margin - confusable * is_pair - own * strength[rows, target]))
    right = np.where(rng.random(n) < chance, target, written)
    return Trial(scores, written, right, strength, np.ones((n, 5), bool))


def test_a_correction_for_confusable_pairs_is_found_again() -> None:
    found = corrected(trial(), ["pairs"])
    assert found.confusable == pytest.approx(-1.5, abs=0.15)
    assert (found.own, found.other) == (0, 0)


def test_a_correction_for_entropy_is_found_again() -> None:
    found = corrected(trial(own=2.0), ["pairs", "entropy"])
    assert found.own == pytest.approx(2.0, abs=0.25)
    assert found.confusable == pytest.approx(-1.5, abs=0.15)


def test_nothing_is_corrected_unless_asked() -> None:
    assert corrected(trial(), []) == Caution()


def test_text_without_errors_corrects_nothing() -> None:
    made = trial(500)
    assert corrected(replace(made, right=made.written), ["pairs", "entropy"]) == Caution()


def test_a_threshold_parts_errors_from_the_rest() -> None:
    made = trial(2000)
    best = made.scores.argmax(axis=1)
    clean = replace(made, right=np.where(made.scores.max(axis=1) > 3, best, made.written))
    found = with_thresholds(clean, Caution())
    assert found.number == pytest.approx(3, abs=0.02)
    hit, false_alarm, miss = clean.outcomes(found)
    assert (false_alarm, miss) == (0, 0)
    assert hit > 0


def test_a_type_with_hardly_any_flags_stays_silent() -> None:
    assert fitted_caution(trial(2000)).missing == float("inf")
