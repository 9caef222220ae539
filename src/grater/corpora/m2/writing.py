"""Essays into M2, with a report of all that M2 cannot hold.

An essay that M2 can hold as it stands (its tokens are those of `str.split()`, and its text is one line) is written
so: what was read from M2 comes out byte for byte.  Any other is cut into sentences (`grater.corpora.m2.blocks`).

M2 has no place for ids, metadata, and what other formats know of an edit (`Edit.extra`); an error detected but not
corrected gets ERRANT's tag `UNK`, unless it is NUCLE's `Um` (see `fields`).  Whoever has an A line counts as having
read the whole essay; where no one has, a file with one annotator says that this one read it, and a file with several
that nobody did.

A field may hold neither a line end nor `|||`, nor a `|` at its edge that would make the bars of a separator
ambiguous; a correction may not hold `||`, which separates alternatives, nor be the word `-NONE-`.  What a line means
is settled by reading it: an edit that would be read back as another is left out, a comment that would be is dropped.

The annotator of an A line is a whole number to every other tool.  An annotator whose id is a number keeps it, unless
an earlier one was given it; any other gets the lowest number that is free, in the order of appearance, and the report
says which.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count

from grater.corpora.formats import Loss, Report
from grater.corpora.identity import EssayIds
from grater.corpora.m2.blocks import (
    GROWN,
    NO_TOKEN,
    Block,
    TokenRange,
    cut,
    edit_name,
    grown_to_tokens,
    tokens_of_edit,
)
from grater.corpora.m2.fields import (
    COMMENT_AS_READ,
    CORRECTION_AS_READ,
    NO_COMMENT,
    NOOP,
    NOOP_LEFT_OUT,
    NOOPS_AS_READ,
    REQUIRED,
    REQUIRED_AS_READ,
    SEPARATOR,
    UNCORRECTED,
    UNKNOWN,
    comment_field,
    comment_of,
    correction_of,
    noop_bodies,
    noops_as_read,
    replacements_of,
)
from grater.corpora.m2.reading import token_spans_of_line
from grater.model import Edit, Essay

OURS = frozenset({CORRECTION_AS_READ, REQUIRED_AS_READ, COMMENT_AS_READ})


def annotation_body(
    edit: Edit, found: TokenRange, words: str, *, essay_id: str, name: str, report: Report
) -> str | None:
    """The body for an edit of `words`, or nothing where no line says it; reports call it `name`."""
    tag = edit.tag
    if not found.replacements and tag not in UNCORRECTED:
        why = f"M2 can say 'found but not corrected' only with the tag {UNKNOWN}; the tag {tag!r} is lost"
        report(Loss(essay_id, name, why, changed=True))
        tag = UNKNOWN
    correction = _correction(edit, found, words)
    required = edit.extra.get(REQUIRED_AS_READ, REQUIRED)
    fields = [f"{found.start} {found.end}", tag, correction, required if isinstance(required, str) else REQUIRED]
    if tag == NOOP or replacements_of(correction, tag=tag, words=words) != found.replacements or not _is_safe(fields):
        report(Loss(essay_id, name, "an A line that said it would be read as something else"))
        return None
    _report_extra(edit, name, essay_id, report)
    return SEPARATOR.join((*fields, _comment(edit, name, essay_id, report)))


def on_one_line(edit: Edit, essay_id: str, report: Report) -> Edit:
    """The edit with its line ends changed to spaces."""
    texts = (*edit.replacements, edit.tag, edit.comment)
    if not any("\n" in text for text in texts):
        return edit
    report(Loss(essay_id, edit_name(edit), "it holds a line end, which became a space", changed=True))
    *replacements, tag, comment = (text.replace("\n", " ") for text in texts)
    return replace(edit, replacements=tuple(replacements), tag=tag, comment=comment)


def _correction(edit: Edit, found: TokenRange, words: str) -> str:
    """The correction as it was read, if that is still what it means, else in our spelling."""
    as_read = edit.extra.get(CORRECTION_AS_READ)
    if isinstance(as_read, str) and replacements_of(as_read, tag=edit.tag, words=words) == found.replacements:
        return as_read
    return correction_of(found.replacements, words=words)


def _comment(edit: Edit, name: str, essay_id: str, report: Report) -> str:
    field = comment_field(edit.comment)
    if not edit.comment and isinstance(as_read := edit.extra.get(COMMENT_AS_READ), str) and not comment_of(as_read):
        return as_read
    if comment_of(field) == edit.comment and _is_safe([field]):
        return field
    report(Loss(essay_id, f"comment of {name}", "an A line that held it would be read as something else"))
    return NO_COMMENT


def _is_safe(fields: list[str]) -> bool:
    """Whether the fields are read back as they are, whatever fields come before and after."""
    line = SEPARATOR.join(["", *fields, ""])
    return "\n" not in line and line.split(SEPARATOR) == ["", *fields, ""]


def _report_extra(edit: Edit, name: str, essay_id: str, report: Report) -> None:
    others = sorted(edit.extra.keys() - OURS)
    if others:
        report(Loss(essay_id, f"{', '.join(others)} of {name}", "M2 has no place for it"))


class AnnotatorNumbers:
    """Gives out the numbers of one file."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._numbers: dict[str, int] = {}

    @property
    def annotators(self) -> tuple[str, ...]:
        """Those who have a number."""
        return tuple(self._numbers)

    def of(self, annotator: str, essay_id: str) -> int:
        """The annotator's number; `essay_id` is where a new one was met."""
        if annotator not in self._numbers:
            self._numbers[annotator] = self._free(annotator)
            if str(self._numbers[annotator]) != annotator:
                why = f"M2 numbers its annotators; this one is {self._numbers[annotator]}"
                self._report(Loss(essay_id, f"annotator {annotator!r}", why, changed=True))
        return self._numbers[annotator]

    def _free(self, annotator: str) -> int:
        taken = set(self._numbers.values())
        is_number = annotator.isascii() and annotator.isdigit() and len(annotator) < 10
        if is_number and str(int(annotator)) == annotator and int(annotator) not in taken:
            return int(annotator)
        return next(number for number in count() if number not in taken)


