"""One `.ann` file both ways: the edits in it, what grater noted, and the lines that are neither.

brat shows a span as fragments of at least one character, none with a line end in it: `fragments_in` cuts a span,
`widened` grows an empty one to a word, `narrowed` takes that back.  The correction and the comment of an edit are a
note that a person can read and type (`make_note`, `parse_note`; grammar in the package).  `read_annotations` gives
the edits of a file, `annotation_lines` the lines of one annotator's edits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count

from grater.corpora.formats import Loss, NotJson, Report, parse_json
from grater.errors import GraterError, Problems
from grater.model import DELETE, Edit, Essay, Json, Span

BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What any reader of a text file may take for the end of a line."""

AS_SPACES = str.maketrans(BREAKS, " " * len(BREAKS))
RUN = re.compile(f"[^{BREAKS}]+")
WORD = re.compile(r"\S+")


def fragments_in(text: str, span: Span) -> list[Span]:
    """The span, cut at line ends."""
    return [Span(*match.span()) for match in RUN.finditer(text, span.start, span.end)]


def shown(text: str, span: Span) -> list[Span]:
    """The fragments for a span; where it has none, those of the word beside it; none in a text without a word."""
    fragments = fragments_in(text, span)
    word = None if fragments else _word_at(text, span)
    if word is None:
        return fragments
    return fragments_in(text, Span(min(span.start, word.start), max(span.end, word.end)))


def _word_at(text: str, span: Span) -> Span | None:
    """The word around or right after the span, else the one right before it, else the next, else the last."""
    before = None
    for match in WORD.finditer(text):
        if match.end() > span.end:
            touches_before = before is not None and before.end == span.start
            return before if touches_before and match.start() > span.end else Span(*match.span())
        before = Span(*match.span())
    return before


def cover(fragments: Sequence[Span]) -> Span:
    return Span(fragments[0].start, fragments[-1].end)


def quoted(text: str, fragments: Iterable[Span]) -> str:
    """What a line of brat says that the fragments say."""
    return " ".join(fragment.of(text) for fragment in fragments).translate(AS_SPACES)


def joined(text: str, fragments: Iterable[Span]) -> list[Span]:
    """The fragments, less the gaps that are line ends and nothing else."""
    whole: list[Span] = []
    for fragment in fragments:
        if whole and not text[whole[-1].end : fragment.start].strip(BREAKS):
            whole[-1] = Span(whole[-1].start, fragment.end)
        else:
            whole.append(fragment)
    return whole


def widened(text: str, span: Span, wide: Span, replacement: str) -> str:
    """The replacement of a span, said of a wider one."""
    return text[wide.start : span.start] + replacement + text[span.end : wide.end]


def narrowed(text: str, span: Span, wide: Span, replacement: str) -> str | None:
    """The reverse; None where the replacement changes what lies outside the span."""
    left, right = text[wide.start : span.start], text[span.end : wide.end]
    fits = replacement.startswith(left) and replacement.endswith(right) and len(replacement) >= len(left + right)
    return replacement[len(left) : len(replacement) - len(right)] if fits else None


ARROW = "=>"
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
SHORT = {"n": "\n", "r": "\r", "t": "\t", "s": " "}
LONG = {value: f"\\{key}" for key, value in SHORT.items() if key != "s"}
THEMSELVES = "\\|/-"


def make_note(replacements: tuple[str, ...], comment: str) -> str:
    """The note of an edit; empty where there is nothing to say."""
    if not replacements and _is_plain(comment):
        return comment
    corrections = " || ".join(_correction(text) for text in replacements)
    return " ".join([ARROW, *([corrections] if corrections else []), *(["//", _escaped(comment)] if comment else [])])


def _is_plain(comment: str) -> bool:
    return not UNSAFE.search(comment) and comment == comment.strip() and not comment.startswith(ARROW)


def _correction(text: str) -> str:
    if text in ("", DELETE):
        return DELETE if text == "" else f"\\{DELETE}"
    return _escaped(text).replace("||", "\\|\\|").replace("//", "\\/\\/")


def _escaped(text: str) -> str:
    text = UNSAFE.sub(lambda match: LONG.get(match[0], f"\\u{ord(match[0]):04x}"), text.replace("\\", "\\\\"))
    inside = text.strip(" ")
    n_left = len(text) - len(text.lstrip(" "))
    n_right = len(text) - len(inside) - n_left
    return "\\s" * n_left + inside + "\\s" * n_right


