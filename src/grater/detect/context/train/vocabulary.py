"""The pieces that words are cut into, learnt from counted words.

Byte-pair encoding (Sennrich, Haddow & Birch 2016, section 3.2) on characters: the commonest pair of neighbours is
joined, again and again.  Only the list of pieces is kept; words are cut by the longest piece that fits
(`detect.context.pieces`), so the order of the joins does not matter.  A piece that begins a word starts with a space.
Ties are broken by the pieces themselves: the same counts give the same list.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush

from grater.detect.context.pieces import SPECIAL

N_PIECES = 12_000
RAREST_CHARACTER = 50
"""A character seen less often than this is unknown."""


def learn_pieces(words: Mapping[str, int], *, n_pieces: int = N_PIECES) -> list[str]:
    """The special pieces, the characters of the words, and joined pieces up to `n_pieces`."""
    characters = _characters(words)
    symbols = [_spelt(word, characters) for word in words]
    counts = list(words.values())
    pieces = [*SPECIAL, *sorted(characters), *(" " + character for character in sorted(characters))]
    known = set(pieces)
    for joined in _joins(symbols, counts):
        if len(pieces) >= n_pieces:
            break
        if joined not in known:
            known.add(joined)
            pieces.append(joined)
    return pieces


def _characters(words: Mapping[str, int]) -> set[str]:
    seen: Counter[str] = Counter()
    for word, count in words.items():
        for character in word:
            seen[character] += count
    return {character for character, count in seen.items() if count >= RAREST_CHARACTER}


def _spelt(word: str, characters: set[str]) -> list[str]:
    spelt = [character if character in characters else "\0" for character in word]
    return [" " + spelt[0], *spelt[1:]] if spelt else []


def _joins(symbols: list[list[str]], counts: list[int]) -> Iterable[str]:
    """The joined pieces, the commonest pair first; `symbols` change on the way."""
    pairs: Counter[tuple[str, str]] = Counter()
    holders: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for number, spelt in enumerate(symbols):
        for pair in itertools.pairwise(spelt):
            if "\0" not in pair[0] + pair[1]:
                pairs[pair] += counts[number]
                holders[pair].add(number)
    heap = [(-count, pair) for pair, count in pairs.items()]
    heapify(heap)
    while heap:
        count, pair = heappop(heap)
        if -count != pairs[pair]:
            if pairs[pair] > 0:
                heappush(heap, (-pairs[pair], pair))
            continue
        if count == 0:
            return
        yield pair[0] + pair[1]
        for changed in _join(pair, symbols, counts, pairs, holders):
            heappush(heap, (-pairs[changed], changed))


def _join(
    pair: tuple[str, str],
    symbols: list[list[str]],
    counts: list[int],
    pairs: Counter[tuple[str, str]],
    holders: defaultdict[tuple[str, str], set[int]],
) -> set[tuple[str, str]]:
    """Join a pair wherever it stands; the pairs whose counts rose."""
    risen: set[tuple[str, str]] = set()
    for number in holders.pop(pair):
        old = symbols[number]
        for gone in itertools.pairwise(old):
            pairs[gone] -= counts[number]
        new = symbols[number] = _joined(old, pair)
        for near in itertools.pairwise(new):
            if "\0" not in near[0] + near[1]:
                pairs[near] += counts[number]
                holders[near].add(number)
                risen.add(near)
    pairs[pair] = 0
    return risen


def _joined(spelt: list[str], pair: tuple[str, str]) -> list[str]:
    joined: list[str] = []
    index = 0
    while index < len(spelt):
        if index + 1 < len(spelt) and (spelt[index], spelt[index + 1]) == pair:
            joined.append(spelt[index] + spelt[index + 1])
            index += 2
        else:
            joined.append(spelt[index])
            index += 1
    return joined
