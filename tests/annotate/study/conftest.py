"""Studies of a few essays, on SQLite unless a test is `ON_BOTH`; the tests of the store go over both engines."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.annotate.store.conftest import clock, cluster, empty_database, even_gold, store
from tests.annotate.store.postgres import new_database
from tests.folders import in_memory

__all__ = ["clock", "cluster", "even_gold", "location", "store"]

ON_BOTH = pytest.mark.parametrize("location", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture
def location(request: pytest.FixtureRequest) -> Iterator[str]:
    if getattr(request, "param", "sqlite") == "postgresql":
        server = request.getfixturevalue("cluster")
        yield new_database(server, template=empty_database(server))
        return
    with tempfile.TemporaryDirectory(prefix="grater-", dir=in_memory()) as folder:
        yield str(Path(folder) / "study.db")
