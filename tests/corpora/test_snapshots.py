"""Answers to damage, and what formats write: `answers.txt` and `written.txt`, whose words an editor may change.

In `answers.txt` a section names what its cases are put into.  A case is what is damaged, with ⏎ for the end of a
line, ⇥ for a tab, ␣ for a space at the rim, ∅ for nothing, and below it all that is reported: problems with their
lines, findings with their rules.

In `written.txt` a case is one or more essays as JSON: an edit is [start, end, replacements, tag, rater, comment,
extra], the id `#` is that of the text, and tokens `true` are its words.  Below it stands what is written, with signs
for line ends and the like, what differs when it is read again (`~`), and every loss (`!`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grater.corpora.check import check_essays
from grater.corpora.formats import Loss
from grater.corpora.m2 import token_spans_of_line
from grater.errors import BadInput
from grater.model import Edit, Essay, Span, short_hash
from tests.corpora import test_bea, test_brat, test_fce, test_jsonl, test_nucle
from tests.corpora.sources import Case, cases_of
from tests.corpora.test_formats import read, written


def of_nucle(case: str) -> str:
    """The essay with one of its pieces replaced."""
    old, new = case.split(" ⇒ ")
    assert test_nucle.ESSAY.count(old) == 1
    return test_nucle.ESSAY.replace(old, new)


BASES: dict[str, Callable[[str], str]] = {
    "bea, a line between two good ones": lambda case: (
        f"{test_bea.lines_of(test_bea.FIRST)}{case}\n{test_bea.lines_of(test_bea.SECOND)}"
    ),
    "brat, a line of marks between two good ones": lambda case: f"T2\tMec 3 6\tdog\n{case}\nT3\tMec 0 2\tMy\n",
    "fce, what is in an answer": lambda case: f"\n{test_fce.script_of(case)}",
    "fce, before the script": lambda case: test_fce.SCRIPT.replace("<learner>", f"{case}\n<learner>"),
    "fce, a file": str,
    "jsonl, a line after the header": lambda case: f'{test_jsonl.HEAD}{case}\n{{"id":"b","text":""}}\n',
    "jsonl, a first line": lambda case: case,
    "jsonl, fields of an edit": lambda case: test_jsonl.edit_with(**json.loads(case)),
    "m2, a file": str,
    "nucle, a piece of the essay": of_nucle,
    "nucle, a place": lambda case: test_nucle.document(
        "I has one.", "Two.", mistakes=test_nucle.mistake("0:2-0:5") + test_nucle.mistake(case)
    ),
    "nucle, a file": str,
}


LINT = "lint, an edit in braces: tag | text | correction"


def linted(case: str) -> list[str]:
    case = re.sub(r"\\u([0-9a-f]{4})", lambda match: chr(int(match[1], 16)), case)
    tag, marked, *corrections = case.split(" | ")
    span = Span(marked.find("{"), marked.find("}") - 1)
    edits = (Edit(span, tuple(corrections), tag, "A", line=7),) if "{" in marked else ()
    essay = Essay("e", marked.replace("{", "").replace("}", ""), edits, ("A",), line=3)
    findings = list(check_essays([essay]))
    assert {finding.line for finding in findings} <= {7 if edits else 3}
    return [f"{finding.rule}: {finding.message}" for finding in findings]


ANSWERS = cases_of(Path(__file__).with_name("answers.txt"))


def answers(base: str, damage: str) -> list[str]:
    if base == LINT:
        return linted(damage)
    name, text = base.partition(",")[0], BASES[base](damage)
    files = {"e.txt": test_brat.TEXT, "e.ann": text} if name == "brat" else {"file": text}
    with pytest.raises(BadInput) as caught:
        list(read(name, files))
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize("case", ANSWERS, ids=lambda case: f"{case.base}: {case.damage[:40]}")
def test_damage_and_defects_are_answered_with_their_line_and_what_was_expected(case: Case) -> None:
    assert answers(case.base, case.damage) == case.answers


def test_every_section_is_known() -> None:
    assert {case.base for case in ANSWERS} == {*BASES, LINT}


WRITTEN = cases_of(Path(__file__).with_name("written.txt"))
SHOWN = ("m2", "bea", "brat", "text", "table")
"""Formats whose files are short enough to be looked at whole."""

COMPARED = ("nucle", "fce", "brat")
SIGNS = str.maketrans({"\n": "⏎", "\t": "⇥", "\0": "␀", "\ufeff": "\\ufeff", "\u2060": "\\u2060"})


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


def seen_of(name: str, line: str) -> list[str]:
    essays = [essay_of(**json.loads(each)) for each in line.replace("} {", "}\n{").split("\n")]
    losses: list[Loss] = []
    files = written(name, essays, losses.append)
    again = read(name, files)
    shown = [text if path == "file" else f"{path}: {text}" for path, text in files.items()] if name in SHOWN else []
    if name in COMPARED:
        shown += [line for pair in zip(essays, again, strict=True) for line in differences(*pair)]
    lines = [each.translate(SIGNS) for each in [*shown, *(f"! {loss}" for loss in losses)]]
    return [re.sub(" $", "␣", each) or "∅" for each in lines if not each.startswith("annotation.conf")]


@pytest.mark.parametrize("case", WRITTEN, ids=lambda case: f"{case.base}: {case.damage[:60]}")
def test_essays_are_written_and_losses_reported(case: Case) -> None:
    assert seen_of(case.base, case.damage) == case.answers
