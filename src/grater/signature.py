"""How a number was made, in one line that travels with it.

A signature names what was computed, by which version, with which options, on which data (by hash).  Two numbers may
be compared only if their signatures agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from grater import __version__


@dataclass(frozen=True, slots=True)
class Signature:
    """`str(Signature("m2", {"beta": "0.5"}))` is `m2|grater:0.3.0|beta:0.5`."""

    what: str
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        options = [f"{name}:{value}" for name, value in sorted(self.options.items())]
        return "|".join([self.what, f"grater:{__version__}", *options])


def digest(parts: Iterable[str]) -> str:
    """A hash of many strings that knows where each ends."""
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
