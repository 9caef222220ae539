"""One answer for each item from many judgments.

`aggregate` fits one of `METHODS`, each described with its paper in its module, and returns an `Aggregation`: the
answer for each item, its posterior, and the skill of each rater.  Third parties add methods through the entry-point
group `grater.aggregators`.

If the truth is known, `accuracy` is the share of correct answers, with Wilson's interval over items. Gold items are
left out, because the method did not have to estimate them. A tie counts as the label that was drawn for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from grater.measure.crowd.aggregate.ballots import (
    Ballots,
    Fit,
    Method,
    Options,
    Truths,
    agreement_with,
    answers,
    ballots_of,
    gold_of,
)
from grater.measure.units import Codes, one_spelling, spelled_alike, spelling_warnings
from grater.model import Interval, Json
from grater.options import Registry
from grater.result import HIDDEN, Result, in_json, key
from grater.sheet import Sheet, Signature, count, counted, interval, number
from grater.tables import Judgments, Table, require_raters
from grater.uncertainty import Numbers, Scope, wilson

__all__ = ["METHODS", "Accuracy", "Aggregation", "Fit", "Method", "Options", "accuracy", "aggregate"]

METHODS: Registry[Method] = Registry(
    "aggregation method",
    "grater.aggregators",
    {
        "majority": "grater.measure.crowd.aggregate.ballots:majority",
        "wawa": "grater.measure.crowd.aggregate.ballots:wawa",
        "dawid-skene": "grater.measure.crowd.aggregate.dawid_skene:fit",
        "one-coin": "grater.measure.crowd.aggregate.dawid_skene:fit_one_coin",
        "mace": "grater.measure.crowd.aggregate.mace:fit",
        "glad": "grater.measure.crowd.aggregate.glad:fit",
    },
)

MANY_TIED = 0.2
MANY_DIFFERENT = 0.1
FEWEST_DIFFERENT = 5
"""Shares of answers that were ties, or that another method gives otherwise, from which on a warning is given."""
MOST_COMPARED = 1_000_000
"""Judgments up to which a majority is compared with Dawid and Skene's answers."""

MOST_ROWS = 10
"""Raters in a sheet; of more than these, the best and the worst are shown."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`n_items` were judged, have a truth and were not gold; `n_unjudged` have a truth but no judgment."""

    share: Interval
    n_items: int
    n_unjudged: int

    @property
    def scope(self) -> Scope:
        return Scope(unit="item", n_units=self.n_items)


@dataclass(frozen=True, slots=True)
class Rival:
    method: str
    n_different: int
    n_items: int


def _ballots_json(ballots: Ballots) -> dict[str, Json]:
    n_gold = len(ballots.gold) if ballots.gold is not None else 0
    return {"items": len(ballots.items), "judgments": len(ballots), "labels": list(ballots.labels), "gold": n_gold}


def _fit_json(fit: Fit) -> dict[str, Json]:
    history = list(fit.history)
    return {"iterations": len(history), "converged": fit.has_converged, "log_likelihood": history}


def _accuracy_json(accuracy: Accuracy) -> dict[str, Json]:
    return {"accuracy": {**accuracy.share.as_json(), "n": accuracy.n_items}, "scope": accuracy.scope.to_dict()}


