"""Every route with every role: the table is whole, and the server keeps to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Mount

from grater.annotate.web.security import API, EDITORS, PUBLIC, ROLES_OF, roles_of
from tests.annotate.web.studies import BASE, ROLES, Study, served


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    folder: Path = tmp_path_factory.mktemp("roles")
    with served(folder, tasks=["error"]) as found:
        yield found


def routes_of(router: object) -> Iterator[tuple[str, str]]:
    """Every method and path of an application; newer FastAPI keeps included routers whole."""
    for route in getattr(router, "routes", ()):
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes_of(inner)
        elif not isinstance(route, Mount):
            yield from ((method, route.path) for method in route.methods)


def test_every_route_is_on_the_table_and_every_row_is_a_route(shared: Study) -> None:
    assert set(routes_of(shared.client().app)) == set(ROLES_OF)


def test_only_static_files_are_mounted_next_to_the_table(shared: Study) -> None:
    assert [route.path for route in shared.client().app.routes if isinstance(route, Mount)] == ["/static"]


OF_STAFF = re.compile(r"(/api/v1)?/(manage|adjudicate|mining|people|export|import|events|webhooks|gold|panels)\b")
OF_RATERS = re.compile(
    r"/(openapi.json|tasks|jobs|jobs/{job_id}|jobs/{job_id}/(next|missed|disputes|messages|reviews|about)|findings|"
    r"findings/{finding_id}|units/{unit_id}/mend)$|/leases/{lease_id}|/me\b"
)
OF_OWNERS = re.compile(r"/people/{person_id}/(role|state|second-factor)\b|/(manage|v1)/second-factor|/webhooks\b")
OF_ANYBODY = {
    "/",
    "/healthz",
    "/login",
    "/login/code",
    "/setup/{token}",
    "/join/{token}",
    "/p/{panel_id}",
    "/check",
    "/check/keep",
    "/check/marks",
    f"{EDITORS}/check",
    *(f"{EDITORS}/{name}" for name in ("languages", "configinfo", "maxtextlength", "info")),
    f"{API}/openapi.json",
}


def test_the_table_itself_gives_nobody_what_is_not_theirs() -> None:
    """The walk below holds the server to the table; this holds the table to the few rules behind it."""
    for (method, path), allowed in ROLES_OF.items():
        where = f"{method} {path}"
        assert PUBLIC not in allowed or path in OF_ANYBODY or path.startswith("/out/"), where
        is_for_raters = bool(allowed & {"annotator", "worker"})
        assert not (is_for_raters and OF_STAFF.match(path)), where
        assert not (is_for_raters and path.startswith(API)) or OF_RATERS.search(path), where
        assert not OF_OWNERS.search(path) or allowed == {"owner"}, where
        if method != "GET" and "adjudicator" in allowed and not is_for_raters:
            assert re.search(r"/(adjudicate|mining|decision)", path), where


def test_a_route_that_somebody_forgot_is_closed_even_to_an_owner(shared: Study) -> None:
    shared.made = None  # an application of its own, since it gets a route that nobody else should see
    browser = shared.browser("owner")
    browser.client.app.get("/forgotten")(lambda: "secret")
    shared.made = None
    reply = browser.get("/forgotten")
    assert reply.status_code == 403
    assert "secret" not in reply.text


def ask(study: Study, method: str, path: str, role: str) -> int:
    """The status of one call as a role; a redirect to the login counts as 401."""
    place = path.replace("{", "").replace("}", "")
    if path.startswith(API):
        headers = {} if role == PUBLIC else study.bearer(role)
        return int(study.client(follow=False).request(method, place, headers=headers, json={}).status_code)
    browser = study.browser("" if role == PUBLIC else role)
    browser.client.follow_redirects = False
    headers = {"origin": BASE, "x-csrf-token": browser.csrf}
    reply = browser.client.request(method, place, headers=headers)
    is_sent_to_login = reply.status_code == 303 and reply.headers["location"].startswith("/login")
    if path in ("/", "/login", "/logout"):  # where a wrong password, or the way to the login, is the right answer
        return 200 if role in roles_of(method, path) else 401
    return 401 if is_sent_to_login else int(reply.status_code)


@pytest.mark.parametrize(("method", "path"), sorted(ROLES_OF))
def test_each_role_is_let_in_or_turned_away_as_the_table_says(shared: Study, method: str, path: str) -> None:
    allowed = roles_of(method, path)
    for role in ROLES:
        status = ask(shared, method, path, role)
        assert (status not in (401, 403)) == (role in allowed), f"{method} {path} as {role}: {status}"
    if PUBLIC not in allowed:
        assert ask(shared, method, path, PUBLIC) in (401, 303)
