"""Our own lossless format: JSON Lines, with a header and then one essay per line (here broken in two).

    {"format":"grater-corpus","version":1}
    {"id":"a","text":"He go home.","annotators":["R1"],"edits":[{"start":3,"end":5,"replacements":["goes"],
     "tag":"SVA","rater":"R1"}],"tokens":[[0,2],[3,5],[6,10],[10,11]],"metadata":{"language":"Thai"}}

Only what is set is written: of an essay `annotators`, `edits`, `tokens` and `metadata`, of an edit `comment` and
`extra` may be missing.  `replacements` is always present: `[]` is not corrected, `[""]` is delete.  Offsets are
code points.  Keys are in the order shown, those of `metadata` and `extra` in their own; the same essays give the
same bytes.

The reader checks every type and range, and refuses anything unknown, so that nothing is lost silently: a newer
version, an unknown or repeated key, a number that is not finite, half a surrogate pair (no text in any encoding).
Blank lines are skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TypeVar

from grater.corpora.formats import FileFormat, Report, json_line, parse_json
from grater.errors import BadInput, Problem, Problems
from grater.model import Edit, Essay, Json, Span

T = TypeVar("T")

VERSION = 1
FORMAT_NAME = "grater-corpus"
HEADER = f'{{"format":"{FORMAT_NAME}","version":{VERSION}}}'
ESSAY_KEYS = ("id", "text", "annotators", "edits", "tokens", "metadata")
OTHERWISE = "if it is a corpus of another format, name the format"
KINDS: dict[type, str] = {str: "a string", list: "a list", dict: "an object"}
EDIT_KEYS = ("start", "end", "replacements", "tag", "rater", "comment", "extra")


def write_jsonl(essays: Iterable[Essay], report: Report) -> Iterator[str]:  # noqa: ARG001 (nothing is ever lost)
    """The lines of a corpus file, the header first."""
    yield f"{HEADER}\n"
    for essay in essays:
        yield json_line(essay_record(essay), essay.essay_id, separators=(",", ":")) + "\n"


def essay_record(essay: Essay) -> dict[str, Json]:
    """An essay as JSON, only what is set."""
    record: dict[str, Json] = {"id": essay.essay_id, "text": essay.text}
    if essay.annotators:
        record["annotators"] = list(essay.annotators)
    edits: list[Json] = []
    for edit in essay.edits:
        mark: dict[str, Json] = {"start": edit.span.start, "end": edit.span.end}
        mark |= {"replacements": list(edit.replacements), "tag": edit.tag, "rater": edit.rater}
        mark |= {"comment": edit.comment} if edit.comment else {}
        mark |= {"extra": dict(edit.extra)} if edit.extra else {}
        edits.append(mark)
    if edits:
        record["edits"] = edits
    if essay.tokens is not None:
        record["tokens"] = [[token.start, token.end] for token in essay.tokens]
    if essay.metadata:
        record["metadata"] = dict(essay.metadata)
    return record


def read_jsonl(lines: Iterable[str], *, name: str) -> Iterator[Essay]:
    """The essays of a corpus file, one at a time."""
    problems = Problems(name)
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip("\ufeff \t\r\n"))
    _check_header(next(numbered, (1, "")), name)
    seen: set[str] = set()
    for number, line in numbered:
        try:
            essay = essay_from(_typed(parse_json(line), dict, "an essay"), number)
            if essay.essay_id in seen:
                raise ValueError(f"expected a different id for each essay, found {essay.essay_id!r} again")
            seen.add(essay.essay_id)
        except ValueError as wrong:
            problems.add(str(wrong), line=number)
            continue
        yield essay
    problems.done()


def _check_header(first: tuple[int, str], name: str) -> None:
    """Raise at once if the file is not ours, or from a newer version."""
    number, line = first
    wanted = f"expected the header {HEADER}"
    try:
        header = _typed(parse_json(line.removeprefix("\ufeff")), dict, "the header")
    except ValueError as wrong:
        raise BadInput(Problem(name, f"{wanted}, found {_shown(line.strip())}; {OTHERWISE}", number)) from wrong
    version = header.get("version")
    is_ours = header.keys() == {"format", "version"} and header["format"] == FORMAT_NAME and type(version) is int
    if not is_ours:
        raise BadInput(Problem(name, f"{wanted}, found {_shown(header)}; {OTHERWISE}", number))
    if version != VERSION:
        message = f"expected version {VERSION} of the format, found {version}; read it with a newer grater"
        raise BadInput(Problem(name, message, number))


def essay_from(record: dict[str, Json], line: int | None) -> Essay:
    """The essay of a record; an invalid record is refused."""
    _check_keys(record, known=ESSAY_KEYS, needed=2, what="an essay")
    text = _typed(record["text"], str, "text")
    edits = enumerate(_typed(record.get("edits", []), list, "edits"))
    return Essay(
        essay_id=_typed(record["id"], str, "id"),
        text=text,
        edits=tuple(_edit(_typed(value, dict, f"edits[{n}]"), f"edits[{n}]", len(text), line) for n, value in edits),
        annotators=_annotators(record.get("annotators", [])),
        tokens=_tokens(record["tokens"], len(text)) if "tokens" in record else None,
        metadata=_typed(record.get("metadata", {}), dict, "metadata"),
        line=line,
    )


def _edit(record: dict[str, Json], what: str, length: int, line: int | None) -> Edit:
    _check_keys(record, known=EDIT_KEYS, needed=5, what=what)
    return Edit(
        span=_span([record["start"], record["end"]], what, length),
        replacements=_strings(record["replacements"], f"{what}.replacements"),
        tag=_typed(record["tag"], str, f"{what}.tag"),
        rater=_typed(record["rater"], str, f"{what}.rater"),
        comment=_typed(record.get("comment", ""), str, f"{what}.comment"),
        extra=_typed(record.get("extra", {}), dict, f"{what}.extra"),
        line=line,
    )


def _annotators(value: Json) -> tuple[str, ...]:
    annotators = _strings(value, "annotators")
    if len(set(annotators)) < len(annotators):
        raise ValueError(f"expected each annotator once, found {_shown(value)}")
    return annotators


def _tokens(value: Json, length: int) -> tuple[Span, ...]:
    tokens = tuple(_span(pair, f"tokens[{n}]", length) for n, pair in enumerate(_typed(value, list, "tokens")))
    for n in range(1, len(tokens)):
        if tokens[n].start < tokens[n - 1].end:
            found = f"tokens[{n}] inside or before the one before it"
            raise ValueError(f"expected tokens in the order of the text, found {found}")
    return tokens


def _span(value: Json, what: str, length: int) -> Span:
    match value:
        case [int(start), int(end)] if type(start) is int and type(end) is int:
            if 0 <= start <= end <= length:
                return Span(start, end)
            raise ValueError(f"expected {what} inside the text (0 to {length}), found {start} to {end}")
    raise ValueError(f"expected {what} to have two whole numbers, start and end, found {_shown(value)}")


def _check_keys(record: dict[str, Json], *, known: tuple[str, ...], needed: int, what: str) -> None:
    """The first `needed` of the known keys may not be missing."""
    missing = [key for key in known[:needed] if key not in record]
    unknown = [key for key in record if key not in known]
    if missing:
        raise ValueError(f"expected {', '.join(missing)} in {what}, found {_shown([*record])}")
    if unknown:
        raise ValueError(f"expected only {', '.join(known)} in {what}, found {_shown([*unknown])}")


def _typed(value: Json, kind: type[T], what: str) -> T:
    if isinstance(value, kind):
        return value
    raise ValueError(f"expected {what} to be {KINDS[kind]}, found {_shown(value)}")


def _strings(value: Json, what: str) -> tuple[str, ...]:
    return tuple(_typed(item, str, f"{what}[{n}]") for n, item in enumerate(_typed(value, list, what)))


def _shown(value: Json) -> str:
    try:
        shown = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        shown = "something deeply nested"
    return shown if len(shown) <= 60 else shown[:57] + "..."


FORMAT = FileFormat("jsonl", (".jsonl",), lambda source: read_jsonl(source.lines(), name=source.name), write_jsonl)
