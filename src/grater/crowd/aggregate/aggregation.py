"""The methods by their published names; others join by entry points of the group `grater.aggregators`.

The joint answer of a crowd, with how sure it is and who was how good.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from grater.agreement.coded import Codes
from grater.crowd.aggregate.ballots import Ballots, Numbers, Truths, ballots_of
from grater.crowd.aggregate.fit import Fit, Method, Options, agreement_with, answers
from grater.registry import Registry
from grater.signature import Signature
from grater.tables import Judgments, Table, require_raters

METHODS: Registry[Method] = Registry(
    "aggregation method",
    "grater.aggregators",
    {
        "majority": "grater.crowd.aggregate.majority:fit",
        "wawa": "grater.crowd.aggregate.wawa:fit",
        "dawid-skene": "grater.crowd.aggregate.dawid_skene:fit",
        "one-coin": "grater.crowd.aggregate.one_coin:fit",
        "mace": "grater.crowd.aggregate.mace:fit",
        "glad": "grater.crowd.aggregate.glad:fit",
    },
)


@dataclass(frozen=True, eq=False)
class Aggregation:
    """`answer` is the code of each item's label; `is_tied` says where chance decided."""

    method: str
    ballots: Ballots
    fit: Fit
    answer: Codes
    is_tied: Truths
    signature: Signature

    @property
    def items(self) -> pl.Series:
        return self.ballots.items.cast(pl.String)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.ballots.labels

    @property
    def raters(self) -> tuple[str, ...]:
        return self.ballots.raters

    @property
    def posteriors(self) -> Numbers:
        return self.fit.posteriors

    @cached_property
    def skill(self) -> Numbers:
        """The method's own skill of each rater; for the majority, the share of judgments that equal the answer."""
        require_raters(self.ballots.judgments, "skills")
        return self.fit.skill if self.fit.skill is not None else agreement_with(self.answer, self.ballots)

    def frame(self) -> pl.DataFrame:
        """A row for each item: item, label, the posterior of each label, tied, and what else the method learnt."""
        names = pl.Series("label", np.array(self.labels, object)[self.answer], dtype=pl.String)
        chances = {f"p:{label}": self.posteriors[:, code] for code, label in enumerate(self.labels)}
        return pl.DataFrame(
            {"item": self.items.alias("item"), "label": names, **chances, "tied": self.is_tied, **self.fit.of_items}
        )

    def rater_frame(self) -> pl.DataFrame:
        """A row for each rater, the most skilled first."""
        frame = pl.DataFrame({"rater": list(self.raters), "skill": self.skill})
        return frame.sort(["skill", "rater"], descending=[True, False])


def aggregate(
    judgments: Judgments, method: str = "dawid-skene", *, gold: Table | None = None, options: Options | None = None
) -> Aggregation:
    """One answer for each item; gold, where given, is held fast."""
    options = options or Options()
    fit = METHODS[method]
    if method != "majority":
        require_raters(judgments, f"answers by {method}")
    ballots = ballots_of(judgments, gold=gold)
    found = fit(ballots, options)
    answer, is_tied = answers(found.posteriors, ballots.items, seed=options.seed)
    return Aggregation(method, ballots, found, answer, is_tied, _signature(method, ballots, found, options))


def _signature(method: str, ballots: Ballots, found: Fit, options: Options) -> Signature:
    named = {"method": method, "seed": str(options.seed)}
    if found.history:
        named |= {"iterations": str(options.iterations), "tolerance": f"{options.tolerance:g}"}
    if method == "mace":
        named["restarts"] = str(options.restarts)
    if ballots.gold is not None:
        named["gold"] = str(len(ballots.gold))
    return Signature("aggregate", named)