def write_m2(essays: Iterable[Essay], report: Report) -> Iterator[str]:
    """The text of a file, block by block."""
    ids, numbers = EssayIds(), AnnotatorNumbers(report)
    silent: dict[tuple[str, ...], tuple[int, str]] = {}
    for essay in essays:
        for block in _blocks(essay, ids, report):
            lines = _annotation_lines(block, essay.essay_id, numbers, report)
            yield f"S {block.essay.text}\n{''.join(lines)}\n"
            if not lines:
                n_before, first = silent.get(essay.annotators, (0, essay.essay_id))
                silent[essay.annotators] = (n_before + 1, first)
    _report_silent(silent, numbers, report)


def _blocks(essay: Essay, ids: EssayIds, report: Report) -> Iterator[Block]:
    edits = tuple([on_one_line(edit, essay.essay_id, report) for edit in essay.edits])
    essay = replace(essay, edits=edits)
    _report_metadata(essay, report)
    _report_partial(essay, report)
    if _is_m2(essay):
        if ids.of_text(essay.text) != essay.essay_id:
            report(Loss(essay.essay_id, "essay id", "M2 has no ids; whoever reads it makes one of the text"))
        yield Block(essay, edits)
        return
    blocks = list(cut(essay, ids, report))
    report(Loss(essay.essay_id, "essay id", "M2 has no ids; whoever reads it makes one of each sentence"))
    if blocks:
        why = "it was tokenised and cut into sentences"
        report(Loss(essay.essay_id, "text", why, changed=True))
    else:
        report(Loss(essay.essay_id, "text", "it has no words, and M2 holds sentences"))
    yield from blocks


