"""XML as a stream of small trees: each wanted element is handed over when it closes, and then forgotten.

Only well-formed XML without entities of its own gets through: a document type with anything in it or behind it is
refused, for that is where entity bombs and file inclusion live.  Expat does the parsing; the lines are decoded
already, so whatever encoding the file declares is overruled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from grater.errors import Problems
from grater.model import Json

MAX_DEPTH = 200
"""Elements inside each other; beyond it lies no script but an attack on the stack."""


@dataclass(frozen=True, slots=True)
class Element:
    """A closed element; `children` are elements and pieces of text, in order."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    line: int | None = None

    @property
    def elements(self) -> list[Element]:
        return [child for child in self.children if isinstance(child, Element)]

    @property
    def text(self) -> str:
        """The text that stands directly in the element, not in one of its elements."""
        return "".join(child for child in self.children if isinstance(child, str))

    def named(self, name: str) -> list[Element]:
        return [child for child in self.elements if child.name == name]


def read_elements(lines: Iterable[str], wanted: str, problems: Problems) -> Iterator[Element]:
    """The elements called `wanted`: the root, or children of the root, which must have no others."""
    parser = _Parser(wanted, problems)
    for line in lines:
        yield from parser.feed(line)
    yield from parser.close()


class _Parser:
    def __init__(self, wanted: str, problems: Problems) -> None:
        self._wanted = wanted
        self._problems = problems
        self._open: list[Element] = []
        self._closed: list[Element] = []
        self._depth = 0
        self._n_found = 0
        self._root = ""
        self._expat = self._new_expat()

    def _new_expat(self) -> expat.XMLParserType:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.SkippedEntityHandler = self._entity
        return parser

    def feed(self, line: str) -> list[Element]:
        return self._parse(line.encode("utf-8", "surrogatepass"), last=False)

    def close(self) -> list[Element]:
        closed = self._parse(b"", last=True)
        if not self._n_found and self._root != "fce":
            self._problems.add(f"expected a <{self._wanted}>, found <{self._root}> without any", line=1)
        return closed

    def _parse(self, data: bytes, *, last: bool) -> list[Element]:
        self._closed = []
        try:
            self._expat.Parse(data, last)
        except expat.ExpatError as error:
            self._stop(f"expected well-formed XML, found: {expat.ErrorString(error.code)}", error.lineno)
        return self._closed

    def _stop(self, message: str, line: int) -> None:
        """Report and raise: nothing after this can be trusted."""
        self._problems.add(message, line=line)
        self._problems.done()

    @property
    def _line(self) -> int:
        return self._expat.CurrentLineNumber

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._depth == MAX_DEPTH:
            self._stop(f"expected at most {MAX_DEPTH} elements inside each other, found more", self._line)
        self._root = self._root or name
        if self._open or (name == self._wanted and self._depth <= 1):
            self._open.append(Element(name, attributes, line=self._line))
        elif self._depth == 1:
            self._problems.add(f"expected <{self._wanted}>, found <{name}>", line=self._line)
        self._depth += 1

    def _end(self, _: str) -> None:
        self._depth -= 1
        if not self._open:
            return
        element = self._open.pop()
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._n_found += 1
            self._closed.append(element)

    def _characters(self, text: str) -> None:
        if self._open:
            self._open[-1].children.append(text)
        elif self._depth == 1 and text.strip():
            self._problems.add(f"expected <{self._wanted}>, found text {text.strip()[:20]!r}", line=self._line)

    def _doctype(self, _: str, system: str | None, public: str | None, has_subset: bool) -> None:
        if system or public or has_subset:
            self._stop("expected no DTD, found one; entities are not read: take the DOCTYPE out", self._line)

    def _entity(self, name: str, *_: object) -> None:
        self._stop(f"expected no entities but &amp; and its like, found {name!r}; write its text instead", self._line)


def as_jsonml(children: Sequence[Element | str]) -> list[Json]:
    """Content as JSON: text is a string, an element is [name, attributes, child, ...]."""
    return [child if isinstance(child, str) else _element_as_json(child) for child in children]


def _element_as_json(element: Element) -> list[Json]:
    return [element.name, dict(element.attributes), *as_jsonml(element.children)]


def from_jsonml(content: Json, *, depth: int = 0) -> list[Element | str] | None:
    """What `as_jsonml` made, or None where it is something else."""
    if not isinstance(content, list) or depth > MAX_DEPTH // 2:
        return None
    children: list[Element | str] = []
    for piece in content:
        child = piece if isinstance(piece, str) else _element_of_json(piece, depth)
        if child is None:
            return None
        children.append(child)
    return children


def _element_of_json(piece: Json, depth: int) -> Element | None:
    match piece:
        case [str(name), dict(attributes), *rest]:
            children = from_jsonml(rest, depth=depth + 1)
            values = {key: value for key, value in attributes.items() if isinstance(value, str)}
            if children is None or len(values) < len(attributes):
                return None
            return Element(name, values, children)
    return None
