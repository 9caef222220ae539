"""The marking page in the hands of a test: find words, drag over them, type, look at what was saved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from playwright.sync_api import Browser, Page, expect

from grater.annotate import marks
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


KEYS = ("Tab", "Enter", "Backspace", "Delete")


@dataclass
class EssayPage:
    """A page on which an essay is being marked."""

    page: Page
    site: Site
    person: Person
    unit_id: str
    address: str
    complaints: Complaints = field(default_factory=Complaints)
    job_id: str = ""

    @contextmanager
    def second_tab(self) -> Iterator[EssayPage]:
        """The same essay once more in the same browser."""
        with watched(self.page.context) as (page, complaints):
            page.goto(self.address)
            expect(page.locator("#save-state")).to_have_text("All marks saved")
            yield replace(self, page=page, complaints=complaints)

    def place(self, words: str) -> tuple[float, float, float]:
        """Left, right and middle height of words that stand on one line and in one piece of the text."""
        found = self._measured(FIND, words)
        return found["left"], found["right"], found["middle"]

    def _measured(self, script: str, words: str, is_end: bool = False) -> dict[str, float]:
        """What a script finds out about words; `RIM` of the point just inside their first or their last letter."""
        found: dict[str, float] | None = self.page.evaluate(script, [words, is_end])
        assert found, f"{words!r} is not on the page in one piece"
        return found

    def drag(self, words: str, *, to: str = "") -> None:
        """Over the words, and on to others, from the first letter to the last, also over the end of a line."""
        first = self._measured(FIND, words)
        last = self._measured(FIND, to or words)
        self.page.mouse.move(first["left"] + 1, first["middle"])
        self.page.mouse.down()
        self.page.mouse.move(last["right"] - 1, last["end"], steps=4)
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
        here = self._measured(RIM, words, is_end)
        there = self._measured(RIM, to, is_end if to_end is None else to_end)
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

    def type(self, *parts: str) -> None:
        """Letters, and keys by their names, in turn."""
        for part in parts:
            if part in KEYS:
                self.page.keyboard.press(part)
            else:
                self.page.keyboard.type(part)

    def fill(self, *, tag: str, correction: str | None) -> None:
        """The rest of a mark by keyboard, once its slip is open."""
        self.type(tag, "Tab", *([] if correction is None else [correction]), "Enter")

    def mark(self, words: str, tag: str, correction: str | None) -> None:
        self.drag(words)
        self.fill(tag=tag, correction=correction)

    def finish(self) -> None:
        self.page.get_by_role("button", name="Finish essay").click()

    def handed_in(self) -> dict[str, Any]:
        """The one answer of the job, once the annotator is thanked for it."""
        expect(self.page.get_by_role("heading", name="Thank you")).to_be_visible()
        (answer,) = self.site.handed_in(self.job_id)
        return dict(answer.payload)

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
    unit = site.desk(address, person).unit
    page.goto(address)
    expect(page.locator("#save-state")).to_have_text("All marks saved")
    return EssayPage(page, site, person, unit.unit_id, address, job_id=unit.job.job_id)


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
