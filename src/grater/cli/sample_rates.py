"""Expected rates of errors by stratum, as the command line gives them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from grater.errors import UsageError
from grater.sampling.strata import assign_strata, decided
from grater.tables import Judgments, Table


def parse_rates(settings: Sequence[str]) -> dict[str, float]:
    """`["flagged=.8", "unflagged=.02"]` as numbers."""
    rates = {}
    for setting in settings:
        name, equals, number = setting.rpartition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name.strip():
            raise UsageError(f"expected --rate STRATUM=RATE, found {setting!r}; as in flagged=0.8")
    return rates


def score_rates(
    decisions: Table, system: str | None, strata: str | None, labels: Judgments | None
) -> dict[str, float]:
    """The mean score of each stratum, for systems whose score is a probability of error."""
    rows = decided(decisions, system or "")
    if "score" not in rows.columns or not rows["score"].is_between(0, 1).all():
        wanted = "expected scores that are probabilities, from 0 to 1, to take rates of errors from, found others"
        raise UsageError(f"{decisions.name}: {wanted}; give --rate flagged=RATE --rate unflagged=RATE")
    named = assign_strata(decisions, system or "", strata=strata or "decision", labels=labels)
    means = named.join(rows.select("item", "score"), on="item").group_by("stratum").agg(pl.col("score").mean())
    return dict(means.iter_rows())
