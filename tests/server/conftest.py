from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.studies import Study, served

FORMS = ("usage", "cloze", "choice", "error", "construction", "verify")


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """A study with a job of two judgments a unit for every task."""
    with served(tmp_path, tasks=(*FORMS, "marking")) as found:
        yield found


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Study]:
    """A study with people and essays and no job."""
    with served(tmp_path) as found:
        yield found
