r"""FCE XML: exam scripts of the Cambridge Learner Corpus, with corrections nested in the running text.

Yannakoudakis, Briscoe and Medlock 2011, "A New Dataset and Method for Automatically Grading ESOL Texts"; the error
codes are those of Nicholls 2003.  The release has one `<learner>` per file; many under one root are read too:

    <learner><head sortkey="K"><candidate><personnel><language/><age/></personnel><score/></candidate><text>
      <answer1><question_number/><exam_score/><coded_answer><p>We <NS type="TV"><i>go</i><c>went</c></NS>.</p>...

Each answer is one essay, `K/answer1`; without a sortkey its id is a hash of the text.  Its text is what the learner
wrote (the `<i>` side), paragraphs joined by `\n`, white space unchanged.  Metadata: sortkey, answer, language,
age, score, question_number, exam_score, as strings; any other element or attribute is kept under its path
(`head/candidate/x`, `head@url`).

An `<NS>` is an edit of annotator `0`, the outer one first: with `<i>` and `<c>` a replacement (several `<c>` are
alternatives), with `<c>` alone an insertion, with `<i>` alone a deletion, with neither an error that was found but
not corrected.  Bare text next to a `<c>` counts as `<i>`.  A correction that is corrected in turn (`<NS>` in a `<c>`)
counts with its corrected side, the first where there are several; how it came about is kept in `Edit.extra["c"]`
(JsonML, one list per `<c>`) and written back; other attributes of an `<NS>` are in `Edit.extra["attributes"]`.

Refused: custom entities, any non-empty DTD (which allows entity bombs and file inclusion), markup that would be lost.
Lines are already decoded, so the file's declared encoding is ignored. Not stored by the format, and reported: edits
that cross each other or a paragraph's end, other annotators, the annotator's name, comments, tokens, other metadata,
characters that XML 1.0 cannot represent. Edits are written in the order of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby
from typing import TypeAlias
from xml.parsers import expat

from grater.corpora.formats import EssayIds, FileFormat, Losses, Report, Source, edit_name, unnumbered
from grater.errors import BadInput, Problems
from grater.model import Edit, Essay, Json, Span, short_hash

MAX_DEPTH = 200
"""Elements inside each other; beyond it lies no script but an attack on the stack."""

RATER = "0"
FIELDS = {
    "head@sortkey": "sortkey",
    "head/candidate/personnel/language": "language",
    "head/candidate/personnel/age": "age",
    "head/candidate/score": "score",
    "answer/question_number": "question_number",
    "answer/exam_score": "exam_score",
}
FRAME = ("learner", "head", "text", "answer")
"""The elements that hold a script together; a path begins at the innermost of them."""

HOLDERS = {*FRAME, "head/candidate", "head/candidate/personnel", "answer/coded_answer"}
"""Elements that say nothing by being empty."""

Content: TypeAlias = "Sequence[XmlElement | str]"


@dataclass(frozen=True, slots=True)
class XmlElement:
    """A closed element; `children` are elements and pieces of text, in order."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    children: list[XmlElement | str] = field(default_factory=list)
    line: int | None = None

    @property
    def elements(self) -> list[XmlElement]:
        return [child for child in self.children if isinstance(child, XmlElement)]

    @property
    def text(self) -> str:
        """The text directly in the element, not in its children."""
        return "".join(child for child in self.children if isinstance(child, str))

    def named(self, name: str) -> list[XmlElement]:
        return [child for child in self.elements if child.name == name]


