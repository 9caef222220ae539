"""Votes: the plain majority, and the vote weighted by agreement with it (Wawa).

Majority: the posterior of a label is its share of the item's judgments.  The oldest method and the one to beat; T&C
2013 and Madnani et al. 2011 use nothing else.  Ties are broken at random, by the item's own number, and reported.  It
estimates no skills; `Aggregation.skill` is then the share of a rater's judgments that equal the answer.

Wawa, worker agreement with aggregate: Appen (Figure Eight, CrowdFlower), as described for crowd-kit (Ustalov et al.
2024, doi:10.21105/joss.06227).  The skill of rater r is the share of r's judgments that equal the plain majority,
ties broken as there; the posterior of a label is the sum of the skills of those who gave it, over the sum of all
skills on the item.  Where nobody on an item has any skill the plain shares stay.
"""

from __future__ import annotations

import numpy as np

from grater.measure.crowd.aggregate.ballots import Ballots, clamped, summed
from grater.measure.crowd.aggregate.fit import Fit, Options, agreement_with, answers, shares


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
