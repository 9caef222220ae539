"""Essays as people bring them: pasted into a page, or in files of plain text, which keep their names.

Several essays are pasted at once with a line of three hyphens or more between two.  A first line that begins with
`#` is the title of its essay and no part of it; an essay without one is called by its number and its first words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from grater.corpora import FORMATS, format_for, read_corpus
from grater.corpora.identity import EssayIds
from grater.corpora.source import files_of
from grater.model import Essay

BETWEEN = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
TITLE = re.compile(r"\A#+[ \t]*(?P<title>[^\n]+)\n")
HARD_TO_NAME = re.compile(r"[^\w ()+-]+")
LONGEST_TITLE = 60
FIRST_WORDS = 4
NAME = "name"
"""The metadata of an essay that says what its file or its paste was called."""


def pasted_essays(pasted: str) -> list[tuple[str, str]]:
    """The title and the text of each essay that was pasted, all titles different."""
    parts = [part.strip("\n") for part in BETWEEN.split(pasted.replace("\r\n", "\n"))]
    essays: dict[str, str] = {}
    for number, part in enumerate((part for part in parts if part.strip()), 1):
        headed = TITLE.match(part)
        text = part[headed.end() :].lstrip("\n") if headed else part
        title = _plain(headed["title"]) if headed else ""
        title = title or _plain(f"{number} {' '.join(text.split()[:FIRST_WORDS])}")
        essays[title if title not in essays else f"{title} ({number})"] = f"{text}\n"
    return [(title, text) for title, text in essays.items() if text.strip()]


def _plain(words: str) -> str:
    return HARD_TO_NAME.sub(" ", words).strip()[:LONGEST_TITLE].strip()


def named_essays(path: Path, format_name: str | None) -> Iterator[Essay]:
    """The essays of a file or folder; where they are plain text, each knows the name of its file."""
    chosen = format_for(path, format_name)
    if chosen is not FORMATS["text"]:
        yield from read_corpus(path, format_name=format_name)
        return
    ids = EssayIds()
    for file in files_of(path, chosen):
        for essay in read_corpus(file, format_name="text"):
            yield replace(essay, essay_id=ids.of_document(essay.essay_id), metadata={NAME: file.stem})


def name_of(essay: Essay) -> str:
    """What people call an essay: the name that it came with, else its id."""
    return str(essay.metadata.get(NAME) or essay.essay_id)
