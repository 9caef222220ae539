"""Debian's Chromium, started once for all browser tests of a worker, and pages on which nothing may go wrong.

The headless shell draws the same pages with the same engine for a third of the CPU time of the whole browser.

A page fails its test when the console shows an error, a script throws, or the content policy is broken, unless the
test says that it expects so (`allow`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, expect

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=SpareRendererForSitePerProcess",  # a process in reserve for a site that never comes
)
PROGRAMS = ("chromium-headless-shell", "chromium")
WAIT = 120_000
"""Milliseconds until a test gives up on something that should appear: a last resort, on a machine with much to do."""

expect.set_options(timeout=WAIT)


def launch(playwright: Playwright) -> Browser:
    executable = os.environ.get("GRATER_CHROMIUM") or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if executable is None:
        pytest.skip("NO BROWSER: install chromium-headless-shell, or name one in $GRATER_CHROMIUM, to test the pages")
    return playwright.chromium.launch(executable_path=executable, args=list(FLAGS))


@dataclass
class Complaints:
    """What a page complained about; `allow` are words of complaints that a test provokes on purpose."""

    heard: list[str] = field(default_factory=list)
    allow: list[str] = field(default_factory=list)

    def hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.heard.append(message.text)

    @property
    def unexpected(self) -> list[str]:
        return [line for line in self.heard if not any(words in line for words in self.allow)]


@contextmanager
def watched(context: BrowserContext) -> Iterator[tuple[Page, Complaints]]:
    """A new page of a context; leaving it fails on every complaint that was not allowed."""
    page = context.new_page()
    page.set_default_timeout(WAIT)
    complaints = Complaints()
    page.on("console", complaints.hear)
    page.on("pageerror", lambda error: complaints.heard.append(str(error)))
    yield page, complaints
    assert complaints.unexpected == []
