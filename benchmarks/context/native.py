"""Flags per 1,000 words of well-formed text: `python -m benchmarks.context native`.

Flags of all kinds and of each, beside those of the classical systems, on text that the network did not learn from.
Brown is read in texts of many lines, and again sentence by sentence, where the rest of a text gives no signs of
errors; GUM by document.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from benchmarks.context.options import Options
from benchmarks.context.texts import EVERY, N_NATIVE_WORDS, TAGS, as_essays, some
from benchmarks.detect.data import brown_essays, keep, lines_of, table

from grater.corpora.source import open_source
from grater.detect.systems import load_system
from grater.model import Essay

N_LINES = 100
"""Lines of well-formed text that are read as one essay: some 2,000 words of Brown, as long as its samples are."""

WRITTEN = ("academic", "bio", "letter", "news", "textbook", "voyage", "whow")
"""Genres of GUM that are written and edited."""


def native(options: Options) -> None:
    """Flags per 1,000 words of well-formed text."""
    systems = [options.detector, *(load_system(name) for name in ("prep-maxent", "prep-both", "article"))]
    rows = []
    for name, read in _native_texts(options.native).items():
        essays, n_words = some(read(), N_NATIVE_WORDS, every=EVERY if name.startswith("Brown") else 1)
        for system in systems:
            by_kind: dict[str, int] = defaultdict(int)
            for finding in system.find(essays):
                by_kind[finding.item.kind] += finding.decision.flagged
            rates = [f"{1000 * by_kind[kind] / n_words:.2f}" if kind in system.kinds else "–" for kind in TAGS]
            rows.append([name, f"{n_words:,}", system.name, f"{1000 * sum(by_kind.values()) / n_words:.2f}", *rates])
    table(["text", "words", "system", "flags per 1,000", *TAGS], rows)
    keep("context-native", rows)


def _native_texts(file: Path | None) -> dict[str, Callable[[], Iterator[Essay]]]:
    """Well-formed text that the network did not learn from, or a file of your own."""
    if file is not None:
        return {file.stem: lambda: _as_texts(open_source(file).lines())}
    return {
        "Brown": lambda: _as_texts(lines_of("native-test/brown.txt.xz")),
        "Brown, sentence by sentence": brown_essays,
        "SCOTUS": lambda: _as_texts(lines_of("native/scotus.txt.xz")),
        "GUM, essays": lambda: as_essays(_of_gum("essay")),
        "GUM, other writing": lambda: as_essays(_of_gum(*WRITTEN)),
    }


def _of_gum(*genres: str) -> Iterator[str]:
    """Documents of the training part of GUM in these genres, a sentence per line."""
    documents: dict[str, list[str]] = defaultdict(list)
    document = ""
    for line in lines_of("ud/gum-train.conllu.gz"):
        if line.startswith("# sent_id = "):
            document = line.rpartition("-")[0]
        elif line.startswith("# text = ") and document.split("_")[2] in genres:
            documents[document].append(line.removeprefix("# text = ").strip())
    return map("\n".join, documents.values())


def _as_texts(lines: Iterable[str]) -> Iterator[Essay]:
    """Essays of many lines each."""
    rest = map(str.strip, lines)
    return as_essays(map("\n".join, iter(lambda: list(islice(rest, N_LINES)), [])))
