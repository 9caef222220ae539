r"""brat standoff: a folder with two files per essay, its text and what was marked in it.

Stenetorp et al. 2012, "brat: a Web-based Tool for NLP-Assisted Text Annotation", and the format's page,
brat.nlplab.org/standoff.html.  `NAME.txt` is the text; `NAME.ann` has a line for each thing marked in it; without an
`.ann` nobody looked:

    T1  Wform 3 7   goed                     T1 has the type Wform, and covers characters 3 to 7
    #1  AnnotatorNotes T1   => went          a note on T1

A text-bound line (T) is an edit, its type the tag.  Its note, if it starts with an arrow, is the correction: `=>
went`, `=> went || gone` (alternatives), `=> -NONE-` (delete), each with a comment if wanted, `=> went // tense`; any
other note is a comment on an error that was not corrected.  After an arrow, `\` escapes: `\n`, `\t`, `\s` (a space at
the rim), `\|`, `\/`, `\\`, `\u2028`.

What brat has no place for is in a note of type `Grater`, as JSON: a tag that is not a valid type (`R:NOUN:NUM`, shown
as `R_NOUN_NUM`), an edit's `extra`, and for the whole essay (target `document`) its metadata, tokens, annotators and
id.  It counts as long as it agrees with what a person sees in brat; what is changed there wins.

Spans: brat marks at least one character, and no line's end.  A span across lines is written as one fragment per line,
and fragments with nothing but line ends between them are read as one span.  An insertion is shown on the word it
touches, else the next, with the correction of that word (`house` `=> the house`); a Grater note keeps its place, and
the report says so.  A truly discontinuous mark becomes an edit of the whole stretch, with its fragments in
`Edit.extra["brat"]`.

Annotators: a lone file is the work of annotator `0`, unless a Grater note names another.  Several annotators have a
folder each, with the same files (`ALICE/e1.txt`, `ALICE/e1.ann`, `BOB/e1.txt`, ...): files of one name and one text
in different folders are one essay.

Ids: the name of the pair; characters unfit for a file name are written as `%` and two hexadecimal digits, `/` too, so
no essay can leave the folder.  Relations, events, attributes, normalisations, equivalences and notes on them are kept
as lines, in `metadata["brat"]` by annotator, and written back while the marks they refer to are there.

Refused: marks outside the text, text that is not what the line quotes, lines that brat does not have, `.a1` and `.a2`
files.  Not held, and reported: an insertion in a text without a word.  Essays come back in the order of their names,
the edits of each annotator together.

This module turns the files of a project into essays, and back; `annotations` reads and writes their lines.  Essays
and annotators are named by their files: names that any file system takes, and that give the id back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, groupby

from grater.corpora.brat.annotations import OTHER, AnnotationFile, annotation_lines, brat_type, read_annotations
from grater.corpora.formats import SURROGATE, EssayIds, FolderFormat, Loss, Report, Source
from grater.errors import GraterError, Problems
from grater.model import Edit, Essay, Json, Span, short_hash

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
class _Pair:
    """The files of one document: where they stand, and what they are once they are found."""

    folder: str
    base: str
    sources: dict[str, Source] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.folder}/{self.base}" if self.folder else self.base


@dataclass(frozen=True, slots=True)
class _Document:
    """One annotator's copy of an essay; no annotations where nobody looked."""

    pair: _Pair
    text: str
    annotations: AnnotationFile | None

    @property
    def about(self) -> Mapping[str, Json]:
        return (self.annotations and self.annotations.about) or {}

    @property
    def rater(self) -> str:
        return str(self.about.get("annotator", RATER))


def read_brat(sources: Iterable[Source]) -> Iterator[Essay]:
    problems = Problems("brat folder")
    ids = EssayIds()
    for pairs in _groups(_pairs(sources, problems)):
        documents = [document for pair in pairs for document in _document(pair, problems)]
        for copies in _copies(documents):
            essay = _essay(copies, problems)
            yield replace(essay, essay_id=ids.of_document(essay.essay_id))
    problems.done()


def _pairs(sources: Iterable[Source], problems: Problems) -> list[_Pair]:
    """The documents of a project; settings and the like (`annotation.conf`) are passed over."""
    pairs: dict[str, _Pair] = {}
    for source in sources:
        match = FILE.fullmatch(source.name)
        if match is None:
            continue
        if match["kind"].lower() in ("a1", "a2"):
            problems.name = source.name
            problems.add("expected annotations in one .ann file, found BioNLP's .a1 and .a2; join them first")
        pair = pairs.setdefault(match["stem"], _Pair(*_folder_and_base(match["stem"])))
        pair.sources[match["kind"].lower()] = source
    return list(pairs.values())


