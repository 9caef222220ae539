"""Dawid and Skene's model: every rater has a confusion matrix, or one number, the chance of being right.

Dawid & Skene 1979, Applied Statistics 28, 20-28, doi:10.2307/2346806.  With T[i,k] the chance that item i is k, p[k]
the share of k and pi[r,k,l] the chance that rater r says l of a k:

    M-step (2.3, 2.4)   pi[r,k,l] = sum of T[i,k] over r's judgments l / sum over all of r's;   p[k] = mean of T[i,k]
    E-step (2.5)        T[i,k] in proportion to p[k] times the product of pi[r,k,l] over the item's judgments

started from shares of votes.  An iteration is an M-step and the E-step after it, so posteriors are those of crowd-kit
after the same number.  Departures, both crowd-kit's: expected counts are at least 1e-10, so nothing is impossible;
a label that a rater never gave stays impossible for that rater, for no judgment asks.  Skill is the chance of being
right, sum of p[k] pi[r,k,k].

Each step is a product with a sparse matrix, items x (rater, label) cells that occur, some millions of judgments at a
time; the posteriors of an iteration take the place of those before.  Scores are relative to the first label and
posteriors add up to 1, so its column is never multiplied: half the work with two labels.

*One coin*: Zhang, Chen, Zhou & Jordan 2016, J. Machine Learning Research 17(102), 1-44 (arXiv:1406.3824).  Rater r is
right with chance w[r], whatever is true, and otherwise gives one of the K - 1 wrong labels, each as likely:

    M-step   w[r] = mean of T[i,l] over r's judgments l of i;   p[k] = mean of T[i,k]
    E-step   log T[i,k] = log p[k] + sum over judgments k of i of log(w[r] (K - 1) / (1 - w[r])) + constant

Only judgments that say k speak for k, so a step costs the same for any number of labels.  As in crowd-kit, chances
keep 1e-10 away from 0 and 1, and posteriors are equal to its own after the same number of iterations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from grater.errors import UsageError
from grater.measure.agreement.coded import Codes
from grater.measure.agreement.counts import PIECE
from grater.measure.crowd.aggregate.ballots import (
    JUDGMENTS_AT_ONCE,
    Ballots,
    Gold,
    Numbers,
    Sparse,
    columns_of_ones,
    incidence,
    summed,
)
from grater.measure.crowd.aggregate.fit import LEAST, Fit, Options, climb, posteriors, shares

MOST_CHANCES = 1 << 27
"""Numbers in all confusion matrices together: a gigabyte."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """A row of `chance` for each (rater, label) pair that occurs: how likely r says l, by the true label."""

    rater: Codes
    label: Codes
    prior: Numbers
    chance: Numbers

    def of(self, rater: int) -> Numbers:
        """The rater's matrix: rows are true labels, columns those given."""
        mine = self.rater == rater
        matrix = np.zeros((len(self.prior), len(self.prior)))
        matrix[:, self.label[mine]] = self.chance[mine].T
        return matrix

    def skill(self, n_raters: int) -> Numbers:
        own = self.chance[np.arange(len(self.label)), self.label] * self.prior[self.label]
        return summed(own, self.rater, n_raters)


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionState:
    posteriors: Numbers
    confusions: Confusions | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCells:
    """The (rater, label) pairs that occur, and the pair of every judgment, those of an item together."""

    rater: Codes
    label: Codes
    cell: Codes
    starts: Codes
    n_judgments: Numbers
    n_raters: int
    kept: list[tuple[slice, Sparse]] = field(default_factory=list)

    def parts(self) -> Iterator[tuple[slice, Sparse]]:
        """Some items and the matrix of their judgments, one after the other; a single one is made once."""
        if self.kept:
            yield from self.kept
            return
        for part in columns_of_ones(self.cell, self.starts, len(self.label)):
            if len(self.cell) <= PIECE:
                self.kept.append(part)
            yield part


def fit(ballots: Ballots, options: Options) -> Fit:
    cells = _cells(ballots)

    def step(state: ConfusionState) -> tuple[ConfusionState, float]:
        confusions = learn(cells, state.posteriors)
        likelihood = expect(cells, confusions, ballots.gold, state.posteriors)
        return ConfusionState(state.posteriors, confusions), likelihood

    done = climb(step, ConfusionState(shares(ballots)), n_judgments=len(ballots), options=options)
    confusions = done.state.confusions or learn(cells, done.state.posteriors)
    skill = confusions.skill(cells.n_raters)
    return Fit(
        posteriors=done.state.posteriors,
        skill=skill,
        history=done.history,
        has_converged=done.has_converged,
        details=confusions,
    )


