"""Training: batches of sentences of like length, fresh noise at every turn, a loss for each head.

The loss of a head is its cross-entropy at the words that have a label, times the head's weight.  A student learns
from the labels first, which is fast, and then from a trained network (its teacher): most of its loss is then how far
its answers are from the teacher's (Hinton, Vinyals & Dean 2015, section 2), the rest the labels.  Both see the same
noisy words, each in pieces of its own.  Of two words that fit, a label names one and the teacher both.

Slots are few, and a text that is read many times is soon known by heart.  So a share of the other words is hidden,
and the network guesses them from the rest (Devlin et al. 2019, section 3.1), which teaches it what stands between.

The matrices of the blocks move by their momentum made orthogonal (Muon: Jordan et al. 2024; Liu et al. 2025, section
2.2, whose scale we take), everything else by AdamW; in equal time the losses were lower than by AdamW alone.  A
language model that only adapts is moved by AdamW.

Learning rates rise over the first steps and fall in a line to nothing at the end, which is set by steps or by
seconds: a lent machine goes back at a known time.  A checkpoint holds everything that a later run needs to go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 (its usual name)
from numpy.typing import NDArray

from grater.corpora.text.prepositions import PREPOSITIONS
from grater.detect.context.heads import HEADS
from grater.detect.context.pieces import END, START
from grater_train.context.network import Transformer
from grater_train.context.noise import IGNORED, SIZES, NoiseMaker, Noisy
from grater_train.context.words import MASK

WEIGHTS = (1.0, 2.0, 0.6, 1.5, 0.6, 1.0)
"""What a mistake of each head costs."""

GUESSED = 0.3
"""What a wrong guess of a hidden word costs."""

TAUGHT = 0.27
"""The share of training that is over when a teacher begins; from then on words are hidden, and guesses cost, half."""

SOFT = 0.8
"""The teacher's share in the loss."""

AT_ONCE = 64
"""Sentences measured together."""

PREP, ARTICLE, NUMBER = 0, 2, 4
"""Columns of labels: the written preposition, the written article, and from there on number and form."""

Tensor = Any


@dataclass(frozen=True, slots=True, eq=False)
class TextArrays:
    """A text as numbers: word types and tags end to end, where each sentence starts, and how long it is."""

    words: Tensor
    tags: Tensor
    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    def batch(self, sentences: NDArray[np.int64], device: str) -> tuple[Tensor, Tensor]:
        """Word types and tags [n, words], padded with zeros."""
        starts = torch.from_numpy(self.starts[sentences]).to(device)
        lengths = torch.from_numpy(self.lengths[sentences]).to(device)
        places = torch.arange(int(self.lengths[sentences].max()), device=device)[None]
        inside = places < lengths[:, None]
        places = (starts[:, None] + places).clamp(max=len(self.words) - 1)
        return self.words[places].long() * inside, self.tags[places].long() * inside


