"""What is taken for true: how far each item is an error, from 0 to 1.

`share` is the share of raters who call it one (Madnani et al. 2011, 4.1), `majority` the side with more votes, a tie
half on each side; `rater:NAME` is one rater, as most of the field does; `adjudicated` a table of gold (an item for
which both verdicts are accepted is half an error); `dawid-skene` weighs raters by their own skill and gives the
posterior, or its more likely side.  An item that the source says nothing about is nan: not scored, and counted.

**Items that nobody judged** bound how far precision and recall could move if all of them, or none, were errors.  No
assumption, no interval: with u flagged and v passed-over items without a truth, precision lies between H / (F + u)
and (H + u) / (F + u), recall between H / (H + M + v) (no unjudged flag is an error, every unjudged item passed over
is one) and (H + u) / (H + u + M).  Manski 2003, Partial Identification of Probability Distributions, calls them
worst-case bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np
import polars as pl

from grater.errors import UnknownName, UsageError
from grater.measure.crowd.aggregate import Options, aggregate
from grater.measure.evaluation.cases import ERROR, OK, Votes, places_of, votes_of
from grater.measure.evaluation.counts import Counts
from grater.model import Json
from grater.registry import unknown
from grater.result import HIDDEN, Data, encode, in_json
from grater.sheet import Sheet, count, number
from grater.tables import Judgments, Table, exploded, require_raters
from grater.uncertainty.intervals import Numbers

ADJUDICATED = "adjudicated"
TRUTHS = ("share", "majority", "dawid-skene", ADJUDICATED, "rater:NAME")
RATER = "rater:"
DECIMALS = 12
"""Truths that differ by less are the same: sums in another order of rows must not tell them apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """`values` by item, nan where nothing is known; `is_of_votes` where it is a function of the votes of raters."""

    name: str
    values: Numbers
    is_graded: bool
    is_of_votes: bool = False


def truth_of(votes: Votes, name: str = "majority", *, gold: Table | None = None, seed: int = 0) -> Truth:
    """The truth by name."""
    if name == "share":
        return Truth(name, _rounded(votes.equal.share), is_graded=True, is_of_votes=True)
    if name == "majority":
        return Truth(name, sides(votes.share), is_graded=False, is_of_votes=True)
    if name.startswith(RATER):
        return Truth(name, _of_rater(votes, name.removeprefix(RATER)), is_graded=False)
    if name == "dawid-skene":
        return Truth(name, sides(_posterior(votes, seed)), is_graded=False)
    if name == ADJUDICATED:
        return Truth(name, _adjudicated(votes, gold), is_graded=False)
    raise UnknownName(unknown("truth", name, list(TRUTHS)))


def graded(votes: Votes, truth: Truth, *, seed: int = 0) -> Truth:
    """The truth that weighted scores use beside this one: the posterior for Dawid-Skene, the share otherwise."""
    if truth.is_graded:
        return truth
    if truth.name == "dawid-skene":
        return Truth(truth.name, np.round(_posterior(votes, seed), DECIMALS), is_graded=True)
    return truth_of(votes, "share")


def error_shares(judgments: Judgments) -> dict[str, float]:
    """By item, how far the majority calls it an error: 0, 1, or a half where raters are split."""
    votes = votes_of(judgments)
    return dict(frame_of_truth(votes, truth_of(votes, "majority")).iter_rows())


def frame_of_truth(votes: Votes, truth: Truth) -> pl.DataFrame:
    """The items that have a truth, by name: item, error."""
    frame = pl.DataFrame({"item": votes.items.cast(pl.String), "error": truth.values})
    return frame.filter(pl.col("error").is_not_nan()).sort("item")


def sides(share: Numbers) -> Numbers:
    """1 above one half, 0 below, and half on each side for a tie."""
    side: Numbers = np.round(share, DECIMALS)
    side -= 0.5
    np.sign(side, out=side)
    side += 1
    side /= 2
    return side


def _rounded(share: Numbers) -> Numbers:
    """The same array, rounded: of twenty million items one is enough."""
    rounded: Numbers = np.round(share, DECIMALS, out=share)
    return rounded


