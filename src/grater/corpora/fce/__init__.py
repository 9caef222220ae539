r"""FCE XML: exam scripts of the Cambridge Learner Corpus, with corrections nested in the running text.

Yannakoudakis, Briscoe and Medlock 2011, "A New Dataset and Method for Automatically Grading ESOL Texts"; the error
codes are those of Nicholls 2003.  The release has one `<learner>` per file; many under one root are read too:

    <learner><head sortkey="K"><candidate><personnel><language/><age/></personnel><score/></candidate><text>
      <answer1><question_number/><exam_score/><coded_answer><p>We <NS type="TV"><i>go</i><c>went</c></NS>.</p>...

Each answer is one essay, `K/answer1`; without a sortkey its id is a hash of the text.  Its text is what the learner
wrote (the `<i>` side), paragraphs joined by `\n`, white space as it stands.  Metadata: sortkey, answer, language,
age, score, question_number, exam_score, as strings; any other element or attribute is kept under its path
(`head/candidate/x`, `head@url`).

An `<NS>` is an edit of annotator `0`, the outer one first: with `<i>` and `<c>` a replacement (several `<c>` are
alternatives), with `<c>` alone an insertion, with `<i>` alone a deletion, with neither an error that was found but
not corrected.  Bare text beside a `<c>` counts as `<i>`.  A correction that is corrected in turn (`<NS>` in a `<c>`)
counts with its corrected side, the first where there are several; how it came about is kept in `Edit.extra["c"]`
(JsonML, one list per `<c>`) and written back; other attributes of an `<NS>` are in `Edit.extra["attributes"]`.

Refused: entities of one's own, any DTD that is not empty, markup that would be lost.  Not held by the format, and
reported: edits that cross each other or a paragraph's end, other annotators, the annotator's name, comments, tokens,
other metadata, characters that XML 1.0 has no way to write.  Edits are written in the order of the text.

This module writes scripts: edits become `<NS>` elements in the running text, and what cannot is reported.  `reading`
reads them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby

from grater.corpora.fce.reading import FIELDS, RATER, XmlElement, check_all, corrected, from_jsonml, read_fce
from grater.corpora.formats import FileFormat, Loss, Report
from grater.errors import BadInput, Problems
from grater.model import Edit, Essay, Json, short_hash

ANSWER = r"answer\w*"
NUMBER = re.compile(r"(?P<base>.*)#(?P<number>[1-9][0-9]{0,8})", re.DOTALL)
MAX_NESTED = 40
"""Edits inside each other; every one is two elements deep, and the reader allows a certain depth."""

UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
IN_ATTRIBUTE = {**IN_TEXT, **str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})}


@dataclass(frozen=True, slots=True)
class _Answer:
    """An essay as a script's answer; no `sortkey` where the id is a hash of the text."""

    essay: Essay
    sortkey: str | None
    name: str
    fields: Mapping[str, str]

    def learner(self, number: int) -> tuple[str | int, ...]:
        """Equal for the answers of one script; `number` keeps apart those without a sortkey."""
        candidate = (self.fields.get(name, "") for name in ("language", "age", "score"))
        return (number if self.sortkey is None else self.sortkey, *candidate)


