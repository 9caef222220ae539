"""The description of the API is whole, docs/api.md is true, and whatever a program sends, it hears what is wrong."""

from __future__ import annotations

import io
import json
import re
import urllib.request
import zipfile
from email.message import Message
from math import inf, nan
from pathlib import Path
from urllib.error import HTTPError

import pytest

from grater.annotate import credentials
from grater.annotate.credentials import NewToken
from grater.annotate.people import NewSeat
from grater.annotate.requests import Body
from grater.annotate.second_factor import NewSecondFactorRule
from grater.annotate.store.events import VERBS_ABOUT
from grater.annotate.web.openapi import ERRORS, TAGS
from grater.annotate.web.people import NewInvitations
from grater.annotate.web.security import API
from grater.annotate.webhooks import NewWebhook, signature
from grater.errors import StoreBusy
from tests.annotate.web.programs import JSON, Described, Program
from tests.annotate.web.studies import BASE, Study
from tests.test_docs import blocks


def test_what_is_served_is_what_is_described(shared: Study, described: Described) -> None:
    assert shared.client().get(f"{API}/openapi.json").json() == json.loads(json.dumps(described.whole))


def test_every_call_has_a_name_of_its_own_words_a_known_tag_and_its_places(described: Described) -> None:
    for name, (_, path, call) in described.calls.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", name), name
        assert call["description"].startswith(call["summary"]), name
        assert not call["summary"].istitle(), name  # FastAPI's own guess, from the name of the function
        assert set(call["tags"]) <= set(TAGS), name
        places = {each["name"] for each in call.get("parameters", ()) if each["in"] == "path"}
        assert places == set(re.findall(r"\{(\w+)\}", path)), name
    assert {tag for _, _, call in described.calls.values() for tag in call["tags"]} == set(TAGS)
    assert len(described.calls) == sum(len(methods) for methods in described.whole["paths"].values())


def test_every_body_is_closed_and_has_an_example_that_fits(described: Described) -> None:
    for name in described.calls:
        shape = described.body_of(name)
        assert shape is None or (shape["additionalProperties"] is False and shape["examples"]), name
    bodies = [Body]
    for model in bodies:
        bodies += model.__subclasses__()
        for example in model.model_config.get("json_schema_extra", {}).get("examples", ()):
            assert model.checked(**example)


def test_every_answer_is_described_to_the_last_part(described: Described) -> None:
    """No call may answer with anything at all; only the study's own payloads are as free as they are stored."""
    for name, (_, _, call) in described.calls.items():
        content = call["responses"].get("200", {}).get("content", {})
        if JSON in content:
            assert set(content[JSON]["schema"]) & {"$ref", "anyOf"} or name == "evaluation", name  # as a command's
    for title, shape in described.whole["components"]["schemas"].items():
        for part, each in shape.get("properties", {}).items():
            is_free = each.get("type") == "object" and each.get("additionalProperties") in (True, {}, None)
            assert not is_free or part == "payload" or title == "Error", f"{title}.{part}"


def test_every_reference_leads_somewhere_and_every_shape_is_used(described: Described) -> None:
    text = json.dumps(described.whole)
    used = set(re.findall(r'"#/components/schemas/([^"]+)"', text))
    assert used == set(described.whole["components"]["schemas"])
    assert [name for name in used if "__" in name] == []  # two of one name, which FastAPI tells apart by their files


def test_every_error_has_the_one_shape(described: Described) -> None:
    one = {"$ref": "#/components/schemas/Error"}
    for name, (_, _, call) in described.calls.items():
        errors = {status: each for status, each in call["responses"].items() if status >= "400"}
        assert {"401", "422", "503"} <= set(errors) <= set(map(str, ERRORS)), name
        assert all(each["content"][JSON]["schema"] == one for each in errors.values()), name


NO_FORM = {"content-type": "multipart/form-data; boundary=x"}


def test_errors_of_every_kind_look_as_they_are_described(shared: Study, described: Described) -> None:
    manager, worker, client = Program(shared, "manager"), Program(shared, "worker"), shared.client()
    job = {"name": "error", "task": "error"}
    wide = {**worker.headers, "content-type": "application/json"}
    replies = {
        401: client.get(f"{API}/me"),
        403: client.get(f"{API}/people", headers=worker.headers),
        404: client.get(f"{API}/jobs/none", headers=worker.headers),
        409: client.post(f"{API}/jobs", headers=manager.headers, json=job),
        400: client.post(f"{API}/import", headers=manager.headers | NO_FORM, content=b"no form"),
        413: client.post(f"{API}/leases/x", headers=wide, content=b"x" * 3_000_000),
        422: client.post(f"{API}/jobs", headers=manager.headers, json={"name": "x" * 81, "task": 7, "tsk": 1}),
    }
    for status, reply in replies.items():
        assert reply.status_code == status
        assert reply.json()["error"].keys() == described.shape("Error")["properties"]["error"]["properties"].keys()
        assert reply.json()["error"]["status"] == status
    assert len(replies[422].json()["error"]["message"].splitlines()) == 3


def test_a_busy_database_says_when_to_come_again(shared: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: object) -> None:
        raise StoreBusy("the database is busy")

    manager = Program(shared, "manager")
    monkeypatch.setattr("grater.annotate.people.all", busy)
    reply = manager.client.get(f"{API}/people", headers=manager.headers)
    manager.described.check("everybody", 503, reply)
    assert int(reply.headers["retry-after"]) > 0


