r"""brat standoff: a folder with two files per essay, its text and its annotations.

Stenetorp et al. 2012, "brat: a Web-based Tool for NLP-Assisted Text Annotation", and the format's page,
brat.nlplab.org/standoff.html. `NAME.txt` is the text; `NAME.ann` has a line for each annotation; without an `.ann`,
nobody annotated it:

    T1  Wform 3 7   goed                     T1 has the type Wform, and covers characters 3 to 7
    #1  AnnotatorNotes T1   => went          a note on T1

A text-bound line (T) is an edit, its type the tag.  Its note, if it starts with an arrow, is the correction: `=>
went`, `=> went || gone` (alternatives), `=> -NONE-` (delete), each with a comment if wanted, `=> went // tense`; any
other note is a comment on an error that was not corrected.  After an arrow, `\` escapes: `\n`, `\t`, `\s` (a space at
the rim), `\|`, `\/`, `\\`, `\u2028`.

Data that brat cannot store are in a note of type `Grater`, as JSON: a tag that is not a valid type (`R:NOUN:NUM`,
shown as `R_NOUN_NUM`), an edit's `extra`, and for the whole essay (target `document`) its metadata, tokens,
annotators and id. It counts only while it agrees with what is visible in brat; changes made in brat take precedence.

Spans: brat marks at least one character, and no line ends. A span across lines is written as one fragment per line,
and fragments separated only by line ends are read as one span. An insertion is shown on the word it touches, else the
next, with the correction of that word (`house` `=> the house`); a Grater note stores its true position, and the
report says so. A discontinuous mark becomes an edit of the whole stretch, with its fragments in `Edit.extra["brat"]`.

Annotators: a lone file is the work of annotator `0`, unless a Grater note names another.  Several annotators have a
folder each, with the same files (`ALICE/e1.txt`, `ALICE/e1.ann`, `BOB/e1.txt`, ...): files of one name and one text
in different folders are one essay.

Ids: the name of the pair; characters unfit for a file name are written as `%` and two hexadecimal digits, `/` too, so
no essay can leave the folder. Relations, events, attributes, normalisations, equivalences and notes on them are kept
as lines, in `metadata["brat"]` by annotator, and written back if the marks they refer to still exist.

Refused: marks outside the text, quotes that differ from the text, unknown kinds of lines, `.a1` and `.a2` files. Not
stored, and reported: an insertion in a text without words. Essays come back in the order of their names, the edits of
each annotator together.

Essays and annotators are named by their files, with names that any file system accepts and that encode the id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby

from grater.corpora.formats import (
    LINE_ENDS,
    EssayIds,
    FolderFormat,
    Losses,
    NotJson,
    Report,
    Source,
    edit_name,
    json_line,
    parse_json,
    whole_text,
)
from grater.errors import Problems
from grater.model import DELETE, Edit, Essay, Json, Span, short_hash

RATER = "0"
FILE = re.compile(r"(?P<stem>.*)\.(?P<kind>txt|ann|a1|a2)(?:\.(?:gz|bz2|xz))?", re.IGNORECASE | re.DOTALL)
SETTINGS = """[entities]
{types}

[relations]
<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>

[events]

[attributes]
"""
LONGEST = 150
"""Most file systems take 255 bytes; the suffix and a number must fit too."""

RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
ESCAPED = re.compile(r"((?:%[0-9A-F]{2})+)")


@dataclass(slots=True)
class _Document:
    """One annotator's copy of an essay: its files and their contents; empty if nobody read the essay."""

    folder: str
    base: str
    sources: dict[str, Source] = field(default_factory=dict)
    text: str = ""
    annotations: AnnotationFile | None = None

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.base}" if self.folder else self.base

    @property
    def about(self) -> Mapping[str, Json]:
        return (self.annotations and self.annotations.about) or {}


