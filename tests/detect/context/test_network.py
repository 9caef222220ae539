"""The network that comes with grater answers a sentence alike, whatever it is read with."""

from __future__ import annotations

import numpy as np
import pytest

from grater.detect.context.detector import ContextDetector, load
from grater.detect.context.network import answer_sentences

pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'grater[context]'")

SENTENCES = (
    "Yes .",
    "She listened music in the evening .",
    "He arrived to the station in Monday .",
    "They depend of their parents too .",
    "The mayor opened a new library near the old bridge last week .",
    "My brother is interested in learn about the stars and planets .",
    "People which live in big city often complains about the noise .",
    "We discussed about it , and then she explained me the problem again .",
    "Zxqv 3000 🙂 !",
)


@pytest.fixture(scope="module")
def detector() -> ContextDetector:
    return load()


def test_a_sentence_has_the_same_answers_alone_and_in_any_batch(detector: ContextDetector) -> None:
    words = [text.split() for text in SENTENCES]
    crowded = [*words * 7, [*words[2][:-1], "!"]]
    alone = [answer_sentences(detector.network, detector.vocabulary, [one])[0] for one in crowded]
    for order in (range(len(crowded)), range(len(crowded) - 1, -1, -1)):
        together = answer_sentences(detector.network, detector.vocabulary, [crowded[number] for number in order])
        for number, rows in zip(order, together, strict=True):
            assert np.array_equal(rows, alone[number]), crowded[number]


def test_words_asked_about_alone_have_the_same_answers(detector: ContextDetector) -> None:
    words = [text.split() for text in SENTENCES]
    whole = answer_sentences(detector.network, detector.vocabulary, words)
    asked = [range(1, len(own), 2) for own in words]
    assert len(asked[0]) == 1, "one row alone, for which there are other kernels"
    some = answer_sentences(detector.network, detector.vocabulary, words, asked=asked)
    for rows, of_sentence, indices in zip(some, whole, asked, strict=True):
        assert np.array_equal(rows, of_sentence[indices])
    assert answer_sentences(detector.network, detector.vocabulary, words[:1], asked=[()])[0].shape == (0, 86)
