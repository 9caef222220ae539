"""Feedback as one HTML page: the marked text and a list of suggestions; nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import PurePath

from grater.cli.check_feedback import Feedback, advice, limits, question, source
from grater.detect.detector import Finding
from grater.model import Span

STYLE = """
:root { --ink: #1c1e21; --soft: #5c6370; --paper: #fffffe; --line: #e3e5e8 }
:root { --mark: #fff1c2; --pen: #b3261e; --good: #00694d }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #ececee; --soft: #a5abb6; --paper: #16181b; --line: #34383f }
  :root { --mark: #4a3d12; --pen: #ff8a80; --good: #38cfa0 }
}
body { font: 18px/1.7 Georgia, "Times New Roman", serif; max-width: 44rem; margin: 2.5rem auto; padding: 0 1.25rem }
body { color: var(--ink); background: var(--paper) }
h1, h2, .told, li { font-family: Inter, "Helvetica Neue", Arial, sans-serif; line-height: 1.45 }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.5rem 0 .5rem }
.told { color: var(--soft); font-size: .9rem; margin: .4rem 0 2rem }
.essay { white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: .05em .15em }
mark { text-decoration: underline wavy var(--pen) 1.5px; text-underline-offset: .2em }
mark.gap { padding: 0 .35em } a { color: inherit }
sup { font-size: .62em; line-height: 0; margin-left: .1em } sup a { text-decoration: none }
ol { padding-left: 1.6rem; margin: 0 }
li { padding: .6rem 0; border-bottom: 1px solid var(--line); font-size: .95rem }
li strong { color: var(--good); font-size: 1.05rem; margin-right: .4rem }
.type, .back { color: var(--soft); font-size: .85em }
li:target, mark:target { outline: 2px solid var(--pen); outline-offset: 3px; border-radius: 3px }
@media print { .back { display: none } body { margin: 0 auto } }
"""


def page(feedback: Feedback) -> str:
    """The whole page."""
    flags = _places(feedback)
    text = "".join(_marked(feedback.essay.text, flags))
    notes = "".join(_note(number, findings) for number, (_, findings) in enumerate(flags, 1))
    listed = f"<h2>To look at again</h2>\n<ol>{notes}</ol>" if notes else "<h2>Nothing to look at again</h2>"
    title = escape(f"Feedback on {PurePath(feedback.name).name}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{STYLE}</style></head>\n'
        f'<body><main><h1>{title}</h1>\n<p class="told">{escape(limits(feedback))}</p>\n'
        f'<div class="essay">{text}</div>\n{listed}\n</main></body></html>\n'
    )


def _places(feedback: Feedback) -> list[tuple[Span, list[Finding]]]:
    """Flags by their place: several systems may flag the same."""
    return [(span, list(same)) for span, same in groupby(feedback.flags, key=lambda finding: finding.item.span)]


def _marked(text: str, flags: list[tuple[Span, list[Finding]]]) -> Iterator[str]:
    """The text with its marks; a place that overlaps the one before is marked from where that ends."""
    done = 0
    for number, (span, _) in enumerate(flags, 1):
        start = max(done, span.start)
        end = max(start, span.end)
        words = escape(text[start:end]) or "&#8203;"
        kind = "" if end > start else ' class="gap"'
        link = f'<sup><a href="#note-{number}">{number}</a></sup>'
        yield f'{escape(text[done:start])}<mark id="place-{number}"{kind}>{words}{link}</mark>'
        done = end
    yield escape(text[done:])


def _note(number: int, findings: list[Finding]) -> str:
    said = "<br>".join(
        f"<strong>{escape(advice(finding))}</strong> {escape(question(finding))} "
        f'<span class="type">{escape(source(finding))}</span>'
        for finding in findings
    )
    return f'<li id="note-{number}">{said} <a class="back" href="#place-{number}">back to the text</a></li>\n'
