"""Numbers from forms."""

from __future__ import annotations

import pytest

from grater.annotate.web.context import version_of


@pytest.mark.parametrize(
    ("text", "version"), [("0", 0), ("12", 12), ("", None), ("x", None), ("-1", None), ("9" * 5000, None)]
)
def test_a_version_is_a_number_or_none(text: str, version: int | None) -> None:
    assert version_of(text) == version
