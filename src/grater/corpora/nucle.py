"""NUCLE SGML: whole learner essays with character offsets (Dahlmeier, Ng and Wu 2013, section 3; CoNLL-2013, -2014).

    <DOC nid="1">
    <TEXT>
    <TITLE>
    ...
    </TITLE>
    <P>
    ...
    </P>
    </TEXT>
    <ANNOTATION teacher_id="8">
    <MISTAKE start_par="1" start_off="42" end_par="1" end_off="46">
    <TYPE>ArtOrDet</TYPE>
    <CORRECTION>the</CORRECTION>
    <COMMENT>...</COMMENT>
    </MISTAKE>
    </ANNOTATION>
    </DOC>

Text.  The text of an essay is its title, if any, and its paragraphs, joined by `\\n`; one line end after `<P>` and
one before `</P>` are layout.  Paragraphs count from 0 and a TITLE is paragraph 0: without one, the first P is (so it
is in both CoNLL-2014 files, 7 essays with a title and 43 without: 5,723 of their 5,728 spans begin and end at
words).  Offsets are code points.  `metadata["titled"]` says that paragraph 0 is a title; `metadata["paragraphs"]`
keeps the lengths where the text alone does not tell them.  A file with CRLF line ends reads as its LF twin does.

Annotators.  Each ANNOTATION is a `teacher_id`; one without a MISTAKE is an annotator who found nothing.

Corrections. An empty CORRECTION deletes the words, but if there are none to delete, and for `Um`, `Cit` and `Wa`
(passages too poor to correct, citation practice and acronyms, Table 1) it means: detected, not corrected. The format
cannot distinguish the two, so this rule does.

Markup. NUCLE is not XML: a `&` or `<` that begins no reference and no NUCLE tag is itself, and so is any other tag
inside the words. `&lt; &gt; &amp; &quot; &apos;` and numeric references are decoded (the CoNLL-2013 scripts leave
them unchanged). Declarations (`<!DOCTYPE`, `<!ENTITY`) are refused, so entities are never expanded. The writer
escapes only what would be misread. In a REFERENCE the release closes a paragraph with a second `<P>` (those scripts
repair it); this is read, and written correctly.

The personal fields of the full corpus (FIRST_LANGUAGE and the like) are metadata under their lower-case names.

Losses are reported: alternatives (the first is written: a MISTAKE each would change the count),
corrections that the rule above would read differently, the order of edits of different annotators, tokens, ids that
repeat, any other metadata or extra.

Only what looks like a whole tag on one line is a tag.  Elements that hold words (TITLE, P, TYPE, CORRECTION, COMMENT
and any that NUCLE does not know) end at a NUCLE tag or at their own end tag; anything else in them is words.  Names
of NUCLE's elements are read in capitals and small letters.

Unknown attributes and elements, and REFERENCE sections, are kept as one JSON value under the key `sgml` of
an essay's metadata and of an edit's extra (`Leftovers`, `Kept`); only the parts that are set:

    {"attributes": {"DOC": {"source": "web"}, "P 2": {...}, "ANNOTATION 8": {...}},
     "elements": {"DOC": [{"name": "GRADE", "text": "B", "attributes": {...}}]},
     "references": [[3, 5]]}

The keys name an element of NUCLE and, where there may be several, its number (paragraphs count the title, annotations
have their teacher).  `references` are ranges of paragraphs.  An empty COMMENT is a key without attributes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeGuard

from grater.corpora.formats import EssayIds, FileFormat, Losses, Report, edit_name, shortened
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

NAME = r"[A-Za-z][A-Za-z0-9_.-]*"
REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot|apos)|#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6}));")
NAMED = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
LIKE_A_TAG = re.compile(rf"<(?=/?(?P<name>{NAME})[ \t\r/>])")
END_OF_LINE = re.compile(r"\r(?=\n|\Z)")
IN_QUOTES = str.maketrans({'"': "&quot;", "<": "&lt;", ">": "&gt;", "\n": "&#10;", "\r": "&#13;"})
FIRST_SURROGATE, PAST_SURROGATES, PAST_UNICODE = 0xD800, 0xE000, 0x110000


def decoded(words: str) -> str:
    """The words with references resolved; a reference to no character (a surrogate, 0) is unchanged."""
    return REFERENCE.sub(_character, words)


def _character(match: re.Match[str]) -> str:
    named, decimal, hexadecimal = match.groups()
    if named:
        return NAMED[named]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    is_character = 0 < code < FIRST_SURROGATE or PAST_SURROGATES <= code < PAST_UNICODE
    return chr(code) if is_character else match[0]


def escaped(text: str, *, tags: Collection[str]) -> str:
    """Text that may occur between two tags; the given tags (in capitals) would end it."""
    text = REFERENCE.sub(_literal, text)
    text = LIKE_A_TAG.sub(lambda match: "&lt;" if match["name"].upper() in tags else "<", text)
    # A line may end in `\r\n`: a `\r` of the text before a line end would be taken for part of it.
    return END_OF_LINE.sub("&#13;", text)


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

KEY = "sgml"
PARTS = ("attributes", "elements", "references")
WHOLE_NAME = re.compile(NAME)
FIELDS = ("matric", "email", "nationality", "first_language", "school_language", "english_tests")
"""What the full corpus says of a writer (so the CoNLL-2013 scripts): elements of DOC, keys of metadata."""

UNCORRECTED = ("Um", "Cit", "Wa")
"""Tags of which an empty CORRECTION means: found, not corrected."""

PLACE = ("start_par", "start_off", "end_par", "end_off")
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")
NO_PLACE = "NUCLE has no place for it"


@dataclass(slots=True)
class SgmlElement:
    """A tag, its attributes, and the text up to its end; `words` are undecoded."""

    name: str
    line: int
    attributes: dict[str, str]
    children: list[SgmlElement] = field(default_factory=list)
    words: str = ""

    def named(self, name: str) -> list[SgmlElement]:
        return [child for child in self.children if child.name == name]

    def unknown(self) -> list[SgmlElement]:
        return [child for child in self.children if child.name not in PARENTS]

    @property
    def end(self) -> str:
        """The missing end tag's name in messages."""
        return f"</{self.name}> for the <{self.name}> of line {self.line}"


