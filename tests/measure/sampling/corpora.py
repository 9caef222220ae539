"""Small corpora with known truth, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from grater.tables import Judgments, Table, read_decisions, read_judgments


def item_ids(n: int) -> list[str]:
    return [f"item-{place:05}" for place in range(n)]


def decisions_of(flags: Mapping[str, Sequence[bool]], scores: Sequence[float] | None = None) -> Table:
    """One system for each entry, with a decision on every item."""
    frames = [
        pl.DataFrame({"item": item_ids(len(flagged)), "system": [system] * len(flagged), "flagged": list(flagged)})
        for system, flagged in flags.items()
    ]
    if scores is not None:
        frames = [frame.with_columns(score=pl.Series(list(scores), dtype=pl.Float64)) for frame in frames]
    return read_decisions(pl.concat(frames))


def oracle(truth: Sequence[bool], rater: str = "oracle") -> Judgments:
    """A rater who is always right, on every item."""
    labels = ["error" if is_error else "ok" for is_error in truth]
    items = item_ids(len(labels))
    return read_judgments(pl.DataFrame({"item": items, "rater": [rater] * len(items), "label": labels}))


def figure_1() -> tuple[Table, Judgments]:
    """T&C 2008, Figure 1: 10,000 items, 1,000 of them flagged; errors at the rates of Table 5, .8 and .3."""
    flagged = [place < 1000 for place in range(10_000)]
    truth = [place < 800 or 1000 <= place < 3700 for place in range(10_000)]
    return decisions_of({"S": flagged}), oracle(truth)
