"""Feedback as one HTML page: the marked text and a list of suggestions; nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import groupby

from grater.cli.check_feedback import Feedback, advice, question
from grater.detect.detector import Finding
from grater.model import Span

STYLE = """
body { font: 18px/1.6 Georgia, serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
body { color: #222; background: #fff }
h1 { font-size: 1.3rem } .essay { white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: #ffe08a; color: inherit; border-radius: 3px; padding: 0 2px }
mark { text-decoration: underline wavy #b3261e }
mark.gap { padding: 0 4px } a { color: inherit } sup { font-size: .65em; text-decoration: none }
ol li { margin: .4rem 0 } .type { color: #595959; font-size: .85em }
li:target { outline: 2px solid #b3261e; outline-offset: 4px }
"""


def page(feedback: Feedback) -> str:
    """The whole page."""
    flags = _places(feedback)
    text = "".join(_marked(feedback.essay.text, flags))
    notes = "".join(_note(number, findings) for number, (_, findings) in enumerate(flags, 1))
    listed = f"<ol>{notes}</ol>" if notes else "<p>Nothing to look at again.</p>"
    title = escape(f"Feedback on {feedback.name}")
    return (
        f'<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f'<body><h1>{title}</h1>\n<div class="essay">{text}</div>\n'
        f"<h2>To look at again</h2>\n{listed}\n</body></html>\n"
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
        f'<span class="type">{escape(finding.decision.type)}, {escape(finding.decision.system)}</span>'
        for finding in findings
    )
    return f'<li id="note-{number}">{said} <a href="#place-{number}">back</a></li>\n'
