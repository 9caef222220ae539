"""The input of an action: one model with its limits, shared by page, API and command.

The API validates the body of a call with the model, a page the fields of its form (`RequestContext.sent`), a command
its options (`Body.checked`). The function that acts takes the model and trusts it. Limits are only in the model, so
that page, API and command refuse with the same message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, PlainSerializer, ValidationError, WithJsonSchema, model_validator

from grater.annotate.store.transaction import as_iso
from grater.errors import MOST_PROBLEMS, UsageError, unknown

LONGEST = 1_000_000
LONGEST_SHOWN = 40
LONGEST_NAME = 80
LARGEST = 2**31 - 1
"""The largest integer that every database stores."""

Moment: TypeAlias = Annotated[
    int, PlainSerializer(as_iso), WithJsonSchema({"type": "string", "format": "date-time", "title": "When"})
]
"""A time of the store in a noun that the API shows: there it is text."""


class Body(BaseModel):
    """The body of a call; unknown names are errors.

    The maximum length makes every text be read as Unicode, so half a surrogate pair is refused; so is NUL, which no
    database can store.
    """

    model_config = ConfigDict(extra="forbid", str_max_length=LONGEST, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _storable(cls, sent: Any) -> Any:
        if _has_nul(sent):
            raise ValueError("expected text without NUL")
        return sent

    @classmethod
    def checked(cls, **sent: object) -> Self:
        """The validated request of a command or a form; each problem is a line with its field."""
        try:
            return cls.model_validate(sent)
        except ValidationError as error:
            raise UsageError("\n".join(problem_lines(error.errors(), list(cls.model_fields)))) from None


def require_name(name: str) -> str:
    """The name of a job, list, sample or person: one line that can be displayed, typed and quoted."""
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        shown = f"{name[:LONGEST_SHOWN]!r}" if len(name) <= LONGEST_NAME else f"{len(name):,}"
        raise UsageError(f"name: expected 1 to {LONGEST_NAME} printable characters, found {shown}")
    return name


def require_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise UsageError(f"{field}: expected at most {most:,} characters, found {len(text):,}")


def example(**body: Any) -> ConfigDict:
    """The configuration of a body with an example, which a test sends."""
    return ConfigDict(json_schema_extra={"examples": [body]})


def problem_lines(errors: Sequence[Mapping[str, Any]], fields: Sequence[str] = ()) -> list[str]:
    """A line for each invalid field: its name, what was expected, and what was found."""
    lines = []
    for error in errors[:MOST_PROBLEMS]:
        name = ".".join(map(str, error["loc"]))
        if error["type"] in UNKNOWN_FIELD and len(error["loc"]) == 1 and fields:
            lines.append(unknown("field", name, list(fields)))
        else:
            lines.append(": ".join(part for part in (name, _words(error)) if part))
    return lines


UNKNOWN_FIELD = ("extra_forbidden", "unexpected_keyword_argument")


EXPECTED = {
    "missing": "a value",
    "greater_than": "more than {gt:g}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt:g}",
    "less_than_equal": "at most {le:g}",
    "string_too_short": "at least {min_length:,} characters",
    "string_too_long": "at most {max_length:,} characters",
    "too_short": "at least {min_length:,} entries",
    "too_long": "at most {max_length:,} entries",
    "literal_error": "{expected}",
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "yes or no"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("dataclass_type", "model_type", "dict_type"), "an object"),
}
"""The requirement for a field, by the type of pydantic's error; other errors keep its own words."""


def _words(error: Mapping[str, Any]) -> str:
    kind, found = error["type"], error["input"]
    if kind in UNKNOWN_FIELD:
        return "there is no such field"
    if kind not in EXPECTED:
        return str(error["msg"]).removeprefix("Value error, ")
    if kind == "missing":
        shown = "none"
    elif kind.endswith(("_short", "_long")):
        shown = f"{len(found):,}"
    else:
        shown = f"{found:g}" if isinstance(found, float) else ascii(found)[:LONGEST_SHOWN]
    return f"expected {EXPECTED[kind].format(**error.get('ctx', {}))}, found {shown}"


def _has_nul(sent: Any) -> bool:
    if isinstance(sent, str):
        return "\0" in sent
    if isinstance(sent, Mapping):
        return any(_has_nul(part) for pair in sent.items() for part in pair)
    return isinstance(sent, Sequence) and any(map(_has_nul, sent))
