"""Small worlds of decisions and judgments for the tests of evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from grater.model import Interval
from grater.tables import Judgments, Table, read_decisions, read_items, read_judgments

# Madnani et al. 2011, by hand (statistics.md): the share of raters for error, and what the system flags
SHARES = (1, 0.9, 0.75, 0.6, 0.5, 0.3, 0.1, 0)
FLAGGED = (1, 1, 0, 1, 0, 1, 0, 0)


def decisions(systems: Mapping[str, Sequence[int | None]], **columns: Sequence[object]) -> Table:
    """What each system says of items i0, i1, ...; None where it does not say."""
    rows = [
        {"item": f"i{place}", "system": system, "flagged": flag, **{name: of[place] for name, of in columns.items()}}
        for system, flags in systems.items()
        for place, flag in enumerate(flags)
        if flag is not None
    ]
    return read_decisions(pl.DataFrame(rows))


def votes(n_error: Sequence[int], n_raters: int) -> Judgments:
    """So many of the raters r0, r1, ... call each item an error; the first ones, turned by the item's number."""
    rows = [
        (f"i{item}", f"r{(rater + item) % n_raters}", "error" if rater < n else "ok")
        for item, n in enumerate(n_error)
        for rater in range(n_raters)
    ]
    return read_judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"))


def madnani() -> tuple[Table, Judgments]:
    """Twenty raters whose shares are those of the worked example."""
    return decisions({"S": FLAGGED}), votes([round(20 * share) for share in SHARES], 20)


def items(essays: Sequence[str]) -> Table:
    rows = [
        {"item": f"i{place}", "essay": essay, "start": 0, "end": 1, "kind": "prep", "document": f"d{essay}"}
        for place, essay in enumerate(essays)
    ]
    return read_items(pl.DataFrame(rows))


def width(score: Interval) -> float:
    return score.high - score.low


def limits(score: Interval) -> tuple[float, float, float]:
    return score.value, score.low, score.high
