"""Input and output of an aggregation method, `method(ballots, options) -> Fit`; steps that methods share; votes.

*Ballots* are the coded judgments and the gold that a method gets. Every method holds gold fixed. If gold accepts
several labels for an item, the model distributes the posterior over these labels only; an item with one accepted
label has it with certainty. Gold items count towards raters' skills like any other. Sums over items or raters are
products with a sparse matrix of ones (scipy), so no method loops over judgments.

*Iterative methods* turn scores into posteriors (`posteriors`) and repeat a step until the log-likelihood stops rising
(`climb`). The answer is the likeliest label (`answers`). A tie is broken by the item's permanent random number
(`rng.permanent_number`), so it does not depend on the order of rows or on other items; labels are tied if their
posteriors differ by less than floating-point rounding error.

*Majority*: the posterior of a label is its share of the item's judgments. It is the baseline, and the only method of
T&C 2013 and Madnani et al. 2011. It estimates no skills, so `Aggregation.skill` is the share of a rater's judgments
that equal the answer.

*Wawa*, worker agreement with aggregate: Appen (Figure Eight, CrowdFlower), as described for crowd-kit (Ustalov et al.
2024, doi:10.21105/joss.06227). The skill of rater r is the share of r's judgments that equal the plain majority, ties
broken as there; the posterior of a label is the sum of the skills of those who gave it, over the sum of all skills on
the item. If all raters of an item have skill 0, the plain shares are used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import BadInput, Problem, UsageError
from grater.measure.units import Coded, Codes, coded, in_order, reordered, table_of
from grater.tables import Judgments, Table, exploded
from grater.uncertainty import Ints, Numbers, permanent_number

T = TypeVar("T")
Truths: TypeAlias = npt.NDArray[np.bool_]
Sparse: TypeAlias = Any
"""A scipy sparse array; scipy has no types."""

MOST_CODES = 1 << 31
LEAST = 1e-10
"""Nothing is impossible, as in crowd-kit: chances and expected counts are at least this."""
TIE = 1e-12
STILL = 1e-6
"""A posterior that moves less has converged."""


@dataclass(frozen=True, slots=True, eq=False)
class Gold:
    """`item` by code; `is_accepted` has a row for each gold item and a column for each label."""

    item: npt.NDArray[np.int64]
    is_accepted: Truths
    labels: tuple[str, ...]
    n_unjudged: int = 0

    def __len__(self) -> int:
        return len(self.item)

    def among(self, labels: Sequence[str]) -> Gold:
        """The same gold with a column for each of these labels, which must include all of its own."""
        is_accepted = np.zeros((len(self), len(labels)), bool)
        is_accepted[:, [labels.index(label) for label in self.labels]] = self.is_accepted
        return Gold(item=self.item, is_accepted=is_accepted, labels=tuple(labels), n_unjudged=self.n_unjudged)


def gold_of(gold: Table, items: pl.Series, labels: Sequence[str]) -> Gold:
    """The gold of judged items by code, with labels of gold alone last; some items must be common."""
    codes = pl.DataFrame({"item": items.cast(pl.String), "code": np.arange(len(items))})
    rows = exploded(gold.frame.select("item", "label"), "label").join(codes, on="item", maintain_order="left")
    if rows.is_empty():
        problem = f"expected gold for some of the judged items, found {len(gold)} others; are these the same items?"
        raise BadInput(Problem(gold.name, problem))
    item, row = np.unique(rows["code"].to_numpy(), return_inverse=True)
    new = sorted(set(rows["label"]) - set(labels))
    known = (*labels, *new)
    column = rows["label"].replace_strict(known, np.arange(len(known)), return_dtype=pl.Int64).to_numpy()
    is_accepted = np.zeros((len(item), len(known)), bool)
    is_accepted[row, column] = True
    return Gold(
        item=item, is_accepted=is_accepted, labels=known, n_unjudged=gold.frame["item"].n_unique() - len(item)
    )


def clamped(shares: Numbers, gold: Gold | None) -> Numbers:
    """Shares restricted to accepted labels; if nothing is left, all accepted labels are equally likely."""
    if gold is None:
        return shares
    kept = np.where(gold.is_accepted, shares[gold.item], 0.0)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, gold.is_accepted)
    shares = shares.copy()
    shares[gold.item] = kept / kept.sum(axis=1, keepdims=True)
    return shares


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Ballots(Coded):
    """Which rater gave which label to which item, by code; `gold` restricts the true labels of some items.

    `votes` counts how often each item was given each label.
    """

    judgments: Judgments
    votes: Ints
    gold: Gold | None = None

    @property
    def n_items(self) -> int:
        return len(self.items)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    def slot(self) -> Codes:
        """The position of each judgment in the flattened table of items x labels."""
        _require_few(self.n_items, self.n_labels)
        slots: Codes = self.item * np.int32(self.n_labels) + self.label
        return slots

    def cell(self) -> Codes:
        """The position of each judgment in the flattened table of raters x labels."""
        _require_few(len(self.raters), self.n_labels)
        cells: Codes = self.rater * np.int32(self.n_labels) + self.label
        return cells


def _require_few(n_rows: int, n_labels: int) -> None:
    if n_rows * n_labels >= MOST_CODES:
        raise UsageError(f"expected fewer labels, found {n_labels}: too many for this method; merge some of them")


def ballots_of(judgments: Judgments, *, gold: Table | None = None) -> Ballots:
    """Coded judgments; labels that occur only in gold are included."""
    codes, known = coded(judgments), None
    if gold is not None:
        known = gold_of(gold, codes.items, codes.labels)
        every = sorted({*codes.labels, *known.labels})
        codes = reordered(codes, [every[place] for place in in_order(every)])
        known = known.among(codes.labels)
    votes = table_of(codes.item, codes.label, len(codes.labels))
    own = {each.name: getattr(codes, each.name) for each in fields(codes)}
    return Ballots(**own, judgments=judgments, votes=votes, gold=known)


def incidence(row: Codes, column: Codes, *, shape: tuple[int, int], value: Codes | None = None) -> Sparse:
    """A sparse matrix of ones, or of `value`, at the given cells, each of which must occur once."""
    from scipy.sparse import coo_array  # a fifth of a second that most commands need not wait for

    values = np.ones(len(row)) if value is None else value.astype(np.float64)
    matrix = coo_array((values, (row, column)), shape=shape)
    # A rater judges an item once, so there is nothing to sum; the check would cost as much as all the rest.
    matrix.has_canonical_format = True
    return matrix.tocsr()


def summed(numbers: Numbers, code: Codes, n_codes: int) -> Numbers:
    return np.bincount(code, weights=numbers, minlength=n_codes).astype(np.float64, copy=False)


# What methods return, and the steps that they share


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The stopping rule, and the random seed.

    A run stops when an iteration gains less than `tolerance` in log-likelihood per judgment, as in crowd-kit. Dawid
    and Skene's models also need every posterior to move by at most `STILL`: with the first rule alone, one posterior
    was off by .26. `restarts` is for methods with random starts.
    """

    iterations: int = 1000
    tolerance: float = 1e-6
    restarts: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("iterations", "restarts"):
            if getattr(self, name) < 1:
                raise UsageError(f"expected {name} of at least 1, found {getattr(self, name)}")
        if self.tolerance != self.tolerance:
            raise UsageError("expected a number as tolerance, found nan")


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """`posteriors` has a row for each item and a column for each label.

    `skill`, one number per rater, is defined by the method's paper, or None. `history` is the log-likelihood after
    each iteration; `of_items` holds other estimates by item.
    """

    posteriors: Numbers
    skill: Numbers | None = None
    history: tuple[float, ...] = ()
    has_converged: bool = True
    of_items: Mapping[str, Numbers] = field(default_factory=dict)
    details: object = None


