"""From essays to NUCLE documents; the format, and what it cannot hold, is described in `grater.corpora.nucle`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from grater.corpora.formats import Loss, Report
from grater.corpora.identity import EssayIds
from grater.corpora.nucle.markup import BLANK, KEY, PARENTS, Kept, escaped
from grater.corpora.nucle.reading import (
    FIELDS,
    PLACE,
    Paragraphs,
    kept_paragraphs,
    paragraphs_of_text,
    replacements_of,
)
from grater.model import Edit, Essay, Span

NO_PLACE = "NUCLE has no place for it"


def write_nucle(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The text of a NUCLE file, a document at a time."""
    ids = EssayIds()
    for essay in essays:
        document = _Document(essay, report)
        if ids.of_document(essay.essay_id) != essay.essay_id or not essay.essay_id:
            document.lose("id", "an id that is empty or not the only one reads back as another", changed=True)
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
            self.lose("tokens", "NUCLE holds raw text only")
        for what in self._kept.unwritten():
            self.lose(f"metadata {what}", NO_PLACE)
        return "".join(parts)

    def _layout(self) -> Paragraphs:
        """The paragraphs as they were read, or else one a line."""
        essay = self._essay
        if "paragraphs" in essay.metadata:
            paragraphs = kept_paragraphs(essay.metadata["paragraphs"], essay.text)
            if paragraphs is not None and (len(paragraphs) or not essay.edits):
                return paragraphs
            self.lose("metadata paragraphs", "the lengths do not fit the text")
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
            yield self._kept.tag("REFERENCE", place=f"REFERENCE {number}") + "\n"
            yield from written[first:past]
            yield "</REFERENCE>\n"
            position = past
        yield from written[position:]
        yield "</TEXT>\n"

    def _paragraph(self, number: int, text: str) -> str:
        name = "TITLE" if self._is_titled and not number else "P"
        return f"{self._kept.tag(name, place=f'P {number}')}\n{escaped(text, tags=PARENTS)}\n</{name}>\n"

    def _annotations(self) -> Iterator[str]:
        by_rater: dict[str, list[Edit]] = {annotator: [] for annotator in self._essay.annotators}
        for edit in self._essay.edits:
            by_rater.setdefault(edit.rater, []).append(edit)
        self._tell_of_annotators(by_rater)
        for rater, edits in by_rater.items():
            place = f"ANNOTATION {rater}"
            yield self._kept.tag("ANNOTATION", {"teacher_id": rater}, place=place) + "\n"
            yield self._kept.elements(place)
            yield from map(self._mistake, edits)
            yield "</ANNOTATION>\n"

    def _tell_of_annotators(self, by_rater: Mapping[str, list[Edit]]) -> None:
        for rater in list(by_rater)[len(set(self._essay.annotators)) :]:
            why = "an ANNOTATION block makes its teacher an annotator of the whole essay"
            self.lose(f"annotator {rater}", why, changed=True)
        if [edit for edits in by_rater.values() for edit in edits] != list(self._essay.edits):
            self.lose("order of edits", "each annotator's edits stand in a block of their own", changed=True)

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
