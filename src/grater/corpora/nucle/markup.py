"""NUCLE's markup: from lines to documents, each a tree of elements, and the parts that the model has no place for.

Only what looks like a whole tag on one line is a tag.  Elements that hold words (TITLE, P, TYPE, CORRECTION, COMMENT
and any that NUCLE does not know) end at a NUCLE tag or at their own end tag; anything else in them is words.  Names
of NUCLE's elements are read in capitals and small letters.  The five named references of XML and numeric references
are resolved on reading, and characters that would be misread are escaped on writing; a `&` that begins no reference
is itself.

Unknown attributes and elements, and REFERENCE sections, are kept (`Kept`) as one JSON value under the key `sgml` of
an essay's metadata and of an edit's extra; only the parts that are set:

    {"attributes": {"DOC": {"source": "web"}, "P 2": {...}, "ANNOTATION 8": {...}},
     "elements": {"DOC": [{"name": "GRADE", "text": "B", "attributes": {...}}]},
     "references": [[3, 5]]}

The keys name an element of NUCLE and, where there may be several, its number (paragraphs count the title, annotations
have their teacher).  `references` are ranges of paragraphs.  An empty COMMENT is a key without attributes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from grater.errors import Problems
from grater.model import Json

NAME = r"[A-Za-z][A-Za-z0-9_.-]*"
REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
LIKE_A_TAG = re.compile(rf"<(?=/?(?P<name>{NAME})[ \t\r/>])")
END_OF_LINE = re.compile(r"\r(?=\n|\Z)")
IN_QUOTES = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;"})
FIRST_SURROGATE, PAST_SURROGATES, PAST_UNICODE = 0xD800, 0xE000, 0x110000


def decoded(words: str) -> str:
    """The words with their references resolved; one to no character (a surrogate, 0) is left as it is."""
    return REFERENCE.sub(_character, words) if "&" in words else words


def _character(match: re.Match[str]) -> str:
    named, decimal, hexadecimal = match.groups()
    if named:
        return NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < FIRST_SURROGATE or PAST_SURROGATES <= code < PAST_UNICODE
    return chr(code) if is_character else match[0]


def escaped(text: str, *, tags: Collection[str]) -> str:
    """Text as it may stand between two tags, where these tags (in capitals) would end it."""
    if "&" in text:
        text = REFERENCE.sub(_literal, text)
    if "<" in text:
        text = LIKE_A_TAG.sub(lambda match: "&lt;" if match["name"].upper() in tags else "<", text)
    # A line may end in `\r\n`: a `\r` of the text before a line end would be taken for part of it.
    return END_OF_LINE.sub("&#13;", text) if "\r" in text else text


def _literal(match: re.Match[str]) -> str:
    return match[0] if _character(match) == match[0] else "&amp;" + match[0][1:]


def quoted(value: str) -> str:
    """The value of an attribute, in its quotes."""
    return f'"{REFERENCE.sub(_literal, value).translate(IN_QUOTES)}"'


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
class SgmlElement:
    """A tag, what it says, and what lies between it and its end; `words` is the file's own writing, not decoded."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[SgmlElement] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return "".join(self.pieces)

    @property
    def text(self) -> str:
        return decoded(self.words)

    def named(self, name: str) -> list[SgmlElement]:
        return [child for child in self.children if child.name == name]

    def unknown(self) -> list[SgmlElement]:
        return [child for child in self.children if child.name not in PARENTS]


def documents(lines: Iterable[str], problems: Problems) -> Iterator[SgmlElement]:
    """The DOC elements of a file, one at a time; a document with a fault in its markup is reported and left out."""
    tree = _Tree(problems)
    number = 0
    for number, line in enumerate(lines, 1):
        yield from tree.feed(line, number)
    tree.finish(number)


