"""What an interval speaks of, in words; and the design effect against a simulation."""

from __future__ import annotations

from math import isnan

import numpy as np
import pytest

from grater.uncertainty.intervals import AS_ASKED, Scope, cluster_interval, design_effect


def test_essays_that_were_drawn_are_named_with_their_design_effect() -> None:
    scope = Scope(unit="essay", n_units=20, design_effect=2.13)
    assert scope.sentence == (
        "95 % intervals generalise to other essays like these 20 (resampled by essay, design effect 2.1)."
    )
    assert scope.warnings == ()


def test_items_without_essays_are_said_to_be_taken_as_independent() -> None:
    assert Scope(unit="item", n_units=500).sentence == (
        "95 % intervals generalise to other items like these 500, taken as independent (their essays are not known)."
    )
    asked = Scope(unit="item", n_units=500, independent_because=AS_ASKED)
    assert asked.sentence.endswith("taken as independent (as asked).")


def test_raters_that_were_drawn_are_named() -> None:
    both = Scope(unit="essay", n_units=30, n_raters=5, level=0.9)
    assert both.sentence == (
        "90 % intervals generalise to other essays like these 30 and other raters like these 5 (resampled by essay)."
    )
    assert both.warnings == ("only 5 raters: intervals by rater are rough below 10",)
    assert Scope(unit="rater", n_units=5).warnings == ("only 5 raters: intervals by rater are rough below 10",)


def test_exactly_these_items_are_said_to_be_a_finite_population() -> None:
    scope = Scope(unit="item", n_units=8017, population="these")
    assert scope.sentence == (
        "95 % intervals are for exactly these 8,017 items, not for others (finite-population correction)."
    )
    assert scope.to_dict()["population"] == "these"


def test_few_essays_have_students_t_and_very_few_a_warning() -> None:
    assert "Student's t" in Scope(unit="essay", n_units=19).sentence
    assert "Student's t" not in Scope(unit="essay", n_units=20).sentence
    assert Scope(unit="essay", n_units=9).warnings == ("only 9 essays: intervals by essay are rough below 10",)


def test_an_interval_of_few_essays_is_wider_than_its_percentiles() -> None:
    draws = np.random.default_rng(0).normal(0.5, 0.1, 4000)
    few, many = (cluster_interval(0.5, draws, n_units=n) for n in (8, 40))
    # Student's t with 7 degrees of freedom: 2.365 x .1 x sqrt(8 / 7) = .253
    assert few.high - few.value == pytest.approx(0.253, abs=0.01)
    assert many.high - many.value == pytest.approx(0.205, abs=0.02)


def test_design_effect_is_that_of_kish() -> None:
    """Kish 1965, 8.2: 1 + (b - 1) rho for clusters of b items with intraclass correlation rho."""
    rng, n_essays, size, rho = np.random.default_rng(1), 4000, 10, 0.2
    common = rng.normal(0, np.sqrt(rho), n_essays)
    influence = np.repeat(common, size) + rng.normal(0, np.sqrt(1 - rho), n_essays * size)
    essay = np.repeat(np.arange(n_essays), size)
    assert design_effect(influence, essay) == pytest.approx(1 + 9 * rho, rel=0.05)
    assert design_effect(influence, np.arange(len(influence))) == pytest.approx(1)
    assert isnan(design_effect(np.zeros(4), np.array([0, 0, 1, 1])))
