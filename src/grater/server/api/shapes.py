"""What the API says of the study's nouns: shapes of their own, never rows, so nothing hidden can slip out."""

from __future__ import annotations

from math import isnan
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, WithJsonSchema
from pydantic import Field as About

from grater.model import Json
from grater.store.clock import as_iso
from grater.tasks import Shown as ShownByTask


def _iso(at: object) -> object:
    return as_iso(at) if isinstance(at, int) else at


def _defined(value: object) -> object:
    return None if isinstance(value, float) and isnan(value) else value


When: TypeAlias = Annotated[
    str, BeforeValidator(_iso), WithJsonSchema({"type": "string", "format": "date-time", "title": "When"})
]
Number: TypeAlias = Annotated[float | None, BeforeValidator(_defined)]
"""A number, null where it is not defined."""
Object: TypeAlias = dict[str, JsonValue]


class Shape(BaseModel):
    """Made of whatever has attributes of these names, and of nothing else that it has."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, noun: object) -> Self:
        return cls.model_validate(noun)


class Page(Shape):
    """A part of a long list."""

    next: int | None = About(description="`start` of the next page, null on the last.")


class Interval(Shape):
    """A number with its limits; null, with a `reason`, where it is not defined."""

    value: Number
    low: Number
    high: Number
    reason: str = ""


class Person(Shape):
    """`kind` is human, program or joint (a seat for two); `pseudonym` is what exports and tables call them."""

    person_id: str
    name: str
    pseudonym: str
    role: str
    kind: str
    state: str


class Job(Shape):
    """`judgments` are wanted for each unit; `access` is pool (anybody) or assigned (named annotators)."""

    job_id: str
    name: str
    title: str
    task: str
    state: str
    access: str
    judgments: int


class Piece(Shape):
    """A stretch of text; `mark` says what it is: nothing, `target`, `gap` or `blank`."""

    text: str
    mark: str


class Choice(Shape):
    value: str
    text: str


class Field(Shape):
    """One question; `asked_for` names the answers to `label` for which it is asked at all, none means always.

    `one` and `many` are picked from `choices`; for `words` and `text` these are only suggestions.
    """

    name: str
    kind: str
    question: str
    choices: list[Choice]
    asked_for: list[str]
    required: bool


class Shown(Shape):
    """What a page of the task shows, and asks."""

    before: str
    pieces: list[Piece]
    after: str
    fields: list[Field]


class Answer(Shape):
    """What was said of one item; the edits of an essay are in the `payload`."""

    item_id: str
    label: str
    confidence: str
    flags: list[str]
    alternatives: list[str]
    payload: Object


class Edit(Shape):
    """A mark in an essay; `start` and `end` are code points, several `replacements` are alternatives."""

    start: int
    end: int
    quote: str
    tag: str
    replacements: list[str]
    comment: str


def shown_json(shown: ShownByTask) -> dict[str, Json]:
    """The same as the shape `Shown`, without its checks: raters ask for it all day."""
    pieces: list[Json] = [{"text": piece.text, "mark": piece.mark} for piece in shown.pieces]
    fields: list[Json] = [
        {
            "name": field.name,
            "kind": field.kind,
            "question": field.question,
            "choices": [{"value": choice.value, "text": choice.text} for choice in field.choices],
            "asked_for": list(field.asked_for),
            "required": field.required,
        }
        for field in shown.fields
    ]
    return {"before": shown.before, "pieces": pieces, "after": shown.after, "fields": fields}
