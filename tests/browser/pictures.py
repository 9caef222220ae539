"""The pictures of the guide: `python -m tests.browser.pictures docs/images/guide` takes them all anew.

Pages with a past are shown in the living study of the demo, which is made for it unless a folder that has one is
named behind; tasks and the odd pages are staged.  What is said in those of the README is held by
`tests/browser/test_pictures.py`: words, not pixels or numbers.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Browser, FloatRect, Page, ViewportSize, sync_playwright
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from grater.annotate import people
from tests.annotate.store.crowds import evenly_hidden_gold
from tests.browser.chromium import launch
from tests.browser.essay_page import open_essay, open_own_desk
from tests.browser.site import Site, live_site
from tests.browser.test_adjudication import marked
from tests.browser.tour import ESSAY as TOUR_ESSAY
from tests.browser.tour import Stop, by_person, living_stops, tour

WIDE: ViewportSize = {"width": 1000, "height": 600}
HIGHEST = {"manage-guidelines": 420, "api": 420, "manage-essays": 600, "manage-items": 600, "adjudicate-job": 700}
PHONE: ViewportSize = {"width": 360, "height": 720}
ESSAY = (
    "Last summer I visit my aunt in lisbon, she own two small bakery near the old harbour. Every morning she wake up "
    "at four and bake the bread, because of the first customers come at six.\n\n"
    "My aunt adopted puppy from the shelter and it follow her to everywhere. She says that a dog makes people "
    "to smile, and a people who smile buy more cakes. I am agree with her.\n\n"
    "In my opinion, a small shop can to compete with the supermarkets if it gives to customers something special."
)
LEARNER = (
    "Last year I moved to Lisbon because I am interested of old cities. I listen music when I walk along the river, "
    "and my neighbours gave me many informations about the market. Its open in Saturday.\n\n"
    "I have lived here since eight months and I am student at the university. We discussed about our teh plans."
)
MARKS = (
    ("visit", "vt", "visited"), ("lisbon", "mec", "Lisbon"), ("own", "sva", "owns"), ("bakery", "nn", "bakeries"),
    ("because of", "rloc", "because"), ("to everywhere", "wcip", "everywhere"), ("to smile", "vform", "smile"),
    ("am agree", "vform", "agree"), ("can to compete", "vm", "can compete"),
)  # fmt: skip
FORMS = ("usage", "cloze", "choice", "error", "construction", "verify")


def take(browser: Browser, site: Site, alive: Site, folder: Path) -> None:
    living = living_stops(alive)
    shown = {stop.picture for stop in living}
    _tour(browser, alive, living, folder)
    _tour(browser, site, [stop for stop in tour(site) if stop.picture not in shown], folder)
    _marking(browser, site, folder)
    _suggestions(browser, site, folder)
    _forms(browser, site, folder)
    _adjudicating(browser, site, folder)
    _checking(browser, site, folder)


def _marking(browser: Browser, site: Site, folder: Path) -> None:
    person = site.person()
    job_id = site.marking_job(ESSAY)
    with _page(browser, site, person, viewport=WIDE) as page:
        desk = open_essay(page, site, person, site.lease(job_id, person))
        for words, tag, correction in MARKS:
            desk.mark(words, tag, correction)
        desk.click("puppy")
        page.locator("#insert-before").click()
        desk.fill(tag="art", correction="a")
        desk.click("lisbon")
        desk.press("Escape", "Shift+ArrowRight", "Shift+ArrowRight", "Enter")
        desk.fill(tag="runon", correction="Lisbon. She")
        desk.saved()
        page.evaluate("scrollTo(0, 0)")
        note_words(page, MARKING, folder)
        page.screenshot(path=folder / "marking.png")
        desk.drag("gives to customers")
        page.keyboard.type("wo")
        page.screenshot(path=folder / "marking-slip.png")
        desk.press("Escape")
        page.evaluate("scrollTo(0, 0)")
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        page.screenshot(path=folder / "marking-dark.png")
        page.emulate_media(color_scheme="light")
        page.context.set_offline(True)
        desk.click("special")
        desk.press("Delete", "w")
        desk.fill(tag="cip", correction="unusual")
        desk.expect_state("offline")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / "marking-offline.png")
        page.context.set_offline(False)
        desk.saved()
        page.goto(desk.address)
        page.set_viewport_size(PHONE)
        page.screenshot(path=folder / "marking-phone.png")
    with _page(browser, site, person, viewport=PHONE, has_touch=True, is_mobile=True) as page:
        desk = open_essay(page, site, person, desk.address)
        desk.tap("opinion")
        desk.pull("end", "opinion", "shop", "finger")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "marking-phone-handles.png")
        page.locator("#mark").tap()
        page.wait_for_timeout(500)  # the mark of the finger fades
        page.screenshot(path=folder / "marking-phone-slip.png")


OFFERED = (
    ("lisbon", "Lisbon", "Mec"),
    ("own", "owns", "SVA"),
    ("bakery", "bakeries", "Nn"),
    ("shelter", "dog home", "Wcip"),
)


def _suggestions(browser: Browser, site: Site, folder: Path) -> None:
    """A system's marks, one of them accepted, the cursor on the next."""
    person = site.person()
    with _page(browser, site, person, viewport=WIDE) as page:
        desk = open_essay(page, site, person, site.lease(site.marking_job(ESSAY, offered=OFFERED), person))
        desk.press("Alt+ArrowDown", "Enter", "Alt+ArrowDown")
        desk.saved()
        page.screenshot(path=folder / "marking-suggestions.png")
        page.set_viewport_size(PHONE)
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        page.screenshot(path=folder / "marking-suggestions-phone.png")