def parse_note(note: str) -> tuple[tuple[str, ...], str]:
    """The replacements and the comment of a note; a note without an arrow is all comment, as it stands."""
    if not note.startswith(ARROW):
        return (), note
    corrections, _, comment = f" {note.removeprefix(ARROW)} ".partition(" // ")
    pieces = [piece.strip(" ") for piece in corrections.split(" || ")]
    replacements = tuple("" if piece == DELETE else _unescaped(piece) for piece in pieces if piece)
    return replacements, _unescaped(comment.strip(" "))


def _unescaped(text: str) -> str:
    return ESCAPE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    code, letter = match.groups()
    if code:
        return chr(int(code, 16))
    if letter in SHORT:
        return SHORT[letter]
    return str(letter) if letter in THEMSELVES else match[0]


DOCUMENT = "document"
"""What a Grater note speaks of when it speaks of the whole essay."""

TEXT_BOUND = re.compile(r"(T[0-9]\S*)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)\t(.*)", re.DOTALL)
NOTE = re.compile(r"#\S*\t(AnnotatorNotes|Grater) (\S+)\t(.*)", re.DOTALL)
OTHER = re.compile(r"(?:[A-Z#]\S*|\*)\t.+", re.DOTALL)
MARK_ID = re.compile(r"\bT[0-9]\w*")


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """What a file says; the edits have no rater yet."""

    edits: tuple[Edit, ...] = ()
    about: Mapping[str, Json] | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Mark:
    mark_id: str
    type: str
    fragments: list[Span]
    line: int


def brat_type(tag: str) -> str:
    """The type that a tag is shown as: letters, digits, `-` and `_` are all that brat takes."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", tag) or "Edit"


def read_annotations(lines: Iterable[str], text: str, problems: Problems) -> AnnotationFile:
    reader = _Reader(text, problems)
    for number, line in enumerate(lines, 1):
        reader.take(line.removesuffix("\n").removesuffix("\r"), number)
    return reader.annotations()


class _Reader:
    """The lines of one file, sorted by kind; notes may come before what they speak of."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._text = text
        self._problems = problems
        self._marks: dict[str, _Mark] = {}
        self._notes: dict[str, re.Match[str]] = {}
        self._kept: dict[str, Mapping[str, Json]] = {}
        self._others: list[str] = []

    def take(self, line: str, number: int) -> None:
        note = NOTE.fullmatch(line)
        if line.startswith("T"):
            self._take_mark(line, number)
        elif note and note[1] == "Grater":
            self._take_grater_note(note[2], note[3], number)
        elif note and note[2].startswith("T") and note[2] not in self._notes:
            self._notes[note[2]] = note
        elif OTHER.fullmatch(line):
            self._others.append(line)
        elif line.strip("\ufeff \t"):
            expected = "expected a line of brat such as 'T1<tab>Type 0 5<tab>words'"
            self._problems.add(f"{expected}, found {line[:40]!r}", line=number)

    def _take_mark(self, line: str, number: int) -> None:
        try:
            mark = _mark(line, number, self._text)
            if mark.mark_id in self._marks:
                raise ValueError(f"expected each id once, found {mark.mark_id} again")
        except ValueError as wrong:
            self._problems.add(str(wrong), line=number)
        else:
            self._marks[mark.mark_id] = mark

    def _take_grater_note(self, target: str, note: str, number: int) -> None:
        try:
            kept = parse_json(note)
            if not _is_grater_note(kept, target, len(self._text)):
                raise NotJson(f"expected a note as grater writes it, found {note[:40]!r}; remove the line")
        except NotJson as wrong:
            self._problems.add(str(wrong), line=number)
        else:
            self._kept[target] = kept if isinstance(kept, dict) else {}

    def annotations(self) -> AnnotationFile:
        others = self._others + [note[0] for target, note in self._notes.items() if target not in self._marks]
        spoken_of = {mark_id for line in others for mark_id in MARK_ID.findall(line)}
        edits = [self._edit(mark, is_spoken_of=mark.mark_id in spoken_of) for mark in self._marks.values()]
        return AnnotationFile(tuple(edits), self._kept.get(DOCUMENT), tuple(others))

    def _edit(self, mark: _Mark, *, is_spoken_of: bool) -> Edit:
        note, kept = self._notes.get(mark.mark_id), self._kept.get(mark.mark_id, {})
        replacements, comment = parse_note(note[3] if note else "")
        fragments = joined(self._text, mark.fragments)
        tag = str(kept.get("tag", mark.type))
        edit = Edit(
            span=cover(fragments),
            replacements=replacements,
            tag=tag if brat_type(tag) == mark.type else mark.type,
            rater="",
            comment=comment,
            extra=_extra(kept.get("extra"), mark.mark_id if is_spoken_of else None, fragments),
            line=mark.line,
        )
        return _put_back(edit, kept.get("span"), self._text) if len(fragments) == 1 else edit