def learners(lines: Iterable[str], problems: Problems) -> Iterator[XmlElement]:
    """The `<learner>` elements as they close: the root itself, or all children of the root."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    opened: list[XmlElement] = []
    closed: list[XmlElement] = []
    path: list[str] = []
    root = ""
    n_found = 0

    def stop(message: str, line: int) -> None:
        problems.add(message, line=line)
        problems.done()

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal root
        line = parser.CurrentLineNumber
        if len(path) == MAX_DEPTH:
            stop(f"expected at most {MAX_DEPTH} elements inside each other, found more", line)
        root = root or name
        if opened or (name == "learner" and len(path) <= 1):
            opened.append(XmlElement(name, attributes, line=line))
        elif len(path) == 1:
            problems.add(f"expected <learner>, found <{name}>", line=line)
        path.append(name)

    def end(_: str) -> None:
        path.pop()
        if opened:
            element = opened.pop()
            (opened[-1].children if opened else closed).append(element)

    def characters(text: str) -> None:
        if opened:
            opened[-1].children.append(text)
        elif len(path) == 1 and text.strip():
            problems.add(f"expected <learner>, found text {text.strip()[:20]!r}", line=parser.CurrentLineNumber)

    def doctype(_: str, system: str | None, public: str | None, has_subset: bool) -> None:
        if system or public or has_subset:
            stop("expected no DTD, found one; remove the DOCTYPE", parser.CurrentLineNumber)

    def entity(name: str, *_: object) -> None:
        message = f"expected only entities such as &amp;, found {name!r}; write its text instead"
        stop(message, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = characters, doctype
    parser.EntityDeclHandler = parser.SkippedEntityHandler = entity
    for line in chain(lines, [None]):
        try:
            parser.Parse(b"" if line is None else line.encode("utf-8", "surrogatepass"), line is None)
        except expat.ExpatError as error:
            stop(f"expected well-formed XML, found: {expat.ErrorString(error.code)}", error.lineno)
        yield from closed
        n_found += len(closed)
        closed.clear()
    if not n_found and root != "fce":
        problems.add(f"expected a <learner>, found <{root}> without any", line=1)


def read_fce(source: Source) -> Iterator[Essay]:
    problems = Problems(source.name)
    ids = EssayIds()
    for learner in learners(source.lines(), problems):
        texts = [text for holder in (learner, *learner.named("head")) for text in holder.named("text")]
        answers = [child for text in texts for child in text.elements if child.name.startswith("answer")]
        if not answers:
            problems.add("expected a <learner> with an <answer1>, found none", line=learner.line)
        fields = list(_fields(learner, "learner"))
        for answer in answers:
            yield _essay(answer, fields, ids, problems)
    problems.done()


def _fields(element: XmlElement, path: str) -> Iterator[tuple[str, str]]:
    """Every attribute and every element with text, by path, except the answers and their content."""
    for name, value in element.attributes.items():
        yield f"{path}@{name}", value
    inner = element.elements
    if element.text.strip() or not (inner or path in HOLDERS):
        yield path, element.text
    for child in inner:
        is_answer = path == "text" and child.name.startswith("answer")
        if path != "answer/coded_answer" and not is_answer:
            within = child.name if path in FRAME and child.name in FRAME else f"{path}/{child.name}"
            yield from _fields(child, within)


def _essay(answer: XmlElement, learner_fields: list[tuple[str, str]], ids: EssayIds, problems: Problems) -> Essay:
    values: dict[str, list[Json]] = {}  # a field that stands several times has a list of them
    for path, value in [*learner_fields, *_fields(answer, "answer")]:
        values.setdefault(FIELDS.get(path, path), []).append(value)
    metadata: dict[str, Json] = {name: each[0] if len(each) == 1 else each for name, each in values.items()}
    metadata["answer"] = answer.name
    coded = answer.named("coded_answer")
    text, edits = "", list[Edit]()
    for content in coded[:1]:
        _expect_no_text(content, problems)
        for number, paragraph in enumerate(content.elements):
            _expect(paragraph, "p", problems)
            text = _transcribed(paragraph.children, text + "\n" if number else text, edits, problems)
    for content in coded[1:]:
        problems.add(f"expected one <coded_answer> in <{answer.name}>, found another", line=content.line)
    sortkey = metadata.get("sortkey")
    essay_id = ids.of_text(text) if sortkey is None else ids.of_document(f"{sortkey}/{answer.name}")
    return Essay(essay_id, text, tuple(edits), (RATER,), metadata=metadata, line=answer.line)


def _transcribed(children: Content, text: str, edits: list[Edit], problems: Problems) -> str:
    """The learner's text so far plus that of these children; their edits are added."""
    for child in children:
        if isinstance(child, str):
            text += child
        elif child.name != "NS":
            problems.add(f"expected text or <NS>, found <{child.name}>", line=child.line)
        else:
            _check(child, problems)
            start, index = len(text), len(edits)
            text = _transcribed(_original(child), text, edits, problems)
            corrections = child.named("c")
            without = ("",) if child.named("i") else ()
            extra: dict[str, Json] = {}
            if attributes := {name: value for name, value in child.attributes.items() if name != "type"}:
                extra["attributes"] = attributes
            if any(part.elements for part in corrections):
                extra["c"] = [_as_json(part.children) for part in corrections]
            edit = Edit(
                span=Span(start, len(text)),
                replacements=tuple(_corrected(part.children) for part in corrections) or without,
                tag=child.attributes.get("type", ""),
                rater=RATER,
                extra=extra,
                line=child.line,
            )
            edits.insert(index, edit)  # before those inside it
    return text