def documents(lines: Iterable[str], problems: Problems) -> Iterator[SgmlElement]:
    """The DOC elements of a file, one at a time; a document with invalid markup is reported and left out."""
    tree = _Tree(problems)
    for number, line in enumerate(lines, 1):
        tree.line = number
        if line.endswith("\r\n"):
            line = line[:-2] + "\n"
        if number == 1:
            line = line.removeprefix("\ufeff")
        position = 0
        for match in TAG.finditer(line):
            tree.take_words(line[position : match.start()])
            document = tree.start(match) if match["start"] else tree.end(match[0], match["end"])
            if document:
                yield document
            position = match.end()
        tree.take_words(line[position:])
    if tree.open:
        tree.wrong(f"expected {tree.open[-1].end}, found the end of the file; is it cut off?")


class _Tree:
    """The open elements at this point of the file, outermost first."""

    def __init__(self, problems: Problems) -> None:
        self.open: list[SgmlElement] = []
        self.line = 0
        self._problems = problems
        self._is_broken = False

    def wrong(self, message: str) -> None:
        self._is_broken = True
        self._problems.add(message, line=self.line)

    @property
    def _where(self) -> str:
        return f"inside <{self.open[-1].name}>" if self.open else "outside <DOC>"

    @property
    def _is_in_words(self) -> bool:
        return bool(self.open) and self.open[-1].name not in OF_ELEMENTS

    def take_words(self, words: str) -> None:
        if self._is_in_words:
            self.open[-1].words += words
        elif words.strip(BLANK):
            if DECLARATION.search(words):
                self.wrong("expected <DOC>, found a declaration; grater does not expand entities: remove it")
                self._problems.done()
            self.wrong(f"expected a NUCLE tag, found text {self._where}: {shortened(words.strip(BLANK))}")

    def start(self, match: re.Match[str]) -> SgmlElement | None:
        """Open an element; one that ends with its own tag is closed at once."""
        name, rest = _proper(match["start"]), match["rest"] or ""
        if self._is_in_words and name not in PARENTS:
            self.take_words(match[0])
        elif name == "P" and [element.name for element in self.open[-2:]] == ["REFERENCE", "P"]:
            self.open.pop()  # the `<P>` that NUCLE writes for `</P>` in a REFERENCE
        else:
            self._make_room(name)
            element = SgmlElement(name, self.line, self._attributes(rest.removesuffix("/"), match[0]))
            if self.open:
                self.open[-1].children.append(element)
            elif name == "DOC":
                self._is_broken = False
            self.open.append(element)
            if rest.endswith("/"):
                return self.end(match[0], name)
        return None

    def _make_room(self, name: str) -> None:
        """Close elements that cannot contain this one, as a problem, so that a missing end tag is reported once."""
        parents = PARENTS.get(name, OF_UNKNOWN)
        fitting = [depth for depth, element in enumerate(self.open, 1) if element.name in parents]
        room = fitting[-1] if fitting else 0
        if parents and (not fitting or (name not in PARENTS and room < len(self.open))):
            self.wrong(f"expected <{name}> inside <{'> or <'.join(parents)}>, found it {self._where}")
        elif room < len(self.open):
            self.wrong(f"expected {self.open[-1].end}, found <{name}>")
            del self.open[room:]

    def end(self, tag: str, name: str) -> SgmlElement | None:
        """Close an element; a complete document is returned."""
        name = _proper(name)
        depths = [depth for depth, element in enumerate(self.open) if element.name == name]
        if self._is_in_words and name not in PARENTS and name != self.open[-1].name:
            self.take_words(tag)
        elif depths:
            element = self.open[depths[-1]]
            if element is not self.open[-1]:
                self.wrong(f"expected {self.open[-1].end}, found {tag}")
            del self.open[depths[-1] :]
            return element if name == "DOC" and not self._is_broken else None
        elif self._is_in_words:
            self.wrong(f"expected {self.open[-1].end}, found {tag}")
        else:
            self.wrong(f"expected no {tag}, as no <{name}> is open; remove it")
        return None

    def _attributes(self, words: str, tag: str) -> dict[str, str]:
        attributes: dict[str, str] = {}
        position = 0
        while match := ATTRIBUTE.match(words, position):
            if match["name"] in attributes:
                self.wrong(f"expected {match['name']} once in a tag, found it again: {shortened(tag)}")
            attributes[match["name"]] = decoded(match["double"] if match["single"] is None else match["single"])
            position = match.end()
        if words[position:].strip(BLANK):
            self.wrong(f'expected attributes as name="value", found {shortened(tag)}')
        return attributes


