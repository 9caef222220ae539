"""Training text as numbers: sentences of well-formed text, tagged, each once.

A paragraph is one line.  Sentences that are very short or long, or are hardly words (tables, formulas), are left out,
and so are sentences that came before.  A few are held out, chosen by a hash of their words, to measure on.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from grater.model import Essay
from grater.text.sentences import sentence_tokens
from grater.text.tags import Tagger, load_tagger

FEWEST_WORDS, MOST_WORDS = 4, 60
LEAST_SHARE_OF_WORDS = 0.6
AT_ONCE = 4_000
HELD_OUT = 300
"""One sentence in so many is held out."""

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


def tagged_text(lines: Iterable[str], *, tagger: Tagger | None = None) -> TaggedText:
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