def _is_m2(essay: Essay) -> bool:
    """Whether M2 holds the text and its tokens as they are."""
    if essay.tokens is None or "\n" in essay.text or essay.text.endswith("\r"):
        return False
    return essay.tokens == token_spans_of_line(essay.text)


def _annotation_lines(block: Block, essay_id: str, numbers: AnnotatorNumbers, report: Report) -> list[str]:
    bodies = _in_order(block.essay, _edit_bodies(block, essay_id, report))
    return [f"A {body}{SEPARATOR}{numbers.of(rater, essay_id)}\n" for rater, body in bodies]


def _edit_bodies(block: Block, essay_id: str, report: Report) -> list[tuple[str, str]]:
    """The A line of each edit that can have one, without `A ` and number, after its rater."""
    bodies = []
    for edit, original in zip(block.essay.edits, block.originals, strict=True):
        name = edit_name(original)
        found = _tokens_of(edit, block.essay, essay_id, name, report)
        if found is None:
            continue
        words = found.span(block.essay.text, block.essay.tokens or ()).of(block.essay.text)
        body = annotation_body(edit, found, words, essay_id=essay_id, name=name, report=report)
        if body is not None:
            bodies.append((edit.rater, body))
    return bodies


def _tokens_of(edit: Edit, essay: Essay, essay_id: str, name: str, report: Report) -> TokenRange | None:
    tokens = essay.tokens or ()
    found = tokens_of_edit(edit, essay.text, tokens)
    if found is None:
        found = grown_to_tokens(edit, essay.text, tokens, is_tokenised=True)
        report(Loss(essay_id, name, GROWN if found else NO_TOKEN, changed=found is not None))
    return found


def _in_order(essay: Essay, edits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Edits in their order, and before them the no-ops of annotators who come earlier.

    Readers list annotators as they appear: where the order of edits would give another list, edits go by annotator.
    """
    raters = dict.fromkeys((*essay.annotators, *(rater for rater, _ in edits)))
    rank = {rater: place for place, rater in enumerate(raters)}
    appearance = [rank[rater] for rater in dict.fromkeys(rater for rater, _ in edits)]
    if appearance != sorted(appearance):
        edits = sorted(edits, key=lambda body: rank[body[0]])
    noops = noop_bodies(essay, {rater for rater, _ in edits})
    lines: list[tuple[str, str]] = []
    for rater, body in edits:
        for earlier in [other for other in noops if rank[other] <= rank[rater]]:
            lines += [(earlier, noop) for noop in noops.pop(earlier)]
        lines.append((rater, body))
    return lines + [(rater, noop) for rater, bodies in noops.items() for noop in bodies]


def _report_metadata(essay: Essay, report: Report) -> None:
    ours = {NOOP_LEFT_OUT} | ({NOOPS_AS_READ} if noops_as_read(essay) is not None else set())
    names = [name for name in essay.metadata if name not in ours]
    if names:
        report(Loss(essay.essay_id, f"metadata {', '.join(names)}", "M2 has no place for it"))


def _report_partial(essay: Essay, report: Report) -> None:
    """Raters who did not read the whole essay."""
    for rater in dict.fromkeys(edit.rater for edit in essay.edits if edit.rater not in essay.annotators):
        why = "M2 takes whoever has an A line to have read it all"
        report(Loss(essay.essay_id, f"annotators without {rater!r}", why, changed=True))


def _report_silent(silent: dict[tuple[str, ...], tuple[int, str]], numbers: AnnotatorNumbers, report: Report) -> None:
    """Essays without A lines of which a reader would get other annotators."""
    understood = numbers.annotators if len(numbers.annotators) == 1 else ()
    for annotators, (n_essays, essay_id) in silent.items():
        if annotators != understood:
            names = ", ".join(annotators) or "(none)"
            what = f"annotators {names} of {n_essays} essays without A lines, this the first"
            report(Loss(essay_id, what, f"read again they have {', '.join(understood) or 'none'}", changed=True))
