"""Nothing is lost or counted twice on a form: two tabs, back button, no network, a receipt that never came."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.browser.chromium import watched
from tests.browser.form_page import rating
from tests.browser.site import Site
from tests.browser.test_adjudication import decision_of, marked

NOT_THERE = ("net::", "Failed to load resource", "chrome-error")
HAS_SCRIPT = pytest.mark.parametrize("has_script", [True, False], ids=["script", "plain"])


def test_of_two_tabs_the_first_answer_counts_and_the_second_is_told(site: Site, chromium: Browser) -> None:
    with rating(site, chromium) as form, watched(form.page.context) as (other, complaints):
        complaints.allow.append("409")
        other.goto(form.address)
        form.say("Error")
        form.wait_for_next()
        replace(form, page=other).say("OK")
        expect(other.get_by_role("heading", name="Already answered")).to_be_visible()
        assert form.labels() == ["error"]
        other.goto(form.address)
        expect(other.get_by_role("heading", name="Already answered")).to_be_visible()
        other.get_by_role("button", name="Continue").click()
        other.wait_for_url(form.page.url)  # both tabs are at the same next unit


@HAS_SCRIPT
def test_back_after_an_answer_shows_that_it_is_stored(site: Site, chromium: Browser, has_script: bool) -> None:
    with rating(site, chromium, java_script_enabled=has_script) as form:
        form.say("Error")
        form.wait_for_next()
        form.page.go_back()
        expect(form.page.get_by_role("heading", name="Already answered")).to_be_visible()
        assert form.labels() == ["error"]


def test_an_answer_given_off_line_stays_on_the_page_and_is_sent_once(site: Site, chromium: Browser) -> None:
    with rating(site, chromium) as form:
        form.complaints.allow += NOT_THERE
        form.page.context.set_offline(True)
        form.say("Error")
        expect(form.page.get_by_role("status")).to_contain_text("No connection")
        form.say("OK")  # second thoughts
        assert form.labels() == []
        form.page.context.set_offline(False)
        form.wait_for_next()
        assert form.labels() == ["ok"]


def receipt_lost(route: Route) -> None:
    assert route.fetch(max_redirects=0).status == 303  # it arrives, and the answer does not
    route.abort()


@pytest.mark.parametrize(("lose", "has_script"), [(Route.abort, True), (Route.abort, False), (receipt_lost, True)])
def test_an_answer_lost_on_the_way_there_or_back_is_given_again_and_counts_once(
    site: Site, chromium: Browser, lose: Callable[[Route], None], has_script: bool
) -> None:
    """The browser does not know that the line is dead: its own error page comes, and reloading it sends again."""
    with rating(site, chromium, java_script_enabled=has_script) as form:
        form.complaints.allow += NOT_THERE
        form.page.route(f"**{form.address}", lambda route: lose(route))
        form.say("Error")
        form.page.wait_for_url("chrome-error://**")
        form.page.unroute(f"**{form.address}")
        form.page.reload()
        form.wait_for_next()
        assert form.labels() == ["error"]


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
    decision = decision_of(site, unit_id)
    assert (decision.version, [each.label for each in decision.answers]) == (1, ["marked"])


def test_backspace_takes_the_last_answer_back(site: Site, chromium: Browser) -> None:
    with rating(site, chromium) as form:
        asked = form.page.locator(".passage").inner_text()
        expect(form.page.locator("form[data-undo]")).to_have_count(0)
        form.say("Error")
        expect(form.page.get_by_role("button", name="Undo your last answer")).to_be_visible()
        with form.page.expect_navigation():
            form.page.keyboard.press("Backspace")
        expect(form.page.locator(".passage")).to_have_text(asked)
        expect(form.page.locator("form[data-undo]")).to_have_count(0)
        with form.page.expect_navigation():
            form.say("OK")
        assert form.labels() == ["ok"]
