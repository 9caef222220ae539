"""Every store test runs twice: on SQLite and on a real PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.store import Store, open_store
from tests.store.crowds import evenly_hidden_gold
from tests.store.postgres import in_memory, new_database, running_cluster
from tests.store.worlds import FakeClock


@pytest.fixture(autouse=True, scope="package")
def even_gold() -> Iterator[None]:
    with evenly_hidden_gold():
        yield


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    with running_cluster() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a new study can be made: a file, or an empty database."""
    if request.param == "postgresql":
        yield new_database(request.getfixturevalue("cluster"))
        return
    with tempfile.TemporaryDirectory(prefix="grater-", dir=in_memory()) as folder:
        yield str(Path(folder) / "study.db")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(location: str, clock: FakeClock) -> Iterator[Store]:
    with open_store(location, create=True, clock=clock) as store:
        yield store