def read_brat(sources: Iterable[Source]) -> Iterator[Essay]:
    problems = Problems("brat folder")
    ids = EssayIds()
    documents = sorted(_documents(sources, problems), key=lambda document: (document.base, document.folder))
    # One name in several folders may be copies of one essay.
    for _, group in groupby(documents, key=lambda document: (document.base, document.folder == "")):
        for copies in _copies([document for document in group if _is_read(document, problems)]):
            essay = _essay(copies, problems)
            yield replace(essay, essay_id=ids.of_document(essay.essay_id))
    problems.done()


def _documents(sources: Iterable[Source], problems: Problems) -> list[_Document]:
    """The documents of a project, without settings and the like (`annotation.conf`)."""
    documents: dict[str, _Document] = {}
    for source in sources:
        match = FILE.fullmatch(source.name)
        if match is None:
            continue
        stem, kind = match["stem"], match["kind"].lower()
        if kind in ("a1", "a2"):
            problems.name = source.name
            problems.add("expected annotations in one .ann file, found BioNLP's .a1 and .a2; join them first")
        folder, slash, base = stem.partition("/")
        document = documents.setdefault(stem, _Document(folder, base) if slash else _Document("", stem))
        document.sources[kind] = source
    return list(documents.values())


def _is_read(document: _Document, problems: Problems) -> bool:
    """Read the files of a document; False if its text is missing."""
    if "txt" not in document.sources:
        for source in document.sources.values():
            problems.name = source.name
            problems.add(f"expected a text {document.name}.txt next to it, found none")
        return False
    document.text = "".join(document.sources["txt"].lines())
    if "ann" in document.sources:
        problems.name = document.sources["ann"].name
        document.annotations = _Reader(document.text, problems).read(document.sources["ann"].lines())
    return True


def _copies(documents: list[_Document]) -> Iterator[list[_Document]]:
    """Groups of documents that are one essay: those with the same essay id or the same text."""
    signed = [document for document in documents if "annotator" in document.about]
    if signed:
        yield signed
    by_text: dict[str, list[_Document]] = {}
    for document in documents:
        if "annotator" not in document.about:
            by_text.setdefault(document.text, []).append(document)
    for text, copies in by_text.items():
        yield from [copies] if text.strip() else [[document] for document in copies]


def _essay(copies: list[_Document], problems: Problems) -> Essay:
    def noted(key: str) -> Json:
        return next((document.about[key] for document in copies if key in document.about), None)

    first, is_signed = copies[0], "annotator" in copies[0].about
    for other in copies[1:]:
        if other.text != first.text:
            problems.name = other.sources["txt"].name
            problems.add(f"expected the text of {first.name}.txt, its other copy, found different text")
    # The annotations of each: by the name they are signed with, by folder, or by nobody in particular.
    by_rater: dict[str, AnnotationFile] = {}
    for document in copies:
        if document.annotations is not None:
            by_folder = len(copies) > 1 and not is_signed
            rater = from_name(document.folder) if by_folder else str(document.about.get("annotator", RATER))
            if rater in by_rater:
                problems.name = document.sources["ann"].name
                problems.add(f"expected one file of annotator {rater!r} for an essay, found another")
            by_rater[rater] = document.annotations
    listed, tokens, essay_id, metadata = map(noted, ("annotators", "tokens", "essay", "metadata"))
    names = [str(name) for name in listed] if isinstance(listed, list) else [*by_rater]
    annotators = tuple(name for name in dict.fromkeys(names) if name in by_rater)
    in_order = dict.fromkeys([*annotators, *by_rater])
    others: dict[str, Json] = {rater: [*each.others] for rater, each in by_rater.items() if each.others}
    own_name = from_name(first.base if len(copies) > 1 or is_signed else first.name)
    return Essay(
        essay_id=essay_id if isinstance(essay_id, str) else own_name,
        text=first.text,
        edits=tuple(replace(edit, rater=rater) for rater in in_order for edit in by_rater[rater].edits),
        annotators=annotators,
        tokens=tuple(Span(*pair) for pair in tokens) if isinstance(tokens, list) else None,
        metadata={**(metadata if isinstance(metadata, dict) else {}), **({"brat": others} if others else {})},
    )


