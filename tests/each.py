"""One test over many values: for checks that are done sooner than pytest hands out a test.

    @for_each(ESSAYS)
    def test_an_essay_has_an_end(essay: Essay) -> None: ...

is one test, and fails with a line for every essay that has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def for_each(
    values: Iterable[T] | Callable[[], Iterable[T]], *, name: Callable[[T], object] = repr
) -> Callable[[Callable[[T], None]], Callable[[], None]]:
    """`name` tells the values apart where the test fails.  A function for `values` is called by the test."""
    given = values if callable(values) else list(values)
    assert given, "nothing to test"

    def decorate(test: Callable[[T], None]) -> Callable[[], None]:
        def over_all() -> None:
            all_values = list(given() if callable(given) else given)
            assert all_values, "nothing to test"
            failures = [f"{name(value)}: {error}" for value in all_values if (error := _error(test, value))]
            assert not failures, "\n".join(failures)

        over_all.__name__, over_all.__doc__ = test.__name__, test.__doc__
        return over_all

    return decorate


def _error(test: Callable[[T], None], value: T) -> str:
    try:
        test(value)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""
