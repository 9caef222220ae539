"""A key pressed as soon as a page is seen counts, however long the page's modules take to come."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, Route, expect

from grater.annotate.people import Person
from tests.browser.site import Site
from tests.browser.test_adjudication import marked
from tests.browser.tour import studio_job


@dataclass
class Held:
    """Requests for a module, none of which is answered until the test lets them go."""

    routes: list[Route] = field(default_factory=list)
    is_over: bool = False

    def hold(self, route: Route) -> None:
        if self.is_over:
            route.continue_()
        else:
            self.routes.append(route)

    def let_go(self) -> None:
        self.is_over = True
        for route in self.routes:
            route.continue_()


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
        held = Held()
        page.route(f"**/{module}*", lambda route: held.hold(route))
        page.goto(address_of(site, person), wait_until="commit")
        expect(page.get_by_role("contentinfo")).to_be_visible()
        page.keyboard.type(keys)
        expect(page.locator(effect)).to_have_count(0)
        held.let_go()
        expect(page.locator(effect)).to_have_count(1)
