"""Many tests at once: Holm's correction, and letters for what the tests cannot tell apart.

`holm` is the step-down correction of Holm 1979 (Scandinavian Journal of Statistics 6, 65-70): all tests together err
in one case of twenty at most.

`rank_groups` is a compact letter display (Piepho 2004, "An algorithm for a letter-based representation of
all-pairwise comparisons", J. Comp. Graph. Stat. 13, 456-466): two systems share a letter if and only if they were
not told apart.  Each letter is a maximal set of systems of which no two were told apart; `A` holds the best system.
"Not told apart" is not transitive: A and B may be alike, B and C too, and A and C not; then B bears both letters.  A
test that is undefined tells nothing apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan, nan
from string import ascii_lowercase, ascii_uppercase

LETTERS = ascii_uppercase + ascii_lowercase


def holm(values: Sequence[float]) -> list[float]:
    """The p of each test, adjusted for their number; undefined ones stay undefined and do not count."""
    ordered = sorted((p, index) for index, p in enumerate(values) if not isnan(p))
    adjusted, highest = [nan] * len(values), 0.0
    for rank, (p, index) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p))
        adjusted[index] = highest
    return adjusted


def rank_groups(ranked: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """The letters of each system; `ranked` has the best first, `apart` the pairs that were told apart."""
    is_apart = {frozenset(pair) for pair in apart}
    alike = {
        name: {other for other in ranked if other != name and frozenset((name, other)) not in is_apart}
        for name in ranked
    }
    rank = {name: number for number, name in enumerate(ranked)}
    sets = sorted(sorted(rank[name] for name in members) for members in _maximal_sets(alike))
    letters = dict.fromkeys(ranked, "")
    for number, members in enumerate(sets):
        for member in members:
            letters[ranked[member]] += _letter(number)
    return letters


def _letter(number: int) -> str:
    return LETTERS[number] if number < len(LETTERS) else f"({number + 1})"


def _maximal_sets(alike: Mapping[str, set[str]]) -> list[set[str]]:
    """All sets of systems that are pairwise alike and cannot grow: Bron & Kerbosch 1973, with a pivot."""
    cliques: list[set[str]] = []

    def grow(members: set[str], candidates: set[str], seen: set[str]) -> None:
        if not candidates and not seen:
            cliques.append(members)
            return
        pivot = max(candidates | seen, key=lambda name: (len(alike[name] & candidates), name))
        for name in sorted(candidates - alike[pivot]):
            grow(members | {name}, candidates & alike[name], seen & alike[name])
            candidates, seen = candidates - {name}, seen | {name}

    if alike:
        grow(set(), set(alike), set())
    return cliques
