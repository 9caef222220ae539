"""The whole way: from text to an exported network, in a folder that holds every step.

What is there is not made again, and training goes on from its last checkpoint: `text.npz` and `types.txt` (the tagged
text), `pieces.txt`, `teacher.pt` (where a language model teaches), `checkpoint.pt`, and at the end `float.onnx` and
`context.onnx`.  The same text, seed and number of steps give the same network on the same machine, also over a break.

A model is calibrated, without learners, on sentences with errors put in, as essays with their corrections.  The
errors are those of training (`noise`), in sentences that training did not see.  Each sentence is an essay of its own,
its words one space apart, read by one annotator who sees every error.  Tags are those of NUCLE.  Sentences in which a
word is masked are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from grater.corpora.text.inflect import plural, singular
from grater.corpora.text.prepositions import PREPOSITIONS
from grater.corpora.text.verbs import verb_base, verb_forms
from grater.detect.context.heads import ARTICLES, FORMS, surfaces
from grater.detect.context.pieces import MASK as MASK_PIECE
from grater.detect.context.pieces import PieceVocabulary
from grater.model import DELETE, Edit, Essay, Span
from grater_train.context.export import export_onnx, export_quantised
from grater_train.context.network import Shape, Transformer
from grater_train.context.noise import IGNORED, NONE, NoiseMaker
from grater_train.context.teacher import read_teacher
from grater_train.context.text import N_PIECES, TAGS, TaggedText, learn_pieces, tagged_text
from grater_train.context.training import (
    AT_ONCE,
    Batches,
    Cutter,
    TextArrays,
    Trainer,
    masked_accuracy,
    unheard,
)
from grater_train.context.words import MASK, PADDING, WordTables, word_tables

TEACHER_STEPS = 0.22
"""Steps that a teacher is trained for, for each step of its student."""

TEACHER_PEAK, TEACHER_DECAY = 3e-4, 0.02
MOST_PIECES_OF_A_WORD = 10
RAREST_IN_VOCABULARY = 3
ANNOTATOR = "noise"
PREP, PREP_GAP, ARTICLE, ARTICLE_GAP, NUMBER, VERB = range(6)


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How long, how large, and from what."""

    steps: int
    n_words: int = 64_000
    n_pieces: int = N_PIECES
    n_blocks: int = 12
    width: int = 384
    inner: int = 1024
    n_heads: int = 6
    n_shared: int = 3
    dropout: float = 0.05
    hidden: float = 0.12
    peak: float = 3e-3
    blocks_peak: float = 4e-3
    warm_up: int = 300
    seed: int = 0
    device: str = "cpu"

    def shape(self, n_pieces: int) -> Shape:
        return Shape(
            n_pieces=n_pieces,
            n_blocks=self.n_blocks,
            width=self.width,
            inner=self.inner,
            n_heads=self.n_heads,
            n_shared=self.n_shared,
            dropout=self.dropout,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Tagged text and what is made of it before training."""

    text: TaggedText
    tables: WordTables
    pieces: list[str]
    noise: NoiseMaker
    batches: Batches

    @property
    def held_out(self) -> NDArray[np.int64]:
        """The sentences that training does not see."""
        return np.flatnonzero(self.text.held_out)

    def corrupted(self, *, seed: int) -> list[Essay]:
        """Held-out sentences with errors put in, and their corrections."""
        return list(corrupted_essays(self.tables, self.noise, self.batches.text, self.held_out, seed=seed))

    def well_formed(self) -> list[Essay]:
        """Held-out sentences as they are."""
        return list(self.text.essays(self.held_out))


def prepare(lines: Iterable[str], folder: Path, options: TrainingOptions) -> Prepared:
    """Tag the text and learn its pieces, or take both from the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = _text(lines, folder)
    counts = text.counts()
    tables = word_tables(counts, seed=options.seed)
    return Prepared(
        text=text,
        tables=tables,
        pieces=_pieces(counts, folder, options.n_pieces),
        noise=noise_maker(tables, text, options.device),
        batches=batches_of(text, tables, options),
    )


def train_network(
    prepared: Prepared,
    folder: Path,
    options: TrainingOptions,
    *,
    teacher: Path | None = None,
    progress: Callable[[Mapping[str, float]], None] = unheard,
) -> float | None:
    """Train, or go on, and write `context.onnx`; the share of masked held-out prepositions that the network finds.

    With a language model in a GGUF file, the model is trained first, and then teaches.
    """
    taught = _teacher(teacher, prepared, folder, options, progress) if teacher else None
    torch.manual_seed(options.seed)
    network = Transformer(options.shape(len(prepared.pieces))).to(options.device)
    cutter = Cutter(piece_table(prepared.tables, prepared.pieces), options.device)
    trainer = Trainer(
        network=network,
        cutter=cutter,
        noise=prepared.noise,
        batches=prepared.batches,
        device=options.device,
        peak=options.peak,
        blocks_peak=options.blocks_peak,
        warm_up=options.warm_up,
        hidden=options.hidden,
        teacher=taught,
        seed=options.seed,
        checkpoint=folder / "checkpoint.pt",
        progress=progress,
    )
    trainer.train(steps=options.steps)
    right, total = masked_accuracy(network, cutter, prepared.noise, prepared.batches.text, prepared.held_out)
    export_onnx(network, folder / "float.onnx")
    export_quantised(network, folder / "context.onnx")
    return right / total if total else None


def _teacher(
    path: Path,
    prepared: Prepared,
    folder: Path,
    options: TrainingOptions,
    progress: Callable[[Mapping[str, float]], None],
) -> tuple[Transformer, Cutter]:
    """A language model that has learnt the task."""
    network, cutter = read_teacher(path, prepared.tables.types, options.device)
    trainer = Trainer(
        network=network,
        cutter=cutter,
        noise=prepared.noise,
        batches=prepared.batches,
        device=options.device,
        peak=TEACHER_PEAK,
        blocks_peak=0.0,
        warm_up=options.warm_up,
        decay=TEACHER_DECAY,
        hidden=options.hidden / 2,
        guessed=0.0,
        seed=options.seed + 1,
        checkpoint=folder / "teacher.pt",
        progress=progress,
    )
    trainer.train(steps=max(1, round(TEACHER_STEPS * options.steps)))
    network.eval()
    return network, cutter


def _text(lines: Iterable[str], folder: Path) -> TaggedText:
    kept, types = folder / "text.npz", folder / "types.txt"
    if kept.exists() and types.exists():
        with np.load(kept) as arrays:
            parts = {name: arrays[name] for name in arrays.files}
        return TaggedText(types=tuple(types.read_text(encoding="utf-8").split("\n")), **parts)
    text = tagged_text(lines)
    np.savez(kept, words=text.words, tags=text.tags, lengths=text.lengths, held_out=text.held_out)
    types.write_text("\n".join(text.types), encoding="utf-8")
    return text


def _pieces(counts: Mapping[str, int], folder: Path, n_pieces: int) -> list[str]:
    kept = folder / "pieces.txt"
    if not kept.exists():
        common = {word: count for word, count in counts.items() if count >= RAREST_IN_VOCABULARY}
        kept.write_text("\n".join(learn_pieces(common, n_pieces=n_pieces)), encoding="utf-8")
    return kept.read_text(encoding="utf-8").split("\n")


def piece_table(tables: WordTables, pieces: list[str]) -> torch.Tensor:
    """The pieces of each word type [types, most], with 0 after the last."""
    vocabulary = PieceVocabulary(pieces)
    table = np.zeros((len(tables.types), MOST_PIECES_OF_A_WORD), dtype=np.int32)
    for number, word in enumerate(tables.types):
        row = (MASK_PIECE,) if number == MASK else vocabulary.encode(word)[:MOST_PIECES_OF_A_WORD]
        table[number, : len(row)] = row
    table[0] = 0
    return torch.from_numpy(table)


def noise_maker(tables: WordTables, text: TaggedText, device: str) -> NoiseMaker:
    names = [
        "preposition",
        "article",
        "number",
        "verb",
        "paradigms",
        "misspelt",
        "confused",
        "capital",
        "begins_with_vowel",
        "extra_after",
        "extra_before",
        "habits",
        "written",
    ]
    arrays = {name: torch.from_numpy(getattr(tables, name)) for name in names}
    return NoiseMaker(arrays | {"frequency": torch.from_numpy(_frequencies(tables, text))}, TAGS, device)


def _frequencies(tables: WordTables, text: TaggedText) -> NDArray[np.float32]:
    """How often each preposition stands in the text; never nothing."""
    prepositions = tables.preposition[_numbers(tables, text)[text.words]]
    counts = np.bincount(prepositions[prepositions >= 0], minlength=len(PREPOSITIONS))
    return (counts + 1).astype(np.float32)


def _numbers(tables: WordTables, text: TaggedText) -> NDArray[np.int32]:
    """From the text's numbers of types to those of the tables."""
    number = {word: at for at, word in enumerate(tables.types)}
    return np.array([number[word] for word in text.types], dtype=np.int32)


def batches_of(text: TaggedText, tables: WordTables, options: TrainingOptions) -> Batches:
    lengths = text.lengths.astype(np.int64)
    arrays = TextArrays(
        words=torch.from_numpy(_numbers(tables, text)[text.words]).to(options.device),
        tags=torch.from_numpy(text.tags).to(options.device),
        starts=np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64),
        lengths=lengths,
    )
    return Batches(arrays, (~text.held_out).astype(np.float64), n_words=options.n_words, seed=options.seed)


