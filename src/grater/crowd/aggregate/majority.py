"""The plain vote: the posterior of a label is its share of the item's judgments.

The oldest method and the one to beat; T&C 2013 and Madnani et al. 2011 use nothing else.  Ties are broken at random,
by the item's own number (`answers.py`), and reported.  It has no skills of raters; `Aggregation.skill` then is the
share of a rater's judgments that the answer agrees with.
"""

from __future__ import annotations

from grater.crowd.aggregate.ballots import Ballots
from grater.crowd.aggregate.fit import Fit, Options, shares


def fit(ballots: Ballots, options: Options) -> Fit:  # noqa: ARG001
    return Fit(shares(ballots))