def write_brat(essays: Iterable[Essay], report: Report) -> Iterator[tuple[str, str]]:
    """The files of a project, with an `annotation.conf` that lists its types."""
    names = FileNames()
    types: set[str] = set()
    for essay in essays:
        lose = Losses(essay.essay_id, report)
        if essay.text.startswith("\ufeff"):
            why = "U+FEFF at the start of a file is a byte-order mark: written as U+2060, which looks the same"
            lose("text", why, changed=True)
            essay = replace(essay, text="\u2060" + essay.text[1:])
        for path, content in _files(essay, names, lose):
            yield path, whole_text(content, essay.essay_id)
        types.update(brat_type(edit.tag) for edit in essay.edits)
    if types:
        yield "annotation.conf", SETTINGS.format(types="\n".join(sorted(types)))


def _files(essay: Essay, names: FileNames, lose: Losses) -> Iterator[tuple[str, str]]:
    raters = list(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    folders = [names.folder(rater) for rater in raters] if len(raters) > 1 else [""]
    base = names.base(essay.essay_id, folders)
    others = _others(essay, raters, lose)
    for number, folder in enumerate(folders):
        path = f"{folder}/{base}" if folder else base
        yield f"{path}.txt", essay.text
        rater = raters[number] if raters else RATER
        about = _about(essay, base, raters, number)
        if about or raters:
            edits = [edit for edit in essay.edits if edit.rater == rater]
            yield f"{path}.ann", "".join(_lines(essay, edits, about, others.get(rater, []), lose))


def _about(essay: Essay, base: str, raters: Sequence[str], number: int) -> dict[str, Json]:
    """Data that the files cannot express: their annotator and, in the first file, the rest of the essay."""
    about: dict[str, Json] = {}
    if from_name(base) != essay.essay_id:
        about["essay"] = essay.essay_id
    if raters not in ([], [RATER]):
        about["annotator"] = raters[number]
    metadata = {key: value for key, value in essay.metadata.items() if key != "brat"}
    if number == 0 and metadata:
        about["metadata"] = metadata
    if number == 0 and essay.tokens is not None:
        about["tokens"] = [[token.start, token.end] for token in essay.tokens]
    if len(raters) > 1 or ((about or raters) and list(essay.annotators) != (raters or [RATER])):
        about["annotators"] = list(essay.annotators)
    return about


def _others(essay: Essay, raters: Sequence[str], lose: Losses) -> dict[str, list[str]]:
    """brat's other lines by rater; those that a file cannot store are reported."""
    kept = essay.metadata.get("brat", {})
    by_rater = kept if isinstance(kept, dict) else {"": kept}
    others: dict[str, list[str]] = {}
    for rater, lines in by_rater.items():
        for line in lines if isinstance(lines, list) else [lines]:
            match line:
                case str() if rater in raters and OTHER.fullmatch(line) and line[0] != "T" and "\n" not in line:
                    others.setdefault(rater, []).append(line)
                case _:
                    lose(f"metadata brat {line!r}", "it is not a line of any annotator")
    return others


def to_name(essay_id: str) -> str:
    """The id with every unsafe character as %XX; a hash if that is empty or too long."""

    def percent(character: str) -> str:
        return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))

    name = re.sub(r"[^A-Za-z0-9._-]", lambda match: percent(match[0]), essay_id)
    if name.startswith(".") or RESERVED.fullmatch(name):
        name = percent(name[0]) + name[1:]
    if name.endswith("."):
        name = name[:-1] + percent(".")
    return name if 0 < len(name) <= LONGEST else short_hash(essay_id)


def from_name(name: str) -> str:
    """The id encoded by `to_name`; a name that it would not produce is already an id."""
    try:
        decoded = ESCAPED.sub(lambda match: bytes.fromhex(match[1].replace("%", "")).decode("utf-8"), name)
    except UnicodeDecodeError:
        return name
    return decoded if to_name(decoded) == name else name


