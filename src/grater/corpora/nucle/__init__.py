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

Corrections.  An empty CORRECTION deletes the words, but where there are none to delete, and for `Um`, `Cit` and `Wa`
(passages too poor to correct, citation practice and acronyms, Table 1) it means: found, not corrected.  The format
itself cannot tell the two apart; a rule has to.

Markup.  NUCLE is not XML: a `&` or `<` that begins no reference and no NUCLE tag is itself, and so is any other tag
inside the words.  `&lt; &gt; &amp; &quot; &apos;` and numeric references are decoded (the CoNLL-2013 scripts leave
them as they are).  Declarations (`<!DOCTYPE`, `<!ENTITY`) are refused: nothing is ever expanded.  The writer escapes
only what would be misread.  In a REFERENCE the release closes a paragraph with a second `<P>` (those scripts mend
it); that is read, and written right.

The personal fields of the full corpus (FIRST_LANGUAGE and the like) are metadata by their names in small letters;
attributes and elements that nobody knows are kept under `sgml` in the metadata or in an edit's `extra`
(`leftovers`).

What cannot be held is reported as a loss: alternatives (the first is written: a MISTAKE each would change the count),
corrections that the rule above would read differently, the order of edits of different annotators, tokens, ids that
repeat, any other metadata or extra.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate

from grater.corpora.formats import EssayIds, FileFormat, Loss, Report, Source
from grater.corpora.nucle.markup import BLANK, KEY, PARENTS, Kept, Leftovers, SgmlElement, decoded, documents, escaped
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

__all__ = ["FORMAT", "read_nucle", "write_nucle"]


@dataclass(frozen=True, slots=True)
class Paragraphs:
    """Where each paragraph starts in the text, and how long it is."""

    starts: tuple[int, ...]
    lengths: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.lengths)

    def offset(self, paragraph: int, offset: int) -> int:
        return self.starts[paragraph] + offset

    def place(self, offset: int) -> tuple[int, int]:
        paragraph = bisect_right(self.starts, offset) - 1
        return paragraph, offset - self.starts[paragraph]

    def of(self, text: str) -> list[str]:
        return [text[start : start + length] for start, length in zip(self.starts, self.lengths, strict=True)]


def paragraphs_of_lengths(lengths: Iterable[int]) -> Paragraphs:
    lengths = tuple(lengths)
    starts = accumulate((length + 1 for length in lengths[:-1]), initial=0)
    return Paragraphs(tuple(starts) if lengths else (), lengths)


def paragraphs_of_text(text: str) -> Paragraphs:
    """A paragraph a line."""
    return paragraphs_of_lengths(len(line) for line in text.split("\n"))


def kept_paragraphs(lengths: Json, text: str) -> Paragraphs | None:
    """The paragraphs that metadata tells of, or None where they do not fit the text."""
    if not isinstance(lengths, list):
        return None
    numbers = [length for length in lengths if type(length) is int and length >= 0]
    paragraphs = paragraphs_of_lengths(numbers)
    fits = len(numbers) == len(lengths) and "\n".join(paragraphs.of(text)) == text
    return paragraphs if fits and sum(numbers) + max(len(numbers) - 1, 0) == len(text) else None


FIELDS = ("matric", "email", "nationality", "first_language", "school_language", "english_tests")
"""What the full corpus says of a writer (so the CoNLL-2013 scripts): elements of DOC, keys of metadata."""

UNCORRECTED = ("Um", "Cit", "Wa")
"""Tags of which an empty CORRECTION means: found, not corrected."""

PLACE = ("start_par", "start_off", "end_par", "end_off")
WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")


def read_nucle(lines: Iterable[str], *, name: str) -> Iterator[Essay]:
    """The essays of a NUCLE file, one at a time."""
    problems = Problems(name)
    ids = EssayIds()
    for document in documents(lines, problems):
        yield _essay(document, ids, problems)
    problems.done()


def _essay(document: SgmlElement, ids: EssayIds, problems: Problems) -> Essay:
    leftovers = Leftovers()
    leftovers.attributes("DOC", document, known=["nid"])
    metadata = _fields(document, leftovers)
    texts = _paragraphs(document, leftovers, metadata, problems)
    text = "\n".join(texts)
    paragraphs = paragraphs_of_lengths(map(len, texts))
    if paragraphs != paragraphs_of_text(text):
        metadata["paragraphs"] = list(paragraphs.lengths)
    reading = _Annotations(paragraphs, leftovers, problems)
    edits = tuple(edit for annotation in document.named("ANNOTATION") for edit in reading.edits(annotation))
    nid = document.attributes.get("nid")
    return Essay(
        essay_id=ids.of_document(nid) if nid else ids.of_text(text),
        text=text,
        edits=edits,
        annotators=tuple(reading.annotators),
        metadata=metadata | leftovers.as_json(),
        line=document.line,
    )


