"""`python -m grater.demo`: writes `essays.jsonl` from its master `essays.txt`, for those who change the sample.

The master has essays with their edits, written so that a person can read and change them.  An essay is a head, its
text, and one line for every mark, with `---` between the three:

    === sample-01
    language: Chinese
    score: 3
    titled: yes
    ---
    My Room
    I have three chair in my room.
    ---
    AB Nn | three [chair] in => chairs
    A Wcip | chairs [in] my => around / near # One cannot have them all.
    B Um | [I have] => ?

A mark names its raters and tag, then a stretch of the text that occurs once, with the marked words in brackets, then
the correction: nothing after the arrow deletes, ` / ` stands between alternatives, `?` says found but not corrected.
What follows ` # ` is a comment.  `titled` says that the first line is a title.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from grater.corpora import write_corpus
from grater.errors import GraterError, Problems
from grater.model import Edit, Essay, Json, Span

RATERS = ("A", "B")
MARK = re.compile(
    r"(?P<raters>AB|A|B) (?P<tag>\w+) \| (?P<before>[^\[]*)\[(?P<words>[^\]]+)\](?P<after>.*?)"
    r" =>(?: (?P<corrections>(?!# ).*?))?(?: # (?P<comment>.*))?"
)


def read_marked(text: str, *, name: str) -> list[Essay]:
    """The essays of a master; all its problems are reported together."""
    problems = Problems(name)
    essays, line = list[Essay](), 1
    for block in re.split("^(?==== )", text, flags=re.MULTILINE):
        if block:
            essays += _essay(block, line, problems)
        line += block.count("\n")
    problems.done()
    return essays


def _essay(block: str, line: int, problems: Problems) -> Iterator[Essay]:
    if not block.startswith("=== "):
        problems.add(f"expected '=== ' and the name of an essay, found {block.splitlines()[0]!r}", line=line)
        return
    parts = block.split("\n---\n")
    if len(parts) != 3:
        parted = "a head, a text and marks with '---' between them"
        problems.add(f"expected {parted}, found {len(parts)} parts", line=line)
        return
    head, text, marks = parts
    title, *fields = head.split("\n")
    first = line + head.count("\n") + text.count("\n") + 4
    edits: list[Edit] = []
    for number, mark in enumerate(marks.splitlines(), start=first):
        edits += _edits(mark, text, number, problems)
    edits.sort(key=lambda edit: (edit.rater, edit.span))
    for earlier, later in pairwise(edits):
        if earlier.rater == later.rater and earlier.span.end > later.span.start:
            words = f"{earlier.span.of(text)!r} and {later.span.of(text)!r}"
            problems.add(f"expected marks side by side, found {words} of {later.rater} on one place", line=later.line)
    metadata = _metadata(fields, line, problems)
    yield Essay(title.removeprefix("=== "), text, tuple(edits), RATERS, metadata=metadata, line=line)


def _metadata(fields: list[str], line: int, problems: Problems) -> dict[str, Json]:
    metadata: dict[str, Json] = {}
    for number, field in enumerate(fields, start=line + 1):
        key, _, value = field.partition(": ")
        if not value or (key == "score" and not value.isdecimal()) or (key == "titled" and value != "yes"):
            problems.add(
                f"expected 'key: value', a number as score, titled only with yes; found {field!r}", line=number
            )
        elif key == "titled":
            metadata[key] = True
        else:
            metadata[key] = int(value) if key == "score" else value
    return metadata


def _edits(mark: str, text: str, line: int, problems: Problems) -> Iterator[Edit]:
    match = MARK.fullmatch(mark)
    if match is None:
        problems.add(f"expected 'AB Tag | before [words] after => correction', found {mark!r}", line=line)
        return
    stretch = match["before"] + match["words"] + match["after"]
    if text.count(stretch) != 1:
        problems.add(f"expected {stretch!r} once in the text, found it {text.count(stretch)} times", line=line)
        return
    start = text.index(stretch) + len(match["before"])
    span = Span(start, start + len(match["words"]))
    corrections = () if match["corrections"] == "?" else tuple((match["corrections"] or "").split(" / "))
    if match["words"] in corrections:
        problems.add(f"expected a correction that changes something, found {match['words']!r}", line=line)
        return
    for rater in match["raters"]:
        yield Edit(span, corrections, match["tag"], rater, match["comment"] or "", line=line)


def main() -> int:
    """The exit status: 0, or 2 where the master cannot be read."""
    folder = Path(str(files("grater.demo")))
    try:
        essays = read_marked((folder / "essays.txt").read_text("utf-8"), name="essays.txt")
        write_corpus(essays, folder / "essays.jsonl", lambda loss: _say(str(loss)))
    except GraterError as error:
        _say(str(error))
        return 2
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
