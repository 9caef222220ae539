"""Corpus formats: reading essays, writing them, and reporting what a format cannot store.

A *file format* keeps many essays in one file; a *folder format* (brat) keeps each essay in files of its own. Readers
and writers are pure: they take lines and yield essays, take essays and yield text. Only `grater.corpora.source` opens
paths. `grater.corpora.plain` is the shortest example of a format. They are registered by name; third parties use the
entry-point group `grater.formats`.

`parse_json` is for formats that hold JSON. It is strict, so that everything read can be written again without loss.
Beyond JSON's own rules, it refuses: a key that occurs twice in an object, NaN and the infinities, half a surrogate
pair (no text in any encoding), numbers beyond what Python can take, and values nested deeper than `MOST_DEPTH`, which
other programs and our own API could not process.

`Conversion` is a corpus written in another format, with a record of what that format could not store.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from textwrap import shorten
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

from grater.errors import GraterError
from grater.model import MOST_DEPTH, Edit, Essay, Json, is_deep, short_hash
from grater.options import Registry
from grater.result import HIDDEN, Result, in_json
from grater.sheet import Sheet, count

if TYPE_CHECKING:
    import polars as pl

PLACE = re.compile(r"\b(\d+)-(\d+)\b")
MOST_REMEMBERED = 2_000
"""Essays; those that are typed again go by several hundred at a time."""
MOST_SHOWN = 60
AROUND = 12


class Source(Protocol):
    """A named text that can be read repeatedly from the start; a line keeps its `\\n` or `\\r\\n`."""

    @property
    def name(self) -> str: ...

    def lines(self) -> Iterator[str]: ...


NUMBERED = re.compile(r"(.*)#([1-9][0-9]{0,8})", re.DOTALL)


def unnumbered(essay_id: str, n_seen: Counter[str]) -> str:
    """The id without the suffix that reading adds to repeated ids; `n_seen` counts the ids returned so far."""
    match = NUMBERED.fullmatch(essay_id)
    if match and n_seen[match[1]] == int(match[2]) - 1 > 0:
        essay_id = match[1]
    n_seen[essay_id] += 1
    return essay_id


class EssayIds:
    """Ids for essays, in reading order: a format's own, or a hash of the text; `#2`, `#3` for repeats."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def of_text(self, text: str) -> str:
        return self.of_document(short_hash(text))

    def of_document(self, essay_id: str) -> str:
        """The id if it is new, else `id#2`, `id#3`."""
        numbered = essay_id
        while numbered in self._taken:  # `a#2` may be an essay's own id
            self._last[essay_id] = self._last.get(essay_id, 1) + 1
            numbered = f"{essay_id}#{self._last[essay_id]}"
        self._taken.add(numbered)
        return numbered


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of an essay that the target format cannot store.

    `what` names it (`edit 12-15 Wcip`, `metadata language`), `why` gives the reason; `changed` is set if it was
    stored in another form instead of being left out. `words` are the essay's words that it concerns.
    """

    essay_id: str
    what: str
    why: str
    changed: bool = False
    words: str = ""

    def as_line(self) -> str:
        """A line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        words = f" {self.words!r}" if self.words else ""
        return f"essay {self.essay_id}: {self.what}{words} {'changed' if self.changed else 'left out'}: {self.why}"


Report: TypeAlias = Callable[[Loss], None]
"""The callback that a writer calls with each loss."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Reports the losses of one essay."""

    essay_id: str
    report: Report

    def __call__(self, what: str, why: str, *, changed: bool = False) -> None:
        self.report(Loss(self.essay_id, what, why, changed))


def edit_name(edit: Edit) -> str:
    """The name of an edit in reports."""
    return f"edit {edit.span.start}-{edit.span.end} {edit.tag}"


def unmarked_losses(essay: Essay, why: str) -> Iterator[Loss]:
    """The losses of formats that store only text."""
    edits = [edit_name(edit) for edit in essay.edits]
    rest = [*(f"annotator {name}" for name in essay.annotators), *(["tokens"] if essay.tokens is not None else [])]
    for what in [*(["NUL characters"] if "\0" in essay.text else []), *edits, *rest]:
        yield Loss(essay.essay_id, what, why)


def ignore_loss(loss: Loss) -> None:
    """Ignore losses."""


