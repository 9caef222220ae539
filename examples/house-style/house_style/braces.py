"""A corpus format: text with corrections in braces, `She is interested {of=>in} music.`"""

import re
from collections.abc import Iterable, Iterator

from grater.extend import Edit, Essay, EssayIds, FileFormat, Loss, Problems, Report, Source, Span, short_hash

BRACES = re.compile(r"\{(?P<wrong>[^{}]*?)=>(?P<right>[^{}]*?)\}")


def read_braces(source: Source) -> Iterator[Essay]:
    """One essay per line."""
    problems = Problems(source.name)
    ids = EssayIds()
    for number, line in enumerate(source.lines(), 1):
        text, edits, end = "", [], 0
        for match in BRACES.finditer(line):
            text += line[end : match.start()]
            span = Span(len(text), len(text) + len(match["wrong"]))
            edits.append(Edit(span=span, replacements=(match["right"],), tag="UNK", rater="1", line=number))
            text, end = text + match["wrong"], match.end()
        text += line[end:].rstrip("\r\n")
        if "{" in text or "}" in text:
            problems.add("expected {wrong=>right}, found a brace that stands alone", line=number)
        yield Essay(essay_id=ids.of_text(text), text=text, edits=tuple(edits), annotators=("1",), line=number)
    problems.done()


def write_braces(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    for essay in essays:
        for loss in losses(essay):
            report(loss)
        text, end = "", 0
        for edit in sorted(essay.edits, key=lambda edit: edit.span):
            if edit.span.start < end:
                report(Loss(essay.essay_id, f"edit {edit.span.start}-{edit.span.end}", "it overlaps another"))
                continue
            right = edit.replacements[0] if edit.replacements else ""
            text += essay.text[end : edit.span.start] + f"{{{edit.span.of(essay.text)}=>{right}}}"
            end = edit.span.end
        yield (text + essay.text[end:]).replace("\n", " ") + "\n"


def losses(essay: Essay) -> Iterator[Loss]:
    what = [f"metadata {key}" for key in essay.metadata]
    what += [f"annotator {name}" for name in essay.annotators if name != "1"]
    what += [] if essay.essay_id == short_hash(essay.text) else ["id"]
    what += ["text: its line ends"] if "\n" in essay.text else []
    for edit in essay.edits:
        if edit != Edit(span=edit.span, replacements=edit.replacements[:1], tag="UNK", rater="1"):
            what.append(f"edit {edit.span.start}-{edit.span.end}: its tag, rater, comment or alternatives")
    yield from (Loss(essay.essay_id, each, "braces hold one correction alone", changed=True) for each in what)


FORMAT = FileFormat(name="braces", suffixes=(".braces",), read=read_braces, write=write_braces)
