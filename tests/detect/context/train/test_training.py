"""Training on a toy grammar: noise keeps the right answers, a network learns them, and goes on after a break."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.detect.context.train.toy import toy_lines

torch = pytest.importorskip("torch", reason="training needs PyTorch: make test-train")

from grater.detect.context.heads import FORMS  # noqa: E402 (after the check for PyTorch)
from grater.detect.context.train import run  # noqa: E402
from grater.detect.context.train.network import Transformer  # noqa: E402
from grater.detect.context.train.noise import IGNORED, NONE  # noqa: E402
from grater.detect.context.train.text import TaggedText, tagged_text  # noqa: E402
from grater.detect.context.train.training import Cutter, Trainer, masked_accuracy  # noqa: E402
from grater.detect.context.train.vocabulary import learn_pieces  # noqa: E402
from grater.detect.context.train.words import MASK, WordTables, word_tables  # noqa: E402

OPTIONS = run.TrainingOptions(
    steps=150, n_words=600, n_pieces=300, n_blocks=2, width=48, inner=96, n_heads=4, n_shared=2, peak=5e-3, warm_up=10
)


@pytest.fixture(scope="module")
def text() -> TaggedText:
    return tagged_text(toy_lines())


@pytest.fixture(scope="module")
def tables(text: TaggedText) -> WordTables:
    return word_tables(text.counts())


def trainer(text: TaggedText, tables: WordTables, checkpoint: Path | None = None) -> Trainer:
    pieces = learn_pieces(text.counts(), n_pieces=OPTIONS.n_pieces)
    torch.manual_seed(0)
    network = Transformer(OPTIONS.shape(len(pieces)))
    return Trainer(
        network=network,
        cutter=Cutter(run.piece_table(tables, pieces), "cpu"),
        noise=run.noise_maker(tables, text, "cpu"),
        batches=run.batches_of(text, tables, OPTIONS),
        device="cpu",
        peak=OPTIONS.peak,
        warm_up=OPTIONS.warm_up,
        checkpoint=checkpoint,
    )


def test_labels_are_what_stood_there(text: TaggedText, tables: WordTables) -> None:
    """Whatever noise did, the labels of a sentence name just the prepositions that it had, deleted ones in gaps."""
    noise = run.noise_maker(tables, text, "cpu")
    batches = run.batches_of(text, tables, OPTIONS)
    words, tags = batches.text.batch(np.arange(len(batches.text.lengths)), "cpu")
    noisy = noise(words, tags, torch.Generator().manual_seed(3))
    clean = torch.where(tags == noise.tags["TO"], -1, noise.tables["preposition"][words].long())
    for row in range(len(words)):
        written, gaps = noisy.labels[row, :, 0], noisy.labels[row, :, 1]
        kept = [label for label in written.tolist() if label not in (IGNORED, NONE)]
        deleted = [label for label in gaps.tolist() if label not in (IGNORED, NONE)]
        assert sorted(kept + deleted) == sorted(label for label in clean[row].tolist() if label >= 0)
    written = noisy.labels[..., 0]
    shown = noise.tables["preposition"][noisy.words].long()
    is_changed = (written != IGNORED) & (written != shown) & (noisy.words != MASK)
    assert 0.02 < is_changed.float().sum() / (written != IGNORED).float().sum() < 0.4


def test_noise_depends_on_its_seed_alone(text: TaggedText, tables: WordTables) -> None:
    made = trainer(text, tables)
    sentences = next(made.batches.since(0))
    first, again, other = (made._noisy(sentences, step) for step in (4, 4, 5))
    assert torch.equal(first.words, again.words)
    assert torch.equal(first.labels, again.labels)
    assert first.words.shape != other.words.shape or not torch.equal(first.words, other.words)


def test_a_small_network_learns_the_grammar(text: TaggedText, tables: WordTables) -> None:
    made = trainer(text, tables)
    sentences = np.flatnonzero(text.held_out)
    sentences = sentences if len(sentences) > 3 else np.arange(0, len(text.lengths), 40)
    before = masked_accuracy(made.network, made.cutter, made.noise, made.batches.text, sentences)
    made.train(steps=OPTIONS.steps)
    right, total = masked_accuracy(made.network, made.cutter, made.noise, made.batches.text, sentences)
    assert before[0] / before[1] < 0.7
    assert right / total > 0.9


def test_training_goes_on_after_a_break_as_if_there_were_none(
    text: TaggedText, tables: WordTables, tmp_path: Path
) -> None:
    def kill_at_eight(figures: Mapping[str, float]) -> None:
        if figures["step"] == 8:
            raise KeyboardInterrupt

    whole = trainer(text, tables)
    whole.train(steps=12, every=4)
    stopped = trainer(text, tables, tmp_path / "checkpoint.pt")
    stopped.progress = kill_at_eight
    with pytest.raises(KeyboardInterrupt):
        stopped.train(steps=12, every=4)
    resumed = trainer(text, tables, tmp_path / "checkpoint.pt")
    assert resumed._restore(resumed._optimizer()) == 4
    assert resumed.train(steps=12, every=4) == 12
    for name, weights in whole.network.state_dict().items():
        assert torch.allclose(weights, resumed.network.state_dict()[name], atol=1e-5), name


def test_from_text_to_a_network_that_runs(tmp_path: Path) -> None:
    """The exported network runs, and what is there is not made again."""
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'grater[context]'")
    options = run.TrainingOptions(
        steps=5, n_words=600, n_pieces=200, n_blocks=1, width=48, inner=96, n_heads=4, n_shared=2, warm_up=2
    )
    path = run.train_network(toy_lines(), tmp_path, options)
    pieces = (tmp_path / "pieces.txt").read_text(encoding="utf-8").split("\n")
    session = runtime.InferenceSession(str(path))
    logits = session.run(None, {"pieces": np.array([[2, 10, 11, 3, 0, 0]])})[0]
    assert logits.shape == (1, 6, 86)
    again = run.train_network(iter([]), tmp_path, options)
    assert again == path
    assert (tmp_path / "pieces.txt").read_text(encoding="utf-8").split("\n") == pieces


def test_pasts_that_look_like_other_verbs_keep_their_form() -> None:
    """*found* is of *find*, *left* of *leave*, *am* a present: none of them is met only as an error."""
    lines = [
        f"{who} {did} the keys in {town} ."
        for who in ("Anna", "Ben")
        for did in ("found", "left", "saw")
        for town in ("Paris", "Rome")
    ] + [f"I am happy in {town} ." for town in ("Paris", "Rome", "London")]
    text = tagged_text(lines)
    tables = word_tables(text.counts())
    noise = run.noise_maker(tables, text, "cpu")
    batches = run.batches_of(text, tables, OPTIONS)
    words, tags = batches.text.batch(np.arange(len(text.lengths)), "cpu")
    noisy = noise(words, tags, torch.Generator().manual_seed(1))
    past, present = FORMS.index("past"), FORMS.index("present")
    labels = [set(row) - {IGNORED} for row in noisy.labels[..., 5].tolist()]
    assert labels == [{past}] * 12 + [{present}] * 3
