"""BEA-2019 JSON: one object per essay, with character edits, as in the W&I+LOCNESS and FCE releases.

Bryant, Felice, Andersen and Briscoe 2019, "The BEA-2019 Shared Task on Grammatical Error Correction".  One object per
line; one array, and objects spread over several lines, are read too:

    {"id": "1-7", "userid": "27", "cefr": "B1.i", "text": "We goes.", "edits": [[0, [[3, 7, "go"]]]]}

`edits` is a list of [annotator, [[start, end, correction], ...]]; offsets are code points of `text`.  A correction
of `null` means detected but not corrected, `""` means delete.  A fourth value is the edit's type and becomes its tag;
further values are kept in `Edit.extra["more"]`.  The essay's id is `id`, else `_id`, else a hash of the text; every
other key, in its order and with its JSON type, is metadata (so is an id that is not a string or comes next to `_id`).

Reading and writing gives equal JSON, except for two changes: an essay without `edits` gets an empty list, and an
annotator id that is a string of digits becomes a number. Keys come in the order id, metadata, text, edits.

Refused: offsets outside the text, an annotator listed twice, and what `parse_json` refuses. Not stored by the format,
and reported: all but the first of several corrections, comments, tokens. Annotator ids are usually numbers; others
are written as strings, and reported as changed.

A line that is a complete object needs one call of the JSON parser; other lines are first cut at brackets. If an
object never ends, parsing restarts at the next line that is a complete essay, so one bad line loses one essay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from grater.corpora.formats import (
    LINE_ENDS,
    EssayIds,
    FileFormat,
    Losses,
    NotJson,
    Report,
    Source,
    edit_name,
    json_line,
    parse_json,
    unnumbered,
)
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span, short_hash

# JSON strings do not hold line ends, so a string never goes on in the next line.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],]|[^\s"{}\[\],]+')


def json_objects(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each object with the line that it begins on."""
    cutter = _Cutter(problems)
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        whole = _essay_by_itself(line)
        if whole is not None:
            cutter.drop()
            yield number, whole
            continue
        for start, text in cutter.cut(line, number):
            try:
                value = parse_json(text)
            except NotJson as fault:
                problems.add(str(fault), line=start)
            else:
                if isinstance(value, dict):
                    yield start, value
    cutter.drop()
    if cutter.array == "open":
        message = "expected a ']' for this '[', found none; the file may be cut off"
        problems.add(message, line=cutter.array_line)


def _essay_by_itself(line: str) -> dict[str, Json] | None:
    if not line.startswith("{"):
        return None
    try:
        value = parse_json(line.rstrip(", \t\r\n"))
    except NotJson:
        return None
    return value if isinstance(value, dict) and "text" in value else None


