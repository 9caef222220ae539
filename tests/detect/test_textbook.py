"""How `grater check` does on textbook errors, right sentences and native prose of our own (`textbook.txt`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from grater.detect.detector import Detector, Finding
from grater.detect.explanations import EXAMPLE
from grater.detect.feedback import feedback_on
from grater.detect.marks import change
from grater.detect.systems import default_systems, load_systems
from grater.model import Essay, Span


@dataclass(frozen=True, slots=True)
class Wrong:
    """A sentence with one error, on the words at `span`."""

    text: str
    right: str
    span: Span


def wrong_of(line: str) -> Wrong:
    match = EXAMPLE.search(line)
    if match is None:
        raise ValueError(line)
    before, after = line[: match.start()], line[match.end() :]
    texts = []
    for words in (match["wrong"], match["right"]):
        text = before + words + (after.lstrip(" ") if not words and before[-1:] in ("", " ") else after)
        texts.append(text[:1].upper() + text[1:])
    return Wrong(texts[0], texts[1], Span(len(before), len(before) + len(match["wrong"])))


def sections(path: Path) -> dict[str, list[str]]:
    found, current = dict[str, list[str]](), list[str]()
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("== "):
            found[line.removeprefix("== ")] = current = []
        elif line and not line.startswith("#"):
            current.append(line)
    return found


def marks(systems: Sequence[Detector], text: str) -> list[Finding]:
    return [mark.findings[0] for mark in feedback_on(Essay("e", text), systems, name="e").marks]


def is_found(wrong: Wrong, found: Sequence[Finding]) -> bool:
    """Whether a mark lies on the wrong words; at a gap, whether one begins there or at a word beside it."""
    start, end = wrong.span.start, wrong.span.end
    if start == end:
        return any(flag.item.span.start <= end + 1 and start - 1 <= flag.item.span.end for flag in found)
    return any(
        flag.item.span.start < end and start < max(flag.item.span.start + 1, flag.item.span.end) for flag in found
    )


def is_mended(wrong: Wrong, found: Sequence[Finding]) -> bool:
    """Whether one of the marks makes the right sentence of it."""
    for flag in found:
        made = change(wrong.text, flag)
        before, after = wrong.text[: made.span.start], wrong.text[made.span.end :]
        if made.replacements and before + made.replacements[0] + after == wrong.right:
            return True
    return False


@pytest.fixture(scope="module")
def systems() -> Sequence[Detector]:
    pytest.importorskip("onnxruntime")
    return load_systems(name for name in default_systems() if not name.startswith("harper"))


SENTENCES = sections(Path(__file__).with_name("textbook.txt"))


def test_most_textbook_errors_are_found_and_mended(systems: Sequence[Detector]) -> None:
    wrong = [wrong_of(line) for line in SENTENCES["wrong"]]
    found = [marks(systems, each.text) for each in wrong]
    assert len(wrong) == 100
    assert sum(map(is_found, wrong, found)) >= 85
    assert sum(map(is_mended, wrong, found)) >= 80


def test_right_sentences_and_native_prose_are_hardly_marked(systems: Sequence[Detector]) -> None:
    assert len(SENTENCES["right"]) == 100
    assert sum(bool(marks(systems, line)) for line in SENTENCES["right"]) <= 1
    prose = SENTENCES["British prose"] + SENTENCES["American prose"]
    assert len(prose) == 15
    assert sum(len(marks(systems, line)) for line in prose) <= 3


def test_mails_lists_headings_dialects_and_quotations_are_not_marked() -> None:
    pytest.importorskip("onnxruntime")
    systems = load_systems(default_systems())
    assert [line for line in SENTENCES["right in any kind of text"] if marks(systems, line)] == []
