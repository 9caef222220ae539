"""A method of aggregation: Laplace's rule of succession (1774), a vote for every label beforehand."""

from grater.extend import AggregationOptions, Ballots, Fit, clamped


def fit(ballots: Ballots, options: AggregationOptions) -> Fit:
    votes = ballots.votes + 1.0
    return Fit(clamped(votes / votes.sum(axis=1, keepdims=True), ballots.gold))
