"""A key pressed as soon as a page is seen counts, however long the page's modules take to come."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Route, expect

from grater.annotate.people import Person
from tests.browser.site import Site
from tests.browser.test_adjudication import marked
from tests.browser.tour import studio_job


def form(site: Site, person: Person) -> str:
    return site.lease(site.rating_job("error"), person)


def studio(site: Site, _: Person) -> str:
    return f"/manage/jobs/{studio_job(site)}/gold/studio"


def essay(site: Site, _: Person) -> str:
    return f"/adjudicate/{marked(site)}"


@pytest.mark.parametrize(
    ("address_of", "module", "keys", "effect"),
    [
        (form, "keys.js", "1", "input[value=error]:checked"),
        (studio, "press.js", "2", "input[value=ok]:checked"),
        (essay, "adjudicate.js", "b", "#place-1 input[value=B]:checked"),
    ],
)
def test_a_key_before_its_module(site: Site, chromium: Browser, address_of, module, keys, effect) -> None:  # type: ignore[no-untyped-def]
    person = site.person("manager")
    with site.visit(chromium, person) as (page, _):
        held: list[Route] = []
        page.route(f"**/{module}*", lambda route: held.append(route))
        with page.expect_request(f"**/{module}*"):
            page.goto(address_of(site, person), wait_until="commit")
        expect(page.get_by_role("contentinfo")).to_be_visible()
        page.keyboard.type(keys)
        expect(page.locator(effect)).to_have_count(0)
        for route in held:
            route.continue_()
        expect(page.locator(effect)).to_have_count(1)
