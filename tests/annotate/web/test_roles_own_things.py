"""What belongs to a person does not exist for anybody else, on every route that names such a thing (IDOR)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grater.annotate import credentials, leases, marks
from grater.annotate.marks import Finding
from grater.annotate.store import Tx, events
from grater.annotate.web.security import API, ROLES_OF
from grater.model import Json
from tests.annotate.web.studies import BASE, Study, served
from tests.annotate.web.test_work import FILLED, answer, start

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
    "/findings": {"state": "kept"},
    "/leases": {"fields": {"edits": ["[]"]}},
}


@contextmanager
def theirs(folder: Path) -> Iterator[tuple[Study, dict[str, str]]]:
    """A worker with an essay in hand, one that could be mended, what was found in it, and a token."""
    with served(folder, tasks=["marking"]) as study:
        worker, person_id = study.browser("worker"), study.people["worker"].person_id
        done = start(worker, study, "marking").rpartition("/")[2]
        answer(worker, f"/leases/{done}", FILLED["marking"])
        with study.store.write() as tx:
            ids = _ids(tx, study.jobs["marking"], person_id, done)
        yield study, ids


def _ids(tx: Tx, job_id: str, person_id: str, done: str) -> dict[str, str]:
    sent = leases.find(tx, done, person_id=person_id)
    held = leases.held(tx, job_id=job_id, person_id=person_id)
    assert sent is not None
    assert held is not None
    marks.add_findings(tx, [Finding("", sent.unit_id, person_id, "rule", "look again", 0, 2)])
    credentials.make_token(tx, person_id)
    return {
        "unit_id": sent.unit_id,
        "lease_id": held.lease_id,
        "finding_id": marks.open_findings(tx, person_id)[0].finding_id,
        "token_id": credentials.tokens_of_person(tx, person_id)[0].token_id,
    }


def call(study: Study, who: str, method: str, route: str, ids: dict[str, str]) -> tuple[int, int]:
    """The status of one call with a body that is right for it, and how many events it left."""
    person_id = study.people[who].person_id
    with study.store.write() as tx:
        bearer = credentials.make_token(tx, person_id)
        cookie, session = credentials.start_session(tx, person_id, hours=1)
    with study.store.read() as tx:
        before = events.latest(tx)
    client = study.client(follow=False)
    client.cookies.set("grater-session", cookie)
    headers = {"origin": BASE, "x-csrf-token": session.csrf, "authorization": f"Bearer {bearer}"}
    path = re.sub(r"{(\w+)}", lambda found: ids[found.group(1)], route)
    body = next((sent for name, sent in SENT.items() if name in route), {})
    is_json = route.startswith(API) or route.endswith("/draft")
    form = {"state": "kept"} if route.endswith("/keep") else FILLED["marking"]
    sent = {"json": body} if is_json else {"data": form}
    status = client.request(method, path, headers=headers, **({} if method == "GET" else sent)).status_code
    with study.store.read() as tx:
        return int(status), events.latest(tx) - before


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, dict[str, str]]]:
    with theirs(tmp_path_factory.mktemp("theirs")) as found:
        yield found


@pytest.mark.parametrize("who", ["annotator", "owner"])
@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_nobody_finds_what_is_anothers(
    shared: tuple[Study, dict[str, str]], method: str, route: str, who: str
) -> None:
    study, ids = shared
    assert call(study, who, method, route, ids) == (404, 0)


def test_whose_it_is_finds_it(tmp_path: Path) -> None:
    """Negative control: the same calls by the right person are no 404; without practice there is no feedback."""
    with theirs(tmp_path) as (study, ids):
        in_turn = sorted(ROUTES, key=lambda each: (each[0], "mend" not in each[1], "draft" not in each[1]))
        found = {each: call(study, "worker", *each, ids)[0] for each in in_turn if "feedback" not in each[1]}
    assert [each for each, status in found.items() if status in (401, 403, 404, 422)] == []
