"""What one identity or address can cost is bounded: bytes stored, CPU seconds and bytes sent (P16)."""

from __future__ import annotations

import json
from pathlib import Path

from sqlalchemy import func, select

from grater.annotate import credentials
from grater.annotate.store import schema
from grater.annotate.store.intake import MOST_SURPLUS
from tests.annotate.web.studies import Browser, Study, served


def taken(study: Study, task: str, who: str = "worker") -> tuple[Browser, str]:
    browser = study.browser(who)
    path = browser.post(f"/jobs/{study.jobs[task]}/next").url.path
    browser.get(path)
    return browser, path


def bytes_stored(study: Study) -> int:
    with study.store.read() as tx:
        return int(tx.value(select(func.coalesce(func.sum(func.length(schema.submissions.c.body)), 0))))


def test_an_answer_stores_the_fields_of_its_task_and_no_others(study: Study) -> None:
    browser, path = taken(study, "error")
    for sent in ({"label": "ok", "filler": "x" * 100_000}, {"label": ["ok"] * 900}, {"label": "ok", "edits": "[]"}):
        reply = browser.post(path, {**sent, "submission_id": "one"})
        assert reply.status_code == 422
    with study.store.write() as tx:
        key = credentials.make_token(tx, study.people["worker"].person_id)
    sent = {"fields": {"label": ["ok"], "filler": ["x"]}}
    reply = study.client().post(f"/api/v1{path}", json=sent, headers={"authorization": f"Bearer {key}"})
    assert (reply.status_code, "'filler'" in reply.json()["error"]["message"]) == (422, True)
    assert bytes_stored(study) == 0
    assert browser.post(path, {"label": "ok"}).status_code == 200


def test_marks_take_room_by_the_length_of_their_essay(study: Study) -> None:
    browser, path = taken(study, "marking")
    mark = {"start": 0, "end": 0, "quote": "", "tag": "Others", "replacements": ["x"], "comment": "y" * 1999}
    many = json.dumps([mark] * 20)
    assert browser.post(path, {"edits": many}).status_code == 422
    headers = {"origin": "http://testserver", "x-csrf-token": browser.csrf}
    for edits in (json.loads(many), [mark | {"filler": "x"}]):
        body = {"revision": 0, "body": {"edits": edits, "set_aside": False}}
        assert browser.client.put(f"{path}/draft", json=body, headers=headers).status_code == 422
    assert bytes_stored(study) == 0
    assert browser.post(path, {"edits": json.dumps([mark])}).status_code == 200


def test_a_lease_takes_few_surplus_answers(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        browser, path = taken(study, "error")
        statuses = [browser.post(path, {"label": "ok", "submission_id": f"s{n}"}).status_code for n in range(7)]
        assert statuses == [200] * (1 + MOST_SURPLUS) + [409] * (6 - MOST_SURPLUS)
        assert browser.post(path, {"label": "ok", "submission_id": "s0"}).status_code == 200, "a replay is no answer"
        with study.store.read() as tx:
            assert tx.value(select(func.count()).select_from(schema.submissions)) == 1 + MOST_SURPLUS