def _of_rater(votes: Votes, rater: str) -> Numbers:
    require_raters(votes.judgments, "results by rater")
    if rater not in votes.raters:
        raise UnknownName(unknown("rater", rater, list(votes.raters)))
    values, code = np.full(len(votes), np.nan), votes.raters.index(rater)
    is_own = votes.rater == code
    values[votes.item[is_own]] = votes.is_error[is_own]
    return values


def _posterior(votes: Votes, seed: int) -> Numbers:
    """The chance that each item is an error, by Dawid and Skene's model on the votes that take part."""
    values = np.full(len(votes), np.nan)
    if not len(votes.item):
        return values
    # Rows in one order whatever the file's, so that sums of floating-point numbers do not depend on it.
    order = np.lexsort((votes.rater, votes.item))
    frame = pl.DataFrame(
        {
            "item": votes.items.gather(votes.item[order]),
            "rater": pl.Series(votes.raters, dtype=pl.String).gather(votes.rater[order]),
            "label": pl.Series([OK, ERROR], dtype=pl.String).gather(votes.is_error[order].astype(np.int32)),
        }
    )
    judged = votes.judgments
    answers = aggregate(Judgments(frame, judged.name, judged.anonymous_raters), options=Options(seed=seed))
    chance = answers.posteriors[:, answers.labels.index(ERROR)] if ERROR in answers.labels else 0.0
    values[places_of(answers.items, votes.items)] = chance
    return values


def _adjudicated(votes: Votes, gold: Table | None) -> Numbers:
    if gold is None:
        raise UsageError("an adjudicated truth needs the table of gold that has it")
    rows = exploded(gold.frame.with_columns(pl.col("item").cast(pl.String)), "label")
    labels = rows["label"].str.to_lowercase()
    places = places_of(rows["item"], votes.items)
    is_error, is_ok = (places[(labels == verdict).to_numpy() & (places >= 0)] for verdict in (ERROR, OK))
    n_error, n_ok = (np.bincount(rows_of, minlength=len(votes)) > 0 for rows_of in (is_error, is_ok))
    n_accepted = n_error.astype(np.float64) + n_ok
    values: Numbers = np.divide(n_error, n_accepted, out=np.full(len(votes), np.nan), where=n_accepted > 0)
    return values


def _both(counts: Counts) -> dict[str, Json]:
    return {name: encode(counts.score(name)) for name in ("precision", "recall")}


def _recall(counts: Counts) -> Json:
    return _both(counts)["recall"]


@dataclass(frozen=True, slots=True)
class Bounds(Data):
    """One system: what it flagged and passed over unjudged, and the counts of the judged items."""

    system: str = field(metadata=HIDDEN)
    n_flagged: int = field(metadata=HIDDEN)
    n_passed: int = field(metadata=HIDDEN)
    counts: Counts = field(metadata=HIDDEN)

    @property
    @in_json("none_errors", write=_both)
    def none(self) -> Counts:
        """The counts if no unjudged item were an error."""
        return self.counts + Counts(false_alarm=self.n_flagged, correct_rejection=self.n_passed)

    @property
    @in_json("all_errors", write=_both)
    def all(self) -> Counts:
        """The counts if every unjudged item were an error."""
        return self.counts + Counts(hit=self.n_flagged, miss=self.n_passed)

    @property
    @in_json("recall_lowest", write=_recall)
    def worst(self) -> Counts:
        return self.counts + Counts(false_alarm=self.n_flagged, miss=self.n_passed)

    @property
    @in_json("recall_highest", write=_recall)
    def best(self) -> Counts:
        return self.counts + Counts(hit=self.n_flagged, correct_rejection=self.n_passed)


def bounds_sheet(bounds: Sequence[Bounds]) -> Sheet:
    """The table of all systems."""
    rows = [
        (
            bound.system,
            count(bound.n_flagged),
            count(bound.n_passed),
            *(_range(bound.none.score(name), bound.all.score(name)) for name in ("precision", "recall")),
            _range(bound.worst.score("recall"), bound.best.score("recall")),
        )
        for bound in bounds
    ]
    columns = ("", "flags", "passed over", "precision: none, all", "recall: none, all", "recall: lowest, highest")
    title = "If none of the items that nobody judged were errors, or all of them"
    return Sheet(title, columns, tuple(rows), name="bounds")


def _range(low: float, high: float = nan) -> str:
    return f"{number(low)}, {number(high)}"