def _folder_and_base(stem: str) -> tuple[str, str]:
    """The first folder and the rest; a file at the top has no folder."""
    folder, slash, base = stem.partition("/")
    return (folder, base) if slash else ("", stem)


def _groups(pairs: list[_Pair]) -> Iterator[list[_Pair]]:
    """Pairs that may be copies of one essay: one name in several folders."""
    in_order = sorted(pairs, key=lambda pair: (pair.base, pair.folder))
    for _, group in groupby(in_order, key=lambda pair: (pair.base, pair.folder == "")):
        yield list(group)


def _document(pair: _Pair, problems: Problems) -> Iterator[_Document]:
    if "txt" not in pair.sources:
        for source in pair.sources.values():
            problems.name = source.name
            problems.add(f"expected a text {pair.name}.txt beside it, found none")
        return
    text = "".join(pair.sources["txt"].lines())
    annotations = None
    if "ann" in pair.sources:
        problems.name = pair.sources["ann"].name
        annotations = read_annotations(pair.sources["ann"].lines(), text, problems)
    yield _Document(pair, text, annotations)


def _copies(documents: list[_Document]) -> Iterator[list[_Document]]:
    """The documents that are one essay: those that say whose they are, and those that have the same text."""
    signed = [document for document in documents if "annotator" in document.about]
    if signed:
        yield signed
    by_text: dict[str, list[_Document]] = {}
    for document in documents:
        if "annotator" not in document.about:
            by_text.setdefault(document.text, []).append(document)
    for text, copies in by_text.items():
        if text.strip():
            yield copies
        else:
            yield from ([document] for document in copies)


def _essay(copies: list[_Document], problems: Problems) -> Essay:
    first = copies[0]
    for other in copies[1:]:
        if other.text != first.text:
            problems.name = other.pair.sources["txt"].name
            problems.add(f"expected the text of {first.pair.name}.txt, its other copy, found different text")
    by_rater = _by_rater(copies, problems)
    annotators = _annotators(copies, by_rater)
    tokens = _first(copies, "tokens")
    return Essay(
        essay_id=_essay_id(copies),
        text=first.text,
        edits=tuple(edit for rater in dict.fromkeys([*annotators, *by_rater]) for edit in _edits(by_rater, rater)),
        annotators=annotators,
        tokens=tuple(Span(*pair) for pair in tokens) if isinstance(tokens, list) else None,
        metadata=_metadata(copies, by_rater),
    )


def _is_signed(copies: list[_Document]) -> bool:
    return "annotator" in copies[0].about


def _by_rater(copies: list[_Document], problems: Problems) -> dict[str, AnnotationFile]:
    """The annotations of each: by the name they are signed with, by folder, or by nobody in particular."""
    by_folder = len(copies) > 1 and not _is_signed(copies)
    by_rater: dict[str, AnnotationFile] = {}
    for document in copies:
        if document.annotations is None:
            continue
        rater = from_name(document.pair.folder) if by_folder else document.rater
        if rater in by_rater:
            problems.name = document.pair.sources["ann"].name
            problems.add(f"expected one file of annotator {rater!r} for an essay, found another")
        by_rater[rater] = document.annotations
    return by_rater


def _first(copies: list[_Document], key: str) -> Json:
    return next((document.about[key] for document in copies if key in document.about), None)


def _annotators(copies: list[_Document], by_rater: Mapping[str, AnnotationFile]) -> tuple[str, ...]:
    listed = _first(copies, "annotators")
    names = [str(name) for name in listed] if isinstance(listed, list) else [*by_rater]
    return tuple(name for name in dict.fromkeys(names) if name in by_rater)


def _essay_id(copies: list[_Document]) -> str:
    noted = _first(copies, "essay")
    if isinstance(noted, str):
        return noted
    pair = copies[0].pair
    return from_name(pair.base if len(copies) > 1 or _is_signed(copies) else pair.name)


def _edits(by_rater: Mapping[str, AnnotationFile], rater: str) -> Iterator[Edit]:
    return (replace(edit, rater=rater) for edit in by_rater[rater].edits)


def _metadata(copies: list[_Document], by_rater: Mapping[str, AnnotationFile]) -> dict[str, Json]:
    noted = _first(copies, "metadata")
    others: dict[str, Json] = {
        rater: [*annotations.others] for rater, annotations in by_rater.items() if annotations.others
    }
    metadata = dict(noted) if isinstance(noted, dict) else {}
    return {**metadata, "brat": others} if others else metadata


