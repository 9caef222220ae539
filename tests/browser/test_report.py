"""A report in a real browser: nothing is asked of the network, every figure is drawn, in light and in dark.

`GRATER_PICTURES=FOLDER` keeps the screenshots, for people to look at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from grater.reporting.build import build
from grater.reporting.document import Report
from grater.reporting.save import report_html, save_report
from tests.browser.chromium import watched
from tests.browser.test_accessibility import SERIOUS
from tests.reporting.made_up import inputs
from tests.reporting.test_board import made

Scheme = Literal["light", "dark"]


@pytest.fixture(scope="module")
def report() -> Report:
    return build(inputs())


@pytest.fixture(scope="module")
def saved(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_report(report, tmp_path_factory.mktemp("report"), file_types=("svg",))[0]


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Scheme:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def asked() -> list[str]:
    """What the page asked for, when it was loaded and later."""
    return []


@contextmanager
def opened(chromium: Browser, path: Path, **options: Any) -> Iterator[Page]:
    context = chromium.new_context(**options)
    with watched(context) as (page, _):
        page.goto(path.as_uri())
        yield page
    context.close()


@pytest.fixture
def page(chromium: Browser, saved: Path, scheme: Scheme, asked: list[str]) -> Iterator[Page]:
    with opened(chromium, saved, color_scheme=scheme, viewport={"width": 1000, "height": 800}) as page:
        page.on("request", lambda request: asked.append(request.url))
        page.reload()
        yield page


def colour_of(page: Page, selector: str, name: str) -> str:
    return str(page.eval_on_selector(selector, f"element => getComputedStyle(element).{name}"))


def unfold(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


def test_every_figure_is_drawn_without_the_network(page: Page, report: Report, asked: list[str], scheme: str) -> None:
    unfold(page)
    charts = page.locator("figure .chart svg.wide")
    assert charts.count() == len(report.figures)
    text = page.locator(".page header").bounding_box()
    assert text is not None
    for place in range(charts.count()):
        box = charts.nth(place).bounding_box()
        assert box is not None
        assert box["height"] > 80
        assert box["width"] == pytest.approx(text["width"], abs=1)
    assert asked
    assert [url for url in asked if not url.startswith("file:")] == []
    folder = os.environ.get("GRATER_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"report-{scheme}.png", full_page=True)


def test_paper_and_ink_follow_the_reader(page: Page, scheme: Scheme) -> None:
    paper = colour_of(page, "html", "backgroundColor")
    brightness = sum(int(part) for part in paper.removeprefix("rgb(").rstrip(")").split(",")[:3])
    assert (brightness > 600) == (scheme == "light")
    marks = page.locator("figure .chart svg text").first
    assert marks.evaluate("element => getComputedStyle(element).fill") != paper


def test_the_contents_stay_in_view_mark_the_section_read_and_are_folded_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 1300, "height": 800})
    entry, far = page.locator("#contents a[href='#answer']"), page.locator("#contents a[href='#effort']")
    expect(entry).to_have_attribute("aria-current", "true")
    expect(page.locator("#effort h3")).not_to_be_visible()
    far.click()  # into the appendix, which unfolds
    expect(page.locator("#effort h3")).to_be_in_viewport()
    expect(page.locator("#contents a[aria-current]")).to_have_attribute("href", "#effort")
    expect(entry).to_be_in_viewport()
    page.set_viewport_size({"width": 360, "height": 720})
    expect(entry).not_to_be_visible()
    page.locator("#contents .open").click()
    expect(entry).to_be_in_viewport()
    entry.click()
    expect(page.locator("#figure-headline svg.narrow")).to_be_in_viewport()
    expect(entry).not_to_be_visible()
    page.locator("#contents .open").click()
    page.locator("#contents .close").click()
    expect(entry).not_to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_number_leads_to_its_items(page: Page) -> None:
    link = page.locator("#table-answer a").first
    target = str(link.get_attribute("href"))
    items = page.locator(f"{target} .items li").first
    assert not items.is_visible()
    link.click()
    expect(items).to_be_visible()
    assert page.url.endswith(target)


def test_a_threshold_moves_the_point_on_the_curve_and_the_sentences(page: Page) -> None:
    page.locator("#threshold-system").select_option("bold_&_new")
    own = page.locator("#threshold-words").inner_text()
    assert own.startswith("bold_&_new at threshold")
    assert "(its own)" in own
    precision = page.locator("#table-answer tr", has_text="bold_&_new").locator("td").first.inner_text()
    assert f"precision {' '.join(precision.split())}" in own
    states = page.locator("#examples .state")
    flagged = states.get_by_text("flagged at this threshold", exact=True)
    slider = page.locator("#threshold")
    slider.press("Home")
    few = flagged.count()
    slider.press("End")
    assert few < flagged.count() == states.count(), "the laxest threshold flags everything"
    here = page.locator("#threshold-curve .here")
    assert here.count() == 1
    laxest = here.get_attribute("cx")
    page.locator("#threshold-curve circle").nth(2).dispatch_event("click")
    assert here.get_attribute("cx") != laxest
    assert slider.input_value() == "2"
    sentence = page.locator("#examples li").first
    sentence.hover()
    expect(page.locator("#threshold-curve .ghost")).to_be_visible()
    page.locator("#threshold-own").click()
    assert page.locator("#threshold-words").inner_text() == own


def test_without_scripts_all_but_the_slider_can_be_read(chromium: Browser, saved: Path) -> None:
    with opened(chromium, saved, java_script_enabled=False) as page:
        assert not page.locator("#thresholds-tried").is_visible()
        assert page.locator("#examples").is_visible()
        page.locator("#detail summary").first.click()
        assert page.locator("#table-scores").is_visible()


AXE = {"bypass_csp": True}  # axe is a script, and the page allows none


def test_axe_finds_nothing(chromium: Browser, saved: Path, scheme: Scheme) -> None:
    with opened(chromium, saved, color_scheme=scheme, **AXE) as page:
        page.goto(f"{saved.as_uri()}#contentious")
        unfold(page)
        assert [each["id"] for each in Axe().run(page).response["violations"]] == []


def test_what_is_not_unfolded_prints_on_one_white_page(page: Page) -> None:
    printed = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 718, "height": 1000})  # what A4 leaves between its margins
    assert colour_of(page, "html", "backgroundColor") == "rgb(255, 255, 254)"
    wide = "[...document.querySelectorAll('.sheet, .chart')].filter(each => each.scrollWidth > each.clientWidth)"
    assert page.evaluate(f"{wide}.map(each => each.id)") == []
    for hidden in ("#detail", "#appendix", "#thresholds-tried", "#contents", ".signature", "svg.narrow"):
        assert not page.locator(hidden).first.is_visible()
    for shown in (".quote", "#figure-headline svg.wide", "#table-answer", "#examples", "#trust .finding"):
        assert page.locator(shown).first.is_visible()


WIDE = "[...document.querySelectorAll('.sheet')].filter(each => each.scrollWidth > each.clientWidth + 1)"


def test_tables_fit_a_small_screen_and_name_their_rows_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 1024, "height": 800})
    assert page.evaluate(f"{WIDE}.map(each => each.id)") == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    places = page.evaluate(
        f"""{WIDE}.filter(each => !each.querySelector('th.long')).map(each => {{
          each.scrollLeft = 100;
          const name = each.querySelector('tbody th').getBoundingClientRect();
          return Math.round(name.left - each.getBoundingClientRect().left);
        }})"""
    )
    assert places
    assert set(places) == {0}


@pytest.fixture(scope="module")
def leaderboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("board") / "board.html"
    path.write_text(report_html(made("errant")))
    return path


def test_a_leaderboard_leads_to_sentences_on_a_phone_and_axe_finds_nothing(
    chromium: Browser, leaderboard: Path, scheme: Scheme
) -> None:
    with opened(chromium, leaderboard, color_scheme=scheme, viewport={"width": 360, "height": 720}, **AXE) as page:
        page.locator("#table-scores a").first.click()
        expect(page.locator(".list:target .items li").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        found = Axe().run(page).response["violations"]
        assert [each["id"] for each in found if each["impact"] in SERIOUS] == []
