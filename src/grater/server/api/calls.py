"""How calls of the API are made: a router for each noun, bodies that refuse what they do not know, lists by pages.

A call is known to programs by the name of its function (the OpenAPI operation id), which therefore never changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

from fastapi import APIRouter, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from grater.server.security.roles import API

T = TypeVar("T")

MOST = 1000
A_PAGE = 100
LARGEST = 2**31 - 1
"""What every database can count to."""
LONGEST = 1_000_000

Start: TypeAlias = Annotated[
    int, Query(ge=0, le=LARGEST, description="How many to pass over: `next` of the page before.")
]
Most: TypeAlias = Annotated[int, Query(ge=1, le=MOST, description="How many to give at the most.")]
Id: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Name: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=80)]


class Body(BaseModel):
    """What a call is sent; a name that it does not know is an error, not a wish that nobody heard.

    With a longest length every text is read as Unicode, and half a surrogate pair is refused; so is NUL, which no
    database holds.
    """

    model_config = ConfigDict(extra="forbid", str_max_length=LONGEST)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, sent: Any) -> Any:
        if _has_nul(sent):
            raise ValueError("expected text without NUL")
        return sent


def calls_about(tag: str) -> APIRouter:
    """A router for the calls about one noun."""
    return APIRouter(prefix=API, tags=[tag], generate_unique_id_function=_operation_id)


def example(**body: Any) -> ConfigDict:
    """The configuration of a body with an example, which a test sends."""
    return ConfigDict(json_schema_extra={"examples": [body]})


def form_of(*required: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    """What OpenAPI says of a call that takes a form with files; the `required` fields must be there."""
    schema = {"type": "object", "required": list(required), "properties": fields}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def cut(found: Sequence[T], start: int, most: int) -> tuple[Sequence[T], int | None]:
    """A page of `found`, which has one more where there is more, and the start of the next, None after the last."""
    return found[:most], start + most if len(found) > most else None


def _has_nul(sent: Any) -> bool:
    if isinstance(sent, str):
        return "\0" in sent
    if isinstance(sent, Mapping):
        return any(_has_nul(each) for pair in sent.items() for each in pair)
    return isinstance(sent, Sequence) and any(map(_has_nul, sent))


def _operation_id(route: APIRoute) -> str:
    return route.name
