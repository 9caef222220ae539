r"""M2, the format of the shared tasks: blocks of one tokenised sentence and its annotators' edits.

    S She go to school .
    A 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0

`A start end|||tag|||correction|||REQUIRED|||comment|||annotator`: Dahlmeier and Ng 2012, "Better evaluation for
grammatical error correction", as m2scorer and ERRANT read and write it.

**Fields.** Alternatives are separated by `||`. An empty correction, or `-NONE-`, deletes the words; among several
alternatives it is always spelt `-NONE-`, since an empty one before the next `|||` would look like a separator. The
only way to say "detected but not corrected" in M2 is ERRANT's, which we follow: the tag `UNK`, or NUCLE's `Um`, with
a correction that equals the words (`errant_m2` writes both so; `errant_compare` uses `UNK` for detection only). Other
spellings of a field are kept in `Edit.extra`, so that writing reproduces the same bytes.

**Reading.** Every block is one essay.  The text is the S line after `S `, unchanged; tokens are those of
`str.split()`, as ERRANT and m2scorer count them.  A span of tokens becomes a span of code points, from the start of
its first token to the end of its last; an insertion before token `i` is at the start of that token, and after the
last token at the end of the text.  A no-op line says that its annotator read the sentence and found nothing to
correct.  A block without A lines means the same if the file has one annotator; if it has several, nobody is known to
have read the block (docs/corpora.md).  A line that holds only white space is blank.  A `\r` before the `\n` belongs
to the line end.  Blank lines may come in any number between blocks, and need not come after the last.

**Writing.** An essay that M2 can store unchanged (its tokens are those of `str.split()`, and its text is one line) is
one block: anything read from M2 is written byte for byte. Others are cut into blocks (`normalise.cut`). M2 cannot
store ids, metadata, and other formats' data about an edit (`Edit.extra`); an error detected but not corrected gets
ERRANT's tag `UNK`, unless it is NUCLE's `Um`. Annotators with an A line count as having read the whole essay; if
there are none, a file's only annotator counts as its reader, and in a file with several nobody does.

A field may hold neither a line end nor `|||`, nor a `|` at its edge that would make the bars of a separator
ambiguous; a correction may not hold `||`, which separates alternatives, nor be the word `-NONE-`. Each line is tested
by reading it: an edit that would be read back differently is left out, and so is such a comment.

All other tools expect the annotator of an A line to be an integer. Numeric ids are kept unless already taken; other
annotators get the lowest free number, in order of appearance, and the report lists these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from grater.corpora.formats import EssayIds, FileFormat, Loss, Losses, Report, Source, edit_name, shortened
from grater.corpora.normalise import GROWN, NO_TOKEN, Block, TokenRange, cut, grown_to_tokens, tokens_of_edit
from grater.errors import Problems
from grater.model import DELETE, Edit, Essay, Json, Span

SEPARATOR = "|||"
ALTERNATIVE = "||"
REQUIRED = "REQUIRED"
NO_COMMENT = "-NONE-"
NOOP = "noop"
UNKNOWN = "UNK"
UNCORRECTED = frozenset({UNKNOWN, "Um"})
NOOP_BODY = f"-1 -1|||{NOOP}|||{DELETE}|||{REQUIRED}|||{NO_COMMENT}"
"""All of a no-op line between `A ` and the annotator."""

CORRECTION_AS_READ = "m2_correction"
REQUIRED_AS_READ = "m2_required"
COMMENT_AS_READ = "m2_comment"
"""Names in `Edit.extra`."""

NOOP_LEFT_OUT = "m2_noop"
"""False in `Essay.metadata` where the one annotator of a file has no line at all, not even a no-op."""
NOOPS_AS_READ = "m2_noop_lines"
"""In `Essay.metadata`: for each annotator the no-op lines, without `A ` and annotator, where they are not as usual.