Method: TypeAlias = Callable[[Ballots, Options], Fit]


@dataclass(frozen=True, slots=True, eq=False)
class Climb(Generic[T]):
    state: T
    history: tuple[float, ...]
    has_converged: bool


def climb(
    step: Callable[[T], tuple[T, float]],
    state: T,
    *,
    n_judgments: int,
    options: Options,
    moved: Callable[[T, T], float] = lambda _before, _after: 0.0,
) -> Climb[T]:
    """Repeat a step, which returns a new state and its log-likelihood, until the gain per judgment is small.

    `moved` gives the largest change of a posterior between states, for methods where that must be small too.
    """
    history: list[float] = []
    for _ in range(options.iterations):
        before = state
        state, likelihood = step(before)
        history.append(float(likelihood))
        is_flat = len(history) > 1 and history[-1] - history[-2] < options.tolerance * n_judgments
        if is_flat and moved(before, state) < STILL:
            return Climb(state, tuple(history), has_converged=True)
    return Climb(state, tuple(history), has_converged=False)


def shares(ballots: Ballots) -> Numbers:
    """The share of each label among an item's judgments, restricted to accepted labels: the start of EM."""
    votes = ballots.votes.astype(np.float64)
    votes /= votes.sum(axis=1)[:, None]
    return clamped(votes, ballots.gold)


