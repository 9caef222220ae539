"""Every store test runs twice: on SQLite and on a real PostgreSQL.

The study of a test is a copy of one that was made before: making the tables would take longer than most tests.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from grater.annotate.store import Store, open_store
from grater.annotate.store.database import is_url
from tests.annotate.store.crowds import evenly_hidden_gold
from tests.annotate.store.postgres import make_cluster, new_database, running_cluster
from tests.annotate.store.worlds import FakeClock
from tests.folders import in_memory, made_once, own_folder


@pytest.fixture(autouse=True, scope="package")
def even_gold() -> Iterator[None]:
    with evenly_hidden_gold():
        yield


@pytest.fixture(scope="session")
def cluster(run_folder: Path) -> Iterator[str]:
    new = made_once(run_folder / "cluster", lambda: make_cluster(run_folder / "cluster"))
    with running_cluster(like=new) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a new study can be made: a file, or an empty database."""
    if request.param == "postgresql":
        server = request.getfixturevalue("cluster")
        template = empty_database(server) if "store" in request.fixturenames else "template1"
        yield new_database(server, template=template)
        return
    with tempfile.TemporaryDirectory(prefix="grater-", dir=in_memory()) as folder:
        yield str(Path(folder) / "study.db")


@cache
def empty_file() -> Path:
    """A study without anything in it, to be copied."""
    path = own_folder("grater-tests-") / "study.db"
    open_store(path, create=True).close()
    return path


@cache
def empty_database(server: str) -> str:
    """The name of a database with a study without anything in it, to be copied."""
    location = new_database(server)
    open_store(location, create=True).close()
    return location.rsplit("/", 1)[-1]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def store(location: str, clock: FakeClock) -> Iterator[Store]:
    if not is_url(location):
        shutil.copy(empty_file(), location)
    with open_store(location, clock=clock) as store:
        yield store
