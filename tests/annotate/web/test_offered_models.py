"""Language models that the owner of a server offers: nothing is asked before somebody agrees, nobody gets a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import content, runs
from tests.annotate.web.studies import Study, served
from tests.chat_server import serving
from tests.cli.running import grater
from tests.cli.test_chat_loop import answer


def test_no_form_and_no_call_reaches_an_address_that_the_owner_has_not_named(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(answer) as elsewhere:
        browser, system = study.browser("manager"), f"gpt=chat:{elsewhere.url}#tiny"
        for form in ({"agreed": "1"}, {"agreed": ""}):
            reply = browser.post("/manage/detector", {"source": "ours", "system": system, **form})
            assert reply.status_code == 422
        assert browser.post("/manage/systems", {"system": system}).status_code == 422
        assert not elsewhere.requests
    with study.store.read() as tx:
        assert not runs.latest(tx, most=1)


def test_a_model_over_its_limit_stops_with_the_reason_and_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(answer) as model:
        chat = {"most_requests": 1, "cache": str(tmp_path / "answers.jsonl")}
        with served(tmp_path, systems=(f"gpt=chat:{model.url}#tiny",), chat=chat, wait_seconds=60) as study:
            browser, form = study.browser("manager"), {"source": "ours", "system": "gpt"}
            for page in ("/manage/detector", "/manage/systems"):
                assert "At most 1 request." in browser.post(page, form).text
            assert not model.requests
            reply = browser.post("/manage/detector", {**form, "agreed": "1"})
            assert "the limit of 1 request is reached" in reply.text
            with study.store.read() as tx:
                assert content.system_names(tx) == []
        assert len(model.requests) == 1


def test_models_at_two_hosts_with_one_key_are_refused_at_the_start(
    study: Study, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "secret")
    offers = [word for name in ("a", "b") for word in ("--offer", f"{name}=chat:https://{name}.example/v1#tiny")]
    ran = grater(capsys, "serve", study.store.name, *offers, "--key-env", "MODEL_KEY")
    assert ran.status == 2
    assert "one key is for one host" in ran.err
