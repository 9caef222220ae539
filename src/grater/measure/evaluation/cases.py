"""Decisions matched with judgments: the cases to score, as codes.

**Votes** record who calls which item an error. Labels must be verdicts (`error`, `ok`, `unknown`, in any case); other
labels are merged into these when the table is read. `unknown` is not a vote unless it counts as `ok`; items with such
an answer are recorded. Items may have different numbers of votes. This biases shares only if the number depends on
the votes: if asking stopped as soon as raters agreed, shares are too close to 0 and 1. With `first` N, shares use
only the first N judgments of each item; majorities use all votes.

**Cases** are the items that at least one system decided on, with their votes. Judgments of other items are only
counted, in `n_stray`.

A detector's scores are computed from four additive counts.

If raters disagree, an item can count fractionally: with truth t in [0, 1], a flagged item is t of a hit and 1 - t of
a false alarm, and an unflagged item is t of a miss and 1 - t of a correct rejection (Madnani et al. 2011, eq. 1-3;
with t of 0 or 1 these are the usual counts).

0/0 is nan, with a reason: precision if nothing was flagged, recall if nothing is an error. F is (1 + b^2) H /
(flagged + b^2 errors), so it is 0, not undefined, if a system flags nothing although there are errors.

The truth is the degree to which each item is an error, from 0 to 1.

`share` is the share of raters who call it an error (Madnani et al. 2011, 4.1); `majority` is the side with more
votes, with ties counting half; `rater:NAME` is one rater, as in most of the field; `adjudicated` is a gold table (an
item with both verdicts accepted is half an error); `dawid-skene` weighs raters by their estimated skill and gives the
posterior, or its more likely side. An item without a truth is nan: it is not scored, but counted.

**Items that nobody judged** give worst-case bounds (Manski 2003, Partial Identification of Probability
Distributions), which need no assumptions: with u flagged and v unflagged items without a truth, precision lies
between H / (F + u) and (H + u) / (F + u), recall between H / (H + M + v) (no unjudged flag is an error, every
unjudged unflagged item is) and (H + u) / (H + u + M).

**Copies.** A warning names each rater whose labels equal a system's flags, or the adjudicated labels, on every shared
item (at least 20, with both labels among them).

**Models' judgments of their own corrections** are excluded and reported separately. A rater and a system are the same
model if the column `model` of judgments and decisions says so; without this column, their names are compared. Rows
whose `group` marks them as people's never count as a model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan, nan
from typing import Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UnknownName, UsageError
from grater.errors import unknown as unknown_name
from grater.measure.evaluation.design import CheapJudge, Design, design_of, is_of_these, selection
from grater.measure.units import (
    UNKNOWN,
    VERDICT_WORDS,
    Codes,
    Essays,
    Unknown,
    by_name,
    coded,
    codes_of_items,
    essays_of,
    with_unknown,
)
from grater.model import EDIT, PROGRAM, Interval, Json
from grater.result import HIDDEN, Data, Estimate, encode, in_json
from grater.sheet import Sheet, count, number
from grater.tables import Judgments, Sample, Table, are_first, exploded, require_raters
from grater.uncertainty import BASIS, Basis, Ints, Numbers, ratio

Flags: TypeAlias = npt.NDArray[np.int8]

ABSENT = -1
"""In a matrix of flags: this system did not decide on this item."""

CELLS = ("hit", "false_alarm", "miss", "correct_rejection")
SCORES = ("precision", "recall", "f0.5", "f1", "kappa", "error_rate")
REASONS = {
    "precision": "no judged item is flagged",
    "recall": "no judged item is an error",
    "f0.5": "nothing is flagged and no item is an error",
    "f1": "nothing is flagged and no item is an error",
    "kappa": "system and raters use only one label, so chance alone would agree as often",
    "error_rate": "no item was judged",
}
WHOLE = 1e-9
ONE_DECISION = "everything is flagged, or nothing, so kappa is 0 by definition"


@dataclass(frozen=True, slots=True)
class Counts:
    """The four counts of one system; counts are additive, scores are not."""

    hit: float = 0.0
    false_alarm: float = 0.0
    miss: float = 0.0
    correct_rejection: float = 0.0

    @classmethod
    def of_row(cls, row: Numbers) -> Counts:
        return cls(**dict(zip(CELLS, row.tolist(), strict=True)))

    def __add__(self, other: Counts) -> Counts:
        return Counts.of_row(self.row() + other.row())

    @property
    def n(self) -> float:
        return float(self.row().sum())

    def row(self) -> Numbers:
        return np.array([self.hit, self.false_alarm, self.miss, self.correct_rejection])

    def score(self, name: str) -> float:
        """One of `SCORES`; nan if undefined."""
        return float(score_of(name, self.row()))

    def as_json(self) -> dict[str, float]:
        return {name: whole(float(value)) for name, value in zip(CELLS, self.row(), strict=True)}


def counts_of(flagged: npt.ArrayLike, truth: npt.ArrayLike) -> Counts:
    """The counts of one system, from the flag and the truth of each item."""
    marks = np.asarray(flagged, np.int8)
    return Counts.of_row(cells(marks[:, None], np.asarray(truth, np.float64)).sum(axis=(0, 1)))


def cells(flagged: Flags, truth: Numbers) -> Numbers:
    """Flags (items, systems) and truths (items) give counts (items, systems, 4); a missing decision gives none."""
    is_error = truth[:, None]
    is_flagged, is_passed = flagged == 1, flagged == 0
    parts = [is_flagged * is_error, is_flagged * (1 - is_error), is_passed * is_error, is_passed * (1 - is_error)]
    return np.stack(parts, axis=-1)


def score_of(name: str, sums: Numbers) -> Numbers:
    """One of `SCORES`, computed from the four counts in the last axis."""
    hit, false_alarm, miss, rejection = (sums[..., place] for place in range(len(CELLS)))
    if name == "precision":
        return ratio(hit, hit + false_alarm)
    if name == "recall":
        return ratio(hit, hit + miss)
    if name == "error_rate":
        return ratio(hit + miss, sums.sum(axis=-1))
    if name != "kappa":
        return f_score(sums, float(name.removeprefix("f")))
    n = sums.sum(axis=-1)
    by_chance = (hit + false_alarm) * (hit + miss) + (miss + rejection) * (false_alarm + rejection)
    return ratio(n * (hit + rejection) - by_chance, n * n - by_chance)


def f_score(sums: Numbers, beta: float) -> Numbers:
    hit, false_alarm, miss, _ = (sums[..., place] for place in range(len(CELLS)))
    return ratio((1 + beta**2) * hit, hit + false_alarm + beta**2 * (hit + miss))


def each_score(scores: Mapping[str, Interval], **labels: str) -> Iterator[Estimate]:
    """The rows of a tidy frame: labels, the name of the score, and the score."""
    for name, score in scores.items():
        yield {**labels, "score": name}, score


def whole(value: float) -> float:
    """An integer for JSON if the value is whole up to rounding error; else the value."""
    return value if isnan(value) or abs(value - round(value)) >= WHOLE else round(value)


# Decisions and votes


Truths: TypeAlias = npt.NDArray[np.bool_]

ERROR, OK = "error", "ok"
VERDICTS = (ERROR, OK, UNKNOWN)
UNSURE = VERDICTS.index(UNKNOWN)


@dataclass(frozen=True, eq=False)
class Votes:
    """Raters' votes on `items`: the index of each vote's item, its rater, and whether it is for error.

    `unsure` has the items of `unknown` judgments. `is_first` marks the votes that shares use, if not all. `n_stray`
    counts, by item, the judgments of other items.
    """

    items: pl.Series
    item: Codes
    rater: Codes
    is_error: Truths
    unsure: Codes
    raters: tuple[str, ...]
    judgments: Judgments
    n_stray: int = 0
    is_first: Truths | None = None

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def equal(self) -> Self:
        """The votes that shares use: if requested, only those among the first judgments of their item."""
        if self.is_first is None:
            return self
        first = self.is_first
        return replace(
            self, item=self.item[first], rater=self.rater[first], is_error=self.is_error[first], is_first=None
        )

    @cached_property
    def n_votes(self) -> Codes:
        return np.bincount(self.item, minlength=len(self))

    @cached_property
    def n_error(self) -> Codes:
        return np.bincount(self.item[self.is_error], minlength=len(self))

    @cached_property
    def n_unsure(self) -> Codes:
        return np.bincount(self.unsure, minlength=len(self))

    @property
    def n_unknown(self) -> int:
        return int(self.n_unsure.sum())

    @property
    def has_unknown(self) -> Truths:
        has_unknown: Truths = self.n_unsure > 0
        return has_unknown

    @property
    def n_judgments(self) -> Codes:
        """The number of votes and `unknown` judgments."""
        return self.n_votes + self.n_unsure

    @property
    def is_judged(self) -> Truths:
        judged: Truths = self.n_votes > 0
        return judged

    @property
    def share(self) -> Numbers:
        return share_of(self.n_error, self.n_votes)


def share_of(n_error: Codes | Numbers, n_votes: Codes | Numbers) -> Numbers:
    out = np.full(np.shape(n_votes), np.nan)
    share: Numbers = np.divide(n_error, n_votes, out=out, where=n_votes > 0, dtype=np.float64)
    return share


def votes_of(
    judgments: Judgments, *, items: pl.Series | None = None, unknown: Unknown = "drop", first: int = 0
) -> Votes:
    """The votes on these items, or on all judged items; shares use the `first` N judgments of each item."""
    judgments = with_unknown(judgments, "ok") if unknown == "ok" else judgments
    codes = coded(judgments)
    names = codes.items if items is None else items
    place_of = places_of(codes.items, names)
    place, verdict = place_of[codes.item], _verdict_codes(codes.labels, judgments.name)[codes.label]
    is_vote = (place >= 0) & (verdict != UNSURE)
    return Votes(
        items=names,
        item=place[is_vote],
        rater=codes.rater[is_vote],
        is_error=verdict[is_vote] == VERDICTS.index(ERROR),
        unsure=place[(place >= 0) & (verdict == UNSURE)],
        raters=codes.raters,
        judgments=judgments,
        n_stray=int((place_of < 0).sum()),
        is_first=are_first(judgments, first)[is_vote] if first else None,
    )


def _verdict_codes(labels: Sequence[str], name: str) -> Codes:
    strange = [label for label in labels if label.casefold() not in VERDICTS]
    if strange:
        message = f"expected labels error, ok or unknown, found {', '.join(strange[:5])}; merge them into these"
        raise BadInput(Problem(name, f"{message}, as in 0,1=error and 2,e=ok"))
    return np.array([VERDICTS.index(label.casefold()) for label in labels], np.int8)


def places_of(wanted: pl.Series, names: pl.Series) -> Codes:
    """The index of each name in `names`; -1 if it is missing."""
    table = pl.DataFrame({"name": names, "place": np.arange(len(names), dtype=np.int32)})
    rows = pl.DataFrame({"name": wanted}).join(table, on="name", how="left", maintain_order="left")
    return rows["place"].fill_null(-1).to_numpy()


NONE = "(none)"


Missing: TypeAlias = Literal["absent", "not-flagged"]
"""The meaning of an item that a system does not list: no decision, or not flagged."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cases(Votes):
    """Votes on the items that systems decided on; `flagged` is items x systems, `unit_of` the unit of each item.

    `scores` are the systems' own, nan if missing. `design` describes how the judged items were drawn, if a sample is
    known. `withheld` gives the systems whose recall cannot be estimated, and the reasons.
    """

    systems: tuple[str, ...]
    flagged: Flags
    columns: pl.DataFrame
    essays: Essays
    unit_of: Ints
    scores: Numbers
    design: Design | None = None
    withheld: Mapping[str, str] = field(default_factory=dict)

    def groups(self, column: str) -> tuple[Codes, tuple[str, ...]]:
        """The code of each item's value in a column of the items or decisions, and the values by code."""
        if column not in self.columns.columns:
            known = [name for name in self.columns.columns if name != "item"]
            raise UnknownName(f"{unknown_name('column', column, known)}; columns of items come from a table of items")
        values = self.columns[column].cast(pl.String).fill_null(NONE)
        return by_name(values.cast(pl.Categorical))

    def of_systems(self, columns: Sequence[int]) -> Self:
        names = tuple(self.systems[column] for column in columns)
        design = self.design.of_systems(columns) if self.design else None
        chosen = list(columns)
        return replace(
            self, systems=names, flagged=self.flagged[:, chosen], scores=self.scores[:, chosen], design=design
        )

    def as_systems(self, flagged: Flags, column: int = 0) -> Self:
        """The same items with other flags: unnamed systems that are weighted like the system of `column`."""
        k = flagged.shape[1]
        names, scores = tuple(map(str, range(k))), np.full(flagged.shape, np.nan)
        design = self.design.of_systems([column] * k) if self.design else None
        return replace(self, systems=names, flagged=flagged, scores=scores, design=design, withheld={})


