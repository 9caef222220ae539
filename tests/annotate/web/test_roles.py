"""Every route with every role: the table is whole, the server keeps to it, and every page has its call.

Changes come from our own pages only: CSRF token and Origin.  What belongs to a person does not exist for anybody else
(IDOR).  Pages name their calls in pages_and_calls.md, or why there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.routing import Mount

from grater.annotate import credentials, leases, marks
from grater.annotate.store import Tx, events
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.security import API, EDITORS, EVERYBODY, PUBLIC, WITHOUT_COOKIES
from grater.model import Json
from tests.annotate.web.studies import BASE, ROLES, Study, served
from tests.annotate.web.test_work import FILLED, answer, start
from tests.each import for_each


def routes_of(router: object) -> Iterator[tuple[str, str]]:
    """Every method and path of an application; newer FastAPI keeps included routers whole."""
    for route in getattr(router, "routes", ()):
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes_of(inner)
        elif not isinstance(route, Mount):
            yield from ((method, route.path) for method in route.methods)


def test_every_route_is_on_the_table_static_files_aside_and_every_row_is_a_route(shared: Study) -> None:
    assert set(routes_of(shared.client().app)) == set(ROLES_OF)
    assert [route.path for route in shared.client().app.routes if isinstance(route, Mount)] == ["/static"]


OF_STAFF = re.compile(r"(/api/v1)?/(manage|adjudicate|people|export|import|events|webhooks|gold|panels)\b")
OF_RATERS = re.compile(
    r"/(openapi.json|tasks|jobs|jobs/{job_id}|jobs/{job_id}/(next|missed|disputes|messages|reviews|about)|findings|"
    r"findings/{finding_id}/keep|units/{unit_id}/mend)$|/leases/{lease_id}|/me\b"
)
OF_OWNERS = re.compile(r"/people/{person_id}/(role|state|second-factor)\b|/(manage|v1)/second-factor|/webhooks\b")
OF_ANYBODY = {
    *("/", "/healthz", "/login", "/login/code", "/setup/{token}", "/join/{token}", "/p/{panel_id}"),
    *("/check", "/check/keep", "/check/marks", f"{API}/openapi.json"),
    *(f"{EDITORS}/{name}" for name in ("check", "languages", "configinfo", "maxtextlength", "info")),
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
            assert re.search(r"/(adjudicate|decision)", path), where


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
        return 200 if role in ROLES_OF[method, path] else 401
    return 401 if is_sent_to_login else int(reply.status_code)


@pytest.mark.parametrize(("method", "path"), sorted(ROLES_OF))
def test_each_role_is_let_in_or_turned_away_as_the_table_says(shared: Study, method: str, path: str) -> None:
    allowed = ROLES_OF[method, path]
    for role in ROLES:
        status = ask(shared, method, path, role)
        assert (status not in (401, 403)) == (role in allowed), f"{method} {path} as {role}: {status}"
    if PUBLIC not in allowed:
        assert ask(shared, method, path, PUBLIC) in (401, 303)


CHANGES = sorted(
    (method, path) for method, path in ROLES_OF if method != "GET" and not path.startswith(WITHOUT_COOKIES)
)


def send_as_owner(study: Study, method: str, path: str, headers: dict[str, str]) -> int:
    browser = study.browser("owner")
    token = {"x-csrf-token": browser.csrf} if headers.pop("token", "") else {}
    place = path.replace("{", "").replace("}", "")
    status: int = browser.client.request(method, place, headers={**headers, **token}).status_code
    return status


@pytest.mark.parametrize(("method", "path"), CHANGES)
def test_a_change_without_token_or_from_elsewhere_is_refused(shared: Study, method: str, path: str) -> None:
    assert send_as_owner(shared, method, path, {"origin": BASE}) == 403
    elsewhere = {"origin": "https://evil.example"}, {"origin": "null"}, {}, {"referer": "https://evil.example/x"}
    for headers in elsewhere:
        assert send_as_owner(shared, method, path, {"token": "yes", **headers}) == 403
    assert send_as_owner(shared, method, path, {"origin": BASE, "token": "yes"}) != 403


def test_the_referer_does_where_a_browser_sends_no_origin(shared: Study) -> None:
    headers = {"referer": f"{BASE}/manage/export", "token": "yes"}
    assert send_as_owner(shared, "POST", "/manage/export", headers) == 200


def test_the_token_of_another_session_is_refused(shared: Study) -> None:
    browser, other = shared.browser("owner"), shared.browser("owner")
    browser.csrf = other.csrf
    assert browser.post("/manage/invitations", {"role": "worker"}).status_code == 403


def test_a_cookie_is_worth_nothing_to_the_api(shared: Study) -> None:
    browser = shared.browser("owner")
    assert browser.get("/api/v1/me").status_code == 401
    assert browser.post("/api/v1/invitations", headers={"x-csrf-token": browser.csrf}).status_code == 401


OWN = ("lease_id", "token_id", "finding_id")
"""Ids in addresses that stand for something of one person; work is mended by the id of its unit."""

ROUTES = sorted(
    (method, path)
    for method, path in ROLES_OF
    if re.search(rf"{{({'|'.join(OWN)})}}|/mend$|/me/essays/", path) and not path.startswith("/out/")
)
SENT: dict[str, Json] = {
    f"{API}/leases/{{lease_id}}/draft": {"revision": 0, "edits": []},
    "/draft": {"revision": 0, "body": {"edits": [], "set_aside": False}},
    "/leases": {"fields": {"edits": ["[]"]}},
}


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, dict[str, str]]]:
    """A worker with an essay in hand, one that could be mended, what was found in it, and a token."""
    with served(tmp_path_factory.mktemp("theirs"), tasks=["marking"]) as study:
        worker, person_id = study.browser("worker"), study.people["worker"].person_id
        done = start(worker, study, "marking").rpartition("/")[2]
        answer(worker, f"/leases/{done}", FILLED["marking"])
        yield study, study.write(_ids, study.jobs["marking"], person_id, done)


def _ids(tx: Tx, job_id: str, person_id: str, done: str) -> dict[str, str]:
    sent = leases.find(tx, done, person_id=person_id)
    held = leases.held(tx, job_id=job_id, person_id=person_id)
    marks.add_findings(tx, [marks.Finding("", sent.unit_id, person_id, "rule", "look again", 0, 2)])
    credentials.make_token(tx, person_id)
    return {
        "unit_id": sent.unit_id,
        "lease_id": held.lease_id,
        "finding_id": marks.open_findings(tx, person_id)[0].finding_id,
        "token_id": credentials.tokens_of_person(tx, person_id)[0].token_id,
    }


def call_as(study: Study, who: str, method: str, route: str, ids: dict[str, str]) -> tuple[int, int]:
    """The status of one call with a body that is right for it, and how many events it left."""
    person_id = study.people[who].person_id
    with study.store.write() as tx:
        bearer = credentials.make_token(tx, person_id)
        cookie, session = credentials.start_session(tx, person_id, hours=1)
    before = study.read(events.latest)
    client = study.client(follow=False)
    client.cookies.set("grater-session", cookie)
    headers = {"origin": BASE, "x-csrf-token": session.csrf, "authorization": f"Bearer {bearer}"}
    path = re.sub(r"{(\w+)}", lambda found: ids[found.group(1)], route)
    body = next((sent for name, sent in SENT.items() if name in route), {})
    is_json = route.startswith(API) or route.endswith("/draft")
    sent = {"json": body} if is_json else {"data": FILLED["marking"]}
    status = client.request(method, path, headers=headers, **({} if method == "GET" else sent)).status_code
    return int(status), study.read(events.latest) - before


@pytest.mark.parametrize("who", ["annotator", "owner"])
@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_nobody_finds_anothers_things(owned: tuple[Study, dict[str, str]], method: str, route: str, who: str) -> None:
    study, ids = owned
    assert call_as(study, who, method, route, ids) == (404, 0)


def test_whose_it_is_finds_it(owned: tuple[Study, dict[str, str]]) -> None:
    """Negative control, after the others: the same calls by the right person, feedback aside: it needs practice."""
    study, ids = owned
    in_turn = sorted(ROUTES, key=lambda each: (each[0], "mend" not in each[1], "draft" not in each[1]))
    found = {each: call_as(study, "worker", *each, ids)[0] for each in in_turn if "feedback" not in each[1]}
    assert [each for each, status in found.items() if status in (401, 403, 404, 422)] == []


TWINS = Path(__file__).with_name("pages_and_calls.md").read_text("utf-8")
ROWS = dict(re.findall(r"^\| `((?:GET|POST|PUT) /\S*)` \| (.+) \|$", TWINS, re.M))
NONE = "none: "


def split(call: str) -> tuple[str, str]:
    method, _, path = call.partition(" ")
    return method, path


def calls_of(words: str) -> list[tuple[str, str]]:
    return [split(call) for call in re.findall(r"`((?:GET|POST|PUT) /\S+)`", words)]


def test_every_page_names_its_call_or_why_there_is_none(shared: Study) -> None:
    pages = {(method, path) for method, path in routes_of(shared.client().app) if not path.startswith(API)}
    assert {split(page) for page in ROWS} == pages


@for_each(ROWS)
def test_the_call_is_there_for_everybody_who_may_open_the_page(page: str) -> None:
    if ROWS[page].startswith(NONE):
        assert len(ROWS[page]) > len(NONE) + 10  # a reason, not a shrug
        return
    found = calls_of(ROWS[page])
    assert found
    for method, path in found:
        allowed = ROLES_OF.get((method, API + path), frozenset())
        assert allowed, f"there is no call {method} {path}"
        assert ROLES_OF[split(page)] & EVERYBODY <= allowed, f"{method} {path} is closed to some who may open {page}"


def test_what_changes_something_on_a_page_changes_something_by_its_call() -> None:
    reading = {page for page, words in ROWS.items() for method, _ in calls_of(words) if method == "GET"}
    assert {page for page in reading if not page.startswith("GET")} == {"POST /manage/export", "POST /manage/report"}
