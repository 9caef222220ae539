"""Make a corpus of the size of NUCLE from words of our own: `python benchmarks/make_nucle_sized.py [FOLDER]`.

1,414 documents, 59,871 sentences, 1,220,257 tokens, 46,597 edits (Dahlmeier, Ng & Wu 2013, Table 5), with the paper's
ten most frequent tags in their proportions and skewed numbers of edits a document.  Words are made of syllables and
mean nothing.  The same corpus is written as NUCLE SGML, as JSONL and as M2 (one annotator, no documents) under
benchmarks/work/, which git ignores.  Seeded: always the same files.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grater.corpora.formats import FORMATS, FileFormat, Loss
from grater.corpora.source import replacing
from grater.model import DELETE, Edit, Essay, Span
from grater.rng import generator

N_DOCUMENTS, N_SENTENCES, N_TOKENS, N_EDITS = 1_414, 59_871, 1_220_257, 46_597
N_WORDS, N_ANNOTATORS, SENTENCES_A_PARAGRAPH = 30_000, 10, 6
TAGS = {
    "Wcip": 7312, "Rloc": 6390, "ArtOrDet": 6004, "Nn": 3955, "Mec": 3290, "Vt": 3288, "Wform": 2241, "SVA": 1578,
    "Others": 1532, "Vform": 1531, "Trans": 1400, "Um": 1300, "Pref": 1200, "Srun": 1100, "Cit": 900, "WOinc": 800,
    "Wtone": 700, "Spar": 600, "Vm": 500, "V0": 400, "Ssub": 300, "WOadv": 150, "Npos": 60, "Sfrag": 30, "Pform": 20,
    "Smod": 10, "Wa": 6,
}  # fmt: skip
"""The first ten are the paper's counts; the others only fill up to the total, in the order of its Figure 4."""

WORK = Path(__file__).parent / "work"


@dataclass(frozen=True, slots=True)
class Sentence:
    """Tokens, and edits as (first token, past the last, correction, tag)."""

    tokens: tuple[str, ...]
    edits: tuple[tuple[int, int, str, str], ...]


@dataclass(frozen=True, slots=True)
class Document:
    number: int
    sentences: tuple[Sentence, ...]

    @property
    def annotator(self) -> str:
        return str(self.number % N_ANNOTATORS)


def vocabulary() -> list[str]:
    """Words of two to four syllables, consonant and vowel by turns: none is an abbreviation or a contraction."""
    syllables = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
    rng = generator(2013, "words")
    words: dict[str, None] = {}
    while len(words) < N_WORDS:
        words["".join(rng.choice(syllables, size=rng.integers(2, 5)))] = None
    return list(words)


def shared_out(n: int, parts: int, least: int, spread: float, rng: np.random.Generator) -> list[int]:
    """A number divided into unequal parts of at least so much each; a small `spread` makes them more unequal."""
    weights = rng.gamma(spread, size=parts)
    return [int(part) + least for part in rng.multinomial(n - least * parts, weights / weights.sum())]


def documents() -> Iterator[Document]:
    rng = generator(2013, "documents")
    words = np.array(vocabulary())
    chances = 1 / np.arange(3, len(words) + 3)
    text = iter(rng.choice(words, size=N_TOKENS, p=chances / chances.sum()).tolist())
    lengths = iter(shared_out(N_TOKENS, N_SENTENCES, 5, 3.0, rng))
    tags = iter(rng.permutation([tag for tag, n in TAGS.items() for _ in range(n)]).tolist())
    n_edits = shared_out(N_EDITS, N_DOCUMENTS, 0, 1.5, rng)
    for number, n_sentences in enumerate(shared_out(N_SENTENCES, N_DOCUMENTS, 5, 6.0, rng)):
        by_sentence = np.bincount(rng.integers(0, n_sentences, size=n_edits[number]), minlength=n_sentences)
        sentences = [
            sentence([next(text) for _ in range(next(lengths) - 1)], [next(tags) for _ in range(n)], rng)
            for n in by_sentence
        ]
        yield Document(number, tuple(sentences))


def sentence(words: list[str], tags: list[str], rng: np.random.Generator) -> Sentence:
    edits = []
    for tag in tags:
        first = int(rng.integers(0, len(words) - 1))
        past = first + int(rng.integers(1, 3))
        edits.append((first, past, "" if tag == "Rloc" else words[first][::-1], tag))
    return Sentence((words[0].capitalize(), *words[1:], "."), tuple(sorted(edits)))


def essay(document: Document) -> Essay:
    text, edits = "", []
    for number, sentence in enumerate(document.sentences):
        text += "" if not number else " " if number % SENTENCES_A_PARAGRAPH else "\n"
        starts: list[int] = []
        for token in sentence.tokens:
            text += " " if starts and token != "." else ""
            starts.append(len(text))
            text += token
        for first, past, correction, tag in sentence.edits:
            end = starts[past - 1] + len(sentence.tokens[past - 1])
            edits.append(Edit(Span(starts[first], end), (correction,), tag, document.annotator))
    return Essay(str(document.number), text, tuple(edits), (document.annotator,))


def m2_block(sentence: Sentence) -> str:
    lines = ["S " + " ".join(sentence.tokens)]
    for first, past, correction, tag in sentence.edits:
        lines.append(f"A {first} {past}|||{tag}|||{correction}|||REQUIRED|||{DELETE}|||0")
    return "\n".join(lines) + "\n\n"


def refuse(loss: Loss) -> None:
    raise SystemExit(f"the benchmark's corpus must fit its formats: {loss}")


def make(folder: Path) -> dict[str, Path]:
    """Write the corpus where it is not there yet; the paths by format."""
    paths = {name: folder / f"nucle-sized.{suffix}" for name, suffix in SUFFIXES.items()}
    if all(path.exists() for path in paths.values()):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    made = list(documents())
    for name in ("nucle", "jsonl"):
        chosen = FORMATS[name]
        assert isinstance(chosen, FileFormat)
        with replacing(paths[name]) as stream:
            stream.writelines(chosen.write(map(essay, made), refuse))
    with replacing(paths["m2"]) as stream:
        stream.writelines(m2_block(sentence) for document in made for sentence in document.sentences)
    return paths


SUFFIXES = {"nucle": "sgml", "jsonl": "jsonl", "m2": "m2"}

if __name__ == "__main__":
    for path in make(Path(sys.argv[1]) if len(sys.argv) > 1 else WORK).values():
        print(f"{path.stat().st_size / 1e6:8.1f} MB  {path}")
