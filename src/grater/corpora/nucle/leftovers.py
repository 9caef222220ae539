"""What a NUCLE file says and the model has no place for: unknown attributes and elements, and REFERENCE sections.

Kept as one JSON value under the key `sgml`, of an essay's metadata and of an edit's extra; only the parts that are
set:

    {"attributes": {"DOC": {"source": "web"}, "P 2": {...}, "ANNOTATION 8": {...}},
     "elements": {"DOC": [{"name": "GRADE", "text": "B", "attributes": {...}}]},
     "references": [[3, 5]]}

The keys are places: an element of NUCLE and, where there may be several, its number (paragraphs count the title,
annotations have their teacher).  `references` are ranges of paragraphs.  An empty COMMENT is a place with no
attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from grater.corpora.nucle.characters import NAME, escaped, quoted
from grater.corpora.nucle.markup import PARENTS, Element
from grater.model import Json

KEY = "sgml"
WHOLE_NAME = re.compile(NAME)


class Found:
    """Gathers leftovers while a document is read."""

    def __init__(self) -> None:
        self._attributes: dict[str, Json] = {}
        self._elements: dict[str, Json] = {}
        self._references: list[Json] = []

    def attributes(self, place: str, element: Element, *, known: Iterable[str] = ()) -> None:
        rest: dict[str, Json] = {name: value for name, value in element.attributes.items() if name not in known}
        if rest:
            self._attributes[place] = rest

    def empty(self, place: str) -> None:
        self._attributes.setdefault(place, {})

    def elements(self, place: str, elements: Iterable[Element]) -> None:
        kept: list[Json] = [_as_json(element) for element in elements]
        if kept:
            earlier = self._elements.get(place)
            self._elements[place] = [*earlier, *kept] if isinstance(earlier, list) else kept

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


def _as_json(element: Element) -> Json:
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

    def has(self, place: str) -> bool:
        return place in self._attributes

    def tag(self, name: str, own: Mapping[str, str] | None = None, *, place: str = "") -> str:
        """The start tag of an element of NUCLE at a place, its own attributes first."""
        rest = self._attributes.pop(place or name, {})
        given = dict(own or {})
        if _are_attributes(rest) and not rest.keys() & given.keys():
            given |= rest
        else:
            self._wrong.append(f"{KEY} attributes of {place or name}")
        return start_tag(name, given)

    def elements(self, place: str) -> str:
        values = self._elements.pop(place, [])
        written = [_element(value) for value in values] if isinstance(values, list) else [None]
        if None in written:
            self._wrong.append(f"{KEY} elements of {place}")
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
        attributes = [f"{KEY} attributes of {place}" for place in self._attributes]
        return self._wrong + attributes + [f"{KEY} elements of {place}" for place in self._elements]


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
