from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate.proofreading import Proofreader
from grater.annotate.web import security
from tests.annotate.store.crowds import evenly_hidden_gold
from tests.annotate.web.programs import Described, description_of
from tests.annotate.web.studies import CHEAP_HASHER, Study, served

FULL_HASHER, FULL_NOBODY = security.HASHER, security.NOBODY
FORMS = ("usage", "cloze", "choice", "error", "construction", "verify")


@pytest.fixture(autouse=True, scope="package")
def cheap_passwords() -> Iterator[None]:
    """The cost of a password hash is for people who steal the database, not for tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(security, "HASHER", CHEAP_HASHER)
        patch.setattr(security, "NOBODY", CHEAP_HASHER.hash("nobody has this password"))
        yield


@pytest.fixture(autouse=True, scope="package")
def few_proofreaders() -> Iterator[None]:
    """Servers that check texts by the same systems share the process that does it: it takes seconds to start."""
    made: dict[tuple[str, ...], Proofreader] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grater.annotate.web.app.Proofreader", lambda names: made.setdefault(names, Proofreader(names)))
        yield
    for proofreader in made.values():
        proofreader.stop()


@pytest.fixture(autouse=True, scope="package")
def even_gold() -> Iterator[None]:
    with evenly_hidden_gold():
        yield


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    """A study with a job of two judgments per unit for every task."""
    with served(tmp_path, tasks=(*FORMS, "marking")) as served_study:
        yield served_study


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Study]:
    """A study with people and essays and no job."""
    with served(tmp_path) as served_study:
        yield served_study


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """A study for all tests of a file, none of which minds what the others did."""
    with served(tmp_path_factory.mktemp("shared"), tasks=["error", "marking"]) as found:
        yield found


@pytest.fixture(scope="module")
def described(shared: Study) -> Described:
    return description_of(shared)
