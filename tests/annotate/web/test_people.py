"""Joint seats (T&C 2008, 6.2), and two requests that meet at the worst moment, on either engine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import content, credentials, invitations, judgments, people, standing
from grater.annotate.store import Store, checks, events
from grater.annotate.submissions import take_next
from grater.annotate.web import context
from grater.model import Decision
from tests.annotate.store.races import interrupted
from tests.annotate.web.programs import Described
from tests.annotate.web.studies import PASSWORD, PASSWORD_HASH, Study, add_job, places, served
from tests.annotate.web.test_account import log_in
from tests.annotate.web.test_work import FILLED, answer, start


def seat_of(study: Study, first: str = "annotator", second: str = "worker") -> str:
    """A seat made by a manager; give its id."""
    manager = study.browser("manager")
    pair = [study.people[first].name, study.people[second].name]
    assert manager.post("/manage/seats", {"members": pair}).status_code == 200
    return study.read(people.named, " and ".join(pair)).person_id


def test_either_of_the_two_sits_down_nobody_else_does_and_the_judgment_is_the_seats(study: Study) -> None:
    seat_id = seat_of(study)
    browser, other, stranger = study.browser("worker"), study.browser("adjudicator"), study.browser()
    page = browser.get("/me").text
    assert all(words in page for words in ("Annotator and Worker", "Current password", "Create a token"))
    page = browser.post(f"/me/seats/{seat_id}")
    assert (page.url.path, "You are using a joint seat" in page.text) == ("/jobs", True)
    page = browser.get("/me").text
    assert "Annotator and Worker" in page
    assert not any(words in page for words in ("Current password", "Create a token"))
    assert other.post(f"/me/seats/{seat_id}").status_code == 404
    stranger.get("/login")
    assert stranger.post("/login", {"name": "Annotator and Worker", "password": ""}).status_code == 401
    answer(browser, start(browser, study, "error"), FILLED["error"])
    with study.store.read() as tx:
        (row,) = judgments.table(tx, study.jobs["error"], names=True)
        assert (row["rater"], row["kind"]) == ("Annotator and Worker", "joint")
        assert standing.n_answered(tx, study.jobs["error"], study.people["worker"].person_id) == 0
        assert checks.violations(tx) == []


def test_the_same_head_is_not_asked_alone_and_on_the_seat(study: Study) -> None:
    alone, together = study.browser("annotator"), study.browser("worker")
    answer(alone, start(alone, study, "error"), FILLED["error"])
    start(alone, study, "cloze")
    together.post(f"/me/seats/{seat_of(study)}")
    assert start(together, study, "error").endswith("/done")
    assert start(together, study, "cloze").endswith("/done"), "nor with a unit in hand alone"
    path = start(together, study, "usage")
    assert path.startswith("/leases/")  # where neither worked alone
    answer(together, path, FILLED["usage"])
    assert start(study.browser("annotator"), study, "usage").endswith("/done")


def test_a_seat_of_two_managers_cannot_manage(study: Study) -> None:
    seat_id = seat_of(study, "owner", "manager")
    browser = study.browser("owner")
    browser.post(f"/me/seats/{seat_id}")
    assert browser.get("/adjudicate").status_code == 200
    assert browser.get("/manage").status_code == 403


NEW = "something quite new"


@pytest.fixture
def bare(place: Path | str) -> Iterator[Study]:
    with served(place) as found:
        yield found


def test_a_login_with_the_old_password_does_not_outlive_the_new_one(bare: Study) -> None:
    intruder, person = bare.browser(), bare.browser("worker")
    form = {"old": PASSWORD, "password": NEW, "again": NEW}
    interrupted(
        bare.store,
        lambda: log_in(intruder),
        lambda: person.post("/me/password", form).status_code,
        before="INSERT INTO sessions",
    )
    assert "Log in" in intruder.get("/jobs").text
    assert "Log out" in person.get("/jobs").text


def test_of_two_new_passwords_at_once_the_second_is_refused(bare: Study) -> None:
    one, two = bare.browser("worker"), bare.browser("worker")
    forms = [{"old": PASSWORD, "password": new, "again": new} for new in (NEW, "something else again")]
    interrupted(
        bare.store,
        lambda: one.post("/me/password", forms[0]).status_code,
        lambda: two.post("/me/password", forms[1]).status_code,
        before="UPDATE people",
    )
    assert log_in(bare.browser(), password=NEW) == 200


@pytest.mark.parametrize(
    ("path", "before"),
    [
        ("/me/tokens", "INSERT INTO tokens"),
        ("/manage/invitations", "INSERT INTO invitations"),
        ("/me/seats/{seat}", "INSERT INTO sessions"),
    ],
)
def test_what_an_intruder_gets_while_their_access_ends_ends_with_it(bare: Study, path: str, before: str) -> None:
    victim = bare.people["manager"]
    joint = bare.write(people.add_seat, [victim.name, "Adjudicator"])
    intruder = bare.browser("manager")

    def end() -> None:
        bare.write(credentials.set_state, victim.person_id, "ended", actor=bare.people["owner"].person_id)
        bare.write(credentials.set_state, victim.person_id, "active", actor=bare.people["owner"].person_id)

    form = {"role": "annotator", "name": "of the intruder"}
    interrupted(bare.store, lambda: intruder.post(path.format(seat=joint.person_id), form), end, before=before)
    with bare.store.read() as tx:
        assert credentials.all_tokens(tx) == []
        assert [each for each in invitations.all(tx) if each.ended_at is None] == []
    assert "Log in" in intruder.get("/jobs").text


@pytest.mark.parametrize(("change", "to"), [("role", "worker"), ("role", "manager"), ("state", "ended")])
def test_of_two_owners_who_demote_each_other_one_stays(bare: Study, change: str, to: str) -> None:
    with bare.store.write() as tx:
        more = [people.add(tx, name=name, role="owner", password_hash=PASSWORD_HASH) for name in ("Other", "Third")]
    mine, theirs = bare.people["owner"].person_id, more[0].person_id
    one, two, form = bare.browser("owner"), bare.browser("Other"), {change: to}
    first, second = interrupted(
        bare.store,
        lambda: one.post(f"/manage/people/{theirs}/{change}", form).status_code,
        lambda: two.post(f"/manage/people/{mine}/{change}", form).status_code,
        before="UPDATE people",
    )
    assert sorted((first, second.result())) == [200, 403]
    assert len(bare.write(people.owners)) == 2


WORK = {"next_unit", "submit"}
"""Raters wait for these: whether their access ended is asked as they are let in, and their state as it is stored."""


def test_no_call_changes_anything_if_access_ended_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(tmp_path, tasks=["error"], private_webhooks=True) as study:
        names = known_names(study)
        let_decide(study.store, "prep-perceptron")
        monkeypatch.setattr(context, "_who", let_in_and_remove(study))
        described = Described(study)
        with study.store.read() as tx:
            known = len(list(events.all(tx)))
        refused = set()
        for name, (method, path, _) in described.calls.items():
            if method == "GET" or name in WORK:
                continue
            body = (described.body_of(name) or {}).get("examples", [{}])[0]
            place = re.sub(r"{(\w+)}", lambda match: names.get(match[1], "none"), path)
            headers = study.bearer("owner")
            if study.client().request(method, place, json=body, headers=headers).status_code == 403:
                refused.add(name)
        with study.store.read() as tx:
            verbs = {event.verb for event in list(events.all(tx))[known:]}
    assert verbs == {"token.made", "token.ended"}  # the askers' own
    assert refused >= {"make_job", "draw_sample", "new_run", "give_back", "skip"}
    assert len(refused) >= 50


def let_decide(store: Store, system: str) -> None:
    """Decisions on every preposition, a third of them flags, of which samples can be drawn."""
    flags = [(place.item_id, number % 3 == 0) for number, place in enumerate(places())]
    with store.write() as tx:
        content.add_items(tx, [content.study_item(place) for place in places()])
        content.add_decisions(tx, [Decision(item_id=each, system=system, flagged=flag) for each, flag in flags])


def known_names(study: Study) -> dict[str, str]:
    """What paths name: things that are there, so that a call gets as far as to change them."""
    job_id, owner_id = study.jobs["error"], study.people["owner"].person_id
    lease = take_next(study.store, job_id=job_id, person_id=owner_id)
    names = {"job_id": job_id, "unit_id": study.units_of(job_id)[0], "lease_id": lease.lease_id}
    return {**names, "person_id": study.people["worker"].person_id}


def let_in_and_remove(study: Study) -> Callable[..., context.Access | None]:
    """Who came, as the server knows them; their access ends as soon as it has looked."""
    look = context._who

    def look_and_end(*args: Any) -> context.Access | None:
        access = look(*args)
        if access is not None:
            study.write(credentials.end_access, access.human_id)
        return access

    return look_and_end


@pytest.mark.parametrize("path", ["/leases/{lease}", "/jobs/{job}/next"])
def test_a_rater_who_is_shut_out_while_they_answer_or_ask_gets_nothing_stored(bare: Study, path: str) -> None:
    worker = bare.people["worker"]
    job_id = bare.write(add_job, "error")
    lease = take_next(bare.store, job_id=job_id, person_id=worker.person_id) if "lease" in path else None
    place = path.format(lease=lease.lease_id if lease else "", job=job_id)

    def end() -> None:
        bare.write(credentials.set_state, worker.person_id, "ended", actor=bare.people["owner"].person_id)

    rater = bare.browser("worker")
    interrupted(bare.store, lambda: rater.post(place, {"label": "ok"}), end, before="SELECT .*people")
    with bare.store.read() as tx:
        verbs = [event.verb for event in events.all(tx) if event.actor == worker.person_id]
        state = people.get(tx, worker.person_id).state
    late = [verb for verb in verbs if verb in ("submission.stored", "lease.taken")][lease is not None :]
    assert state == "ended"
    assert late == [] or not bare.store.is_postgres  # on SQLite the rater was first


def test_a_slow_form_does_not_outlive_the_access_of_its_sender(bare: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "SLOW_SECONDS", 0.0)
    monkeypatch.setattr(context, "_who", let_in_and_remove(bare))
    job_id = bare.write(add_job, "error")
    assert bare.browser("worker").post(f"/jobs/{job_id}/next").status_code == 403


def test_a_nul_in_an_address_is_nobodys_fault_but_the_askers(bare: Study) -> None:
    manager = bare.browser("manager")
    for path in ("/leases/%00", "/adjudicate/%00", "/manage/jobs/%00"):
        assert manager.get(path).status_code in (404, 422), path
