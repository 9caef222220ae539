"""What several figures read, and how they are shown."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from grater.corpora import read_corpus, read_merged
from grater.corpora.merge import attach_documents
from grater.corpora.source import open_source
from grater.model import Edit, Essay, Interval, Span

ROOT = Path(os.environ.get("GRATER_DATA") or Path(__file__).parents[2] / ".." / "shared" / "data")
WORK = Path(__file__).parents[1] / "work"
NATIVE = ("amalgum", "elife", "gutenberg", "openstax", "scotus")
"""What the shipped models learn from; onestop (CC BY-SA) is left out and serves to choose settings on."""


def need(relative: str) -> Path:
    path = ROOT / relative
    if not path.exists():
        sys.exit(f"real data missing: {relative} (set GRATER_DATA to the folder that holds it)")
    return path


def lines_of(relative: str) -> Iterator[str]:
    yield from open_source(need(relative)).lines()


def native_lines() -> Iterator[str]:
    for name in NATIVE:
        yield from lines_of(f"native/{name}.txt.xz")


def brown_essays() -> Iterator[Essay]:
    """Brown, a sentence an essay, tokens as they stand there."""
    for number, line in enumerate(lines_of("native-test/brown.txt.xz")):
        yield Essay(str(number), line.strip())


def cell(value: Interval) -> str:
    """As tables of the docs have it: `.312 [.251, .380]`."""
    if value.undefined_because:
        return "–"
    shown, low, high = (f"{number:.3f}".removeprefix("0") for number in (value.value, value.low, value.high))
    return f"{shown} [{low}, {high}]"


def table(headers: list[str], rows: list[list[str]]) -> None:
    """A table in Markdown."""
    print("| " + " | ".join(headers) + " |")
    print("|" + "---|" * len(headers))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


OFFICIAL = ("A7", "A3")
TAGS = {
    "prep": ("Prep",),
    "prep-missing": ("Prep",),
    "article": ("ArtOrDet",),
    "number": ("Nn",),
    "verb-form": ("SVA", "Vform"),
}
EVERY = 5
"""Of Brown's sentences, every fifth is looked at; they hold over 20,000 prepositions."""
N_NATIVE_WORDS = 200_000


def conll14() -> list[Essay]:
    """The sentences of CoNLL-2014 with their ten annotators; A7 and A3 are the official ones (Bryant & Ng 2015)."""
    folder = need("conll14/ten-annotators")
    return list(read_merged([folder / f"A{number}.m2" for number in range(1, 11)]))


def learner_essays() -> list[Essay]:
    """The same, each with its document."""
    documents = read_corpus(need("conll14/official/official-2014.0.sgml"), format_name="nucle")
    return list(attach_documents(conll14(), documents))


def learner_documents() -> list[Essay]:
    """The sentences of CoNLL-2014 joined to the essays that they come from, a line each, with their edits."""
    by_document: dict[str, list[Essay]] = defaultdict(list)
    for sentence in learner_essays():
        by_document[str(sentence.metadata.get("document"))].append(sentence)
    return [_joined(document, sentences) for document, sentences in by_document.items()]


def _joined(document: str, sentences: Sequence[Essay]) -> Essay:
    edits, start = list[Edit](), 0
    for sentence in sentences:
        for edit in sentence.edits:
            edits.append(replace(edit, span=Span(edit.span.start + start, edit.span.end + start)))
        start += len(sentence.text) + 1
    return Essay(
        document,
        "\n".join(sentence.text for sentence in sentences),
        edits=tuple(edits),
        annotators=sentences[0].annotators,
        metadata={"document": document},
    )


def halves(essays: Sequence[Essay]) -> tuple[list[Essay], list[Essay]]:
    """Documents in turn: one half to tune on, one to report."""
    documents = sorted({str(essay.metadata.get("document")) for essay in essays})
    tuned = set(documents[::2])
    return (
        [essay for essay in essays if str(essay.metadata.get("document")) in tuned],
        [essay for essay in essays if str(essay.metadata.get("document")) not in tuned],
    )


def as_essays(texts: Iterable[str]) -> Iterator[Essay]:
    return (Essay(str(number), text.strip()) for number, text in enumerate(texts))


def some(essays: Iterable[Essay], n_words: int, *, every: int = 1) -> tuple[list[Essay], int]:
    """Essays up to a number of words."""
    taken, n = [], 0
    for essay in islice(essays, 0, None, every):
        taken.append(essay)
        n += len(essay.text.split())
        if n >= n_words:
            break
    return taken, n
