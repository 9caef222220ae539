"""BEA-2019 JSON: one object per essay, with character edits, as the W&I+LOCNESS and FCE releases have it.

Bryant, Felice, Andersen and Briscoe 2019, "The BEA-2019 Shared Task on Grammatical Error Correction".  One object per
line; one array, and objects spread over several lines, are read too:

    {"id": "1-7", "userid": "27", "cefr": "B1.i", "text": "We goes.", "edits": [[0, [[3, 7, "go"]]]]}

`edits` is a list of [annotator, [[start, end, correction], ...]]; offsets are code points of `text`.  A correction
of `null` means detected but not corrected, `""` means delete.  A fourth value is the edit's type and becomes its tag;
further values are kept in `Edit.extra["more"]`.  The essay's id is `id`, else `_id`, else a hash of the text; every
other key, in its order and with its JSON type, is metadata (so is an id that is not a string or comes beside `_id`).

What is read is written back as equal JSON, but for two additions: an essay without `edits` gets an empty list, and an
annotator id that is a string of digits becomes a number.  Keys come in the order id, metadata, text, edits.

Refused: offsets outside the text, an annotator listed twice, and what `json_text` refuses.  Not held by the
format, and reported: all but the first of several corrections, comments, tokens.  Annotator ids are numbers by
custom; others are written as strings, and reported as changed.

A line that is an object by itself costs one call of the JSON parser; all else is cut at its brackets first.  Where an
object never ends, the next line that is an essay by itself starts afresh, so that one bad line costs one essay.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from grater.corpora.formats import SURROGATE, EssayIds, FileFormat, Loss, NotJson, Report, Source, parse_json
from grater.errors import GraterError, Problems
from grater.model import Edit, Essay, Json, Span, short_hash

# JSON strings do not hold line ends, so a string never goes on in the next line.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\],]|[^\s"{}\[\],]+')


def json_objects(lines: Iterable[str], problems: Problems) -> Iterator[tuple[int, dict[str, Json]]]:
    """Each object with the line that it begins on."""
    cutter = _Cutter(problems)
    for number, line in enumerate(lines, 1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        whole = _essay_by_itself(line)
        if whole is None:
            for start, text in cutter.cut(line, number):
                yield from _parsed(start, text, problems)
        else:
            cutter.drop()
            yield number, whole
    cutter.drop()
    cutter.close()


def _essay_by_itself(line: str) -> dict[str, Json] | None:
    if not line.startswith("{"):
        return None
    try:
        value = parse_json(line.rstrip(", \t\r\n"))
    except NotJson:
        return None
    return value if isinstance(value, dict) and "text" in value else None


def _parsed(start: int, text: str, problems: Problems) -> Iterator[tuple[int, dict[str, Json]]]:
    try:
        value = parse_json(text)
    except NotJson as fault:
        problems.add(str(fault), line=start)
        return
    if isinstance(value, dict):
        yield start, value


class _Cutter:
    """Cuts a stream of lines into objects by counting brackets; keeps the lines of the one that is open."""

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self._pieces: list[str] = []
        self._start = 0
        self._depth = 0
        self._array = "none"
        self._array_line = 0

    def cut(self, line: str, number: int) -> Iterator[tuple[int, str]]:
        at = 0
        for match in TOKEN.finditer(line):
            token = match[0]
            if self._depth == 0 and token != "{":
                if not self._between(token, number):
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

    def _between(self, token: str, number: int) -> bool:
        """Take a token that stands between objects; False where the rest of the line makes no sense."""
        if token == "[" and self._array == "none":
            self._array, self._array_line = "open", number
        elif token == "]" and self._array == "open":
            self._array = "closed"
        elif token != "," or self._array != "open":
            self._problems.add(f"expected a JSON object, found {token[:40]!r}", line=number)
            return False
        return True

    def drop(self) -> None:
        """Report the object that is open, if any: nothing more of it will come."""
        if self._depth:
            message = "expected a complete JSON object, found only its beginning; the file may be cut off"
            self._problems.add(message, line=self._start)
        self._pieces, self._depth = [], 0

    def close(self) -> None:
        if self._array == "open":
            message = "expected a ']' for this '[', found none; the file may be cut off"
            self._problems.add(message, line=self._array_line)


class WrongEssay(ValueError):
    """What is wrong with an essay; it becomes a problem of the input."""


def read_bea(source: Source) -> Iterator[Essay]:
    problems = Problems(source.name)
    ids = EssayIds()
    for number, record in json_objects(source.lines(), problems):
        try:
            essay = _essay(record, ids, number)
        except WrongEssay as wrong:
            problems.add(str(wrong), line=number)
        else:
            yield essay
    problems.done()


def _essay(record: dict[str, Json], ids: EssayIds, line: int) -> Essay:
    text = record.get("text")
    if not isinstance(text, str):
        raise WrongEssay(f"expected an essay with a 'text', found {_shown(text if 'text' in record else [*record])}")
    by_rater = _by_rater(record.get("edits", []))
    edits = [_edit(value, rater, text, line) for rater, values in by_rater.items() for value in values]
    document_id = document_id_of(record)
    return Essay(
        essay_id=ids.of_text(text) if document_id is None else ids.of_document(document_id),
        text=text,
        edits=tuple(edits),
        annotators=tuple(by_rater),
        metadata={key: value for key, value in record.items() if key not in _kept_elsewhere(record)},
        line=line,
    )


def _kept_elsewhere(record: dict[str, Json]) -> set[str]:
    """The keys that the essay needs no metadata for; an id that says more than the essay's own is not among them."""
    is_plain_id = isinstance(record.get("id"), str) and "_id" not in record
    return {"text", "edits", "id"} if is_plain_id else {"text", "edits"}


