"""Precision and recall when the truth is a share of raters, not a fact.

Madnani et al. 2011, section 4.1, equations 1-3: with c the system's class and p the share of the crowd for error, H
= sum c p, M = sum (1 - c) p, FP = sum c (1 - p).  An item that divides people divides the credit; one rater more or
less moves an item by 1/n, where the majority would move it from one side to the other.  Departures: the paper gives
no interval, ours resamples items, clusters or raters (`draws.py`); p may be a Dawid-Skene posterior in place of a
share. With no flagged item precision is undefined (nan) and the report says so.

Shares want a number of votes that does not depend on the votes.  Where asking stopped as soon as raters agreed they
are of the first judgments of each item, as many as all have (`votes.py`); a Dawid-Skene posterior is of all votes,
for a likelihood does not know why asking stopped.
"""

from __future__ import annotations

from grater.errors import UsageError
from grater.evaluate.cases import Cases, Truths
from grater.evaluate.draws import Chance
from grater.evaluate.standard import Scored, against
from grater.evaluate.truth import Truth, graded


def weighted(cases: Cases, truth: Truth, *, chance: Chance, where: Truths | None = None) -> list[Scored]:
    """Every system against the shares (or posteriors) that belong to a truth."""
    values = graded(cases, truth, seed=chance.seed)
    if not values.is_graded:
        raise UsageError(f"the truth {truth.name} has no grades; take share, majority or dawid-skene")
    return against(cases, values, chance=chance, where=where)
