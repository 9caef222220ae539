"""What a rater's work costs in Chromium: keys, seconds, bytes; and the marking page under a long essay.

A rater does the units of each task by keys alone, once as pages come and once with "one key answers and goes on".
*Keys* are per item (per mark in essays, letters of words counted), *seconds* what the machine takes from the first
key to the next unit drawn, without the rater's thinking.  The marking page has an essay of 5,000 words with 500
marks; a key press is timed inside the page, from the event to the second animation frame after it, so 17 ms is the
least that can come out.
"""

from __future__ import annotations

import re
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Size, Table
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from grater.annotate.marks import save_draft
from grater.annotate.submissions import desk_of
from grater.annotate.tasks.marking import tagset_of
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
N_WORDS, N_MARKS, N_PARAGRAPHS, ROUNDS = 5_000, 500, 40, 20
TEXT = "the old baker near our harbour sell fresh bread and warm cake to every child who come by on the way home"
KEYS = {
    "cursor one word on": "ArrowRight",
    "selection one word longer": "Shift+ArrowRight",
    "cursor one line down": "ArrowDown",
    "slip opened by a letter": "v",
    "next letter of the tag": "t",
    "to the correction": "Tab",
    "letter of the correction": "x",
    "mark saved": "Enter",
    "undo": "Control+z",
}
TIMED = """() => {
  window.taken = [];
  document.addEventListener('keydown', () => {
    const start = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => window.taken.push(performance.now() - start)));
  }, { capture: true });
}"""


class Meter:
    """Keys pressed on a page, and kilobytes that came for it."""

    def __init__(self, page: Page) -> None:
        self.page, self.keys, self.kilobytes = page, 0, 0.0
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", self._arrived)

    def _arrived(self, event: dict[str, float]) -> None:
        self.kilobytes += event["encodedDataLength"] / 1000

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1


def weight(context: BrowserContext, address: str) -> float:
    """What the first visit of a page transfers, in kB."""
    meter = Meter(context.new_page())
    meter.page.goto(address, wait_until="networkidle")
    meter.page.close()
    return meter.kilobytes


def rate(
    site: Site, browser: Browser, task: str, *, is_quick: bool = False, is_offered: bool = False
) -> list[object]:
    """The units of a task: its answers by keys, or three marks on each essay, made or accepted."""
    is_marking = task == "marking"
    if is_marking:
        job_id = site.marking_job(*[ESSAY] * N_UNITS, offered=OFFERED if is_offered else ())
    else:
        job_id = site.rating_job(task, n_units=N_UNITS)
    answer, n_items = ([], 3) if is_marking else ANSWERS[task]
    person = site.person() if is_marking else site.person("worker")
    context = site.context(browser, person)
    first_visit, page = weight(context, site.lease(job_id, person)), context.new_page()
    page.goto(f"/jobs/{job_id}")
    meter, started = Meter(page), time.perf_counter()
    page.get_by_role("button", name=re.compile("Start|Continue")).first.click()
    page.wait_for_selector("#essay:focus" if is_marking else "form[data-keys]")
    first_unit = time.perf_counter() - started
    if is_quick:
        page.locator("#quick").check()
        page.reload()
    before, started, n = meter.kilobytes, time.perf_counter(), 0
    while "/leases/" in page.url:
        here = page.url
        if is_marking:
            page.wait_for_selector("#essay:focus")
            for steps in (3, 6, 3):
                made = [*["ArrowRight"] * steps, *"vt", "Tab", *"went", "Enter"]
                meter.press(*(["Alt+ArrowDown", "Enter"] if is_offered else made))
            meter.press("Control+Enter")
        else:
            meter.press(*answer, *(["Enter"] if task == "cloze" or not is_quick else []))
        page.wait_for_url(lambda url, here=here: url != here)  # type: ignore[misc]
        n += n_items
    seconds, following = time.perf_counter() - started, (meter.kilobytes - before) * n_items / n
    context.close()
    name = f"{task}{', one key' * is_quick}{', a suggestion accepted' * is_offered}"
    costs = round(meter.keys / n, 1), round(seconds / n, 3), round(first_visit), round(following, 1)
    return [name, *costs, round(first_unit, 2)]