class FileNames:
    """Unique file names that differ in more than case, since some file systems ignore case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._folders: dict[str, str] = {}

    def folder(self, annotator: str) -> str:
        """The folder of an annotator, the same one for every essay."""
        if annotator not in self._folders:
            taken = {name.casefold() for name in self._folders.values()}
            names = _numbered(to_name(annotator))
            self._folders[annotator] = next(name for name in names if name.casefold() not in taken)
        return self._folders[annotator]

    def base(self, essay_id: str, folders: list[str]) -> str:
        """A name that is free in every folder (`""` is the top)."""
        for name in _numbered(to_name(essay_id)):
            places = {f"{folder}/{name}".casefold() for folder in folders}
            if not places & self._taken:
                break
        self._taken |= places
        return name


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}~{number}" for number in count(2))


BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What any reader of a text file may take for the end of a line."""

AS_SPACES = str.maketrans(BREAKS, " " * len(BREAKS))
RUN = re.compile(f"[^{BREAKS}]+")
WORD = re.compile(r"\S+")


def _fragments_in(text: str, span: Span) -> list[Span]:
    """The span, split at line ends: brat shows non-empty fragments without line ends."""
    return [Span(*match.span()) for match in RUN.finditer(text, span.start, span.end)]


def _shown(text: str, span: Span) -> list[Span]:
    """The fragments for a span; for an empty span, those of the adjacent word; none in a text without words."""
    fragments = _fragments_in(text, span)
    word = None if fragments else _word_at(text, span)
    if word is None:
        return fragments
    return _fragments_in(text, Span(min(span.start, word.start), max(span.end, word.end)))


def _word_at(text: str, span: Span) -> Span | None:
    """The word around or after the span, else the one directly before it, else the next, else the last."""
    before = None
    for match in WORD.finditer(text):
        if match.end() > span.end:
            touches_before = before is not None and before.end == span.start
            return before if touches_before and match.start() > span.end else Span(*match.span())
        before = Span(*match.span())
    return before


def _cover(fragments: Sequence[Span]) -> Span:
    return Span(fragments[0].start, fragments[-1].end)


def _quoted(text: str, fragments: Iterable[Span]) -> str:
    """The text of the fragments as a brat line quotes it."""
    return " ".join(fragment.of(text) for fragment in fragments).translate(AS_SPACES)


def _joined(text: str, fragments: Iterable[Span]) -> list[Span]:
    """The fragments, joined where only line ends separate them."""
    whole: list[Span] = []
    for fragment in fragments:
        if whole and not text[whole[-1].end : fragment.start].strip(BREAKS):
            whole[-1] = Span(whole[-1].start, fragment.end)
        else:
            whole.append(fragment)
    return whole


ARROW = "=>"
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff]")
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
SHORT = {"n": "\n", "r": "\r", "t": "\t", "s": " "}
LONG = {value: f"\\{key}" for key, value in SHORT.items() if key != "s"}
THEMSELVES = "\\|/-"


def make_note(replacements: tuple[str, ...], comment: str) -> str:
    """The note of an edit; empty if it has neither correction nor comment."""
    is_plain = not UNSAFE.search(comment) and comment == comment.strip() and not comment.startswith(ARROW)
    if not replacements and is_plain:
        return comment
    corrections = " || ".join(_correction(text) for text in replacements)
    return " ".join([ARROW, *([corrections] if corrections else []), *(["//", _escaped(comment)] if comment else [])])


def _correction(text: str) -> str:
    if text in ("", DELETE):
        return DELETE if text == "" else f"\\{DELETE}"
    return _escaped(text).replace("||", "\\|\\|").replace("//", "\\/\\/")


