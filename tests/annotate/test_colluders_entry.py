"""Many identities of one person at a panel's door: ids made up and replayed, forged links, codes without work."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import gold, jobs, panels, people, units
from grater.annotate.store import events, schema
from grater.annotate.store.transaction import DAY, HOUR, MINUTE
from grater.annotate.web import security
from grater.model import Json
from tests.annotate.web.client import Client
from tests.annotate.web.studies import BASE, CHEAP_HASHER, Browser, Study, new_units, served
from tests.annotate.web.test_crowd import begin
from tests.annotate.web.test_work import answer

ONE, OTHER = "192.0.2.7", "198.51.100.9"
QUIZ: dict[str, Json] = {"gold": {"minimum": 0.6, "least_seen": 3, "quiz": 2}, "page": 3}


@pytest.fixture
def study(place: Path | str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr(security, "HASHER", CHEAP_HASHER)
    with served(place) as found:
        yield found
        found.require_promises()


def six_units(study: Study, terms: dict[str, Json], *, n_gold: int = 0) -> str:
    """An open job with six units of work, one judgment each, and gold that accepts `error`."""
    with study.store.write() as tx:
        job = jobs.add(tx, name="six", task="error", judgments=1, options={"crowd": terms}, lease_minutes=30)
        found = new_units(tx, "error")
        units.add_all(tx, job.job_id, found[:6])
        for new in found[6 : 6 + n_gold]:
            (unit_id,) = units.add_all(tx, job.job_id, [units.NewUnit(new.items, new.essay_id, role="gold")])
            gold.add(tx, unit_id, new.items[0][0], ["error"])
        return jobs.set_state(tx, job.job_id, "open").job_id


def call(study: Study, path: str, body: dict[str, Any]) -> Any:
    return study.client().post(f"/api/v1{path}", json=body, headers=study.bearer("manager")).json()


def new_panel(study: Study, job_id: str, **options: object) -> Any:
    codes = {"completed": "DONE-1", "failed": "FAIL-1", "screened-out": "OUT-1"}
    return call(study, f"/jobs/{job_id}/panels", {"provider": "generic", "codes": codes, **options})


def come(study: Study, panel: Any, address: str = ONE, **link: str) -> tuple[Browser, Any]:
    """Somebody opens a panel's link and presses the button, a few seconds after the one before."""
    study.clock.now += 7_000
    browser = Browser(Client(study.client().app, base_url=BASE, address=address))
    browser.get("/login")  # a page with a form, for who is refused at the door
    browser.get(f"/p/{panel['panel_id']}", params=link)
    return browser, browser.post(f"/p/{panel['panel_id']}", link)


def n_raters(study: Study) -> int:
    return sum("panel" in person.payload for person in study.read(people.all))


def work_through(rater: Browser, job_id: str, label: str = "error", *, most: int = 99) -> Any:
    """Answer until there is nothing more; the last page."""
    reply, path = None, begin(rater, job_id)
    while path.startswith("/leases/") and most:
        reply, most = answer(rater, path, {"label": label}), most - 1
        path = reply.url.path
    return reply


def test_thirty_made_up_ids_from_one_address_are_five_raters_a_day(study: Study) -> None:
    job_id = six_units(study, QUIZ, n_gold=4)
    panel = new_panel(study, job_id, unsigned=True)
    assert "make up IDs" in panel["warning"]
    statuses = []
    for number in range(30):
        browser, reply = come(study, panel, id=f"made-up-{number}")
        statuses.append(reply.status_code)
        if number < 2:  # a failed quiz gives nothing back
            assert "FAIL-1" in work_through(browser, job_id, "ok", most=2).text
    assert statuses == [200] * 5 + [409] * 25
    assert n_raters(study) == 5
    assert come(study, panel, OTHER, id="honest")[1].status_code == 200
    second = new_panel(study, job_id, unsigned=True)  # another door of the same job
    assert come(study, second, id="made-up-31")[1].status_code == 409
    study.clock.now += DAY
    assert come(study, panel, id="made-up-32")[1].status_code == 200
    with study.store.read() as tx:
        stored = str([tx.all(table.select()) for table in schema.METADATA.sorted_tables])
    assert ONE not in stored  # addresses are keyed hashes
    assert OTHER not in stored


def test_without_that_term_every_made_up_id_is_a_rater(study: Study) -> None:
    """The negative control."""
    panel = new_panel(study, six_units(study, {}), unsigned=True, per_address=0)
    assert [come(study, panel, id=f"made-up-{number}")[1].status_code for number in range(8)] == [200] * 8


def test_anyone_who_fails_the_quiz_keeps_a_place_of_the_panel(study: Study) -> None:
    job_id = six_units(study, QUIZ, n_gold=4)
    panel = new_panel(study, job_id, unsigned=True, places=2)
    for number in range(2):
        browser, _ = come(study, panel, f"192.0.2.{number}", id=f"r{number}")
        assert "FAIL-1" in work_through(browser, job_id, "ok", most=2).text
    assert come(study, panel, OTHER, id="another look at the quiz")[1].status_code == 409
    assert [place.state for place in study.read(panels.places, panel["panel_id"])] == ["failed", "failed"]


