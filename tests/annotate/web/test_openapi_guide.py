"""docs/api.md as a programmer uses it: its script runs, its answers are taken, its verbs are all there are."""

from __future__ import annotations

import io
import json
import re
import urllib.request
import zipfile
from email.message import Message
from pathlib import Path
from urllib.error import HTTPError

import pytest

from grater.annotate import credentials
from grater.annotate.store.events import VERBS_ABOUT
from grater.annotate.webhooks import signature
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import BASE, Study
from tests.test_docs import blocks

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "api.md"
ANSWERS = dict(re.findall(r"^\| `(\w+)` \| `(\{.+\})` \|$", PAGE.read_text("utf-8"), re.M))


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

    with bare.store.write() as tx:
        monkeypatch.setenv("GRATER_TOKEN", credentials.make_token(tx, bare.people["manager"].person_id))
    monkeypatch.setenv("GRATER_SERVER", BASE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(urllib.request, "urlopen", urlopen)
    script, _ = blocks(PAGE, "py")
    exec(compile(script, str(PAGE), "exec"), {})
    printed = capsys.readouterr().out
    assert f"send this to Ann: {BASE}/join/" in printed
    assert "answers were stored" in printed
    assert "judgments.csv" in zipfile.ZipFile("study.zip").namelist()


@pytest.mark.parametrize("task", sorted(ANSWERS))
def test_the_answer_of_every_task_is_taken_unchanged(study: Study, task: str) -> None:
    program, body = Program(study, "worker"), json.loads(ANSWERS[task])
    lease = program.call("next_unit", job_id=study.jobs[task])["lease"]
    while task == "marking" and not lease["text"].startswith("Last"):
        program.call("submit", {"edits": []}, lease_id=lease["lease_id"])
        lease = program.call("next_unit", job_id=study.jobs[task])["lease"]
    assert program.call("submit", body, lease_id=lease["lease_id"])["status"] == "valid"


def test_there_is_an_answer_for_every_task(study: Study) -> None:
    assert set(ANSWERS) == set(study.jobs)


def test_a_program_can_tell_who_sent_a_webhook() -> None:
    scope: dict[str, object] = {}
    exec(blocks(PAGE, "py")[1], scope)
    is_from_grater = scope["is_from_grater"]
    assert is_from_grater("secret", b"{}", signature("secret", b"{}"))  # type: ignore[operator]
    assert not is_from_grater("secret", b"{ }", signature("secret", b"{}"))  # type: ignore[operator]


def test_every_verb_of_the_event_log_is_in_the_table() -> None:
    rows = [f"| {about} | {', '.join(f'`{verb}`' for verb in verbs)} |" for about, verbs in VERBS_ABOUT.items()]
    assert "\n".join(rows) in PAGE.read_text("utf-8")