def cases_of(
    decisions: Table,
    judgments: Judgments,
    *,
    items: Table | None = None,
    sample: Sample | None = None,
    labels: Judgments | None = None,
    judge: CheapJudge | None = None,
    basis: Basis = BASIS,
    unknown: Unknown = "drop",
    first: int = 0,
    missing: Missing = "absent",
    kind: str = "",
) -> Cases:
    """Every item that a system decided on, with its votes; shares use the `first` N votes of each item.

    If every item was judged, the sample is irrelevant. `labels` are those that its strata were built from. With
    `kind`, only items of this kind.
    """
    if kind:
        wanted = items_of_kind(kind, items, decisions)
        same = pl.col("item").cast(pl.String)
        decisions = replace(decisions, frame=decisions.frame.join(wanted, on=same, how="semi"))
        judgments = replace(judgments, frame=judgments.frame.join(wanted, on=same, how="semi"))
    frame = decisions.frame
    if not len(frame):
        raise BadInput(Problem(decisions.name, "expected at least one decision, found none"))
    if missing == "not-flagged":
        frame = _completed(frame, items, judgments)
        decisions = replace(decisions, frame=frame)
    if frame["item"].is_duplicated().any():
        place, names = codes_of_items(frame["item"].cast(pl.String).cast(pl.Categorical))
    else:  # as the items of one system
        place, names = np.arange(len(frame), dtype=np.int32), frame["item"]
    names = names.cast(pl.String)
    system, systems = by_name(frame["system"].cast(pl.String).cast(pl.Categorical))
    flagged = np.full((len(names), len(systems)), ABSENT, np.int8)
    flagged[place, system] = frame["flagged"].cast(pl.Int8).to_numpy()
    votes = votes_of(judgments, items=names, unknown=unknown, first=first)
    of_votes = dict(vars(votes))  # without what it will have worked out
    essays = essays_of(judgments, items, decisions, sample, units=basis.units, population=basis.population)
    codes = essays.codes(names)
    design = None
    if sample is not None and not (votes.is_judged.all() and is_of_these(sample, len(names))):
        design = design_of(decisions, sample, systems, names, labels=labels, judge=judge)
    elif judge is not None:
        raise UsageError("a cheap judge assists people who judged a part of the corpus; pass the sample")
    scores = np.full(flagged.shape, np.nan)
    if "score" in frame.columns:
        scores[place, system] = frame["score"].cast(pl.Float64, strict=False).fill_null(nan).to_numpy()
    return Cases(
        **of_votes,
        systems=systems,
        flagged=flagged,
        columns=_columns(names, place, frame, items),
        essays=essays,
        unit_of=np.arange(len(names)) if codes is None else codes,
        scores=scores,
        design=design,
    )


