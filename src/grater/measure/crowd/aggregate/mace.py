"""MACE: a rater either knows the answer or spams, each in their own way.

Hovy, Berg-Kirkpatrick, Vaswani & Hovy 2013, NAACL, 1120-1130 (https://aclanthology.org/N13-1132). For each judgment,
rater r spams with probability s[r], drawing the label from x[r], or else gives the true label; all labels are equally
likely to be true. The probability of judgment l for an item that is k is

    a[r,l] + (1 - s[r]) [l = k]    with a[r,l] = s[r] x[r,l]

Trained by variational Bayes, as in the paper and in crowd-kit: Beta(0.5, 0.5) on s and a symmetric Dirichlet(10) on
x, expected counts become weights exp(digamma(count + prior)) / exp(digamma(sum)). Skill is 1 - s[r], the paper's
trustworthiness. The best of `restarts` random starts is kept, by log-likelihood. Under variational Bayes this need
not rise in every iteration; a run stops when it no longer does.

As in the one-coin model, only judgments with label k affect k, so the cost of a step does not depend on the number of
labels. crowd-kit 1.4.2 gives the same posteriors from the same start if raters and labels first appear in the order
of their names; otherwise it mixes them up, and all its restarts are identical.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import digamma

from grater.measure.crowd.aggregate.ballots import (
    LEAST,
    Ballots,
    Climb,
    Fit,
    Options,
    Sparse,
    climb,
    incidence,
    posteriors,
)
from grater.measure.units import Codes
from grater.uncertainty import Numbers, generator

KNOWING_PRIOR = 0.5
STRATEGY_PRIOR = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """`spam` and `knows` for each rater, and `strategy`, raters x labels.

    Under variational Bayes they need not sum to 1.
    """

    spam: Numbers
    knows: Numbers
    strategy: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MaceState:
    parameters: Parameters
    posteriors: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class MaceCells:
    """Every (rater, label) pair in order: its number of judgments, and their (item, label) slots."""

    rater: Codes
    n_judgments: Numbers
    slots: Sparse
    shape: tuple[int, int]


def fit(ballots: Ballots, options: Options) -> Fit:
    cells = _cells(ballots)
    runs = [run(ballots, cells, start(cells, options.seed, n), options) for n in range(options.restarts)]
    best = max(runs, key=lambda climbed: climbed.history[-1])
    parameters = best.state.parameters
    skill = parameters.knows / (parameters.knows + parameters.spam)
    return Fit(
        posteriors=best.state.posteriors,
        skill=skill,
        history=best.history,
        has_converged=best.has_converged,
        details=parameters,
    )


def start(cells: MaceCells, seed: int, n: int) -> Parameters:
    """The n-th random start: weights between 1 and 2.5, as in crowd-kit."""
    rng = generator(seed, "mace", str(n))
    spam = rng.uniform(1, 2.5, (cells.shape[0], 2))
    strategy = rng.uniform(1, 2.5, cells.shape)
    spam /= spam.sum(axis=1, keepdims=True)
    return Parameters(spam[:, 0], spam[:, 1], strategy / strategy.sum(axis=1, keepdims=True))


def run(ballots: Ballots, cells: MaceCells, first: Parameters, options: Options) -> Climb[MaceState]:
    """One run of EM from a start."""
    expect = _expect(ballots, cells)

    def step(state: MaceState) -> tuple[MaceState, float]:
        parameters = learn(cells, state)
        chances, likelihood = expect(parameters)
        return MaceState(parameters, chances), likelihood

    begun = MaceState(first, expect(first)[0])
    return climb(step, begun, n_judgments=len(ballots), options=options)


def _expect(ballots: Ballots, cells: MaceCells) -> Callable[[Parameters], tuple[Numbers, float]]:
    """The E-step."""
    shape = (ballots.n_items, ballots.n_labels)

    def expect(parameters: Parameters) -> tuple[Numbers, float]:
        spam = _spam(parameters)
        scores = cells.slots @ np.log1p(parameters.knows[cells.rater] / spam)
        chances, likelihood = posteriors(scores.reshape(shape), ballots.gold)
        constant = float(cells.n_judgments @ np.log(spam)) - ballots.n_items * np.log(ballots.n_labels)
        return chances, likelihood + constant

    return expect


def learn(cells: MaceCells, state: MaceState) -> Parameters:
    """The M-step: expected numbers of spammed and known judgments in each cell, then variational weights."""
    spam, knows = _spam(state.parameters), state.parameters.knows[cells.rater]
    n_true = cells.slots.T @ state.posteriors.ravel()
    n_known = n_true * knows / (knows + spam)
    n_spammed = (cells.n_judgments - n_known).reshape(cells.shape)
    counts = np.column_stack([n_spammed.sum(axis=1), n_known.reshape(cells.shape).sum(axis=1)])
    spam_knows = _weights(counts, KNOWING_PRIOR)
    return Parameters(spam_knows[:, 0], spam_knows[:, 1], _weights(n_spammed, STRATEGY_PRIOR))


def _spam(parameters: Parameters) -> Numbers:
    """The probability of a spammed judgment in each cell."""
    return np.maximum((parameters.spam[:, None] * parameters.strategy).ravel(), LEAST**2)


def _weights(counts: Numbers, prior: float) -> Numbers:
    total = digamma((counts + prior).sum(axis=1, keepdims=True))
    weights: Numbers = np.exp(digamma(counts + prior) - total)
    return weights


def _cells(ballots: Ballots) -> MaceCells:
    shape = (len(ballots.raters), ballots.n_labels)
    cell, n_cells = ballots.cell(), shape[0] * shape[1]
    slots = incidence(ballots.slot(), cell, shape=(ballots.n_items * ballots.n_labels, n_cells))
    n_judgments = np.bincount(cell, minlength=n_cells).astype(np.float64)
    return MaceCells(
        rater=np.repeat(np.arange(shape[0], dtype=np.int32), shape[1]),
        n_judgments=n_judgments,
        slots=slots,
        shape=shape,
    )
