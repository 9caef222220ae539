"""A study run by programs alone: every call of the API is used, most with the example of its description.

Whatever comes back is held to the description (`programs`), so that an answer of another shape is red here.
"""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pyotp

from grater.annotate import panels, second_factor
from grater.annotate.evaluation import evaluate_study
from grater.annotate.store.events import VERBS
from grater.uncertainty import Basis
from tests.annotate.web.processes import wait_until
from tests.annotate.web.programs import Crew, Program
from tests.annotate.web.studies import served


def test_programs_run_a_study_and_use_every_call(place: Path | str) -> None:
    with served(place, private_webhooks=True) as study:
        crew = Crew(study)
        themselves(crew)
        files_systems_and_samples(crew)
        a_rating_job(crew)
        a_crowd_job(crew)
        a_marking_job(crew)
        people_come_and_go(crew)
        what_happened(crew)
        assert set(crew.owner.described.calls) - crew.called == set()
        study.require_promises()


def themselves(crew: Crew) -> None:
    worker = crew.worker
    assert worker.call("me")["name"] == "Worker"
    made = worker.call("make_token")
    assert {each["name"] for each in worker.call("my_tokens")["tokens"]} == {"", "nightly export"}
    other = Program(crew.study, token=made["token"])
    worker.call("end_token", token_id=made["token_id"])
    other.call("me", status=401)


def files_systems_and_samples(crew: Crew) -> None:
    manager = crew.manager
    essay = ("new.txt", b"He depends of his aunt in the winter. We met on the bridge at noon.")
    manager.upload("bring_in", {"kind": "corpus"}, essay)
    assert manager.call("import_list")["imports"][0]["name"] == "new.txt"
    run_to_the_end(manager, {"kind": "system", "system": "prep-perceptron"})
    assert manager.call("system_list")["decided"][0]["flagged"] > 0
    assert manager.call("draw_sample")["left"] == 6
    assert manager.call("sample_list")["samples"][0]["items"] == 6
    first = manager.get("/items?most=3")
    rest = manager.get(f"/items?start={first['next']}&most=1000")
    assert len(first["items"]) == 3
    assert rest["next"] is None
    assert len(first["items"]) + len(rest["items"]) == manager.call("one_study")["items"]
    manager.call("item_list")
    assert manager.call("essay_list")["essays"][-1]["text"].startswith("He depends of")
    manager.get("/essay?essay_id=none", 404)
    assert {each["name"] for each in manager.call("task_list")["tasks"]} >= {"error", "marking"}


def a_rating_job(crew: Crew) -> None:
    """Every unit gets two answers, the adjudicator decides one, a manager looks."""
    manager, owner = crew.manager, crew.owner
    job_id = manager.call("make_job")["job_id"]
    manager.call("make_job", status=409)
    assert manager.call("set_state", job_id=job_id)["state"] == "open"
    manager.call("new_guidelines", job_id=job_id)
    assert [each["version"] for each in manager.call("guideline_versions", job_id=job_id)["guidelines"]] == [1, 2]
    (found,) = crew.worker.call("job_list")["jobs"]
    assert crew.worker.call("one_job", job_id=job_id)["done"] == found["done"] == 0
    lease_id = crew.worker.call("next_unit", job_id=job_id)["lease"]["lease_id"]
    crew.worker.call("one_lease", lease_id=lease_id)
    assert crew.worker.call("give_back", lease_id=lease_id)["was_held"] is True
    lease_id = crew.worker.call("next_unit", job_id=job_id)["lease"]["lease_id"]
    assert crew.worker.call("skip", lease_id=lease_id)["was_held"] is True
    first = crew.annotator.call("next_unit", job_id=job_id)["lease"]["lease_id"]
    assert crew.annotator.call("submit", lease_id=first)["status"] == "valid"
    assert crew.annotator.call("submit", lease_id=first)["is_replay"] is True
    other = {"fields": {"label": ["ok"]}, "submission_id": "my-program-000017"}
    crew.annotator.call("submit", other, lease_id=first, status=409)
    assert crew.annotator.call("undo", lease_id=first)["lease"]["lease_id"] != first
    for rater, label in ((crew.worker, "ok"), (crew.annotator, "error"), (owner, "error")):
        rater.answer_all(job_id, label)
    assert manager.call("job_progress", job_id=job_id)["done"] == manager.call("job_progress", job_id=job_id)["units"]
    assert manager.call("job_agreement", job_id=job_id)["labels"]["items"] > 8
    waiting = manager.call("finished_units", job_id=job_id, query="show=undecided")["units"]
    case = manager.call("one_case", unit_id=waiting[0]["unit_id"])
    assert [each["rater"] for each in case["sent"]] == ["A", "B", "C"]
    assert manager.call("decide", unit_id=case["unit_id"])["version"] == 1
    manager.call("decide", unit_id=case["unit_id"], status=409)
    decided = manager.call("finished_units", job_id=job_id, query="show=decided")["units"]
    assert decided == [{"unit_id": case["unit_id"], "differs": True, "is_decided": True}]
    assert manager.call("one_unit", unit_id=case["unit_id"])["decision"]["comment"].startswith("The writer")
    assert len(manager.call("unit_list", job_id=job_id)["units"]) == len(waiting)
    assert len(manager.call("job_judgments", job_id=job_id)["judgments"]) == 3 * len(waiting)
    manager.call("look", job_id=job_id)
    assert manager.call("preview_job")["judgments"] == 3 * len(waiting)
    manager.call("delete_job", job_id=job_id, status=409)
    mistakes(manager)
    named = manager.call("make_job", {"name": "named", "task": "cloze", "annotators": ["Annotator"]})["job_id"]
    assert manager.call("hand_over_units", job_id=named)["units"] == len(waiting)


