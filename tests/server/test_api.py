"""The REST API: the same powers by token, the same refusals, described by OpenAPI."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from grater.errors import BadInput
from grater.server.webhooks import FINISHED, MOST_FAILURES, Teller, require_outside, signature
from grater.store import jobs, judgments, tokens, webhooks
from tests.server.studies import Study

API = "/api/v1"


class Program:
    """Somebody's program, with their token."""

    def __init__(self, study: Study, who: str) -> None:
        with study.store.write() as tx:
            secret = tokens.make(tx, study.people[who].person_id)
        self.client = study.client()
        self.headers = {"authorization": f"Bearer {secret}"}

    def get(self, path: str, status: int = 200) -> Any:
        reply = self.client.get(API + path, headers=self.headers)
        assert reply.status_code == status, reply.text
        return reply.json()

    def post(self, path: str, sent: object = None, status: int = 200) -> Any:
        reply = self.client.post(API + path, headers=self.headers, json={} if sent is None else sent)
        assert reply.status_code == status, reply.text
        return reply.json()


def test_a_program_judges_like_a_person(study: Study) -> None:
    program, job_id = Program(study, "worker"), study.jobs["usage"]
    lease = program.post(f"/jobs/{job_id}/next")["lease"]
    assert lease == program.get(f"/leases/{lease['lease_id']}")
    assert [field["name"] for field in lease["fields"]] == ["flags", "label", "better", "others", "confidence"]
    form = {
        "fields": {"label": ["1"], "better": ["on"], "confidence": ["low"]},
        "submission_id": "mine-1",
        "seconds": 2,
    }
    first = program.post(f"/leases/{lease['lease_id']}", form)
    assert first == {"submission_id": "mine-1", "status": "valid", "is_replay": False}
    assert program.post(f"/leases/{lease['lease_id']}", form)["is_replay"] is True
    other = {**form, "fields": {"label": ["2"], "confidence": ["low"]}}
    program.post(f"/leases/{lease['lease_id']}", other, 409)
    with study.store.read() as tx:
        (row,) = judgments.table(tx, job_id)
    assert (row["label"], row["seconds"]) == ("1", 2.0)


def test_the_api_hides_what_pages_hide(study: Study) -> None:
    program = Program(study, "worker")
    for task in ("usage", "cloze", "error"):
        lease = program.post(f"/jobs/{study.jobs[task]}/next")["lease"]
        assert "zzz-suggested" not in json.dumps(lease)
        assert "unit" not in lease


def test_an_essay_comes_with_its_text_and_tags(study: Study) -> None:
    lease = Program(study, "worker").post(f"/jobs/{study.jobs['marking']}/next")["lease"]
    assert len(lease["tags"]) == 27
    assert "edits" not in lease


def test_a_wrong_answer_is_422_and_names_the_field(study: Study) -> None:
    program = Program(study, "worker")
    lease = program.post(f"/jobs/{study.jobs['error']}/next")["lease"]
    error = program.post(f"/leases/{lease['lease_id']}", {"fields": {"label": ["maybe"]}}, 422)["error"]
    assert "label: expected one of error, ok, unknown" in error["message"]
    program.post(f"/leases/{lease['lease_id']}", {"answers": 1}, 422)


def test_anothers_lease_is_404(study: Study) -> None:
    lease = Program(study, "worker").post(f"/jobs/{study.jobs['error']}/next")["lease"]
    thief = Program(study, "owner")
    thief.get(f"/leases/{lease['lease_id']}", 404)
    thief.post(f"/leases/{lease['lease_id']}", {"fields": {"label": ["ok"]}}, 404)


def test_a_token_that_was_ended_is_worth_nothing(study: Study) -> None:
    browser = study.browser("worker")
    page = browser.post("/me/tokens", {"name": "script"}).text
    secret = page.partition("<code>")[2].partition("</code>")[0] if "shown this once" in page else ""
    secret = page.partition('class="copy"><code>')[2].partition("</code>")[0]
    headers = {"authorization": f"Bearer {secret}"}
    assert study.client().get(f"{API}/me", headers=headers).json()["name"] == "Worker"
    with study.store.read() as tx:
        (token,) = tokens.of_person(tx, study.people["worker"].person_id)
    browser.post(f"/me/tokens/{token.token_id}/end")
    assert study.client().get(f"{API}/me", headers=headers).status_code == 401


def test_nobody_ends_anothers_token(study: Study) -> None:
    Program(study, "worker")
    with study.store.read() as tx:
        (token,) = tokens.of_person(tx, study.people["worker"].person_id)
    assert study.browser("owner").post(f"/me/tokens/{token.token_id}/end").status_code == 404


def test_a_manager_makes_opens_and_watches_a_job(bare: Study) -> None:
    program = Program(bare, "manager")
    job = program.post("/jobs", {"name": "by api", "task": "cloze", "judgments": 2, "open": False})
    assert job["state"] == "draft"
    assert Program(bare, "worker").get("/jobs")["jobs"] == []
    Program(bare, "worker").get(f"/jobs/{job['job_id']}", 404)
    program.post(f"/jobs/{job['job_id']}/state", {"state": "open"})
    program.post(f"/jobs/{job['job_id']}/state", {"state": "open"}, 409)
    assert program.post(f"/jobs/{job['job_id']}/guidelines", {"markdown": "# New"}) == {"version": 2}
    assert program.get(f"/jobs/{job['job_id']}")["guidelines"]["markdown"] == "# New"
    progress = program.get(f"/jobs/{job['job_id']}/progress")
    assert progress["wanted"] == 2 * progress["units"] > 0
    assert program.get(f"/jobs/{job['job_id']}/agreement")["reason"] == "No item has two judgments yet."
    assert program.get(f"/jobs/{job['job_id']}/judgments") == {"judgments": []}