def _mark(line: str, number: int, text: str) -> _Mark:
    match = TEXT_BOUND.fullmatch(line)
    if match is None:
        raise ValueError(f"expected 'T1<tab>Type 0 5<tab>words', found {line[:40]!r}")
    pairs = [pair.split(" ") for pair in match[3].split(";")]
    fragments = [Span(int(start), int(end)) for start, end in pairs]
    edges = [edge for fragment in fragments for edge in (fragment.start, fragment.end)]
    if edges != sorted(edges) or edges[-1] > len(text):
        raise ValueError(f"expected fragments in order inside the text (0 to {len(text)}), found {match[3]}")
    expected = quoted(text, fragments)
    if quoted(match[4], [Span(0, len(match[4]))]) != expected:
        raise ValueError(f"expected the words at {match[3]}, {expected[:40]!r}, found {match[4][:40]!r}")
    return _Mark(match[1], match[2], fragments, number)


def _extra(kept: Json, mark_id: str | None, fragments: list[Span]) -> dict[str, Json]:
    brat: dict[str, Json] = {} if mark_id is None else {"id": mark_id}
    if len(fragments) > 1:
        brat["fragments"] = [[fragment.start, fragment.end] for fragment in fragments]
    extra = dict(kept) if isinstance(kept, dict) else {}
    return {**extra, "brat": brat} if brat else extra


def _put_back(edit: Edit, written: Json, text: str) -> Edit:
    """The edit on the span it was written for, unless somebody has changed its mark or its note since."""
    match written:
        case [int(start), int(end)]:
            span = Span(start, end)
        case _:
            return edit
    fragments = shown(text, span)
    if not fragments or cover(fragments) != edit.span:
        return edit
    if not edit.span.covers(span):
        return replace(edit, span=span)
    replacements = [narrowed(text, span, edit.span, replacement) for replacement in edit.replacements]
    whole = tuple(replacement for replacement in replacements if replacement is not None)
    return replace(edit, span=span, replacements=whole) if len(whole) == len(replacements) else edit


def _is_grater_note(kept: Json, target: str, length: int) -> bool:
    if not isinstance(kept, dict):
        return False
    if target != DOCUMENT:
        shapes = {"tag": str, "span": list, "extra": dict}
        spans: list[Json] = [kept["span"]] if "span" in kept else []
    else:
        shapes = {"essay": str, "annotator": str, "annotators": list, "metadata": dict, "tokens": list}
        tokens = kept.get("tokens")
        spans = tokens if isinstance(tokens, list) else []
    annotators = kept.get("annotators")
    return (
        all(isinstance(value, shapes.get(key, ())) for key, value in kept.items())
        and all(_is_span(span, length) for span in spans)
        and all(isinstance(name, str) for name in (annotators if isinstance(annotators, list) else []))
    )


def _is_span(value: Json, length: int) -> bool:
    match value:
        case [int(start), int(end)] if type(start) is type(end) is int:
            return 0 <= start <= end <= length
    return False


# JSON escapes every other character that some tool takes for the end of a line.
LINE_ENDS = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def annotation_lines(
    essay: Essay, edits: Sequence[Edit], about: Mapping[str, Json], others: Sequence[str], report: Report
) -> Iterator[str]:
    """The note about the document, the marks with their notes, and other lines whose marks are there."""
    note_ids = _ids("#", {line.split("\t")[0] for line in others})
    if about:
        yield f"{next(note_ids)}\tGrater {DOCUMENT}\t{_as_json(essay, about)}\n"
    written: set[str] = set()
    for mark_id, edit in _with_ids(edits):
        fragments = _fragments(essay, edit, report)
        if fragments:
            written.add(mark_id)
            yield _mark_lines(mark_id, edit, fragments, essay.text)
            yield from _notes(mark_id, edit, cover(fragments), essay, note_ids, report)
    for line in others:
        if set(MARK_ID.findall(line.split("\t")[1])) <= written:
            yield f"{line}\n"
        else:
            report(Loss(essay.essay_id, f"brat line {line!r}", "it refers to a mark that is no longer there"))