def flag_lists(cases: Cases) -> list[str]:
    are_lists = cases.n_stray > 0 and not (cases.flagged == 0).any()
    return [
        name
        for name, marks in zip(cases.systems, cases.flagged.T, strict=True)
        if (marks == 1).any() and not (marks == 0).any() and (are_lists or (marks == ABSENT).any())
    ]


def with_withheld(cases: Cases, truth: Truth) -> Cases:
    """The cases, with the systems whose recall the design cannot estimate."""
    known = ~np.isnan(truth.values)
    withheld = {name: f"{name} lists only what it flags; {LISTED}" for name in flag_lists(cases)}
    if "kind" in cases.columns.columns:  # edits are no places where a system passed an error over
        flags = cases.flagged[(cases.columns["kind"].cast(pl.String) == EDIT).fill_null(value=False).to_numpy()] == 1
        withheld |= {name: f"{name} {EDITED}" for name, has in zip(cases.systems, flags.any(0), strict=True) if has}
    if cases.design is None and not known.all():
        chosen = list(selection(cases.flagged, known, cases.systems, cases.scores))
        if chosen:
            withheld |= {name: f"{chosen[0]}; {CHOSEN}" for name in cases.systems if name not in withheld}
    return replace(cases, withheld=withheld)


LISTED = "pass `missing` not-flagged if everything else was passed over"
EDITED = "was judged by its edits: the errors that it left alone are not among them"
CHOSEN = "pass `sample` if they were drawn, or judge items at random"