def _proper(name: str) -> str:
    return name.upper() if name.upper() in PARENTS else name


@dataclass(slots=True)
class Leftovers:
    """Collects data without a place in the model while a document is read."""

    attributes: dict[str, Json] = field(default_factory=dict)
    elements: dict[str, list[Json]] = field(default_factory=dict)
    references: list[Json] = field(default_factory=list)

    def keep(self, key: str, element: SgmlElement, *, known: Iterable[str] = ()) -> None:
        if rest := {name: value for name, value in element.attributes.items() if name not in known}:
            self.attributes[key] = rest

    def keep_elements(self, key: str, elements: Iterable[SgmlElement]) -> None:
        for element in elements:
            value: dict[str, Json] = {"name": element.name, "text": decoded(element.words)}
            if element.attributes:
                value["attributes"] = dict(element.attributes)
            self.elements.setdefault(key, []).append(value)

    def as_json(self) -> dict[str, Json]:
        """`{"sgml": ...}`, or empty if nothing is left over."""
        parts: dict[str, Json] = {name: getattr(self, name) for name in PARTS if getattr(self, name)}
        return {KEY: parts} if parts else {}


class Kept:
    """Leftovers to write back into a file; `unwritten` names those that could not be placed or have a wrong shape."""

    def __init__(self, value: Json) -> None:
        parts = value if isinstance(value, dict) else {}
        self._wrong = [] if isinstance(value, dict) else [KEY]
        self._wrong += [f"{KEY} {name}" for name in parts if name not in PARTS]
        self.attributes: dict[str, Json] = {}
        self._elements: dict[str, Json] = {}
        for name, places in (("attributes", self.attributes), ("elements", self._elements)):
            kept = parts.get(name, {})
            if isinstance(kept, dict):
                places.update(kept)
            else:
                self._wrong.append(f"{KEY} {name}")
        self._references = parts.get("references", [])

    def tag(self, name: str, own: Mapping[str, str] | None = None, *, key: str = "") -> str:
        """The start tag of an element of NUCLE at a place, its own attributes first."""
        rest = self.attributes.pop(key or name, {})
        given = dict(own or {})
        if _are_attributes(rest) and not rest.keys() & given.keys():
            given |= rest
        else:
            self._wrong.append(f"{KEY} attributes of {key or name}")
        return start_tag(name, given)

    def elements(self, key: str) -> str:
        values = self._elements.pop(key, [])
        written = [_unknown_element(value) for value in values] if isinstance(values, list) else [None]
        if None in written:
            self._wrong.append(f"{KEY} elements of {key}")
        return "".join(element for element in written if element)

    def references(self, first: int, past: int) -> list[tuple[int, int]]:
        """The REFERENCE sections, each a range of the paragraphs from `first` to before `past`."""
        kept: list[tuple[int, int]] = []
        for value in self._references if isinstance(self._references, list) else [None]:
            match value:
                case [int(start), int(end)] if first <= start <= end <= past:
                    kept.append((start, end))
                    first = end
                case _:
                    self._wrong.append(f"{KEY} references")
        return kept

    def unwritten(self) -> list[str]:
        attributes = [f"{KEY} attributes of {key}" for key in self.attributes]
        return self._wrong + attributes + [f"{KEY} elements of {key}" for key in self._elements]