def _forms(browser: Browser, site: Site, folder: Path) -> None:
    for task in FORMS:
        person = site.person("worker")
        with _page(browser, site, person, viewport=WIDE) as page:
            page.goto(site.lease(site.rating_job(task), person))
            page.screenshot(path=folder / f"form-{task}.png")
            page.set_viewport_size(PHONE)
            page.screenshot(path=folder / f"form-{task}-phone.png")


def _adjudicating(browser: Browser, site: Site, folder: Path) -> None:
    """What nobody marked, on the desk of the adjudication page."""
    adjudicator, unit_id = site.person("adjudicator"), marked(site, TOUR_ESSAY, comment="")
    with _page(browser, site, adjudicator, viewport={"width": 1000, "height": 760}) as page:
        desk = open_own_desk(page, site, adjudicator, unit_id)
        desk.mark("three", "mec", "3")
        desk.drag("in summer")
        page.keyboard.type("wci")
        page.screenshot(path=folder / "adjudicate-mark.png")


def _checking(browser: Browser, site: Site, folder: Path) -> None:
    with _page(browser, site, None, viewport=WIDE) as page:
        page.goto("/check")
        page.locator("#text").fill(LEARNER)
        page.locator("[data-notes] li").first.wait_for(timeout=180_000)
        page.locator("#text").press("Control+Home")
        for keys in ("Alt+ArrowDown", "Alt+Enter", "Alt+ArrowDown"):
            page.keyboard.press(keys)
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=folder / "check.png")


def _tour(browser: Browser, site: Site, wanted: Sequence[Stop], folder: Path) -> None:
    """Every page once; text in bulk makes large files, so long pages are cut."""
    for person, theirs in by_person(wanted):
        with _page(browser, site, person, viewport=WIDE) as page:
            for stop in theirs:
                page.goto(stop.path)
                _before(page, stop.picture, stop.path, folder)
                _shot(page, folder / f"{stop.picture}.png", highest=HIGHEST.get(stop.picture, 900))


DASHBOARD, MARKING = "crowd-crowd", "marking"
"""The pages of the README."""


def open_dashboard(page: Page, path: str) -> None:
    """The dashboard with its charts, which are drawn in the background."""
    page.goto(path)
    while page.get_by_text("The charts are being drawn").is_visible() or not page.locator("#live svg").count():
        page.wait_for_timeout(500)
        page.reload()


def note_words(page: Page, picture: str, folder: Path) -> None:
    """Keep what a page of the README calls its parts, for the test that holds its picture current."""
    (folder / f"{picture}.txt").write_text("\n".join(words_of(page)) + "\n", "utf-8")


def _before(page: Page, picture: str, path: str, folder: Path) -> None:
    """What is done on a page before its picture is taken."""
    if picture == DASHBOARD:
        open_dashboard(page, path)
        note_words(page, picture, folder)
    if picture == "adjudicate-essay":
        page.locator("#place-3 input[value=own]").check()
        page.evaluate("scrollTo(0, 0)")


def _shot(page: Page, path: Path, *, highest: int) -> None:
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    clip: FloatRect = {"x": 0, "y": 0, "width": width, "height": min(height, highest)}
    page.screenshot(path=path, full_page=True, clip=clip)


@contextmanager
def _page(browser: Browser, site: Site, person: people.Person | None, **options: object) -> Iterator[Page]:
    context = site.context(browser, person, **options)
    yield context.new_page()
    context.close()


# The pictures of the README that need no browser: a terminal with `grater check`, and the report's first figure

TERMINAL, HEADLINE = "terminal.svg", "headline.svg"
SENTENCES = "I am interested of old cities. We discussed about our plans."
WIDTH = 86
THEME = TerminalTheme(
    (22, 24, 27),
    (236, 236, 238),
    [
        *((60, 64, 72), (255, 123, 114), (86, 211, 139), (237, 192, 74)),
        *((79, 179, 232), (240, 166, 203), (86, 211, 203), (200, 204, 210)),
    ],
)
FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
<rect width="{width}" height="{height}" rx="10" fill="#16181b"/>
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""


