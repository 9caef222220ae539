"""Every preposition of an essay as an item of kind `prep`: the places that the detectors look at, no others.

One rule for both (`grater.detect.prepositions.candidates`), so that an item that a rater judged is an item that a
system decided on.
"""

from __future__ import annotations

from collections.abc import Iterator

from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.model import Essay, Item
from grater.text.analysis import analyse

KIND = PREP


def preposition_items(essay: Essay) -> Iterator[Item]:
    for sentence in analyse(essay):
        for place in preposition_places(sentence):
            yield Item(essay.essay_id, sentence.spans[place], KIND)
