"""What is wrong with a form that was sent, as its page says it."""

from __future__ import annotations

from grater.errors import GraterError


def lines_of(error: GraterError) -> list[str]:
    """A line for each problem; that it is in the form, whoever filled it in knows."""
    return [line.removeprefix("form: ") for line in str(error).splitlines()]
