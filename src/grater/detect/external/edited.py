"""A system known by its edits: an M2 file, or any annotated corpus, of the same essays.

Essays are met by their ids.  Where the file has several annotators, name one after an at sign: `edits:out.m2@2`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grater.corpora import read_corpus
from grater.errors import BadInput, Problem, UnknownName
from grater.model import Edit, Essay
from grater.registry import unknown


@dataclass(frozen=True, slots=True, eq=False)
class Edited:
    """A file of edits; `annotator` is empty where it has only one."""

    path: Path
    name: str
    annotator: str = ""

    @property
    def about(self) -> str:
        return f"edits in {self.path.name}"

    def correct(self, essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Edit, ...]]]:
        edited = {essay.essay_id: essay for essay in read_corpus(self.path)}
        annotator = self._chosen(edited.values())
        for essay in essays:
            theirs = edited.get(essay.essay_id)
            if theirs is None or theirs.text != essay.text:
                why = "found none" if theirs is None else "found another text under this id"
                raise BadInput(Problem(self.path.name, f"expected edits of essay {essay.essay_id!r}, {why}"))
            yield essay, tuple(edit for edit in theirs.edits if edit.rater == annotator)

    def _chosen(self, essays: Iterable[Essay]) -> str:
        names = sorted({name for essay in essays for name in essay.annotators})
        if self.annotator and self.annotator not in names:
            raise UnknownName(f"{self.path.name}: {unknown('annotator', self.annotator, names)}")
        if not self.annotator and len(names) > 1:
            message = f"expected one annotator, found {', '.join(names)}; choose with edits:{self.path.name}@NAME"
            raise BadInput(Problem(self.path.name, message))
        return self.annotator or (names[0] if names else "")