def _ids(letter: str, taken: Collection[str]) -> Iterator[str]:
    return (name for name in (f"{letter}{number}" for number in count(1)) if name not in taken)


def _with_ids(edits: Sequence[Edit]) -> Iterator[tuple[str, Edit]]:
    """The id that an edit came with, as long as it is valid and its own; else a free one."""
    own = [_own_id(edit) for edit in edits]
    free = _ids("T", {mark_id for mark_id in own if mark_id})
    for number, edit in enumerate(edits):
        mark_id = own[number]
        yield (mark_id if mark_id and mark_id not in own[:number] else next(free)), edit


def _own_id(edit: Edit) -> str | None:
    match edit.extra.get("brat"):
        case {"id": str(mark_id)} if re.fullmatch(r"T[0-9]\w*", mark_id, re.ASCII):
            return mark_id
    return None


def _fragments(essay: Essay, edit: Edit, report: Report) -> list[Span]:
    own = _own_fragments(edit, essay.text)
    if own:
        return own
    match edit.extra.get("brat"):
        case {"fragments": _}:
            report(Loss(essay.essay_id, f"fragments of {_name(edit)}", "they do not make up its span"))
    fragments = shown(essay.text, edit.span)
    if not fragments:
        report(Loss(essay.essay_id, _name(edit), "brat marks words, and this text has none"))
    return fragments


def _own_fragments(edit: Edit, text: str) -> list[Span]:
    """The pieces of a discontinuous mark, where they still make up the span."""
    match edit.extra.get("brat"):
        case {"fragments": [*pairs]}:
            spans = [span for pair in pairs for span in _as_span(pair)]
            pieces = [piece for span in spans for piece in fragments_in(text, span)]
            if len(pieces) > 1 and cover(pieces) == edit.span and joined(text, pieces) == spans:
                return pieces
    return []


def _as_span(pair: Json) -> Iterator[Span]:
    match pair:
        case [int(start), int(end)]:
            yield Span(start, end)


def _mark_lines(mark_id: str, edit: Edit, fragments: Sequence[Span], text: str) -> str:
    places = ";".join(f"{fragment.start} {fragment.end}" for fragment in fragments)
    return f"{mark_id}\t{brat_type(edit.tag)} {places}\t{quoted(text, fragments)}\n"


def _notes(
    mark_id: str, edit: Edit, wide: Span, essay: Essay, note_ids: Iterator[str], report: Report
) -> Iterator[str]:
    replacements = edit.replacements
    if wide != edit.span:
        why = "brat marks at least one word and no line end: shown at a word, its true position in a note"
        report(Loss(essay.essay_id, _name(edit), why, changed=True))
    if wide.covers(edit.span):
        replacements = tuple(widened(essay.text, edit.span, wide, text) for text in replacements)
    note = make_note(replacements, edit.comment)
    if note:
        yield f"{next(note_ids)}\tAnnotatorNotes {mark_id}\t{note}\n"
    kept = _kept(edit, wide, essay, report)
    if kept:
        yield f"{next(note_ids)}\tGrater {mark_id}\t{_as_json(essay, kept)}\n"


def _kept(edit: Edit, wide: Span, essay: Essay, report: Report) -> dict[str, Json]:
    """What brat has no place for."""
    kept: dict[str, Json] = {}
    if brat_type(edit.tag) != edit.tag:
        kept["tag"] = edit.tag
    if wide != edit.span:
        kept["span"] = [edit.span.start, edit.span.end]
    extra = {key: value for key, value in edit.extra.items() if key != "brat"}
    if extra:
        kept["extra"] = extra
    brat = edit.extra.get("brat", {})
    if not isinstance(brat, dict) or brat.keys() - {"id", "fragments"}:
        report(Loss(essay.essay_id, f"brat of {_name(edit)}", "it holds more than an id and fragments"))
    return kept


def _name(edit: Edit) -> str:
    return f"edit {edit.span.start}-{edit.span.end} {edit.tag}"


def _as_json(essay: Essay, value: Mapping[str, Json]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).translate(LINE_ENDS)
    except (TypeError, ValueError, RecursionError) as error:
        raise GraterError(f"essay {essay.essay_id}: cannot be written as JSON: {error}") from error