def _unknown_element(value: Json) -> str | None:
    if not isinstance(value, dict) or not value.keys() <= {"name", "text", "attributes"}:
        return None
    name, text, attributes = value.get("name"), value.get("text"), value.get("attributes", {})
    if not (isinstance(name, str) and isinstance(text, str) and _are_attributes(attributes)):
        return None
    if not WHOLE_NAME.fullmatch(name) or name.upper() in PARENTS:
        return None
    return f"{start_tag(name, attributes)}{escaped(text, tags={*PARENTS, name.upper()})}</{name}>\n"


def _are_attributes(value: Json) -> TypeGuard[dict[str, str]]:
    return isinstance(value, dict) and all(
        WHOLE_NAME.fullmatch(name) and isinstance(text, str) for name, text in value.items()
    )


def start_tag(name: str, attributes: Mapping[str, str]) -> str:
    return f"<{name}{''.join(f' {key}={quoted(value)}' for key, value in attributes.items())}>"


class Paragraphs:
    """Where each paragraph starts in the text, and how long it is."""

    def __init__(self, lengths: Iterable[int]) -> None:
        self.lengths = list(lengths)
        self.starts = list(accumulate((length + 1 for length in self.lengths[:-1]), initial=0))[: len(self.lengths)]

    @staticmethod
    def of_text(text: str) -> Paragraphs:
        """A paragraph a line."""
        return Paragraphs(len(line) for line in text.split("\n"))

    @staticmethod
    def kept(lengths: Json, text: str) -> Paragraphs | None:
        """The paragraphs that metadata describes, or None if they do not fit the text."""
        if not isinstance(lengths, list):
            return None
        numbers = [length for length in lengths if type(length) is int and length >= 0]
        paragraphs = Paragraphs(numbers)
        fits = len(numbers) == len(lengths) and "\n".join(paragraphs.of(text)) == text
        return paragraphs if fits and sum(numbers) + max(len(numbers) - 1, 0) == len(text) else None

    def of(self, text: str) -> list[str]:
        return [text[start : start + length] for start, length in zip(self.starts, self.lengths, strict=True)]

    def place(self, offset: int) -> tuple[int, int]:
        paragraph = bisect_right(self.starts, offset) - 1
        return paragraph, offset - self.starts[paragraph]


