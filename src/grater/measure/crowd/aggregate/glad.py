"""GLAD: the probability of a correct label depends on the rater's ability and the item's ease.

Whitehill, Ruvolo, Wu, Bergsma & Movellan 2009, NIPS 22, 2035-2043
(https://papers.nips.cc/paper/3644-whose-vote-should-count-more). Rater r with ability a[r] labels item i with ease
e[i] = exp(b[i]) correctly with probability sigma(a[r] e[i]) (equation 1). The paper has two labels; with more, all
wrong labels are equally likely, and so are all labels a priori. Priors on a and b are normal with mean 1 and standard
deviation 1. The M-step runs at most 25 steps of conjugate gradients. All this is as in crowd-kit:

    Q = sum over judgments of T log sigma(x) + (1 - T) log((1 - sigma(x)) / (K - 1)),  x = a e,  dQ/dx = T - sigma(x)

where T is the probability that the judgment is right. Skill is the ability a: 0 is guessing, negative is worse than
guessing. `of_items` has the ease of each item. An iteration is an M-step followed by an E-step (crowd-kit omits the
last E-step, so our posteriors after n iterations equal its own after n + 1). `history` is the log-likelihood plus the
log priors without their constant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from grater.measure.crowd.aggregate.ballots import Ballots, Fit, Options, Sparse, climb, incidence, posteriors, summed
from grater.measure.units import Codes
from grater.uncertainty import Numbers

MOST_STEPS = 25
GRADIENT = 0.01
MEAN = 1.0
MOST_EASE = 30.0
"""Of log ease, so that a wild step of the line search does not overflow."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Judgments sorted by item: `residual` is their sparse matrix, `slot` their position in items x labels."""

    residual: Sparse
    slot: Codes
    item: Codes

    @property
    def rater(self) -> Codes:
        raters: Codes = self.residual.indices
        return raters


@dataclass(frozen=True, slots=True, eq=False)
class GladState:
    posteriors: Numbers
    ability: Numbers
    log_ease: Numbers


def fit(ballots: Ballots, options: Options) -> Fit:
    shape = (ballots.n_items, len(ballots.raters))
    matrix = incidence(ballots.item, ballots.rater, shape=shape, value=ballots.slot())
    slot = matrix.data.astype(np.int32)
    item = np.repeat(np.arange(shape[0], dtype=np.int32), np.diff(matrix.indptr))
    grid = Grid(matrix, slot, item)

    def step(state: GladState) -> tuple[GladState, float]:
        return expect(ballots, grid, *learn(grid, state))

    first, _ = expect(ballots, grid, np.full(len(ballots.raters), MEAN), np.full(ballots.n_items, MEAN))
    done = climb(step, first, n_judgments=len(ballots), options=options)
    ease = np.exp(done.state.log_ease)
    return Fit(
        posteriors=done.state.posteriors,
        skill=done.state.ability,
        history=done.history,
        has_converged=done.has_converged,
        of_items={"ease": ease},
    )


def expect(ballots: Ballots, grid: Grid, ability: Numbers, log_ease: Numbers) -> tuple[GladState, float]:
    """The E-step: a judgment k adds its log odds of being right to the score of k."""
    n_wrong = max(ballots.n_labels - 1, 1)
    ease = _ease(log_ease)
    x = ability[grid.rater] * ease[grid.item]
    odds, total = x + np.log(n_wrong), -float(np.logaddexp(0, x).sum())
    scores = summed(odds, grid.slot, ballots.n_items * ballots.n_labels)
    chances, likelihood = posteriors(scores.reshape(ballots.n_items, ballots.n_labels), ballots.gold)
    constant = len(ballots) * np.log(n_wrong) + ballots.n_items * np.log(ballots.n_labels)
    prior = _log_prior(ability) + _log_prior(log_ease)
    return GladState(chances, ability, log_ease), likelihood + total - float(constant) + prior


def learn(grid: Grid, state: GladState) -> tuple[Numbers, Numbers]:
    """The M-step."""
    chance = state.posteriors.ravel().take(grid.slot)
    n_raters = len(state.ability)

    def loss(point: Numbers) -> tuple[float, Numbers]:
        """-Q up to a constant, and its gradient."""
        ability, log_ease = point[:n_raters], point[n_raters:]
        ease = _ease(log_ease)
        x = ability[grid.rater] * ease[grid.item]
        z = np.exp(-np.abs(x))  # half the time of numpy's logaddexp and scipy's expit
        value = float(np.maximum(x, 0).sum() + np.log(1 + z).sum() - chance @ x)
        value -= _log_prior(ability) + _log_prior(log_ease)
        grid.residual.data[:] = chance - np.where(x >= 0, 1.0, z) / (1 + z)
        by_ability = (ability - MEAN) - grid.residual.T @ ease
        by_ease = (log_ease - MEAN) - ease * (grid.residual @ ability)
        return value, np.concatenate([by_ability, by_ease])

    start = np.concatenate([state.ability, state.log_ease])
    optimum = minimize(loss, start, jac=True, method="CG", tol=GRADIENT, options={"maxiter": MOST_STEPS})
    return optimum.x[:n_raters], optimum.x[n_raters:]


def _ease(log_ease: Numbers) -> Numbers:
    return np.exp(np.clip(log_ease, -MOST_EASE, MOST_EASE))


def _log_prior(numbers: Numbers) -> float:
    return -0.5 * float(((numbers - MEAN) ** 2).sum())
