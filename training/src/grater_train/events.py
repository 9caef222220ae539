"""Training events: contexts as rows of numbers with what stood there, and events kept in a file.

Text is analysed batch by batch, in several processes if need be, and each batch numbers its words as they come.
`gathered` joins batches and renumbers the words, the most frequent first; rare ones fall into classes.

Events can be kept in a file, so that a second model of the same text needs no second analysis.  The file records what
its events were made from; it is refused for other text, another tagger or another rate of gaps, so a model is the
same whether its events were kept or made.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from grater.corpora.text.tags import load_tagger
from grater.detect.linear import Rows, Vocabulary, form
from grater.errors import BadInput, Problem
from grater.files import reason, replacing
from grater.model import Json, hash_of

Labels: TypeAlias = npt.NDArray[np.int8]

MIN_WORD_COUNT = 3
"""Words of fewer contexts are not in the vocabulary."""


def token_draws(line: str, n_tokens: int, seed: int) -> npt.NDArray[np.float64]:
    """A random number in [0, 1) for each token of a line, from the seed, the line and the token's place alone.

    SplitMix64 (Steele, Lea & Flood 2014) from a state that is a hash of seed and line.
    """
    state = np.uint64(hash_of(f"{seed}|{line}"))
    values = state + np.arange(1, n_tokens + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    draws: npt.NDArray[np.float64] = ((values ^ (values >> np.uint64(31))) >> np.uint64(11)) / 2.0**53
    return draws


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The events of some lines: word numbers point into `words`, counted from 1."""

    rows: Rows
    labels: Labels
    folds: Labels
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """All events of a text, numbered by one vocabulary."""

    rows: Rows
    labels: Labels
    folds: Labels
    vocabulary: Vocabulary

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, chosen: npt.NDArray[np.bool_]) -> Events:
        """Some of the events."""
        return Events(
            rows=self.rows[chosen], labels=self.labels[chosen], folds=self.folds[chosen], vocabulary=self.vocabulary
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of a row: words come first; a word's frequency is counted in the columns `counted`."""

    n_fields: int
    n_words: int
    counted: Sequence[int]


def gathered(
    batches: Iterable[Batch],
    layout: Layout,
    *,
    min_count: int = MIN_WORD_COUNT,
    tell: Callable[[int], None] = lambda _: None,
) -> Events:
    """All batches as one, with a vocabulary of the words that enough contexts have."""
    growing = GrowingVocabulary()
    rows = [np.zeros((0, layout.n_fields), np.int32)]
    labels, folds = [np.zeros(0, np.int8)], [np.zeros(0, np.int8)]
    for batch in batches:
        rows.append(renumbered(batch.rows, [0, *growing.numbers(batch.words)], layout))
        labels.append(batch.labels)
        folds.append(batch.folds)
        tell(len(batch.labels))
    whole = np.concatenate(rows)
    rows.clear()
    vocabulary = _frequent(whole, tuple(growing.places), layout, min_count)
    numbers = np.array(renumbering(tuple(growing.places), vocabulary), np.int32)
    whole[:, : layout.n_words] = numbers[whole[:, : layout.n_words]]
    return Events(rows=whole, labels=np.concatenate(labels), folds=np.concatenate(folds), vocabulary=vocabulary)


def renumbered(rows: Rows, numbers: Sequence[int], layout: Layout) -> Rows:
    """The rows with other numbers for their words."""
    renumbered = rows.copy()
    renumbered[:, : layout.n_words] = np.array(numbers, np.int32)[rows[:, : layout.n_words]]
    return renumbered


def _frequent(rows: Rows, words: tuple[str, ...], layout: Layout, min_count: int) -> Vocabulary:
    """The words that are frequent enough, most frequent first and equal ones in code-point order."""
    counts = np.zeros(len(words) + 1, np.int64)
    for column in layout.counted:
        counts += np.bincount(rows[:, column], minlength=len(counts))
    frequent = np.flatnonzero(counts[1:] >= min_count).tolist()
    return Vocabulary(tuple(words[index] for index in sorted(frequent, key=lambda k: (-counts[k + 1], words[k]))))


def source_of(files: Iterable[Path], *, gap_rate: float, seed: int) -> dict[str, Json]:
    """What events are made from: the text files by name and size, the tagger, and the source of randomness."""
    texts: list[Json] = [f"{file.name}, {file.stat().st_size} bytes" for file in files]
    return {
        "text": texts,
        "tagger": load_tagger().card.get("hash"),
        "rate of gaps": gap_rate,
        "seed": seed,
        "drawing": 2,
    }


def keep(events: Events, path: Path, source: Mapping[str, Json]) -> None:
    """Write events with what they were made from."""
    parts = {"words": list(events.vocabulary.words), "source": dict(source)}
    text = np.frombuffer(json.dumps(parts, sort_keys=True).encode("ascii"), np.uint8)
    with replacing(path) as stream:
        np.savez(stream, rows=events.rows, labels=events.labels, folds=events.folds, text=text)


def kept(path: Path, source: Mapping[str, Json]) -> Events:
    """Read kept events; those made from something else are refused."""
    try:
        with zipfile.ZipFile(path), np.load(path) as arrays:  # numpy reads other files in other ways
            parts = json.loads(arrays["text"].tobytes())
            events = Events(
                rows=arrays["rows"],
                labels=arrays["labels"],
                folds=arrays["folds"],
                vocabulary=Vocabulary(tuple(parts["words"])),
            )
            made_from = dict(parts["source"])
    except OSError as error:
        _refuse(path, f"cannot be read: {reason(error)}")
    except (KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile) as error:
        _refuse(path, f"expected saved events, found something else ({error})")
    for name, expected in source.items():
        if made_from.get(name) != expected:
            _refuse(path, f"its events come from another {name}; delete the file to make new ones")
    return events


def _refuse(path: Path, message: str) -> NoReturn:
    raise BadInput(Problem(str(path), message))


@dataclass(slots=True)
class GrowingVocabulary:
    """Numbers every word that it meets; for training, before frequencies are known."""

    places: dict[str, int] = field(default_factory=dict)
    _raw: dict[str, int] = field(default_factory=dict)

    def numbers(self, words: Iterable[str]) -> Iterator[int]:
        known = self._raw.get
        for word in words:
            number = known(word)
            yield self._new(word) if number is None else number

    def _new(self, word: str) -> int:
        number = self.places.setdefault(form(word), len(self.places) + 1)  # 0 is no word
        self._raw[word] = number
        return number


def renumbering(words: Sequence[str], vocabulary: Vocabulary) -> list[int]:
    """For words numbered from 1 in order: their numbers in the vocabulary, with 0 for 0 in front."""
    return [0, *vocabulary.numbers(words)]