def write_brat(essays: Iterable[Essay], report: Report) -> Iterator[tuple[str, str]]:
    """The files of a project, with an `annotation.conf` so that brat knows its types."""
    names = FileNames()
    types: set[str] = set()
    for essay in essays:
        for path, content in _files(_fit(essay, report), names, report):
            if SURROGATE.search(content):
                raise GraterError(f"essay {essay.essay_id}: cannot be written: it contains half a surrogate pair")
            yield path, content
        types.update(brat_type(edit.tag) for edit in essay.edits)
    if types:
        yield "annotation.conf", SETTINGS.format(types="\n".join(sorted(types)))


def _fit(essay: Essay, report: Report) -> Essay:
    if not essay.text.startswith("\ufeff"):
        return essay
    why = "U+FEFF at the start of a file is a byte-order mark: written as U+2060, which looks the same"
    report(Loss(essay.essay_id, "text", why, changed=True))
    return replace(essay, text="\u2060" + essay.text[1:])


def _files(essay: Essay, names: FileNames, report: Report) -> Iterator[tuple[str, str]]:
    raters = list(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    folders = [names.folder(rater) for rater in raters] if len(raters) > 1 else [""]
    base = names.base(essay.essay_id, folders)
    others = _others(essay, raters, report)
    for number, folder in enumerate(folders):
        path = f"{folder}/{base}" if folder else base
        yield f"{path}.txt", essay.text
        rater = raters[number] if raters else RATER
        about = _about(essay, base, raters, number)
        if about or raters:
            edits = [edit for edit in essay.edits if edit.rater == rater]
            lines = annotation_lines(essay, edits, about, others.get(rater, []), report)
            yield f"{path}.ann", "".join(lines)


def _about(essay: Essay, base: str, raters: Sequence[str], number: int) -> dict[str, Json]:
    """What the files cannot say by themselves: whose they are and, in the first, what else belongs to the essay."""
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


def _others(essay: Essay, raters: Sequence[str], report: Report) -> dict[str, list[str]]:
    """The lines that brat had beside the marks, by rater; those that cannot stand in a file are reported."""
    kept = essay.metadata.get("brat", {})
    by_rater = kept if isinstance(kept, dict) else {"": kept}
    others: dict[str, list[str]] = {}
    for rater, lines in by_rater.items():
        for line in lines if isinstance(lines, list) else [lines]:
            if rater in raters and isinstance(line, str) and _is_other(line):
                others.setdefault(rater, []).append(line)
            else:
                report(Loss(essay.essay_id, f"metadata brat {line!r}", "it is not a line of any annotator"))
    return others


def _is_other(line: str) -> bool:
    return OTHER.fullmatch(line) is not None and not line.startswith("T") and "\n" not in line


def to_name(essay_id: str) -> str:
    """The id with every doubtful character as %XX; a hash where that is empty or too long."""
    name = re.sub(r"[^A-Za-z0-9._-]", lambda match: _percent(match[0]), essay_id)
    if name.startswith(".") or RESERVED.fullmatch(name):
        name = _percent(name[0]) + name[1:]
    if name.endswith("."):
        name = name[:-1] + _percent(".")
    return name if 0 < len(name) <= LONGEST else short_hash(essay_id)


def _percent(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def from_name(name: str) -> str:
    """The id that `to_name` made a name of; a name it would not make is an id as it stands."""
    try:
        decoded = ESCAPED.sub(lambda match: bytes.fromhex(match[1].replace("%", "")).decode("utf-8"), name)
    except UnicodeDecodeError:
        return name
    return decoded if to_name(decoded) == name else name


class FileNames:
    """Gives out names that differ in more than case, since some file systems see no other difference."""

    def __init__(self) -> None:
        self._taken: set[int] = set()
        self._folders: dict[str, str] = {}

    def folder(self, annotator: str) -> str:
        """The folder of an annotator, the same one for every essay."""
        if annotator not in self._folders:
            taken = {name.casefold() for name in self._folders.values()}
            self._folders[annotator] = next(
                name for name in _numbered(to_name(annotator)) if name.casefold() not in taken
            )
        return self._folders[annotator]

    def base(self, essay_id: str, folders: list[str]) -> str:
        """A name that is free in each of the folders (`""` is the top)."""
        names = _numbered(to_name(essay_id))
        name = next(name for name in names if not _places(folders, name) & self._taken)
        self._taken |= _places(folders, name)
        return name


def _places(folders: list[str], name: str) -> set[int]:
    return {hash(f"{folder}/{name}".casefold()) for folder in folders}


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}~{number}" for number in count(2))


FORMAT = FolderFormat("brat", (".ann",), read_brat, write_brat)