def expect(cells: ConfusionCells, confusions: Confusions, gold: Gold | None, chances: Numbers) -> float:
    """The E-step: writes the new posteriors over the old ones, and returns the log-likelihood."""
    chance, prior = np.log(confusions.chance), np.log(confusions.prior)
    relative = chance[:, 1:] - chance[:, :1]
    likelihood = float(cells.n_judgments @ chance[:, 0])
    for items, matrix in cells.parts():
        scores = chances[items]
        scores[:, 0] = 0.0
        scores[:, 1:] = matrix @ relative
        scores += prior
        likelihood += posteriors(scores, None if gold is None else gold.within(items))[1]
    return likelihood


def learn(cells: ConfusionCells, chances: Numbers) -> Confusions:
    """The M-step."""
    prior = np.maximum(chances.mean(axis=0), LEAST)
    chance = np.empty((len(cells.label), chances.shape[1]))
    chance[:, 1:] = sum(matrix.T @ chances[items, 1:] for items, matrix in cells.parts())
    chance[:, 0] = cells.n_judgments - chance[:, 1:].sum(axis=1)
    np.maximum(chance, LEAST, out=chance)
    # Cells are in order of rater: each rater's begin where the one before ends.
    starts = np.searchsorted(cells.rater, np.arange(cells.n_raters))
    chance /= np.add.reduceat(chance, starts, axis=0)[cells.rater]
    return Confusions(rater=cells.rater, label=cells.label, prior=prior, chance=chance)


def _cells(ballots: Ballots) -> ConfusionCells:
    n_raters, n_labels = len(ballots.raters), ballots.n_labels
    cell = ballots.cell()
    n_judgments = np.zeros(n_raters * n_labels, np.int64)
    for some in _pieces(cell, n_judgments.size):
        n_judgments += np.bincount(some, minlength=n_judgments.size)
    occurs = n_judgments > 0
    occurring = np.flatnonzero(occurs)
    if occurring.size * n_labels > MOST_CHANCES:
        raise UsageError(
            f"expected fewer labels for {n_raters} raters, found {n_labels}; use one-coin or mace, or merge labels"
        )
    compact = (occurs.cumsum() - 1).astype(np.int32)
    for some in _pieces(cell, n_judgments.size):
        some[:] = compact.take(some)
    rater, label = np.divmod(occurring, n_labels)
    return ConfusionCells(
        rater=rater.astype(np.int32),
        label=label.astype(np.int32),
        cell=ballots.in_order_of_item(cell),
        starts=ballots.starts_in_order,
        n_judgments=n_judgments[occurring].astype(np.float64),
        n_raters=n_raters,
    )


def _pieces(cell: Codes, n_cells: int) -> Iterator[Codes]:
    """The cells of some judgments at a time, many enough to be worth a count of all cells."""
    n_at_once = max(JUDGMENTS_AT_ONCE, n_cells)
    for start in range(0, len(cell), n_at_once):
        yield cell[start : start + n_at_once]


# One coin


@dataclass(frozen=True, slots=True, eq=False)
class OneCoinState:
    posteriors: Numbers
    skill: Numbers


def fit_one_coin(ballots: Ballots, options: Options) -> Fit:
    n_raters, n_wrong = len(ballots.raters), max(ballots.n_labels - 1, 1)
    n_each = np.bincount(ballots.rater, minlength=n_raters)
    size = ballots.n_items * ballots.n_labels
    slots = incidence(ballots.slot(), ballots.rater, shape=(size, n_raters))

    def step(state: OneCoinState) -> tuple[OneCoinState, float]:
        skill = slots.T @ state.posteriors.ravel() / n_each
        safe = np.clip(skill, LEAST, 1 - LEAST)
        wrong = np.log((1 - safe) / n_wrong)
        scores = (slots @ (np.log(safe) - wrong)).reshape(state.posteriors.shape)
        scores += np.log(np.maximum(state.posteriors.mean(axis=0), LEAST))
        chances, likelihood = posteriors(scores, ballots.gold)
        return OneCoinState(chances, skill), likelihood + float(n_each @ wrong)

    done = climb(step, OneCoinState(shares(ballots), np.zeros(n_raters)), n_judgments=len(ballots), options=options)
    return Fit(
        posteriors=done.state.posteriors,
        skill=done.state.skill,
        history=done.history,
        has_converged=done.has_converged,
    )
