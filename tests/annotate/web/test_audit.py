"""Audit log: filtered by person, kind, day and job, exported, for managers; the same through every door."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import audit, jobs, people
from grater.annotate.credentials import give_role, set_state
from grater.annotate.store import events
from grater.annotate.store.transaction import DAY
from grater.annotate.submissions import take_next
from grater.annotate.web.security import API
from tests.annotate.web.studies import Study
from tests.cli.running import grater


@pytest.fixture
def busy(study: Study) -> Study:
    """Two days: a role and a state by the owner, then work in one of two jobs by a worker."""
    owner, worker = study.people["owner"].person_id, study.people["worker"].person_id
    with study.store.write() as tx:
        people.add(tx, name="=1+1", role="worker", actor=owner)
        give_role(tx, study.people["annotator"].person_id, "adjudicator", actor=owner)
    study.clock.now += DAY
    with study.store.write() as tx:
        set_state(tx, study.people["adjudicator"].person_id, "ended", actor=owner)
        jobs.set_state(tx, study.jobs["usage"], "paused", actor=owner)
    take_next(study.store, job_id=study.jobs["error"], person_id=worker)
    return study


FILTERS: list[tuple[dict[str, str], list[str]]] = [
    ({"person": "Owner"}, ["job.state", "person.state", "person.role", "person.added"]),
    ({"person": "Worker"}, ["lease.taken"]),
    ({"person": "Owner", "kind": "people"}, ["person.state", "person.role", "person.added"]),
    ({"person": "Owner", "kind": "person.role"}, ["person.role"]),
    ({"person": "Owner", "kind": "job"}, ["job.state"]),
    ({"person": "Owner", "since": "2027-01-16"}, ["job.state", "person.state"]),
    ({"person": "Owner", "until": "2027-01-15"}, ["person.role", "person.added"]),
    ({"job": "error", "since": "2027-01-16"}, ["lease.taken"]),
    ({"job": "usage", "since": "2027-01-16"}, ["job.state"]),
    ({"person": "Annotator"}, []),
    ({"search": "=1+1"}, ["person.added"]),
    ({"search": "USAGE", "since": "2027-01-16"}, ["job.state"]),
    ({"search": "100 %"}, []),
]


def by_api(study: Study, asked: dict[str, str], *, who: str = "manager", status: int = 200) -> Any:
    reply = study.client().get(f"{API}/audit", params=asked, headers=study.bearer(who))
    assert reply.status_code == status, reply.text
    return reply.json()


def test_every_door_shows_what_is_asked(busy: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manager = busy.browser("manager")
    for asked, verbs in FILTERS:
        assert [event["verb"] for event in by_api(busy, asked)["events"]] == verbs, asked
        rows = list(csv.DictReader(io.StringIO(manager.get("/manage/audit.csv", params=asked).text)))
        assert [row["verb"] for row in rows] == verbs
        page = manager.get("/manage/audit", params=asked).text
        assert [page.count(f"<code>{verb}</code>") for verb in verbs] == [1] * len(verbs)
        options = [part for name, value in asked.items() for part in (f"--{name}", value)]
        ran = grater(capsys, "study", "audit", tmp_path / "study.db", *options, "--json")
        assert [event["verb"] for event in json.loads(ran.out)["events"]] == verbs


def test_an_entry_says_who_did_what_to_whom_to_managers_alone_and_no_cell_is_a_formula(busy: Study) -> None:
    (event,) = by_api(busy, {"kind": "person.role"})["events"]
    assert (event["person"], event["role"], event["about"]) == ("Owner", "owner", "Annotator")
    assert event["payload"] == {"role": "adjudicator"}
    assert "Annotator" in busy.browser("owner").get("/manage/audit?kind=person.role").text
    text = busy.browser("manager").get("/manage/audit.csv?kind=person.added").text
    assert "=1+1" in text
    assert not any(row["about"].startswith("=") for row in csv.DictReader(io.StringIO(text)))
    for who in ("worker", "annotator"):
        by_api(busy, {}, who=who, status=403)
        assert busy.browser(who).get("/manage/audit.csv").status_code == 403


def test_long_logs_come_by_pages_and_whole_in_a_file(
    busy: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit, "PORTION", 4)
    with busy.store.read() as tx:
        numbers = [event.n for event in events.all(tx)][::-1]
    seen: list[int] = []
    before: dict[str, int] = {}
    manager = busy.browser("manager")
    for _ in range(3):
        page = manager.get("/manage/audit", params={"most": 3, **before}).text
        seen += [number for number in numbers if f'data-label="Number">{number}</td>' in page]
        before = {"before": seen[-1]}
    assert seen == numbers[:9]
    first = by_api(busy, {"most": "2", "person": "Owner"})
    rest = by_api(busy, {"most": "2", "person": "Owner", "before": str(first["next"])})
    assert ([event["verb"] for event in rest["events"]], rest["next"]) == (["person.role", "person.added"], None)
    assert grater(capsys, "study", "audit", tmp_path / "study.db", "--out", tmp_path / "log.jsonl").status == 0
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines][-len(numbers) :] == numbers


def test_what_is_not_there_is_one_line(bare: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("kind", "nonsense"), ("since", "yesterday"), ("person", "Nobody"), ("job", "none")):
        status = 404 if name in ("person", "job") else 422
        assert "\n" not in by_api(bare, {name: value}, status=status)["error"]["message"]
        page = bare.browser("manager").get("/manage/audit", params={name: value})
        assert (page.status_code, "Audit log" in page.text) == (422, True)
        assert grater(capsys, "study", "audit", tmp_path / "study.db", f"--{name}", value).status == 2
