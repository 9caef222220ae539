"""One row per rater: how much, how well, how fast and how mechanically they judged.

- accuracy on gold, with Wilson's interval: a judgment is right if gold accepts its label;
- agreement with the others: the share of judgments that equal the plurality of the *other* judgments of the item. A
  tie among k labels counts as 1/k; an item that nobody else judged does not count. The interval is Wilson's;
- skill: the probability of being right, with an interval. The truth of an item comes from Dawid & Skene's model
  (1979, doi:10.2307/2346806) without the judgment in question, so raters cannot confirm themselves; the skill follows
  by EM, with all wrong labels equally likely. Skills are shrunk towards the other raters of the table (empirical
  Bayes): the prior is a beta distribution with the mean of raters' shares and their variance beyond chance (Kleinman
  1973, J. Am. Stat. Assoc. 68, 46-54), updated by the rater's own judgments. Judgments whose truth is uncertain count
  less, as in Louis 1982 (J. R. Stat. Soc. B 44, 226-233): n of them count as n - sum t (1 - t) / (s (1 - s)), where t
  is the probability that each is right and s the skill. The interval holds 95 % of the posterior;
- median seconds;
- straight-lining: the share of the rater's most frequent label, and its share among everybody else's judgments.

A table whose raters are only positions is refused (`require_raters`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.measure.crowd.aggregate import Options
from grater.measure.crowd.aggregate.ballots import Ballots, Fit, Gold, ballots_of, summed
from grater.measure.crowd.aggregate.dawid_skene import Confusions, fit
from grater.model import Interval, Json
from grater.result import HIDDEN, Data, Result, encode, in_json, key
from grater.sheet import Sheet, Signature, count, counted, interval, natural, number, without_empty_columns
from grater.tables import Judgments, Table, data_hash, require_raters
from grater.uncertainty import Numbers, wilson

SPOKEN_OF = "95 % intervals generalise to other items like those that the rater judged, taken as independent."
NOTES = (
    "gold: accuracy on gold; others: agreement with the plurality of the others.",
    SPOKEN_OF,
    "skill: chance of being right, by Dawid and Skene, shrunk to the mean.",
    "sec: median seconds.",
    "top: the most frequent label; share: its share; rest: that of all others.",
)


@dataclass(frozen=True, slots=True)
class Rater(Data):
    """`on_gold` and `with_others` are nan with a reason if nothing was counted; `seconds` may be missing."""

    rater: str
    n: int
    n_gold: int = field(metadata=HIDDEN)
    on_gold: Interval = field(metadata=HIDDEN)
    n_compared: int = field(metadata=HIDDEN)
    with_others: Interval = field(metadata=HIDDEN)
    skill: float
    skill_interval: Interval
    seconds: float | None
    top_label: str = field(metadata=HIDDEN)
    top_share: float = field(metadata=HIDDEN)
    others_share: float = field(metadata=HIDDEN)

    @property
    @in_json(flat=True)
    def _shares(self) -> dict[str, Json]:
        return {
            "gold": {**encode(self.on_gold), "n": self.n_gold},
            "others": {**encode(self.with_others), "n": self.n_compared},
            "top_label": {"label": self.top_label, "share": self.top_share, "others": encode(self.others_share)},
        }


@dataclass(frozen=True, slots=True, repr=False)
class Raters(Result):
    rows: tuple[Rater, ...] = field(metadata=key("raters"))
    signature: Signature

    def __iter__(self) -> Iterator[Rater]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    @in_json()
    def scope(self) -> dict[str, str]:
        return {"sentence": SPOKEN_OF}

    def to_frame(self) -> pl.DataFrame:
        """One row per rater; the limits of an interval are separate columns."""
        return pl.DataFrame(
            {
                "rater": [rater.rater for rater in self.rows],
                "n": [rater.n for rater in self.rows],
                "n_gold": [rater.n_gold for rater in self.rows],
                **_columns("gold", [rater.on_gold for rater in self.rows]),
                **_columns("others", [rater.with_others for rater in self.rows]),
                **_columns("skill", [rater.skill_interval for rater in self.rows]),
                "seconds": pl.Series([rater.seconds for rater in self.rows], dtype=pl.Float64),
                "top_label": [rater.top_label for rater in self.rows],
                "top_share": [rater.top_share for rater in self.rows],
                "others_share": [rater.others_share for rater in self.rows],
            }
        ).fill_nan(None)

    def sheets(self) -> tuple[Sheet, ...]:
        """The most skilled first; empty columns are left out."""
        has_gold = any(rater.n_gold for rater in self.rows)
        has_seconds = any(rater.seconds is not None for rater in self.rows)
        rows = [
            (
                rater.rater,
                count(rater.n),
                interval(rater.on_gold, digits=2) if has_gold else "",
                interval(rater.with_others, digits=2),
                interval(rater.skill_interval, digits=2),
                ("–" if rater.seconds is None else f"{rater.seconds:.1f}") if has_seconds else "",
                rater.top_label,
                number(rater.top_share, digits=2),
                number(rater.others_share, digits=2),
            )
            for rater in sorted(self.rows, key=lambda rater: (-rater.skill, natural(rater.rater)))
        ]
        columns = ("rater", "n", "gold", "others", "skill", "sec", "top", "share", "rest")
        title, signature = counted(len(self.rows), "rater"), str(self.signature)
        return (without_empty_columns(Sheet(title, columns, tuple(rows), notes=NOTES, signature=signature)),)


def raters(judgments: Judgments, *, gold: Table | None = None) -> Raters:
    """The raters by name. The model that estimates skills holds gold fixed."""
    require_raters(judgments, "numbers of single raters")
    ballots = ballots_of(judgments, gold=gold)
    skills = shrunk_skills(ballots, fit(ballots, Options()))
    on_gold = _on_gold(ballots, ballots.gold)
    credit, is_compared = agrees_with_others(ballots)
    with_others = _sums(ballots, credit * is_compared, is_compared)
    top, top_share, others_share = _top_labels(ballots)
    seconds = _seconds(judgments)
    n_judgments = np.bincount(ballots.rater, minlength=len(ballots.raters))
    rows = (
        Rater(
            rater=name,
            n=int(n_judgments[code]),
            n_gold=int(on_gold[1][code]),
            on_gold=_share(on_gold, code, "no gold item was judged"),
            n_compared=int(with_others[1][code]),
            with_others=_share(with_others, code, "nobody else judged the same items"),
            skill=skills[code].value,
            skill_interval=skills[code],
            seconds=seconds.get(name),
            top_label=ballots.labels[int(top[code])],
            top_share=float(top_share[code]),
            others_share=float(others_share[code]),
        )
        for code, name in enumerate(ballots.raters)
    )
    return Raters(tuple(rows), signature_of(judgments, gold))


def signature_of(judgments: Judgments, gold: Table | None) -> Signature:
    known = {"gold": str(len(gold.frame))} if gold is not None else {}
    return Signature(
        "raters", {"skill": "dawid-skene-shrunk", "limits": "wilson", **known, "data": data_hash(judgments)}
    )


MOST_PRIOR, LEAST_PRIOR = 20.0, 2.0
"""Judgments that the mean of all raters is worth for each of them."""
STEPS = 30


def shrunk_skills(
    ballots: Ballots, fitted: Fit, *, prior: tuple[float, float] = (LEAST_PRIOR, MOST_PRIOR)
) -> list[Interval]:
    """Each rater's probability of being right, shrunk towards the mean of all, with an interval.

    `prior` bounds the number of judgments that the mean is worth; docs/crowd.md explains the choice of bounds.
    """
    from scipy.special import betaincinv  # a fifth of a second that most commands need not wait for

    n = np.bincount(ballots.rater, minlength=len(ballots.raters)).astype(np.float64)
    confusions = fitted.details
    assert isinstance(confusions, Confusions)
    cell_of = np.zeros(len(ballots.raters) * ballots.n_labels, np.int64)
    cell_of[confusions.rater.astype(np.int64) * ballots.n_labels + confusions.label] = np.arange(
        len(confusions.label)
    )
    without = fitted.posteriors[ballots.item] / confusions.chance[cell_of[ballots.cell()]]
    truth: Numbers = without[np.arange(len(ballots)), ballots.label] / without.sum(axis=1)
    right, _ = _right(ballots, truth, mean=0.5, strength=0.0)
    mean, strength = _beta_prior(right, n, prior)
    right, doubt = _right(ballots, truth, mean=mean, strength=strength)
    skill = (mean * strength + right) / (strength + n)
    worth = np.maximum(1.0, n - doubt / (skill * (1 - skill)))
    first, second = mean * strength + right * worth / n, (1 - mean) * strength + (n - right) * worth / n
    lows, highs = (betaincinv(first, second, tail) for tail in (0.025, 0.975))
    values = first / (first + second)
    bounds = zip(values.tolist(), lows.tolist(), highs.tolist(), strict=True)
    return [Interval(value, low, high) for value, low, high in bounds]


def _right(ballots: Ballots, truth: Numbers, *, mean: float, strength: float) -> tuple[Numbers, Numbers]:
    """Each rater's expected number of right judgments by EM, and its uncertainty."""
    n = np.bincount(ballots.rater, minlength=len(ballots.raters)).astype(np.float64)
    everyone = np.ones(len(ballots), bool)
    others = max(1, ballots.n_labels - 1)
    skill = np.full(len(n), 0.8)
    for _ in range(STEPS):
        mine = skill[ballots.rater]
        chance = mine * truth / np.maximum(mine * truth + (1 - mine) * (1 - truth) / others, 1e-300)
        right, _ = _sums(ballots, chance, everyone)
        skill = np.clip((mean * strength + right) / (strength + n), 1e-6, 1 - 1e-6)
    doubt, _ = _sums(ballots, chance * (1 - chance), everyone)
    return right, doubt