def run_to_the_end(manager: Program, sent: object = None) -> str:
    """The id of a background task that is done."""
    run_id: str = manager.call("new_run", sent)["run_id"]
    wait_until(lambda: manager.call("one_run", run_id=run_id)["state"] == "done")
    return run_id


def mistakes(manager: Program) -> None:
    """A job that nobody has judged is renamed, archived and deleted, and so is an essay."""
    job_id = manager.call("make_job", {"name": "mistake", "task": "error", "open": False})["job_id"]
    assert manager.call("rename_job", job_id=job_id)["title"] == "Prepositions"
    assert manager.call("archive_job", job_id=job_id)["archived_at"] is not None
    unit_id = manager.call("unit_list", job_id=job_id)["units"][0]["unit_id"]
    manager.call("make_known", unit_id=unit_id)
    assert manager.call("back_to_work", unit_id=unit_id)["role"] == "work"
    manager.call("delete_job", job_id=job_id)
    manager.call("one_job", job_id=job_id, status=404)
    manager.call("delete_one_essay", status=409)  # the other job asks about it
    manager.upload("bring_in", {"kind": "corpus"}, ("wrong.txt", b"A file that was never meant."))
    wrong = manager.call("essay_list")["essays"][-1]["essay_id"]
    manager.call("delete_one_essay", {"essay_id": wrong, "word": "delete"})
    run_id = run_to_the_end(manager)
    runs = {each["run_id"]: each["words"] for each in manager.call("run_list")["runs"]}
    assert runs[run_id] == "The report is ready."
    assert b"Two schools" in manager.call("run_file", run_id=run_id)
    assert manager.call("rename")["name"] == "Prepositions of two schools"


def a_crowd_job(crew: Crew) -> None:
    """Gold from the experts, a rater who misses it and disputes, money, a panel, a program."""
    manager, worker, who = crew.manager, crew.worker, crew.person_id("worker")
    job_id = manager.call("make_job", {"name": "crowd", "task": "error"})["job_id"]
    assert manager.call("make_gold", job_id=job_id)["made"] == 5
    unit_id = manager.call("unit_list", job_id=job_id)["units"][0]["unit_id"]
    assert manager.call("make_known", unit_id=unit_id) == {"made": 1, "met": 0}
    assert manager.call("one_unit", unit_id=unit_id)["known"][0]["accepted"] == ["error"]
    again = manager.call("make_job", {"name": "again", "task": "error", "open": False})["job_id"]
    offered = manager.call("candidate_list", job_id=again)["candidates"]
    assert offered[0]["source"] == "Gold of the job crowd"
    assert offered[0]["accepted"] == ["error"]
    manager.call("make_known", {"role": "gold", "accepted": ["error"]}, unit_id=offered[0]["unit_id"])
    assert manager.call("use_rule", job_id=again)["name"] == "again"
    manager.call("change_terms", job_id=job_id)
    terms = {"gold": {"minimum": 0.0, "least_seen": 4}, "page": 2}
    assert manager.call("change_terms", terms, job_id=job_id)["terms"]["pay"]["cents"] == 7
    assert manager.call("job_terms", job_id=job_id)["odds"]
    assert worker.call("one_job", job_id=job_id)["standing"]["no_work"] == "about"
    worker.call("say_about", job_id=job_id)
    practice = worker.answer_all(job_id, "ok")
    assert worker.call("feedback", lease_id=practice[0])["known"][0]["accepted"] == ["error"]
    assert (len(practice), worker.call("missed", job_id=job_id)["missed"]) == (1, [])
    manager.call("set_state", {"state": "closed"}, job_id=job_id)
    missed = worker.call("missed", job_id=job_id)["missed"]
    sent = {"submission_id": missed[0]["submission_id"], "text": "It can be said."}
    worker.call("dispute", sent, job_id=job_id)
    worker.call("send_message", job_id=job_id)
    worker.call("review", job_id=job_id)
    (dispute,) = manager.call("dispute_list", job_id=job_id)["disputes"]
    assert manager.call("decide_dispute", dispute_id=dispute["dispute_id"])["state"] == "refused"
    gold = manager.call("gold_list", job_id=job_id)["gold"]
    manager.call("set_gold_reason", unit_id=gold[0]["unit_id"])
    manager.call("set_gold_state", unit_id=gold[0]["unit_id"])
    changed = {each["unit_id"]: each for each in manager.call("gold_list", job_id=job_id)["gold"]}
    first = changed[gold[0]["unit_id"]]
    assert (first["state"], first["known"][0]["reason"][:11]) == ("suspended", "One depends")
    assert manager.call("crowd", job_id=job_id)["unread"][0]["name"] == "Worker"
    manager.call("write_to_rater", job_id=job_id, person_id=who)
    assert manager.call("crowd", job_id=job_id)["unread"] == []
    manager.call("write_to_raters", job_id=job_id)
    assert len(worker.call("my_messages", job_id=job_id)["messages"]) == 3
    assert manager.call("change_standing", job_id=job_id, person_id=who)["state"] == "flagged"
    assert manager.call("rater_list", job_id=job_id)["raters"][0]["state"] == "flagged"
    money(crew, job_id, who)
    panel_id = manager.call("new_panel", job_id=job_id)["panel_id"]
    crew.study.write(panels.enter, panel_id, "5f1b")
    assert panel_id in manager.call("signed_links", {"ids": ["5f1b"]}, panel_id=panel_id)["links"]["5f1b"]
    manager.call("place_given_back", panel_id=panel_id)
    (place,) = manager.call("panel_list", job_id=job_id)["panels"][0]["places"]
    assert (place["id"], place["state"]) == ("5f1b", "returned")
    robot = manager.call("new_program", job_id=job_id)
    assert Program(crew.study, token=robot["token"]).call("next_unit", job_id=robot["job_id"])["lease"] is not None


