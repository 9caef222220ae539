"""Studies of a few essays, on SQLite; the store's own tests go over both engines, and so does the archive's."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotate.store.conftest import clock, cluster, even_gold, store
from tests.folders import in_memory

__all__ = ["clock", "cluster", "even_gold", "location", "store"]


@pytest.fixture
def location() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="grater-", dir=in_memory()) as folder:
        yield str(Path(folder) / "study.db")
