"""Training text as numbers: sentences of well-formed text, tagged, each once; and the pieces of its words.

A paragraph is one line.  Sentences that are very short or long, or are hardly words (tables, formulas), are left out,
and so are sentences that came before.  A few are held out, chosen by a hash of their words, to measure on.

Pieces are learnt from counted words.  Byte-pair encoding (Sennrich, Haddow & Birch 2016, section 3.2) on characters:
the commonest pair of neighbours is joined, again and again.  Only the list of pieces is kept; words are cut by the
longest piece that fits (`detect.context.pieces`), so the order of the joins does not matter.  A piece that begins a
word starts with a space. Ties are broken by the pieces themselves: the same counts give the same list.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from grater.corpora.text.sentences import sentence_tokens
from grater.corpora.text.tags import PerceptronTagger, load_tagger
from grater.detect.context.pieces import SPECIAL
from grater.model import Essay

FEWEST_WORDS, MOST_WORDS = 4, 60
LEAST_SHARE_OF_WORDS = 0.6
AT_ONCE = 4_000
HELD_OUT = 300
"""One sentence in 300 is held out."""

TAGS = [
    "-",
    "CC",
    "CD",
    "DT",
    "EX",
    "FW",
    "IN",
    "JJ",
    "JJR",
    "JJS",
    "LS",
    "MD",
    "NN",
    "NNP",
    "NNPS",
    "NNS",
    "PDT",
    "POS",
    "PRP",
    "PRP$",
    "RB",
    "RBR",
    "RBS",
    "RP",
    "SYM",
    "TO",
    "UH",
    "VB",
    "VBD",
    "VBG",
    "VBN",
    "VBP",
    "VBZ",
    "WDT",
    "WP",
    "WP$",
    "WRB",
    "$",
]
"""Tags by number; any other tag is the first."""
N_PIECES = 12_000
RAREST_CHARACTER = 50
"""A character seen less often than this is unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class TaggedText:
    """Words and tags of all sentences end to end; `words` count in `types`."""

    types: tuple[str, ...]
    words: NDArray[np.int32]
    tags: NDArray[np.uint8]
    lengths: NDArray[np.uint8]
    held_out: NDArray[np.bool_]

    def counts(self) -> Counter[str]:
        """How often each type comes, the commonest first."""
        counts = np.bincount(self.words, minlength=len(self.types)).tolist()
        return Counter(dict(Counter(dict(zip(self.types, counts, strict=True))).most_common()))

    def essays(self, sentences: Iterable[int]) -> Iterator[Essay]:
        """Some sentences, each as an essay, its words one space apart."""
        ends = np.cumsum(self.lengths.astype(np.int64))
        for number in sentences:
            words = self.words[ends[number] - self.lengths[number] : ends[number]]
            yield Essay(str(number), " ".join(self.types[word] for word in words))


def tagged_text(lines: Iterable[str], *, tagger: PerceptronTagger | None = None) -> TaggedText:
    """The sentences of a text, one paragraph per line."""
    tagger = tagger or load_tagger()
    numbers = {tag: number for number, tag in enumerate(TAGS)}
    types: dict[str, int] = {}
    words, tags, lengths, held_out = array("i"), array("B"), array("B"), array("B")
    sentences = _sentences(lines)
    while group := list(islice(sentences, AT_ONCE)):
        for sentence, tagged in zip(group, tagger.tag_all(group), strict=True):
            words.extend(types.setdefault(word, len(types)) for word in sentence)
            tags.extend(numbers.get(tag, 0) for tag in tagged)
            lengths.append(len(sentence))
            held_out.append(crc32(" ".join(sentence).encode()) % HELD_OUT == 0)
    return TaggedText(
        types=tuple(types),
        words=np.array(words, dtype=np.int32),
        tags=np.array(tags, dtype=np.uint8),
        lengths=np.array(lengths, dtype=np.uint8),
        held_out=np.array(held_out, dtype=np.bool_),
    )


def _sentences(lines: Iterable[str]) -> Iterator[tuple[str, ...]]:
    seen: set[int] = set()
    for line in lines:
        for _, words in sentence_tokens(line.strip()):
            key = hash(tuple(word.lower() for word in words))
            if is_usable(words) and key not in seen:
                seen.add(key)
                yield words


def is_usable(words: Sequence[str]) -> bool:
    n_words = sum(1 for word in words if word.isalpha())
    return FEWEST_WORDS <= len(words) <= MOST_WORDS and n_words >= LEAST_SHARE_OF_WORDS * len(words)


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