def _escaped(text: str) -> str:
    text = UNSAFE.sub(lambda match: LONG.get(match[0], f"\\u{ord(match[0]):04x}"), text.replace("\\", "\\\\"))
    inside = text.strip(" ")
    n_left = len(text) - len(text.lstrip(" "))
    return "\\s" * n_left + inside + "\\s" * (len(text) - len(inside) - n_left)


def parse_note(note: str) -> tuple[tuple[str, ...], str]:
    """The replacements and the comment of a note; a note without an arrow is only a comment."""
    if not note.startswith(ARROW):
        return (), note
    corrections, _, comment = f" {note.removeprefix(ARROW)} ".partition(" // ")
    pieces = [piece.strip(" ") for piece in corrections.split(" || ")]
    replacements = tuple("" if piece == DELETE else ESCAPE.sub(_meaning, piece) for piece in pieces if piece)
    return replacements, ESCAPE.sub(_meaning, comment.strip(" "))


def _meaning(match: re.Match[str]) -> str:
    code, letter = match.groups()
    if code:
        return chr(int(code, 16))
    return SHORT[letter] if letter in SHORT else letter if letter in THEMSELVES else match[0]


DOCUMENT = "document"
"""What a Grater note speaks of when it speaks of the whole essay."""

TEXT_BOUND = re.compile(r"(T[0-9]\S*)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)\t(.*)", re.DOTALL)
NOTE = re.compile(r"#\S*\t(AnnotatorNotes|Grater) (\S+)\t(.*)", re.DOTALL)
OTHER = re.compile(r"(?:[A-Z#]\S*|\*)\t.+", re.DOTALL)
MARK_ID = re.compile(r"\bT[0-9]\w*")


