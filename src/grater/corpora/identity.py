"""Ids for essays whose format has none: a hash of the text, with `#2`, `#3` for repeats within one corpus.

Never a path, so the same text has the same id wherever it lies (docs/architecture.md).  To know a repeat, all that is
kept of an essay is eight bytes of its id's hash in a table at most two thirds full: 12 to 24 bytes an essay, some
tens of megabytes for a corpus of a gigabyte.
"""

from __future__ import annotations

import hashlib
from array import array

from grater.model import short_hash

SMALLEST_TABLE = 1 << 10


class EssayIds:
    """Gives out ids in reading order."""

    def __init__(self) -> None:
        self._seen = HashSet()
        self._n_seen: dict[int, int] = {}  # only of ids that came more than once

    def of_text(self, text: str) -> str:
        return self.of_document(short_hash(text))

    def of_document(self, essay_id: str) -> str:
        """The id itself when it is new, `id#2`, `id#3` when it has been given out before."""
        key = hash_of(essay_id)
        if self._seen.add(key):
            return essay_id
        while True:  # `a#2` may be an essay's own id
            self._n_seen[key] = self._n_seen.get(key, 1) + 1
            numbered = f"{essay_id}#{self._n_seen[key]}"
            if self._seen.add(hash_of(numbered)):
                return numbered


def numbered(essay_id: str, n_before: int) -> str:
    """The id of an essay whose text has come so often before."""
    return f"{essay_id}#{n_before + 1}" if n_before else essay_id


def hash_of(text: str) -> int:
    """64 bits of a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class HashSet:
    """A set of 64-bit hashes in one flat array: open addressing with linear probing, 0 marks a free place."""

    def __init__(self) -> None:
        self._places = array("Q", bytes(8 * SMALLEST_TABLE))
        self._n_used = 0

    def __len__(self) -> int:
        return self._n_used

    def add(self, key: int) -> bool:
        """Put a hash in; whether it was new."""
        if 3 * (self._n_used + 1) > 2 * len(self._places):
            self._grow()
        new = self._put(key or 1)
        self._n_used += new
        return new

    def _put(self, key: int) -> bool:
        places, mask = self._places, len(self._places) - 1
        slot = key & mask
        while places[slot]:
            if places[slot] == key:
                return False
            slot = (slot + 1) & mask
        places[slot] = key
        return True

    def _grow(self) -> None:
        old = self._places
        self._places = array("Q", bytes(16 * len(old)))
        for key in old:
            if key:
                self._put(key)