def checked() -> str:
    """What `grater check` says of a learner's sentences, with the colours of a terminal."""
    program = str(Path(sys.executable).parent / "grater")
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    done = subprocess.run(
        [program, "check", "-"], input=SENTENCES, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def terminal() -> str:
    """A terminal in which somebody has checked a text, as SVG."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_markup(f'[bold green]$[/] echo "{SENTENCES}" | grater check -'), soft_wrap=False)
    console.print(Text.from_ansi(checked().rstrip()))
    return console.export_svg(theme=THEME, code_format=FORMAT, unique_id="terminal")


def said_in(svg: str) -> list[str]:
    """The words of a drawing, without numbers, in the order in which they stand."""
    texts = [unescape(re.sub(r"<[^>]+>", "", each)) for each in re.findall(r"<text[^>]*>(.*?)</text>", svg, re.S)]
    words = " ".join(texts).replace("\xa0", " ")
    return [word for word in re.split(r"[\s\d.,\[\]]+", words) if word]


LABELS = "h1, h2, h3, dt, legend, summary, button, nav a, table:not(.squares) thead th, label"


def words_of(page: Page) -> list[str]:
    """What a page calls its parts, without numbers: the same for other people and other judgments."""
    shown = page.eval_on_selector_all(
        LABELS, "all => all.filter(each => each.checkVisibility()).map(each => each.innerText)"
    )
    return sorted({re.sub(r"[\s\d.,]+", " ", text).strip() for text in shown} - {""})


# Small files: a page has few colours and many shades between them where letters meet the ground; the most frequent
# are kept, and each of the others becomes the nearest of these

COLOURS = 256
PIXELS = """async data => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paper = canvas.getContext('2d');
  paper.drawImage(image, 0, 0);
  const bytes = paper.getImageData(0, 0, image.width, image.height).data;
  let text = '';
  for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
  return [image.width, image.height, btoa(text)];
}"""


def smaller(page: Page, png: bytes) -> bytes:
    """The same picture in few colours; `page` is any page, whose browser reads the file."""
    width, height, text = page.evaluate(PIXELS, base64.b64encode(png).decode())
    rgba = np.frombuffer(base64.b64decode(text), np.uint8).reshape(height * width, 4).astype(np.uint32)
    packed = rgba @ np.array([1 << 16, 1 << 8, 1, 0], np.uint32)
    colours, places = _reduced(packed)
    return _as_png(colours, places.reshape(height, width))


def _reduced(packed: npt.NDArray[np.uint32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
    """At most `COLOURS` colours, and which of them each pixel has."""
    colours, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = colours[np.sort(np.argsort(-counts, kind="stable")[:COLOURS])]
    nearest = np.argmin(np.abs(_channels(colours)[:, None, :] - _channels(kept)[None, :, :]).sum(axis=2), axis=1)
    return kept, nearest[places.ravel()].astype(np.uint8)


def _channels(colours: npt.NDArray[np.uint32]) -> npt.NDArray[np.int16]:
    return np.stack([colours >> 16 & 255, colours >> 8 & 255, colours & 255], axis=1).astype(np.int16)


def _as_png(colours: npt.NDArray[np.uint32], places: npt.NDArray[np.uint8]) -> bytes:
    height, width = places.shape
    rows = np.concatenate([np.zeros((height, 1), np.uint8), places], axis=1).tobytes()
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = {
        b"IHDR": head,
        b"PLTE": _channels(colours).astype(np.uint8).tobytes(),
        b"IDAT": zlib.compress(rows, 9),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, body) for name, body in parts.items())


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def main(folder: Path, demo: Path | None = None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, evenly_hidden_gold(), sync_playwright() as playwright:
        staged, made = Path(place) / "staged", Path(place) / "demo"
        staged.mkdir()
        if demo is None:
            subprocess.run([sys.executable, "-m", "grater", "demo", "--out", made, "--figures", "svg"], check=True)
        else:
            shutil.copytree(demo, made)
        browser = launch(playwright)
        with live_site(staged) as site, live_site(made) as alive:
            take(browser, site, alive, folder)
        (folder / TERMINAL).write_text(terminal(), "utf-8")
        shutil.copy(made / "report" / "figures" / HEADLINE, folder)
        shrink(browser, folder)
        browser.close()


def shrink(browser: Browser, folder: Path) -> None:
    """Every picture of a folder in few colours."""
    page = browser.new_page()
    for path in sorted(folder.glob("*.png")):
        path.write_bytes(smaller(page, path.read_bytes()))
    page.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