@dataclass(frozen=True, slots=True)
class AnnotationFile:
    """The contents of a file; the edits have no rater yet."""

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
    """A tag as a brat type, which allows only letters, digits, `-` and `_`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", tag) or "Edit"


class _Reader:
    """The lines of one file, sorted by kind, since notes may precede their targets."""

    def __init__(self, text: str, problems: Problems) -> None:
        self._text = text
        self._problems = problems
        self._marks: dict[str, _Mark] = {}
        self._notes: dict[str, re.Match[str]] = {}
        self._kept: dict[str, Mapping[str, Json]] = {}
        self._others: list[str] = []

    def read(self, lines: Iterable[str]) -> AnnotationFile:
        for number, line in enumerate(lines, 1):
            try:
                self._take(line.removesuffix("\n").removesuffix("\r"), number)
            except ValueError as wrong:
                self._problems.add(str(wrong), line=number)
        others = self._others + [note[0] for target, note in self._notes.items() if target not in self._marks]
        spoken_of = {mark_id for line in others for mark_id in MARK_ID.findall(line)}
        edits = [self._edit(mark, is_spoken_of=mark.mark_id in spoken_of) for mark in self._marks.values()]
        return AnnotationFile(tuple(edits), self._kept.get(DOCUMENT), tuple(others))

    def _take(self, line: str, number: int) -> None:
        note = NOTE.fullmatch(line)
        if line.startswith("T"):
            mark = _mark(line, number, self._text)
            if mark.mark_id in self._marks:
                raise ValueError(f"expected each id once, found {mark.mark_id} again")
            self._marks[mark.mark_id] = mark
        elif note and note[1] == "Grater":
            kept = parse_json(note[3])
            if not _is_grater_note(kept, note[2], len(self._text)):
                raise NotJson(f"expected a note as grater writes it, found {note[3][:40]!r}; remove the line")
            self._kept[note[2]] = kept if isinstance(kept, dict) else {}
        elif note and note[2].startswith("T") and note[2] not in self._notes:
            self._notes[note[2]] = note
        elif OTHER.fullmatch(line):
            self._others.append(line)
        elif line.strip("\ufeff \t"):
            expected = "expected a line of brat such as 'T1<tab>Type 0 5<tab>words'"
            raise ValueError(f"{expected}, found {line[:40]!r}")

    def _edit(self, mark: _Mark, *, is_spoken_of: bool) -> Edit:
        note, kept = self._notes.get(mark.mark_id), self._kept.get(mark.mark_id, {})
        replacements, comment = parse_note(note[3] if note else "")
        fragments = _joined(self._text, mark.fragments)
        tag = str(kept.get("tag", mark.type))
        noted = kept.get("extra")
        extra: dict[str, Json] = dict(noted) if isinstance(noted, dict) else {}
        brat: dict[str, Json] = {"id": mark.mark_id} if is_spoken_of else {}
        if len(fragments) > 1:
            brat["fragments"] = [[fragment.start, fragment.end] for fragment in fragments]
        edit = Edit(
            span=_cover(fragments),
            replacements=replacements,
            tag=tag if brat_type(tag) == mark.type else mark.type,
            rater="",
            comment=comment,
            extra={**extra, "brat": brat} if brat else extra,
            line=mark.line,
        )
        return _put_back(edit, kept.get("span"), self._text) if len(fragments) == 1 else edit


def _mark(line: str, number: int, text: str) -> _Mark:
    match = TEXT_BOUND.fullmatch(line)
    if match is None:
        raise ValueError(f"expected 'T1<tab>Type 0 5<tab>words', found {line[:40]!r}")
    fragments = [Span(*map(int, pair.split(" "))) for pair in match[3].split(";")]
    edges = [edge for fragment in fragments for edge in (fragment.start, fragment.end)]
    if edges != sorted(edges) or edges[-1] > len(text):
        raise ValueError(f"expected fragments in order inside the text (0 to {len(text)}), found {match[3]}")
    expected = _quoted(text, fragments)
    if match[4].translate(AS_SPACES) != expected:
        raise ValueError(f"expected the words at {match[3]}, {expected[:40]!r}, found {match[4][:40]!r}")
    return _Mark(match[1], match[2], fragments, number)


def _put_back(edit: Edit, written: Json, text: str) -> Edit:
    """Restore the edit's original span, unless its mark or note has been changed since."""
    match written:
        case [int(start), int(end)]:
            span = Span(start, end)
        case _:
            return edit
    wide, fragments = edit.span, _shown(text, span)
    if not fragments or _cover(fragments) != wide:
        return edit
    if not wide.covers(span):
        return replace(edit, span=span)
    left, right = text[wide.start : span.start], text[span.end : wide.end]
    for words in edit.replacements:  # one that changes what lies outside the span is somebody's own
        if not (words.startswith(left) and words.endswith(right) and len(words) >= len(left + right)):
            return edit
    replacements = tuple(words[len(left) : len(words) - len(right)] for words in edit.replacements)
    return replace(edit, span=span, replacements=replacements)


def _is_grater_note(kept: Json, target: str, length: int) -> bool:
    if not isinstance(kept, dict):
        return False
    shapes: dict[str, type] = {"tag": str, "span": list, "extra": dict}
    spans: Json = [kept["span"]] if "span" in kept else []
    if target == DOCUMENT:
        shapes = {"essay": str, "annotator": str, "annotators": list, "metadata": dict, "tokens": list}
        spans = kept.get("tokens")
    annotators = kept.get("annotators")
    return (
        all(isinstance(value, shapes.get(key, ())) for key, value in kept.items())
        and all(_is_span(span, length) for span in (spans if isinstance(spans, list) else []))
        and all(isinstance(name, str) for name in (annotators if isinstance(annotators, list) else []))
    )


def _is_span(value: Json, length: int) -> bool:
    match value:
        case [int(start), int(end)] if type(start) is type(end) is int:
            return 0 <= start <= end <= length
    return False


