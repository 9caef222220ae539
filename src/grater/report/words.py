"""Numbers and lists as people write them, for the words beside a picture."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from grater.model import Interval


def number(value: float, *, digits: int = 2) -> str:
    """`.63`, as the papers print shares; undefined is a dash."""
    if isnan(value):
        return "–"
    text = f"{value:.{digits}f}".replace("-", "−")
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def interval(value: Interval, *, digits: int = 2) -> str:
    """`.63 [.55, .71]`; an undefined number is a dash, with its reason where there is one."""
    if isnan(value.value):
        return f"– ({value.undefined_because})" if value.undefined_because else "–"
    limits = f"[{number(value.low, digits=digits)}, {number(value.high, digits=digits)}]"
    return f"{number(value.value, digits=digits)} {limits}"


def sentence(text: str) -> str:
    """A remark as a sentence of its own, with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def of(part: int, whole: int) -> str:
    """`26 of the 86`."""
    return f"{part:,} of {whole:,}"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def many(n: int, noun: str, plural: str = "") -> str:
    """`1 item`, `2,000 items`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
