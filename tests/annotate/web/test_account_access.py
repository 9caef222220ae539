"""P11: access ends with its reason; tokens have an end and a scope; a seat gives nobody more than they have."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from grater.annotate import invitations, jobs, people, trust
from grater.annotate.credentials import give_role, make_token, set_state
from grater.annotate.store import events
from grater.annotate.store.transaction import DAY, MINUTE
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.security import API, scope_allows
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import PASSWORD, Browser, Study

NEW = "something quite new"


def token_of(study: Study, who: str, **options: Any) -> str:
    return study.write(make_token, study.people[who].person_id, **options)


def call(study: Study, token: str, path: str = "/me", body: object = None) -> int:
    """The status of a call: GET without a body, POST with one."""
    headers = {"authorization": f"Bearer {token}"}
    more = {} if body is None else {"json": body}
    method = "GET" if body is None else "POST"
    return int(study.client().request(method, API + path, headers=headers, **more).status_code)  # type: ignore[arg-type]


def seat_for(study: Study, first: str, second: str) -> str:
    return study.write(people.add_seat, [study.people[first].name, study.people[second].name]).person_id


def sat_down(study: Study, who: str, seat_id: str) -> Browser:
    browser = study.browser(who)
    assert browser.post(f"/me/seats/{seat_id}").status_code == 200
    browser.get("/jobs")  # the new session has another token for forms
    return browser


def by_a_new_password(study: Study, who: str) -> None:
    form = {"old": PASSWORD, "password": NEW, "again": NEW}
    assert study.browser(who).post("/me/password", form).status_code == 200


def by_recovery(study: Study, who: str) -> None:
    link = study.write(invitations.invite_back, study.people[who].person_id)
    browser = study.browser()
    browser.get(f"/join/{link}")
    assert browser.post(f"/join/{link}", {"password": NEW, "again": NEW}).status_code == 200


def by_demotion(study: Study, who: str) -> None:
    path = f"/manage/people/{study.people[who].person_id}/role"
    assert study.browser("owner").post(path, {"role": "worker"}).status_code == 200


def by_exclusion(study: Study, who: str) -> None:
    path = f"/people/{study.people[who].person_id}/state"
    assert call(study, token_of(study, "owner"), path, {"state": "ended"}) == 200


def by_ejection(study: Study, who: str) -> None:
    study.write(trust.eject, study.read(jobs.get, study.jobs["error"]), study.people[who].person_id)


ENDINGS = [by_a_new_password, by_recovery, by_demotion, by_exclusion, by_ejection]


@pytest.mark.parametrize("end", ENDINGS)
def test_sessions_tokens_and_seats_end_with_the_access(study: Study, end: Callable[[Study, str], None]) -> None:
    seat_id = seat_for(study, "adjudicator", "manager")
    own = token_of(study, "adjudicator")
    as_seat = token_of_seat(study, "adjudicator", seat_id)
    for_program = program_of(study, "adjudicator")
    browser, together = study.browser("adjudicator"), sat_down(study, "adjudicator", seat_id)
    before = [call(study, token) for token in (own, as_seat, for_program)]
    end(study, "adjudicator")
    assert before == [200, 200, 200]
    assert [call(study, token) for token in (own, as_seat, for_program)] == [401, 401, 401]
    assert [page.get("/jobs").url.path for page in (browser, together)] == ["/login", "/login"]
    with study.store.read() as tx:
        ended = [event for event in events.all(tx) if event.verb == "token.ended"]
    assert len(ended) == 3


@pytest.mark.parametrize("end", [by_demotion, by_exclusion])
def test_links_end_with_their_makers_power_to_make_them(study: Study, end: Callable[[Study, str], None]) -> None:
    manager = study.browser("manager")
    rater = study.people["worker"].person_id
    page = manager.post("/manage/invitations", {"role": "annotator", "number": "1", "days": "14"}).text
    page += manager.post(f"/manage/people/{rater}/back").text
    links = re.findall(r"/join/[\w-]+", page)
    assert "/join/" not in manager.get("/manage/people").text, "shown once"
    stranger = study.browser()
    before = [stranger.get(link).status_code for link in links]
    end(study, "manager")
    assert (len(links), before) == (2, [200, 200])
    assert [stranger.get(link).status_code for link in links] == [404, 404]


def token_of_seat(study: Study, who: str, seat_id: str) -> str:
    """Made while sitting there: the page does not offer it, a form can still be sent."""
    page = sat_down(study, who, seat_id).post("/me/tokens", {"name": "as the seat"}).text
    return str(page.partition('<p class="copy"><code>')[2].partition("</code>")[0])


def program_of(study: Study, who: str) -> str:
    with study.store.write() as tx:
        program = people.add(tx, name="Program", role="worker", kind="program")
        return make_token(tx, program.person_id, made_by=study.people[who].person_id)


def test_the_end_of_a_seat_ends_what_was_made_as_the_seat(study: Study) -> None:
    seat_id = seat_for(study, "annotator", "worker")
    token, browser = token_of_seat(study, "worker", seat_id), sat_down(study, "annotator", seat_id)
    study.write(set_state, seat_id, "ended", actor=study.people["owner"].person_id)
    assert call(study, token) == 401
    assert browser.get("/jobs").url.path == "/login"


def test_a_token_gains_nothing_by_a_promotion(bare: Study) -> None:
    token = token_of(bare, "worker")
    bare.write(give_role, bare.people["worker"].person_id, "manager", actor=bare.people["owner"].person_id)
    assert (call(bare, token), call(bare, token, "/people")) == (200, 403)
    assert call(bare, token_of(bare, "worker"), "/people") == 200  # one made now


def test_a_demoted_member_has_no_more_on_a_seat_than_alone(study: Study) -> None:
    seat_id = seat_for(study, "adjudicator", "manager")
    together = sat_down(study, "manager", seat_id)
    assert together.get("/adjudicate").status_code == 200
    study.write(give_role, study.people["manager"].person_id, "worker", actor=study.people["owner"].person_id)
    assert together.get("/adjudicate").url.path == "/login"
    assert sat_down(study, "manager", seat_id).get("/adjudicate").status_code == 403
    assert sat_down(study, "adjudicator", seat_id).get("/adjudicate").status_code == 403  # it may do what both may
    with study.store.write() as tx:
        give_role(tx, study.people["manager"].person_id, "manager", actor=study.people["owner"].person_id)
        assert people.get(tx, seat_id).role == "worker"  # a promotion gives a seat nothing


def test_a_seat_of_an_older_study_gives_a_demoted_member_no_powers(study: Study) -> None:
    """Where somebody was demoted before seats followed them."""
    seat_id = seat_for(study, "adjudicator", "manager")
    study.write(people.set_role, study.people["manager"].person_id, "worker")
    assert sat_down(study, "manager", seat_id).get("/adjudicate").status_code == 403
    assert sat_down(study, "adjudicator", seat_id).get("/adjudicate").status_code == 200


def test_nobody_sits_down_next_to_somebody_who_is_shut_out(study: Study) -> None:
    seat_id = seat_for(study, "annotator", "worker")
    study.write(set_state, study.people["worker"].person_id, "ended", actor=study.people["owner"].person_id)
    assert study.browser("annotator").post(f"/me/seats/{seat_id}").status_code == 403


def test_a_seat_is_not_raised_above_its_people(study: Study) -> None:
    seat_id, owner = seat_for(study, "annotator", "manager"), study.browser("owner")
    assert owner.post(f"/manage/people/{seat_id}/role", {"role": "adjudicator"}).status_code == 403
    assert owner.post(f"/manage/people/{seat_id}/role", {"role": "worker"}).status_code == 200


def test_a_token_made_by_a_token_passes_on_no_more_than_it_has(bare: Study) -> None:
    short = token_of(bare, "owner", days=1)
    bare.write(give_role, bare.people["manager"].person_id, "owner", actor=bare.people["owner"].person_id)
    longer = Program(bare, token=short).call("make_token", {"days": 300})["token"]
    assert call(bare, longer) == 200
    bare.clock.now += DAY
    assert call(bare, longer) == 401


def test_scopes_keep_a_token_to_its_purpose(study: Study) -> None:
    scopes = {scope: token_of(study, "manager", scope=scope) for scope in ("read", "work", "manage")}
    next_unit, invite = f"/jobs/{study.jobs['error']}/next", {"role": "worker"}
    calls: list[tuple[str, object]] = [("/me", None), ("/people", None), (next_unit, {}), ("/invitations", invite)]
    statuses = {scope: [call(study, token, *each) for each in calls] for scope, token in scopes.items()}
    assert statuses == {"read": [200, 200, 403, 403], "work": [200, 403, 200, 403], "manage": [200, 200, 200, 200]}
    assert [call(study, token, "/me/tokens", {}) for token in scopes.values()] == [403, 403, 200]


def test_scopes_over_the_whole_table_of_routes() -> None:
    for (method, path), roles in ROLES_OF.items():
        assert scope_allows("manage", method, path, roles)
        assert scope_allows("read", method, path, roles) == (method == "GET"), path
        if roles <= {"owner", "manager"}:
            assert not scope_allows("work", method, path, roles), path
        assert not scope_allows("everything", method, path, roles)


def test_tokens_are_listed_with_scope_end_and_last_use(bare: Study) -> None:
    token = token_of(bare, "worker", name="laptop", scope="work", days=10)
    program = Program(bare, token=token)
    (first,) = program.call("my_tokens")["tokens"]
    bare.clock.now += people.USES_NOTED_EVERY - MINUTE  # noted to five minutes: programs ask all day
    (second,) = program.call("my_tokens")["tokens"]
    bare.clock.now += MINUTE
    (third,) = program.call("my_tokens")["tokens"]
    assert (first["scope"], first["name"], first["expires_at"][:10]) == ("work", "laptop", "2027-01-25")
    assert first["used_at"] == second["used_at"] == first["made_at"]
    assert third["used_at"] > second["used_at"]
    page = bare.browser("worker").get("/me").text
    assert "2027-01-25" in page
    assert page.count("never") == 0


def test_a_page_makes_a_token_with_scope_and_end_in_ninety_days_by_default(bare: Study) -> None:
    page = bare.browser("manager").post("/me/tokens", {"name": "x", "scope": "read", "days": "2"}).text
    token = page.partition('<p class="copy"><code>')[2].partition("</code>")[0]
    usual, longer = token_of(bare, "worker"), token_of(bare, "worker", days=366)
    assert (call(bare, token, "/people"), call(bare, token, "/invitations", {"role": "worker"})) == (200, 403)
    bare.clock.now += 2 * DAY
    assert (call(bare, token), call(bare, usual)) == (401, 200)
    bare.clock.now += 88 * DAY
    assert (call(bare, usual), call(bare, longer)) == (401, 200)
    assert bare.browser("manager").post("/me/tokens", {"scope": "rule"}).status_code == 422
