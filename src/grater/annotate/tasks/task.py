"""Tasks: what a rater is asked, and what they answer.

A task is pure. `show` turns a unit into the content of a page, and nothing else of the unit reaches the page; `read`
turns a filled form into answers, or names the invalid fields. Data needed by `read` but hidden from the page (such as
the side of the writer's word) go into `Shown.kept`, which the server stores with the lease and never sends.

The helpers for showing items and reading forms are shared by most tasks.

A field that does not apply (its `asked_for` does not name the chosen label) is ignored, because without JavaScript
every field is on the page. All problems of a form are reported together.

A page shows the item's sentence, split at the item, and the sentences before it. Two tasks show a system's suggestion
and the writer's word, with the same capitalisation: otherwise the lower-case word at the start of a sentence would be
recognisable as the system's. `-NONE-` (delete) and a gap are shown as "(no word)".

The gold rule is that every item with a known answer has an accepted label (`all_accepted`), unless a task has its own
(`right`). Tasks with one form about one item differ only in their words and fields, and are values of `OneItem`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

import numpy as np

from grater.corpora.text.inflect import in_case_of
from grater.corpora.text.sentences import sentence_spans, sentences_of
from grater.errors import MOST_PROBLEMS, BadInput, Problem, UsageError
from grater.model import DELETE, EDIT, Essay, Item, Json, Span

Rng: TypeAlias = np.random.Generator
Form: TypeAlias = Mapping[str, Sequence[str]]
"""A filled form: every field's values in the order in which they were sent."""

Accepted: TypeAlias = Mapping[str, frozenset[str]]
"""Gold: the labels that count as right, by item."""

ONE, MANY, WORDS, TEXT = "one", "many", "words", "text"

ERROR, OK, UNKNOWN = "error", "ok", "unknown"
"""The values of a task's `verdict` on a label."""

Subject: TypeAlias = Literal["item", "suggestion", "noun", "essay", "ranking", "mark", "corrected"]
"""The unit of a task: one item, an item with a system's suggestion, a noun with its forms, a whole essay;
several corrections of a sentence, a marked error in them, one corrected sentence."""


@dataclass(frozen=True, slots=True)
class UnitItem:
    """One item of a unit, with data that only some tasks use: a suggestion, a construction."""

    item: Item
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one page: one item, a group of items, or a whole essay."""

    unit_id: str
    essay: Essay
    items: tuple[UnitItem, ...]
    stage: str = ""
    payload: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of the displayed text; `mark` is empty, `target`, `gap` or `blank`."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible answer; `key` is its keyboard shortcut, `reading` the sentence with this answer."""

    value: str
    text: str
    key: str = ""
    reading: tuple[Piece, ...] = ()


@dataclass(frozen=True, slots=True)
class Field:
    """One question of a form.

    `one` and `many` are chosen from `choices`; `words` is a list of words and `text` free text, for which `choices`
    are only suggestions. `asked_for` lists the answers to the field `label` for which this question applies; by
    default it always applies. `reading` is the sentence with the words that the question is about.
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
    """Everything that a page may show of a unit, and (`kept`) what the server must store and never send.

    `question` is the question shared by several fields.
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
    """One kind of question for raters.

    `kind` is the default kind of item, `labels` the possible answers (empty if any word is allowed), `verdict` maps
    them to error, ok or unknown, and `guidelines` are the instructions in Markdown. The functions below return the
    optional parts.
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


def sent_fields(task: Task, shown: Shown) -> frozenset[str]:
    """The names of the fields of an answer: those of its page, and those that a task's own page `sends`."""
    return frozenset((*(field.name for field in shown.fields), *getattr(task, "sends", ())))


def is_right(task: Task, answers: Sequence[Answer], accepted: Accepted) -> bool:
    """The gold rule: by default, that all answers are accepted; a task may have its own (`right`)."""
    own: Callable[[Sequence[Answer], Accepted], bool] = getattr(task, "right", all_accepted)
    return own(answers, accepted)


def source_of(task: Task) -> str:
    """The papers behind its guidelines, for managers; empty if the task names none."""
    return str(getattr(task, "source", ""))


def guidelines_of(task: Task, kinds: Set[str]) -> str:
    """The guidelines for items of these kinds; a task may have some for each kind (`guidelines_for`)."""
    of_kinds: Callable[[Set[str]], str] | None = getattr(task, "guidelines_for", None)
    return of_kinds(kinds) if of_kinds else task.guidelines


def summary_of(task: Task) -> str:
    """One sentence for managers who choose a task; empty if it has none."""
    return str(getattr(task, "summary", ""))


def subject_of(task: Task) -> Subject:
    """The subject of its units: single items by default."""
    subject: Subject = getattr(task, "subject", "item")
    return subject


def merged_by(task: Task) -> Mapping[str, str]:
    """Labels that analysis treats as another one, by the task's map `merged` (grey as yes)."""
    merged: Mapping[str, str] = getattr(task, "merged", {})
    return merged


