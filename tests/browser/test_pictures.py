"""The README's pictures show what there is: where the words of a page have changed, its picture is taken anew.

    python -m tests.browser.pictures docs/images/guide

Words are compared, not pixels, and no numbers: another machine has other fonts, another demo other judgments.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.essay_page import marking
from tests.browser.pictures import (
    DASHBOARD,
    ESSAY,
    HEADLINE,
    MARKING,
    TERMINAL,
    open_dashboard,
    said_in,
    terminal,
    words_of,
)
from tests.browser.site import Site
from tests.browser.tour import living_stops
from tests.conftest import Demo

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "images" / "guide"


def words_in(picture: str) -> list[str]:
    return (PICTURES / f"{picture}.txt").read_text("utf-8").splitlines()


def test_the_readme_and_how_tos_show_the_figure_the_marking_page_the_dashboard_and_a_terminal() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs" / "howto").glob("*.md")]
    shown = re.findall(r"images/guide/([\w.-]+)", "".join(page.read_text("utf-8") for page in pages))
    assert set(shown) >= {HEADLINE, f"{MARKING}.png", f"{DASHBOARD}.png", TERMINAL}


def test_the_dashboard_is_as_in_its_picture(chromium: Browser, living: Site) -> None:
    [stop] = [stop for stop in living_stops(living) if stop.picture == DASHBOARD]
    assert stop.person is not None
    with living.visit(chromium, stop.person) as (page, _):
        open_dashboard(page, stop.path)
        assert words_of(page) == words_in(DASHBOARD)


def test_the_marking_page_is_as_in_its_picture(chromium: Browser, site: Site) -> None:
    with marking(site, chromium, ESSAY) as desk:
        assert set(words_of(desk.page)) <= set(words_in(MARKING))


def test_the_terminal_says_what_check_says() -> None:
    pytest.importorskip("harper")
    assert said_in(terminal()) == said_in((PICTURES / TERMINAL).read_text("utf-8"))


def test_the_figure_is_that_of_the_demo(demo: Demo) -> None:
    pytest.importorskip("vl_convert")
    now = (demo.folder / "report" / "figures" / HEADLINE).read_text("utf-8")
    assert said_in(now) == said_in((PICTURES / HEADLINE).read_text("utf-8"))
