"""A network that starts from some blocks of a language model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="training needs PyTorch: make test-train")

from grater.detect.context.pieces import SPECIAL  # noqa: E402 (after the check for PyTorch)
from grater.detect.context.train import base  # noqa: E402
from grater.detect.context.train.network import Shape, Transformer  # noqa: E402
from grater.errors import UsageError  # noqa: E402

TOKENS = ["<|endoftext|>", "Ġ", "t", "h", "e", "Ġt", "he", "Ġthe"]
MERGES = ["Ġ t", "h e", "Ġt he"]


def shape(n_pieces: int, n_blocks: int, width: int = 8) -> Shape:
    return Shape(n_pieces=n_pieces, n_blocks=n_blocks, width=width, inner=16, n_heads=2, n_shared=1)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Transformer:
    """A language model of eight blocks, as if read from a file."""
    torch.manual_seed(1)
    model = Transformer(shape(len(TOKENS), 8))
    weights = {name: value.numpy() for name, value in model.state_dict().items() if not name.startswith("heads")}
    monkeypatch.setattr(base, "read_gguf", lambda _: (weights, TOKENS, MERGES))
    return model


def test_blocks_come_from_the_first_half_closer_at_the_start() -> None:
    assert base.chosen_blocks(30, 5) == [0, 1, 4, 8, 15]
    assert base.chosen_blocks(8, 3) == [0, 1, 4]
    assert base.chosen_blocks(3, 3) == [0, 1, 2]


def test_a_network_takes_blocks_and_the_means_of_tokens(model: Transformer) -> None:
    network = Transformer(shape(len(SPECIAL) + 2, 3))
    heads = network.heads.weight.detach().clone()
    base.start_from(Path("model.gguf"), network, [*SPECIAL, " the", "te"])
    for own, its in enumerate([0, 1, 4]):
        assert torch.equal(network.blocks[own].gate.weight, model.blocks[its].gate.weight)
    table = model.embedding.weight.detach().numpy()
    rows = network.embedding.weight.detach().numpy()
    assert np.allclose(rows[len(SPECIAL)], table[TOKENS.index("Ġthe")])
    assert np.allclose(rows[len(SPECIAL) + 1], (table[TOKENS.index("t")] + table[TOKENS.index("e")]) / 2)
    assert torch.equal(network.heads.weight, heads)


def test_a_model_of_another_width_is_refused(model: Transformer) -> None:
    del model
    with pytest.raises(UsageError, match=r"model.gguf: expected blocks with a query of \(16, 16\)"):
        base.start_from(Path("model.gguf"), Transformer(shape(6, 3, width=16)), [*SPECIAL, "a"])
