"""How API calls are made, and the shapes that several of them share.

There is a router for each noun; bodies refuse what they do not know; long lists come by pages.  A call is known to
programs by the name of its function (the OpenAPI operation id), which therefore never changes.  A noun with
nothing to hide is returned as it is; of any other the API has a shape of its own, so that nothing hidden can leak.
A form that does what a call does is that call (`by_form`): it differs only in what it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from inspect import signature
from math import isnan
from typing import Annotated, Any, Self, TypeAlias, TypeVar, cast, get_type_hints

from fastapi import Query
from pydantic import (
    AliasPath,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
    create_model,
)
from pydantic import Field as About
from starlette.responses import Response

from grater.annotate.requests import LARGEST
from grater.annotate.requests import Body as Body
from grater.annotate.requests import example as example
from grater.annotate.store.transaction import as_iso
from grater.annotate.tasks.task import Piece
from grater.annotate.web.context import Context, RequestContext, Routes, in_transaction
from grater.annotate.web.errors import lines_of
from grater.annotate.web.security import API
from grater.errors import Forbidden, GraterError, StoreBusy, StoreFull

Call = TypeVar("Call", bound=Callable[..., Any])

MOST = 1000
A_PAGE = 100


Start: TypeAlias = Annotated[
    int, Query(ge=0, le=LARGEST, description="Number of entries to skip: `next` of the previous page.")
]
Most: TypeAlias = Annotated[int, Query(ge=1, le=MOST, description="Maximum number of entries to return.")]
Id: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80)]


def calls_about(tag: str, allowed: frozenset[str]) -> Routes:
    return Routes(allowed, prefix=API, tags=[tag], generate_unique_id_function=lambda route: route.name)


def page_at(pages: Routes, path: str) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Register a view as the page of an address; forms also show it with what went wrong."""

    def add(view: Callable[..., Response]) -> Callable[..., Response]:
        view = in_transaction(view)

        def answer(context: Context) -> Response:
            return view(context, **context.request.path_params)

        pages.get(path)(answer)
        return view

    return add


def by_form(
    pages: Routes,
    path: str,
    *,
    sent: Callable[[RequestContext], Body] | None = None,
    then: str | Callable[[RequestContext, Any], Response] | None = None,
    refused: Callable[..., Response] | None = None,
) -> Callable[[Call], Call]:
    """Let a form of the pages make a call: its fields are those of the call's body, or `sent` reads it.

    `then` is the address to go to, with the names of the path and what the call `made`, or makes a page of that;
    without it, the call is a page itself.  `refused` makes the page that shows the problems (of its context); without
    it that is the page of errors.
    """

    def add(call: Call) -> Call:
        model, opened = get_type_hints(call).get("sent"), in_transaction(call)

        def answer(context: Context) -> Response:
            names = context.request.path_params
            try:
                body = {"sent": sent(context) if sent else context.sent(model)} if model else {}
                made = opened(context, **names, **body)
            except (Forbidden, StoreBusy, StoreFull):
                raise
            except GraterError as error:
                if refused is None:
                    raise
                return refused(replace(context, problems=lines_of(error)), **names)
            if isinstance(then, str):
                return context.go(then.format(made=made, **names))
            return then(context, made) if then else cast(Response, made)

        pages.post(path)(answer)
        return call

    return add


def form_with_files(model: type[Body]) -> dict[str, Any]:
    """The OpenAPI description of a call that takes files with the fields of a model in a form."""
    schema = model.model_json_schema()
    schema["properties"]["files"] = {"type": "array", "items": {"type": "string", "format": "binary"}}
    schema["required"] += ["files"]
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


When: TypeAlias = Annotated[
    str,
    BeforeValidator(lambda at: as_iso(at) if isinstance(at, int) else at),
    WithJsonSchema({"type": "string", "format": "date-time", "title": "When"}),
]
Number: TypeAlias = Annotated[
    float | None, BeforeValidator(lambda value: None if isinstance(value, float) and isnan(value) else value)
]
"""A number, null where it is not defined."""
Object: TypeAlias = dict[str, JsonValue]


class Shape(BaseModel):
    """Built from the attributes with these names of any object, ignoring all others."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, noun: object) -> Self:
        return cls.model_validate(noun)


def inside(*path: str) -> Any:
    """A field that the object behind a shape holds further inside, or under another name."""
    return About(validation_alias=AliasPath(*path))


class Page(Shape):
    """A part of a long list."""

    next: int | None = About(description="`start` of the next page, null on the last.")


def list_at(api: Routes, path: str, key: str, *, name: str = "") -> Callable[[Call], Call]:
    """Register a call that answers with a list under a key; programs know the whole answer by its `name`.

    A handler with `start` and `most` is asked for one entry more than fits on a page, to know whether there is more.
    """

    def add(handler: Call) -> Call:
        has_pages, rows_type = "start" in signature(handler).parameters, get_type_hints(handler)["return"]
        fields: dict[str, Any] = {key: (rows_type, ...)}
        model = create_model(name or key.capitalize(), __base__=Page if has_pages else Shape, **fields)

        @wraps(handler)
        def answer(*given: Any, **asked: Any) -> Any:
            if not has_pages:
                return {key: handler(*given, **asked)}
            most = asked["most"]
            rows = handler(*given, **asked | {"most": most + 1})
            return {key: rows[:most], "next": asked["start"] + most if len(rows) > most else None}

        api.get(path, response_model=model)(answer)
        return handler

    return add


class Interval(Shape):
    """A number with its limits; null, with a `reason`, where it is not defined."""

    value: Number
    low: Number
    high: Number
    reason: str = About("", validation_alias="undefined_because")


class Person(Shape):
    """`kind` is human, program or joint (a seat for two); `pseudonym` is what exports and tables call them."""

    person_id: str
    name: str
    pseudonym: str
    role: str
    kind: str
    state: str


class Job(Shape):
    """`judgments` are wanted for each unit; `access` is pool (anybody) or assigned (named annotators).

    With `archived_at` it is out of sight.
    """

    job_id: str
    name: str
    title: str
    task: str
    state: str
    access: str
    judgments: int
    archived_at: When | None = None


class Deleting(Body):
    model_config = example(word="delete")
    word: str = About(description="`delete`, so that nothing is deleted by mistake.", max_length=20)


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
    """The content and the questions of a task's page; `question` where several fields share one."""

    question: str = ""
    before: str
    pieces: list[Piece]
    after: str
    fields: list[Field]


class Answer(Shape):
    """The answer to one item; the edits of an essay are in the `payload`."""

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