def items_of_kind(kind: str, *tables: Table | None) -> pl.DataFrame:
    """The items of one kind, according to the first of the tables that knows kinds."""
    table = next((each for each in tables if each is not None and "kind" in each.frame.columns), None)
    if table is None:
        raise UsageError("no table has the kinds of items; pass a table of items with a column kind")
    kinds = table.frame.select(pl.col("item").cast(pl.String), pl.col("kind").cast(pl.String))
    wanted = kinds.filter(pl.col("kind") == kind).select("item").unique()
    if wanted.is_empty():
        raise UnknownName(unknown_name("kind", kind, kinds["kind"].drop_nulls().unique().sort().to_list()))
    return wanted


def _completed(frame: pl.DataFrame, items: Table | None, judgments: Judgments) -> pl.DataFrame:
    """The decisions, with an unflagged row for every item that a system does not list."""
    tables = [frame, judgments.frame, *([items.frame] if items else [])]
    names = pl.concat([table.select(pl.col("item").cast(pl.String)) for table in tables]).unique(maintain_order=True)
    systems = frame.select(pl.col("system").cast(pl.String)).unique(maintain_order=True)
    listed = frame.with_columns(pl.col("item", "system").cast(pl.String))
    rest = names.join(systems, how="cross").join(listed, on=["item", "system"], how="anti")
    return pl.concat([listed, rest.with_columns(flagged=pl.lit(value=False))], how="diagonal_relaxed")