def money(crew: Crew, job_id: str, who: str) -> None:
    manager = crew.manager
    bonus = manager.call("pay_bonus", job_id=job_id, person_id=who)
    assert manager.call("pay_bonus", job_id=job_id, person_id=who) == bonus  # one id is one payment
    other = {"cents": 51, "payment_id": bonus["payment_id"]}
    manager.call("pay_bonus", other, job_id=job_id, person_id=who, status=409)
    assert manager.call("settle_payments", job_id=job_id)["cents"] % 7 == 0
    assert manager.call("settle_payments", job_id=job_id)["cents"] == 0
    assert len(manager.call("payment_list", job_id=job_id)["owed"]) == 1
    assert manager.call("payments_paid", job_id=job_id)["rows"] == 2
    assert manager.call("one_rater", job_id=job_id, person_id=who)["payments"][0]["state"] == "paid"


def a_marking_job(crew: Crew) -> None:
    """Two annotators mark essays; odd marks come back; the differences are decided."""
    manager = crew.manager
    m2 = b"S He depend on her .\nA 1 2|||SVA|||depends|||REQUIRED|||-NONE-|||0\n"
    manager.upload("bring_in", {"kind": "corpus"}, ("marked.m2", m2))
    essay_id = manager.call("essay_list")["essays"][-1]["essay_id"]
    (mark_there,) = manager.call("one_essay", query=f"essay_id={essay_id}")["marks"][0]["edits"]
    assert (mark_there["quote"], mark_there["replacements"]) == ("depend", ["depends"])
    sent = {"name": "essays", "task": "marking", "judgments": 2, "essay_ids": ["essay-1", "essay-2"]}
    job_id = manager.call("make_job", sent)["job_id"]
    for rater, words in ((crew.annotator, "Last"), (crew.worker, "Best")):
        while lease := rater.call("next_unit", job_id=job_id)["lease"]:
            edit = mark(lease["text"], words)
            rater.call("save_draft", lease_id=lease["lease_id"])
            draft = {"revision": 1, "edits": [edit]}
            assert rater.call("save_draft", draft, lease_id=lease["lease_id"])["revision"] == 2
            rater.call("save_draft", {**draft, "edits": []}, lease_id=lease["lease_id"], status=409)
            assert rater.call("one_draft", lease_id=lease["lease_id"])["edits"] == [edit]
            rater.call("submit", {"edits": [edit]}, lease_id=lease["lease_id"])
    assert manager.call("look_over", job_id=job_id)["findings"] > 0
    found = crew.annotator.call("my_findings")["findings"]
    lease = crew.annotator.call("mend", unit_id=found[0]["unit_id"])["lease"]
    assert crew.annotator.call("one_draft", lease_id=lease["lease_id"])["edits"]
    for each in found:
        crew.annotator.call("settle_finding", finding_id=each["finding_id"])
    assert crew.annotator.call("my_findings")["findings"] == []
    own = crew.annotator.call("my_essays", most=1)["essays"][0]
    whole = crew.annotator.call("my_essay", unit_id=own["unit_id"])
    assert (whole["versions"], whole["kept"], whole["marks"][0]["remarks"]) == (1, "", [])
    waiting = manager.call("finished_units", job_id=job_id, query="show=undecided")["units"]
    case = manager.call("one_case", unit_id=waiting[0]["unit_id"])
    (place,) = case["places"]
    assert place["kind"] == "correction"
    edits = place["opinions"][0]["edits"]
    manager.call("decide", {"edits": edits, "version": case["version"]}, unit_id=case["unit_id"])
    decided = manager.call("one_case", unit_id=case["unit_id"])["decision"]
    assert decided["answers"][0]["payload"]["edits"][0]["start"] == edits[0]["start"]


