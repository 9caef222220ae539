"""Dawid and Skene's model: every rater has a confusion matrix, or (one coin) a single probability of being right.

Dawid & Skene 1979, Applied Statistics 28, 20-28, doi:10.2307/2346806. T[i,k] is the probability that item i is k,
p[k] the prevalence of k, and pi[r,k,l] the probability that rater r says l of a k:

    M-step (2.3, 2.4)   pi[r,k,l] = sum of T[i,k] over r's judgments l / sum over all of r's;   p[k] = mean of T[i,k]
    E-step (2.5)        T[i,k] in proportion to p[k] times the product of pi[r,k,l] over the item's judgments

EM starts from vote shares. An iteration is an M-step followed by an E-step, so after the same number of iterations
posteriors equal crowd-kit's. Two departures are crowd-kit's: expected counts are at least 1e-10, so nothing is
impossible; a label that a rater never gave stays impossible for that rater, which no judgment needs. Skill is the
chance of being right, sum of p[k] pi[r,k,k].

Each step is a product with a sparse matrix, items x occurring (rater, label) cells. Scores are relative to the first
label, whose column is therefore never multiplied: half the work with two labels.

*One coin*: Zhang, Chen, Zhou & Jordan 2016, J. Machine Learning Research 17(102), 1-44 (arXiv:1406.3824).  Rater r is
right with chance w[r], whatever is true, and otherwise gives one of the K - 1 wrong labels, each as likely:

    M-step   w[r] = mean of T[i,l] over r's judgments l of i;   p[k] = mean of T[i,k]
    E-step   log T[i,k] = log p[k] + sum over judgments k of i of log(w[r] (K - 1) / (1 - w[r])) + constant

Only judgments with label k affect k, so the cost of a step does not depend on the number of labels. As in crowd-kit,
probabilities stay 1e-10 away from 0 and 1, and posteriors equal its own after the same number of iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grater.errors import UsageError
from grater.measure.crowd.aggregate.ballots import (
    LEAST,
    Ballots,
    Fit,
    Gold,
    Options,
    Sparse,
    climb,
    incidence,
    posteriors,
    shares,
    summed,
)
from grater.measure.units import Codes
from grater.uncertainty import Numbers

MOST_CHANCES = 1 << 27
"""Numbers in all confusion matrices together: a gigabyte."""


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """A row of `chance` for each occurring (rater, label) pair: the probability that r says l, by true label."""

    rater: Codes
    label: Codes
    prior: Numbers
    chance: Numbers

    def of(self, rater: int) -> Numbers:
        """The rater's matrix: rows are true labels, columns are given labels."""
        mine = self.rater == rater
        matrix = np.zeros((len(self.prior), len(self.prior)))
        matrix[:, self.label[mine]] = self.chance[mine].T
        return matrix

    def skill(self, n_raters: int) -> Numbers:
        own = self.chance[np.arange(len(self.label)), self.label] * self.prior[self.label]
        return summed(own, self.rater, n_raters)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """`learned` holds the raters' confusions, or with one coin their skills."""

    posteriors: Numbers
    learned: Confusions | Numbers | None = None


def _moved(before: State, after: State) -> float:
    return float(np.abs(after.posteriors - before.posteriors).max(initial=0.0))


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionCells:
    """The (rater, label) pairs that occur, and the matrix of items x pairs, with a 1 for every judgment."""

    rater: Codes
    label: Codes
    matrix: Sparse
    n_judgments: Numbers
    n_raters: int


def fit(ballots: Ballots, options: Options) -> Fit:
    n_raters, n_labels = len(ballots.raters), ballots.n_labels
    cell = ballots.cell()
    n_judgments = np.bincount(cell, minlength=n_raters * n_labels)
    occurring = np.flatnonzero(n_judgments)
    if occurring.size * n_labels > MOST_CHANCES:
        raise UsageError(
            f"expected fewer labels for {n_raters} raters, found {n_labels}; use one-coin or mace, or merge labels"
        )
    compact = ((n_judgments > 0).cumsum() - 1).astype(np.int32)
    rater, label = np.divmod(occurring, n_labels)
    cells = ConfusionCells(
        rater=rater.astype(np.int32),
        label=label.astype(np.int32),
        matrix=incidence(ballots.item, compact[cell], shape=(ballots.n_items, occurring.size)),
        n_judgments=n_judgments[occurring].astype(np.float64),
        n_raters=n_raters,
    )

    def step(state: State) -> tuple[State, float]:
        confusions = learn(cells, state.posteriors)
        chances, likelihood = expect(cells, confusions, ballots.gold)
        return State(chances, confusions), likelihood

    done = climb(step, State(shares(ballots)), n_judgments=len(ballots), options=options, moved=_moved)
    confusions = done.state.learned
    assert isinstance(confusions, Confusions)
    return Fit(
        posteriors=done.state.posteriors,
        skill=confusions.skill(cells.n_raters),
        history=done.history,
        has_converged=done.has_converged,
        details=confusions,
    )


def expect(cells: ConfusionCells, confusions: Confusions, gold: Gold | None) -> tuple[Numbers, float]:
    """The E-step: the posteriors and the log-likelihood."""
    chance, prior = np.log(confusions.chance), np.log(confusions.prior)
    scores = np.zeros((cells.matrix.shape[0], chance.shape[1]))
    scores[:, 1:] = cells.matrix @ (chance[:, 1:] - chance[:, :1])
    scores += prior
    chances, likelihood = posteriors(scores, gold)
    return chances, float(cells.n_judgments @ chance[:, 0]) + likelihood


def learn(cells: ConfusionCells, chances: Numbers) -> Confusions:
    """The M-step."""
    prior = np.maximum(chances.mean(axis=0), LEAST)
    chance = np.empty((len(cells.label), chances.shape[1]))
    chance[:, 1:] = cells.matrix.T @ chances[:, 1:]
    chance[:, 0] = cells.n_judgments - chance[:, 1:].sum(axis=1)
    np.maximum(chance, LEAST, out=chance)
    # Cells are in order of rater: each rater's begin where the one before ends.
    starts = np.searchsorted(cells.rater, np.arange(cells.n_raters))
    chance /= np.add.reduceat(chance, starts, axis=0)[cells.rater]
    return Confusions(rater=cells.rater, label=cells.label, prior=prior, chance=chance)


# One coin


def fit_one_coin(ballots: Ballots, options: Options) -> Fit:
    n_raters, n_wrong = len(ballots.raters), max(ballots.n_labels - 1, 1)
    n_each = np.bincount(ballots.rater, minlength=n_raters)
    size = ballots.n_items * ballots.n_labels
    slots = incidence(ballots.slot(), ballots.rater, shape=(size, n_raters))

    def step(state: State) -> tuple[State, float]:
        skill = slots.T @ state.posteriors.ravel() / n_each
        safe = np.clip(skill, LEAST, 1 - LEAST)
        wrong = np.log((1 - safe) / n_wrong)
        scores = (slots @ (np.log(safe) - wrong)).reshape(state.posteriors.shape)
        scores += np.log(np.maximum(state.posteriors.mean(axis=0), LEAST))
        chances, likelihood = posteriors(scores, ballots.gold)
        return State(chances, skill), likelihood + float(n_each @ wrong)

    done = climb(step, State(shares(ballots)), n_judgments=len(ballots), options=options, moved=_moved)
    assert isinstance(done.state.learned, np.ndarray)
    return Fit(
        posteriors=done.state.posteriors,
        skill=done.state.learned,
        history=done.history,
        has_converged=done.has_converged,
    )