def test_files_come_in_and_the_study_goes_out(bare: Study) -> None:
    program = Program(bare, "manager")
    files = [("files", ("new.txt", b"A new essay."))]
    reply = program.client.post(f"{API}/import", headers=program.headers, data={"kind": "corpus"}, files=files)
    assert reply.json()["imported"][0]["new"] == 1
    bad = program.client.post(
        f"{API}/import", headers=program.headers, data={"kind": "corpus"}, files=[("files", ("a.exe", b""))]
    )
    assert bad.status_code == 422
    archive = program.client.get(f"{API}/export", headers=program.headers)
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(archive.content)).namelist()


def test_people_invitations_and_roles(bare: Study) -> None:
    manager, owner = Program(bare, "manager"), Program(bare, "owner")
    assert len(manager.get("/people")["people"]) == 5
    assert "password" not in json.dumps(manager.get("/people"))
    assert "/join/" in manager.post("/invitations", {"role": "worker"})["link"]
    manager.post("/invitations", {"role": "owner"}, 403)
    manager.post("/invitations", {"role": "king"}, 422)
    owner.post(f"/people/{bare.people['owner'].person_id}/role", {"role": "worker"}, 403)
    assert owner.post(f"/people/{bare.people['worker'].person_id}/role", {"role": "annotator"})["role"] == "annotator"


def test_events_are_told_in_order(study: Study) -> None:
    program = Program(study, "manager")
    first = program.get("/events?most=3")["events"]
    rest = program.get(f"/events?after={first[-1]['n']}")["events"]
    assert [event["n"] for event in [*first, *rest]] == sorted(event["n"] for event in [*first, *rest])
    assert first[-1]["n"] < rest[0]["n"]


def test_openapi_describes_every_call_and_no_page(study: Study) -> None:
    described = study.client().get(f"{API}/openapi.json").json()
    assert set(described["paths"]) >= {f"{API}/jobs", f"{API}/leases/{{lease_id}}", f"{API}/export"}
    assert all(path.startswith(API) for path in described["paths"])
    assert described["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    page = study.browser("worker").get("/api").text
    assert f"POST {API}/leases/{{lease_id}}" in page


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.org",
        "file:///etc/passwd",
        "http://127.0.0.1/x",
        "http://localhost:1/",
        "http://[::1]/",
        "http://10.0.0.1",
        "nonsense",
    ],
)
def test_webhooks_do_not_reach_inside(study: Study, url: str) -> None:
    with pytest.raises(BadInput):
        require_outside(url, allow_private=False)
    Program(study, "owner").post("/webhooks", {"url": url}, 422)


class Outside:
    """A program that hears webhooks; `status` is what it answers."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, Any], str]] = []
        self.status = 200

    def __call__(self, url: str, body: bytes, headers: Any) -> int:  # noqa: ARG002
        self.heard.append((json.loads(body), headers["x-grater-signature"]))
        self.body = body
        return self.status


def told(study: Study) -> tuple[Outside, Teller, Program]:
    object.__setattr__(study.settings, "private_webhooks", True)
    owner = Program(study, "owner")
    made = owner.post("/webhooks", {"url": "http://127.0.0.1:9/hook"})
    assert made["secret"] not in json.dumps(owner.get("/webhooks"))
    outside = Outside()
    outside.secret = made["secret"]  # type: ignore[attr-defined]
    return outside, Teller(study.client().app.state.server, post=outside), owner  # type: ignore[attr-defined]


def finish_one(study: Study) -> None:
    for who in ("worker", "annotator"):
        program = Program(study, who)
        while lease := program.post(f"/jobs/{study.jobs['construction']}/next")["lease"]:
            fields = {field["name"]: ["yes"] for field in lease["fields"]}
            program.post(f"/leases/{lease['lease_id']}", {"fields": fields})


def test_a_finished_unit_is_told_once_and_signed(study: Study) -> None:
    outside, teller, _ = told(study)
    finish_one(study)
    assert teller.tell_all() == 1
    assert teller.tell_all() == 0
    ((body, signed),) = outside.heard
    assert body["verb"] == FINISHED
    assert body["payload"]["job"] == "construction"
    assert sorted(body["payload"]["labels"].values()) == [["yes", "yes"]] * 5
    assert signed == signature(outside.secret, outside.body)  # type: ignore[attr-defined]


def test_an_event_is_told_again_until_it_is_heard_ever_more_slowly(study: Study) -> None:
    outside, teller, _ = told(study)
    finish_one(study)
    outside.status = 500
    teller.tell_all()
    assert teller.tell_all() == 0
    assert len(outside.heard) == 1  # it waits before the next try
    study.clock.now += 3_000
    outside.status = 204
    assert teller.tell_all() == 1


def test_a_webhook_that_never_answers_is_paused(study: Study) -> None:
    outside, teller, _ = told(study)
    finish_one(study)
    outside.status = 0
    for _ in range(MOST_FAILURES + 5):
        teller.tell_all()
        study.clock.now += 10_000_000
    assert len(outside.heard) == MOST_FAILURES
    with study.store.read() as tx:
        assert webhooks.all(tx)[0].state == "paused"


def test_a_webhook_hears_only_what_it_asked_for(study: Study) -> None:
    object.__setattr__(study.settings, "private_webhooks", True)
    Program(study, "owner").post("/webhooks", {"url": "http://127.0.0.1:9/", "verbs": ["job.state"]})
    outside = Outside()
    teller = Teller(study.client().app.state.server, post=outside)  # type: ignore[attr-defined]
    with study.store.write() as tx:
        jobs.set_state(tx, study.jobs["error"], "paused")
    finish_one(study)
    teller.tell_all()
    assert [body["verb"] for body, _ in outside.heard] == ["job.state"]
