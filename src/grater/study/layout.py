"""Who does which units, in which batches: a pure plan, drawn by a seed.

Units are shuffled first, so that neither batch nor place tells where a unit came from (P10).  Every k-th batch can be
the same for all annotators, unannounced (T&C 2008, 5.2).  Otherwise each batch goes to `k` of the annotators, chosen
so that every pair works together as often as any other (NUCLE 2013, section 3): greedily, the combination whose
pairs, then whose people, have had the least so far, ties broken by the draw.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from grater.errors import UsageError

MOST_COMBINATIONS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Units (by number) for some annotators; nobody named means anybody."""

    number: int
    units: tuple[int, ...]
    people: tuple[str, ...] = ()
    overlap: bool = False


def batches(
    n_units: int,
    *,
    rng: np.random.Generator,
    size: int = 0,
    people: Sequence[str] = (),
    each: int = 1,
    overlap_every: int = 0,
    shuffled: bool = True,
) -> list[Batch]:
    """Cut units into batches of `size` (0: one for a pool, one unit each for annotators) and share them out."""
    if people and not 1 <= each <= len(people):
        raise UsageError(f"expected 1 to {len(people)} annotators for each unit, found {each}")
    if overlap_every and not people:
        raise UsageError("overlap sets are for named annotators; name them")
    order = rng.permutation(n_units).tolist() if shuffled else list(range(n_units))
    size = size or (1 if people else n_units) or 1
    cut = [tuple(order[start : start + size]) for start in range(0, n_units, size)]
    pairs: Counter[tuple[str, ...]] = Counter()
    load: Counter[str] = Counter()
    found = []
    for number, units in enumerate(cut):
        overlap = bool(overlap_every) and (number + 1) % overlap_every == 0
        team = tuple(people) if overlap or not people else _team(people, each, pairs, load, rng)
        found.append(Batch(number, units, team, overlap))
    return found


def _team(
    people: Sequence[str], each: int, pairs: Counter[tuple[str, ...]], load: Counter[str], rng: np.random.Generator
) -> tuple[str, ...]:
    if comb(len(people), each) > MOST_COMBINATIONS:
        raise UsageError(f"{each} of {len(people)} annotators: too many combinations to balance; name fewer")
    teams = list(combinations(sorted(people), each))
    ties = rng.random(len(teams))
    cost = [
        (sum(pairs[pair] for pair in combinations(team, 2)), sum(load[person] for person in team), ties[n])
        for n, team in enumerate(teams)
    ]
    team = teams[min(range(len(teams)), key=lambda n: cost[n])]
    pairs.update(combinations(team, 2))
    load.update(team)
    return team
