"""The files of a brat project from essays; what the format is, and what it cannot hold, stands in the package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from grater.corpora.brat.annotations import OTHER, brat_type
from grater.corpora.brat.marking import annotation_lines
from grater.corpora.brat.names import FileNames, from_name
from grater.corpora.brat.reading import RATER
from grater.corpora.format import Loss, Report
from grater.corpora.json_text import SURROGATE
from grater.errors import GraterError
from grater.model import Essay, Json

SETTINGS = """[entities]
{types}

[relations]
<OVERLAP>\tArg1:<ENTITY>, Arg2:<ENTITY>, <OVL-TYPE>:<ANY>

[events]

[attributes]
"""


def write_brat(essays: Iterable[Essay], report: Report) -> Iterator[tuple[str, str]]:
    """The files of a project, with an `annotation.conf` so that brat knows its types."""
    names = FileNames()
    types: set[str] = set()
    for essay in essays:
        for path, content in _files(_fit(essay, report), names, report):
            if SURROGATE.search(content):
                raise GraterError(f"essay {essay.essay_id}: cannot be written: it holds half a surrogate pair")
            yield path, content
        types.update(brat_type(edit.tag) for edit in essay.edits)
    if types:
        yield "annotation.conf", SETTINGS.format(types="\n".join(sorted(types)))


def _fit(essay: Essay, report: Report) -> Essay:
    if not essay.text.startswith("\ufeff"):
        return essay
    why = "U+FEFF at the head of a file is a byte-order mark: written as U+2060, which looks the same"
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
    found = essay.metadata.get("brat", {})
    by_rater = found if isinstance(found, dict) else {"": found}
    others: dict[str, list[str]] = {}
    for rater, lines in by_rater.items():
        for line in lines if isinstance(lines, list) else [lines]:
            if rater in raters and isinstance(line, str) and _is_other(line):
                others.setdefault(rater, []).append(line)
            else:
                report(Loss(essay.essay_id, f"metadata brat {line!r}", "it is no line of one of the annotators"))
    return others


def _is_other(line: str) -> bool:
    return OTHER.fullmatch(line) is not None and not line.startswith("T") and "\n" not in line
