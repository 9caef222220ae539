"""Every route is documented: pages in the guide, calls by their OpenAPI description and in the guide's table."""

from __future__ import annotations

from pathlib import Path

from grater.server import Settings, create_app
from grater.server.roles import API, CALLS, PAGES
from grater.store import open_store
from tests.each import for_each

DOCS = Path(__file__).parents[2] / "docs"
GUIDE = "\n".join((DOCS / name).read_text("utf-8") for name in ("server.md", "crowd-jobs.md"))


@for_each({path for _, path in PAGES})
def test_every_page_is_in_the_guide(path: str) -> None:
    assert f"`{path}`" in GUIDE


def test_every_call_says_what_it_does(tmp_path: Path) -> None:
    with open_store(tmp_path / "study.db", create=True) as store:
        described = create_app(Settings(), store).openapi()["paths"]
    found = {(method.upper(), path): call for path, calls in described.items() for method, call in calls.items()}
    assert set(found) == set(CALLS) - {("GET", f"{API}/openapi.json")}
    assert [key for key, call in found.items() if not call.get("description")] == []
