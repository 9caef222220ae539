"""What raters said of each judged item: 1 for an error, 0 for none, a half where they are split.

Labels are `error` and `ok`; others are merged into these first.  `unknown` says nothing of the error and is left out.
`majority` is the default, with half to each side of a tie; `share` is the share of raters (Madnani et al. 2011);
`rater:NAME` believes one rater.
"""

from __future__ import annotations

import polars as pl

from grater.agreement.unknown import with_unknown
from grater.errors import BadInput, Problem, UsageError
from grater.tables import Judgments, require_raters

ERROR, OK = "error", "ok"


def truth_of(judgments: Judgments, truth: str = "majority") -> pl.DataFrame:
    """The judged items with their truth: item, error."""
    kept = with_unknown(judgments)
    _require_verdicts(kept)
    frame = kept.frame.select(
        "item", pl.col("rater").cast(pl.String), is_error=pl.col("label").cast(pl.String) == ERROR
    )
    how, _, rater = truth.partition(":")
    if how == "rater" and rater:
        require_raters(judgments, "judgments of one rater")
        frame = frame.filter(pl.col("rater") == rater)
        if frame.is_empty():
            raise UsageError(f"{judgments.name}: expected judgments by {rater!r}, found none")
    elif truth not in ("majority", "share"):
        raise UsageError(f"expected --truth majority, share or rater:NAME, found {truth!r}")
    shares = frame.group_by("item").agg(error=pl.col("is_error").mean()).sort("item")
    return shares if truth == "share" else shares.with_columns(error=((pl.col("error") - 0.5).sign() + 1) / 2)


def _require_verdicts(judgments: Judgments) -> None:
    strange = sorted(set(judgments.frame["label"].cast(pl.String).unique()) - {ERROR, OK})
    if strange:
        shown = ", ".join(strange[:5])
        message = f"expected the labels error, ok and unknown, found {shown}; say --merge {strange[0]}=error, or =ok"
        raise BadInput(Problem(judgments.name, message))
