"""Essays taken together: what a detector finds is the same for any number, only the speed differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grater.model import Essay

BATCH = 50_000
"""Characters of essays taken together."""


def grouped(essays: Iterable[Essay]) -> Iterator[list[Essay]]:
    """Short essays together, long ones alone."""
    group: list[Essay] = []
    n_characters = 0
    for essay in essays:
        group.append(essay)
        n_characters += len(essay.text)
        if n_characters >= BATCH:
            yield group
            group, n_characters = [], 0
    if group:
        yield group
