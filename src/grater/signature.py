"""How a number was made, in one line that travels with it.

A signature names what was computed, by which version, with which options, on which data (by hash).  Two numbers may
be compared only if their signatures agree; `require_same` refuses otherwise, and says in what they differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from grater import __version__
from grater.errors import UsageError
from grater.model import short_hash


@dataclass(frozen=True, slots=True)
class Signature:
    """`str(Signature("m2", {"beta": "0.5"}))` is `m2|grater:0.2.0|beta:0.5`."""

    what: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        options = [f"{name}:{value}" for name, value in sorted(self.options.items())]
        return "|".join([self.what, f"grater:{__version__}", *options])


def require_same(first: Signature, second: Signature) -> None:
    """Refuse to compare two numbers that were made in different ways, and say in what they differ."""
    names = sorted(first.options.keys() | second.options.keys())
    differing = [name for name in names if first.options.get(name) != second.options.get(name)]
    if first.what != second.what:
        raise UsageError(f"cannot compare {first.what} with {second.what}: they are different measures")
    if differing:
        name = differing[0]
        ours, theirs = first.options.get(name, "not set"), second.options.get(name, "not set")
        raise UsageError(
            f"cannot compare two {first.what} numbers: {name} is {ours} in one and {theirs} in the other"
        )


def digest(parts: Iterable[str]) -> str:
    """A hash of many strings that knows where each ends."""
    return short_hash("".join(f"{len(part)}:{part}" for part in parts))
