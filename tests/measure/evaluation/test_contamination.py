"""Raters who repeat a system or the gold, models that judge their own work, judges that saw the labels (issue 34)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import polars as pl
import pytest

import grater
from grater.errors import GraterError
from grater.measure.evaluation.design import check_judge
from grater.uncertainty import Ints, Numbers
from grater.uncertainty.sampled import Flags

N_ITEMS, N_SHEET, N_WORLDS = 3000, 300, 100
World = tuple[Numbers, Flags, Flags, Ints]
"""Truth, drawn items, flags and cells."""


def world(rng: np.random.Generator, n_cells: int) -> World:
    """3,000 items, a tenth flagged at .7 errors, few misses; a sheet of 300, a third of it flagged."""
    score = rng.random(N_ITEMS)
    flagged = score > 0.9
    truth = (rng.random(N_ITEMS) < np.where(flagged, 0.7, 0.02 + 0.15 * score**3)).astype(float)
    half = n_cells // 2
    below = np.minimum(half - 1, score / 0.9 * half).astype(np.int64)
    cell = np.where(flagged, half + np.minimum(half - 1, (score - 0.9) * 10 * half).astype(np.int64), below)
    drawn = np.zeros(N_ITEMS, bool)
    for place in np.unique(cell):
        items = np.flatnonzero(cell == place)
        n = round(N_SHEET * (1 if flagged[items[0]] else 2) / 3 / half)
        drawn[rng.choice(items, min(n, len(items)), replace=False)] = True
    return truth, drawn, flagged, cell


JUDGES: dict[str, Callable[[np.random.Generator, Numbers, Flags], Numbers]] = {
    "poor": lambda rng, truth, _: (rng.random(N_ITEMS) < np.where(truth, 0.6, 0.3)).astype(float),
    "guessing": lambda rng, _, __: (rng.random(N_ITEMS) < 0.15).astype(float),
    "flagging": lambda _, __, flagged: flagged.astype(float),
    "probabilities": lambda rng, truth, _: np.clip(0.1 + 0.5 * truth + 0.2 * rng.standard_normal(N_ITEMS), 0, 1),
    "three votes": lambda rng, truth, _: rng.binomial(3, np.where(truth, 0.75, 0.1)) / 3,
}


def is_refused(values: Numbers, made: World) -> bool:
    truth, drawn, flagged, cell = made
    try:
        check_judge("llm", values, np.where(drawn, truth, np.nan), drawn, cell, flagged)
    except GraterError:
        return True
    return False


def test_honest_judges_pass_and_those_that_saw_the_labels_are_refused() -> None:
    # 100 worlds cannot tell 1 % from 2 %, so honest judges are counted over all ten designs; over 2,000 worlds each
    # design refuses .0000 to .0085 of them
    n_honest, leaking = 0, {}
    for kind, n_cells in product(JUDGES, (2, 10)):
        rng, refused = np.random.default_rng(len(kind) + n_cells), 0
        for _ in range(N_WORLDS):
            made = world(rng, n_cells)
            truth, drawn, flagged, _ = made
            values = JUDGES[kind](rng, truth, flagged)
            n_honest += is_refused(values, made)
            refused += is_refused(np.where(drawn, truth, values), made)
        leaking[kind, n_cells] = refused / N_WORLDS
    assert n_honest <= 0.01 * N_WORLDS * len(leaking)
    assert min(leaking.values()) >= 0.95


@pytest.mark.parametrize(
    ("rater", "of_judge", "of_system", "is_own"),
    [
        ("gpt", {}, {}, True),
        ("judge", {"model": "tiny"}, {"model": "tiny"}, True),
        ("judge", {"model": "tiny"}, {"model": "large"}, False),
        ("judge", {}, {"model": "tiny"}, False),
        ("gpt", {"group": "annotator"}, {}, False),
    ],
)
def test_a_judge_is_its_own_by_its_model_or_its_name(
    rater: str, of_judge: dict[str, str], of_system: dict[str, str], is_own: bool
) -> None:
    # What Ann says, and next to it a rater who calls everything an error.
    items, people = list("abcd"), {"rater": ["Ann"] * 4, "label": ["error", "ok", "ok", "ok"]}
    judge = {"rater": [rater] * 4, "label": ["error"] * 4} | {name: [of] * 4 for name, of in of_judge.items()}
    judged = pl.concat([pl.DataFrame({"item": items, **each}) for each in (people, judge)], how="diagonal")
    flags = pl.DataFrame({"item": items, "system": "gpt", "flagged": [True] * 3 + [False]})
    decisions = flags.with_columns(pl.lit(value).alias(name) for name, value in of_system.items())
    result = grater.evaluate(decisions, judged, missing="not-flagged")
    named = [line for line in result.warnings if "judged its own corrections" in line]
    assert bool(named) == is_own
    if is_own:
        assert "it calls 3 of 3 right, people 1 of 3" in named[0]
        assert result.systems[0]["precision"].value == pytest.approx(1 / 3)
