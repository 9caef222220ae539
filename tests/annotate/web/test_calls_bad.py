"""Whatever a program sends, it is told what is wrong, in the one shape of errors; nothing breaks inside.

What is sent: one model for an action, and the same words at every door for what is wrong with it.
"""

from __future__ import annotations

import re

import pytest

from grater.annotate.credentials import NewToken
from grater.annotate.people import NewSeat
from grater.annotate.requests import Body
from grater.annotate.second_factor import NewSecondFactorRule
from grater.annotate.web.people import NewInvitations
from grater.annotate.web.security import API
from grater.annotate.webhooks import NewWebhook
from tests.annotate.web.programs import Described, Program
from tests.annotate.web.studies import Study

HUGE = "1" + 30 * "0"
HALF = '"\\ud800"'
NUL = '"a\\u0000b"'


BODIES = [
    ("/jobs", "{"),
    ("/jobs", "[]"),
    ("/jobs", "7"),
    ("/jobs", '{"name": ' + HALF + ', "task": "error"}'),
    ("/jobs", '{"name": "a", "task": "error", "kind": ' + HALF + "}"),
    ("/jobs", '{"name": "a", "task": "error", "item_ids": [' + NUL + "]}"),
    ("/jobs", '{"name": "a", "task": "error", "most": ' + HUGE + "}"),
    ("/jobs", '{"name": "a", "task": "error", "batch_size": ' + HUGE + "}"),
    ("/jobs", '{"name": "a", "task": "error", "seed": ' + HUGE + "}"),
    ("/jobs", '{"name": "a", "task": "construction", "delay_days": NaN}'),
    ("/jobs", '{"name": "a", "task": "error", "lease_minutes": Infinity}'),
    ("/jobs/{error}/terms", '{"page": ' + HUGE + "}"),
    ("/jobs/{error}/terms", '{"pay": {"cents": ' + HUGE + "}}"),
    ("/jobs/{error}/terms", '{"gold": {"quiz": ' + HUGE + "}}"),
    ("/jobs/{error}/terms", '{"gold": {"minimum": NaN}}'),
    ("/jobs/{error}/guidelines", '{"markdown": ' + NUL + "}"),
    ("/jobs/{error}/messages", '{"text": ' + NUL + "}"),
    ("/jobs/{error}/messages", '{"text": " "}'),
    ("/jobs/{error}/about", '{"country": ' + NUL + "}"),
    ("/jobs/{error}/gold", '{"least": ' + HUGE + "}"),
    ("/invitations", '{"role": "worker", "days": Infinity}'),
    ("/invitations", '{"role": "worker", "name": ' + HALF + "}"),
    ("/me/tokens", '{"days": NaN}'),
    ("/runs", '{"kind": "system", "system": "../../etc/passwd"}'),
    ("/samples", '{"system": "nope", "seed": ' + HUGE + "}"),
    ("/seats", '{"members": ["Worker"]}'),
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_a_bad_body_is_reported_and_changes_nothing(
    shared: Study, described: Described, path: str, body: str
) -> None:
    owner = Program(shared, "owner")
    headers = {**owner.headers, "content-type": "application/json"}
    place = API + path.format(**shared.jobs)
    before = owner.get("/events?most=1000")["latest"]
    reply = owner.client.post(place, headers=headers, content=body.encode())
    assert reply.status_code in (400, 422), reply.text
    described.check(described.named("POST", place), reply.status_code, reply)
    assert owner.get("/events?most=1000")["latest"] == before


QUERIES = [
    *(f"/items?start={HUGE}", f"/events?after={HUGE}", "/items?most=0", "/items?most=1001", "/items?start=-1"),
    *("/jobs/{error}/judgments?status=all", "/jobs?state=lost", "/jobs/{error}/finished?show=all"),
]


def test_a_bad_query_is_reported(shared: Study) -> None:
    owner = Program(shared, "owner")
    for query in QUERIES:
        owner.get(query.format(**shared.jobs), 422)


def test_a_bad_answer_is_reported_and_the_unit_is_still_yours(shared: Study) -> None:
    worker = Program(shared, "worker")
    lease_id = worker.call("next_unit", job_id=shared.jobs["error"])["lease"]["lease_id"]
    headers = {**worker.headers, "content-type": "application/json"}
    for body in (
        '{"fields": {"label": ["ok"], ' + HALF + ': ["x"]}}',
        '{"fields": {"label": [' + NUL + "]}}",
        '{"fields": {"label": ["ok"]}, "seconds": Infinity}',
        '{"fields": {"label": ["ok"]}, "submission_id": ' + NUL + "}",
        '{"fields": {"label": "ok"}}',
        "{}",
    ):
        reply = worker.client.post(f"{API}/leases/{lease_id}", headers=headers, content=body.encode())
        assert reply.status_code == 422, body
    assert worker.call("one_lease", lease_id=lease_id)["state"] == "held"
    lease_id = worker.call("next_unit", job_id=shared.jobs["marking"])["lease"]["lease_id"]
    misquoted = {"start": 0, "end": 4, "quote": "Else", "tag": "Wcip", "replacements": ["x"], "comment": ""}
    worker.call("save_draft", {"revision": 0, "edits": [misquoted]}, lease_id=lease_id, status=422)
    worker.call("submit", {"edits": [misquoted]}, lease_id=lease_id, status=422)


def test_a_form_that_cannot_be_read_is_reported(shared: Study, described: Described) -> None:
    owner = Program(shared, "owner")
    headers = {**owner.headers, "content-type": "multipart/form-data; boundary=x"}
    reply = owner.client.post(f"{API}/import", headers=headers, content=b"no form")
    described.check("bring_in", 400, reply)


FORMS: list[tuple[str, str, type[Body]]] = [
    ("/manage/people", "/manage/invitations", NewInvitations),
    ("/manage/people", "/manage/seats", NewSeat),
    ("/manage/people", "/manage/second-factor", NewSecondFactorRule),
    ("/manage/webhooks", "/manage/webhooks", NewWebhook),
    ("/me", "/me/tokens", NewToken),
]


def test_the_fields_of_a_form_are_those_of_its_model(bare: Study) -> None:
    """One by another name would be dropped without a word (P14)."""
    browser = bare.browser("owner")
    for path, action, model in FORMS:
        form = re.search(rf'<form[^>]*action="{action}".*?</form>', browser.get(path).text, re.DOTALL)
        assert form, action
        names = set(re.findall(r' name="(\w+)"', form[0])) - {"csrf"}
        assert names, action
        assert names <= model.model_fields.keys(), action
