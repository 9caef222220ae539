"""A rater's life in a real browser: invitation, quiz, work, missed gold and its reason, dispute, forgiveness."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from grater.annotate import content, gold, invitations, jobs, leases, panels, people, standing, units
from grater.annotate.people import Person
from grater.annotate.protocol import set_terms
from grater.annotate.store import checks
from grater.annotate.units import NewUnit
from grater.model import Json
from tests.annotate.web import studies
from tests.browser.chromium import watched
from tests.browser.site import NUMBER, Site, live_site

REASON = "Two people wait at a place."
PASSWORD = "a quiet evening"
TERMS: dict[str, Json] = {"gold": {"minimum": 0.5, "least_seen": 4, "quiz": 1}, "page": 2, "pay": {"cents": 12}}


@pytest.fixture
def crowd_job(site: Site) -> str:
    """Three units of work, and gold that accepts `error`."""
    with site.store.write() as tx:
        content.add_essays(tx, studies.corpus())
        found = studies.new_units(tx, "error")
        job = jobs.add(tx, name=f"crowd {next(NUMBER)}", task="error", title="Bus stops", options={"crowd": TERMS})
        units.add_all(tx, job.job_id, found[:3])
        for new in found[3:8]:
            (unit_id,) = units.add_all(tx, job.job_id, [NewUnit(new.items, new.essay_id, role="gold")])
            gold.add(tx, unit_id, new.items[0][0], ["error"], reason=REASON)
        return jobs.set_state(tx, job.job_id, "open").job_id


def is_gold(site: Site, page: Page, person: Person) -> bool:
    with site.store.read() as tx:
        lease = leases.find(tx, page.url.rsplit("/", 1)[1], person_id=person.person_id)
        assert lease is not None
        return units.get(tx, lease.unit_id).role == "gold"


def say(page: Page, words: str) -> None:
    page.get_by_label(words, exact=False).first.check()
    with page.expect_navigation():
        page.get_by_role("button", name="Save and continue").click()


def start(page: Page) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name="Start").first.click()


def test_from_the_invitation_to_forgiveness(chromium: Browser, site: Site, crowd_job: str) -> None:
    with site.store.write() as tx:
        token = invitations.make(tx, role="worker", job_id=crowd_job)
    context = chromium.new_context(base_url=site.url)
    with watched(context) as (page, _):
        page.goto(f"/join/{token}")
        page.get_by_label("Name").fill("Ines")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_label("Repeat the password").fill(PASSWORD)
        page.get_by_role("button", name="Join").click()
        expect(page.get_by_text("quiz of 1")).to_be_visible()
        expect(page.get_by_text("0.12 EUR for each")).to_be_visible()
        start(page)
        with site.store.read() as tx:
            rater = people.named(tx, "Ines")
        assert is_gold(site, page, rater)
        say(page, "Error")
        while not is_gold(site, page, rater):
            say(page, "OK")
        say(page, "OK")  # the gold accepts error
        with site.store.write() as tx:
            jobs.set_state(tx, crowd_job, "closed")
        page.goto(f"/jobs/{crowd_job}/talk")
        expect(page.get_by_text(REASON)).to_be_visible()
        page.get_by_text("Is the known answer wrong?").click()
        page.get_by_label("Reason").fill("It is right in my town.")
        page.get_by_role("button", name="Dispute it").click()
        expect(page.get_by_text("No reply yet.")).to_be_visible()
        _grant(chromium, site, crowd_job)
        page.reload()
        expect(page.get_by_text("You were right.")).to_be_visible()
    context.close()
    with site.store.read() as tx:
        known = standing.find(tx, crowd_job, rater.person_id)
        assert (known.seen, known.right) == (1, 1)
        assert checks.violations(tx) == []


def test_gold_of_a_first_job_is_chosen_by_keys_and_anyone_who_misses_it_learns_what_to_do(
    chromium: Browser, tmp_path: Path
) -> None:
    with live_site(tmp_path) as site:  # a study without other gold
        job_id = site.rating_job("error", n_units=6)
        with site.store.write() as tx:
            panel = panels.add(tx, job_id, panels.NewPanel(provider="generic", unsigned=True))
        _choose_gold(chromium, site, job_id)
        _miss_gold(chromium, site, f"/p/{panel.panel_id}?id=p-1")


def _choose_gold(chromium: Browser, site: Site, job_id: str) -> None:
    manager = site.context(chromium, site.person("manager"))
    with watched(manager) as (page, _):
        page.goto(f"/manage/jobs/{job_id}/gold")
        page.get_by_role("link", name="Choose gold one by one").click()
        expect(page.get_by_role("heading", name="Gold studio")).to_be_visible()
        for n in range(1, 5):
            page.keyboard.press("1")  # the tick box has the focus now, and keys go on
            page.keyboard.press("a")
            expect(page.get_by_text(f"{n} gold unit")).to_be_visible()
        page.goto(f"/manage/jobs/{job_id}/terms")
        page.get_by_role("button", name="Use the recommended rule").click()
        expect(page.get_by_label("Questions in the entry quiz")).to_have_value("2")
    manager.close()


def _miss_gold(chromium: Browser, site: Site, link: str) -> None:
    rater = chromium.new_context(base_url=site.url)
    with watched(rater) as (page, _):
        page.goto(link)
        start(page)
        start(page)
        say(page, "OK")  # the gold accepts error
        say(page, "OK")
        expect(page.get_by_text("You have been removed from this job")).to_be_visible()
        expect(page.get_by_text("give your place back on the page that sent you here")).to_be_visible()
        expect(page.get_by_text("log in to continue")).to_have_count(0)
    rater.close()


def _grant(chromium: Browser, site: Site, job_id: str) -> None:
    context = site.context(chromium, site.person("manager"))
    with watched(context) as (page, _):
        page.goto(f"/manage/jobs/{job_id}/gold")
        expect(page.get_by_text("It is right in my town.")).to_be_visible()
        page.get_by_role("button", name="Accept: stop counting it").click()
        expect(page.get_by_text("It is right in my town.")).to_have_count(0)
        page.goto(f"/manage/jobs/{job_id}/crowd")
        expect(page.get_by_role("heading", name="Protocol")).to_be_visible()
    context.close()


def test_a_panel_rater_comes_by_the_link_and_leaves_with_the_code(
    chromium: Browser, site: Site, crowd_job: str
) -> None:
    with site.store.write() as tx:
        panel = panels.add(
            tx, crowd_job, panels.NewPanel(provider="prolific", codes={"completed": "THANKS-42"}, unsigned=True)
        )
    context = chromium.new_context(base_url=site.url)
    with watched(context) as (page, _):
        page.goto(f"/p/{panel.panel_id}?PROLIFIC_PID=p-{next(NUMBER)}&STUDY_ID=s")
        start(page)
        start(page)
        while "/leases/" in page.url:
            assert page.get_by_text("THANKS-42").count() == 0
            say(page, "Error")
        expect(page.get_by_text("THANKS-42")).to_be_visible()
    context.close()


def test_anyone_who_is_ejected_over_an_essay_sees_why(chromium: Browser, site: Site) -> None:
    """The script sends the essay and follows the answer; by then the session has ended."""
    person = site.person("worker")
    job_id = site.marking_job("She waits in the stop. Nobody comes.", "We arrive to the town.")
    with site.store.write() as tx:
        known = units.get(tx, units.ids_of_job(tx, job_id)[0])
        item_id = known.unit.items[0].item.item_id
        gold.convert(tx, known.unit_id, item_id, ["10-12:Wcip"], reason=REASON)
        set_terms(tx, job_id, {"gold": {"quiz": 1}})
    context = site.context(chromium, person)
    with watched(context) as (page, _):
        page.goto(f"/jobs/{job_id}")
        page.get_by_role("button", name="Start").first.click()
        expect(page.locator("#save-state")).to_have_text("All marks saved")  # the script is there
        page.locator("#finish button").click()
        page.locator("#no-marks").get_by_role("button", name="Yes, finish it").click()
        expect(page.get_by_text("You have been removed from this job")).to_be_visible()
        expect(page.get_by_text(REASON)).to_have_count(0)
        page.goto(f"/jobs/{job_id}")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
    context.close()