def test_a_link_lets_nobody_in_without_the_signature_of_its_id(study: Study) -> None:
    job_id = six_units(study, {})
    panel, other = new_panel(study, job_id), new_panel(study, job_id)
    assert (panel["warning"], bool(panel["secret"]), panel["secret"] == other["secret"]) == ("", True, False)
    signed = panels.sign(panel["secret"], "r1")
    forged = [
        {"id": "r1"},
        {"id": "r1", "signature": ""},
        {"id": "r1", "signature": "ü"},
        {"id": "r2", "signature": signed},
        {"id": "r1", "signature": panels.sign("", "r1")},
        {"id": "r1", "signature": panels.sign(other["secret"], "r1")},
        {"id": "r1 ", "signature": signed},
    ]
    assert [come(study, panel, **link)[1].status_code for link in forged] == [422] * len(forged)
    assert n_raters(study) == 0
    links = call(study, f"/panels/{panel['panel_id']}/links", {"ids": ["r1"]})["links"]
    assert links == {"r1": f"{BASE}/p/{panel['panel_id']}?id=r1&signature={signed}"}
    manager = study.browser("manager")
    page = manager.post(f"/manage/panels/{panel['panel_id']}/links", {"ids": "r1 r2"}).text
    assert page.count(f"/p/{panel['panel_id']}?id=r") == 2
    assert come(study, panel, id="r1", signature=signed)[1].url.path == f"/jobs/{job_id}"
    page = study.browser("manager").get(f"/manage/jobs/{job_id}/panels").text
    assert "can make up IDs, and each" in page  # beside the choice, before it is made
    assert page.count("Links are not signed") == 0


def test_an_id_that_is_replayed_gets_neither_the_place_nor_the_code(study: Study) -> None:
    job_id = six_units(study, {"limit": 1})
    panel = new_panel(study, job_id)
    link = {"id": "r1", "signature": panels.sign(panel["secret"], "r1")}
    own, _ = come(study, panel, **link)
    thief, refused = come(study, panel, OTHER, **link)
    assert (refused.status_code, "return code" in refused.text.lower()) == (403, True)
    assert "DONE-1" in work_through(own, job_id, most=1).text
    path = f"/p/{panel['panel_id']}"
    for seen in (thief.get(path, params=link), thief.post(path, link), thief.post(path, link | {"return_code": "A"})):
        assert "DONE-1" not in seen.text
    assert "DONE-1" in own.get(path, params=link).text
    code = study.read(panels.places, panel["panel_id"])[0].return_code
    assert "DONE-1" in thief.post(path, link | {"return_code": code}).text  # who knows it is the same rater
    assert n_raters(study) == 1


def rater_of(study: Study, panel: Any, name: str) -> Browser:
    return come(study, panel, f"10.0.0.{len(name)}", id=name, signature=panels.sign(panel["secret"], name))[0]


def test_units_that_others_hold_are_no_reason_for_a_code(study: Study) -> None:
    job_id = six_units(study, {})
    panel = new_panel(study, job_id)
    rater, *accounts = (rater_of(study, panel, "r" * n) for n in range(1, 7))
    path = begin(rater, job_id)
    held = [begin(each, job_id) for each in accounts]
    done = answer(rater, path, {"label": "error"})
    for seen in (done.text, rater.post(f"/jobs/{job_id}/next").text, rater.get(f"/jobs/{job_id}/done").text):
        assert "DONE-1" not in seen
        assert "Come back later" in seen
    latecomer = rater_of(study, panel, "latecomer")
    latecomer.get(f"/jobs/{job_id}")
    seen = latecomer.post(f"/jobs/{job_id}/next").text
    assert "OUT-1" not in seen  # nor screened out, since there may be work in a while
    assert "Come back later" in seen
    states = {"r": "joined", "latecomer": "joined"}
    found = {place.external_id: place.state for place in study.read(panels.places, panel["panel_id"])}
    assert states.items() <= found.items()
    accounts[0].post(f"{held[0]}/return")
    study.clock.now += HOUR  # and the other leases lapse
    assert "DONE-1" not in work_through(rater, job_id, most=4).text
    assert "DONE-1" in work_through(rater, job_id).text  # all six


def test_returned_lapsed_and_held_work_earns_no_code(study: Study) -> None:
    job_id = six_units(study, {"limit": 3})
    panel = new_panel(study, job_id)
    rater = rater_of(study, panel, "r")
    for number in range(6):
        path = begin(rater, job_id)
        if number % 2:
            rater.post(f"{path}/return")
        study.clock.now += 40 * MINUTE
        assert "DONE-1" not in rater.get(f"/jobs/{job_id}/done").text
    (place,) = study.read(panels.places, panel["panel_id"])
    verbs = [event.verb for event in study.read(events.all)]
    assert (place.state, verbs.count("place.state")) == ("joined", 0)
    assert "DONE-1" not in work_through(rater, job_id, most=2).text
    assert "DONE-1" in work_through(rater, job_id, most=1).text


def test_a_closed_job_gives_the_code_to_those_who_did_all_that_was_left(study: Study) -> None:
    job_id = six_units(study, {})
    panel = new_panel(study, job_id)
    first, second, idle = (rater_of(study, panel, name) for name in ("a", "bb", "ccc"))
    work_through(first, job_id, most=1)
    late = begin(idle, job_id)
    study.clock.now += HOUR
    study.write(jobs.set_state, job_id, "closed")
    assert "DONE-1" not in first.post(f"/jobs/{job_id}/next").text  # there was work, and they left it
    study.write(jobs.set_state, job_id, "open")
    assert "DONE-1" in work_through(second, job_id).text
    assert "DONE-1" in first.post(f"/jobs/{job_id}/next").text
    assert "DONE-1" not in idle.post(late, {"label": "error"}).text  # others have answered it: surplus
    assert "DONE-1" not in idle.post(f"/jobs/{job_id}/next").text
