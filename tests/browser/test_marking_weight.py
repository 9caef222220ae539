"""What the marking page weighs on a slow line; its essay is there, and stands still, from the beginning."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.site import Site

TEXT = "\n".join(
    f"In year {n} she own two small bakery near the old harbour, and every morning she wake up." for n in range(12)
)
MOST_BYTES, MOST_REQUESTS, MOST_SHIFT = 60_000, 10, 0.05
SHIFTS = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; }))
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)));
})"""


def test_the_marking_page_is_light_and_stands_still(site: Site, chromium: Browser) -> None:
    person = site.person()
    address = site.lease(site.marking_job(TEXT), person)
    with site.visit(chromium, person) as (page, _):
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        loaded: list[float] = []
        network.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
        page.goto(address, wait_until="load")
        expect(page.locator("#essay .piece").first).to_be_visible()
        assert page.evaluate(SHIFTS) < MOST_SHIFT
        assert sum(n > 0 for n in loaded) <= MOST_REQUESTS  # of nothing: from the cache of the browser
        assert sum(loaded) <= MOST_BYTES


def test_the_essay_is_readable_without_scripts(site: Site, chromium: Browser) -> None:
    person = site.person()
    address = site.lease(site.marking_job(TEXT), person)
    with site.visit(chromium, person, java_script_enabled=False) as (page, _):
        page.goto(address)
        expect(page.locator("#essay p")).to_have_count(TEXT.count("\n") + 1)
        expect(page.get_by_text("Marking an essay needs JavaScript")).to_be_visible()