def _original(ns: XmlElement) -> Content:
    """The learner's text of an `<NS>`; white space between `<i>` and `<c>` is layout."""
    for wrong in ns.named("i"):
        return wrong.children
    bare = [child for child in ns.children if isinstance(child, str) or child.name != "c"]
    is_layout = len(bare) < len(ns.children) and not any(isinstance(c, XmlElement) or c.strip() for c in bare)
    return [] if is_layout else bare


def _corrected(children: Content) -> str:
    """The text with every `<NS>` replaced by its first correction."""
    pieces = []
    for child in children:
        if isinstance(child, str):
            pieces.append(child)
        elif corrections := child.named("c"):
            pieces.append(_corrected(corrections[0].children))
        elif not child.named("i"):
            pieces.append(_corrected(child.children))
    return "".join(pieces)


def _check(ns: XmlElement, problems: Problems) -> None:
    """Report lost or ambiguous content of an `<NS>` and its corrections, without descending into its `<i>`."""
    wrong, corrections = ns.named("i"), ns.named("c")
    for part in (*wrong, *corrections):
        _expect(part, part.name, problems)
    for part in wrong[1:]:
        problems.add("expected one <i> in an <NS>, found another", line=part.line)
    if wrong:
        _expect_no_text(ns, problems)
        for part in ns.elements:
            if part.name not in ("i", "c"):
                problems.add(f"expected only <i> and <c>, found <{part.name}> too", line=part.line)
    for part in corrections:
        _check_all(part.children, problems)


def _check_all(children: Content, problems: Problems) -> None:
    """Report the same for every `<NS>` at any depth, and for all other elements."""
    for child in children:
        if isinstance(child, XmlElement):
            _expect(child, "NS", problems)
            _check(child, problems)
            _check_all(_original(child), problems)


def _expect(element: XmlElement, name: str, problems: Problems) -> None:
    if element.name != name:
        problems.add(f"expected <{name}>, found <{element.name}>", line=element.line)
    elif element.attributes and name != "NS":
        problems.add(f"expected <{name}> without attributes, found some", line=element.line)


def _expect_no_text(element: XmlElement, problems: Problems) -> None:
    if text := element.text.strip():
        problems.add(f"expected no text directly in <{element.name}>, found {text[:20]!r}", line=element.line)


def _as_json(children: Content) -> list[Json]:
    """Content as JsonML: text is a string, an element is [name, attributes, child, ...]."""
    return [
        child if isinstance(child, str) else [child.name, dict(child.attributes), *_as_json(child.children)]
        for child in children
    ]


def _from_json(content: Json, *, depth: int = 0) -> str:
    """The XML of such content; ValueError for other JSON."""
    if not isinstance(content, list) or depth > MAX_DEPTH // 2:
        raise ValueError("no content")
    pieces = []
    for piece in content:
        match piece:
            case str():
                pieces.append(piece.translate(IN_TEXT))
            case ["NS" | "i" | "c" as name, dict(given), *rest] if _are_attributes(given, known=("type",)):
                pieces.append(f"{_tag(name, given)}{_from_json(rest, depth=depth + 1)}</{name}>")
            case _:
                raise ValueError("no content")
    return "".join(pieces)


ANSWER = r"answer\w*"
MAX_NESTED = 40
"""Edits inside each other; every one is two elements deep, and the reader allows a certain depth."""

UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})
IN_ATTRIBUTE = {**IN_TEXT, **str.maketrans({'"': "&quot;", "\n": "&#10;", "\t": "&#9;"})}


@dataclass(frozen=True, slots=True)
class _Answer:
    """An essay as a script's answer; without a `sortkey` if the id is a hash of the text."""

    essay: Essay
    sortkey: str | None
    name: str
    fields: Mapping[str, str]


