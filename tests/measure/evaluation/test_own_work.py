"""A model that judges its own corrections is named, and its judgments of them do not count."""

from __future__ import annotations

import polars as pl
import pytest

import grater

DECISIONS = pl.DataFrame({"item": list("abcd"), "system": ["gpt"] * 4, "flagged": [True] * 3 + [False]})
PEOPLE = pl.DataFrame({"item": list("abcd"), "rater": ["Ann"] * 4, "label": ["error", "ok", "ok", "ok"]})


def with_model(rater: str, **columns: str) -> pl.DataFrame:
    """What Ann says, and beside it a rater who calls everything an error."""
    own = PEOPLE.with_columns(rater=pl.lit(rater), label=pl.lit("error"))
    both = pl.concat([PEOPLE, own])
    return both.with_columns(
        pl.when(pl.col("rater") == rater).then(pl.lit(value)).alias(name) for name, value in columns.items()
    )


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
    decisions = DECISIONS.with_columns(pl.lit(value).alias(name) for name, value in of_system.items())
    result = grater.evaluate(decisions, with_model(rater, **of_judge), missing="not-flagged")
    named = [line for line in result.warnings if "judged its own corrections" in line]
    assert bool(named) == is_own
    if is_own:
        assert "it calls 3 of 3 right, people 1 of 3" in named[0]
        assert result.systems[0]["precision"].value == pytest.approx(1 / 3)