def document_id_of(record: dict[str, Json]) -> str | None:
    """The id that an object gives itself: its `id`, else its `_id`, as a string."""
    for key in ("id", "_id"):
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            raise WrongEssay(f"expected {key!r} to be a string or a whole number, found {_shown(value)}")
    return None


def _by_rater(value: Json) -> dict[str, list[Json]]:
    by_rater: dict[str, list[Json]] = {}
    for pair in value if isinstance(value, list) else [value]:
        rater, edits = _rater_and_edits(pair)
        if rater in by_rater:
            raise WrongEssay(f"expected each annotator once, found {rater!r} again; put the edits in one list")
        by_rater[rater] = edits
    return by_rater


def _rater_and_edits(pair: Json) -> tuple[str, list[Json]]:
    match pair:
        case [int() | str() as rater, list(edits)] if not isinstance(rater, bool):
            return str(rater), edits
    raise WrongEssay(f"expected 'edits' to have pairs [annotator, [edit, ...]], found {_shown(pair)}")


def _edit(value: Json, rater: str, text: str, line: int) -> Edit:
    match value:
        case [int(start), int(end), str() | None as correction, *rest] if type(start) is type(end) is int:
            if not 0 <= start <= end <= len(text):
                raise WrongEssay(f"expected an edit inside the text (0 to {len(text)}), found {start} to {end}")
            tag, extra = _tag(rest)
            replacements = () if correction is None else (correction,)
            return Edit(Span(start, end), replacements, tag, rater, extra=extra, line=line)
    raise WrongEssay(f"expected an edit [start, end, correction or null, type], found {_shown(value)}")


def _tag(rest: list[Json]) -> tuple[str, dict[str, Json]]:
    """The type, and what else stands after the correction; an empty type is not the same file as none."""
    match rest:
        case []:
            return "", {}
        case [str(tag), *more]:
            return tag, {"more": more} if more or not tag else {}
    raise WrongEssay(f"expected the type of an edit to be a string, found {_shown(rest[0])}")


def _shown(value: Json) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."