def mark(text: str, words: str) -> dict[str, object]:
    """The first word of an essay, with a correction; the same word again is odd."""
    end = text.index(" ")
    return {"start": 0, "end": end, "quote": text[:end], "tag": "Wcip", "replacements": [words], "comment": ""}


def people_come_and_go(crew: Crew) -> None:
    owner = crew.owner
    made = owner.call("invite")
    assert "/join/" in made["link"]
    assert owner.call("end_invitation", invitation_id=made["invitation_id"])["state"] == "ended"
    back = owner.call("way_back", person_id=crew.person_id("worker"))
    invitations = owner.call("invitation_list")["invitations"]
    assert {each["state"] for each in invitations} == {"ended", "waiting"}
    assert back["link"] not in json.dumps(invitations)
    assert owner.call("new_seat")["kind"] == "joint"
    with crew.study.store.write() as tx:
        annotator = crew.study.people["annotator"]
        second_factor.confirm(tx, annotator, pyotp.TOTP(second_factor.begin(tx, annotator)).at(tx.now // 1000))
    assert owner.call("second_factor_rule") == {"roles": [], "people": [crew.person_id("annotator")]}
    assert owner.call("reset_second_factor", person_id=crew.person_id("annotator"))["name"] == "Annotator"
    assert owner.call("require_second_factor") == {"roles": ["manager"], "people": []}
    assert owner.call("require_second_factor", {"roles": []})["roles"] == []
    assert owner.call("set_role", person_id=crew.person_id("annotator"))["role"] == "adjudicator"
    assert owner.call("set_person_state", person_id=crew.person_id("adjudicator"))["state"] == "ended"
    assert "password" not in json.dumps(owner.call("everybody"))
    assert len(owner.call("everybody")["people"]) == 8  # with the seat, the program and whom the panel sent
    assert owner.get("/people?name=Worker")["people"][0]["role"] == "worker"


def what_happened(crew: Crew) -> None:
    owner = crew.owner
    assert owner.call("public")["check_page"] is False
    assert owner.call("set_public")["check_page"] is True
    hook = owner.call("add_webhook", {"url": "http://127.0.0.1:9/hook"})
    assert owner.call("set_webhook_state", webhook_id=hook["webhook_id"])["state"] == "paused"
    assert hook["secret"] not in json.dumps(owner.call("webhook_list"))
    assert owner.call("audit", query="kind=webhook.added")["events"][0]["person"] == "Owner"
    invitations = owner.call("event_list")
    assert len(invitations["events"]) == 200
    assert owner.get(f"/events?after={invitations['latest']}")["events"][0]["n"] > invitations["latest"]
    assert len(owner.get("/events?verb=dispute.opened&most=1000")["events"]) == 1
    verbs = {event["verb"] for event in owner.get("/events?most=1000")["events"]}
    assert len(verbs) > 30
    assert verbs <= VERBS
    assert b"<html" in owner.call("report")
    systems_against_raters(crew)
    assert "manifest.json" in zipfile.ZipFile(io.BytesIO(owner.call("export"))).namelist()


def systems_against_raters(crew: Crew) -> None:
    """The API says what `grater study evaluate --json` says, of the judgments that were asked for."""
    owner, job = crew.owner, "prepositions"
    whole = owner.call("evaluation", query=f"job={job}")
    with crew.study.store.read() as tx:
        result, these = (
            evaluate_study(tx, "study", job_names=[job], basis=Basis(population=name)).to_dict()
            for name in ("wider", "these")
        )
    assert whole["systems"] == json.loads(json.dumps(result["systems"]))
    assert whole["scope"]["population"] == "wider"
    assert owner.get(f"/evaluation?job={job}&population=these")["scope"] == these["scope"]
    owner.call("evaluation", query="job=nobody's", status=404)