Usual is one no-op of the common form for an annotator without edits and none for one with edits; a no-op next to
edits contradicts them."""


def replacements_of(correction: str, *, tag: str, words: str) -> tuple[str, ...]:
    """The replacements that a correction field means for an edit of these words."""
    if correction == words and tag in UNCORRECTED:
        return ()
    if ALTERNATIVE not in correction:
        return ("",) if correction == DELETE else (correction,)
    return tuple("" if part == DELETE else part for part in correction.split(ALTERNATIVE))


def correction_of(replacements: tuple[str, ...], *, words: str) -> str:
    if not replacements:
        return words
    if len(replacements) == 1:
        return replacements[0]
    return ALTERNATIVE.join(replacement or DELETE for replacement in replacements)


N_FIELDS = 6
MOST_DIGITS = 9
TOKEN_NUMBERS = re.compile(r"\s*(-?[0-9]+)\s+(-?[0-9]+)\s*", re.ASCII)
WORD = re.compile(r"\S+")


class Annotation(NamedTuple):
    """An A line: the two token numbers, its fields as written, and its line number."""

    start: int
    end: int
    tag: str
    correction: str
    required: str
    comment: str
    annotator: str
    line: int


class Sentence(NamedTuple):
    """A block of the file, unchanged."""

    text: str
    line: int
    annotations: list[Annotation]


def read_blocks(lines: Iterable[str], *, name: str) -> Iterator[Sentence]:
    """The blocks of a file; what is wrong with it is raised after the last of them."""
    problems = Problems(name)
    block: Sentence | None = None
    n_tokens = -1  # no A line is within a sentence that is not there
    after_blank, is_orphan = True, False  # A lines without a sentence are reported once, and then left out
    for number, line in enumerate(lines, 1):
        line = line.removesuffix("\n").removesuffix("\r")
        if line.startswith("A "):
            if after_blank:
                message = "expected an 'S ' line before this 'A ' line; remove the blank line or add the sentence"
                problems.add(message, line=number)
            is_orphan = is_orphan or after_blank
            if not is_orphan:
                annotation = _annotation(line, number, n_tokens, problems)
                if block is not None and annotation is not None:
                    block.annotations.append(annotation)
            after_blank = False
            continue
        is_orphan = False
        if line.startswith("S ") or line == "S":
            if not after_blank:
                problems.add("expected a blank line before the next 'S ' line; put one there", line=number)
            if block is not None:
                yield block
            block, after_blank = Sentence(line[2:], number, []), False
            n_tokens = len(block.text.split())
        else:
            after_blank = not line or line.isspace()
            if not after_blank:
                message = f"expected a line starting with 'S ' or 'A ', found {shortened(line)}"
                problems.add(message, line=number)
    if block is not None:
        yield block
    problems.done()


def _annotation(line: str, number: int, n_tokens: int, problems: Problems) -> Annotation | None:
    """A line that starts with `A `; white space around its annotator is ignored."""
    fields = line[2:].split(SEPARATOR)
    numbers = TOKEN_NUMBERS.fullmatch(fields[0])
    if len(fields) != N_FIELDS:
        message = (
            f"expected {N_FIELDS} fields (start end|||tag|||correction|||REQUIRED|||comment|||annotator), "
            f"found {len(fields)}"
        )
    elif numbers is None or max(len(numbers[1]), len(numbers[2])) > MOST_DIGITS:
        message = f"expected two token numbers after 'A ', found {shortened(fields[0])}"
    elif not (annotator := fields[5].strip()):
        message = "expected an annotator after the last '|||', found nothing"
    else:
        start, end = int(numbers[1]), int(numbers[2])
        if 0 <= start <= end <= n_tokens or (fields[1] == NOOP and n_tokens >= 0):
            return Annotation(start, end, fields[1], fields[2], fields[3], fields[4], annotator, number)
        within = f"token numbers from 0 to {max(n_tokens, 0)} (the sentence has {max(n_tokens, 0)} tokens)"
        wanted = "a start that is not after the end" if start > end else within
        message = f"expected {wanted}, found {start} {end}"
    problems.add(message, line=number)
    return None


def read_source(source: Source) -> Iterator[Essay]:
    """The essays of a file, which is read twice if a block without A lines needs the list of annotators."""
    seen: set[str] = set()
    alone: str | None = None
    is_known = False
    for essay in read_m2(source.lines(), name=source.name):
        seen.update(essay.annotators)
        if not essay.annotators and len(seen) < 2:
            if not is_known:
                annotators, is_known = annotators_of(source.lines()), True
                alone = next(iter(annotators)) if len(annotators) == 1 else None
            if alone is not None:
                essay = _read_by(essay, alone)
        yield essay


def read_m2(lines: Iterable[str], *, name: str) -> Iterator[Essay]:
    """The essays of lines; a block without A lines is nobody's."""
    ids = EssayIds()
    yield from (_essay(block, ids) for block in read_blocks(lines, name=name))


