"""Numbers from forms: within their limits, or named as what is wrong."""

from __future__ import annotations

from grater.errors import BadInput, Problem
from grater.server.visit import Visit

LONGEST_VERSION = 10


def number_of(visit: Visit, name: str, default: int, *, most: int, least: int = 1) -> int:
    text = visit.text(name)
    if not text:
        return default
    if not text.isdecimal() or len(text) > 12 or not least <= int(text) <= most:
        words = f"{name}: expected a number from {least} to {most}, found {text[:20]!r}"
        raise BadInput(Problem("form", words))
    return int(text)


def version_of(text: str) -> int | None:
    """The version that a page says it was made from; None where it says none, and then nothing is compared."""
    return int(text) if text.isdecimal() and len(text) < LONGEST_VERSION else None


def decimal_of(visit: Visit, name: str, default: float, *, most: float) -> float:
    text = visit.text(name)
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise BadInput(Problem("form", f"{name}: expected a number from 0 to {most:g}, found {text[:20]!r}"))
    return value
