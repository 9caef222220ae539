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
