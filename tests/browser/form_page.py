"""A form in the hands of a test: with the mouse or the keyboard alone, wide or narrow, with script or without.

`WAYS` has hand, width and script in four combinations that have every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from playwright.sync_api import Browser, Locator, Page, ViewportSize, expect

from tests.annotate.web.studies import PASSWORD
from tests.browser.chromium import Complaints
from tests.browser.site import Site

DESKTOP, PHONE = ViewportSize(width=1280, height=800), ViewportSize(width=360, height=740)
WAYS: dict[str, tuple[str, ViewportSize, bool]] = {
    "mouse-desktop-script": ("mouse", DESKTOP, True),
    "mouse-phone-plain": ("mouse", PHONE, False),
    "keyboard-desktop-plain": ("keyboard", DESKTOP, False),
    "keyboard-phone-script": ("keyboard", PHONE, True),
}
MOST_STOPS = 80
WORD = "with"
SAVE = "Save and continue"
Focus: TypeAlias = dict[str, Any]

FOCUS = """() => {
  const node = document.activeElement;
  const asked = node.closest('[data-asked-for]')?.dataset.askedFor ?? null;
  const href = node.getAttribute('href') ?? '';
  return { kind: node.type ?? '', name: node.name ?? '', words: node.textContent.trim(), asked, href };
}"""


@dataclass
class FormPage:
    """The first of two units of a job, before a rater who is new to it."""

    page: Page
    complaints: Complaints
    site: Site
    job_id: str
    address: str

    def say(self, words: str) -> None:
        self.page.get_by_label(words, exact=False).first.check()
        self.page.get_by_role("button", name=SAVE).click()

    def wait_for_next(self) -> None:
        self.page.wait_for_url(lambda url: "/leases/" in url and not url.endswith(self.address))

    def labels(self) -> list[str]:
        return [answer.label for answer in self.site.handed_in(self.job_id)]


@contextmanager
def rating(
    site: Site, chromium: Browser, task: str = "error", *, surname: str = "", **options: Any
) -> Iterator[FormPage]:
    person = site.person("worker", surname)
    job_id = site.rating_job("rank", pairs=True) if task == "pairs" else site.rating_job(task)
    address = site.lease(job_id, person)
    with site.visit(chromium, person, **options) as (page, complaints):
        page.goto(address)
        yield FormPage(page, complaints, site, job_id, address)


def go_on(page: Page, hand: str, button: str) -> None:
    with page.expect_navigation():
        if hand == "mouse":
            page.get_by_role("button", name=button).first.click()
        else:
            tab_to(page, lambda focus: focus["words"] == button)
            page.keyboard.press("Enter")


def log_in_with_keys(page: Page, name: str, address: str) -> None:
    """From the login page, whose first field has the focus, to an address, by the keyboard alone."""
    page.goto(address)
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def answer(page: Page, hand: str, *, has_script: bool, button: str = SAVE) -> None:
    """Fill the form of a page and send it."""
    if hand == "mouse":
        answer_with_mouse(page, button)
    else:
        answer_with_keys(page, button, has_script=has_script)


def answer_with_mouse(page: Page, button: str = SAVE) -> None:
    """The first choice of every question, a word where one is asked for."""
    form = page.locator("main form").first
    label = first_label(form)
    for group in form.locator("fieldset:has(input[type=radio])").all():
        if is_asked(group, label):
            group.locator("label").first.click()
    for field in form.locator("input[type=text]").all():
        if is_asked(field.locator("xpath=.."), label):
            field.fill(WORD)
    with page.expect_navigation():
        form.get_by_role("button", name=button).click()


def answer_with_keys(page: Page, button: str = SAVE, *, has_script: bool) -> None:
    """The key of the first answer, where there are keys; then Tab from question to question."""
    form = page.locator("main form").first
    label = first_label(form)
    keys = form.locator("input[name=label][data-key]")
    key = keys.first.get_attribute("data-key") if has_script and keys.count() else None
    if key:
        page.keyboard.press(key)
    answered: set[str] = {"label"} if key else set()

    def is_at_the_end(focus: Focus) -> bool:
        if focus["kind"] == "radio" and focus["name"] not in answered:
            page.keyboard.press("Space")
            answered.add(focus["name"])
        if focus["kind"] == "text" and (focus["asked"] is None or label in focus["asked"].split()):
            page.keyboard.type(WORD)
        return str(focus["words"]).startswith(button)

    is_at_the_end(page.evaluate(FOCUS))  # the page, or the key, may have put the cursor into a field
    tab_to(page, is_at_the_end)
    with page.expect_navigation():
        page.keyboard.press("Enter")


def first_label(form: Locator) -> str:
    choice = form.locator("input[name=label][type=radio]")
    return (choice.first.get_attribute("value") or "") if choice.count() else ""


def is_asked(part: Locator, label: str) -> bool:
    asked_for = part.get_attribute("data-asked-for")
    return asked_for is None or label in asked_for.split()


def tab_to(page: Page, is_there: Callable[[Focus], bool]) -> None:
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        if is_there(page.evaluate(FOCUS)):
            return
    raise AssertionError("the Tab key does not lead there")
