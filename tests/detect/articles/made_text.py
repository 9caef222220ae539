"""A small made-up English in which articles and number follow rules, to train a tiny model on; all lines our own.

Something new has *a*, something that was mentioned has *the*; stuff has no article; *together* goes with plurals.
"""

from __future__ import annotations

from itertools import product

ANIMALS = ("dog", "cat", "owl", "horse", "goose", "fox", "ape", "wolf")
PLACES = ("garden", "river", "kitchen", "market", "forest", "street")
STUFF = ("water", "bread", "honey", "milk", "rice", "salt")
PEOPLE = ("Anna", "Peter", "Mary", "Tom", "Sara")
PLURALS = {"goose": "geese", "fox": "foxes", "wolf": "wolves"}


def made_lines() -> list[str]:
    """Distinct lines, three sentences a line."""
    return [
        f"{person} saw {_a(animal)} near the {place}. "
        f"The {animal} wanted {stuff} . "
        f"They often met {PLURALS.get(animal, animal + 's')} together."
        for animal, place, stuff, person in product(ANIMALS, PLACES, STUFF, PEOPLE)
    ]


def _a(noun: str) -> str:
    return f"an {noun}" if noun[0] in "ao" else f"a {noun}"
