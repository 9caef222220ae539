"""Small corpora with all that could depend on the cut: repeats, documents, edits, held-out lines, hostile text."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import polars as pl

from grater.corpora import write_corpus
from grater.corpora.formats import ignore_loss
from grater.model import Edit, Essay, Span
from grater.scale.shards import LazyCut, Shard, corpus_of, read_shards
from tests.detect.prepositions.native_text import native_lines

N_ESSAYS = 40


def write_essays(path: Path, n_essays: int = N_ESSAYS) -> None:
    """Essays of three lines, in documents of two, a few of them twice, with edits of two annotators."""
    lines = native_lines(3 * n_essays)
    texts = ["\n".join(lines[3 * k : 3 * k + 3]) for k in range(n_essays)]
    essays = []
    for k, text in enumerate([*texts, *texts[:5]]):
        edit = Edit(span=Span(0, text.index(" ")), replacements=("It",), tag=f"T{k % 3}", rater=str(k % 2), line=k)
        metadata = {"document": f"d{k // 2}", "language": "Thai" if k % 3 else "Greek"}
        essays.append(Essay(f"e{k}", text, edits=(edit,), annotators=("0", "1"), metadata=metadata))
    write_corpus(essays, path, ignore_loss)


def write_lines(path: Path) -> None:
    """Native text with repeated lines and characters that other readers stumble over."""
    lines = native_lines(400)
    hostile = ["A bare \r of a line.", "It fell \u2028 on the floor.", "Tab\tand \u0085 in one of them.", lines[3]]
    path.write_text("\ufeff" + "\n".join([*lines, *hostile, *lines[:40]]) + "\n", encoding="utf-8")


class Shuffled:
    """Shards in an order that nobody expects."""

    def __init__(self, shards: list[Shard], sha256: str) -> None:
        self.shards, self.sha256 = shards, sha256

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(random.Random(1).sample(self.shards, len(self.shards)))


def cut_into(path: Path, n_shards: int, folder: Path, *, lines: bool) -> Shuffled:
    """A corpus in a number of shards of about the same size."""
    n_characters = sum(len(each.essay.text) for each in corpus_of([path], lines=lines))
    size = n_characters // n_shards if n_shards == 1 else n_characters // n_shards + 1
    for _ in LazyCut(corpus_of([path], lines=lines), folder, size=size, lines=lines):
        pass
    shards = read_shards(folder)
    return Shuffled(list(shards.shards), shards.sha256)


def hash_of_rows(frames: list[pl.DataFrame]) -> str:
    """A hash of the rows in their order, whatever files they are in."""
    return hashlib.sha256(pl.concat(frames).write_csv().encode()).hexdigest()
