"""axe-core on every page: nothing serious or critical; in the dark on one page of every look; all fit a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, ViewportSize

from tests.browser.essay_page import marking
from tests.browser.phone import misnamed, off_screen
from tests.browser.site import Site
from tests.browser.test_adjudication import marked
from tests.browser.tour import PARTS, Stop, by_person, routes, tour

PICTURES = Path(__file__).parents[2] / "docs" / "images" / "guide"
IN_THE_DARK = ("jobs-rater", "manage-job", "gold-studio", "reviews", "crowd-crowd", "adjudicate-item")
RATINGS = ("usage", "cloze", "choice", "error", "construction", "verify", "rank", "fate", "remaining")
SERIOUS = ("serious", "critical")
VIOLATIONS = {"resultTypes": ["violations"]}
"""All rules; what passes them, most of a page, is not written out."""
CONTRAST = {"runOnly": {"type": "rule", "values": ["color-contrast"]}, **VIOLATIONS}


def complaints(page: Page, *, dark: bool = False) -> list[str]:
    """What axe finds serious in the page as it stands; with `dark` also there, where only the colours can differ."""
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    found = Axe().run(page, options=VIOLATIONS).response["violations"]
    if dark:
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        found += Axe().run(page, options=CONTRAST).response["violations"]
    return [
        f"{page.url}: {each['id']}: {node['html'][:120]}"
        for each in found
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


@contextmanager
def visited(site: Site, chromium: Browser, role: str) -> Iterator[Page]:
    with site.visit(chromium, site.person(role), viewport={"width": 1100, "height": 800}) as (page, _):
        yield page


@pytest.mark.parametrize("task", RATINGS)
def test_the_form_of_a_task(site: Site, chromium: Browser, task: str) -> None:
    person = site.person("worker")
    with site.visit(chromium, person) as (page, _):
        page.goto(site.lease(site.rating_job(task), person))
        assert complaints(page, dark=task == "usage") == []


def test_every_route_is_on_the_tour_and_every_stop_has_its_picture(site: Site) -> None:
    stops = tour(site)
    assert {stop.route for stop in stops} == routes()
    assert {stop.picture for stop in stops} - {path.stem for path in PICTURES.glob("*.png")} == set()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__.strip("_"))
def test_every_page_on_the_tour(site: Site, chromium: Browser, part: Callable[[Site], Iterator[Stop]]) -> None:
    size: ViewportSize = {"width": 1100, "height": 800}
    for person, stops in by_person(list(part(site))):
        with site.visit(chromium, person) as (page, _):
            for stop in stops:
                page.set_viewport_size(size)
                reply = page.goto(stop.path)
                assert reply is not None
                assert reply.status == 200, stop.path
                assert complaints(page, dark=stop.picture in IN_THE_DARK) == []
                assert (off_screen(page), misnamed(page)) == ([], []), stop.path


def test_the_marking_page_with_its_slip_and_its_marks(site: Site, chromium: Browser) -> None:
    offered = [("bakery", "bakeries", "Nn"), ("it", "this", "Pref")]
    with marking(site, chromium, "She own a bakery. He repeat it again and again.", offered=offered) as desk:
        desk.press("Alt+ArrowDown")
        assert complaints(desk.page) == []
        desk.drag("own")
        desk.page.keyboard.type("s")
        assert complaints(desk.page, dark=True) == []
        desk.press("Escape")
        for words, tag in (("own", "sva"), ("own a", "wcip"), ("again and again", "rloc"), ("repeat", "vt")):
            desk.drag(words) if words != "own a" else desk.press("Shift+ArrowRight", "Enter")
            desk.fill(tag=tag, correction="x")
        desk.expect_state("saved")
        assert complaints(desk.page, dark=True) == []


def test_adjudication_of_an_essay(site: Site, chromium: Browser) -> None:
    unit_id = marked(site)
    with visited(site, chromium, "adjudicator") as page:
        page.goto(f"/adjudicate/{unit_id}")
        page.locator("input[value=own]").first.check()
        page.get_by_text("The whole essay").click()
        assert complaints(page, dark=True) == []


def test_axe_would_see_grey_on_white_and_a_field_without_a_label(module_page: Page) -> None:
    """A negative control: the check above can fail."""
    module_page.set_content(
        '<html lang="en"><title>t</title><main><h1>t</h1><p id="pale">pale words</p><input type="text"></main></html>'
    )
    module_page.evaluate("document.getElementById('pale').style.color = '#ddd'")
    found = {line.split(": ")[1] for line in complaints(module_page, dark=True)}
    assert {"color-contrast", "label"} <= found