def read_nucle(lines: Iterable[str], *, name: str) -> Iterator[Essay]:
    """The essays of a NUCLE file, one at a time."""
    problems = Problems(name)
    ids = EssayIds()
    for document in documents(lines, problems):
        yield _essay(document, ids, problems)
    problems.done()


def _essay(document: SgmlElement, ids: EssayIds, problems: Problems) -> Essay:
    leftovers = Leftovers()
    leftovers.keep("DOC", document, known=["nid"])
    metadata: dict[str, Json] = {}
    for element in document.unknown():
        key = element.name.lower()
        if key in FIELDS and element.name.isupper() and not element.attributes and key not in metadata:
            metadata[key] = decoded(element.words.strip(BLANK))
        else:
            leftovers.keep_elements("DOC", [element])
    texts: list[str] = []
    for element in _elements_of_text(document, leftovers, problems):
        if element.name == "TITLE" and texts:
            problems.add("expected <TITLE> before the first <P>, found it after; move it", line=element.line)
        elif element.name == "TITLE":
            metadata["titled"] = True
        leftovers.keep(f"P {len(texts)}", element)
        # One line end lies between a paragraph and its tags.
        texts.append(decoded(element.words.removeprefix("\n").removesuffix("\n")))
    text, paragraphs = "\n".join(texts), Paragraphs(map(len, texts))
    if paragraphs.lengths != Paragraphs.of_text(text).lengths:
        metadata["paragraphs"] = list(paragraphs.lengths)
    by_rater: dict[str, list[Edit]] = {}  # several ANNOTATIONs of one teacher are one annotator
    edits: list[Edit] = []
    for annotation in document.named("ANNOTATION"):
        rater = annotation.attributes.get("teacher_id")
        if rater is None:
            problems.add('expected <ANNOTATION teacher_id="...">, found no teacher_id', line=annotation.line)
            rater = ""
        by_rater.setdefault(rater, [])
        leftovers.keep(f"ANNOTATION {rater}", annotation, known=["teacher_id"])
        leftovers.keep_elements(f"ANNOTATION {rater}", annotation.unknown())
        found = [_edit(mistake, rater, paragraphs, problems) for mistake in annotation.named("MISTAKE")]
        edits += [edit for edit in found if edit]
    nid = document.attributes.get("nid")
    return Essay(
        essay_id=ids.of_document(nid) if nid else ids.of_text(text),
        text=text,
        edits=tuple(edits),
        annotators=tuple(by_rater),
        metadata=metadata | leftovers.as_json(),
        line=document.line,
    )


def _elements_of_text(document: SgmlElement, leftovers: Leftovers, problems: Problems) -> list[SgmlElement]:
    """TITLE and P elements, also those in a REFERENCE, in their order."""
    elements: list[SgmlElement] = []
    for number, text in enumerate(document.named("TEXT")):
        if number:
            message = "expected one <TEXT> in a <DOC>, found a second; make it a document of its own"
            problems.add(message, line=text.line)
        leftovers.keep("TEXT", text)
        for child in text.children:
            if child.name == "REFERENCE":
                leftovers.keep(f"REFERENCE {len(leftovers.references)}", child)
                leftovers.references.append([len(elements), len(elements) + len(child.children)])
            elements += child.children if child.name == "REFERENCE" else [child]
    return elements


