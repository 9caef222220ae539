"""Essays from FCE scripts; what the format is stands in the package."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grater.corpora.fce.corrections import check, expect, expect_no_text, original, replacements
from grater.corpora.fce.elements import Element, as_jsonml, read_elements
from grater.corpora.format import Source
from grater.corpora.identity import EssayIds
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

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


def _answers(learner: Element) -> list[Element]:
    texts = [text for holder in (learner, *learner.named("head")) for text in holder.named("text")]
    return [child for text in texts for child in text.elements if _is_answer("text", child)]


def _is_answer(path: str, child: Element) -> bool:
    return path == "text" and child.name.startswith("answer")


def _essay(answer: Element, learner_fields: list[tuple[str, str]], ids: EssayIds, problems: Problems) -> Essay:
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


def _fields(element: Element, path: str) -> Iterator[tuple[str, str]]:
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
    return {name: found[0] if len(found) == 1 else found for name, found in values.items()}


class _Transcript:
    """The learner's text as it grows, piece by piece, with the edits met on the way."""

    def __init__(self, problems: Problems) -> None:
        self.pieces: list[str] = []
        self.edits: list[Edit] = []
        self._length = 0
        self._problems = problems

    def read_paragraphs(self, coded: Element) -> None:
        expect_no_text(coded, self._problems)
        for number, paragraph in enumerate(coded.elements):
            if number:
                self._add("\n")
            expect(paragraph, "p", self._problems)
            self._read(paragraph.children)

    def _add(self, piece: str) -> None:
        self.pieces.append(piece)
        self._length += len(piece)

    def _read(self, children: Sequence[Element | str]) -> None:
        for child in children:
            if isinstance(child, str):
                self._add(child)
            elif child.name == "NS":
                self._read_edit(child)
            else:
                self._problems.add(f"expected text or <NS>, found <{child.name}>", line=child.line)

    def _read_edit(self, ns: Element) -> None:
        check(ns, self._problems)
        start, place = self._length, len(self.edits)
        self._read(original(ns))
        edit = Edit(
            span=Span(start, self._length),
            replacements=replacements(ns),
            tag=ns.attributes.get("type", ""),
            rater=RATER,
            extra=_extra(ns),
            line=ns.line,
        )
        self.edits.insert(place, edit)  # before those inside it


def _extra(ns: Element) -> dict[str, Json]:
    extra: dict[str, Json] = {}
    attributes: dict[str, Json] = {name: value for name, value in ns.attributes.items() if name != "type"}
    if attributes:
        extra["attributes"] = attributes
    corrections = ns.named("c")
    if any(part.elements for part in corrections):
        extra["c"] = [as_jsonml(part.children) for part in corrections]
    return extra
