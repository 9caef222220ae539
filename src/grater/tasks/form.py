"""A filled form held against its questions: what is missing, what nobody offered, which words were given.

A form is read as the browser sent it.  A field that was not asked for (its `asked_for` does not name the label) is
left out, whatever it holds: without JavaScript every field is on the page.  All problems of a form are told together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grater.errors import Problems
from grater.tasks.task import MANY, ONE, WORDS, Field, Form

LABEL, CONFIDENCE = "label", "confidence"
FORM = "form"
UNANSWERED = "expected an answer"

LONGEST_WORDS = 60
MOST_WORDS = 10
LONGEST_TEXT = 2000
SEPARATORS = re.compile(r"[,;|/\n]")
WORD = re.compile(r"[^\W\d_]+(?:[-'’ ][^\W\d_]+)*")


def read_fields(fields: Sequence[Field], form: Form) -> dict[str, tuple[str, ...]]:
    """The values of every field that was asked for, checked; `BadInput` names each field that is wrong."""
    problems = Problems(FORM)
    label = first(form, LABEL)
    asked = [each for each in fields if not each.asked_for or label in each.asked_for]
    values = {each.name: _values(each, form, problems) for each in asked}
    problems.done()
    return values


def first(form: Form, name: str) -> str:
    """The one value of a field, empty where there is none."""
    return next(iter(form.get(name, ())), "").strip()


def the_one(values: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(values.get(name, ())), "")


def _values(question: Field, form: Form, problems: Problems) -> tuple[str, ...]:
    given = [value.strip() for value in form.get(question.name, ()) if value.strip()]
    if not given:
        if question.required:
            problems.add(f"{question.name}: {UNANSWERED} to {question.question!r}, found none")
        return ()
    if question.kind in (ONE, MANY):
        return _picked(question, given, problems)
    return _words(question, given, problems) if question.kind == WORDS else _text(question, given, problems)


def _picked(question: Field, given: Sequence[str], problems: Problems) -> tuple[str, ...]:
    offered = [choice.value for choice in question.choices]
    unknown = [value for value in given if value not in offered]
    if unknown:
        problems.add(f"{question.name}: expected one of {', '.join(offered)}, found {unknown[0][:LONGEST_WORDS]!r}")
    if question.kind == ONE and len(given) > 1:
        problems.add(f"{question.name}: expected one answer, found {len(given)}")
    return tuple(value for value in offered if value in given)


def _words(question: Field, given: Sequence[str], problems: Problems) -> tuple[str, ...]:
    """Words or short phrases with a comma, semicolon or line end between them, each once, in the order given."""
    found = [" ".join(word.split()) for value in given for word in SEPARATORS.split(value)]
    words = tuple(dict.fromkeys(word.lower() for word in found if word))
    for word in words:
        if len(word) > LONGEST_WORDS or not WORD.fullmatch(word):
            problems.add(f"{question.name}: expected words with commas between them, found {word[:LONGEST_WORDS]!r}")
    if len(words) > MOST_WORDS:
        problems.add(f"{question.name}: expected {MOST_WORDS} words at the most, found {len(words)}")
    if not words and question.required:
        problems.add(f"{question.name}: {UNANSWERED} to {question.question!r}, found none")
    return words


def _text(question: Field, given: Sequence[str], problems: Problems) -> tuple[str, ...]:
    if len(given[0]) > LONGEST_TEXT:
        problems.add(f"{question.name}: expected at most {LONGEST_TEXT} characters, found {len(given[0])}")
    return (given[0],)
