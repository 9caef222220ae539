"""Feedback as one HTML page that loads nothing, to be read on a screen or printed.

The text stands first with its marks, each with the number of its note; the notes give the better word, the rule with
an example the first time it comes up, who says so and how sure they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from grater.detect.explanations import Explanation
from grater.detect.marks import Mark, advice, source, why
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
h1, h2, .note, li { font-family: Inter, "Helvetica Neue", Arial, sans-serif; line-height: 1.45 }
h1 { font-size: 1.4rem; margin: 0 } h2 { font-size: 1.05rem; margin: 2.5rem 0 .5rem }
.note { color: var(--soft); font-size: .9rem; margin: .4rem 0 2rem }
.essay { white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: var(--mark); color: inherit; border-radius: 3px; padding: .05em .15em }
mark { text-decoration: underline wavy var(--pen) 1.5px; text-underline-offset: .2em }
mark.gap { padding: 0 .35em } a { color: inherit }
sup { font-size: .62em; line-height: 0; margin-left: .1em } sup a { text-decoration: none }
ol { padding-left: 1.6rem; margin: 0 }
li { padding: .6rem 0; border-bottom: 1px solid var(--line); font-size: .95rem }
li strong { color: var(--good); font-size: 1.05rem; margin-right: .4rem }
.why { margin: .25rem 0 0 } .example { margin: .25rem 0 0; font-size: .9em; color: var(--soft) }
.example b { color: var(--good); font-weight: 600 } .example s { color: var(--pen); text-decoration: none }
.type, .back { color: var(--soft); font-size: .85em }
li:target, mark:target { outline: 2px solid var(--pen); outline-offset: 3px; border-radius: 3px }
@media print { .back { display: none } body { margin: 0 auto } }
"""


BADGES = """<s aria-hidden="true">✗</s> {wrong}<br><b aria-hidden="true">✓</b> {right}"""


def page(title: str, *, note: str, text: str, marks: Sequence[Mark]) -> str:
    """The whole page."""
    essay = "".join(_marked(text, [mark.span for mark in marks]))
    notes = "".join(_notes(marks))
    listed = f"<h2>To look at again</h2>\n<ol>{notes}</ol>" if notes else "<h2>Nothing to look at again</h2>"
    return whole_page(title, f'<p class="note">{escape(note)}</p>\n<div class="essay">{essay}</div>\n{listed}')


def whole_page(title: str, body: str, *, style: str = STYLE) -> str:
    """A page that loads nothing: a heading and what comes below it."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="color-scheme" content="light dark"><style>{style}</style></head>\n'
        f"<body><main><h1>{escape(title)}</h1>\n{body}\n</main></body></html>\n"
    )


def _marked(text: str, spans: Sequence[Span]) -> Iterator[str]:
    """The text with its marks; a span that overlaps the one before is marked from where that ends."""
    done = 0
    for number, span in enumerate(spans, 1):
        start = max(done, span.start)
        end = max(start, span.end)
        words = escape(text[start:end]) or "&#8203;"
        kind = "" if end > start else ' class="gap"'
        link = f'<sup><a href="#note-{number}">{number}</a></sup>'
        yield f'{escape(text[done:start])}<mark id="place-{number}"{kind}>{words}{link}</mark>'
        done = end
    yield escape(text[done:])


def _notes(marks: Sequence[Mark]) -> Iterator[str]:
    """A note per mark; a rule has its example where it comes up first."""
    shown: set[str] = set()
    for number, mark in enumerate(marks, 1):
        rule = mark.explanation.rule if mark.explanation else ""
        yield _note(number, mark, with_example=bool(rule) and rule not in shown)
        shown.add(rule)


def _note(number: int, mark: Mark, *, with_example: bool) -> str:
    lines = "<br>".join(
        f'<strong>{escape(advice(finding))}</strong> <span class="type">{escape(source(finding))}</span>'
        for finding in mark.findings
    )
    example = _example(mark.explanation) if mark.explanation and with_example else ""
    back = f'<a class="back" href="#place-{number}">back to the text</a>'
    return f'<li id="note-{number}">{lines} {back}<p class="why">{escape(why(mark))}</p>{example}</li>\n'


def _example(explanation: Explanation) -> str:
    sides = BADGES.format(wrong=escape(explanation.wrong), right=escape(explanation.right))
    return f'<p class="example">{sides}</p>'
