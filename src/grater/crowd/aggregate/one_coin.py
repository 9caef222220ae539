"""Dawid and Skene's model with one number for each rater: the chance of being right, whatever is true.

Zhang, Chen, Zhou & Jordan 2016, J. Machine Learning Research 17(102), 1-44 (arXiv:1406.3824), the "one-coin" model,
after Dawid & Skene 1979 (doi:10.2307/2346806).  Rater r is right with chance w[r] and otherwise gives one of the
K - 1 wrong labels, each as likely:

    M-step   w[r] = mean of T[i,l] over r's judgments l of i;   p[k] = mean of T[i,k]
    E-step   log T[i,k] = log p[k] + sum over judgments k of i of log(w[r] (K - 1) / (1 - w[r])) + constant

Only judgments that say k speak for k, so a step costs the same for any number of labels.  As in crowd-kit, chances
keep 1e-10 away from 0 and 1, and posteriors are equal to its own after the same number of iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grater.crowd.aggregate.ballots import Ballots, Numbers, incidence
from grater.crowd.aggregate.fit import LEAST, Fit, Options, climb, posteriors, shares


@dataclass(frozen=True, slots=True, eq=False)
class OneCoinState:
    posteriors: Numbers
    skill: Numbers


def fit(ballots: Ballots, options: Options) -> Fit:
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
