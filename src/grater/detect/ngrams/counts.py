"""The n-grams of a text, counted for every order up to the highest.

Heafield, Pouzyrevsky, Clark & Koehn 2013 (ACL, short papers, 690-696), section 3.1-3.2.  Every word of a sentence and
its end give one n-gram of the highest order; where it would reach over the start of the sentence, `<s>` fills it up.
The counts of a lower order follow from those of the order above by dropping the first word: the raw count is the
sum, the adjusted count the number of different words dropped, or again the sum where the n-gram begins with `<s>`,
to the left of which there is nothing to differ.  An n-gram with `<s>` in its second place belongs to a lower order
and only waits there for its first `<s>` to be dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from grater.detect.ngrams.runs import MOST_RECORDS, Keys, Records, Runs, joined, summed, tallied
from grater.detect.ngrams.words import START
from grater.errors import UsageError

KEY_BITS = 64

Numbers: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Packing:
    """How the words of an n-gram lie in its key."""

    order: int
    bits: int

    @staticmethod
    def for_words(order: int, n_words: int) -> Packing:
        """The narrowest packing for numbers below `n_words`; refused where 64 bits are too few."""
        packing = Packing(order, max(2, (n_words - 1).bit_length()))
        if order * packing.bits > KEY_BITS:
            most = 1 << (KEY_BITS // order)
            raise UsageError(f"expected at most {most:,} words for order {order}, found {n_words:,}; name fewer")
        return packing

    def lower(self) -> Packing:
        """The packing of n-grams that are one word shorter."""
        return Packing(self.order - 1, self.bits)

    def keys(self, ngrams: Numbers) -> Keys:
        """The keys of n-grams given as rows of word numbers."""
        keys = np.zeros(len(ngrams), np.uint64)
        for column in range(self.order):
            keys = (keys << np.uint64(self.bits)) | ngrams[:, column].astype(np.uint64)
        return keys

    def suffixes(self, keys: Keys) -> Keys:
        """Without the first word."""
        return keys & np.uint64((1 << self.bits * (self.order - 1)) - 1)

    def prefixes(self, keys: Keys) -> Keys:
        """Without the last word."""
        return keys >> np.uint64(self.bits)

    def words(self, keys: Keys, place: int) -> Keys:
        """The words in one place, counted from 0."""
        return (keys >> np.uint64(self.bits * (self.order - 1 - place))) & np.uint64((1 << self.bits) - 1)

    def is_real(self, keys: Keys) -> Flags:
        """False for what belongs to a lower order: n-grams with a second `<s>`, and `<s>` alone."""
        found: Flags = self.words(keys, 1 if self.order > 1 else 0) != START
        return found


def ngram_keys(stream: Numbers, packing: Packing) -> Keys:
    """The keys of all n-grams in sentences that stand one after the other, each begun by `<s>`."""
    index = np.arange(len(stream))
    place = index - np.maximum.accumulate(np.where(stream == START, index, 0))  # within the sentence; `<s>` is 0
    keys = np.zeros(len(stream), np.uint64)
    for back in range(packing.order - 1, -1, -1):
        words = np.where(place >= back, np.roll(stream, back), START).astype(np.uint64)
        keys = (keys << np.uint64(packing.bits)) | words
    return keys[place > 0]


def count_ngrams(
    streams: Iterable[Numbers], packing: Packing, folder: Path, *, most: int = MOST_RECORDS
) -> list[Runs]:
    """The counts of every order, lowest first; a stream holds whole sentences."""
    highest = Runs(folder, f"order{packing.order}", most)
    for stream in streams:
        highest.add(tallied(ngram_keys(stream, packing)))
    orders = [highest]
    while packing.order > 1:
        orders.insert(0, _count_lower(orders[0], packing, folder, most))
        packing = packing.lower()
    return orders


def _count_lower(higher: Runs, packing: Packing, folder: Path, most: int) -> Runs:
    lower = Runs(folder, f"order{packing.order - 1}", most)
    for records in higher.merged():
        keys = packing.suffixes(records.keys)
        begins = packing.lower().words(keys, 0) == START
        adjusted = np.where(begins, records.adjusted, 1).astype(np.uint32)
        lower.add(summed(Records(keys, records.raw, adjusted)))
    return lower


def blocks_by_context(orders: Iterable[Records], packing: Packing) -> Iterator[Records]:
    """The same records in blocks that no context is parted by: a context's last words are held over."""
    held: Records | None = None
    for records in orders:
        block = joined([held, records]) if held is not None else records
        contexts = packing.prefixes(block.keys)
        cut = int(np.searchsorted(contexts, contexts[-1]))
        held = block.part(cut, len(block))
        if cut:
            yield block.part(0, cut)
    if held is not None:
        yield held
