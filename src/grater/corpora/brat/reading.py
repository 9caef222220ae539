"""Essays from the files of a brat project; what the format is stands in the package."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from grater.corpora.brat.annotations import Annotations, read_annotations
from grater.corpora.brat.names import from_name
from grater.corpora.format import Source
from grater.corpora.identity import EssayIds
from grater.errors import Problems
from grater.model import Edit, Essay, Json, Span

RATER = "0"
FILE = re.compile(r"(?P<stem>.*)\.(?P<kind>txt|ann|a1|a2)(?:\.(?:gz|bz2|xz))?", re.IGNORECASE | re.DOTALL)


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
    annotations: Annotations | None

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
            problems.add(f"expected the text of {first.pair.name}.txt, its other copy, found another")
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


def _by_rater(copies: list[_Document], problems: Problems) -> dict[str, Annotations]:
    """The annotations of each: by the name they are signed with, by folder, or by nobody in particular."""
    by_folder = len(copies) > 1 and not _is_signed(copies)
    by_rater: dict[str, Annotations] = {}
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


def _annotators(copies: list[_Document], by_rater: Mapping[str, Annotations]) -> tuple[str, ...]:
    listed = _first(copies, "annotators")
    names = [str(name) for name in listed] if isinstance(listed, list) else [*by_rater]
    return tuple(name for name in dict.fromkeys(names) if name in by_rater)


def _essay_id(copies: list[_Document]) -> str:
    noted = _first(copies, "essay")
    if isinstance(noted, str):
        return noted
    pair = copies[0].pair
    return from_name(pair.base if len(copies) > 1 or _is_signed(copies) else pair.name)


def _edits(by_rater: Mapping[str, Annotations], rater: str) -> Iterator[Edit]:
    return (replace(edit, rater=rater) for edit in by_rater[rater].edits)


def _metadata(copies: list[_Document], by_rater: Mapping[str, Annotations]) -> dict[str, Json]:
    noted = _first(copies, "metadata")
    others: dict[str, Json] = {rater: [*found.others] for rater, found in by_rater.items() if found.others}
    metadata = dict(noted) if isinstance(noted, dict) else {}
    return {**metadata, "brat": others} if others else metadata