LABEL, CONFIDENCE, FLAGS = "label", "confidence", "flags"
FORM = "form"
TARGET, GAP, BLANK = "target", "gap", "blank"
"""The marks of a piece of text."""

NO_WORD = "(no word)"
SUGGESTION = "suggestion"
UNANSWERED = "expected an answer"

MOST_TEXTS = 256
"""Essays whose sentences are remembered: many units ask about one essay, each of them many times."""

LONGEST_WORDS = 60
MOST_WORDS = 10
LONGEST_TEXT = 2000
SEPARATORS = re.compile(r"[,;|/\n]")
WORD = re.compile(r"[^\W\d_]+(?:[-'’ ][^\W\d_]+)*")


def read_fields(fields: Sequence[Field], form: Form) -> dict[str, tuple[str, ...]]:
    """The validated values of every applicable field; `BadInput` names each invalid field."""
    problems: list[str] = []
    label = first(form, LABEL)
    asked = [field for field in fields if not field.asked_for or label in field.asked_for]
    values = {field.name: _values(field, form, problems) for field in asked}
    if problems:
        raise BadInput(*(Problem(FORM, each) for each in problems[:MOST_PROBLEMS]))
    return values


def first(form: Form, name: str) -> str:
    """The only value of a field, empty if there is none."""
    return next(iter(form.get(name, ())), "").strip()


def the_one(values: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(values.get(name, ())), "")


def _values(question: Field, form: Form, problems: list[str]) -> tuple[str, ...]:
    given = [value.strip() for value in form.get(question.name, ()) if value.strip()]
    if not given:
        if question.required:
            problems.append(f"{question.name}: {UNANSWERED} to {question.question!r}, found none")
        return ()
    if question.kind in (ONE, MANY):
        offered = [choice.value for choice in question.choices]
        unknown = [value for value in given if value not in offered]
        if unknown:
            problems.append(
                f"{question.name}: expected one of {', '.join(offered)}, found {unknown[0][:LONGEST_WORDS]!r}"
            )
        if question.kind == ONE and len(given) > 1:
            problems.append(f"{question.name}: expected one answer, found {len(given)}")
        return tuple(value for value in offered if value in given)
    return _words(question, given, problems) if question.kind == WORDS else _text(question, given, problems)


def _words(question: Field, given: Sequence[str], problems: list[str]) -> tuple[str, ...]:
    """Distinct words or phrases, separated by commas, semicolons or line ends, in the order given."""
    cleaned = [" ".join(word.split()) for value in given for word in SEPARATORS.split(value)]
    words = tuple(dict.fromkeys(word.lower() for word in cleaned if word))
    problems += [
        f"{question.name}: expected words separated by commas, found {word[:LONGEST_WORDS]!r}"
        for word in words
        if len(word) > LONGEST_WORDS or not WORD.fullmatch(word)
    ]
    if len(words) > MOST_WORDS:
        problems.append(f"{question.name}: expected at most {MOST_WORDS} words, found {len(words)}")
    if not words and question.required:
        problems.append(f"{question.name}: {UNANSWERED} to {question.question!r}, found none")
    return words


def _text(question: Field, given: Sequence[str], problems: list[str]) -> tuple[str, ...]:
    if len(given[0]) > LONGEST_TEXT:
        problems.append(f"{question.name}: expected at most {LONGEST_TEXT} characters, found {len(given[0])}")
    return (given[0],)


def only_item(unit: Unit) -> UnitItem:
    if len(unit.items) != 1:
        raise UsageError(f"unit {unit.unit_id}: expected one item on a page, found {len(unit.items)}")
    return unit.items[0]


def sentence_around(essay: Essay, span: Span) -> tuple[Span, tuple[Span, ...]]:
    """The sentence or sentences that contain a span, and all sentences before."""
    sentences = sentences_of(essay) if essay.tokens is not None else _sentences(essay.text)
    home = _home(sentences, span)
    before = tuple(sentence for sentence in sentences if sentence.end <= home[0].start)
    return Span(min(span.start, home[0].start), max(span.end, home[-1].end)), before


@lru_cache(maxsize=MOST_TEXTS)
def _sentences(text: str) -> tuple[Span, ...]:
    return sentence_spans(text)


def _home(sentences: Sequence[Span], span: Span) -> Sequence[Span]:
    """The sentences that a span touches; a gap between two sentences belongs to the first."""
    touched = [sentence for sentence in sentences if sentence.touches(span)]
    if touched:
        return touched if len(span) else touched[:1]
    earlier = [sentence for sentence in sentences if sentence.end <= span.start]
    return earlier[-1:] or sentences[:1] or [span]


def words_before(essay: Essay, span: Span, *, n_sentences: int) -> str:
    """Up to `n_sentences` sentences before the span's own, with the original spacing."""
    _, before = sentence_around(essay, span)
    nearest = before[len(before) - min(n_sentences, len(before)) :]
    return essay.text[nearest[0].start : nearest[-1].end] if nearest else ""