def _edit(mistake: SgmlElement, rater: str, paragraphs: Paragraphs, problems: Problems) -> Edit | None:
    wrong = _wrong_place(mistake.attributes, paragraphs)
    if wrong:
        problems.add(f"{wrong} in <MISTAKE>", line=mistake.line)
    words: list[str | None] = []
    for name in ("TYPE", "CORRECTION", "COMMENT"):
        elements = mistake.named(name)
        if len(elements) > 1 or (not elements and name != "COMMENT"):
            message = f"expected one <{name}> in <MISTAKE>, found {len(elements) or 'none'}"
            problems.add(message, line=elements[1].line if elements else mistake.line)
        words.append(decoded(elements[0].words) if elements else None)
    tag, correction, comment = words
    if wrong or tag is None or correction is None:
        return None
    start_par, start_off, end_par, end_off = (int(mistake.attributes[name]) for name in PLACE)
    span = Span(paragraphs.starts[start_par] + start_off, paragraphs.starts[end_par] + end_off)
    leftovers = Leftovers()
    leftovers.keep("MISTAKE", mistake, known=PLACE)
    leftovers.keep_elements("MISTAKE", mistake.unknown())
    for child in mistake.children:
        if child.name in ("TYPE", "CORRECTION", "COMMENT"):
            leftovers.keep(child.name, child)
        if child.name == "COMMENT" and not child.words:
            leftovers.attributes.setdefault("COMMENT", {})
    replacements, extra = replacements_of(correction, tag, span), leftovers.as_json()
    return Edit(span, replacements, tag, rater, comment or "", extra, mistake.line)


def _wrong_place(attributes: Mapping[str, str], paragraphs: Paragraphs) -> str:
    """The problem with a position, or empty."""
    for name in PLACE:
        if name not in attributes:
            return f"expected {name}, found none"
        if not WHOLE_NUMBER.fullmatch(attributes[name]):
            return f"expected a whole number for {name}, found {attributes[name][:40]!r}"
    start_par, start_off, end_par, end_off = (int(attributes[name]) for name in PLACE)
    for name, paragraph, offset in (("start", start_par, start_off), ("end", end_par, end_off)):
        n_paragraphs = len(paragraphs.lengths)
        if paragraph >= n_paragraphs:
            among = f"the {n_paragraphs} paragraphs (from 0, the title counted)"
            return f"expected {name}_par among {among}, found {paragraph}"
        if offset > paragraphs.lengths[paragraph]:
            length = paragraphs.lengths[paragraph]
            return f"expected {name}_off inside paragraph {paragraph} (0 to {length}), found {offset}"
    if (end_par, end_off) < (start_par, start_off):
        return f"expected an end after the start {start_par}:{start_off}, found {end_par}:{end_off}"
    return ""


def replacements_of(correction: str, tag: str, span: Span) -> tuple[str, ...]:
    """The meaning of a CORRECTION: empty, it deletes, except for tags and places where it means "not corrected"."""
    left_alone = not correction and (tag in UNCORRECTED or not len(span))
    return () if left_alone else (correction,)


