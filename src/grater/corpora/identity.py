"""Ids for essays whose format has none: a hash of the text, with `#2`, `#3` for repeats within one corpus.

Never a path, so the same text has the same id wherever it lies (docs/architecture.md).  To know a repeat, all that
is kept of an essay is eight bytes of its id's hash: the latest in memory, earlier ones on disk
(`grater.corpora.spilled`), so that memory does not grow with the corpus.  Of ids that come again the last number is
kept, for at most `MOST_NUMBERED` of them; of others the first free number is looked for, which is the same.
"""

from __future__ import annotations

import hashlib
from array import array
from typing import TYPE_CHECKING

from grater.model import short_hash

if TYPE_CHECKING:
    from grater.corpora.spilled import Spilled

SMALLEST_TABLE = 1 << 10
MOST_HELD = 1 << 16
"""Hashes of a set that are held in memory, in a table of one megabyte: few, so that memory is at its peak early."""

MOST_NUMBERED = 1 << 15


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
                self._forget_small_numbers()
                return numbered

    def _forget_small_numbers(self) -> None:
        """Those that are quickly counted again."""
        if len(self._n_seen) > MOST_NUMBERED:
            largest = sorted(self._n_seen.items(), key=lambda pair: -pair[1])[: MOST_NUMBERED // 2]
            self._n_seen = dict(largest)


def numbered(essay_id: str, n_before: int) -> str:
    """The id of an essay whose text has come `n_before` times already."""
    return f"{essay_id}#{n_before + 1}" if n_before else essay_id


def hash_of(text: str) -> int:
    """64 bits of a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class HashSet:
    """A set of 64-bit hashes that only grows.

    The latest `most_held` are in one flat array (open addressing with linear probing, 0 marks a free place), the
    others in sorted files.
    """

    def __init__(self, *, most_held: int = MOST_HELD) -> None:
        self._places = array("Q", bytes(8 * SMALLEST_TABLE))
        self._n_held = 0
        self._most_held = most_held
        self._spilled: Spilled | None = None

    def __len__(self) -> int:
        return self._n_held + (len(self._spilled) if self._spilled else 0)

    def add(self, key: int) -> bool:
        """Put a hash in; whether it was new."""
        key = key or 1
        if self._spilled is not None and key in self._spilled:
            return False
        if 3 * (self._n_held + 1) > 2 * len(self._places):
            self._grow()
        new = self._put(key)
        self._n_held += new
        if self._n_held == self._most_held:
            self._spill()
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

    def _spill(self) -> None:
        from grater.corpora.spilled import Spilled  # numpy: small corpora do without it

        if self._spilled is None:
            self._spilled = Spilled()
        self._spilled.take(self._places)
        self._places = array("Q", bytes(8 * len(self._places)))
        self._n_held = 0
