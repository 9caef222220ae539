"""Every call of the API has its description."""

from __future__ import annotations

from pathlib import Path

from grater.annotate.store import open_store
from grater.annotate.web import Settings, create_app
from grater.annotate.web.security import API, CALLS


def test_every_call_says_what_it_does(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        described = create_app(Settings(), store).openapi()["paths"]
    found = {(method.upper(), path): call for path, calls in described.items() for method, call in calls.items()}
    assert set(found) == set(CALLS) - {("GET", f"{API}/openapi.json")}
    assert [key for key, call in found.items() if not call.get("description")] == []