def pieces_around(essay: Essay, span: Span, *, blank: str = "") -> tuple[Piece, ...]:
    """The sentence with the span's words highlighted, or a mark in its gap; `blank` hides the writer's words."""
    sentence, _ = sentence_around(essay, span)
    words = blank or span.of(essay.text)
    mark = BLANK if blank else TARGET if words else GAP
    pieces = (
        Piece(essay.text[sentence.start : span.start]),
        Piece(words, mark),
        Piece(essay.text[span.end : sentence.end]),
    )
    return tuple(piece for piece in pieces if piece.text or piece.mark)


def reading_with(
    essay: Essay, span: Span, words: str, *, n_around: int | None = None, as_is: bool = False
) -> tuple[Piece, ...]:
    """The sentence with other words in place of the span; `NO_WORD` leaves the place empty (a gap).

    `as_is` keeps lower case at the start of the sentence. `n_around` limits the number of words on each side, so that
    five readings fit on a phone.
    """
    sentence, _ = sentence_around(essay, span)
    before, after = essay.text[sentence.start : span.start], essay.text[span.end : sentence.end]
    words = "" if words == NO_WORD else words
    if not words:
        before, after = before.rstrip() + (" " if after[:1].isalnum() or after[:1].isspace() else ""), after.lstrip()
    elif not len(span) and essay.tokens is None and words[0] in ",.;:!?)":
        before = before.rstrip()
        after = after if not after or after[0].isspace() else f" {after}"
    elif not len(span):
        before += "" if not before or before[-1].isspace() else " "
        after = after if not after or not after[0].isalnum() else f" {after}"
    if n_around is not None:
        before, after = _last_words(before, n_around), _first_words(after, n_around)
    if words and not before.strip() and not as_is:
        words = words[0].upper() + words[1:]
    pieces = (Piece(before), Piece(words, TARGET if words else GAP), Piece(after))
    return tuple(piece for piece in pieces if piece.text or piece.mark)


def _last_words(text: str, n: int) -> str:
    words = text.split()
    return text if len(words) <= n else f"… {' '.join(words[-n:])}{' ' if text[-1:].isspace() else ''}"


def _first_words(text: str, n: int) -> str:
    words = text.split()
    return text if len(words) <= n else f"{' ' if text[:1].isspace() else ''}{' '.join(words[:n])} …"


def writers_word(unit: Unit, unit_item: UnitItem) -> str:
    return unit_item.item.span.of(unit.essay.text) or NO_WORD


def suggested_word(unit: Unit, unit_item: UnitItem) -> str:
    """The system's word with the writer's capitalisation; a unit without one cannot be shown."""
    suggestion = unit_item.payload.get(SUGGESTION)
    if not isinstance(suggestion, str) or not suggestion:
        raise UsageError(
            f"item {unit_item.item.item_id}: expected a suggestion to compare with, found none; "
            "import decisions with a suggestion for every item of this job"
        )
    if suggestion == DELETE:
        return NO_WORD
    if unit_item.item.kind == EDIT:
        return suggestion  # its capitals may be the edit
    return in_case_of(unit_item.item.span.of(unit.essay.text), suggestion)


def all_accepted(answers: Sequence[Answer], accepted: Accepted) -> bool:
    """Whether each gold item has an accepted answer; items without gold do not matter."""
    labels = {answer.item_id: answer.label for answer in answers}
    return all(labels.get(item_id) in of for item_id, of in accepted.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class OneItem:
    """A task with a form about one item, highlighted in its sentence after `n_before` other sentences.

    The answer has the label, the confidence and the flags of the fields with these names; the words of the field that
    asks for words are its alternatives.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    verdict: Mapping[str, str]
    guidelines: str
    summary: str
    questions: Callable[[Unit], tuple[Field, ...]]
    source: str = ""
    n_before: int = 0
    kind: str = "prep"
    subject: Subject = "item"
    guidelines_for: Callable[[Set[str]], str] | None = None

    def show(self, unit: Unit, *, rng: Rng) -> Shown:  # noqa: ARG002
        span = only_item(unit).item.span
        return Shown(
            before=words_before(unit.essay, span, n_sentences=self.n_before),
            pieces=pieces_around(unit.essay, span),
            after="",
            fields=self.questions(unit),
        )

    def read(self, unit: Unit, form: Form, *, kept: Mapping[str, Json]) -> tuple[Answer, ...]:  # noqa: ARG002
        fields = self.questions(unit)
        values = read_fields(fields, form)
        words = (values.get(field.name, ()) for field in fields if field.kind == WORDS)
        answer = Answer(
            only_item(unit).item.item_id,
            the_one(values, LABEL),
            confidence=the_one(values, CONFIDENCE),
            flags=values.get(FLAGS, ()),
            alternatives=next(filter(None, words), ()),
        )
        return (answer,)