def _columns(names: pl.Series, place: Codes, frame: pl.DataFrame, items: Table | None) -> pl.DataFrame:
    """Data about each item, from columns of the items table or else of the decisions."""
    if items is not None:
        known = items.frame.with_columns(pl.col("item").cast(pl.String))
        return pl.DataFrame({"item": names.cast(pl.String)}).join(known, on="item", how="left", maintain_order="left")
    known = frame.drop("system", "flagged", "item", "score", "suggestion", strict=False)
    if len(known) == len(names):
        return known
    first = np.zeros(len(names), np.int64)
    first[place[::-1]] = np.arange(len(place))[::-1]
    return known[first]


def patterns(columns: Sequence[npt.NDArray[np.number]]) -> tuple[Numbers, Ints]:
    """The distinct combinations of values, in order, and the number of rows with each."""
    pattern = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        # Values are few as a rule, so looking each up among them is faster than numpy's own numbering.
        values = np.unique(column)
        pattern = pattern * len(values) + np.searchsorted(values, column)
        if int(pattern.max(initial=0)) > len(pattern):  # neither outgrows 64 bits nor needs a large table
            pattern = np.searchsorted(np.unique(pattern), pattern)
    occurring = np.flatnonzero(np.bincount(pattern))
    code = np.zeros(int(pattern.max(initial=-1)) + 1, np.int64)
    code[occurring] = np.arange(len(occurring))
    pattern = code[pattern]
    first = np.zeros(len(occurring), np.int64)
    first[pattern] = np.arange(len(pattern))
    rows = np.stack([column[first].astype(np.float64) for column in columns], axis=1)
    return rows, np.bincount(pattern, minlength=len(first))


