"""Text for training, a paragraph a line: each line once, and which lines are held out.

Lines fall into a hundred folds by their own hash, so a line is held out in every run or in none, by every model, and
in whatever order the sources come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

FOLDS = 100
HELD_OUT = 2
"""Folds that no model learns from; temperature, costs and thresholds are chosen on them."""


def distinct_lines(lines: Iterable[str]) -> Iterator[str]:
    """Lines with words, each once."""
    seen: set[bytes] = set()
    for line in lines:
        plain = line.strip()
        digest = hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if plain and digest not in seen:
            seen.add(digest)
            yield plain


def fold_of(line: str) -> int:
    """The fold of a line, from 0 to 99."""
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=8, person=b"fold").digest()
    return int.from_bytes(digest, "big") % FOLDS
