"""The values of every task: what a rater is asked, and what comes back.

A task is pure.  `show` turns a unit into what one page may show, and nothing else of the unit reaches a page; `read`
turns a filled form into answers, or names the field that is wrong; `right` is the gold rule.  Whatever must be
remembered between the two (on which side the writer's word was) goes into `Shown.kept`, which the server stores
with the lease and never sends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import numpy as np

from grater.model import Essay, Item, Json

Rng: TypeAlias = np.random.Generator
Form: TypeAlias = Mapping[str, Sequence[str]]
"""A filled form: every field's values in the order in which they were sent."""

Accepted: TypeAlias = Mapping[str, frozenset[str]]
"""Gold: the labels that count as right, by item."""

ONE, MANY, WORDS, TEXT = "one", "many", "words", "text"

ERROR, OK, UNKNOWN = "error", "ok", "unknown"
"""The values of a task's `verdict` on a label."""

Subject: TypeAlias = Literal["item", "suggestion", "noun", "essay"]
"""What a unit of a task is: one item, an item with a system's suggestion, a noun with its forms, a whole essay."""


@dataclass(frozen=True, slots=True)
class UnitItem:
    """One item of a unit with what only some tasks use: a suggestion, a construction."""

    item: Item
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is judged on one page: one item, a group of items, or a whole essay."""

    unit_id: str
    essay: Essay
    items: tuple[UnitItem, ...]
    stage: str = ""
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the shown text; `mark` says what it is: nothing, `target`, `gap` or `blank`."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer to pick; `key` is its one-key shortcut, `reading` the sentence as it would read with this answer."""

    value: str
    text: str
    key: str = ""
    reading: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a form.

    `one` and `many` are picked from `choices`; `words` is a list of words, `text` free text, and for these `choices`
    are only suggestions.  `asked_for` names the answers to the field `label` for which this one is asked at all;
    with none it is always asked.  `reading` is the sentence as it reads with the words that the question is about.
    """

    name: str
    kind: Literal["one", "many", "words", "text"]
    question: str
    choices: tuple[Choice, ...] = ()
    asked_for: tuple[str, ...] = ()
    required: bool = True
    reading: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a page may show of a unit, and (`kept`) what the server must remember and never send.

    `question` is what is asked where several fields share one question.
    """

    before: str
    pieces: tuple[Piece, ...]
    after: str
    fields: tuple[Field, ...]
    kept: Mapping[str, Json] = field(default_factory=dict, hash=False)
    question: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """One item's answer, as it becomes a judgment."""

    item_id: str
    label: str
    confidence: str = ""
    flags: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


class Task(Protocol):
    """One kind of question to a rater.

    `kind` is the kind of item it asks about by default, `labels` its answers (none where any word may be one),
    `verdict` maps them to error, ok or unknown, `guidelines` the instructions in Markdown.  What it may
    have besides is asked for by the functions below.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def verdict(self) -> Mapping[str, str] | None: ...
    @property
    def guidelines(self) -> str: ...

    def show(self, unit: Unit, *, rng: Rng) -> Shown: ...

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]: ...

    def right(self, answers: Sequence[Answer], accepted: Accepted) -> bool: ...


def may_keep(task: Task) -> bool:
    """Whether its pages may leave something to remember; a task with `keeps` False says that none ever does."""
    return bool(getattr(task, "keeps", True))


def source_of(task: Task) -> str:
    """The papers behind its guidelines, for managers: raters need none.  Empty where the task names none."""
    return str(getattr(task, "source", ""))


def summary_of(task: Task) -> str:
    """One sentence for managers who choose a task.  Empty where it has none."""
    return str(getattr(task, "summary", ""))


def subject_of(task: Task) -> Subject:
    """What its units are: single items unless the task has a `subject` that says otherwise."""
    subject: Subject = getattr(task, "subject", "item")
    return subject


def merged_by(task: Task) -> Mapping[str, str]:
    """Labels that analysis counts as another one, where the task has a map `merged` that says so (grey as yes)."""
    merged: Mapping[str, str] = getattr(task, "merged", {})
    return merged
