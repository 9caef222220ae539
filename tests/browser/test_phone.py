"""Every page of a living study, and a class report, fit a phone: no table, button or word lies off to the side.

Where tables become blocks, axe looks at the page once more.
"""

from __future__ import annotations

from playwright.sync_api import Browser, Page

from grater.detect.learners import CheckedEssay, ClassReport
from tests.browser import alive
from tests.browser.phone import misnamed, off_screen
from tests.browser.pictures import DASHBOARD, open_dashboard
from tests.browser.site import Site
from tests.browser.test_accessibility import complaints
from tests.browser.tour import by_person


def test_every_page_of_a_living_study_fits_a_phone(chromium: Browser, living: Site) -> None:
    for person, stops in by_person(alive.stops(living)):
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