def _fields(document: SgmlElement, leftovers: Leftovers) -> dict[str, Json]:
    metadata: dict[str, Json] = {}
    for element in document.unknown():
        key = element.name.lower()
        if key in FIELDS and element.name.isupper() and not element.attributes and key not in metadata:
            metadata[key] = decoded(element.words.strip(BLANK))
        else:
            leftovers.elements("DOC", [element])
    return metadata


def _paragraphs(
    document: SgmlElement, leftovers: Leftovers, metadata: dict[str, Json], problems: Problems
) -> list[str]:
    texts: list[str] = []
    for element in _elements_of_text(document, leftovers, problems):
        if element.name == "TITLE" and texts:
            problems.add("expected <TITLE> before the first <P>, found it after; move it", line=element.line)
        elif element.name == "TITLE":
            metadata["titled"] = True
        leftovers.attributes(f"P {len(texts)}", element)
        texts.append(_paragraph(element.words))
    return texts


def _elements_of_text(document: SgmlElement, leftovers: Leftovers, problems: Problems) -> list[SgmlElement]:
    """TITLE and P elements, also those in a REFERENCE, in their order."""
    elements: list[SgmlElement] = []
    for number, text in enumerate(document.named("TEXT")):
        if number:
            message = "expected one <TEXT> in a <DOC>, found a second; make it a document of its own"
            problems.add(message, line=text.line)
        leftovers.attributes("TEXT", text)
        for child in text.children:
            if child.name == "REFERENCE":
                leftovers.attributes(f"REFERENCE {leftovers.n_references}", child)
                leftovers.reference(len(elements), len(elements) + len(child.children))
            elements += child.children if child.name == "REFERENCE" else [child]
    return elements


def _paragraph(words: str) -> str:
    """A paragraph without the one line end that lies between it and its tags."""
    return decoded(words.removeprefix("\n").removesuffix("\n"))


class _Annotations:
    """The ANNOTATION blocks of one document; several of one teacher are one annotator."""

    def __init__(self, paragraphs: Paragraphs, leftovers: Leftovers, problems: Problems) -> None:
        self.annotators: dict[str, None] = {}
        self._paragraphs = paragraphs
        self._leftovers = leftovers
        self._problems = problems

    def edits(self, annotation: SgmlElement) -> Iterator[Edit]:
        rater = annotation.attributes.get("teacher_id")
        if rater is None:
            self._problems.add('expected <ANNOTATION teacher_id="...">, found no teacher_id', line=annotation.line)
            rater = ""
        self.annotators[rater] = None
        self._leftovers.attributes(f"ANNOTATION {rater}", annotation, known=["teacher_id"])
        self._leftovers.elements(f"ANNOTATION {rater}", annotation.unknown())
        for mistake in annotation.named("MISTAKE"):
            edit = self._edit(mistake, rater)
            if edit:
                yield edit

    def _edit(self, mistake: SgmlElement, rater: str) -> Edit | None:
        span = self._span(mistake)
        words = {name: self._only(mistake, name) for name in ("TYPE", "CORRECTION", "COMMENT")}
        tag, correction, comment = words["TYPE"], words["CORRECTION"], words["COMMENT"] or ""
        if span is None or tag is None or correction is None:
            return None
        replacements = replacements_of(correction, tag, span)
        return Edit(
            span=span,
            replacements=replacements,
            tag=tag,
            rater=rater,
            comment=comment,
            extra=_leftovers(mistake),
            line=mistake.line,
        )

    def _only(self, mistake: SgmlElement, name: str) -> str | None:
        """The words of the one child of this name; a COMMENT may be missing."""
        elements = mistake.named(name)
        if len(elements) > 1 or (not elements and name != "COMMENT"):
            message = f"expected one <{name}> in <MISTAKE>, found {len(elements) or 'none'}"
            self._problems.add(message, line=elements[1].line if elements else mistake.line)
        return elements[0].text if elements else None

    def _span(self, mistake: SgmlElement) -> Span | None:
        wrong = self._wrong_place(mistake.attributes)
        if wrong:
            self._problems.add(f"{wrong} in <MISTAKE>", line=mistake.line)
            return None
        start_par, start_off, end_par, end_off = (int(mistake.attributes[name]) for name in PLACE)
        return Span(self._paragraphs.offset(start_par, start_off), self._paragraphs.offset(end_par, end_off))

    def _wrong_place(self, attributes: dict[str, str]) -> str:
        """What is wrong with a place, or nothing."""
        for name in PLACE:
            if name not in attributes:
                return f"expected {name}, found none"
            if not WHOLE_NUMBER.fullmatch(attributes[name]):
                return f"expected a whole number for {name}, found {attributes[name][:40]!r}"
        start_par, start_off, end_par, end_off = (int(attributes[name]) for name in PLACE)
        for name, paragraph, offset in (("start", start_par, start_off), ("end", end_par, end_off)):
            if paragraph >= len(self._paragraphs):
                n_paragraphs = f"the {len(self._paragraphs)} paragraphs (from 0, the title counted)"
                return f"expected {name}_par among {n_paragraphs}, found {paragraph}"
            if offset > self._paragraphs.lengths[paragraph]:
                length = self._paragraphs.lengths[paragraph]
                return f"expected {name}_off inside paragraph {paragraph} (0 to {length}), found {offset}"
        if (end_par, end_off) < (start_par, start_off):
            return f"expected an end after the start {start_par}:{start_off}, found {end_par}:{end_off}"
        return ""


