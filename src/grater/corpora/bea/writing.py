"""BEA-2019 JSON from essays; what the format is, and what it cannot hold, stands in the package."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from grater.corpora.bea.reading import WrongEssay, document_id_of
from grater.corpora.format import Loss, Report
from grater.corpora.json_text import SURROGATE
from grater.errors import GraterError
from grater.model import Edit, Essay, Json, short_hash

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
            raise GraterError(f"essay {essay.essay_id}: cannot be written: it holds half a surrogate pair")
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
            [_edit(essay, edit, report) for edit in essay.edits if edit.rater == rater],
        ]
        for rater in raters
    ]
    return {**_named(essay, base, report), "text": essay.text, "edits": edits}


def _named(essay: Essay, base: str, report: Report) -> dict[str, Json]:
    """The metadata, with an id before it where reading would not find the same one without."""
    named = {key: value for key, value in essay.metadata.items() if key not in ("text", "edits")}
    for key in essay.metadata.keys() - named.keys():
        report(Loss(essay.essay_id, f"metadata {key}", f"BEA means another thing by {key!r}"))
    if _reads_as(named, base, essay.text):
        return named
    if named.pop("id", base) != base:
        report(Loss(essay.essay_id, "metadata id", "it is not the id of the essay, which is written"))
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


def _edit(essay: Essay, edit: Edit, report: Report) -> list[Json]:
    what = f"edit {edit.span.start}-{edit.span.end} {edit.tag}"
    if edit.comment:
        report(Loss(essay.essay_id, f"comment of {what}", "BEA has no comments"))
    for key in edit.extra.keys() - {"more"}:
        report(Loss(essay.essay_id, f"{key} of {what}", "BEA has no such field"))
    if len(edit.replacements) > 1:
        why = f"BEA holds one correction: {edit.replacements[0]!r} is written"
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