def _beta_prior(right: Numbers, n: Numbers, bounds: tuple[float, float]) -> tuple[float, float]:
    """The mean of raters' shares and the number of judgments that it is worth, by the method of moments."""
    # Half a case of each kind more: three raters who never differ on twenty items are no proof that nobody ever errs.
    mean = float(right.sum() + 0.5) / float(n.sum() + 1)
    shares = right / n
    spread = float(n @ (shares - mean) ** 2) / float(n.sum())
    by_chance = mean * (1 - mean) * len(n) / float(n.sum())
    between = spread - by_chance
    least, most = bounds
    strength = mean * (1 - mean) / between - 1 if between > 0 else most
    return mean, min(max(strength, least), most)


def agrees_with_others(ballots: Ballots) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Each judgment's share in the plurality of the item's others (1/k in a tie of k), and whether there are any.

    When one vote is removed, its label is on top only if it led alone; then it still leads, or ties with the second.
    """
    votes = ballots.votes.astype(np.int64)
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


def _top_labels(ballots: Ballots) -> tuple[npt.NDArray[np.int64], Numbers, Numbers]:
    """Each rater's most frequent label, its share, and its share among all other raters' judgments."""
    n_raters, n_labels = len(ballots.raters), ballots.n_labels
    table = np.bincount(ballots.cell(), minlength=n_raters * n_labels).reshape(n_raters, n_labels)
    top, n_top = table.argmax(axis=1), table.max(axis=1)
    n_judgments = table.sum(axis=1)
    n_others = len(ballots) - n_judgments
    others = np.where(n_others > 0, (table.sum(axis=0)[top] - n_top) / np.maximum(n_others, 1), nan)
    return top, n_top / n_judgments, others


def _seconds(judgments: Judgments) -> dict[str, float]:
    if "seconds" not in judgments.frame.columns:
        return {}
    timed = judgments.frame.filter(pl.col("seconds").is_not_null())
    medians = timed.group_by(pl.col("rater").cast(pl.String)).agg(pl.col("seconds").median())
    return {str(name): float(median) for name, median in medians.iter_rows()}


def _columns(name: str, intervals: Sequence[Interval]) -> dict[str, list[float]]:
    return {
        name: [interval.value for interval in intervals],
        f"{name}_low": [interval.low for interval in intervals],
        f"{name}_high": [interval.high for interval in intervals],
    }