def only(where: Truths) -> Ints:
    """The indices of the selected items; an error if there are none."""
    places = np.flatnonzero(where)
    if not places.size:
        raise UsageError("no item is left; do decisions and judgments name the same items?")
    return places


def unset_flags(judgments: Judgments, flags: Sequence[str]) -> Iterator[str]:
    """A warning about flags that no judgment has, whose items therefore cannot be shown separately."""
    if not flags or "flags" not in judgments.frame.columns:
        return
    known = sorted(exploded(judgments.frame, "flags")["flags"].unique().to_list())
    missing = [flag for flag in flags if flag not in known]
    if missing:
        yield f"no judgment has the flag {', '.join(missing)}; flags that raters set: {', '.join(known) or 'none'}"


# Truth


ADJUDICATED = "adjudicated"
TRUTHS = ("share", "majority", "dawid-skene", ADJUDICATED, "rater:NAME")
RATER = "rater:"
DECIMALS = 12
"""Truths that differ by less are the same: sums in another order of rows must not tell them apart."""


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """`values` by item, nan if unknown; `is_of_votes` if they are computed from raters' votes."""

    name: str
    values: Numbers
    is_graded: bool
    is_of_votes: bool = False


def truth_of(votes: Votes, name: str = "majority", *, gold: Table | None = None, seed: int = 0) -> Truth:
    if name == "share":
        return Truth(name, np.round(votes.equal.share, DECIMALS), is_graded=True, is_of_votes=True)
    if name == "majority":
        return Truth(name, sides(votes.share), is_graded=False, is_of_votes=True)
    if name.startswith(RATER):
        return Truth(name, _of_rater(votes, name.removeprefix(RATER)), is_graded=False)
    if name == "dawid-skene":
        return Truth(name, sides(_posterior(votes, seed)), is_graded=False)
    if name == ADJUDICATED:
        if gold is None:
            raise UsageError("an adjudicated truth needs the table of gold that has it")
        rows = exploded(gold.frame.with_columns(pl.col("item").cast(pl.String)), "label")
        labels = rows["label"].str.to_lowercase()
        places = places_of(rows["item"], votes.items)
        is_error, is_ok = (places[(labels == verdict).to_numpy() & (places >= 0)] for verdict in (ERROR, OK))
        n_error, n_ok = (np.bincount(rows_of, minlength=len(votes)) > 0 for rows_of in (is_error, is_ok))
        n_accepted = n_error.astype(np.float64) + n_ok
        values: Numbers = np.divide(n_error, n_accepted, out=np.full(len(votes), np.nan), where=n_accepted > 0)
        return Truth(name, values, is_graded=False)
    raise UnknownName(unknown_name("truth", name, list(TRUTHS)))


def graded(votes: Votes, truth: Truth, *, seed: int = 0) -> Truth:
    """The truth for the additional weighted scores: the posterior for Dawid-Skene, otherwise the share."""
    if truth.is_graded:
        return truth
    if truth.name == "dawid-skene":
        return Truth(truth.name, np.round(_posterior(votes, seed), DECIMALS), is_graded=True)
    return truth_of(votes, "share")


def error_shares(judgments: Judgments) -> dict[str, float]:
    """By item, the majority's verdict as a number: 1 for error, 0 for ok, a half for a tie."""
    votes = votes_of(judgments)
    return dict(frame_of_truth(votes, truth_of(votes, "majority")).iter_rows())


def judge_of_labels(judgments: Judgments) -> CheapJudge:
    """A cheap rater's verdicts, or the share of several cheap raters that call an item an error."""
    votes = votes_of(judgments)
    frame = pl.DataFrame({"item": votes.items.cast(pl.String), "value": votes.share})
    return CheapJudge(judgments.name, frame.filter(pl.col("value").is_not_nan()))


