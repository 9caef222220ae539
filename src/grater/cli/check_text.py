"""Feedback on a terminal: the sentence of each flag with the place marked, and what to do."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from grater.cli.check_feedback import Feedback, advice, limits, reason, source
from grater.cli.output import messages
from grater.detect.detector import Finding
from grater.model import Span
from grater.sheet import counted

AROUND = 60
"""Characters of the text shown on each side of a flag."""


def show(feedback: Feedback) -> None:
    """Print the feedback."""
    console = Console(highlight=False, soft_wrap=True)
    for finding in feedback.flags:
        console.print(_place(feedback, finding, has_colours=bool(console.color_system)))
        console.print(Text(f"      {advice(finding)}", "bold green"), Text(_note(finding), "dim"), end="\n\n")
    looked = "; ".join(f"{name} looked at {n:,}" for name, n in feedback.n_candidates.items())
    told = (
        f"{counted(len(feedback.flags), 'place')} to look at again" if feedback.flags else "nothing to look at again"
    )
    console.print(Text(f"{feedback.name}: {told} ({looked})", "bold"))
    if limits(feedback):
        messages.print(Text(limits(feedback), "dim"), soft_wrap=False)


def _note(finding: Finding) -> str:
    return f"  {reason(finding)} ({source(finding)})"


def _place(feedback: Feedback, finding: Finding, *, has_colours: bool) -> Text:
    """The text around a flag, the flagged words in red; in a file or a pipe, which have no colours, in brackets."""
    text, span = feedback.essay.text, finding.item.span
    line = text.count("\n", 0, span.start) + 1
    start, end = _window(text, span)
    marked = span.of(text) if len(span) else "▁"
    marked = marked if has_colours else f"[{marked}]"
    shown = Text(f"{line:>4}  ", "dim")
    shown.append(("…" if text[:start].strip() else "") + _flat(text[start : span.start]))
    shown.append(marked, "bold red underline")
    if not len(span):
        shown.append(" ")
    shown.append(_flat(text[span.end : end]) + ("…" if text[end:].strip() else ""))
    return shown


def _window(text: str, span: Span) -> tuple[int, int]:
    """Some text on both sides of a span, up to the ends of its line and of words."""
    start = max(text.rfind("\n", 0, span.start) + 1, span.start - AROUND)
    newline = text.find("\n", span.end)
    end = min(len(text) if newline < 0 else newline, span.end + AROUND)
    if start and text[start - 1] not in " \n":
        start = max(start, text.find(" ", start, span.start) + 1)
    if end < len(text) and text[end] not in " \n":
        end = max(span.end, text.rfind(" ", span.end, end))
    return start, end


def _flat(text: str) -> str:
    return text.replace("\n", " ").replace("\t", " ")
