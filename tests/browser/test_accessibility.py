"""axe-core on every page: nothing serious or critical; in the dark on one page of every look.

All of them, those of a living study and a class report fit a phone: no table, button or word lies off to the side.
Where tables become blocks, axe looks at the page once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, ViewportSize

from grater.detect.learners import CheckedEssay, ClassReport
from tests.browser.essay_page import marking
from tests.browser.form_page import rating
from tests.browser.pictures import DASHBOARD, open_dashboard
from tests.browser.site import Site
from tests.browser.test_adjudication import marked
from tests.browser.tour import PARTS, Stop, by_person, living_stops, routes, tour

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


DESKTOP, PHONE = ViewportSize(width=1100, height=800), ViewportSize(width=360, height=720)

OFF_SCREEN = """() => [...document.querySelectorAll('main *')]
  .filter(each => !each.closest('.only-read, .stack thead, svg') && each.getClientRects().length)
  .map(each => [each, each.getBoundingClientRect()])
  .filter(([each, box]) => box.right > innerWidth + 1 || box.left < -1 || each.scrollWidth > each.clientWidth + 1 &&
    !['visible', 'clip'].includes(getComputedStyle(each).overflowX) && !['INPUT', 'SELECT'].includes(each.tagName))
  .map(([each]) => `${each.tagName.toLowerCase()}.${each.className}: ${each.textContent}`
    .replace(/\\s+/g, ' ').slice(0, 100))"""

MISNAMED = """() => [...document.querySelectorAll('.stack td[data-label]')]
  .filter(cell => cell.closest('table').tHead.rows[0].cells[cell.cellIndex].textContent.trim() !== cell.dataset.label)
  .map(cell => cell.dataset.label)"""


def off_screen(page: Page) -> list[str]:
    """What a phone shows only if it is pushed aside: parts past the edge, and boxes that scroll sideways.

    Whatever is folded is opened first.
    """
    page.set_viewport_size(PHONE)
    page.evaluate("document.querySelectorAll('main details').forEach(each => { each.open = true; })")
    return [str(each) for each in page.evaluate(OFF_SCREEN)]


def misnamed(page: Page) -> list[str]:
    return [str(each) for each in page.evaluate(MISNAMED)]


@pytest.mark.parametrize("task", RATINGS)
def test_the_form_of_a_task(site: Site, chromium: Browser, task: str) -> None:
    with rating(site, chromium, task) as form:
        assert complaints(form.page, dark=task == "usage") == []


def test_every_route_is_on_the_tour_and_every_stop_has_its_picture(site: Site) -> None:
    stops = tour(site)
    assert {stop.route for stop in stops} == routes()
    assert {stop.picture for stop in stops} - {path.stem for path in PICTURES.glob("*.png")} == set()


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.__name__.strip("_"))
def test_every_page_on_the_tour(site: Site, chromium: Browser, part: Callable[[Site], Iterator[Stop]]) -> None:
    for person, stops in by_person(list(part(site))):
        with site.visit(chromium, person) as (page, _):
            for stop in stops:
                page.set_viewport_size(DESKTOP)
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
    with site.visit(chromium, site.person("adjudicator"), viewport=DESKTOP) as (page, _):
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


def test_every_page_of_a_living_study_fits_a_phone(chromium: Browser, living: Site) -> None:
    for person, stops in by_person(living_stops(living)):
        assert person is not None
        with living.visit(chromium, person) as (page, _):
            for stop in stops:
                page.goto(stop.path)
                if stop.picture == DASHBOARD:
                    open_dashboard(page, stop.path)
                assert (off_screen(page), misnamed(page)) == ([], []), stop.path
                if page.locator(".stack").count():
                    assert complaints(page) == []


def test_a_class_report_fits_a_phone(module_page: Page) -> None:
    rules = ("Countable and uncountable nouns", "Plural after many, few, two, these", "Other: miscellaneous")
    essays = tuple(
        CheckedEssay(essay=f"essay-{n}", learner=f"Learner {n % 3}", date=f"2026-09-{n:02}", n_words=170, rules=rules)
        for n in range(1, 10)
    )
    module_page.set_content(ClassReport(essays=essays, note="A mark is not necessarily an error.").to_html())
    assert module_page.locator("svg.spark").count() == 3
    assert off_screen(module_page) == []


def test_a_wide_table_and_a_wrong_name_would_be_seen(module_page: Page) -> None:
    """A negative control: the check above can fail, also where a box scrolls by itself."""
    module_page.set_content(
        '<main><div class="scroll"><table class="stack"><thead><tr><th>Rater</th><th>When</th></tr></thead>'
        '<tbody><tr><td>Ann</td><td data-label="Where">2026-11-17</td></tr></tbody></table></div></main>'
    )
    assert off_screen(module_page) == []
    assert misnamed(module_page) == ["Where"]
    module_page.add_style_tag(content=".scroll { overflow-x: auto } table { width: 500px }")
    assert off_screen(module_page)[0].startswith("div.scroll")