def frame_of_truth(votes: Votes, truth: Truth) -> pl.DataFrame:
    """The items with a truth, by name: item, error."""
    frame = pl.DataFrame({"item": votes.items.cast(pl.String), "error": truth.values})
    return frame.filter(pl.col("error").is_not_nan()).sort("item")


def sides(share: Numbers) -> Numbers:
    """1 above one half, 0 below, and one half for a tie."""
    side: Numbers = np.round(share, DECIMALS)
    side -= 0.5
    np.sign(side, out=side)
    side += 1
    side /= 2
    return side


def _of_rater(votes: Votes, rater: str) -> Numbers:
    require_raters(votes.judgments, "results by rater")
    if rater not in votes.raters:
        raise UnknownName(unknown_name("rater", rater, list(votes.raters)))
    values, code = np.full(len(votes), np.nan), votes.raters.index(rater)
    is_own = votes.rater == code
    values[votes.item[is_own]] = votes.is_error[is_own]
    return values


def _posterior(votes: Votes, seed: int) -> Numbers:
    """The probability that each item is an error, by Dawid and Skene's model of the votes used."""
    from grater.measure.crowd.aggregate import Options, aggregate  # which other truths need not wait for

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


@dataclass(frozen=True, slots=True)
class Bounds(Data):
    """One system: the items it flagged and passed over that were not judged, and the counts of the judged items."""

    system: str = field(metadata=HIDDEN)
    n_flagged: int = field(metadata=HIDDEN)
    n_passed: int = field(metadata=HIDDEN)
    counts: Counts = field(metadata=HIDDEN)

    def score(self, name: str, *, flagged: bool, passed: bool) -> float:
        """The score if all unjudged flags, or all unjudged unflagged items, were errors; otherwise none of them."""
        hit, miss = self.n_flagged * flagged, self.n_passed * passed
        return (self.counts + Counts(hit, self.n_flagged - hit, miss, self.n_passed - miss)).score(name)

    @property
    @in_json(flat=True)
    def scores(self) -> dict[str, Json]:
        both = {
            name: {score: encode(self.score(score, flagged=are, passed=are)) for score in ("precision", "recall")}
            for name, are in (("none_errors", False), ("all_errors", True))
        }
        worst, best = (self.score("recall", flagged=right, passed=not right) for right in (False, True))
        return {**both, "recall_lowest": encode(worst), "recall_highest": encode(best)}


def bounds_sheet(bounds: Sequence[Bounds]) -> Sheet:
    rows = [
        (
            bound.system,
            count(bound.n_flagged),
            count(bound.n_passed),
            *(
                ", ".join(number(bound.score(name, flagged=are, passed=are != mixed)) for are in (False, True))
                for name, mixed in (("precision", False), ("recall", False), ("recall", True))
            ),
        )
        for bound in bounds
    ]
    columns = ("", "flags", "passed over", "precision: none, all", "recall: none, all", "recall: lowest, highest")
    title = "If none of the items that nobody judged were errors, or all of them"
    return Sheet(title, columns, tuple(rows), name="bounds")


# Raters who repeat a system, or the gold

FEWEST_SHARED = 20
"""Shared items below which equal labels prove nothing."""
MOST_OF = 0.9
"""A copy has nearly all items that were judged at all; a good rater is right on the few that he or she met."""
AT_ONCE = 10_000
"""Votes looked at in one go: the first few nearly always show that nobody copies."""