def essay(n_paragraphs: int) -> str:
    some, size = TEXT.split(), N_WORDS // n_paragraphs
    words = [some[number % len(some)] for number in range(N_WORDS)]
    return "\n\n".join(" ".join(words[start : start + size]) + "." for start in range(0, N_WORDS, size))


def marks(text: str, codes: list[str]) -> Iterator[dict[str, object]]:
    """Every ninth word marked, each fifth of these over three words, so that marks overlap."""
    offset = 0
    for number, word in enumerate(text.split(" ")):
        if number % 9 == 0:
            end = offset + len(word) if number % 45 else min(len(text), offset + 30)
            mark = {"start": offset, "end": end, "quote": text[offset:end], "tag": codes[number % len(codes)]}
            yield {**mark, "replacements": ["other"], "comment": ""}
        offset += len(word) + 1


def opened(site: Site, browser: Browser, n_paragraphs: int) -> tuple[Page, list[float]]:
    """The page of an essay with its marks saved, and seconds until all is drawn, five times."""
    person, text = site.person(), essay(n_paragraphs)
    address = site.lease(site.marking_job(text), person)
    with site.store.write() as tx:
        desk = desk_of(tx, address.rpartition("/")[2], person_id=person.person_id)
        edits = list(marks(text, [tag.code for tag in tagset_of(desk.unit.unit)]))[:N_MARKS]
        body = {"edits": edits, "set_aside": False}
        save_draft(tx, unit_id=desk.unit.unit_id, person_id=person.person_id, revision=0, body=body)
    page, times = site.context(browser, person).new_page(), []
    for _ in range(5):
        page.goto(address)
        expect(page.locator("#count")).to_have_text(str(N_MARKS))
        times.append(float(page.evaluate("performance.getEntriesByName('drawn')[0].startTime")))
    return page, times


def pressed(page: Page, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of every key press, by kind, over the rounds."""
    taken: dict[str, list[float]] = {name: [] for name in KEYS}
    page.locator("#essay").focus()
    page.evaluate(TIMED)
    for _ in range(rounds):
        for name, key in KEYS.items():
            before = page.evaluate("window.taken.length")
            page.keyboard.press(key)
            page.wait_for_function("(n) => window.taken.length > n", arg=before)
            taken[name].append(float(page.evaluate("window.taken.at(-1)")))
    return taken


def measure(size: Size) -> Iterator[Table]:
    with tempfile.TemporaryDirectory() as folder, live_site(Path(folder)) as site, sync_playwright() as playwright:
        browser = launch(playwright)
        tasks = list(ANSWERS)[:1] if size == "short" else list(ANSWERS)
        rows = [rate(site, browser, task, is_quick=is_quick) for task in tasks for is_quick in (False, True)]
        rows += [rate(site, browser, "marking", is_offered=is_offered) for is_offered in (False, True)]
        columns = ("task", "keys", "seconds", "first visit, kB", "next unit, kB", "Start to first unit, s")
        yield Table("Every task by keys alone", columns, rows)
        times = {}
        for n_paragraphs in (N_PARAGRAPHS, 1):
            page, open_ms = opened(site, browser, n_paragraphs)
            found = {"open": open_ms, **pressed(page, 2 if size == "short" else ROUNDS)}
            times[n_paragraphs] = {name: round(statistics.median(several)) for name, several in found.items()}
        rows = [[name, times[N_PARAGRAPHS][name], times[1][name]] for name in times[1]]
        yield Table("The marking page, milliseconds", ("", f"{N_PARAGRAPHS} paragraphs", "one paragraph"), rows)
        browser.close()