@dataclass(frozen=True, eq=False, repr=False)
class Aggregation(Result):
    """`answer` is the code of each item's label; `is_tied` marks ties, which are broken at random."""

    method: str
    ballots: Ballots = field(metadata=key(flat=True, write=_ballots_json))
    fit: Fit = field(metadata=key(flat=True, write=_fit_json))
    answer: Codes = field(metadata=HIDDEN)
    is_tied: Truths = field(metadata=key(write=lambda is_tied: int(is_tied.sum())))
    signature: Signature
    options: Options = field(metadata=HIDDEN)
    accuracy: Accuracy | None = field(default=None, metadata=key(flat=True, optional=True, write=_accuracy_json))

    @cached_property
    @in_json(optional=True)
    def rival(self) -> Rival | None:
        """Dawid and Skene's model for the majority, and the majority for any other method; computed on demand."""
        ballots = self.ballots
        is_majority = self.method == "majority"
        if is_majority and (ballots.judgments.anonymous_raters or len(ballots) > MOST_COMPARED):
            return None
        other = "dawid-skene" if is_majority else "majority"
        fitted = METHODS[other](ballots, self.options)
        theirs, is_theirs_tied = answers(fitted.posteriors, ballots.items, seed=self.options.seed)
        is_clear = ~self.is_tied & ~is_theirs_tied
        return Rival(
            method=other, n_different=int((self.answer != theirs)[is_clear].sum()), n_items=int(is_clear.sum())
        )

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        """Warnings of many ties, and of many items on which the rival method disagrees."""
        return tuple(_warnings(self))

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

    @property
    def has_raters(self) -> bool:
        """Whether raters are named people, not only positions."""
        return not self.ballots.judgments.anonymous_raters

    @cached_property
    def skill(self) -> Numbers:
        """The method's own skill for each rater; for the majority, the share of judgments that equal the answer."""
        require_raters(self.ballots.judgments, "skills")
        return self.fit.skill if self.fit.skill is not None else agreement_with(self.answer, self.ballots)

    def to_frame(self) -> pl.DataFrame:
        """One row per item: item, label, the posterior of each label, tied, and the method's other estimates."""
        names = pl.Series("label", np.array(self.labels, object)[self.answer], dtype=pl.String)
        chances = {f"p:{label}": self.posteriors[:, code] for code, label in enumerate(self.labels)}
        return pl.DataFrame(
            {"item": self.items.alias("item"), "label": names, **chances, "tied": self.is_tied, **self.fit.of_items}
        )

    def rater_frame(self) -> pl.DataFrame:
        frame = pl.DataFrame({"rater": list(self.raters), "skill": self.skill})
        return frame.sort(["skill", "rater"], descending=[True, False])

    @property
    @in_json("raters", optional=True)
    def _raters(self) -> list[dict[str, Json]]:
        return self.rater_frame().to_dicts() if self.has_raters else []

    @property
    @in_json("answers", write=list)
    def _answers(self) -> list[Json]:
        columns = (self.answer.tolist(), self.posteriors.max(axis=1).tolist(), self.is_tied.tolist())
        return [
            {"item": item, "label": self.labels[code], "posterior": chance, "tied": is_tied}
            for item, code, chance, is_tied in zip(self.items.to_list(), *columns, strict=True)
        ]

    def sheets(self) -> tuple[Sheet, ...]:
        answers_by_label = Sheet(
            f"Answers of {counted(len(self.ballots), 'judgment')} by {self.method}",
            ("label", "items", "share", "sure"),
            tuple(self._label_row(code) for code in range(len(self.labels))),
            notes=self._notes(),
            signature=str(self.signature),
        )
        if not self.has_raters:
            return (answers_by_label,)
        title = f"Skill of {counted(len(self.raters), 'rater')}"
        n_judgments = dict(zip(self.raters, np.bincount(self.ballots.rater).tolist(), strict=True))
        rows = [(name, count(n_judgments[name]), number(skill)) for name, skill in self.rater_frame().iter_rows()]
        if len(rows) > MOST_ROWS:
            rows[MOST_ROWS // 2 : -MOST_ROWS // 2] = [("…", "", "")]
        return answers_by_label, Sheet(title, ("rater", "judgments", "skill"), tuple(rows))

    def _label_row(self, code: int) -> tuple[str, ...]:
        has_label = self.answer == code
        n = int(has_label.sum())
        sure = float(self.posteriors[has_label, code].mean()) if n else np.nan
        return self.labels[code], count(n), number(n / len(self.items)), number(sure)

    def _notes(self) -> tuple[str, ...]:
        notes = [] if self.accuracy is None else [_accuracy_note(self.accuracy)]
        notes.append("'sure' is the mean posterior of the answer.")
        if self.ballots.gold is not None:
            notes.append(f"{counted(len(self.ballots.gold), 'gold item')} held fixed.")
        if self.is_tied.any():
            notes.append(f"{counted(int(self.is_tied.sum()), 'tie')} broken at random.")
        if self.fit.history:
            last = self.fit.history[-1]
            notes.append(f"Log-likelihood {last:,.4f} after {counted(len(self.fit.history), 'iteration')}.")
        return tuple(notes)


def aggregate(
    judgments: Judgments,
    method: str = "dawid-skene",
    *,
    gold: Table | None = None,
    truth: Table | None = None,
    options: Options | None = None,
) -> Aggregation:
    """One answer for each item; gold is held fixed, and accuracy is measured if the truth is given."""
    options = options or Options()
    fit = METHODS[method]
    if method != "majority":
        require_raters(judgments, f"answers by {method}")
    ballots = ballots_of(judgments, gold=gold)
    if spelled_alike(ballots.labels):
        ballots = ballots_of(one_spelling(judgments), gold=gold)
    fitted = fit(ballots, options)
    answer, is_tied = answers(fitted.posteriors, ballots.items, seed=options.seed)
    named = {"method": method, "seed": str(options.seed)}
    if fitted.history:
        named |= {"iterations": str(options.iterations), "tolerance": f"{options.tolerance:g}"}
    if method == "mace":
        named["restarts"] = str(options.restarts)
    if ballots.gold is not None:
        named["gold"] = str(len(ballots.gold))
    aggregation = Aggregation(
        method=method,
        ballots=ballots,
        fit=fitted,
        answer=answer,
        is_tied=is_tied,
        signature=Signature("aggregate", named),
        options=options,
    )
    return replace(aggregation, accuracy=accuracy(aggregation, truth)) if truth is not None else aggregation


def _warnings(aggregation: Aggregation) -> Iterator[str]:
    if not aggregation.fit.has_converged:
        n = aggregation.options.iterations
        yield f"{aggregation.method} did not converge in {n} iterations; allow more with `iterations`"
    yield from spelling_warnings(aggregation.ballots.judgments)
    n_tied, n_items, rival = int(aggregation.is_tied.sum()), len(aggregation.items), aggregation.rival
    if n_tied > MANY_TIED * n_items:
        yield (
            f"{n_tied:,} of {counted(n_items, 'answer')} are ties broken at random, "
            "which carry no information; collect more judgments, an odd number for each item"
        )
    if rival and rival.n_different >= FEWEST_DIFFERENT and rival.n_different > MANY_DIFFERENT * rival.n_items:
        yield (
            f"{aggregation.method} and {rival.method} differ on {rival.n_different:,} of "
            f"{counted(rival.n_items, 'item')}: have an expert look at some of these before you trust either"
        )


def accuracy(aggregation: Aggregation, truth: Table) -> Accuracy:
    """The share of items whose answer is among the labels that `truth` accepts."""
    known = gold_of(truth, aggregation.items, aggregation.labels)
    is_right = known.is_accepted[np.arange(len(known)), aggregation.answer[known.item]]
    gold = aggregation.ballots.gold
    is_new = np.ones(len(known), bool) if gold is None else ~np.isin(known.item, gold.item)
    n_items = int(is_new.sum())
    share = wilson(int(is_right[is_new].sum()), n_items)
    return Accuracy(share=share, n_items=n_items, n_unjudged=known.n_unjudged)


def _accuracy_note(accuracy: Accuracy) -> str:
    if not accuracy.n_items:
        return "Accuracy is undefined: every item with a known truth was given as gold."
    n = accuracy.n_items
    known = f"Accuracy {interval(accuracy.share)} on {counted(n, 'item')} with a known truth."
    return f"{known} {accuracy.scope.sentence}"
