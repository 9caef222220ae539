"""The pictures of the README that need no browser: a terminal with `grater check`, and the report's first figure.

`python -m tests.browser.pictures docs/images/guide` writes them with all others.  What is said in them is held by
`tests/browser/test_pictures.py`: words, not pixels or numbers of a bootstrap.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html import unescape
from io import StringIO
from pathlib import Path

from playwright.sync_api import Page
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

TERMINAL, HEADLINE = "terminal.svg", "headline.svg"
LEARNER = "I am interested of old cities. We discussed about our plans."
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
        [program, "check", "-"], input=LEARNER, env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def terminal() -> str:
    """A terminal in which somebody has checked a text, as SVG."""
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(Text.from_markup(f'[bold green]$[/] echo "{LEARNER}" | grater check -'), soft_wrap=False)
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
