"""Errors that tell a person where, what was expected, what was found, and what to do.

Every error that bad input or wrong use can cause is a `GraterError`; the command line prints it as plain
lines and exits with 2.  Anything else that escapes is a defect of grater.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

MOST_PROBLEMS = 20


class GraterError(Exception):
    """Something that the person at the keyboard can fix."""


class UsageError(GraterError):
    """The call itself is wrong: options that do not go together, a value out of range."""


class UnknownName(GraterError):
    """A name that no registry, table or file has."""


class MissingExtra(GraterError):
    """A part of grater that needs a package which is not installed."""


class NotFound(GraterError):
    """There is no such thing, or not for this person: which of the two is nobody's business."""


class Forbidden(GraterError):
    """The thing exists, and this person may not do that with it."""


class Conflict(GraterError):
    """The study already holds something else under this id or name."""


class Stale(Conflict):
    """Somebody, perhaps the same person in another tab, saved a newer revision."""


class StoreFull(GraterError):
    """The disk of the study is full; nothing was stored."""


class StoreBusy(GraterError):
    """The database did not answer in time; nothing was stored, and trying again is safe."""


class TooBusy(GraterError):
    """Too many wait for the same already; nothing was done, and trying again is safe."""


class OutOfTime(GraterError):
    """The work took longer than it may; nothing was stored."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One defect of an input, with its place; lines are counted from 1."""

    name: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = self.name if self.line is None else f"{self.name}:{self.line}"
        return f"{where}: {self.message}"


class BadInput(GraterError):
    """An input that cannot be read; it knows every problem found in it, twenty at the most.

    It has the first three duplicate rows, and their number.
    """

    def __init__(self, *problems: Problem) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class Problems:
    """Collects the problems of one input, so that a person sees them together.

    `add` raises once there are twenty; `done` raises if there is any.  A reader calls `done` after its last line.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._found: list[Problem] = []

    def add(self, message: str, *, line: int | None = None) -> None:
        self._found.append(Problem(self.name, message, line))
        if len(self._found) == MOST_PROBLEMS:
            more = Problem(self.name, f"stopped after {MOST_PROBLEMS} problems; there may be more")
            raise BadInput(*self._found, more)

    def done(self) -> None:
        if self._found:
            raise BadInput(*self._found)


MOST_NAMES = 30
"""Known names that a message lists."""


def unknown(noun: str, name: str, known: list[str]) -> str:
    """The one-line answer to a name that does not exist, with the nearest that does."""
    if not known:
        return f"unknown {noun} {name!r}; there is none yet"
    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    more = f" and {len(known) - MOST_NAMES} more" if len(known) > MOST_NAMES else ""
    has_commas = any("," in other for other in known)
    listed = "; ".join(map(repr, known[:MOST_NAMES])) if has_commas else ", ".join(known[:MOST_NAMES])
    return f"unknown {noun} {name!r}.{hint} Known: {listed}{more}"