class _Cutter:
    """Cuts a stream of lines into objects by counting brackets; keeps the lines of the open object."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._pieces: list[str] = []
        self._start = 0
        self._depth = 0
        self.array = "none"
        self.array_line = 0

    def cut(self, line: str, number: int) -> Iterator[tuple[int, str]]:
        at = 0
        for match in TOKEN.finditer(line):
            token = match[0]
            if self._depth == 0 and token != "{":
                if token == "[" and self.array == "none":
                    self.array, self.array_line = "open", number
                elif token == "]" and self.array == "open":
                    self.array = "closed"
                elif token != "," or self.array != "open":  # the rest of the line makes no sense
                    self._problems.add(f"expected a JSON object, found {token[:40]!r}", line=number)
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

    def drop(self) -> None:
        """Report the open object, if any: it can no longer be completed."""
        if self._depth:
            message = "expected a complete JSON object, found only its beginning; the file may be cut off"
            self._problems.add(message, line=self._start)
        self._pieces, self._depth = [], 0


def read_bea(source: Source) -> Iterator[Essay]:
    problems = Problems(source.name)
    ids = EssayIds()
    for number, record in json_objects(source.lines(), problems):
        try:
            yield _essay(record, ids, number)
        except ValueError as wrong:
            problems.add(str(wrong), line=number)
    problems.done()


def _essay(record: dict[str, Json], ids: EssayIds, line: int) -> Essay:
    text = record.get("text")
    if not isinstance(text, str):
        raise ValueError(f"expected an essay with a 'text', found {_shown(text if 'text' in record else [*record])}")
    value = record.get("edits", [])
    given: dict[str, list[Json]] = {}
    for pair in value if isinstance(value, list) else [value]:
        match pair:
            case [int() | str() as rater, list(values)] if not isinstance(rater, bool):
                if str(rater) in given:
                    found = f"found {str(rater)!r} again; put the edits in one list"
                    raise ValueError(f"expected each annotator once, {found}")
                given[str(rater)] = values
            case _:
                raise ValueError(f"expected 'edits' to have pairs [annotator, [edit, ...]], found {_shown(pair)}")
    by_rater = {rater: [_edit(each, rater, text, line) for each in values] for rater, values in given.items()}
    document_id = document_id_of(record)
    # An id that says more than the essay's own is metadata.
    is_plain_id = isinstance(record.get("id"), str) and "_id" not in record
    elsewhere = {"text", "edits", "id"} if is_plain_id else {"text", "edits"}
    return Essay(
        essay_id=ids.of_text(text) if document_id is None else ids.of_document(document_id),
        text=text,
        edits=tuple(edit for edits in by_rater.values() for edit in edits),
        annotators=tuple(by_rater),
        metadata={key: value for key, value in record.items() if key not in elsewhere},
        line=line,
    )


def document_id_of(record: dict[str, Json]) -> str | None:
    """The id in an object: its `id`, else its `_id`, as a string."""
    for key in ("id", "_id"):
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            raise ValueError(f"expected {key!r} to be a string or a whole number, found {_shown(value)}")
    return None


def _edit(value: Json, rater: str, text: str, line: int) -> Edit:
    match value:
        case [int(start), int(end), str() | None as correction, *rest] if type(start) is type(end) is int:
            if not 0 <= start <= end <= len(text):
                raise ValueError(f"expected an edit inside the text (0 to {len(text)}), found {start} to {end}")
            tag, *more = rest or [""]
            if not isinstance(tag, str):
                raise ValueError(f"expected the type of an edit to be a string, found {_shown(tag)}")
            # An empty type is not the same file as none.
            extra: dict[str, Json] = {"more": more} if more or (rest and not tag) else {}
            replacements = () if correction is None else (correction,)
            return Edit(Span(start, end), replacements, tag, rater, extra=extra, line=line)
    raise ValueError(f"expected an edit [start, end, correction or null, type], found {_shown(value)}")


def _shown(value: Json) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def write_bea(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    n_seen: Counter[str] = Counter()
    for essay in essays:
        base = unnumbered(essay.essay_id, n_seen)
        record = _record(essay, base, Losses(essay.essay_id, report))
        yield json_line(record, essay.essay_id).translate(LINE_ENDS) + "\n"


def _record(essay: Essay, base: str, lose: Losses) -> dict[str, Json]:
    if essay.tokens is not None:
        lose("tokens", "BEA text is not tokenised")
    edits: list[Json] = []
    for rater in dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]):
        is_number = WHOLE_NUMBER.fullmatch(rater)
        if not is_number:
            lose(f"annotator {rater}", "BEA annotators are numbers: written as a string", changed=True)
        of_rater: list[Json] = [_edit_record(edit, lose) for edit in essay.edits if edit.rater == rater]
        edits.append([int(rater) if is_number else rater, of_rater])
    named = {key: value for key, value in essay.metadata.items() if key not in ("text", "edits")}
    for key in sorted(essay.metadata.keys() - named.keys()):
        lose(f"metadata {key}", f"BEA uses another meaning of {key!r}")
    if not _reads_as(named, base, essay.text):
        if named.pop("id", base) != base:
            lose("metadata id", "it differs from the essay's id, which is written")
        named = {"id": base, **named}
    return {**named, "text": essay.text, "edits": edits}


def _reads_as(named: dict[str, Json], base: str, text: str) -> bool:
    """Whether reading would assign the same id if none were written."""
    try:
        document_id = document_id_of(named)
    except ValueError:
        return False
    return base == (short_hash(text) if document_id is None else document_id)


def _edit_record(edit: Edit, lose: Losses) -> list[Json]:
    what = edit_name(edit)
    if edit.comment:
        lose(f"comment of {what}", "BEA has no comments")
    for key in sorted(edit.extra.keys() - {"more"}):
        lose(f"{key} of {what}", "BEA has no such field")
    if len(edit.replacements) > 1:
        why = f"BEA has room for one correction: {edit.replacements[0]!r} is written"
        lose(f"alternatives of {what}", why)
    more = edit.extra.get("more")
    if more is not None and not isinstance(more, list):
        lose(f"more of {what}", "it is not a list")
    rest = [edit.tag, *more] if isinstance(more, list) else [edit.tag] if edit.tag else []
    return [edit.span.start, edit.span.end, edit.replacements[0] if edit.replacements else None, *rest]


FORMAT = FileFormat("bea", (".json",), read_bea, write_bea)
