"""Nothing is lost or counted twice on a form: two tabs, back button, no network, a receipt that never came."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from grater.annotate import adjudication
from tests.browser.chromium import watched
from tests.browser.site import Site
from tests.browser.test_adjudication import marked

NOT_THERE = ("net::", "Failed to load resource", "chrome-error")


def say(page: Page, words: str) -> None:
    page.get_by_label(words, exact=False).first.check()
    page.get_by_role("button", name="Save and continue").click()


def answers(site: Site, job_id: str) -> list[str]:
    return [answer.label for answer in site.handed_in(job_id)]


def test_of_two_tabs_the_first_answer_counts_and_the_second_is_told(site: Site, chromium: Browser) -> None:
    person, job_id = site.person("worker"), site.rating_job("error")
    context = site.context(chromium, person)
    address = site.lease(job_id, person)
    with watched(context) as (page, _), watched(context) as (other, complaints):
        complaints.allow.append("409")
        page.goto(address)
        other.goto(address)
        say(page, "Error")
        page.wait_for_url(lambda url: not url.endswith(address))
        say(other, "OK")
        expect(other.get_by_role("heading", name="Already answered")).to_be_visible()
        assert answers(site, job_id) == ["error"]
        other.goto(address)
        expect(other.get_by_role("heading", name="Already answered")).to_be_visible()
        other.get_by_role("button", name="Continue").click()
        other.wait_for_url(page.url)  # both tabs are at the same next unit
    context.close()


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "plain"])
def test_back_after_an_answer_shows_that_it_is_stored(site: Site, chromium: Browser, has_script: bool) -> None:
    person, job_id = site.person("worker"), site.rating_job("error")
    address = site.lease(job_id, person)
    with site.visit(chromium, person, java_script_enabled=has_script) as (page, _):
        page.goto(address)
        say(page, "Error")
        page.wait_for_url(lambda url: not url.endswith(address))
        page.go_back()
        expect(page.get_by_role("heading", name="Already answered")).to_be_visible()
        assert answers(site, job_id) == ["error"]


def test_an_answer_given_off_line_stays_on_the_page_and_is_sent_once(site: Site, chromium: Browser) -> None:
    person, job_id = site.person("worker"), site.rating_job("error")
    address = site.lease(job_id, person)
    with site.visit(chromium, person) as (page, complaints):
        complaints.allow += NOT_THERE
        page.goto(address)
        page.context.set_offline(True)
        say(page, "Error")
        expect(page.get_by_role("status")).to_contain_text("No connection")
        page.get_by_label("OK", exact=False).first.check()  # second thoughts
        page.get_by_role("button", name="Save and continue").click()
        assert answers(site, job_id) == []
        page.context.set_offline(False)
        page.wait_for_url(lambda url: not url.endswith(address))
        assert answers(site, job_id) == ["ok"]


def given_again(site: Site, chromium: Browser, lose: Callable[[Route], None], **options: object) -> list[str]:
    """The answers that count after one was lost.

    The browser does not know that the line is dead: its own error page comes, and reloading it sends again.
    """
    person, job_id = site.person("worker"), site.rating_job("error")
    address = site.lease(job_id, person)
    with site.visit(chromium, person, **options) as (page, complaints):
        complaints.allow += NOT_THERE
        page.goto(address)
        page.route(f"**{address}", lose)
        say(page, "Error")
        page.wait_for_url("chrome-error://**")
        page.unroute(f"**{address}")
        page.reload()
        page.wait_for_url(lambda url: "/leases/" in url and not url.endswith(address))
    return answers(site, job_id)


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "plain"])
def test_an_answer_lost_on_the_way_can_be_given_again(site: Site, chromium: Browser, has_script: bool) -> None:
    counted = given_again(site, chromium, lambda route: route.abort(), java_script_enabled=has_script)
    assert counted == ["error"]


def test_an_answer_whose_receipt_was_lost_counts_once(site: Site, chromium: Browser) -> None:
    def lose(route: Route) -> None:
        assert route.fetch(max_redirects=0).status == 303  # it arrives, and the answer does not
        route.abort()

    assert given_again(site, chromium, lose) == ["error"]


def test_an_essay_decided_off_line_waits_with_every_choice(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    with site.visit(chromium, site.person("adjudicator")) as (page, complaints):
        complaints.allow += NOT_THERE
        page.goto(f"/adjudicate/{unit_id}")
        for number in (1, 2, 3):
            page.locator(f"#place-{number} label").first.click()
        page.context.set_offline(True)
        page.get_by_role("button", name="Save the decision").click()
        expect(page.get_by_role("status")).to_contain_text("No connection")
        page.context.set_offline(False)
        page.wait_for_url("**/adjudicate")
        assert versions(site, unit_id) == ["marked"]


def versions(site: Site, unit_id: str) -> list[str]:
    """The label of the decision, of which there is one version."""
    with site.store.read() as tx:
        decision = adjudication.find(tx, unit_id)
    assert decision is not None
    assert decision.version == 1
    return [each.label for each in decision.answers]


def test_backspace_takes_the_last_answer_back(site: Site, chromium: Browser) -> None:
    person, job_id = site.person("worker"), site.rating_job("error")
    address = site.lease(job_id, person)
    with site.visit(chromium, person) as (page, _):
        page.goto(address)
        asked = page.locator(".passage").inner_text()
        expect(page.locator("form[data-undo]")).to_have_count(0)
        say(page, "Error")
        expect(page.get_by_role("button", name="Undo your last answer")).to_be_visible()
        with page.expect_navigation():
            page.keyboard.press("Backspace")
        expect(page.locator(".passage")).to_have_text(asked)
        expect(page.locator("form[data-undo]")).to_have_count(0)
        with page.expect_navigation():
            say(page, "OK")
        assert answers(site, job_id) == ["ok"]
