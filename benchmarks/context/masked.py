"""Which preposition or article stood in a sentence of Brown, if it is hidden: `python -m benchmarks.context masked`.

One word is hidden at a time.  Where the network before it was quantised is given (`--float`), both answer the same
items, and their paired difference is printed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt
from benchmarks.context.options import Options
from benchmarks.context.texts import EVERY
from benchmarks.detect.data import brown_essays, cell, keep, table

from grater.detect.context.detector import ContextDetector, log_shares
from grater.detect.context.heads import ARTICLE_GAP_HEAD, ARTICLE_HEAD, PREP_HEAD, Head
from grater.detect.context.network import Network, answer_sentences
from grater.detect.context.slots import slots_of
from grater.detect.prepositions.candidates import COLUMN_OF, preposition_places
from grater.model import Essay
from grater.rng import generator
from grater.statistics.proportions import wilson
from grater.text.analysis import Sentence, analyse_all
from grater.text.prepositions import canonical

N_MASKED = {"prep": 20_000, "article": 10_000}
N_FLOAT = 5_000
AS_GAP = 0.4
"""The weight of the gap beside the hole where an article is hidden, chosen on held-out sentences."""

Values = npt.NDArray[np.float64]


def masked(options: Options) -> None:
    """Accuracy on Brown, one word hidden at a time; beside the float network where one is given."""
    drawn = _drawn()
    rows = []
    for head, listed in drawn.items():
        hits = _right(options.detector.network, options.detector, head, listed)
        rows.append(["int8", head, f"{len(hits):,}", cell(wilson(int(hits.sum()), len(hits)))])
        print(rows[-1], flush=True)
        if options.float_graph:
            network = Network(options.float_graph.read_bytes())
            few = _right(network, options.detector, head, listed[:N_FLOAT])
            difference = hits[:N_FLOAT].astype(float) - few.astype(float)
            half = 1.96 * float(difference.std()) / len(difference) ** 0.5
            print(f"{head}: int8 - float = {difference.mean():+.4f} ± {half:.4f}, paired, n {len(few):,}", flush=True)
            rows.append(["float", head, f"{len(few):,}", cell(wilson(int(few.sum()), len(few)))])
    table(["network", "hidden", "n", "accuracy"], rows)
    keep("context-masked", rows)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A word of a sentence that the network does not see, and the column of what stood there."""

    words: tuple[str, ...]
    index: int
    answer: int


def _drawn() -> dict[str, list[Hidden]]:
    """A seeded sample of Brown's prepositions, and of its articles, in random order."""
    places: dict[str, list[Hidden]] = defaultdict(list)
    for group in _groups(islice(brown_essays(), 0, None, EVERY)):
        for sentences in analyse_all(group):
            for sentence in sentences:
                for head, hidden in _hidden(sentence):
                    places[head].append(hidden)
    drawn = {}
    for head, listed in places.items():
        order = generator(0, "context", head).permutation(len(listed))[: N_MASKED[head]]
        drawn[head] = [listed[number] for number in order.tolist()]
        print(f"{head}: {len(listed):,} in Brown, {len(drawn[head]):,} drawn", flush=True)
    return drawn


def _groups(essays: Iterable[Essay]) -> Iterator[list[Essay]]:
    waiting = iter(essays)
    while group := list(islice(waiting, 500)):
        yield group


def _hidden(sentence: Sentence) -> Iterator[tuple[str, Hidden]]:
    """Prepositions and articles; where a phrase has no article, a masked word is put in that should be none."""
    words = sentence.words
    for index in preposition_places(sentence):
        yield "prep", Hidden(words, index, COLUMN_OF[canonical(words[index]) or ""])
    for slot in slots_of(sentence):
        if slot.kind != "article" or not slot.index:
            continue
        if slot.is_gap:
            yield "article", Hidden((*words[: slot.index], "a", *words[slot.index :]), slot.index, 2)
        elif slot.index + 1 < len(words):
            yield "article", Hidden(words, slot.index, 1 if words[slot.index].lower() == "the" else 0)


def _right(network: Network, detector: ContextDetector, head: str, drawn: Sequence[Hidden]) -> npt.NDArray[np.bool_]:
    chances = _hidden_prepositions if head == "prep" else _hidden_articles
    hits = []
    for start in range(0, len(drawn), 1000):
        block = drawn[start : start + 1000]
        hits.append(chances(network, detector, block).argmax(axis=1) == np.array([one.answer for one in block]))
    return np.concatenate(hits)


def _hidden_prepositions(network: Network, detector: ContextDetector, drawn: Sequence[Hidden]) -> Values:
    return _at_hole(network, detector, drawn, PREP_HEAD)[:, :34]


def _hidden_articles(network: Network, detector: ContextDetector, drawn: Sequence[Hidden]) -> Values:
    """Both questions that the network has for a place without an article: a hole that may be none, and a gap."""
    hole = _at_hole(network, detector, drawn, ARTICLE_HEAD)
    without = [(*one.words[: one.index], *one.words[one.index + 1 :]) for one in drawn]
    rows = answer_sentences(network, detector.vocabulary, without, asked=[(one.index,) for one in drawn])
    return (1 - AS_GAP) * hole + AS_GAP * log_shares(np.concatenate(rows), ARTICLE_GAP_HEAD)


def _at_hole(network: Network, detector: ContextDetector, drawn: Sequence[Hidden], head: Head) -> Values:
    """The log-probabilities of a head's answers where the hidden word stood."""
    places = [one.index for one in drawn]
    asked = [(place,) for place in places]
    rows = answer_sentences(network, detector.vocabulary, [one.words for one in drawn], masked=places, asked=asked)
    return log_shares(np.concatenate(rows), head)