def _read_by(essay: Essay, annotator: str) -> Essay:
    return replace(essay, annotators=(annotator,), metadata={NOOP_LEFT_OUT: False})


def annotators_of(lines: Iterable[str]) -> set[str]:
    """The annotators of a file, at most two, since more make no difference."""
    annotators: set[str] = set()
    for line in lines:
        if line.startswith("A "):
            annotators.add(line[2:].split(SEPARATOR)[-1].strip())
            if len(annotators) == 2:
                break
    return annotators


def _essay(block: Sentence, ids: EssayIds) -> Essay:
    text, annotations = block.text, block.annotations
    tokens = token_spans_of_line(text)
    edits = tuple([_edit(mark, text, tokens) for mark in annotations if mark.tag != NOOP])
    annotators = tuple(dict.fromkeys([annotation.annotator for annotation in annotations]))
    metadata = {} if len(edits) == len(annotations) else _unusual_noops(annotations, annotators)
    return Essay(ids.of_text(text), text, edits, annotators, tokens, metadata, block.line)


def token_spans_of_line(text: str) -> tuple[Span, ...]:
    """The tokens of an S line: those of `str.split()`."""
    return tuple([_shared_span(match.span()) for match in WORD.finditer(text)])


@lru_cache(maxsize=1 << 16)
def _shared_span(bounds: tuple[int, int]) -> Span:
    """A cached span, since words are at the same few positions in most sentences."""
    return Span(*bounds)


def _edit(mark: Annotation, text: str, tokens: Sequence[Span]) -> Edit:
    span = TokenRange(mark.start, mark.end, ()).span(text, tokens)
    words = text[span.start : span.end]
    replacements = replacements_of(mark.correction, tag=mark.tag, words=words)
    comment = "" if mark.comment == NO_COMMENT else mark.comment
    extra: dict[str, Json] = {}
    if mark.required != REQUIRED:
        extra[REQUIRED_AS_READ] = mark.required
    if mark.correction != correction_of(replacements, words=words):
        extra[CORRECTION_AS_READ] = mark.correction
    if not mark.comment:
        extra[COMMENT_AS_READ] = mark.comment
    return Edit(span, replacements, mark.tag, mark.annotator, comment, extra, mark.line)


def _unusual_noops(annotations: Sequence[Annotation], annotators: tuple[str, ...]) -> dict[str, Json]:
    """The no-op lines that differ from the usual one."""
    noops: dict[str, list[Json]] = {annotator: [] for annotator in annotators}
    usual: dict[str, list[Json]] = {annotator: [NOOP_BODY] for annotator in annotators}
    for mark in annotations:
        if mark.tag == NOOP:
            fields = (f"{mark.start} {mark.end}", mark.tag, mark.correction, mark.required, mark.comment)
            noops[mark.annotator].append(SEPARATOR.join(fields))
        else:
            usual[mark.annotator] = []
    return {} if noops == usual else {NOOPS_AS_READ: list(noops.values())}


def noops_as_read(essay: Essay) -> list[list[str]] | None:
    """The no-op lines as read, if still valid: a list for each annotator."""
    noops = essay.metadata.get(NOOPS_AS_READ)
    if not isinstance(noops, list | tuple) or len(noops) != len(essay.annotators):
        return None
    bodies = [[*each] for each in noops if isinstance(each, list | tuple) and all(map(_is_noop, each))]
    return bodies if len(bodies) == len(noops) else None


def _is_noop(body: Json) -> bool:
    if not isinstance(body, str) or "\n" in body:
        return False
    fields = body.split(SEPARATOR)
    numbers = fields[0].split(" ")
    are_numbers = len(numbers) == 2 and all(n.removeprefix("-").isdecimal() and n.isascii() for n in numbers)
    return len(fields) == N_FIELDS - 1 and fields[1] == NOOP and are_numbers and not fields[-1].endswith("|")