class _Tree:
    """The elements open at this place of the file, outermost first."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._open: list[SgmlElement] = []
        self._broken = False

    def feed(self, line: str, number: int) -> Iterator[SgmlElement]:
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
            self._wrong(f"expected {_end_of(self._open[-1])}, found the end of the file; is it cut off?", number)

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
        self._wrong("expected <DOC>, found a declaration; grater does not expand entities: remove it", line)
        self._problems.done()

    def _start(self, match: re.Match[str], line: int) -> SgmlElement | None:
        name, rest = _proper(match["start"]), match["rest"] or ""
        if self._in_words and name not in PARENTS:
            self._words(match[0], line)
        elif self._is_slip(name):
            self._open.pop()
        else:
            self._make_room(name, line)
            self._push(SgmlElement(name, line, self._attributes(rest.removesuffix("/"), match[0], line)))
            if rest.endswith("/"):
                return self._end(match[0], name, line)
        return None

    def _is_slip(self, name: str) -> bool:
        """Whether this is the `<P>` that NUCLE writes for `</P>` in a REFERENCE."""
        return name == "P" and [element.name for element in self._open[-2:]] == ["REFERENCE", "P"]

    def _make_room(self, name: str, line: int) -> None:
        """Close what cannot hold the element, as a problem, so that one missing end tag is reported once."""
        parents = PARENTS.get(name, OF_UNKNOWN)
        fitting = [depth for depth, element in enumerate(self._open, 1) if element.name in parents]
        room = fitting[-1] if fitting else 0
        if parents and (not fitting or (name not in PARENTS and room < len(self._open))):
            where = f"inside <{self._open[-1].name}>" if self._open else "outside <DOC>"
            self._wrong(f"expected <{name}> inside <{'> or <'.join(parents)}>, found it {where}", line)
        elif room < len(self._open):
            self._wrong(f"expected {_end_of(self._open[-1])}, found <{name}>", line)
            del self._open[room:]

    def _push(self, element: SgmlElement) -> None:
        if self._open:
            self._open[-1].children.append(element)
        elif element.name == "DOC":
            self._broken = False
        self._open.append(element)

    def _end(self, tag: str, name: str, line: int) -> SgmlElement | None:
        """Close an element; a document that is whole is handed on."""
        name = _proper(name)
        depths = [depth for depth, element in enumerate(self._open) if element.name == name]
        if self._in_words and name not in PARENTS and name != self._open[-1].name:
            self._words(tag, line)
        elif not depths and self._in_words:
            self._wrong(f"expected {_end_of(self._open[-1])}, found {tag}", line)
        elif not depths:
            self._wrong(f"expected no {tag}, as no <{name}> is open; remove it", line)
        else:
            return self._close(depths[-1], tag, line)
        return None

    def _close(self, depth: int, tag: str, line: int) -> SgmlElement | None:
        element = self._open[depth]
        if element is not self._open[-1]:
            self._wrong(f"expected {_end_of(self._open[-1])}, found {tag}", line)
        del self._open[depth:]
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


def _end_of(element: SgmlElement) -> str:
    return f"</{element.name}> for the <{element.name}> of line {element.line}"


def _shortened(words: str) -> str:
    return repr(words if len(words) <= 40 else words[:37] + "...")


KEY = "sgml"
WHOLE_NAME = re.compile(NAME)


class Leftovers:
    """Gathers leftovers while a document is read."""

    def __init__(self) -> None:
        self._attributes: dict[str, Json] = {}
        self._elements: dict[str, Json] = {}
        self._references: list[Json] = []

    def attributes(self, key: str, element: SgmlElement, *, known: Iterable[str] = ()) -> None:
        rest: dict[str, Json] = {name: value for name, value in element.attributes.items() if name not in known}
        if rest:
            self._attributes[key] = rest

    def empty(self, key: str) -> None:
        self._attributes.setdefault(key, {})

    def elements(self, key: str, elements: Iterable[SgmlElement]) -> None:
        kept: list[Json] = [_as_json(element) for element in elements]
        if kept:
            earlier = self._elements.get(key)
            self._elements[key] = [*earlier, *kept] if isinstance(earlier, list) else kept

    def reference(self, first: int, past: int) -> None:
        self._references.append([first, past])

    @property
    def n_references(self) -> int:
        return len(self._references)

    def as_json(self) -> dict[str, Json]:
        """`{"sgml": ...}`, or nothing where there is nothing left over."""
        parts: dict[str, Json] = {
            "attributes": self._attributes,
            "elements": self._elements,
            "references": self._references,
        }
        kept: dict[str, Json] = {name: part for name, part in parts.items() if part}
        return {KEY: kept} if kept else {}


def _as_json(element: SgmlElement) -> Json:
    value: dict[str, Json] = {"name": element.name, "text": element.text}
    if element.attributes:
        value["attributes"] = dict(element.attributes)
    return value


class Kept:
    """Leftovers on their way back into a file; `unwritten` names what found no place there or has a wrong shape."""

    def __init__(self, value: Json) -> None:
        parts = value if isinstance(value, dict) else {}
        self._wrong = [] if isinstance(value, dict) else [KEY]
        self._wrong += [f"{KEY} {name}" for name in parts if name not in ("attributes", "elements", "references")]
        self._attributes = self._places(parts, "attributes")
        self._elements = self._places(parts, "elements")
        self._references = parts.get("references", [])

    def _places(self, parts: Mapping[str, Json], name: str) -> dict[str, Json]:
        places = parts.get(name, {})
        if isinstance(places, dict):
            return dict(places)
        self._wrong.append(f"{KEY} {name}")
        return {}

    def has(self, key: str) -> bool:
        return key in self._attributes

    def tag(self, name: str, own: Mapping[str, str] | None = None, *, key: str = "") -> str:
        """The start tag of an element of NUCLE at a place, its own attributes first."""
        rest = self._attributes.pop(key or name, {})
        given = dict(own or {})
        if _are_attributes(rest) and not rest.keys() & given.keys():
            given |= rest
        else:
            self._wrong.append(f"{KEY} attributes of {key or name}")
        return start_tag(name, given)

    def elements(self, key: str) -> str:
        values = self._elements.pop(key, [])
        written = [_element(value) for value in values] if isinstance(values, list) else [None]
        if None in written:
            self._wrong.append(f"{KEY} elements of {key}")
        return "".join(element for element in written if element)

    def references(self, first: int, past: int) -> list[tuple[int, int]]:
        """The REFERENCE sections, each a range of the paragraphs from `first` to before `past`."""
        ranges = self._references if isinstance(self._references, list) else [None]
        kept: list[tuple[int, int]] = []
        for value in ranges:
            match value:
                case [int(start), int(end)] if first <= start <= end <= past:
                    kept.append((start, end))
                    first = end
                case _:
                    self._wrong.append(f"{KEY} references")
        return kept

    def unwritten(self) -> list[str]:
        attributes = [f"{KEY} attributes of {key}" for key in self._attributes]
        return self._wrong + attributes + [f"{KEY} elements of {key}" for key in self._elements]


def _element(value: Json) -> str | None:
    if not isinstance(value, dict) or not value.keys() <= {"name", "text", "attributes"}:
        return None
    name, text, attributes = value.get("name"), value.get("text"), value.get("attributes", {})
    if not (isinstance(name, str) and _is_unknown(name) and isinstance(text, str) and _are_attributes(attributes)):
        return None
    return f"{start_tag(name, attributes)}{escaped(text, tags={*PARENTS, name.upper()})}</{name}>\n"


def _is_unknown(name: str) -> bool:
    return WHOLE_NAME.fullmatch(name) is not None and name.upper() not in PARENTS


def _are_attributes(value: Json) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(
        WHOLE_NAME.fullmatch(name) and isinstance(text, str) for name, text in value.items()
    )


def start_tag(name: str, attributes: Mapping[str, str]) -> str:
    return f"<{name}{''.join(f' {key}={quoted(value)}' for key, value in attributes.items())}>"
