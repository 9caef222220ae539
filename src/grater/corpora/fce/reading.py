"""Essays from FCE scripts; the format is described in `grater.corpora.fce`.

The XML comes as a stream of small trees: each wanted element is handed over when it closes, and then forgotten.  Only
well-formed XML without entities of its own gets through: a document type with anything in it or behind it is refused,
for that is where entity bombs and file inclusion live.  Expat does the parsing; the lines are decoded already, so
whatever encoding the file declares is overruled.

An `<NS>` is read for what the learner wrote, what it should be, and whether it holds what it may.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.parsers import expat

from grater.corpora.formats import EssayIds, Source
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

MAX_DEPTH = 200
"""Elements inside each other; beyond it lies no script but an attack on the stack."""


@dataclass(frozen=True, slots=True)
class XmlElement:
    """A closed element; `children` are elements and pieces of text, in order."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[XmlElement | str] = field(default_factory=list)
    line: int | None = None

    @property
    def elements(self) -> list[XmlElement]:
        return [child for child in self.children if isinstance(child, XmlElement)]

    @property
    def text(self) -> str:
        """The text that stands directly in the element, not in one of its elements."""
        return "".join(child for child in self.children if isinstance(child, str))

    def named(self, name: str) -> list[XmlElement]:
        return [child for child in self.elements if child.name == name]


def read_elements(lines: Iterable[str], wanted: str, problems: Problems) -> Iterator[XmlElement]:
    """The elements called `wanted`: the root, or children of the root, which must have no others."""
    parser = _Parser(wanted, problems)
    for line in lines:
        yield from parser.feed(line)
    yield from parser.close()


class _Parser:
    def __init__(self, wanted: str, problems: Problems) -> None:
        self._wanted = wanted
        self._problems = problems
        self._open: list[XmlElement] = []
        self._closed: list[XmlElement] = []
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

    def feed(self, line: str) -> list[XmlElement]:
        return self._parse(line.encode("utf-8", "surrogatepass"), last=False)

    def close(self) -> list[XmlElement]:
        closed = self._parse(b"", last=True)
        if not self._n_found and self._root != "fce":
            self._problems.add(f"expected a <{self._wanted}>, found <{self._root}> without any", line=1)
        return closed

    def _parse(self, data: bytes, *, last: bool) -> list[XmlElement]:
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
            self._open.append(XmlElement(name, attributes, line=self._line))
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
            self._stop("expected no DTD, found one; remove the DOCTYPE", self._line)

    def _entity(self, name: str, *_: object) -> None:
        self._stop(f"expected only entities such as &amp;, found {name!r}; write its text instead", self._line)


def as_jsonml(children: Sequence[XmlElement | str]) -> list[Json]:
    """Content as JSON: text is a string, an element is [name, attributes, child, ...]."""
    return [child if isinstance(child, str) else _element_as_json(child) for child in children]


def _element_as_json(element: XmlElement) -> list[Json]:
    return [element.name, dict(element.attributes), *as_jsonml(element.children)]


def from_jsonml(content: Json, *, depth: int = 0) -> list[XmlElement | str] | None:
    """What `as_jsonml` made, or None where it is something else."""
    if not isinstance(content, list) or depth > MAX_DEPTH // 2:
        return None
    children: list[XmlElement | str] = []
    for piece in content:
        child = piece if isinstance(piece, str) else _element_of_json(piece, depth)
        if child is None:
            return None
        children.append(child)
    return children


def _element_of_json(piece: Json, depth: int) -> XmlElement | None:
    match piece:
        case [str(name), dict(attributes), *rest]:
            children = from_jsonml(rest, depth=depth + 1)
            values = {key: value for key, value in attributes.items() if isinstance(value, str)}
            if children is None or len(values) < len(attributes):
                return None
            return XmlElement(name, values, children)
    return None


def original(ns: XmlElement) -> Sequence[XmlElement | str]:
    """What the learner wrote there; white space between `<i>` and `<c>` is layout."""
    for wrong in ns.named("i"):
        return wrong.children
    bare = [child for child in ns.children if isinstance(child, str) or child.name != "c"]
    is_layout = len(bare) < len(ns.children) and not any(isinstance(c, XmlElement) or c.strip() for c in bare)
    return [] if is_layout else bare


def replacements(ns: XmlElement) -> tuple[str, ...]:
    corrections = ns.named("c")
    if corrections:
        return tuple(corrected(part.children) for part in corrections)
    return ("",) if ns.named("i") else ()


def corrected(children: Sequence[XmlElement | str]) -> str:
    """The text with every `<NS>` in it corrected, by its first correction."""
    return "".join(child if isinstance(child, str) else _corrected_element(child) for child in children)


def _corrected_element(ns: XmlElement) -> str:
    for part in ns.named("c"):
        return corrected(part.children)
    return "" if ns.named("i") else corrected(ns.children)


def check(ns: XmlElement, problems: Problems) -> None:
    """Report what would be lost or is not clear in an `<NS>` and its corrections; its `<i>` is not gone into."""
    wrong, corrections = ns.named("i"), ns.named("c")
    for part in (*wrong, *corrections):
        expect(part, part.name, problems)
    for part in wrong[1:]:
        problems.add("expected one <i> in an <NS>, found another", line=part.line)
    if wrong:
        expect_no_text(ns, problems)
    for part in ns.elements if wrong else ():
        if part.name not in ("i", "c"):
            problems.add(f"expected only <i> and <c>, found <{part.name}> beside them", line=part.line)
    for part in corrections:
        check_all(part.children, problems)


