"""A language model that becomes a network of ours, learns the task, and teaches a smaller one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from toy import toy_lines

torch = pytest.importorskip("torch", reason="training needs PyTorch: make test-train")

from grater.errors import UsageError  # noqa: E402
from grater_train.context import run, teacher  # noqa: E402 (after the check for PyTorch)
from grater_train.context.network import Shape, Transformer  # noqa: E402
from grater_train.context.training import Cutter, answers  # noqa: E402

TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *teacher._byte_letters().values(), "Ġt", "he", "Ġthe"]
MERGES = ["Ġ t", "h e", "Ġt he"]
OPTIONS = run.TrainingOptions(
    steps=60, n_words=600, n_pieces=300, n_blocks=2, width=48, inner=96, n_heads=4, n_shared=2, peak=5e-3, warm_up=10
)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Transformer:
    """A language model of two blocks, as if read from a file."""
    torch.manual_seed(1)
    model = Transformer(Shape(n_pieces=len(TOKENS), n_blocks=2, width=128, inner=64, n_heads=2, n_shared=1))
    weights = {name: value.numpy() for name, value in model.state_dict().items() if not name.startswith("heads")}
    monkeypatch.setattr(teacher, "read_gguf", lambda _: (weights, TOKENS, MERGES))
    return model


def test_a_teacher_has_the_models_weights_and_tokens(model: Transformer) -> None:
    network, cutter = teacher.read_teacher(Path("model.gguf"), ["", "<mask>", "the", ",", "he"], "cpu")
    assert (network.shape.n_blocks, network.shape.n_heads, network.shape.n_shared) == (2, 2, 1)
    assert torch.equal(network.blocks[1].gate.weight, model.blocks[1].gate.weight)
    pieces, firsts = cutter(torch.tensor([[2, 3, 1, 4]]))
    written = [TOKENS[piece] for piece in pieces[0].tolist() if piece]
    assert written == ["<|im_start|>", "Ġthe", ",", "<|im_end|>", "Ġ", "he", "<|im_end|>"]
    assert firsts.tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize("missing", ["embedding.weight", "blocks.0.up.weight"])
def test_a_file_that_is_no_such_model_is_refused(
    model: Transformer, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    weights, tokens, merges = teacher.read_gguf(Path("model.gguf"))
    del model, weights[missing]
    monkeypatch.setattr(teacher, "read_gguf", lambda _: (weights, tokens, merges))
    with pytest.raises(UsageError, match=r"model\.gguf: expected a language model of Llama's architecture"):
        teacher.read_teacher(Path("model.gguf"), ["", "<mask>"], "cpu")


def test_a_student_comes_close_to_its_teacher(
    model: Transformer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The teacher is trained first and kept; the student's answers are then nearer to its than without it."""
    del model
    monkeypatch.setattr(run, "export_quantised", lambda *_: None)
    networks: list[Transformer] = []
    monkeypatch.setattr(run, "export_onnx", lambda network, _: networks.append(network))
    prepared = run.prepare(toy_lines(), tmp_path / "steps", OPTIONS)
    run.train_network(prepared, tmp_path / "steps", OPTIONS, teacher=Path("model.gguf"))
    assert (tmp_path / "steps" / "teacher.pt").exists()
    kept, its_cutter = run._teacher(Path("model.gguf"), prepared, tmp_path / "steps", OPTIONS, lambda _: None)
    (tmp_path / "steps" / "checkpoint.pt").unlink()
    run.train_network(prepared, tmp_path / "steps", OPTIONS)
    words, _ = prepared.batches.text.batch(np.arange(0, 300, 7), "cpu")
    cutter = Cutter(run.piece_table(prepared.tables, prepared.pieces), "cpu")
    with torch.no_grad():
        wanted = answers(kept, its_cutter, words).log_softmax(-1)
        taught, untaught = (
            float((answers(network.eval(), cutter, words).log_softmax(-1) - wanted)[words > 0].abs().mean())
            for network in networks
        )
    assert taught < untaught