class Batches:
    """Sentences in batches of about `n_words` words, alike in length, in a new order at every pass.

    `shares` say how often each sentence comes in one pass.
    """

    def __init__(self, text: TextArrays, shares: NDArray[np.float64], *, n_words: int, seed: int) -> None:
        self.text, self.shares, self.n_words, self.seed = text, shares, n_words, seed

    def since(self, step: int) -> Iterator[NDArray[np.int64]]:
        """The batches from one step on, whatever came before; there is no last one."""
        for number in count():
            batches = self._one_pass(number)
            yield from batches[step:]
            step = max(0, step - len(batches))

    def _one_pass(self, number: int) -> list[NDArray[np.int64]]:
        random = np.random.default_rng([self.seed, number])
        whole = np.floor(self.shares + random.random(len(self.shares))).astype(np.int64)
        sentences = np.repeat(np.arange(len(self.shares)), whole)
        lengths = self.text.lengths[sentences] + random.random(len(sentences))
        sentences = sentences[np.argsort(lengths)]
        edges = np.flatnonzero(np.diff(np.cumsum(self.text.lengths[sentences]) // self.n_words)) + 1
        batches = [batch for batch in np.split(sentences, edges) if len(batch)]
        return [batches[place] for place in random.permutation(len(batches))]


class Cutter:
    """Cuts word types into one network's pieces, by a table [types, most] with 0 after the last piece."""

    def __init__(self, table: Tensor, device: str, *, start: int = START, end: int = END) -> None:
        self.table = table.to(device)
        self.counts = (self.table > 0).sum(1)
        self.start, self.end = start, end

    def __call__(self, words: Tensor) -> tuple[Tensor, Tensor]:
        """Pieces [n, length] between start and end, and the place of each word's first piece [n, words]."""
        counts = self.counts[words] * (words > 0)
        ends = counts.cumsum(1)
        firsts = ends - counts + 1
        length = int(ends[:, -1].max()) + 2
        length += -length % 8
        pieces = torch.zeros(words.shape[0], length, dtype=torch.long, device=words.device)
        pieces[:, 0] = self.start
        rows = self.table[words].long() * (words > 0)[..., None]
        places = firsts[..., None] + torch.arange(rows.shape[-1], device=words.device)
        is_piece = rows > 0
        row = torch.arange(words.shape[0], device=words.device)[:, None, None].expand_as(rows)
        pieces[row[is_piece], places[is_piece]] = rows[is_piece]
        pieces[torch.arange(words.shape[0], device=words.device), ends[:, -1] + 1] = self.end
        return pieces, firsts


def states_of(network: Transformer, cutter: Cutter, words: Tensor) -> Tensor:
    """What the network makes of each word: [n, words, width]."""
    pieces, firsts = cutter(words)
    states = network.states(pieces)
    return states.gather(1, firsts.clamp(max=pieces.shape[1] - 1)[..., None].expand(-1, -1, states.shape[-1]))


def answers(network: Transformer, cutter: Cutter, words: Tensor) -> Tensor:
    """The network's answers at each word: [n, words, 86]."""
    return network.heads(states_of(network, cutter, words)).float()


def hide_words(noisy: Noisy, share: float, generator: torch.Generator) -> tuple[Noisy, Tensor]:
    """The same with a share of its words masked, prepositions and articles apart; and which ones."""
    is_slot = (noisy.labels[..., PREP] != IGNORED) | (noisy.labels[..., ARTICLE] != IGNORED)
    drawn = torch.rand(noisy.words.shape, device=noisy.words.device, generator=generator) < share
    hidden = drawn & ~is_slot & (noisy.words > MASK)
    labels = noisy.labels.clone()
    labels[..., NUMBER:] = torch.where(hidden[..., None], IGNORED, labels[..., NUMBER:])
    return Noisy(words=torch.where(hidden, MASK, noisy.words), labels=labels), hidden


def loss_of(
    logits: Tensor, labels: Tensor, teacher: Tensor | None = None, *, soft: float = SOFT
) -> tuple[Tensor, Tensor]:
    """The whole loss, and the cross-entropy of each head."""
    parts, losses = [], []
    for number, (given, weight) in enumerate(zip(logits.split(SIZES, dim=-1), WEIGHTS, strict=True)):
        label = labels[..., number]
        hard = F.cross_entropy(given.flatten(0, 1), label.flatten(), ignore_index=IGNORED)
        parts.append(hard.detach())
        loss = hard
        if teacher is not None:
            wanted = teacher.split(SIZES, dim=-1)[number]
            distance = F.kl_div(given.log_softmax(-1), wanted.log_softmax(-1), reduction="none", log_target=True).sum(
                -1
            )
            is_labelled = label != IGNORED
            loss = (1 - soft) * hard + soft * (distance * is_labelled).sum() / is_labelled.sum().clamp(min=1)
        losses.append(weight * loss)
    return torch.stack(losses).sum(), torch.stack(parts)


def unheard(figures: Mapping[str, float]) -> None:
    """Nobody listens."""
    del figures


@dataclass(slots=True, eq=False)
class Trainer:
    """One network in training; `progress` is called now and then with figures by name.

    `peak` is the highest learning rate; `blocks_peak` that of the matrices of the blocks, or 0 to treat them as all
    others.
    """

    network: Transformer
    cutter: Cutter
    noise: NoiseMaker
    batches: Batches
    device: str
    peak: float = 3e-3
    blocks_peak: float = 4e-3
    warm_up: int = 300
    decay: float = 0.05
    hidden: float = 0.0
    guessed: float = GUESSED
    teacher: tuple[Transformer, Cutter] | None = None
    seed: int = 0
    checkpoint: Path | None = None
    progress: Callable[[Mapping[str, float]], None] = unheard

    def train(self, *, steps: int, seconds: float | None = None, every: int = 100) -> int:
        """Train up to `steps`, or until the seconds are over; the number of steps taken in all."""
        optimizers = self._optimizers()
        step = self._restore(optimizers)
        self.network.train()
        began, spent = time.monotonic(), 0.0
        running = torch.zeros(len(WEIGHTS), device=self.device)
        for sentences in self.batches.since(step):
            done = max(step / steps, spent / seconds if seconds else 0.0)
            if done >= 1:
                break
            for optimizer, peak in zip(optimizers, (self.peak, self.blocks_peak), strict=False):
                for group in optimizer.param_groups:
                    group["lr"] = peak * min((step + 1) / self.warm_up, 1 - done)
            is_taught = self.teacher is not None and done >= TAUGHT
            running += self._step(optimizers, *self._noisy(sentences, step, is_taught=is_taught), is_taught=is_taught)
            step, spent = step + 1, time.monotonic() - began
            if step % every == 0:
                self.progress(_figures(step, spent, (running / every).tolist()))
                running.zero_()
                self._save(optimizers, step)
        self._save(optimizers, step)
        return step

    def _noisy(self, sentences: NDArray[np.int64], step: int, *, is_taught: bool = False) -> tuple[Noisy, Tensor]:
        """Noisy words, and the types of those that are hidden; noise depends on seed and step alone.

        What dropout leaves out does too, so that training can go on where it was.
        """
        seed = self.seed * 1_000_003 + step
        torch.manual_seed(seed)
        generator = torch.Generator(device=self.device).manual_seed(seed)
        whole = self.noise(*self.batches.text.batch(sentences, self.device), generator)
        noisy, hidden = hide_words(whole, self.hidden / 2 if is_taught else self.hidden, generator)
        return noisy, whole.words * hidden

    def _optimizers(self) -> list[torch.optim.Optimizer]:
        """AdamW, and Muon for the matrices of the blocks."""
        inside = (
            [weight for weight in self.network.blocks.parameters() if weight.dim() > 1] if self.blocks_peak else []
        )
        own = {id(weight) for weight in inside}
        others = [weight for weight in self.network.parameters() if id(weight) not in own]
        groups = [
            {"params": [weight for weight in others if weight.dim() > 1], "weight_decay": self.decay},
            {"params": [weight for weight in others if weight.dim() <= 1], "weight_decay": 0.0},
        ]
        adam = torch.optim.AdamW(groups, lr=self.peak, betas=(0.9, 0.98), fused=self.device.startswith("cuda"))
        if not inside:
            return [adam]
        muon = torch.optim.Muon(inside, lr=self.blocks_peak, weight_decay=self.decay, adjust_lr_fn="match_rms_adamw")
        return [adam, muon]

    def _step(
        self, optimizers: Sequence[torch.optim.Optimizer], noisy: Noisy, hidden: Tensor, *, is_taught: bool
    ) -> Tensor:
        with torch.autocast(self.device.split(":")[0], dtype=torch.bfloat16, enabled=self.device.startswith("cuda")):
            wanted = self._taught(noisy) if is_taught else None
            states = states_of(self.network, self.cutter, noisy.words)
            logits = self.network.heads(states).float()
            guesses = self._wrong_guesses(states, hidden)
        loss, parts = loss_of(logits, noisy.labels, wanted)
        (loss + (self.guessed / 2 if is_taught else self.guessed) * guesses).backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        for optimizer in optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return parts.nan_to_num()

    def _wrong_guesses(self, states: Tensor, hidden: Tensor) -> Tensor:
        """The cross-entropy of the first pieces of the hidden words, among all pieces."""
        is_hidden = hidden > 0
        if not self.guessed or not is_hidden.any():
            return states.new_zeros(())
        guessed = F.linear(states[is_hidden], self.network.embedding.weight).float()
        return F.cross_entropy(guessed, self.cutter.table[hidden[is_hidden], 0].long())

    def _taught(self, noisy: Noisy) -> Tensor | None:
        if self.teacher is None:
            return None
        with torch.no_grad():
            return answers(*self.teacher, noisy.words)

    def _restore(self, optimizers: Sequence[torch.optim.Optimizer]) -> int:
        if self.checkpoint is None or not self.checkpoint.exists():
            return 0
        kept = torch.load(self.checkpoint, map_location=self.device, weights_only=True)
        self.network.load_state_dict(kept["network"])
        for optimizer, state in zip(optimizers, kept["optimizers"], strict=True):
            optimizer.load_state_dict(state)
        return int(kept["step"])

    def _save(self, optimizers: Sequence[torch.optim.Optimizer], step: int) -> None:
        """The new checkpoint takes the old one's place only when it is whole."""
        if self.checkpoint is None:
            return
        new = self.checkpoint.with_suffix(".new")
        states = [optimizer.state_dict() for optimizer in optimizers]
        kept = {"network": self.network.state_dict(), "optimizers": states, "step": step}
        torch.save(kept, new)
        new.replace(self.checkpoint)


def _figures(step: int, seconds: float, losses: list[float]) -> dict[str, float]:
    return {"step": step, "seconds": seconds} | dict(zip([head.name for head in HEADS], losses, strict=True))


@torch.no_grad()
def masked_accuracy(
    network: Transformer, cutter: Cutter, noise: NoiseMaker, text: TextArrays, sentences: NDArray[np.int64]
) -> tuple[int, int]:
    """How many prepositions of some sentences are found when one at a time is masked, and how many there are."""
    network.eval()
    right = total = 0
    for at in range(0, len(sentences), AT_ONCE):
        words, tags = text.batch(sentences[at : at + AT_ONCE], noise.device)
        written = torch.where(tags == noise.tags["TO"], -1, noise.tables["preposition"][words].long())
        rows, places = torch.nonzero(written >= 0, as_tuple=True)
        if not len(rows):
            continue
        masked = words[rows].clone()
        number = torch.arange(len(rows), device=words.device)
        masked[number, places] = MASK
        best = answers(network, cutter, masked)[number, places, : len(PREPOSITIONS)].argmax(-1)
        right += int((best == written[rows, places]).sum())
        total += len(rows)
    return right, total