def check_all(children: Sequence[XmlElement | str], problems: Problems) -> None:
    """Report the same of every `<NS>` at any depth, and all that is not one."""
    for child in children:
        if isinstance(child, XmlElement):
            expect(child, "NS", problems)
            check(child, problems)
            check_all(original(child), problems)


def expect(element: XmlElement, name: str, problems: Problems) -> None:
    if element.name != name:
        problems.add(f"expected <{name}>, found <{element.name}>", line=element.line)
    elif element.attributes and name != "NS":
        problems.add(f"expected <{name}> without attributes, found some", line=element.line)


def expect_no_text(element: XmlElement, problems: Problems) -> None:
    text = element.text.strip()
    if text:
        problems.add(f"expected no text directly in <{element.name}>, found {text[:20]!r}", line=element.line)


RATER = "0"
FIELDS = {
    "head@sortkey": "sortkey",
    "head/candidate/personnel/language": "language",
    "head/candidate/personnel/age": "age",
    "head/candidate/score": "score",
    "answer/question_number": "question_number",
    "answer/exam_score": "exam_score",
}
FRAME = ("learner", "head", "text", "answer")
"""The elements that hold a script together; a path begins at the innermost of them."""

HOLDERS = {*FRAME, "head/candidate", "head/candidate/personnel", "answer/coded_answer"}
"""Elements that say nothing by being empty."""


def read_fce(source: Source) -> Iterator[Essay]:
    problems = Problems(source.name)
    ids = EssayIds()
    for learner in read_elements(source.lines(), "learner", problems):
        answers = _answers(learner)
        if not answers:
            problems.add("expected a <learner> with an <answer1>, found none", line=learner.line)
        fields = list(_fields(learner, "learner"))
        for answer in answers:
            yield _essay(answer, fields, ids, problems)
    problems.done()


def _answers(learner: XmlElement) -> list[XmlElement]:
    texts = [text for holder in (learner, *learner.named("head")) for text in holder.named("text")]
    return [child for text in texts for child in text.elements if _is_answer("text", child)]


def _is_answer(path: str, child: XmlElement) -> bool:
    return path == "text" and child.name.startswith("answer")


def _essay(answer: XmlElement, learner_fields: list[tuple[str, str]], ids: EssayIds, problems: Problems) -> Essay:
    metadata = _metadata([*learner_fields, *_fields(answer, "answer")])
    metadata["answer"] = answer.name
    transcript = _Transcript(problems)
    coded = answer.named("coded_answer")
    for content in coded[:1]:
        transcript.read_paragraphs(content)
    for content in coded[1:]:
        problems.add(f"expected one <coded_answer> in <{answer.name}>, found another", line=content.line)
    text = "".join(transcript.pieces)
    sortkey = metadata.get("sortkey")
    essay_id = ids.of_text(text) if sortkey is None else ids.of_document(f"{sortkey}/{answer.name}")
    return Essay(essay_id, text, tuple(transcript.edits), (RATER,), metadata=metadata, line=answer.line)


def _fields(element: XmlElement, path: str) -> Iterator[tuple[str, str]]:
    """Every attribute and every element with text, by path, but for the answers and what they say."""
    for name, value in element.attributes.items():
        yield f"{path}@{name}", value
    inner = element.elements
    if element.text.strip() or not (inner or path in HOLDERS):
        yield path, element.text
    for child in inner:
        if path == "answer/coded_answer" or _is_answer(path, child):
            continue
        yield from _fields(child, child.name if path in FRAME and child.name in FRAME else f"{path}/{child.name}")


def _metadata(fields: list[tuple[str, str]]) -> dict[str, Json]:
    """One value per field; a field that stands several times has a list of them."""
    values: dict[str, list[Json]] = {}
    for path, value in fields:
        values.setdefault(FIELDS.get(path, path), []).append(value)
    return {name: members[0] if len(members) == 1 else members for name, members in values.items()}


class _Transcript:
    """The learner's text as it grows, piece by piece, with the edits met on the way."""

    def __init__(self, problems: Problems) -> None:
        self.pieces: list[str] = []
        self.edits: list[Edit] = []
        self._length = 0
        self._problems = problems

    def read_paragraphs(self, coded: XmlElement) -> None:
        expect_no_text(coded, self._problems)
        for number, paragraph in enumerate(coded.elements):
            if number:
                self._add("\n")
            expect(paragraph, "p", self._problems)
            self._read(paragraph.children)

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self._length += len(piece)

    def _read(self, children: Sequence[XmlElement | str]) -> None:
        for child in children:
            if isinstance(child, str):
                self._add(child)
            elif child.name == "NS":
                self._read_edit(child)
            else:
                self._problems.add(f"expected text or <NS>, found <{child.name}>", line=child.line)

    def _read_edit(self, ns: XmlElement) -> None:
        check(ns, self._problems)
        start, index = self._length, len(self.edits)
        self._read(original(ns))
        edit = Edit(
            span=Span(start, self._length),
            replacements=replacements(ns),
            tag=ns.attributes.get("type", ""),
            rater=RATER,
            extra=_extra(ns),
            line=ns.line,
        )
        self.edits.insert(index, edit)  # before those inside it


def _extra(ns: XmlElement) -> dict[str, Json]:
    extra: dict[str, Json] = {}
    attributes: dict[str, Json] = {name: value for name, value in ns.attributes.items() if name != "type"}
    if attributes:
        extra["attributes"] = attributes
    corrections = ns.named("c")
    if any(part.elements for part in corrections):
        extra["c"] = [as_jsonml(part.children) for part in corrections]
    return extra
