"""Changes come from our own pages only: CSRF token and Origin on every route that changes something.

That looking changes nothing is in `test_rendering_hostile`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate.web.security import API, EDITORS, ROLES_OF
from tests.annotate.web.studies import BASE, Study, served

WITHOUT_COOKIES = (API, EDITORS)
CHANGES = sorted(
    (method, path) for method, path in ROLES_OF if method != "GET" and not path.startswith(WITHOUT_COOKIES)
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder: Path = tmp_path_factory.mktemp("changes")
    with served(folder, tasks=["error", "usage"]) as found:
        yield found


def send(study: Study, method: str, path: str, headers: dict[str, str]) -> int:
    browser = study.browser("owner")
    token = {"x-csrf-token": browser.csrf} if headers.pop("token", "") else {}
    place = path.replace("{", "").replace("}", "")
    status: int = browser.client.request(method, place, headers={**headers, **token}).status_code
    return status


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_without_token_or_from_elsewhere_is_refused(shared: Study, method: str, path: str) -> None:
    assert send(shared, method, path, {"origin": BASE}) == 403
    assert send(shared, method, path, {"origin": "https://evil.example", "token": "yes"}) == 403
    assert send(shared, method, path, {"origin": "null", "token": "yes"}) == 403
    assert send(shared, method, path, {"token": "yes"}) == 403
    assert send(shared, method, path, {"referer": "https://evil.example/x", "token": "yes"}) == 403
    assert send(shared, method, path, {"origin": BASE, "token": "yes"}) != 403


def test_the_referer_does_where_a_browser_sends_no_origin(shared: Study) -> None:
    assert send(shared, "POST", "/manage/export", {"referer": f"{BASE}/manage/export", "token": "yes"}) == 200


def test_the_token_of_another_session_is_refused(shared: Study) -> None:
    browser, other = shared.browser("owner"), shared.browser("owner")
    browser.csrf = other.csrf
    assert browser.post("/manage/invitations", {"role": "worker"}).status_code == 403


def test_a_cookie_is_worth_nothing_to_the_api(shared: Study) -> None:
    browser = shared.browser("owner")
    assert browser.get("/api/v1/me").status_code == 401
    assert browser.post("/api/v1/invitations", headers={"x-csrf-token": browser.csrf}).status_code == 401