def write_fce(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    scripts = _scripts(_answer(essay, base, report) for essay, base in _bases(essays))
    first, second = next(scripts, None), next(scripts, None)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    if first is not None and second is None:
        yield from _script(first, report)
        return
    yield "<fce>\n"
    for script in chain([first] if first else [], [second] if second else [], scripts):
        yield from _script(script, report)
    yield "</fce>\n"


def _bases(essays: Iterable[Essay]) -> Iterator[tuple[Essay, str]]:
    """Each essay with the id to write, less the number that reading gives to repeated ids."""
    n_seen: Counter[str] = Counter()
    for essay in essays:
        base = essay.essay_id
        match = NUMBER.fullmatch(base)
        if match and n_seen[match["base"]] == int(match["number"]) - 1 > 0:
            base = match["base"]
        n_seen[base] += 1
        yield essay, base


def _answer(essay: Essay, base: str, report: Report) -> _Answer:
    fields = _held_metadata(essay, report)
    sortkey, name = _place(essay, base, fields, report)
    for field, written in (("sortkey", sortkey), ("answer", name)):
        if fields.get(field, written) != written:
            report(Loss(essay.essay_id, f"metadata {field}", "it disagrees with the essay id"))
    return _Answer(essay, sortkey, name, fields)


def _place(essay: Essay, base: str, fields: Mapping[str, str], report: Report) -> tuple[str | None, str]:
    """The script and the answer that the id names."""
    if base == short_hash(essay.text):
        name = fields.get("answer", "answer1")
        return None, name if re.fullmatch(ANSWER, name, re.ASCII) else "answer1"
    match = re.fullmatch(rf"(.*)/({ANSWER})", base, re.ASCII | re.DOTALL)
    if match is None:
        why = "FCE names a script and its answers: written as the script's answer1"
        report(Loss(essay.essay_id, "essay id", why, changed=True))
    sortkey, name = match.groups() if match else (base, "answer1")
    return fit(essay, "essay id", sortkey, report), name


def _held_metadata(essay: Essay, report: Report) -> dict[str, str]:
    """The fields that the format has, as text; each other one is reported."""
    fields: dict[str, str] = {}
    for name, value in essay.metadata.items():
        if name not in FIELDS.values() and name != "answer":
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has no such field"))
        elif isinstance(value, str):
            fields[name] = fit(essay, f"metadata {name}", value, report)
        elif isinstance(value, int | float):
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has text only", changed=True))
            fields[name] = str(value)
        else:
            report(Loss(essay.essay_id, f"metadata {name}", "FCE has text only"))
    return fields


def _scripts(answers: Iterable[_Answer]) -> Iterator[list[_Answer]]:
    """Neighbouring answers of one learner; an answer's name can stand once in a script."""
    for _, group in groupby(enumerate(answers), key=lambda numbered: numbered[1].learner(numbered[0])):
        script: list[_Answer] = []
        for _, answer in group:
            if any(other.name == answer.name for other in script):
                yield script
                script = []
            script.append(answer)
        yield script


def _script(answers: Sequence[_Answer], report: Report) -> Iterator[str]:
    head, fields = answers[0].sortkey, answers[0].fields
    yield "<learner><head>\n" if head is None else f'<learner><head sortkey="{head.translate(IN_ATTRIBUTE)}">\n'
    personnel = _leaf(fields, "language") + _leaf(fields, "age")
    yield f"  <candidate><personnel>{personnel}</personnel>{_leaf(fields, 'score')}</candidate>\n  <text>\n"
    for answer in answers:
        yield f"    <{answer.name}>\n      "
        yield _leaf(answer.fields, "question_number") + _leaf(answer.fields, "exam_score")
        yield f"\n      <coded_answer>\n<p>{coded(answer.essay, report)}</p>\n      </coded_answer>\n"
        yield f"    </{answer.name}>\n"
    yield "  </text>\n</head></learner>\n"


def _leaf(fields: Mapping[str, str], name: str) -> str:
    return f"<{name}>{fields[name].translate(IN_TEXT)}</{name}>" if name in fields else ""


def fit(essay: Essay, what: str, text: str, report: Report) -> str:
    """The text with every character that XML cannot hold replaced by U+FFFD, one for one."""
    if not UNFIT.search(text):
        return text
    report(Loss(essay.essay_id, what, "XML cannot contain a control character: written as U+FFFD", changed=True))
    return UNFIT.sub("\ufffd", text)


def coded(essay: Essay, report: Report) -> str:
    if essay.tokens is not None:
        report(Loss(essay.essay_id, "tokens", "FCE text is not tokenised"))
    text = fit(essay, "text", essay.text, report)
    edits = _nested(essay, _of_one_annotator(essay, report), report)
    return _marked(essay, text, [_fit_edit(essay, edit, report) for edit in edits], report)


def _of_one_annotator(essay: Essay, report: Report) -> list[Edit]:
    raters = list(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    if not raters:
        why = "FCE cannot say that nobody read an essay: it will read as one without errors"
        report(Loss(essay.essay_id, "absence of annotators", why, changed=True))
    for rater in raters[1:]:
        report(Loss(essay.essay_id, f"annotator {rater}", f"FCE has room for one annotator; {raters[0]} is written"))
    for edit in essay.edits:
        if edit.rater != raters[0]:
            report(_lost(essay, edit, f"FCE has room for one annotator; {raters[0]} is written"))
    if raters and raters[0] != RATER:
        report(Loss(essay.essay_id, f"annotator {raters[0]}", f"FCE names none: reads as {RATER}", changed=True))
    return [edit for edit in essay.edits if edit.rater == raters[0]]


def _lost(essay: Essay, edit: Edit, why: str, what: str = "edit", *, changed: bool = False) -> Loss:
    return Loss(essay.essay_id, f"{what} {edit.span.start}-{edit.span.end} {edit.tag}", why, changed)


def _nested(essay: Essay, edits: Iterable[Edit], report: Report) -> Iterator[Edit]:
    """The edits in the order of their tags, less those that would cross another."""
    ends: list[int] = []
    for edit in _in_text_order(edits):
        while ends and ends[-1] <= edit.span.start:
            ends.pop()
        if ends and edit.span.end > ends[-1]:
            report(_lost(essay, edit, "it crosses another edit, and XML elements can only nest"))
        elif "\n" in edit.span.of(essay.text):
            report(_lost(essay, edit, "it crosses the end of a paragraph"))
        elif len(ends) == MAX_NESTED:
            report(_lost(essay, edit, f"it stands inside {MAX_NESTED} others"))
        else:
            ends.append(edit.span.end)
            yield edit


def _in_text_order(edits: Iterable[Edit]) -> Iterator[Edit]:
    """By start; edits that start together as given if they nest so, else insertions first, then the longest."""
    by_start = sorted(edits, key=lambda edit: edit.span.start)
    for _, group in groupby(by_start, key=lambda edit: edit.span.start):
        together = list(group)
        ends = [edit.span.end for edit in together if len(edit.span)]
        if ends != sorted(ends, reverse=True):
            together.sort(key=lambda edit: (len(edit.span) > 0, -edit.span.end))
        yield from together


def _fit_edit(essay: Essay, edit: Edit, report: Report) -> Edit:
    """The edit as the format can hold it; what had to go is reported."""
    if edit.comment:
        report(_lost(essay, edit, "FCE has no comments", "comment of edit"))
    for key in edit.extra.keys() - {"attributes", "c"}:
        report(_lost(essay, edit, "FCE has no such field", f"{key} of edit"))
    what = f"edit {edit.span.start}-{edit.span.end} {edit.tag}"
    fitted = tuple(fit(essay, what, text, report) for text in edit.replacements)
    return replace(edit, tag=fit(essay, what, edit.tag, report), replacements=fitted)


def _marked(essay: Essay, text: str, edits: Iterable[Edit], report: Report) -> str:
    """The text with its edits as tags; no open edit holds a line's end, so each of those ends a paragraph."""
    pieces: list[str] = []
    open_edits: list[Edit] = []
    at = 0

    def copy(end: int) -> int:
        pieces.append(text[at:end].translate(IN_TEXT).replace("\n", "</p>\n<p>"))
        return end

    for edit in edits:
        while open_edits and open_edits[-1].span.end <= edit.span.start:
            at = copy(open_edits[-1].span.end)
            pieces.append(_closing(essay, open_edits.pop(), report))
        at = copy(edit.span.start)
        pieces.append(_opening(essay, edit, report))
        open_edits.append(edit)
    for edit in reversed(open_edits):
        at = copy(edit.span.end)
        pieces.append(_closing(essay, edit, report))
    copy(len(text))
    return "".join(pieces)


def _has_wrong_part(edit: Edit) -> bool:
    return edit.replacements == ("",) or (len(edit.span) > 0 and edit.replacements != ())


def _opening(essay: Essay, edit: Edit, report: Report) -> str:
    attributes = {"type": edit.tag} if edit.tag else {}
    more = edit.extra.get("attributes", {})
    if isinstance(more, dict) and _are_attributes(more):
        attributes |= {name: str(value) for name, value in more.items()}
    else:
        report(_lost(essay, edit, "they are not valid XML attributes", "attributes of edit"))
    return _tag("NS", attributes) + ("<i>" if _has_wrong_part(edit) else "")


def _are_attributes(more: Mapping[str, Json] | Mapping[str, str]) -> bool:
    names_fit = all(re.fullmatch(r"(?!type$|xmlns)[A-Za-z_][\w.-]*", name, re.ASCII) for name in more)
    return names_fit and all(isinstance(value, str) and not UNFIT.search(value) for value in more.values())


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    written = (f' {key}="{value.translate(IN_ATTRIBUTE)}"' for key, value in attributes.items())
    return f"<{name}{''.join(written)}>"


def _closing(essay: Essay, edit: Edit, report: Report) -> str:
    contents = _kept_corrections(edit)
    if contents is None and "c" in edit.extra:
        report(_lost(essay, edit, "it differs from the replacements of the edit", "c of edit"))
    if contents is None:
        plain = () if edit.replacements == ("",) else edit.replacements
        contents = [text.translate(IN_TEXT) for text in plain]
    corrections = "".join(f"<c>{content}</c>" for content in contents)
    return f"{'</i>' if _has_wrong_part(edit) else ''}{corrections}</NS>"


def _kept_corrections(edit: Edit) -> list[str] | None:
    """The corrections with the edits inside them, where they are still what the edit says."""
    kept = edit.extra.get("c")
    contents = [from_jsonml(content) for content in kept] if isinstance(kept, list) else []
    whole = [content for content in contents if content is not None and _is_valid(content)]
    if not whole or tuple(corrected(content) for content in whole) != edit.replacements:
        return None
    return [_as_xml(content) for content in whole]


def _is_valid(content: list[XmlElement | str]) -> bool:
    """Whether the reader would take it back as it is."""
    problems = Problems("extra")
    try:
        check_all(content, problems)
        problems.done()
    except BadInput:
        return False
    return _fits(content)


def _fits(content: Iterable[XmlElement | str]) -> bool:
    return all(not UNFIT.search(child) if isinstance(child, str) else _fits_element(child) for child in content)


def _fits_element(element: XmlElement) -> bool:
    more = dict(element.attributes)
    code = more.pop("type", "")
    return not UNFIT.search(code) and _are_attributes(more) and _fits(element.children)


def _as_xml(content: Iterable[XmlElement | str]) -> str:
    return "".join(
        child.translate(IN_TEXT) if isinstance(child, str) else _element_as_xml(child) for child in content
    )


def _element_as_xml(element: XmlElement) -> str:
    return f"{_tag(element.name, element.attributes)}{_as_xml(element.children)}</{element.name}>"


FORMAT = FileFormat("fce", (".xml",), read_fce, write_fce)
