"""What a rater's work costs in Chromium: keys and seconds per item for every task, page weight, time to first unit.

    python benchmarks/rating.py

A rater does the units of each task by keys alone, as in the browser tests, once as pages come and once with "one key
answers and goes on".  `keys` are key presses per item (of a construction unit, five items; of a marked essay, its
marks).  `seconds` is what the machine takes per item, from the first key to the next unit drawn: the rater's own
thinking is not in it.  `weight` is what the first visit of a work page transfers, and `next` what the next unit does.
`first unit` is the time from the click on *Start* until the unit can be answered.  Essays are
marked three times each, with a tag of two letters and a correction of four; letters of words count as keys.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.browser.chromium import launch
from tests.browser.site import Site, live_site

N_UNITS = 6
ANSWERS: dict[str, tuple[list[str], int]] = {
    "error": (["1"], 1),
    "verify": (["3"], 1),
    "choice": (["2"], 1),
    "cloze": ([*"with"], 1),
    "usage": (["2", "h"], 1),
    "construction": ([*"ynyyn"], 5),
}
"""The keys of an answer, without the one that sends it, and its items."""
ESSAY = "Last year I visit my aunt in lisbon. She own two small bakery near the harbour."
OFFERED = (("visit", "went", "Vt"), ("own", "owns", "SVA"), ("bakery", "bakeries", "Nn"))


@dataclass
class Meter:
    """Keys pressed on a page, and bytes that came for it."""

    page: Page
    keys: int = 0
    received: float = 0.0

    def __post_init__(self) -> None:
        session = self.page.context.new_cdp_session(self.page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._arrived)

    def _arrived(self, event: dict[str, float]) -> None:
        self.received += event["encodedDataLength"]

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def since(self, received: float) -> float:
        return (self.received - received) / 1000


@dataclass(frozen=True)
class Line:
    """What one task took."""

    name: str
    keys: float
    seconds: float
    weight: float
    following: float
    first_unit: float

    def __str__(self) -> str:
        numbers = (
            f"{self.keys:6.1f} {self.seconds:9.3f} {self.weight:10.0f} {self.following:8.1f} {self.first_unit:12.2f}"
        )
        return f"{self.name:28}{numbers}"


def rate(site: Site, browser: Browser, task: str, *, is_quick: bool) -> Line:
    """The units of a form task."""
    person, job_id = site.person("worker"), site.rating_job(task, n_units=N_UNITS)
    answer, n_items = ANSWERS[task]
    context = site.context(browser, person)
    weight = _weight(context, site.lease(job_id, person))
    meter, page = _started(context.new_page(), f"/jobs/{job_id}")
    first_unit = _seconds_to(page, "form[data-keys]")
    if is_quick:
        page.locator("#quick").check()
        page.reload()
    before, started, n_units = meter.received, time.perf_counter(), 0
    while "/leases/" in page.url:
        here, sent = page.url, ["Enter"] if task == "cloze" or not is_quick else []
        meter.press(*answer, *sent)
        page.wait_for_url(lambda url, here=here: url != here)  # type: ignore[misc]
        n_units += 1
    seconds = time.perf_counter() - started
    context.close()
    name = f"{task}{', one key' if is_quick else ''}"
    per_unit = meter.since(before) / n_units
    return Line(name, meter.keys / n_units / n_items, seconds / n_units / n_items, weight, per_unit, first_unit)


def mark(site: Site, browser: Browser, *, is_offered: bool) -> Line:
    """Three marks on each essay, made or accepted."""
    person = site.person()
    job_id = site.marking_job(*[ESSAY] * N_UNITS, offered=OFFERED if is_offered else ())
    context = site.context(browser, person)
    weight = _weight(context, site.lease(job_id, person))
    meter, page = _started(context.new_page(), f"/jobs/{job_id}")
    first_unit = _seconds_to(page, "#essay:focus")
    before, started, n_essays = meter.received, time.perf_counter(), 0
    while "/leases/" in page.url:
        page.wait_for_selector("#essay:focus")
        here = page.url
        for steps in (3, 6, 3):
            if is_offered:
                meter.press("Alt+ArrowDown", "Enter")
            else:
                meter.press(*["ArrowRight"] * steps, *"vt", "Tab", *"went", "Enter")
        meter.press("Control+Enter")
        page.wait_for_url(lambda url, here=here: url != here)  # type: ignore[misc]
        n_essays += 1
    seconds, n_marks = time.perf_counter() - started, 3 * n_essays
    context.close()
    name = f"marking, {'suggestions accepted' if is_offered else 'per mark'}"
    return Line(name, meter.keys / n_marks, seconds / n_marks, weight, meter.since(before) / n_essays, first_unit)


def _weight(context: BrowserContext, address: str) -> float:
    """What the first visit of a page transfers, in kB."""
    meter = Meter(context.new_page())
    meter.page.goto(address, wait_until="networkidle")
    meter.page.close()
    return meter.since(0)


def _started(page: Page, address: str) -> tuple[Meter, Page]:
    """On the page of a job; what comes from now on is counted."""
    page.goto(address)
    return Meter(page), page


def _seconds_to(page: Page, selector: str) -> float:
    started = time.perf_counter()
    page.get_by_role("button", name=re.compile("Start|Continue")).first.click()
    page.wait_for_selector(selector)
    return time.perf_counter() - started


def main() -> int:
    print(f"{'':28}{'keys':>6} {'seconds':>9} {'weight kB':>10} {'next kB':>8} {'first unit s':>12}")
    with (
        tempfile.TemporaryDirectory() as folder,
        live_site(Path(folder)) as site,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        for task in ANSWERS:
            for is_quick in (False, True):
                print(rate(site, browser, task, is_quick=is_quick), flush=True)
        for is_offered in (False, True):
            print(mark(site, browser, is_offered=is_offered), flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
