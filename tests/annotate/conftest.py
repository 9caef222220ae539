from __future__ import annotations

from pathlib import Path

import pytest

from tests.annotate.store.conftest import cluster
from tests.annotate.store.postgres import new_database

__all__ = ["cluster"]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where a study is served from: a folder, or an empty database."""
    return tmp_path if request.param == "sqlite" else new_database(request.getfixturevalue("cluster"))
