"""The 34 prepositions that detectors and tasks ask about (docs/detectors.md).

Tetreault & Chodorow 2008 work with the 34 most frequent prepositions of English.  *towards* and *till* are
spelling variants of *toward* and *until*: one preposition each.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_LIST = (
    "about above across after against along among around as at before behind between by during for from in into like "
    "of off on over since through to toward under until upon with within without"
)
PREPOSITIONS: tuple[str, ...] = tuple(_LIST.split())

VARIANTS: Mapping[str, str] = MappingProxyType({"towards": "toward", "till": "until"})
"""Spellings that count as another: variant to canonical."""

_CANONICAL = {word: word for word in PREPOSITIONS} | dict(VARIANTS)


def canonical(word: str) -> str | None:
    """The preposition that a word is, in any case and spelling; None for every other word."""
    return _CANONICAL.get(word.lower())
