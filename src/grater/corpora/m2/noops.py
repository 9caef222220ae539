"""Which no-op lines an essay has: who read it and found nothing to mend.

One line of the usual form for an annotator without edits, none for one with edits, unless the file that the essay
was read from had it otherwise (`fields.NOOP_LEFT_OUT`, `fields.NOOPS_AS_READ`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeGuard

from grater.corpora.m2.fields import NOOP, NOOP_BODY, NOOP_LEFT_OUT, NOOPS_AS_READ, SEPARATOR
from grater.model import Essay, Json

N_BODY_FIELDS = 5


def noop_bodies(essay: Essay, with_edits: Collection[str]) -> dict[str, list[str]]:
    """For each annotator the no-op lines, without `A ` and annotator; `with_edits` have an A line of their own."""
    as_read = noops_as_read(essay)
    bodies = {}
    for index, annotator in enumerate(essay.annotators):
        usual = [] if annotator in with_edits or is_left_out(essay) else [NOOP_BODY]
        bodies[annotator] = (as_read[index] if as_read else []) or usual
    return bodies


def is_left_out(essay: Essay) -> bool:
    """Whether the essay's one annotator had no line at all."""
    return essay.metadata.get(NOOP_LEFT_OUT) is False and len(essay.annotators) == 1 and not essay.edits


def noops_as_read(essay: Essay) -> list[list[str]] | None:
    """The lines that were read, if they are still in order: a list for each annotator."""
    noops = essay.metadata.get(NOOPS_AS_READ)
    if not _is_list(noops) or len(noops) != len(essay.annotators):
        return None
    if not all(_is_list(bodies) and all(_is_noop(body) for body in bodies) for bodies in noops):
        return None
    return [[str(body) for body in bodies] for bodies in noops if _is_list(bodies)]


def _is_list(value: Json) -> TypeGuard[Sequence[Json]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_noop(body: Json) -> bool:
    if not isinstance(body, str) or "\n" in body:
        return False
    fields = body.split(SEPARATOR)
    numbers = fields[0].split(" ")
    are_numbers = len(numbers) == 2 and all(n.removeprefix("-").isdecimal() and n.isascii() for n in numbers)
    return len(fields) == N_BODY_FIELDS and fields[1] == NOOP and are_numbers and not fields[-1].endswith("|")