NUMBER = re.compile(r"(.*)#([1-9][0-9]{0,8})", re.DOTALL)
# JSON escapes every other character that some tool takes for the end of a line.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}
WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def write_bea(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    n_seen: Counter[str] = Counter()
    for essay in essays:
        base = _unnumbered(essay.essay_id, n_seen)
        n_seen[base] += 1
        try:
            line = json.dumps(_record(essay, base, report), ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise GraterError(f"essay {essay.essay_id}: cannot be written as JSON: {error}") from error
        if SURROGATE.search(line):
            raise GraterError(f"essay {essay.essay_id}: cannot be written: it contains half a surrogate pair")
        yield line.translate(LINE_ENDS) + "\n"


def _unnumbered(essay_id: str, n_seen: Counter[str]) -> str:
    """The id less the number that reading gives to repeated ids."""
    match = NUMBER.fullmatch(essay_id)
    if match and n_seen[match[1]] == int(match[2]) - 1 > 0:
        return match[1]
    return essay_id


def _record(essay: Essay, base: str, report: Report) -> dict[str, Json]:
    if essay.tokens is not None:
        report(Loss(essay.essay_id, "tokens", "BEA text is not tokenised"))
    raters = dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)])
    edits: list[Json] = [
        [
            _annotator(essay, rater, report),
            [_edit_record(essay, edit, report) for edit in essay.edits if edit.rater == rater],
        ]
        for rater in raters
    ]
    return {**_named(essay, base, report), "text": essay.text, "edits": edits}


def _named(essay: Essay, base: str, report: Report) -> dict[str, Json]:
    """The metadata, with an id before it where reading would not find the same one without."""
    named = {key: value for key, value in essay.metadata.items() if key not in ("text", "edits")}
    for key in essay.metadata.keys() - named.keys():
        report(Loss(essay.essay_id, f"metadata {key}", f"BEA uses another meaning of {key!r}"))
    if _reads_as(named, base, essay.text):
        return named
    if named.pop("id", base) != base:
        report(Loss(essay.essay_id, "metadata id", "it differs from the essay's id, which is written"))
    return {"id": base, **named}


def _reads_as(named: dict[str, Json], base: str, text: str) -> bool:
    try:
        document_id = document_id_of(named)
    except WrongEssay:
        return False
    return base == (short_hash(text) if document_id is None else document_id)


def _annotator(essay: Essay, rater: str, report: Report) -> int | str:
    if WHOLE_NUMBER.fullmatch(rater):
        return int(rater)
    report(
        Loss(essay.essay_id, f"annotator {rater}", "BEA annotators are numbers: written as a string", changed=True)
    )
    return rater


def _edit_record(essay: Essay, edit: Edit, report: Report) -> list[Json]:
    what = f"edit {edit.span.start}-{edit.span.end} {edit.tag}"
    if edit.comment:
        report(Loss(essay.essay_id, f"comment of {what}", "BEA has no comments"))
    for key in edit.extra.keys() - {"more"}:
        report(Loss(essay.essay_id, f"{key} of {what}", "BEA has no such field"))
    if len(edit.replacements) > 1:
        why = f"BEA has room for one correction: {edit.replacements[0]!r} is written"
        report(Loss(essay.essay_id, f"alternatives of {what}", why))
    correction = edit.replacements[0] if edit.replacements else None
    return [edit.span.start, edit.span.end, correction, *_rest(essay, edit, report)]


def _rest(essay: Essay, edit: Edit, report: Report) -> list[Json]:
    """The type and what stood after it; nothing where there is neither."""
    more = edit.extra.get("more")
    if isinstance(more, list):
        return [edit.tag, *more]
    if more is not None:
        what = f"more of edit {edit.span.start}-{edit.span.end} {edit.tag}"
        report(Loss(essay.essay_id, what, "it is not a list"))
    return [edit.tag] if edit.tag else []


FORMAT = FileFormat("bea", (".json",), read_bea, write_bea)
