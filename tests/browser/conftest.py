"""Chromium and a live server for the browser tests.

The browser is shared by all tests of this folder on a worker and closed after them: while Playwright runs, its event
loop lives in the test thread, and tests of other folders may want one of their own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.annotate.store.conftest import even_gold
from tests.browser.chromium import launch, watched
from tests.browser.essay_page import EssayPage, marking
from tests.browser.modules import serve_modules
from tests.browser.site import Site, live_site
from tests.conftest import Demo

__all__ = ["even_gold"]


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with live_site(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="package")
def living(demo: Demo, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The study of the demo, served."""
    folder = tmp_path_factory.mktemp("living")
    shutil.copy(demo.folder / "study.db", folder)
    with live_site(folder) as running:
        yield running


@pytest.fixture
def desk(site: Site, chromium: Browser, request: pytest.FixtureRequest) -> Iterator[EssayPage]:
    """A new annotator before the `TEXT` of a file of tests."""
    with marking(site, chromium, request.module.TEXT) as page:
        yield page


@pytest.fixture
def module_page(chromium: Browser) -> Iterator[Page]:
    """An empty page that can import our modules."""
    context = chromium.new_context()
    with watched(context) as (page, _):
        serve_modules(page)
        yield page
    context.close()
