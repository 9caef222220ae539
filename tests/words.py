"""Every word that a user can read, in one listing for an editor: `python -m tests.words [PART ...] > words.txt`.

Parts are the packages below.  Pages give the text of their templates, and what their scripts say; Python gives every
string with a space in it that is no docstring, which are labels, messages, help texts, guidelines and report texts.
A line has the file, the line, and the words; what is filled in stands in braces.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parents[1] / "src" / "grater"
PARTS = ("annotate", "cli", "reporting", "measure", "corpora", "detect")
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|<(?:script|style|svg)\b.*?</(?:script|style|svg)>|<[^>]+>", re.S)
LABELS = re.compile(r'(?:title|placeholder|aria-label)="([^"{]*[a-z] [^"{]*)"')
SAID = re.compile(r'"((?:[^"\\\n])*[a-z] [a-z](?:[^"\\\n])*)"|`([^`\n]*[a-z] [a-z$][^`\n]*)`')
SENTENCE = re.compile(r"[A-Za-z]{2,} [A-Za-z{]")


class Phrase(NamedTuple):
    file: str
    line: int
    words: str


def phrases(parts: Sequence[str] = PARTS) -> Iterator[Phrase]:
    for part in parts:
        for path in sorted((SOURCE / part).rglob("*")):
            if path.suffix in READERS:
                name = path.relative_to(SOURCE).as_posix()
                yield from (
                    Phrase(name, line, words) for line, words in READERS[path.suffix](path.read_text("utf-8"))
                )


def of_python(text: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    seen = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            seen |= {id(part) for part in ast.walk(node)}
            words = "".join(_filled(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in seen:
            words = node.value
        else:
            continue
        if SENTENCE.search(words):
            yield node.lineno, " ".join(words.split())


def _filled(part: ast.expr) -> str:
    return str(part.value) if isinstance(part, ast.Constant) else "{}"


def of_page(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        shown = " ".join(MARKUP.sub(" ", re.sub(r"\{\{.*?\}\}", "{}", line)).split())
        for words in (*LABELS.findall(line), shown):
            if SENTENCE.search(words):
                yield number, words


def of_script(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith(("//", "*", "/*")):
            yield from ((number, one or other) for one, other in SAID.findall(line))


READERS = {".py": of_python, ".html": of_page, ".js": of_script}


if __name__ == "__main__":
    for phrase in phrases(sys.argv[1:] or PARTS):
        sys.stdout.write(f"{phrase.file}:{phrase.line}: {phrase.words}\n")
