"""A toy grammar: places take *in*, days take *on*, hours take *at*; nouns after *two* are plural."""

from __future__ import annotations

from itertools import product

PEOPLE = ["Anna", "Ben", "Carla", "David", "Emma", "Frank"]
VERBS = ["works", "studies", "waits", "sings", "reads", "sleeps"]
TIMES = [*(f"in {town}" for town in ["Paris", "London", "Rome", "Madrid"])]
TIMES += [f"on {day}" for day in ["Monday", "Friday", "Sunday", "Tuesday"]]
TIMES += [f"at {hour}" for hour in ["noon", "midnight", "sunset", "dawn"]]
OBJECTS = ["two books", "two dogs", "the car", "the house", "a letter", "a garden"]


def toy_lines() -> list[str]:
    works = [f"{who} {does} {when} ." for who, does, when in product(PEOPLE, VERBS, TIMES)]
    sees = [f"{who} sees {what} {when} ." for who, what, when in product(PEOPLE, OBJECTS, TIMES)]
    return works + sees


def learners_m2() -> list[str]:
    """Sentences with *in* before days, which is wrong, and before towns, which is right."""
    towns, days = ["Paris", "Rome", "Madrid"], ["Monday", "Friday", "Sunday"]
    blocks = []
    for who, does, where in product(PEOPLE, VERBS, towns + days):
        edit = "2 3|||Prep|||on" if where in days else "-1 -1|||noop|||-NONE-"
        blocks.append(f"S {who} {does} in {where} .\nA {edit}|||REQUIRED|||-NONE-|||0\n")
    return blocks
