"""The nouns of grater: frozen values, standard library only.

Offsets are Unicode code points of the raw text of an essay, half-open.  Identity is content, never a path:
an essay has its format's own document id or a hash of its text, an item a hash of (essay, span, kind), so
reading or sampling twice gives the same ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Literal, TypeAlias, Union

Json: TypeAlias = Union[bool, int, float, str, "Sequence[Json]", "Mapping[str, Json]", None]

MOST_DEPTH = 100
"""How deep lists and objects of a file may lie in each other: other programs, and our own API, take on no more."""


def is_deep(value: Json) -> bool:
    """Whether lists and objects lie in each other deeper than `MOST_DEPTH`; looked at level by level."""
    level: list[Json] = [value]
    for _ in range(MOST_DEPTH + 1):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [part for parts in inner for part in parts if isinstance(part, dict | list)]
        if not level:
            return False
    return True


DELETE = "-NONE-"
"""How tables and M2 files write a replacement that is empty: the words are to go."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range [start, end) of code points in the raw text of an essay."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, text: str) -> str:
        """The words that the span covers."""
        return text[self.start : self.end]

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.end <= self.end

    def touches(self, other: Span) -> bool:
        """Whether the two share a character, or one is a point inside or at the rim of the other."""
        if self.start == self.end or other.start == other.end:
            return self.start <= other.end and other.start <= self.end
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Edit:
    """A rater's correction of one span.

    Several `replacements` are alternatives; an empty string among them means delete; none at all means that the
    error was found but not corrected.  `extra` holds what the file's format knows of an edit and the model does not.
    `line` is where it stood in the file it was read from, for messages; it is not part of the edit.
    """

    span: Span
    replacements: tuple[str, ...]
    tag: str
    rater: str
    comment: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict, hash=False)
    line: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Essay:
    """A text that a person wrote, and what annotators made of it.

    `annotators` are those who read the whole essay, whether or not they marked anything.  `tokens` are set if the
    source is tokenised (such as M2); nothing tokenises such an essay again.  `metadata` may hold any JSON value: the
    title, first language, score, document of an M2 sentence.  `line` is where the essay began in its file.
    """

    essay_id: str
    text: str
    edits: tuple[Edit, ...] = ()
    annotators: tuple[str, ...] = ()
    tokens: tuple[Span, ...] | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict, hash=False)
    line: int | None = field(default=None, compare=False, repr=False)


def document_of(essay: Essay) -> str | None:
    """The document that an essay names, else the essay itself; None for a sentence (of M2) that names none."""
    named = essay.metadata.get("document")
    return str(named) if named not in (None, "") else essay.essay_id if essay.tokens is None else None


GOLD = "gold"
"""The annotator under whose name adjudicated decisions are stored."""

ROLES = "roles"
"""The metadata field with the roles of an essay's annotators, where they are programs or adjudicated decisions."""

ADJUDICATED, PROGRAM = "adjudicated", "program"
"""Roles whose edits and judgments are never those of an annotator."""


def is_adjudicated(rater: str) -> bool:
    """Whether the name of a rater stands for adjudicated work."""
    return rater.strip().casefold() in (GOLD, ADJUDICATED)


def as_annotated(essay: Essay) -> Essay:
    """The essay as its annotators read it, without programs and adjudicated decisions.

    Where nobody else read the essay, the adjudicated decisions are its one reading.
    """
    given = essay.metadata.get(ROLES)
    roles = given if isinstance(given, Mapping) else {}
    readers = {*essay.annotators, *(edit.rater for edit in essay.edits)}
    adjudicated = {name for name in readers if is_adjudicated(name) or roles.get(name) == ADJUDICATED}
    apart = adjudicated | {name for name in readers if roles.get(name) == PROGRAM}
    if apart == readers:
        apart -= set(sorted(adjudicated)[-1:])
    if not apart:
        return essay
    return replace(
        essay,
        annotators=tuple(name for name in essay.annotators if name not in apart),
        edits=tuple(edit for edit in essay.edits if edit.rater not in apart),
    )


@dataclass(frozen=True, slots=True)
class Item:
    """A place in an essay that can be judged; `kind` is the thing judged (`prep`, `article`), not the task.

    An edit has a separate id, since two systems may write different words in one place.
    """

    essay_id: str
    span: Span
    kind: str
    own_id: str = ""

    @property
    def item_id(self) -> str:
        if self.own_id:
            return self.own_id
        place = f"{self.essay_id}|{self.span.start}|{self.span.end}|{self.kind}"
        return short_hash(place)


EDIT = "edit"
"""The kind of items that are edits."""


def item_at(essay_id: str, start: int, end: int, kind: str, name: str) -> Item:
    """The item of a row; the name of an edit is its id, that of another item comes from its place."""
    return Item(essay_id, Span(start, end), kind, own_id=name if kind == EDIT else "")


def edit_item(essay_id: str, span: Span, words: str) -> Item:
    """The item of an edit: these words in this place, the same for all systems."""
    return Item(essay_id, span, EDIT, own_id=short_hash(f"{essay_id}|{span.start}|{span.end}|{EDIT}|{words}"))


@dataclass(frozen=True, slots=True)
class Decision:
    """One system's answer for one item."""

    item_id: str
    system: str
    flagged: bool
    score: float | None = None
    type: str = ""
    suggestion: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its confidence interval; `undefined_because` is the reason if it is nan."""

    value: float
    low: float
    high: float
    undefined_because: str = ""

    def __str__(self) -> str:
        if isnan(self.value):
            return f"undefined: {self.undefined_because}" if self.undefined_because else "undefined"
        if isnan(self.low):
            return f"{self.value:.3f} (no interval{': ' * bool(self.undefined_because)}{self.undefined_because})"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def as_json(self) -> dict[str, Json]:
        """As `--json` prints it: undefined numbers are null, with the reason next to them."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        if any(map(isnan, numbers.values())):
            return {
                **{name: None if isnan(each) else each for name, each in numbers.items()},
                "reason": self.undefined_because,
            }
        return {**numbers}


def short_hash(text: str) -> str:
    """The first 16 hexadecimal digits of SHA-256: the form of every id that grater makes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def hash_of(text: str) -> int:
    """64 bits of a text."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


Fate: TypeAlias = Literal["accepted", "changed", "rejected", "left"]
Variant: TypeAlias = Literal["en-AU", "en-CA", "en-GB", "en-NZ", "en-US", "en-ZA"]
"""Of English."""
FATES: tuple[Fate, ...] = ("accepted", "changed", "rejected", "left")
"""The fate of a mark that a system suggests to an annotator."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A mark that a system would make."""

    span: Span
    tag: str
    replacements: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        words = list(self.replacements)
        return {"start": self.span.start, "end": self.span.end, "tag": self.tag, "replacements": words}

    def is_made_by(self, edit: Edit) -> bool:
        return (edit.span, edit.tag, edit.replacements) == (self.span, self.tag, self.replacements)