def posteriors(scores: Numbers, gold: Gold | None) -> tuple[Numbers, float]:
    """Probabilities proportional to exp(scores), and the log-likelihood: the sum over items of log sum exp.

    `scores` is overwritten and returned.
    """
    if gold is not None:
        scores[gold.item] = np.where(gold.is_accepted, scores[gold.item], -np.inf)
    top = scores.max(axis=1)
    scores -= top[:, None]
    np.exp(scores, out=scores)
    total = scores.sum(axis=1)
    scores /= total[:, None]
    return scores, float(top.sum() + np.log(total).sum())


def answers(posteriors: Numbers, items: pl.Series, *, seed: int) -> tuple[Codes, Truths]:
    """The code of each item's answer, and whether it was a tie."""
    is_top = posteriors >= posteriors.max(axis=1)[:, None] - TIE
    n_top = is_top.astype(np.float64).sum(axis=1)
    answer = np.zeros(len(is_top), np.int32)
    for code in reversed(range(is_top.shape[1])):  # the first label at the top; column by column, as rows are short
        answer[is_top[:, code]] = code
    tied = np.flatnonzero(n_top > 1)
    if tied.size:
        numbers = np.array([permanent_number(seed, name) for name in items.gather(tied).cast(pl.String)])
        wanted = (numbers * n_top[tied]).astype(np.int64) + 1
        answer[tied] = (is_top[tied].cumsum(axis=1) == wanted[:, None]).argmax(axis=1)
    return answer, n_top > 1


def agreement_with(answer: Codes, ballots: Ballots) -> Numbers:
    """Each rater's share of judgments that equal the answer, or that gold accepts."""
    is_right: Truths = answer[:, None] == np.arange(ballots.n_labels)
    if ballots.gold is not None:
        is_right[ballots.gold.item] = ballots.gold.is_accepted
    hits = is_right.ravel().take(ballots.slot())
    n_raters = len(ballots.raters)
    n_hits = np.bincount(ballots.rater[hits], minlength=n_raters)
    return n_hits / np.bincount(ballots.rater, minlength=n_raters)


# Votes


def majority(ballots: Ballots, options: Options) -> Fit:  # noqa: ARG001
    return Fit(shares(ballots))


def wawa(ballots: Ballots, options: Options) -> Fit:
    plain = shares(ballots)
    answer, _ = answers(plain, ballots.items, seed=options.seed)
    skill = agreement_with(answer, ballots)
    weighted = summed(skill.take(ballots.rater), ballots.slot(), plain.size).reshape(plain.shape)
    total = weighted.sum(axis=1, keepdims=True)
    voted = np.divide(weighted, total, out=plain.copy(), where=total > 0)
    return Fit(clamped(voted, ballots.gold), skill)