def copies(cases: Cases, others: npt.NDArray[np.generic]) -> Iterator[tuple[str, int, int]]:
    """Raters who repeat a column of `others` (items x columns of 1 or 0, negative if missing) on n items."""
    n_raters = len(cases.raters)
    for column in range(others.shape[1]):
        says_error, says_ok = others[:, column] == 1, others[:, column] == 0
        may_copy = np.ones(n_raters, bool)
        for start in range(0, len(cases.item), AT_ONCE):
            item, own = cases.item[start : start + AT_ONCE], cases.is_error[start : start + AT_ONCE]
            differs = np.where(own, says_ok[item], says_error[item])
            may_copy[cases.rater[start : start + AT_ONCE][differs]] = False
            if not may_copy.any():
                break
        for place in np.flatnonzero(may_copy):
            item = cases.item[cases.rater == place]
            n_error, n_ok = int(says_error[item].sum()), int(says_ok[item].sum())
            n_judged = len(np.unique(cases.item[says_error[cases.item] | says_ok[cases.item]]))
            if n_error + n_ok >= max(FEWEST_SHARED, MOST_OF * n_judged) and n_error and n_ok:
                yield cases.raters[place], column, n_error + n_ok


def copied_systems(cases: Cases, flagged: npt.NDArray[np.int8]) -> Iterator[str]:
    for rater, column, n in copies(cases, flagged):
        yield (
            f"rater {rater} gives the answer of system {cases.systems[column]} on all {n:,} shared items; "
            f"if these are its flags, leave {rater} out"
        )


def copied_gold(cases: Cases, gold: Numbers) -> Iterator[str]:
    """A warning for each rater whose labels are the adjudicated ones, by item (1, 0, nan)."""
    for rater, _, n in copies(cases, np.nan_to_num(gold, nan=-1.0)[:, None]):
        yield (
            f"rater {rater} gives the adjudicated label on all {n:,} shared items; "
            f"if {rater} is the adjudication, it is not a rater: leave it out"
        )


# Models that judge their own corrections

OWN = "by a model on its own corrections"


def own_work_sentence(program: str, system: str, own: pl.Series, people: pl.Series) -> str:
    """The share of its own corrections that a model calls right, and people's share for the same items."""
    is_right = [labels.cast(pl.String) == VERDICT_WORDS[0] for labels in (own, people)]
    shares = [f"{each.sum():,} of {len(each):,}" for each in is_right]
    return (
        f"{program} is the model behind {system} and judged its own corrections: it calls {shares[0]} right, "
        f"people {shares[1]}; its judgments of them do not count"
    )


def without_own_work(decisions: Table, judgments: Judgments) -> tuple[Judgments, tuple[str, ...]]:
    """The judgments without those of models on their own flags, and a sentence about each such model."""
    if judgments.anonymous_raters:
        return judgments, ()
    flags = decisions.frame.filter(pl.col("flagged").cast(pl.Boolean)).select(
        pl.col("item", "system").cast(pl.String), _model_of(decisions.frame, "system")
    )
    raters = judgments.frame["rater"].unique().cast(pl.String)
    if "model" not in judgments.frame.columns and set(raters).isdisjoint(flags["model"].unique()):
        return judgments, ()  # most raters are no system, and nothing need be joined
    frame = judgments.frame.with_row_index("row")
    given = frame.select("row", pl.col("item", "rater", "label").cast(pl.String), _model_of(frame, "rater"))
    if "group" in frame.columns:
        is_program = pl.col("group").cast(pl.String).str.to_lowercase().fill_null(PROGRAM) == PROGRAM
        given = given.join(frame.filter(is_program).select("row"), on="row", how="semi")
    own = given.join(flags, on=["item", "model"])
    if not len(own):
        return judgments, ()
    by_people = frame.join(own, on="row", how="anti").select(pl.col("item").cast(pl.String), "label")
    said = []
    for (rater, system), rows in own.group_by("rater", "system", maintain_order=True):
        people = by_people.join(rows, on="item", how="semi")
        said.append(own_work_sentence(str(rater), str(system), rows["label"], people["label"]))
    kept = frame.join(own, on="row", how="anti", maintain_order="left").drop("row")
    n_left = len(frame) - len(kept)
    return replace(judgments, frame=kept, dropped={**judgments.dropped, OWN: n_left}), tuple(said)


def _model_of(frame: pl.DataFrame, name: str) -> pl.Expr:
    own = pl.col(name).cast(pl.String)
    return (pl.coalesce(pl.col("model").cast(pl.String), own) if "model" in frame.columns else own).alias("model")
