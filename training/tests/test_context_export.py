"""The exported graph, and the network read from it, answer as the network that it was made from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch: make test-train")
pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'grater[context]'")

from grater.detect.context.network import Network  # noqa: E402 (after the check for PyTorch)
from grater.detect.context.pieces import END, SPECIAL, START, Window  # noqa: E402
from grater_train.context.export import export_quantised, network_of  # noqa: E402
from grater_train.context.network import Shape, Transformer  # noqa: E402

SHAPE = Shape(n_pieces=200, n_blocks=2, width=48, inner=96, n_heads=4, n_shared=2)
N_SENTENCES, LENGTH, PLACES = 6, 12, (1, 4, 10)


def test_eight_bits_answer_as_the_network_does(tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = Transformer(SHAPE).eval()
    pieces = np.random.default_rng(1).integers(len(SPECIAL), SHAPE.n_pieces, (N_SENTENCES, LENGTH))
    pieces[:, 0], pieces[:, -1] = START, END
    with torch.no_grad():
        wanted = network(torch.from_numpy(pieces))[:, PLACES].numpy()
    export_quantised(network, tmp_path / "network.onnx")
    exported = Network((tmp_path / "network.onnx").read_bytes())
    read = network_of((tmp_path / "network.onnx").read_bytes()).eval()
    assert (read.shape.n_heads, read.shape.n_shared) == (SHAPE.n_heads, SHAPE.n_shared)
    cut = [Window(pieces=tuple(row), words=tuple(enumerate(PLACES))) for row in pieces.tolist()]
    answers = np.stack(exported.answers(cut))
    assert np.corrcoef(answers.ravel(), wanted.ravel())[0, 1] > 0.99
    with torch.no_grad():
        again = read(torch.from_numpy(pieces))[:, PLACES].numpy()
    assert np.corrcoef(again.ravel(), wanted.ravel())[0, 1] > 0.999
    assert all(np.array_equal(exported.answers([window])[0], own) for window, own in zip(cut, answers, strict=True))