@dataclass(frozen=True, slots=True)
class FileFormat:
    """A format that keeps a corpus in one file.

    `write` yields pieces of the file's text. `suffixes` select the format by file name; a format that shares its
    suffix with another has none, and must be named. `n_passes` is how often `read` goes through its source, for the
    progress bar.
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
        "table": "grater.corpora.table:FORMAT",
        "text": "grater.corpora.plain:FORMAT",
    },
)


def suffixes_of_corpora() -> frozenset[str]:
    """The file-name suffixes of corpora in every format except plain text."""
    return frozenset(suffix for name in FORMATS if name != "text" for suffix in FORMATS[name].suffixes)


def is_of_corpus(suffix: str) -> bool:
    """Whether a file with this suffix is a corpus; plain text is recognised without loading any format."""
    return suffix not in ("", ".txt") and suffix in suffixes_of_corpora()


def shortened(words: str, most: int = 40) -> str:
    """Words in quotes for a message, cut where they are long."""
    return repr(words if len(words) <= most else words[: most - 3] + "...")


SURROGATE = re.compile("[\ud800-\udfff]")


class NotJson(ValueError):
    """The problem, as the end of a sentence: `expected ..., found ...`."""


def parse_json(text: str) -> Json:
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise NotJson(f"expected JSON, found an error at character {error.pos + 1}: {error.msg}") from error
    except NotJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(f"expected JSON of a reasonable size, found: {error}") from error
    if ("\\u" in text or SURROGATE.search(text)) and SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise NotJson("expected text, found half a surrogate pair (\\ud800 to \\udfff); remove it")
    if text.count("[") + text.count("{") > MOST_DEPTH and is_deep(value):
        raise NotJson(f"expected values nested at most {MOST_DEPTH} deep, found more")
    return value


# JSON escapes every other character that some tool takes for the end of a line.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def json_line(value: Mapping[str, Json], essay_id: str, separators: tuple[str, str] = (", ", ": ")) -> str:
    """A value of an essay as JSON on one line."""
    try:
        line = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraterError(f"essay {essay_id}: cannot be written as JSON: {error}") from error
    return whole_text(line, essay_id)


def whole_text(text: str, essay_id: str) -> str:
    """The text of a file; half a surrogate pair cannot be written in any encoding."""
    if SURROGATE.search(text):
        raise GraterError(f"essay {essay_id}: cannot be written: it contains half a surrogate pair")
    return text


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


@dataclass(slots=True, repr=False)
class Conversion(Result):
    """What was converted and what was lost.

    `by_reason` counts all losses by what happened (changed, left out) and why; `hear` is called with each loss.
    """

    hear: Callable[[Loss], None] | None = field(default=None, metadata=HIDDEN)
    n_essays: int = 0
    n_edits: int = 0
    by_reason: Counter[tuple[str, str]] = field(default_factory=Counter, metadata=HIDDEN)
    of_edits: list[Loss] = field(default_factory=list, metadata=HIDDEN)
    of_the_rest: list[Loss] = field(default_factory=list, metadata=HIDDEN)
    texts: OrderedDict[str, str] = field(default_factory=OrderedDict, metadata=HIDDEN)
    """The last essays, to show the words that a loss is about."""

    def remembering(self, essays: Iterable[Essay]) -> Iterator[Essay]:
        for essay in essays:
            self.texts[essay.essay_id] = essay.text
            if len(self.texts) > MOST_REMEMBERED:
                self.texts.popitem(last=False)
            yield essay

    def counting(self, essays: Iterable[Essay]) -> Iterator[Essay]:
        for essay in self.remembering(essays):
            self.n_essays += 1
            self.n_edits += len(essay.edits)
            yield essay

    def report(self, loss: Loss) -> None:
        loss = replace(loss, words=self._words(loss))
        self.by_reason["changed" if loss.changed else "left out", loss.why] += 1
        (self.of_edits if loss.what.startswith("edit") else self.of_the_rest).append(loss)
        if self.hear is not None:
            self.hear(loss)

    def _words(self, loss: Loss) -> str:
        """The essay's words at the place of a loss; for an insertion, the words around it."""
        place, text = PLACE.search(loss.what), self.texts.get(loss.essay_id)
        if place is None or text is None:
            return ""
        start, end = int(place[1]), int(place[2])
        words = text[start:end] if start < end else text[max(0, start - AROUND) : end + AROUND]
        return shorten(words, MOST_SHOWN, placeholder=" …")

    @property
    @in_json()
    def losses(self) -> list[Loss]:
        """All losses, those of edits first."""
        return self.of_edits + self.of_the_rest

    def to_frame(self) -> pl.DataFrame:
        """One loss per row."""
        import polars as pl  # writing a corpus need not wait for it

        names = {"essay_id": pl.String, "what": pl.String, "why": pl.String}
        types = {**names, "changed": pl.Boolean, "words": pl.String}
        rows = [(loss.essay_id, loss.what, loss.why, loss.changed, loss.words) for loss in self.losses]
        return pl.DataFrame(rows, schema=types, orient="row")

    def sheets(self) -> list[Sheet]:
        rows = [(why, verb, count(n)) for (verb, why), n in self.by_reason.most_common()]
        sizes = f"{count(self.n_essays)} essays with {count(self.n_edits)} edits."
        return [Sheet("Losses", ("reason", "", "losses"), tuple(rows), (sizes,), name="losses")]