class AnnotatorNumbers:
    """Assigns the annotator numbers of one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.numbers: dict[str, int] = {}

    def of(self, annotator: str, essay_id: str) -> int:
        """The annotator's number; `essay_id` is the essay in which a new one appears."""
        if annotator not in self.numbers:
            taken = set(self.numbers.values())
            number = next(number for number in count() if number not in taken)
            is_number = annotator.isascii() and annotator.isdigit() and len(annotator) < 10
            if is_number and str(int(annotator)) == annotator and int(annotator) not in taken:
                number = int(annotator)
            self.numbers[annotator] = number
            if str(number) != annotator:
                why = f"M2 numbers its annotators; this one is {number}"
                self._report(Loss(essay_id, f"annotator {annotator!r}", why, changed=True))
        return self.numbers[annotator]


def write_m2(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The text of a file, block by block."""
    ids, numbers = EssayIds(), AnnotatorNumbers(report)
    silent: dict[tuple[str, ...], tuple[int, str]] = {}
    for essay in essays:
        for block in _blocks(essay, ids, report):
            bodies = _in_order(block.essay, _edit_bodies(block, essay.essay_id, report))
            lines = [f"A {body}{SEPARATOR}{numbers.of(rater, essay.essay_id)}\n" for rater, body in bodies]
            yield f"S {block.essay.text}\n{''.join(lines)}\n"
            if not lines:
                n_before, first = silent.get(essay.annotators, (0, essay.essay_id))
                silent[essay.annotators] = (n_before + 1, first)
    # Essays without A lines of which a reader would get other annotators
    understood = tuple(numbers.numbers) if len(numbers.numbers) == 1 else ()
    for annotators, (n_essays, essay_id) in silent.items():
        if annotators != understood:
            names = ", ".join(annotators) or "(none)"
            what = f"annotators {names} of {n_essays} essays without A lines, this one first"
            report(Loss(essay_id, what, f"read again they have {', '.join(understood) or 'none'}", changed=True))


def _blocks(essay: Essay, ids: EssayIds, report: Report) -> Iterator[Block]:
    lose = Losses(essay.essay_id, report)
    essay = replace(essay, edits=tuple([_on_one_line(edit, essay.essay_id, report) for edit in essay.edits]))
    ours = {NOOP_LEFT_OUT} | ({NOOPS_AS_READ} if noops_as_read(essay) is not None else set())
    if names := [name for name in essay.metadata if name not in ours]:
        lose(f"metadata {', '.join(names)}", "M2 has no place for it")
    for rater in dict.fromkeys(edit.rater for edit in essay.edits if edit.rater not in essay.annotators):
        why = "M2 takes everyone with an A line to have read it all"
        lose(f"annotators without {rater!r}", why, changed=True)
    is_one_line = "\n" not in essay.text and not essay.text.endswith("\r")
    if is_one_line and essay.tokens == token_spans_of_line(essay.text):
        if ids.of_text(essay.text) != essay.essay_id:
            lose("essay id", "M2 has no ids; readers make one from the text")
        yield Block(essay, essay.edits)
        return
    blocks = list(cut(essay, ids, report))
    lose("essay id", "M2 has no ids; readers make one from each sentence")
    if blocks:
        lose("text", "it was tokenised and split into sentences", changed=True)
    else:
        lose("text", "it has no words, and M2 stores sentences")
    yield from blocks


def _on_one_line(edit: Edit, essay_id: str, report: Report) -> Edit:
    """The edit with line ends replaced by spaces."""
    texts = (*edit.replacements, edit.tag, edit.comment)
    if not any("\n" in text for text in texts):
        return edit
    report(Loss(essay_id, edit_name(edit), "it contains a line end, which became a space", changed=True))
    *replacements, tag, comment = (text.replace("\n", " ") for text in texts)
    return replace(edit, replacements=tuple(replacements), tag=tag, comment=comment)


def _edit_bodies(block: Block, essay_id: str, report: Report) -> list[tuple[str, str]]:
    """The A line of each edit that can have one, without `A ` and number, preceded by its rater."""
    bodies, text, tokens = [], block.essay.text, block.essay.tokens or ()
    for edit, original in zip(block.essay.edits, block.originals, strict=True):
        name = edit_name(original)
        token_range = tokens_of_edit(edit, text, tokens)
        if token_range is None:
            token_range = grown_to_tokens(edit, text, tokens, is_tokenised=True)
            report(Loss(essay_id, name, GROWN if token_range else NO_TOKEN, changed=token_range is not None))
        if token_range is not None:
            words = token_range.span(text, tokens).of(text)
            body = _body(edit, token_range, words, essay_id=essay_id, name=name, report=report)
            if body is not None:
                bodies.append((edit.rater, body))
    return bodies


def _body(edit: Edit, token_range: TokenRange, words: str, *, essay_id: str, name: str, report: Report) -> str | None:
    """The body for an edit of `words`, or None if no line can express it; reports call the edit `name`."""
    tag, replacements = edit.tag, token_range.replacements
    if not replacements and tag not in UNCORRECTED:
        why = f"M2 can write 'found but not corrected' only with the tag {UNKNOWN}; the tag {tag!r} is lost"
        report(Loss(essay_id, name, why, changed=True))
        tag = UNKNOWN
    correction = edit.extra.get(CORRECTION_AS_READ)
    if not isinstance(correction, str) or replacements_of(correction, tag=edit.tag, words=words) != replacements:
        correction = correction_of(replacements, words=words)
    required = edit.extra.get(REQUIRED_AS_READ, REQUIRED)
    required = required if isinstance(required, str) else REQUIRED
    fields = [f"{token_range.start} {token_range.end}", tag, correction, required]
    is_same = replacements_of(correction, tag=tag, words=words) == replacements
    if tag == NOOP or not is_same or not _is_safe(fields):
        report(Loss(essay_id, name, "an A line with it would be read as something else"))
        return None
    if others := sorted(edit.extra.keys() - {CORRECTION_AS_READ, REQUIRED_AS_READ, COMMENT_AS_READ}):
        report(Loss(essay_id, f"{', '.join(others)} of {name}", "M2 has no place for it"))
    comment = edit.comment or NO_COMMENT
    as_read = edit.extra.get(COMMENT_AS_READ)
    if not edit.comment and as_read in ("", NO_COMMENT):
        comment = as_read
    elif edit.comment == NO_COMMENT or not _is_safe([comment]):
        report(Loss(essay_id, f"comment of {name}", "an A line with it would be read as something else"))
        comment = NO_COMMENT
    return SEPARATOR.join((*fields, comment))


def _is_safe(fields: list[str]) -> bool:
    """Whether the fields are read back unchanged, whatever fields come before and after."""
    line = SEPARATOR.join(["", *fields, ""])
    return "\n" not in line and line.split(SEPARATOR) == ["", *fields, ""]


def _in_order(essay: Essay, edits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The edits in order, preceded by the no-ops of annotators who come earlier.

    Readers list annotators in order of appearance: if the order of edits would change that list, edits are sorted by
    annotator.
    """
    raters = dict.fromkeys((*essay.annotators, *(rater for rater, _ in edits)))
    rank = {rater: number for number, rater in enumerate(raters)}
    appearance = [rank[rater] for rater in dict.fromkeys(rater for rater, _ in edits)]
    if appearance != sorted(appearance):
        edits = sorted(edits, key=lambda body: rank[body[0]])
    with_edits, as_read = {rater for rater, _ in edits}, noops_as_read(essay)
    is_left_out = essay.metadata.get(NOOP_LEFT_OUT) is False and len(essay.annotators) == 1 and not essay.edits
    noops = {}
    for index, annotator in enumerate(essay.annotators):
        usual = [] if annotator in with_edits or is_left_out else [NOOP_BODY]
        noops[annotator] = (as_read[index] if as_read else []) or usual
    lines: list[tuple[str, str]] = []
    for rater, body in edits:
        for earlier in [other for other in noops if rank[other] <= rank[rater]]:
            lines += [(earlier, noop) for noop in noops.pop(earlier)]
        lines.append((rater, body))
    return lines + [(rater, noop) for rater, bodies in noops.items() for noop in bodies]


FORMAT = FileFormat("m2", (".m2",), read_source, write_m2, n_passes=2)
