"""Webhooks: signed, told once and in order, again after a failure, only to addresses outside."""

from __future__ import annotations

import json
import threading
from typing import Any

from grater.annotate import jobs
from grater.annotate.store import events
from grater.annotate.study.events import CLAIM_MS, MOST_FAILURES
from grater.annotate.units import FINISHED
from grater.annotate.web.webhooks import Reply, Teller, signature
from tests.annotate.web.json_schema import complaints
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study


class Outside:
    """A program that hears webhooks; `status` is what it answers."""

    def __init__(self) -> None:
        self.heard: list[tuple[dict[str, Any], str]] = []
        self.status = 200

    def __call__(self, url: str, body: bytes, headers: Any) -> Reply:  # noqa: ARG002
        self.heard.append((json.loads(body), headers["x-grater-signature"]))
        self.body = body
        return Reply(self.status)


def told(study: Study) -> tuple[Outside, Teller, Program]:
    object.__setattr__(study.settings, "private_webhooks", True)
    owner = Program(study, "owner")
    made = owner.post("/webhooks", {"url": "http://127.0.0.1:9/hook"})
    assert made["secret"] not in json.dumps(owner.get("/webhooks"))
    outside = Outside()
    outside.secret = made["secret"]  # type: ignore[attr-defined]
    return outside, Teller(study.client().app.state.server, post=outside), owner


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
    described = Program(study, "owner").described.whole
    assert complaints(described["components"]["schemas"]["Told"], body, described) == []
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
        assert events.all_webhooks(tx)[0].state == "paused"


def test_a_webhook_hears_only_what_it_asked_for(study: Study) -> None:
    object.__setattr__(study.settings, "private_webhooks", True)
    Program(study, "owner").post("/webhooks", {"url": "http://127.0.0.1:9/", "verbs": ["job.state"]})
    outside = Outside()
    teller = Teller(study.client().app.state.server, post=outside)
    with study.store.write() as tx:
        jobs.set_state(tx, study.jobs["error"], "paused")
    finish_one(study)
    teller.tell_all()
    assert [body["verb"] for body, _ in outside.heard] == ["job.state"]


def test_a_restart_forgets_no_failure_and_a_webhook_taken_up_again_starts_anew(study: Study) -> None:
    outside, teller, _ = told(study)
    finish_one(study)
    outside.status = 500
    teller.tell_all()
    restarted = Teller(teller.server, post=outside)
    assert (restarted.tell_all(), len(outside.heard)) == (0, 1)
    for _ in range(MOST_FAILURES - 1):
        study.clock.now += 10_000_000
        restarted.tell_all()
    with study.store.write() as tx:
        (paused,) = events.all_webhooks(tx)
        assert paused.state == "paused"
        events.set_webhook_state(tx, paused.webhook_id, "active")
    outside.status = 200
    assert restarted.tell_all() == 1  # at once, though the last failure was a moment ago


def test_a_process_that_stalled_neither_notes_nor_releases_what_another_has_taken_over(study: Study) -> None:
    outside, stalled, _ = told(study)
    finish_one(study)
    is_told, is_late = threading.Event(), threading.Event()

    def tell_at_last(*given: Any) -> Reply:
        is_told.set()
        assert is_late.wait(60)
        return outside(*given)

    def stall(*_: object) -> Reply:
        study.clock.now += CLAIM_MS
        second.start_round()
        assert is_told.wait(60)
        return Reply(500)

    second, third = (Teller(stalled.server, post=post) for post in (tell_at_last, outside))
    stalled.post = stall
    stalled.tell_all()
    third.tell_all()
    assert outside.heard == []  # the second has it still
    is_late.set()
    for telling in second._busy.values():
        telling.join(60)
    with study.store.read() as tx:
        (webhook,) = events.all_webhooks(tx)
        assert [each.state for each in events.deliveries_of(tx, webhook.webhook_id)] == ["delivered"]
    assert len(outside.heard) == 1


def test_a_verb_that_there_is_not_is_answered_with_the_nearest(study: Study) -> None:
    object.__setattr__(study.settings, "private_webhooks", True)
    sent = {"url": "http://127.0.0.1:9/", "verbs": ["submission.store"]}
    told = Program(study, "owner").post("/webhooks", sent, 422)
    assert "Did you mean 'submission.stored'?" in told["error"]["message"]
