"""Corpus formats: how to read essays, how to write them, and how to report what a format cannot hold.

A *file format* keeps many essays in one file; a *folder format* (brat) keeps each essay in files of its own.
Readers and writers are pure: they take lines and yield essays, take essays and yield text.  Only
`grater.corpora.source` opens paths.  `grater.corpora.plain` is the shortest example of a format.  They are
registered by name; others join by the entry-point group `grater.formats`.

`parse_json` is for formats that hold JSON.  It reads strictly, so that what is read can be written again and nothing
goes missing on the way.  Refused beyond what JSON itself refuses: a key that occurs twice in an object, NaN and the
infinities, half a surrogate pair (no text in any encoding), numbers beyond what Python can take, and values nested
deeper than any metadata is (`MOST_DEPTH`): other programs, and our own API, could not take them on.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NoReturn, Protocol, TypeAlias, runtime_checkable

from grater.model import MOST_DEPTH, Essay, Json, is_deep
from grater.registry import Registry


class Source(Protocol):
    """A named text that can be read from the start as often as wanted; a line keeps its `\\n` or `\\r\\n`."""

    @property
    def name(self) -> str: ...

    def lines(self) -> Iterator[str]: ...


@runtime_checkable
class BytesSource(Protocol):
    """A source that also gives its lines as bytes, many at a time; it has checked that they are UTF-8."""

    def raw_lines(self) -> Iterator[list[bytes]]: ...


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of an essay that the format written to cannot hold.

    `what` names the thing (`edit 12-15 Wcip`, `metadata language`), `why` says the reason; `changed` is set where the
    thing was kept in another shape instead of being left out.  `words` are those of the essay that it is about.
    """

    essay_id: str
    what: str
    why: str
    changed: bool = False
    words: str = ""

    def __str__(self) -> str:
        words = f" {self.words!r}" if self.words else ""
        return f"essay {self.essay_id}: {self.what}{words} {'changed' if self.changed else 'left out'}: {self.why}"


Report: TypeAlias = Callable[[Loss], None]
"""Where a writer tells its losses, one by one as it goes."""


def ignore_loss(loss: Loss) -> None:
    """The report of callers who want to hear of no loss."""


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


SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """What is wrong, as the end of a sentence: `expected ..., found ...`."""


def parse_json(text: str) -> Json:
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"expected JSON, found a fault at character {error.pos + 1}: {error.msg}") from error
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(f"expected JSON of a sensible size, found a fault: {error}") from error
    if ("\\u" in text or SURROGATE.search(text)) and SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotJson("expected text, found half a surrogate pair (\\ud800 to \\udfff); take it out")
    if text.count("[") + text.count("{") > MOST_DEPTH and is_deep(value):
        raise NotJson(f"expected values nested at most {MOST_DEPTH} deep, found more")
    return value


def _without_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    record = dict(pairs)
    if len(record) < len(pairs):
        n_found = Counter(key for key, _ in pairs)
        raise NotJson(f"expected each key once, found {n_found.most_common(1)[0][0][:40]!r} again")
    return record


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise NotJson(f"expected a finite number, found {digits[:40]}")
    return number


def _no_number(constant: str) -> NoReturn:
    raise NotJson(f"expected a finite number, found {constant}")


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_float=_finite, parse_constant=_no_number)
