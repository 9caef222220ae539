"""Judgments that say `unknown`: too hard to judge, or both bad.

They say something of the item, not of the error: by default they are left out of shares and counted (interfaces.md,
`--unknown drop|ok|apart`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import polars as pl

from grater.tables import Judgments

Unknown: TypeAlias = Literal["drop", "ok", "apart"]

UNKNOWN = "unknown"
LEFT_OUT = "label unknown"


def with_unknown(judgments: Judgments, how: Unknown = "drop") -> Judgments:
    """The judgments with `unknown` left out and counted, taken as `ok`, or as a label of its own."""
    label = pl.col("label").cast(pl.String)
    if how == "apart":
        return judgments
    if how == "ok":
        return replace(judgments, frame=judgments.frame.with_columns(label=label.replace({UNKNOWN: "ok"})))
    kept = judgments.frame.filter(label != UNKNOWN)
    n_dropped = len(judgments) - len(kept)
    dropped = {LEFT_OUT: n_dropped} if n_dropped else {}
    return replace(judgments, frame=kept, dropped={**judgments.dropped, **dropped})