def replacements_of(correction: str, tag: str, span: Span) -> tuple[str, ...]:
    """What a CORRECTION means: empty, it deletes, but for tags and places where it says that nobody corrected."""
    left_alone = not correction and (tag in UNCORRECTED or not len(span))
    return () if left_alone else (correction,)


def _leftovers(mistake: SgmlElement) -> dict[str, Json]:
    leftovers = Leftovers()
    leftovers.attributes("MISTAKE", mistake, known=PLACE)
    leftovers.elements("MISTAKE", mistake.unknown())
    for child in mistake.children:
        if child.name in ("TYPE", "CORRECTION", "COMMENT"):
            leftovers.attributes(child.name, child)
        if child.name == "COMMENT" and not child.text:
            leftovers.empty("COMMENT")
    return leftovers.as_json()


NO_PLACE = "NUCLE has no place for it"


def write_nucle(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The text of a NUCLE file, a document at a time."""
    ids = EssayIds()
    for essay in essays:
        document = _Document(essay, report)
        if ids.of_document(essay.essay_id) != essay.essay_id or not essay.essay_id:
            document.lose("id", "an empty or repeated id is read back as another", changed=True)
        yield document.written()


class _Document:
    """One essay on its way into a file, telling its losses."""

    def __init__(self, essay: Essay, report: Report) -> None:
        self._essay = essay
        self._report = report
        self._kept = Kept(essay.metadata.get(KEY, {}))
        self._paragraphs = self._layout()

    def lose(self, what: str, why: str, *, changed: bool = False) -> None:
        self._report(Loss(self._essay.essay_id, what, why, changed))

    def written(self) -> str:
        parts = [
            self._kept.tag("DOC", {"nid": self._essay.essay_id}) + "\n",
            *self._fields(),
            self._kept.elements("DOC"),
            *self._text(),
            *self._annotations(),
            "</DOC>\n\n",
        ]
        if self._essay.tokens is not None:
            self.lose("tokens", "NUCLE stores raw text only")
        for what in self._kept.unwritten():
            self.lose(f"metadata {what}", NO_PLACE)
        return "".join(parts)

    def _layout(self) -> Paragraphs:
        """The paragraphs as they were read, or else one per line."""
        essay = self._essay
        if "paragraphs" in essay.metadata:
            paragraphs = kept_paragraphs(essay.metadata["paragraphs"], essay.text)
            if paragraphs is not None and (len(paragraphs) or not essay.edits):
                return paragraphs
            self.lose("metadata paragraphs", "the lengths do not match the text")
        return paragraphs_of_text(essay.text)

    def _fields(self) -> Iterator[str]:
        for key, value in self._essay.metadata.items():
            if key in FIELDS and isinstance(value, str) and value == value.strip(BLANK):
                yield f"<{key.upper()}>{escaped(value, tags={*PARENTS, key.upper()})}</{key.upper()}>\n"
            elif key not in ("titled", "paragraphs", KEY) or (key == "titled" and not self._is_titled):
                self.lose(f"metadata {key}", NO_PLACE)

    @property
    def _is_titled(self) -> bool:
        return self._essay.metadata.get("titled") is True and len(self._paragraphs) > 0

    def _text(self) -> Iterator[str]:
        yield self._kept.tag("TEXT") + "\n"
        written = [self._paragraph(*numbered) for numbered in enumerate(self._paragraphs.of(self._essay.text))]
        position = 0
        for number, (first, past) in enumerate(self._kept.references(int(self._is_titled), len(written))):
            yield from written[position:first]
            yield self._kept.tag("REFERENCE", key=f"REFERENCE {number}") + "\n"
            yield from written[first:past]
            yield "</REFERENCE>\n"
            position = past
        yield from written[position:]
        yield "</TEXT>\n"

    def _paragraph(self, number: int, text: str) -> str:
        name = "TITLE" if self._is_titled and not number else "P"
        return f"{self._kept.tag(name, key=f'P {number}')}\n{escaped(text, tags=PARENTS)}\n</{name}>\n"

    def _annotations(self) -> Iterator[str]:
        by_rater: dict[str, list[Edit]] = {annotator: [] for annotator in self._essay.annotators}
        for edit in self._essay.edits:
            by_rater.setdefault(edit.rater, []).append(edit)
        self._tell_of_annotators(by_rater)
        for rater, edits in by_rater.items():
            key = f"ANNOTATION {rater}"
            yield self._kept.tag("ANNOTATION", {"teacher_id": rater}, key=key) + "\n"
            yield self._kept.elements(key)
            yield from map(self._mistake, edits)
            yield "</ANNOTATION>\n"

    def _tell_of_annotators(self, by_rater: Mapping[str, list[Edit]]) -> None:
        for rater in list(by_rater)[len(set(self._essay.annotators)) :]:
            why = "NUCLE counts a teacher with an ANNOTATION block as annotator of the whole essay"
            self.lose(f"annotator {rater}", why, changed=True)
        if [edit for edits in by_rater.values() for edit in edits] != list(self._essay.edits):
            self.lose("order of edits", "each annotator's edits are in a separate block", changed=True)

    def _mistake(self, edit: Edit) -> str:
        if not 0 <= edit.span.start <= edit.span.end <= len(self._essay.text):
            self.lose(_name(edit), "its span is not inside the text")
            return ""
        kept = Kept(edit.extra.get(KEY, {}))
        parts = [
            kept.tag("MISTAKE", self._place(edit.span)),
            _element("TYPE", edit.tag, kept),
            _element("CORRECTION", self._correction(edit), kept),
            *([_element("COMMENT", edit.comment, kept)] if edit.comment or kept.has("COMMENT") else []),
            f"{kept.elements('MISTAKE')}</MISTAKE>\n",
        ]
        for key in [*(key for key in edit.extra if key != KEY), *kept.unwritten()]:
            self.lose(f"{_name(edit)} extra {key}", NO_PLACE)
        return "\n".join(parts)

    def _place(self, span: Span) -> dict[str, str]:
        numbers = (*self._paragraphs.place(span.start), *self._paragraphs.place(span.end))
        return dict(zip(PLACE, map(str, numbers), strict=True))

    def _correction(self, edit: Edit) -> str:
        first, *others = edit.replacements or ("",)
        for other in others:
            self.lose(f"{_name(edit)} alternative {other!r}", "a MISTAKE has one CORRECTION")
        read_back = replacements_of(first, edit.tag, edit.span)
        if read_back != edit.replacements[:1]:
            meaning = "a deletion" if read_back else "no correction"
            self.lose(_name(edit), f"an empty CORRECTION of {edit.tag} here means {meaning}", changed=True)
        return first


def _element(name: str, text: str, kept: Kept) -> str:
    return f"{kept.tag(name)}{escaped(text, tags=PARENTS)}</{name}>"


def _name(edit: Edit) -> str:
    return f"edit {edit.span.start}-{edit.span.end} {edit.tag}"


def _read(source: Source) -> Iterator[Essay]:
    return read_nucle(source.lines(), name=source.name)


FORMAT = FileFormat("nucle", (".sgml", ".sgm"), _read, write_nucle)
