"""Systems without a model, for tests of the workflow: what an annotator marked is what the system flags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grater.corpora import write_corpus
from grater.detect.detector import Finding
from grater.model import Decision, Edit, Essay, Item, Json, Span
from tests.annotate.study.files import ESSAYS, write_text

FLAGS = {"careful": ((0, 10, 12),), "eager": ((0, 10, 12), (0, 26, 29), (1, 12, 14))}
"""Which words of which essay each system would change: *on*, *for*, *in*."""


def write_systems(folder: Path) -> list[str]:
    """The names of two systems, each known by a file of its edits of the essays of `write_essays`."""
    return [_system(folder, name, [(f"e{n}", text) for n, text in enumerate(ESSAYS)]) for name in FLAGS]


def _system(folder: Path, name: str, texts: list[tuple[str, str]]) -> str:
    essays = []
    for number, (essay_id, text) in enumerate(texts):
        spans = [Span(start, end) for where, start, end in FLAGS[name] if where == number]
        essays.append(Essay(essay_id, text, tuple(Edit(span, ("at",), "Prep", name) for span in spans), (name,)))
    path = folder / f"{name}.jsonl"
    write_corpus(essays, path, lambda _: None)
    return f"{name}=edits:{path}"


def write_verdicts(path: Path, items: list[str], *, n_raters: int = 3, group: str = "crowd") -> Path:
    """Judgments of items: every third is an error for all, every fifth for some."""
    rows = [
        f"{item},{group}{rater},{'error' if n % 3 == 0 or (n % 5 == 0 and rater == 0) else 'ok'},{group}"
        for n, item in enumerate(items)
        for rater in range(n_raters)
    ]
    return write_text(path, "item,rater,label,group", *rows)


PLACES = (("e0", 10, 12), ("e1", 12, 14), ("e2", 15, 20))
"""*on*, *in*, *about*."""


@dataclass(frozen=True)
class Scripted:
    """A detector that says what it is told; `name` stays the same when its mind changes."""

    output: Sequence[Decision]
    items: Sequence[Item]
    name: str = "mine"
    kinds: tuple[str, ...] = ("prep",)

    @property
    def card(self) -> Mapping[str, Json]:
        return {}

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        known = {essay.essay_id for essay in essays}
        for item, decision in zip(self.items, self.output, strict=True):
            if item.essay_id in known:
                yield Finding(item, decision, "", ())


def scripted(places: Sequence[tuple[str, int, int]] = PLACES, *, kind: str = "prep") -> Scripted:
    items = [Item(essay, Span(start, end), kind) for essay, start, end in places]
    return Scripted([Decision(item.item_id, "mine", True, 0.75, "choice", "at") for item in items], items)
