"""Corpus formats: how to read essays, how to write them, and how to report what a format cannot hold.

A *file format* keeps many essays in one file; a *folder format* (brat) keeps each essay in files of its own.
Readers and writers are pure: they take lines and yield essays, take essays and yield text.  Only
`grater.corpora.source` opens paths.  `grater.corpora.plain` is the shortest example of a format.  They are
registered by name; others join by the entry-point group `grater.formats`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from grater.model import Essay
from grater.registry import Registry


class Source(Protocol):
    """A named text that can be read from the start as often as wanted; a line keeps its `\\n` or `\\r\\n`."""

    @property
    def name(self) -> str: ...

    def lines(self) -> Iterator[str]: ...


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of an essay that the format written to cannot hold.

    `what` names the thing (`edit 12-15 Wcip`, `metadata language`), `why` says the reason; `changed` is set where the
    thing was kept in another shape instead of being left out.
    """

    essay_id: str
    what: str
    why: str
    changed: bool = False

    def __str__(self) -> str:
        return f"essay {self.essay_id}: {self.what} {'changed' if self.changed else 'left out'}: {self.why}"


Report: TypeAlias = Callable[[Loss], None]
"""Where a writer tells its losses, one by one as it goes."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format that keeps a corpus in one file.

    `write` yields pieces of the file's text.  `suffixes` are those that name the format when nobody else does.
    `n_passes` is how often `read` goes through its source, for a progress bar that ends at the end.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source], Iterator[Essay]]
    write: Callable[[Iterable[Essay], Report], Iterator[str]]
    n_passes: int = 1


@dataclass(frozen=True, slots=True)
class FolderFormat:
    """A format that keeps every essay in files of its own, in one folder.

    `read` gets the folder's sources, sorted by name (relative to the folder, with `/`); `write` yields (name, text).
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Iterable[Source]], Iterator[Essay]]
    write: Callable[[Iterable[Essay], Report], Iterator[tuple[str, str]]]
    n_passes: int = 1


Format: TypeAlias = FileFormat | FolderFormat


FORMATS: Registry[Format] = Registry(
    "format",
    "grater.formats",
    {
        "bea": "grater.corpora.bea:FORMAT",
        "brat": "grater.corpora.brat:FORMAT",
        "fce": "grater.corpora.fce:FORMAT",
        "jsonl": "grater.corpora.jsonl:FORMAT",
        "m2": "grater.corpora.m2:FORMAT",
        "nucle": "grater.corpora.nucle:FORMAT",
        "text": "grater.corpora.plain:FORMAT",
    },
)
