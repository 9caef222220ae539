"""The marking page in the hands of a test: find words, drag over them, type, look at what was saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from playwright.sync_api import Browser, Page, expect

from grater.annotate import leases, marks
from grater.annotate.people import Person
from tests.browser.chromium import Complaints, watched
from tests.browser.site import Site

RANGE = """const rangeOf = (words) => {
  const walker = document.createTreeWalker(document.getElementById('essay'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(words);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + words.length);
    return range;
  }
  return null;
};
const middle = (box) => box.top + box.height / 2;"""

FIND = f"""([words]) => {{ {RANGE}
  const range = rangeOf(words);
  if (!range) return null;
  range.startContainer.parentElement.scrollIntoView({{ block: 'center' }});
  const boxes = [...range.getClientRects()];
  const [first, last] = [boxes[0], boxes.at(-1)];
  return {{ left: first.left, right: last.right, middle: middle(first), end: middle(last) }};
}}"""

RIM = f"""([words, isEnd]) => {{ {RANGE}
  const boxes = [...(rangeOf(words)?.getClientRects() ?? [])];
  const box = boxes.at(isEnd ? -1 : 0);
  const isRight = isEnd !== /[\u0590-\u05ff]/.test(words);
  return box && {{ x: isRight ? box.right - 1 : box.left + 1, y: middle(box) }};
}}"""


@dataclass
class EssayPage:
    """A page on which an essay is being marked."""

    page: Page
    site: Site
    person: Person
    unit_id: str
    address: str
    complaints: Complaints = field(default_factory=Complaints)

    @contextmanager
    def second_tab(self) -> Iterator[EssayPage]:
        """The same essay once more in the same browser."""
        with watched(self.page.context) as (page, complaints):
            page.goto(self.address)
            expect(page.locator("#save-state")).to_have_text("All marks saved")
            yield EssayPage(page, self.site, self.person, self.unit_id, self.address, complaints)

    def place(self, words: str) -> tuple[float, float, float]:
        """Left, right and middle height of words that stand on one line and in one piece of the text."""
        found = self._find(words)
        return found["left"], found["right"], found["middle"]

    def _find(self, words: str) -> dict[str, float]:
        return self._measured(FIND, words)

    def _rim(self, words: str, is_end: bool) -> dict[str, float]:
        """A point just inside the first or the last letter of words, wherever the page stands."""
        return self._measured(RIM, words, is_end)

    def _measured(self, script: str, words: str, is_end: bool = False) -> dict[str, float]:
        found: dict[str, float] | None = self.page.evaluate(script, [words, is_end])
        assert found, f"{words!r} is not on the page in one piece"
        return found

    def drag(self, words: str) -> None:
        """Over the words from the first letter to the last, also where a line ends between them."""
        found = self._find(words)
        self.page.mouse.move(found["left"] + 1, found["middle"])
        self.page.mouse.down()
        self.page.mouse.move(found["right"] - 1, found["end"], steps=4)
        self.page.mouse.up()

    def click(self, words: str) -> None:
        left, right, middle = self.place(words)
        self.page.mouse.click((left + right) / 2, middle)

    def tap(self, words: str) -> None:
        left, right, middle = self.place(words)
        self.page.touchscreen.tap((left + right) / 2, middle)

    def finger(self, *places: tuple[float, float], hold: int = 0) -> None:
        """A finger put down at the first place, held for some milliseconds, moved over the others, taken off."""
        session = self.page.context.new_cdp_session(self.page)
        for number, (x, y) in enumerate(places):
            kind = "touchMove" if number else "touchStart"
            session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
            if not number:
                self.page.wait_for_timeout(hold)
        session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
        session.detach()

    def pull(self, side: str, words: str, to: str, hand: str, *, to_end: bool | None = None) -> None:
        """The handle at one end of the words, from there to the same end (or `to_end`) of other words."""
        handle = self.page.locator(f".handle-{side}")
        box = handle.bounding_box()
        assert box, "no handle there"
        is_end = side == "end"
        here, there = self._rim(words, is_end), self._rim(to, is_end if to_end is None else to_end)
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        goal_at = (x + there["x"] - here["x"], y + there["y"] - here["y"])
        halfway = ((x + goal_at[0]) / 2, (y + goal_at[1]) / 2)
        if hand == "finger":
            self.finger((x, y), halfway, goal_at)
            return
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(*halfway)
        self.page.mouse.move(*goal_at)
        self.page.mouse.up()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def fill(self, *, tag: str, correction: str | None) -> None:
        """The rest of a mark by keyboard, once its slip is open."""
        self.page.keyboard.type(tag)
        self.press("Tab")
        if correction is not None:
            self.page.keyboard.type(correction)
        self.press("Enter")

    def mark(self, words: str, tag: str, correction: str | None) -> None:
        self.drag(words)
        self.fill(tag=tag, correction=correction)

    def expect_state(self, state: str) -> None:
        expect(self.page.locator(f"#save-state[data-state={state}]")).to_be_visible()

    def saved(self) -> list[tuple[int, int, str, str, list[str]]]:
        """What the server holds once the page says that it has saved: start, end, quote, tag, replacements."""
        self.expect_state("saved")
        return self.stored()

    def stored(self) -> list[tuple[int, int, str, str, list[str]]]:
        """What the server holds now, whatever the page says."""
        with self.site.store.read() as tx:
            draft = marks.find_draft(tx, unit_id=self.unit_id, person_id=self.person.person_id)
        edits = draft.body["edits"] if draft else []
        return [tuple(edit[key] for key in ("start", "end", "quote", "tag", "replacements")) for edit in edits]  # type: ignore[union-attr,index,call-overload,misc]

    def quotes(self) -> list[tuple[str, str, list[str]]]:
        """The same without offsets."""
        return [saved[2:] for saved in self.saved()]


def open_essay(page: Page, site: Site, person: Person, address: str) -> EssayPage:
    """The essay that the person has on lease, on a page of their browser."""
    with site.store.read() as tx:
        lease = leases.find(tx, address.rpartition("/")[2], person_id=person.person_id)
    assert lease is not None
    page.goto(address)
    expect(page.locator("#save-state")).to_have_text("All marks saved")
    return EssayPage(page, site, person, lease.unit_id, address)


def open_own_desk(page: Page, site: Site, adjudicator: Person, unit_id: str) -> EssayPage:
    """The desk of the adjudication page, on which the adjudicator marks what nobody marked."""
    address = f"/adjudicate/{unit_id}"
    page.goto(address)
    page.get_by_text("The whole essay").click()
    return EssayPage(page, site, adjudicator, unit_id, address)


@contextmanager
def marking(
    site: Site, chromium: Browser, text: str, *, offered: Sequence[tuple[str, str, str]] = (), **options: Any
) -> Iterator[EssayPage]:
    """A page of a new annotator on a new essay; no script error, no breach of the content policy."""
    person = site.person()
    address = site.lease(site.marking_job(text, offered=offered), person)
    with site.visit(chromium, person, **options) as (page, complaints):
        yield replace(open_essay(page, site, person, address), complaints=complaints)
