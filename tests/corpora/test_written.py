"""What formats write, and the losses that they report: `written.txt` has them, whose words an editor may change.

A case is one or more essays as JSON: an edit is [start, end, replacements, tag, rater, comment, extra], the id `#` is
that of the text, and tokens `true` are its words.  Below it stands what is written, with signs for line ends and the
like, what differs when it is read again (`~`), and every loss (`!`).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grater.corpora.formats import Loss
from grater.corpora.m2 import token_spans_of_line
from grater.model import Edit, Essay, Span, short_hash
from tests.corpora.sources import Case, cases_of
from tests.corpora.test_formats import read, written

CASES = cases_of(Path(__file__).with_name("written.txt"))
SHOWN = ("m2", "bea", "brat", "text", "table")
"""Formats whose files are short enough to be looked at whole."""

COMPARED = ("nucle", "fce", "brat")
SIGNS = str.maketrans({"\n": "⏎", "\t": "⇥", "\0": "␀", "\ufeff": "\\ufeff", "\u2060": "\\u2060"})


def essays_of(line: str) -> list[Essay]:
    return [essay_of(**json.loads(each)) for each in line.replace("} {", "}\n{").split("\n")]


def essay_of(
    id: str,  # noqa: A002
    text: str,
    edits: Any = (),
    annotators: Any = (),
    tokens: Any = None,
    metadata: Any = None,
) -> Essay:
    made = tuple(Edit(Span(start, end), tuple(words), *rest) for start, end, words, *rest in edits)
    spans = token_spans_of_line(text) if tokens is True else tuple(Span(*pair) for pair in tokens or ())
    return Essay(
        short_hash(text) if id == "#" else id,
        text,
        made,
        tuple(annotators),
        None if tokens is None else spans,
        metadata or {},
    )


def differences(essay: Essay, again: Essay) -> list[str]:
    """What is another when an essay is read again."""
    shown: list[str] = []
    for name in ("essay_id", "text", "edits", "annotators", "metadata"):
        if (value := getattr(again, name)) != getattr(essay, name):
            if name == "edits":
                value = [[each.span.start, each.span.end, each.replacements, each.tag, each.rater] for each in value]
            shown.append(f"~ {name}: {json.dumps(value, default=dict)}")
    return shown


def answers(name: str, line: str) -> list[str]:
    essays, losses = essays_of(line), list[Loss]()
    files = written(name, essays, losses.append)
    again = read(name, files)
    shown = [text if path == "file" else f"{path}: {text}" for path, text in files.items()] if name in SHOWN else []
    if name in COMPARED:
        shown += [line for pair in zip(essays, again, strict=True) for line in differences(*pair)]
    lines = [each.translate(SIGNS) for each in [*shown, *(f"! {loss}" for loss in losses)]]
    return [re.sub(" $", "␣", each) or "∅" for each in lines if not each.startswith("annotation.conf")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.base}: {case.damage[:60]}")
def test_essays_are_written_and_losses_reported(case: Case) -> None:
    assert answers(case.base, case.damage) == case.answers