def write_nucle(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The text of a NUCLE file, a document at a time."""
    ids = EssayIds()
    for essay in essays:
        lose = Losses(essay.essay_id, report)
        paragraphs = _layout(essay, lose)
        if ids.of_document(essay.essay_id) != essay.essay_id or not essay.essay_id:
            lose("id", "an empty or repeated id is read back as another", changed=True)
        yield "".join(_document(essay, paragraphs, lose))


def _layout(essay: Essay, lose: Losses) -> Paragraphs:
    """The paragraphs as read, or else one per line."""
    if "paragraphs" in essay.metadata:
        paragraphs = Paragraphs.kept(essay.metadata["paragraphs"], essay.text)
        if paragraphs is not None and (paragraphs.lengths or not essay.edits):
            return paragraphs
        lose("metadata paragraphs", "the lengths do not match the text")
    return Paragraphs.of_text(essay.text)


def _document(essay: Essay, paragraphs: Paragraphs, lose: Losses) -> Iterator[str]:
    kept = Kept(essay.metadata.get(KEY, {}))
    yield kept.tag("DOC", {"nid": essay.essay_id}) + "\n"
    is_titled = essay.metadata.get("titled") is True and len(paragraphs.lengths) > 0
    for key, value in essay.metadata.items():
        if key in FIELDS and isinstance(value, str) and value == value.strip(BLANK):
            yield f"<{key.upper()}>{escaped(value, tags={*PARENTS, key.upper()})}</{key.upper()}>\n"
        elif key not in ("titled", "paragraphs", KEY) or (key == "titled" and not is_titled):
            lose(f"metadata {key}", NO_PLACE)
    yield kept.elements("DOC")
    yield kept.tag("TEXT") + "\n"
    written: list[str] = []
    for number, text in enumerate(paragraphs.of(essay.text)):
        name = "TITLE" if is_titled and not number else "P"
        written.append(f"{kept.tag(name, key=f'P {number}')}\n{escaped(text, tags=PARENTS)}\n</{name}>\n")
    position = 0
    for number, (first, past) in enumerate(kept.references(int(is_titled), len(written))):
        yield from written[position:first]
        yield kept.tag("REFERENCE", key=f"REFERENCE {number}") + "\n"
        yield from [*written[first:past], "</REFERENCE>\n"]
        position = past
    yield from [*written[position:], "</TEXT>\n"]
    by_rater: dict[str, list[Edit]] = {annotator: [] for annotator in essay.annotators}
    for edit in essay.edits:
        by_rater.setdefault(edit.rater, []).append(edit)
    for rater in list(by_rater)[len(set(essay.annotators)) :]:
        why = "NUCLE counts a teacher with an ANNOTATION block as annotator of the whole essay"
        lose(f"annotator {rater}", why, changed=True)
    if [edit for edits in by_rater.values() for edit in edits] != list(essay.edits):
        lose("order of edits", "each annotator's edits are in a separate block", changed=True)
    for rater, edits in by_rater.items():
        yield kept.tag("ANNOTATION", {"teacher_id": rater}, key=f"ANNOTATION {rater}") + "\n"
        yield kept.elements(f"ANNOTATION {rater}")
        yield from (_mistake(edit, essay.text, paragraphs, lose) for edit in edits)
        yield "</ANNOTATION>\n"
    yield "</DOC>\n\n"
    if essay.tokens is not None:
        lose("tokens", "NUCLE stores raw text only")
    for what in kept.unwritten():
        lose(f"metadata {what}", NO_PLACE)


def _mistake(edit: Edit, text: str, paragraphs: Paragraphs, lose: Losses) -> str:
    name = edit_name(edit)
    if not 0 <= edit.span.start <= edit.span.end <= len(text):
        lose(name, "its span is not inside the text")
        return ""
    kept = Kept(edit.extra.get(KEY, {}))
    numbers = (*paragraphs.place(edit.span.start), *paragraphs.place(edit.span.end))
    parts = [kept.tag("MISTAKE", dict(zip(PLACE, map(str, numbers), strict=True)))]
    correction, *others = edit.replacements or ("",)
    for other in others:
        lose(f"{name} alternative {other!r}", "a MISTAKE has one CORRECTION")
    read_back = replacements_of(correction, edit.tag, edit.span)
    if read_back != edit.replacements[:1]:
        meaning = "a deletion" if read_back else "no correction"
        lose(name, f"an empty CORRECTION of {edit.tag} here means {meaning}", changed=True)
    has_comment = edit.comment or "COMMENT" in kept.attributes
    words = {"TYPE": edit.tag, "CORRECTION": correction, **({"COMMENT": edit.comment} if has_comment else {})}
    for part, content in words.items():
        parts.append(f"{kept.tag(part)}{escaped(content, tags=PARENTS)}</{part}>")
    parts.append(f"{kept.elements('MISTAKE')}</MISTAKE>\n")
    for key in [*(key for key in edit.extra if key != KEY), *kept.unwritten()]:
        lose(f"{name} extra {key}", NO_PLACE)
    return "\n".join(parts)


FORMAT = FileFormat(
    "nucle", (".sgml", ".sgm"), lambda source: read_nucle(source.lines(), name=source.name), write_nucle
)
