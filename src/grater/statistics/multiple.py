"""Many tests at once: Holm's step-down correction (Holm 1979, Scandinavian Journal of Statistics 6, 65-70).

Rank groups: which systems of a ranking the data cannot tell apart.

Two systems share a letter if and only if they were not told apart: a compact letter display (Piepho 2004, "An
algorithm for a letter-based representation of all-pairwise comparisons", J. Comp. Graph. Stat. 13, 456-466).  Each
letter is a largest possible set of systems of which no two were told apart; `A` holds the best system.  "Not told
apart" does not pass on: A and B may be alike, B and C too, and A and C not; then B bears both letters.  A test that
is undefined tells nothing apart.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isnan, nan
from string import ascii_lowercase, ascii_uppercase


def holm(values: Sequence[float]) -> list[float]:
    """p of each test, adjusted for their number; those that are undefined stay so and do not count."""
    order = sorted((p, place) for place, p in enumerate(values) if not isnan(p))
    adjusted, highest = [nan] * len(values), 0.0
    for rank, (p, place) in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p))
        adjusted[place] = highest
    return adjusted


LETTERS = ascii_uppercase + ascii_lowercase


def rank_groups(ranked: Sequence[str], apart: Collection[tuple[str, str]]) -> dict[str, str]:
    """The letters of each system; `ranked` has the best first, `apart` the pairs that were told apart."""
    is_apart = {frozenset(pair) for pair in apart}
    alike = {
        name: {other for other in ranked if other != name and frozenset((name, other)) not in is_apart}
        for name in ranked
    }
    place = {name: number for number, name in enumerate(ranked)}
    sets = sorted(sorted(place[name] for name in members) for members in _largest_sets(alike))
    letters = dict.fromkeys(ranked, "")
    for number, members in enumerate(sets):
        for member in members:
            letters[ranked[member]] += _letter(number)
    return letters


def _letter(number: int) -> str:
    return LETTERS[number] if number < len(LETTERS) else f"({number + 1})"


def _largest_sets(alike: Mapping[str, set[str]]) -> list[set[str]]:
    """All sets of systems that are alike two by two and cannot grow: Bron & Kerbosch 1973, with a pivot."""
    found: list[set[str]] = []

    def grow(members: set[str], candidates: set[str], seen: set[str]) -> None:
        if not candidates and not seen:
            found.append(members)
            return
        pivot = max(candidates | seen, key=lambda name: (len(alike[name] & candidates), name))
        for name in sorted(candidates - alike[pivot]):
            grow(members | {name}, candidates & alike[name], seen & alike[name])
            candidates, seen = candidates - {name}, seen | {name}

    if alike:
        grow(set(), set(alike), set())
    return found
