"""Training on a toy grammar: noise keeps the right answers, a network learns them, and goes on after a break."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from running import grater_train
from tests.cli.running import grater
from toy import PEOPLE, learners_m2, toy_lines

torch = pytest.importorskip("torch", reason="training needs PyTorch: make test-train")

from grater.detect.context.heads import FORMS  # noqa: E402 (after the check for PyTorch)
from grater.model import Essay  # noqa: E402
from grater_train.context import run  # noqa: E402
from grater_train.context.network import Transformer  # noqa: E402
from grater_train.context.noise import IGNORED, NONE  # noqa: E402
from grater_train.context.run import corrupted_essays  # noqa: E402
from grater_train.context.text import (  # noqa: E402
    TaggedText,
    learn_pieces,
    tagged_text,
)
from grater_train.context.training import Cutter, Trainer, masked_accuracy  # noqa: E402
from grater_train.context.words import MASK, WordTables, word_tables  # noqa: E402

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
        blocks_peak=OPTIONS.blocks_peak,
        warm_up=OPTIONS.warm_up,
        hidden=OPTIONS.hidden,
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
    (first, hidden), (again, hidden_again), (other, _) = (made._noisy(sentences, step) for step in (4, 4, 5))
    assert torch.equal(hidden, hidden_again)
    assert torch.equal(first.words, again.words)
    assert torch.equal(first.labels, again.labels)
    assert first.words.shape != other.words.shape or not torch.equal(first.words, other.words)


def test_hidden_words_are_masked_and_no_slots(text: TaggedText, tables: WordTables) -> None:
    made = trainer(text, tables)
    noisy, hidden = made._noisy(next(made.batches.since(0)), 4)
    is_hidden = hidden > 0
    assert 0.02 < is_hidden.float().mean() < 0.15
    assert (noisy.words[is_hidden] == MASK).all()
    assert (hidden[is_hidden] > MASK).all()
    prepositions = noisy.labels[..., 0][is_hidden]
    assert (prepositions == IGNORED).all()
    assert (noisy.labels[..., 4:][is_hidden] == IGNORED).all()


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
    assert resumed._restore(resumed._optimizers()) == 4
    assert resumed.train(steps=12, every=4) == 12
    for name, weights in whole.network.state_dict().items():
        assert torch.allclose(weights, resumed.network.state_dict()[name], atol=1e-5), name


def test_from_text_to_a_detector_that_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`grater-train context` writes a model that `check` runs; what is in its folder is not made again."""
    pytest.importorskip("onnxruntime", reason="needs onnxruntime: pip install 'grater[context]'")
    text, model, folder = tmp_path / "toy.txt", tmp_path / "toy.model", tmp_path / "steps"
    text.write_text("\n".join(toy_lines()), "utf-8")
    (tmp_path / "learners.m2").write_text("\n".join(learners_m2()), "utf-8")
    train = ["context", text, "--out", model, "--folder", folder, "--steps", "240", "--small"]
    train += ["--batch-words", "600", "--date", "2026-01-01", "--learners", tmp_path / "learners.m2"]
    assert grater_train(capsys, *train).status == 0
    first = model.read_bytes()
    essay = tmp_path / "essay.txt"
    essay.write_text("Anna works in Monday .", "utf-8")
    checked = grater(capsys, "check", essay, "--system", model, "--json")
    assert '"suggestion": "on"' in checked.out
    text.write_text("Something else.\n", "utf-8")
    assert grater_train(capsys, *train).status == 0
    assert model.read_bytes() == first


def test_corrupted_sentences_are_corrected_back(text: TaggedText, tables: WordTables) -> None:
    """The edits of a corrupted sentence, applied, give its prepositions, articles and numbers back."""
    noise, batches = run.noise_maker(tables, text, "cpu"), run.batches_of(text, tables, OPTIONS)
    numbers = np.arange(len(text.lengths))
    clean = {essay.essay_id: essay.text.lower() for essay in text.essays(numbers)}
    essays = list(corrupted_essays(tables, noise, batches.text, numbers, seed=2))
    misspelt = {tables.types[number] for number in tables.misspelt if number}
    essays = [essay for essay in essays if not misspelt.intersection(essay.text.split())]
    assert sum(bool(essay.edits) for essay in essays) > 30
    assert {essay.essay_id: corrected(essay).lower() for essay in essays}.items() <= clean.items()


def corrected(essay: Essay) -> str:
    text = essay.text
    for edit in sorted(essay.edits, key=lambda edit: (edit.span.start, edit.span.end), reverse=True):
        word = edit.replacements[0]
        before, after = text[: edit.span.start], text[edit.span.end :]
        is_gap = edit.span.start == edit.span.end
        text = before + word + (" " if is_gap else "") + (after if word else after.removeprefix(" "))
    return text


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


def test_learners_prepositions_are_put_in_where_no_verb_asks_for_one() -> None:
    """*discuss about the plan*, *go to home*: after verbs that take none, and before adverbs."""
    lines = [f"{who} discussed the plan ." for who in PEOPLE] + [f"{who} went home ." for who in PEOPLE]
    text = tagged_text(lines)
    tables = word_tables(text.counts())
    noise, batches = run.noise_maker(tables, text, "cpu"), run.batches_of(text, tables, OPTIONS)
    words, tags = batches.text.batch(np.tile(np.arange(len(text.lengths)), 80), "cpu")
    noisy = noise(words, tags, torch.Generator().manual_seed(1))
    shown = [[tables.types[number] for number in row if number] for row in noisy.words.tolist()]
    pairs = [pair for row in shown for pair in pairwise(row)]
    assert pairs.count(("discussed", "about")) > 5
    assert pairs.count(("to", "home")) > 5
    assert pairs.count(("went", "about")) < pairs.count(("discussed", "about")) / 2
