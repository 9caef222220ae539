"""A row for each rater: how much, how well, how fast, and how like a machine.

- accuracy on gold, with Wilson's limits: a judgment is right if gold accepts its label;
- agreement with the others: the share of judgments that equal the plurality of the *other* judgments of the item.  A
  tie among k labels counts 1/k; an item that nobody else judged does not count.  Limits are Wilson's;
- skill by Dawid & Skene 1979 (doi:10.2307/2346806), the chance of being right;
- median seconds;
- straight-lining: the share of the rater's most frequent label, beside the share that everybody else gives to it.

Raters who are only positions have no row: the table is refused (`require_raters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.crowd.aggregate import Options
from grater.crowd.aggregate.ballots import Ballots, Gold, ballots_of, summed
from grater.crowd.aggregate.dawid_skene import fit
from grater.model import Interval
from grater.signature import Signature
from grater.statistics.proportions import wilson
from grater.tables import Judgments, Table, data_hash, require_raters

Numbers: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rater:
    """`on_gold` and `with_others` are nan with a reason where nothing was counted; `seconds` may be missing."""

    rater: str
    n: int
    n_gold: int
    on_gold: Interval
    n_compared: int
    with_others: Interval
    skill: float
    seconds: float | None
    top_label: str
    top_share: float
    others_share: float


def signature_of(judgments: Judgments, gold: Table | None) -> Signature:
    """How the numbers of raters were made."""
    known = {"gold": str(len(gold.frame))} if gold is not None else {}
    return Signature("raters", {"skill": "dawid-skene", "limits": "wilson", **known, "data": data_hash(judgments)})


def raters(judgments: Judgments, *, gold: Table | None = None, options: Options | None = None) -> list[Rater]:
    """The raters by name.  Gold is held fast in the model that gives the skills."""
    require_raters(judgments, "numbers of single raters")
    ballots = ballots_of(judgments, gold=gold)
    skill = fit(ballots, options or Options()).skill
    on_gold = _on_gold(ballots, ballots.gold)
    with_others = _with_others(ballots)
    lines = _lines(ballots)
    seconds = _seconds(judgments)
    n_each = np.bincount(ballots.rater, minlength=len(ballots.raters))
    return [
        Rater(
            name,
            int(n_each[code]),
            int(on_gold[1][code]),
            _share(on_gold, code, "no gold item was judged"),
            int(with_others[1][code]),
            _share(with_others, code, "nobody else judged the same items"),
            nan if skill is None else float(skill[code]),
            seconds.get(name),
            *_line(lines, ballots.labels, code),
        )
        for code, name in enumerate(ballots.raters)
    ]


def rater_frame(found: Sequence[Rater]) -> pl.DataFrame:
    """The rows as a table, limits side by side."""
    return pl.DataFrame(
        {
            "rater": [each.rater for each in found],
            "n": [each.n for each in found],
            "n_gold": [each.n_gold for each in found],
            **_columns("gold", [each.on_gold for each in found]),
            **_columns("others", [each.with_others for each in found]),
            "skill": [each.skill for each in found],
            "seconds": pl.Series([each.seconds for each in found], dtype=pl.Float64),
            "top_label": [each.top_label for each in found],
            "top_share": [each.top_share for each in found],
            "others_share": [each.others_share for each in found],
        }
    ).fill_nan(None)


def agrees_with_others(ballots: Ballots) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """For each judgment how far it is the plurality of the item's others (1/k in a tie of k), and whether it has any.

    Taking one vote away, a label is on top only if it led alone; then it still leads, or ties with the second.
    """
    votes = ballots.votes
    top = votes.max(axis=1)
    is_top = votes == top[:, None]
    rest = np.where(is_top, -1, votes)
    second = rest.max(axis=1)
    led_alone = is_top.sum(axis=1) == 1
    n_tied = np.where(second == top - 1, (rest == second[:, None]).sum(axis=1), 0)
    credit = np.where(led_alone, 1 / (1 + n_tied), 0.0)
    is_mine_on_top = is_top.ravel().take(ballots.slot())
    n_of_item = votes.sum(axis=1)
    return np.where(is_mine_on_top, credit.take(ballots.item), 0.0), n_of_item.take(ballots.item) > 1


def _with_others(ballots: Ballots) -> tuple[Numbers, Numbers]:
    credit, is_compared = agrees_with_others(ballots)
    return _sums(ballots, credit * is_compared, is_compared)


def _on_gold(ballots: Ballots, gold: Gold | None) -> tuple[Numbers, Numbers]:
    if gold is None:
        return _sums(ballots, np.zeros(len(ballots)), np.zeros(len(ballots), bool))
    is_right = np.zeros((ballots.n_items, ballots.n_labels), bool)
    is_right[gold.item] = gold.is_accepted
    is_gold = np.isin(np.arange(ballots.n_items), gold.item)
    return _sums(ballots, is_right.ravel().take(ballots.slot()), is_gold.take(ballots.item))


def _sums(ballots: Ballots, hits: npt.NDArray[np.generic], counts: npt.NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    n_raters = len(ballots.raters)
    return (
        summed(hits.astype(np.float64), ballots.rater, n_raters),
        summed(counts.astype(np.float64), ballots.rater, n_raters),
    )


def _share(sums: tuple[Numbers, Numbers], code: int, reason: str) -> Interval:
    hits, n = float(sums[0][code]), float(sums[1][code])
    return wilson(hits, n) if n else Interval(nan, nan, nan, reason)


def _lines(ballots: Ballots) -> tuple[npt.NDArray[np.int64], Numbers, Numbers]:
    """Each rater's most frequent label, its share, and its share among the judgments of all others."""
    n_raters, n_labels = len(ballots.raters), ballots.n_labels
    table = np.bincount(ballots.cell(), minlength=n_raters * n_labels).reshape(n_raters, n_labels)
    top, n_top = table.argmax(axis=1), table.max(axis=1)
    n_each = table.sum(axis=1)
    n_others = len(ballots) - n_each
    others = np.where(n_others > 0, (table.sum(axis=0)[top] - n_top) / np.maximum(n_others, 1), nan)
    return top, n_top / n_each, others


def _line(
    lines: tuple[npt.NDArray[np.int64], Numbers, Numbers], labels: tuple[str, ...], code: int
) -> tuple[str, float, float]:
    top, share, others = lines
    return labels[int(top[code])], float(share[code]), float(others[code])


def _seconds(judgments: Judgments) -> dict[str, float]:
    if "seconds" not in judgments.frame.columns:
        return {}
    timed = judgments.frame.filter(pl.col("seconds").is_not_null())
    medians = timed.group_by(pl.col("rater").cast(pl.String)).agg(pl.col("seconds").median())
    return {str(name): float(median) for name, median in medians.iter_rows()}


def _columns(name: str, intervals: Sequence[Interval]) -> dict[str, list[float]]:
    return {
        name: [each.value for each in intervals],
        f"{name}_low": [each.low for each in intervals],
        f"{name}_high": [each.high for each in intervals],
    }
