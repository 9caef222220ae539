"""The network of `context`: an ONNX graph from pieces to answers, run by onnxruntime on the CPU.

Inputs `pieces`, int64 (windows, length), and `places`, the first pieces of the words that are asked about, counted
through all windows; output `logits`, float32 (places, 86; `heads`).  A graph without `places` (in full precision, or
of grater 0.2) answers at every piece.

Windows of equal length run together, in batches of at most `MOST_AT_ONCE` pieces, which bounds memory and keeps
intermediate results in the cache. Nothing is padded and each piece is quantised separately (`train.graph`), so
answers are the same, bit for bit, whatever else is in the batch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.detect.context.heads import WIDTH
from grater.detect.context.pieces import PieceVocabulary, Window, windows
from grater.errors import MissingExtra

Logits: TypeAlias = npt.NDArray[np.float32]
Places: TypeAlias = npt.NDArray[np.int64]

MOST_AT_ONCE = 256
"""Pieces of one batch: larger ones leave the cache, in smaller ones the weights are read too often."""

N_THREADS = 1
"""One core by default: a corpus is shared out over processes, and an essay takes a fraction of a second."""

INSTALL = "a model of kind 'context' needs onnxruntime: pip install 'grater[context]'"


class Network:
    """A session of onnxruntime; a graph with other inputs or outputs is a `ValueError`."""

    def __init__(self, graph: bytes, *, n_threads: int = N_THREADS) -> None:
        runtime = _runtime()
        options = runtime.SessionOptions()
        options.intra_op_num_threads = n_threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime's own errors have no common class but RuntimeError's parent
            raise ValueError(f"onnxruntime cannot read the network: {_first_line(error)}") from error
        self._inputs = [value.name for value in self._session.get_inputs()]
        self._check()

    def _check(self) -> None:
        outputs = [value.name for value in self._session.get_outputs()]
        if self._inputs not in (["pieces"], ["pieces", "places"]) or outputs != ["logits"]:
            raise ValueError(f"expected a network from pieces to logits, found {self._inputs} to {outputs}")
        shape = self._run(np.array([[2, 3]]), np.array([0, 1])).shape
        if shape != (2, WIDTH):
            raise ValueError(f"expected {WIDTH} answers per piece, found an output of shape {shape}")

    def _run(self, pieces: Places, places: Places) -> Logits:
        """(places, 86)."""
        given = {"pieces": pieces, "places": places}
        try:
            logits: Logits = self._session.run(["logits"], {name: given[name] for name in self._inputs})[0]
        except Exception as error:
            raise ValueError(f"the network cannot be run: {_first_line(error)}") from error
        return logits if "places" in self._inputs else logits.reshape(-1, logits.shape[-1])[places]

    def answers(self, cut: Sequence[Window]) -> list[Logits]:
        """For each window (words read there, 86)."""
        by_length: dict[int, list[int]] = {}
        for number, window in enumerate(cut):
            by_length.setdefault(len(window.pieces), []).append(number)
        rows: list[Logits] = [np.empty((0, WIDTH), np.float32)] * len(cut)
        for length, numbers in by_length.items():
            size = max(1, MOST_AT_ONCE // length)
            for start in range(0, len(numbers), size):
                batch = numbers[start : start + size]
                for number, row in zip(batch, self._answered([cut[number] for number in batch]), strict=True):
                    rows[number] = row
        return rows

    def _answered(self, batch: Sequence[Window]) -> list[Logits]:
        """For windows of one length."""
        length = len(batch[0].pieces)
        places = [number * length + place for number, window in enumerate(batch) for _, place in window.words]
        logits = self._run(np.array([window.pieces for window in batch], np.int64), np.array(places, np.int64))
        return np.split(logits, np.cumsum([len(window.words) for window in batch[:-1]]))


def answer_sentences(
    network: Network,
    vocabulary: PieceVocabulary,
    sentences: Sequence[Sequence[str]],
    *,
    masked: Iterable[int | None] = (),
    asked: Iterable[Collection[int] | None] = (),
) -> list[Logits]:
    """For each sentence (words, 86).

    `masked` is the hidden word of each sentence, if any; `asked` are the words of each that need rows, in order, if
    not all.
    """
    hidden = list(masked) or [None] * len(sentences)
    wanted = list(asked) or [None] * len(sentences)
    cut = [
        windows(words, vocabulary, masked=() if index is None else (index,), asked=of_sentence)
        for words, index, of_sentence in zip(sentences, hidden, wanted, strict=True)
    ]
    rows = iter(network.answers([window for of_sentence in cut for window in of_sentence]))
    empty = np.empty((0, WIDTH), np.float32)
    return [np.concatenate([empty, *(next(rows) for _ in of_sentence)]) for of_sentence in cut]


def _runtime() -> Any:
    try:
        return import_module("onnxruntime")
    except ImportError as error:
        raise MissingExtra(INSTALL) from error


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0][:200]
