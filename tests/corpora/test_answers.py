"""The answers to damaged files and to edits with defects: `answers.txt` has them, whose words an editor may change.

A section names what its cases are put into.  A case is what is damaged, with ⏎ for the end of a line, ⇥ for a tab,
␣ for a space at the rim, ∅ for nothing, and below it all that is reported: problems with their lines, findings with
their rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grater.corpora.check import check_essays
from grater.errors import BadInput
from grater.model import Edit, Essay, Span
from tests.corpora import test_bea, test_brat, test_fce, test_jsonl, test_nucle
from tests.corpora.sources import Case, cases_of
from tests.corpora.test_formats import read


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


CASES = cases_of(Path(__file__).with_name("answers.txt"))


def answers(base: str, damage: str) -> list[str]:
    if base == LINT:
        return linted(damage)
    name, text = base.partition(",")[0], BASES[base](damage)
    files = {"e.txt": test_brat.TEXT, "e.ann": text} if name == "brat" else {"file": text}
    with pytest.raises(BadInput) as caught:
        list(read(name, files))
    return [f"{problem.line}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.base}: {case.damage[:40]}")
def test_damage_and_defects_are_answered_with_their_line_and_what_was_expected(case: Case) -> None:
    assert answers(case.base, case.damage) == case.answers


def test_every_section_is_known() -> None:
    assert {case.base for case in CASES} == {*BASES, LINT}
