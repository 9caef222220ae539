"""JSON objects from a file, one at a time: one to a line, the members of one array, or spread over lines.

A line that is an object by itself costs one call of the JSON parser; all else is cut at its brackets first.  Where an
object never ends, the next line that is an essay by itself starts afresh, so that one bad line costs one essay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from grater.corpora.json_text import NotJson, parse_json
from grater.errors import Problems
from grater.model import Json

# JSON strings do not hold line ends, so a string never goes on in the next line.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],]|[^\s"{}\[\],]+')


def json_objects(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each object with the line that it begins on."""
    cutter = _Cutter(problems)
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        whole = _essay_by_itself(line)
        if whole is None:
            for start, text in cutter.cut(line, number):
                yield from _parsed(start, text, problems)
        else:
            cutter.drop()
            yield number, whole
    cutter.drop()
    cutter.close()


def _essay_by_itself(line: str) -> dict[str, Json] | None:
    if not line.startswith("{"):
        return None
    try:
        value = parse_json(line.rstrip(", \t\r\n"))
    except NotJson:
        return None
    return value if isinstance(value, dict) and "text" in value else None


def _parsed(start: int, text: str, problems: Problems) -> Iterator[tuple[int, dict[str, Json]]]:
    try:
        value = parse_json(text)
    except NotJson as fault:
        problems.add(str(fault), line=start)
        return
    if isinstance(value, dict):
        yield start, value


class _Cutter:
    """Cuts a stream of lines into objects by counting brackets; keeps the lines of the one that is open."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._pieces: list[str] = []
        self._start = 0
        self._depth = 0
        self._array = "none"
        self._array_line = 0

    def cut(self, line: str, number: int) -> Iterator[tuple[int, str]]:
        at = 0
        for match in TOKEN.finditer(line):
            token = match[0]
            if self._depth == 0 and token != "{":
                if not self._between(token, number):
                    return
            elif token in "{[":
                at, self._start = (match.start(), number) if self._depth == 0 else (at, self._start)
                self._depth += 1
            elif token in "}]":
                self._depth -= 1
                if self._depth == 0:
                    yield self._start, "".join([*self._pieces, line[at : match.end()]])
                    self._pieces = []
        if self._depth:
            self._pieces.append(line[at:])

    def _between(self, token: str, number: int) -> bool:
        """Take a token that stands between objects; False where the rest of the line makes no sense."""
        if token == "[" and self._array == "none":
            self._array, self._array_line = "open", number
        elif token == "]" and self._array == "open":
            self._array = "closed"
        elif token != "," or self._array != "open":
            self._problems.add(f"expected a JSON object, found {token[:40]!r}", line=number)
            return False
        return True

    def drop(self) -> None:
        """Report the object that is open, if any: nothing more of it will come."""
        if self._depth:
            message = "expected a whole JSON object, found its beginning only; the file may be cut off"
            self._problems.add(message, line=self._start)
        self._pieces, self._depth = [], 0

    def close(self) -> None:
        if self._array == "open":
            message = "expected a ']' for this '[', found none; the file may be cut off"
            self._problems.add(message, line=self._array_line)