def corrupted_essays(
    tables: WordTables, noise: NoiseMaker, text: TextArrays, sentences: NDArray[np.int64], *, seed: int
) -> Iterator[Essay]:
    """The sentences with noise; the same for the same seed."""
    generator = torch.Generator(device=noise.device).manual_seed(seed)
    for at in range(0, len(sentences), AT_ONCE):
        group = sentences[at : at + AT_ONCE]
        noisy = noise(*text.batch(group, noise.device), generator)
        for sentence, words, labels in zip(group.tolist(), noisy.words.tolist(), noisy.labels.tolist(), strict=True):
            if MASK not in words:
                yield _Corrupted(tables, [word for word in words if word != PADDING], labels).essay(str(sentence))


@dataclass(frozen=True, slots=True, eq=False)
class _Corrupted:
    """One sentence: numbers of its word types, and the labels at each."""

    tables: WordTables
    words: list[int]
    labels: list[list[int]]

    def essay(self, essay_id: str) -> Essay:
        written = [self.tables.types[word] for word in self.words]
        ends = np.cumsum([len(word) + 1 for word in written]).tolist()
        spans = [Span(end - 1 - len(word), end - 1) for word, end in zip(written, ends, strict=True)]
        edits = tuple(edit for at in range(len(written)) for edit in self._edits(at, spans))
        return Essay(essay_id=essay_id, text=" ".join(written), edits=edits, annotators=(ANNOTATOR,))

    def _edits(self, at: int, spans: list[Span]) -> Iterator[Edit]:
        span, label, tables = spans[at], self.labels[at], self.tables
        gap = Span(span.start, span.start)
        if label[PREP_GAP] not in (IGNORED, NONE):
            yield _edit(gap, PREPOSITIONS[label[PREP_GAP]], "Prep")
        if label[ARTICLE_GAP] != IGNORED and ARTICLES[label[ARTICLE_GAP]] != DELETE:
            yield _edit(gap, ARTICLES[label[ARTICLE_GAP]], "ArtOrDet")
        if label[PREP] not in (IGNORED, tables.preposition[self.words[at]]):
            yield _edit(span, (*PREPOSITIONS, DELETE)[label[PREP]], "Prep")
        if label[ARTICLE] not in (IGNORED, tables.article[self.words[at]]):
            yield _edit(span, ARTICLES[label[ARTICLE]], "ArtOrDet")
        if label[NUMBER] != IGNORED:
            word = tables.types[self.words[at]]
            right = (singular, plural)[label[NUMBER]](word)
            if right != word:
                yield _edit(span, right, "Nn")
        if label[VERB] != IGNORED:
            yield from self._verb_edits(at, spans)

    def _verb_edits(self, at: int, spans: list[Span]) -> Iterator[Edit]:
        """A verb with the *to* before it, where its form is not the label's."""
        form, word = self.labels[at][VERB], self.tables.types[self.words[at]]
        has_to = at > 0 and self.tables.types[self.words[at - 1]].lower() == "to"
        written = f"to {word}" if has_to else word
        rights = [right for base in (verb_base(word, "VBD"), verb_base(word)) if (right := _form(base, form, word))]
        if rights and written not in rights and not (word == "am" and FORMS[form] == "present"):
            start = spans[at - 1].start if has_to else spans[at].start
            yield _edit(Span(start, spans[at].end), rights[0], "Vform")


def _form(base: str, form: int, word: str) -> str | None:
    """A form of a verb, if the word is one of its forms."""
    written = surfaces(verb_forms(base))
    return written[form] if word in written else None


def _edit(span: Span, word: str, tag: str) -> Edit:
    return Edit(span=span, replacements=("" if word == DELETE else word,), tag=tag, rater=ANNOTATOR)
