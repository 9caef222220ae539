"""Every word that a user can read, in one listing for an editor: `python -m release.words [PART ...] > words.txt`.

A part is a package of grater; none is all of them.  Pages give the text of their templates, and what their scripts
say; Python gives every string with a space in it that is no docstring, which are labels, messages, help texts,
guidelines and report texts.  A line has the file, the line, and the words; what is filled in stands in braces.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "grater"
MARKUP = re.compile(r"\{#.*?#\}|\{%.*?%\}|<(?:script|style|svg)\b.*?</(?:script|style|svg)>|<[^>]+>", re.S)
LABELS = re.compile(r'(?:title|placeholder|aria-label)="([^"{]*[a-z] [^"{]*)"')
SAID = re.compile(r'"((?:[^"\\\n])*[a-z] [a-z](?:[^"\\\n])*)"|`([^`\n]*[a-z] [a-z$][^`\n]*)`')
SENTENCE = re.compile(r"[A-Za-z]{2,} [A-Za-z{]")


def of_python(text: str) -> Iterator[tuple[int, str]]:
    tree = ast.parse(text)
    seen = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            seen |= {id(part) for part in ast.walk(node)}
            filled = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(filled)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in seen:
            yield node.lineno, node.value


def of_page(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        shown = MARKUP.sub(" ", re.sub(r"\{\{.*?\}\}", "{}", line))
        yield from ((number, words) for words in (*LABELS.findall(line), shown))


def of_script(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.lstrip().startswith(("//", "*", "/*")):
            yield from ((number, one or other) for one, other in SAID.findall(line))


READERS = {".py": of_python, ".html": of_page, ".js": of_script}


if __name__ == "__main__":
    for part in sys.argv[1:] or [""]:
        for path in sorted((SOURCE / part).rglob("*")):
            for line, words in READERS[path.suffix](path.read_text("utf-8")) if path.suffix in READERS else ():
                if SENTENCE.search(words):
                    sys.stdout.write(f"{path.relative_to(SOURCE)}:{line}: {' '.join(words.split())}\n")