def write_fce(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    scripts = _scripts(essays, report)
    first, second = next(scripts, None), next(scripts, None)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    if first is not None and second is None:
        yield from _script(first, report)
        return
    yield "<fce>\n"
    for script in chain([first] if first else [], [second] if second else [], scripts):
        yield from _script(script, report)
    yield "</fce>\n"


def _scripts(essays: Iterable[Essay], report: Report) -> Iterator[list[_Answer]]:
    """Adjacent answers of one learner; an answer's name is unique in a script."""
    n_seen: Counter[str] = Counter()
    script: list[_Answer] = []
    before: tuple[str | int, ...] | None = None
    for number, essay in enumerate(essays):
        answer = _answer(essay, unnumbered(essay.essay_id, n_seen), Losses(essay.essay_id, report))
        candidate = (answer.fields.get(name, "") for name in ("language", "age", "score"))
        learner = (number if answer.sortkey is None else answer.sortkey, *candidate)
        if script and (learner != before or any(other.name == answer.name for other in script)):
            yield script
            script = []
        script.append(answer)
        before = learner
    if script:
        yield script


def _answer(essay: Essay, base: str, lose: Losses) -> _Answer:
    fields: dict[str, str] = {}
    for field_name, value in essay.metadata.items():
        what = f"metadata {field_name}"
        if field_name not in FIELDS.values() and field_name != "answer":
            lose(what, "FCE has no such field")
        elif isinstance(value, str):
            fields[field_name] = _fit(what, value, lose)
        elif isinstance(value, int | float):
            lose(what, "FCE has text only", changed=True)
            fields[field_name] = str(value)
        else:
            lose(what, "FCE has text only")
    sortkey, name = None, fields.get("answer", "answer1")
    if base == short_hash(essay.text):
        name = name if re.fullmatch(ANSWER, name, re.ASCII) else "answer1"
    else:
        match = re.fullmatch(rf"(.*)/({ANSWER})", base, re.ASCII | re.DOTALL)
        if match is None:
            why = "FCE names a script and its answers: written as the script's answer1"
            lose("essay id", why, changed=True)
        sortkey, name = match.groups() if match else (base, "answer1")
        sortkey = _fit("essay id", sortkey, lose)
    for field_name, written in (("sortkey", sortkey), ("answer", name)):
        if fields.get(field_name, written) != written:
            lose(f"metadata {field_name}", "it disagrees with the essay id")
    return _Answer(essay, sortkey, name, fields)


def _script(answers: Sequence[_Answer], report: Report) -> Iterator[str]:
    def leaves(fields: Mapping[str, str], *names: str) -> str:
        return "".join(f"<{name}>{fields[name].translate(IN_TEXT)}</{name}>" for name in names if name in fields)

    head, fields = answers[0].sortkey, answers[0].fields
    yield f"<learner>{_tag('head', {} if head is None else {'sortkey': head})}\n"
    personnel = leaves(fields, "language", "age")
    yield f"  <candidate><personnel>{personnel}</personnel>{leaves(fields, 'score')}</candidate>\n  <text>\n"
    for answer in answers:
        yield f"    <{answer.name}>\n      "
        yield leaves(answer.fields, "question_number", "exam_score")
        coded = _coded(answer.essay, Losses(answer.essay.essay_id, report))
        yield f"\n      <coded_answer>\n<p>{coded}</p>\n      </coded_answer>\n"
        yield f"    </{answer.name}>\n"
    yield "  </text>\n</head></learner>\n"


def _fit(what: str, text: str, lose: Losses) -> str:
    """The text with every character that XML cannot represent replaced by U+FFFD."""
    if not UNFIT.search(text):
        return text
    lose(what, "XML cannot contain a control character: written as U+FFFD", changed=True)
    return UNFIT.sub("\ufffd", text)


def _coded(essay: Essay, lose: Losses) -> str:
    """The text with its edits as tags; no open edit contains a line end, so each line end ends a paragraph."""
    if essay.tokens is not None:
        lose("tokens", "FCE text is not tokenised")
    text = _fit("text", essay.text, lose)
    edits = [_fit_edit(edit, lose) for edit in _nested(_of_one_annotator(essay, lose), essay.text, lose)]
    pieces: list[str] = []
    open_edits: list[Edit] = []
    at = 0

    def copy(end: int) -> int:
        pieces.append(text[at:end].translate(IN_TEXT).replace("\n", "</p>\n<p>"))
        return end

    for edit in edits:
        while open_edits and open_edits[-1].span.end <= edit.span.start:
            at = copy(open_edits[-1].span.end)
            pieces.append(_closing(open_edits.pop(), lose))
        at = copy(edit.span.start)
        pieces.append(_opening(edit, lose))
        open_edits.append(edit)
    for edit in reversed(open_edits):
        at = copy(edit.span.end)
        pieces.append(_closing(edit, lose))
    copy(len(text))
    return "".join(pieces)


def _of_one_annotator(essay: Essay, lose: Losses) -> list[Edit]:
    raters = list(dict.fromkeys([*essay.annotators, *(edit.rater for edit in essay.edits)]))
    if not raters:
        why = "FCE cannot record that nobody read an essay: it will look like one without errors"
        lose("absence of annotators", why, changed=True)
        return []
    why = f"FCE has room for one annotator; {raters[0]} is written"
    for rater in raters[1:]:
        lose(f"annotator {rater}", why)
    for edit in essay.edits:
        if edit.rater != raters[0]:
            lose(edit_name(edit), why)
    if raters[0] != RATER:
        lose(f"annotator {raters[0]}", f"FCE names none: reads as {RATER}", changed=True)
    return [edit for edit in essay.edits if edit.rater == raters[0]]


def _nested(edits: Iterable[Edit], text: str, lose: Losses) -> Iterator[Edit]:
    """The edits in the order of their tags, without those that would cross another.

    By start; edits with the same start keep their order if they nest that way, else insertions come first, then the
    longest.
    """
    in_order: list[Edit] = []
    for _, group in groupby(sorted(edits, key=lambda edit: edit.span.start), key=lambda edit: edit.span.start):
        same_start = list(group)
        ends = [edit.span.end for edit in same_start if len(edit.span)]
        if ends != sorted(ends, reverse=True):
            same_start.sort(key=lambda edit: (len(edit.span) > 0, -edit.span.end))
        in_order += same_start
    ends = []
    for edit in in_order:
        while ends and ends[-1] <= edit.span.start:
            ends.pop()
        if ends and edit.span.end > ends[-1]:
            lose(edit_name(edit), "it crosses another edit, and XML elements can only nest")
        elif "\n" in edit.span.of(text):
            lose(edit_name(edit), "it crosses the end of a paragraph")
        elif len(ends) == MAX_NESTED:
            lose(edit_name(edit), f"it is inside {MAX_NESTED} others")
        else:
            ends.append(edit.span.end)
            yield edit


def _fit_edit(edit: Edit, lose: Losses) -> Edit:
    """The edit as the format can store it; losses are reported."""
    what = edit_name(edit)
    if edit.comment:
        lose(f"comment of {what}", "FCE has no comments")
    for key in sorted(edit.extra.keys() - {"attributes", "c"}):
        lose(f"{key} of {what}", "FCE has no such field")
    fitted = tuple(_fit(what, text, lose) for text in edit.replacements)
    return replace(edit, tag=_fit(what, edit.tag, lose), replacements=fitted)


def _has_wrong_part(edit: Edit) -> bool:
    return edit.replacements == ("",) or (len(edit.span) > 0 and edit.replacements != ())


def _opening(edit: Edit, lose: Losses) -> str:
    attributes = {"type": edit.tag} if edit.tag else {}
    more = edit.extra.get("attributes", {})
    if isinstance(more, dict) and _are_attributes(more):
        attributes |= {name: str(value) for name, value in more.items()}
    else:
        lose(f"attributes of {edit_name(edit)}", "they are not valid XML attributes")
    return _tag("NS", attributes) + ("<i>" if _has_wrong_part(edit) else "")


def _closing(edit: Edit, lose: Losses) -> str:
    contents = _kept_corrections(edit)
    if contents is None:
        if "c" in edit.extra:
            lose(f"c of {edit_name(edit)}", "it differs from the replacements of the edit")
        contents = [text.translate(IN_TEXT) for text in edit.replacements if edit.replacements != ("",)]
    corrections = "".join(f"<c>{content}</c>" for content in contents)
    return f"{'</i>' if _has_wrong_part(edit) else ''}{corrections}</NS>"


def _kept_corrections(edit: Edit) -> list[str] | None:
    """The corrections with their nested edits, if they would be read again, and still match the edit."""
    kept, problems = edit.extra.get("c"), Problems("extra")
    try:
        contents = [_from_json(content) for content in kept] if isinstance(kept, list) else []
        [read] = learners([f"<learner>{''.join(f'<c>{content}</c>' for content in contents)}</learner>"], problems)
        for part in read.elements:
            _check_all(part.children, problems)
        problems.done()
    except (ValueError, BadInput):
        return None
    is_same = tuple(_corrected(part.children) for part in read.elements) == edit.replacements
    return contents if contents and is_same else None


def _are_attributes(given: Mapping[str, Json], *, known: Collection[str] = ()) -> bool:
    fitting = re.compile(r"(?!type$|xmlns)[A-Za-z_][\w.-]*", re.ASCII)
    names_fit = all(name in known or fitting.fullmatch(name) for name in given)
    return names_fit and all(isinstance(value, str) and not UNFIT.search(value) for value in given.values())


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    written = (f' {key}="{value.translate(IN_ATTRIBUTE)}"' for key, value in attributes.items())
    return f"<{name}{''.join(written)}>"


FORMAT = FileFormat("fce", (".xml",), read_fce, write_fce)