def _lines(
    essay: Essay, edits: Sequence[Edit], about: Mapping[str, Json], others: Sequence[str], lose: Losses
) -> Iterator[str]:
    """The document's note, the marks with their notes, and other lines whose marks exist."""
    note_ids = _ids("#", {line.split("\t")[0] for line in others})
    if about:
        yield f"{next(note_ids)}\tGrater {DOCUMENT}\t{_as_json(essay, about)}\n"
    own = [_own_id(edit) for edit in edits]  # kept as long as it is valid and nobody else's
    free = _ids("T", {mark_id for mark_id in own if mark_id})
    written: set[str] = set()
    for number, edit in enumerate(edits):
        mark_id = own[number]
        mark_id = mark_id if mark_id and mark_id not in own[:number] else next(free)
        fragments = _fragments(edit, essay.text, lose)
        if fragments:
            written.add(mark_id)
            places = ";".join(f"{fragment.start} {fragment.end}" for fragment in fragments)
            yield f"{mark_id}\t{brat_type(edit.tag)} {places}\t{_quoted(essay.text, fragments)}\n"
            yield from _notes(mark_id, edit, _cover(fragments), essay, note_ids, lose)
    for line in others:
        if set(MARK_ID.findall(line.split("\t")[1])) <= written:
            yield f"{line}\n"
        else:
            lose(f"brat line {line!r}", "it refers to a mark that is no longer there")


def _ids(letter: str, taken: Collection[str]) -> Iterator[str]:
    return (name for name in (f"{letter}{number}" for number in count(1)) if name not in taken)


def _own_id(edit: Edit) -> str | None:
    match edit.extra.get("brat"):
        case {"id": str(mark_id)} if re.fullmatch(r"T[0-9]\w*", mark_id, re.ASCII):
            return mark_id
    return None


def _fragments(edit: Edit, text: str, lose: Losses) -> list[Span]:
    """The fragments of a discontinuous mark if they still fill the span; else what brat can show of it."""
    match edit.extra.get("brat"):
        case {"fragments": own}:
            spans = [Span(*pair) for pair in own if _is_span(pair, len(text))] if isinstance(own, list) else []
            pieces = [piece for span in spans for piece in _fragments_in(text, span)]
            if len(pieces) > 1 and _cover(pieces) == edit.span and _joined(text, pieces) == spans:
                return pieces
            lose(f"fragments of {edit_name(edit)}", "they do not make up its span")
    fragments = _shown(text, edit.span)
    if not fragments:
        lose(edit_name(edit), "brat marks words, and this text has none")
    return fragments


def _notes(
    mark_id: str, edit: Edit, wide: Span, essay: Essay, note_ids: Iterator[str], lose: Losses
) -> Iterator[str]:
    """The visible correction and comment, and a Grater note with data that brat cannot store."""
    replacements, name = edit.replacements, edit_name(edit)
    if wide != edit.span:
        why = "brat marks at least one word and no line end: shown at a word, its true position in a note"
        lose(name, why, changed=True)
    if wide.covers(edit.span):
        left, right = essay.text[wide.start : edit.span.start], essay.text[edit.span.end : wide.end]
        replacements = tuple(left + text + right for text in replacements)
    note = make_note(replacements, edit.comment)
    if note:
        yield f"{next(note_ids)}\tAnnotatorNotes {mark_id}\t{note}\n"
    kept: dict[str, Json] = {}
    if brat_type(edit.tag) != edit.tag:
        kept["tag"] = edit.tag
    if wide != edit.span:
        kept["span"] = [edit.span.start, edit.span.end]
    if extra := {key: value for key, value in edit.extra.items() if key != "brat"}:
        kept["extra"] = extra
    brat = edit.extra.get("brat", {})
    if not isinstance(brat, dict) or brat.keys() - {"id", "fragments"}:
        lose(f"brat of {name}", "it holds more than an id and fragments")
    if kept:
        yield f"{next(note_ids)}\tGrater {mark_id}\t{_as_json(essay, kept)}\n"


def _as_json(essay: Essay, value: Mapping[str, Json]) -> str:
    return json_line(value, essay.essay_id).translate(LINE_ENDS)


FORMAT = FolderFormat("brat", (".ann",), read_brat, write_brat)
