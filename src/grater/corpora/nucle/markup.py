"""NUCLE's markup: from lines to documents, each a tree of elements.

Only what looks like a whole tag on one line is a tag.  Elements that hold words (TITLE, P, TYPE, CORRECTION, COMMENT
and any that NUCLE does not know) end at a NUCLE tag or at their own end tag; anything else in them is words.  Names
of NUCLE's elements are read in capitals and small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from grater.corpora.nucle.characters import NAME, decoded
from grater.errors import Problems

PARENTS: dict[str, tuple[str, ...]] = {
    "DOC": (),
    "TEXT": ("DOC",),
    "TITLE": ("TEXT",),
    "P": ("TEXT", "REFERENCE"),
    "REFERENCE": ("TEXT",),
    "ANNOTATION": ("DOC",),
    "MISTAKE": ("ANNOTATION",),
    "TYPE": ("MISTAKE",),
    "CORRECTION": ("MISTAKE",),
    "COMMENT": ("MISTAKE",),
}
OF_ELEMENTS = {"DOC", "TEXT", "REFERENCE", "ANNOTATION", "MISTAKE"}
OF_UNKNOWN = ("DOC", "ANNOTATION", "MISTAKE")

TAG = re.compile(rf"</(?P<end>{NAME})[ \t\r]*>|<(?P<start>{NAME})(?P<rest>[ \t\r][^<>\n]*|/)?>")
ATTRIBUTE = re.compile(rf"""[ \t\r]*(?P<name>{NAME})=(?:"(?P<double>[^"]*)"|'(?P<single>[^']*)')[ \t\r]*""")
DECLARATION = re.compile(r"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
BLANK = " \t\r\n"


@dataclass(slots=True)
class Element:
    """A tag, what it says, and what lies between it and its end; `words` is the file's own writing, not decoded."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    @property
    def text(self) -> str:
        return decoded(self.words)

    def named(self, name: str) -> list[Element]:
        return [child for child in self.children if child.name == name]

    def unknown(self) -> list[Element]:
        return [child for child in self.children if child.name not in PARENTS]


def documents(lines: Iterable[str], problems: Problems) -> Iterator[Element]:
    """The DOC elements of a file, one at a time; a document with a fault in its markup is told of and left out."""
    tree = _Tree(problems)
    number = 0
    for number, line in enumerate(lines, 1):
        yield from tree.feed(line, number)
    tree.finish(number)


class _Tree:
    """The elements open at this place of the file, outermost first."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._open: list[Element] = []
        self._broken = False

    def feed(self, line: str, number: int) -> Iterator[Element]:
        if line.endswith("\r\n"):
            line = line[:-2] + "\n"
        if number == 1:
            line = line.removeprefix("\ufeff")
        position = 0
        for match in TAG.finditer(line):
            self._words(line[position : match.start()], number)
            document = self._start(match, number) if match["start"] else self._end(match[0], match["end"], number)
            if document:
                yield document
            position = match.end()
        self._words(line[position:], number)

    def finish(self, number: int) -> None:
        if self._open:
            self._wrong(f"expected {_end_of(self._open[-1])}, found the end of the file; is it cut short?", number)

    def _wrong(self, message: str, line: int) -> None:
        self._broken = True
        self._problems.add(message, line=line)

    @property
    def _in_words(self) -> bool:
        return bool(self._open) and self._open[-1].name not in OF_ELEMENTS

    def _words(self, words: str, line: int) -> None:
        if self._in_words:
            self._open[-1].pieces.append(words)
        elif words.strip(BLANK):
            if DECLARATION.search(words):
                self._refuse_declaration(line)
            where = f"inside <{self._open[-1].name}>" if self._open else "outside <DOC>"
            self._wrong(f"expected a NUCLE tag, found text {where}: {_shortened(words.strip(BLANK))}", line)

    def _refuse_declaration(self, line: int) -> None:
        self._wrong("expected <DOC>, found a declaration; grater expands no entities: take it out", line)
        self._problems.done()

    def _start(self, match: re.Match[str], line: int) -> Element | None:
        name, rest = _proper(match["start"]), match["rest"] or ""
        if self._in_words and name not in PARENTS:
            self._words(match[0], line)
        elif self._is_slip(name):
            self._open.pop()
        else:
            self._make_room(name, line)
            self._push(Element(name, line, self._attributes(rest.removesuffix("/"), match[0], line)))
            if rest.endswith("/"):
                return self._end(match[0], name, line)
        return None

    def _is_slip(self, name: str) -> bool:
        """Whether this is the `<P>` that NUCLE writes for `</P>` in a REFERENCE."""
        return name == "P" and [element.name for element in self._open[-2:]] == ["REFERENCE", "P"]

    def _make_room(self, name: str, line: int) -> None:
        """Close what cannot hold the element, as a problem, so that one missing end tag is told once."""
        parents = PARENTS.get(name, OF_UNKNOWN)
        fitting = [place for place, element in enumerate(self._open, 1) if element.name in parents]
        room = fitting[-1] if fitting else 0
        if parents and (not fitting or (name not in PARENTS and room < len(self._open))):
            found = f"inside <{self._open[-1].name}>" if self._open else "outside <DOC>"
            self._wrong(f"expected <{name}> inside <{'> or <'.join(parents)}>, found it {found}", line)
        elif room < len(self._open):
            self._wrong(f"expected {_end_of(self._open[-1])}, found <{name}>", line)
            del self._open[room:]

    def _push(self, element: Element) -> None:
        if self._open:
            self._open[-1].children.append(element)
        elif element.name == "DOC":
            self._broken = False
        self._open.append(element)

    def _end(self, tag: str, name: str, line: int) -> Element | None:
        """Close an element; a document that is whole is handed on."""
        name = _proper(name)
        places = [place for place, element in enumerate(self._open) if element.name == name]
        if self._in_words and name not in PARENTS and name != self._open[-1].name:
            self._words(tag, line)
        elif not places and self._in_words:
            self._wrong(f"expected {_end_of(self._open[-1])}, found {tag}", line)
        elif not places:
            self._wrong(f"expected no {tag}, as no <{name}> is open; take it out", line)
        else:
            return self._close(places[-1], tag, line)
        return None

    def _close(self, place: int, tag: str, line: int) -> Element | None:
        element = self._open[place]
        if element is not self._open[-1]:
            self._wrong(f"expected {_end_of(self._open[-1])}, found {tag}", line)
        del self._open[place:]
        return element if element.name == "DOC" and not self._broken else None

    def _attributes(self, words: str, tag: str, line: int) -> dict[str, str]:
        attributes: dict[str, str] = {}
        position = 0
        while match := ATTRIBUTE.match(words, position):
            if match["name"] in attributes:
                self._wrong(f"expected {match['name']} once in a tag, found it again: {_shortened(tag)}", line)
            value = match["double"] if match["double"] is not None else match["single"]
            attributes[match["name"]] = decoded(value)
            position = match.end()
        if words[position:].strip(BLANK):
            self._wrong(f'expected attributes as name="value", found {_shortened(tag)}', line)
        return attributes


def _proper(name: str) -> str:
    return name.upper() if name.upper() in PARENTS else name


def _end_of(element: Element) -> str:
    return f"</{element.name}> for the <{element.name}> of line {element.line}"


def _shortened(words: str) -> str:
    return repr(words if len(words) <= 40 else words[:37] + "...")