ROOT = Path(__file__).parents[3]
GUIDE = ROOT / "docs" / "api.md"
ANSWERS = dict(re.findall(r"^\| `(\w+)` \| `(\{.+\})` \|$", GUIDE.read_text("utf-8"), re.M))


def test_the_script_runs_from_the_essays_to_the_export(
    bare: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = bare.client()

    def urlopen(request: urllib.request.Request) -> io.BytesIO:
        headers = {name.lower(): value for name, value in request.header_items()}
        assert request.data is None or isinstance(request.data, bytes)
        reply = client.request(request.get_method(), request.full_url, content=request.data, headers=headers)
        if reply.status_code >= 400:
            raise HTTPError(request.full_url, reply.status_code, reply.text, Message(), None)
        return io.BytesIO(reply.content)

    monkeypatch.setenv("GRATER_TOKEN", bare.write(credentials.make_token, bare.people["manager"].person_id))
    monkeypatch.setenv("GRATER_SERVER", BASE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    script, _ = blocks(GUIDE, "py")
    exec(compile(script, str(GUIDE), "exec"), {})
    printed = capsys.readouterr().out
    assert f"send this to Ann: {BASE}/join/" in printed
    assert "answers were stored" in printed
    assert "judgments.csv" in zipfile.ZipFile("study.zip").namelist()


def test_the_answer_of_every_task_is_taken_unchanged(study: Study) -> None:
    assert set(ANSWERS) == set(study.jobs)
    program = Program(study, "worker")
    for task, sent in ANSWERS.items():
        lease = program.call("next_unit", job_id=study.jobs[task])["lease"]
        while task == "marking" and not lease["text"].startswith("Last"):
            program.call("submit", {"edits": []}, lease_id=lease["lease_id"])
            lease = program.call("next_unit", job_id=study.jobs[task])["lease"]
        assert program.call("submit", json.loads(sent), lease_id=lease["lease_id"])["status"] == "valid", task


def test_a_program_can_tell_who_sent_a_webhook() -> None:
    scope: dict[str, object] = {}
    exec(blocks(GUIDE, "py")[1], scope)
    is_from_grater = scope["is_from_grater"]
    assert is_from_grater("secret", b"{}", signature("secret", b"{}"))  # type: ignore[operator]
    assert not is_from_grater("secret", b"{ }", signature("secret", b"{}"))  # type: ignore[operator]


def test_every_verb_of_the_event_log_is_in_the_table() -> None:
    rows = [f"| {about} | {', '.join(f'`{verb}`' for verb in verbs)} |" for about, verbs in VERBS_ABOUT.items()]
    assert "\n".join(rows) in GUIDE.read_text("utf-8")


HUGE, HALF, NUL = 10**30, "\ud800", "a\0b"
JOB: dict[str, object] = {"name": "a", "task": "error"}
BODIES: dict[str, list[object]] = {
    "/jobs": [
        *([], 7, JOB | {"name": HALF}, JOB | {"kind": HALF}, JOB | {"item_ids": [NUL]}, JOB | {"seed": HUGE}),
        *(JOB | {"most": HUGE}, JOB | {"batch_size": HUGE}, JOB | {"lease_minutes": inf}),
        {"name": "a", "task": "construction", "delay_days": nan},
    ],
    "/jobs/{error}/terms": [
        *({"page": HUGE}, {"pay": {"cents": HUGE}}, {"gold": {"quiz": HUGE}}, {"gold": {"minimum": nan}}),
    ],
    "/jobs/{error}/guidelines": [{"markdown": NUL}],
    "/jobs/{error}/messages": [{"text": NUL}, {"text": " "}],
    "/jobs/{error}/about": [{"country": NUL}],
    "/jobs/{error}/gold": [{"least": HUGE}],
    "/invitations": [{"role": "worker", "days": inf}, {"role": "worker", "name": HALF}],
    "/me/tokens": [{"days": nan}],
    "/runs": [{"kind": "system", "system": "../../etc/passwd"}],
    "/samples": [{"system": "nope", "seed": HUGE}],
    "/seats": [{"members": ["Worker"]}],
}


@pytest.mark.parametrize("path", BODIES)
def test_a_bad_body_is_told_and_changes_nothing(shared: Study, described: Described, path: str) -> None:
    owner = Program(shared, "owner")
    headers = {**owner.headers, "content-type": "application/json"}
    place = API + path.format(**shared.jobs)
    before = owner.get("/events?most=1000")["latest"]
    for body in ("{", *map(json.dumps, BODIES[path])):
        reply = owner.client.post(place, headers=headers, content=body.encode())
        assert reply.status_code in (400, 422), (body, reply.text)
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
    right = {"label": ["ok"]}
    wrong: list[dict[str, object]] = [{"fields": right | {HALF: ["x"]}}, {"fields": {"label": [NUL]}}, {}]
    wrong += [{"fields": right, "seconds": inf}, {"fields": right, "submission_id": NUL}, {"fields": {"label": "ok"}}]
    for body in map(json.dumps, wrong):
        reply = worker.client.post(f"{API}/leases/{lease_id}", headers=headers, content=body.encode())
        assert reply.status_code == 422, body
    assert worker.call("one_lease", lease_id=lease_id)["state"] == "held"
    lease_id = worker.call("next_unit", job_id=shared.jobs["marking"])["lease"]["lease_id"]
    misquoted = {"start": 0, "end": 4, "quote": "Else", "tag": "Wcip", "replacements": ["x"], "comment": ""}
    worker.call("save_draft", {"revision": 0, "edits": [misquoted]}, lease_id=lease_id, status=422)
    worker.call("submit", {"edits": [misquoted]}, lease_id=lease_id, status=422)


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
