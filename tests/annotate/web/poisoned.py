"""A study in which every text that people or systems write is hostile, each with a mark of its own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlencode

from grater.annotate import (
    adjudication,
    content,
    credentials,
    gold,
    invitations,
    jobs,
    judgments,
    marks,
    messages,
    money,
    panels,
    people,
    runs,
    trust,
    units,
    webhooks,
)
from grater.annotate.importing import start_import
from grater.annotate.people import Person
from grater.annotate.store import Store, Tx
from grater.annotate.submissions import desk_of, hand_in, take_next
from grater.annotate.tasks import Answer
from grater.annotate.web.work import last_page
from grater.model import Decision, Essay, Item, Json, Span

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'>{{7**12}}"
LIVE = re.compile(r"<script>alert|<img src=x|onerror=alert\(2\)>|13841287201")
MARK = re.compile(r"~([a-z]+)~")
CROWD: dict[str, Json] = {"gold": {"minimum": 0.5, "least_seen": 9, "quiz": 2}, "page": 5, "pay": {"cents": 7}}


def evil(what: str) -> str:
    return f"{EVIL}~{what}~"


ESSAY = f"One {evil('essay')} before. Two of them here."
PLACE = Item(evil("id"), Span(ESSAY.index("of them"), ESSAY.index("of them") + 2), "prep")
WHOLE = Item(evil("id"), Span(0, len(ESSAY)), "essay")
SUGGESTED: dict[str, Json] = {"suggestion": evil("suggestion")}


@dataclass(frozen=True, slots=True)
class Poisoned:
    """`ids` are by the names that they have in addresses of pages."""

    owner: Person
    rater: Person
    guest_id: str
    ids: dict[str, list[str]]


def poisoned(store: Store) -> Poisoned:
    with store.write() as tx:
        owner = people.add(tx, name=evil("owner"), role="owner")
        raters = [people.add(tx, name=f"{evil('rater')}{n}", role="worker") for n in range(2)]
        people.add_seat(tx, [owner.name, raters[1].name], name=evil("seat"))
        content.add_essays(tx, [Essay(evil("id"), ESSAY)])
        content.add_items(tx, [content.study_item(PLACE, payload=SUGGESTED), content.study_item(WHOLE)])
        content.add_decisions(tx, [Decision(PLACE.item_id, evil("system"), True, 0.9, "", evil("suggestion"))])
        rated, marked, crowd = _job(tx, "verify", PLACE), _job(tx, "marking", WHOLE), _job(tx, "error", PLACE)
        _gold(tx, crowd)
    for rater, words in zip(raters, ("Two of them", "Two"), strict=True):
        _answer(store, rated, rater, {"label": ["both fine"]})
        _answer(store, marked, rater, {"edits": [json.dumps([_mark(words)])]})
    practice, _ = ([_answer(store, crowd, rater, {"label": ["ok"]}) for rater in raters] for _ in range(2))
    with store.write() as tx:
        panel_id, guest_id = _crowd(tx, crowd, owner, raters[0])
        (rated_unit,), (marked_unit,) = units.ids_of_job(tx, rated), units.ids_of_job(tx, marked)
        token = _rest(tx, owner, rated_unit, marked_unit)
        run_id = _run(tx, owner)
        signature = last_page(tx, raters[0].person_id, practice[0]).rpartition("/")[2]
    ids = {
        "job_id": [rated, marked, crowd],
        "unit_id": [rated_unit, marked_unit],
        "lease_id": practice[:1],
        "person_id": [raters[0].person_id],
        "panel_id": [f"{panel_id}?{urlencode({'PROLIFIC_PID': evil('place'), 'STUDY_ID': evil('place')})}"],
        "token": [token],
        "run_id": [run_id],
        "signature": [signature],
    }
    return Poisoned(owner, raters[0], guest_id, ids)


def _job(tx: Tx, task: str, item: Item) -> str:
    options = {"crowd": CROWD | {"pilot": evil("pilot")}} if task == "error" else {}
    name = f"{evil('job')}{task}"
    job = jobs.add(tx, name=name, task=task, title=evil("title"), judgments=2, options=options)
    jobs.add_guidelines(tx, job.job_id, evil("guidelines"))
    units.add_all(tx, job.job_id, [units.NewUnit(((item.item_id, SUGGESTED),), item.essay_id)])
    return jobs.set_state(tx, job.job_id, "open").job_id


def _gold(tx: Tx, job_id: str) -> None:
    roles: tuple[units.Role, ...] = ("practice", "gold", "gold", "gold")
    new = [units.NewUnit(((PLACE.item_id, {}),), PLACE.essay_id, role=role) for role in roles]
    for unit_id in units.add_all(tx, job_id, new):
        gold.add(tx, unit_id, PLACE.item_id, ["error"], reason=evil("reason"))


def _mark(words: str) -> dict[str, Json]:
    start = ESSAY.index(words)
    others: dict[str, Json] = {"tag": "Wcip", "replacements": [evil("correction")], "comment": evil("comment")}
    return {"start": start, "end": start + len(words), "quote": words, **others}


def _answer(store: Store, job_id: str, rater: Person, fields: dict[str, list[str]]) -> str:
    """Answer the next unit; give the lease."""
    lease = take_next(store, job_id=job_id, person_id=rater.person_id)
    with store.read() as tx:
        desk = desk_of(tx, lease.lease_id, person_id=rater.person_id)
    hand_in(store, desk, fields, seconds=3)
    return lease.lease_id


def _crowd(tx: Tx, job_id: str, owner: Person, rater: Person) -> tuple[str, str]:
    """Disputes after the end, talk, money, and a panel with a guest."""
    jobs.set_state(tx, job_id, "closed")
    missed = [row for each in units.ids_of_job(tx, job_id, role="gold") for row in judgments.of_unit(tx, each)]
    made = [
        trust.open_dispute(tx, str(row.submission_id), person_id=row.person_id, text=evil("dispute"))
        for row in missed
    ]
    mine = next(each for each in made if each.person_id == rater.person_id)
    trust.decide_dispute(tx, mine.dispute_id, is_granted=False, answer=evil("answer"))
    write = partial(messages.send, tx, job_id=job_id)
    write(from_id=rater.person_id, text=evil("message"))
    write(from_id=owner.person_id, to_id=rater.person_id, text=evil("letter"))
    messages.review_job(tx, job_id, messages.NewReview(stars=1, text=evil("review")), person_id=rater.person_id)
    money.bonus(tx, jobs.get(tx, job_id), rater.person_id, money.NewBonus(cents=5, note=evil("note")))
    codes = {"completed": evil("code"), "screened-out": evil("code")}
    new = panels.NewPanel.checked(provider="prolific", codes=codes, unsigned=True)
    panel_id = panels.add(tx, job_id, new).panel_id
    place = panels.enter(tx, panel_id, evil("place"))
    panels.set_state(tx, place, "screened-out", actor=None)
    return panel_id, place.person_id


def _rest(tx: Tx, owner: Person, rated: str, marked: str) -> str:
    """A decision, a finding, a file, a webhook, a token; give that of an invitation."""
    answers = [Answer(PLACE.item_id, "both fine")]
    adjudication.save(tx, unit_id=rated, person_id=owner.person_id, answers=answers, comment=evil("decision"))
    marks.add_findings(tx, [marks.Finding("", marked, owner.person_id, "rule", evil("finding"), 0, 3)])
    start_import(tx, kind="corpus", name=evil("file"), sha256="0")
    webhooks.add(tx, url=f"https://example.org/{evil('webhook')}", verbs=[evil("verb")])
    credentials.make_token(tx, owner.person_id, name=evil("token"))
    return invitations.make(tx, role="worker", name=evil("invitation"))


def _run(tx: Tx, owner: Person) -> str:
    """Work in the background that is done and made a file; what stands in the file is not a page of the server."""
    runs.add(tx, "report", evil("run"), {}, actor=owner.person_id)
    run = runs.claim(tx)
    runs.finish(tx, run, words=evil("outcome"), files=[runs.RunFile("report.html", b"<p>A report</p>")])
    return run.run_id
