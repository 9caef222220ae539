"""Essays into M2, with a report of all that M2 cannot hold.

An essay that M2 can hold as it stands (its tokens are those of `str.split()`, and its text is one line) is written
so: what was read from M2 comes out byte for byte.  Any other is cut into blocks.

*Blocks* are tokenised sentences of one essay each.  Sentences and tokens are those of `grater.corpora.text`; the
words of a block are joined by single spaces.  Every edit goes to its sentence and onto whole tokens, grown and
trimmed (Dahlmeier, Ng and Wu 2013, section 3), its alternatives over the same tokens.  An edit across sentences, and
one of white space alone, has no place in a block and is reported; one that began or ended inside a word is kept,
grown, and reported as changed.

An essay with tokens of its own is one block, and nothing cuts its words again.

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

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from grater.corpora.formats import Loss, Report
from grater.corpora.identity import EssayIds
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
from grater.corpora.normalise import TokenEdit, normalise, shrink
from grater.corpora.text.sentences import sentence_spans
from grater.corpora.text.tokens import token_spans
from grater.model import Edit, Essay, Json, Span

ACROSS = "it crosses sentences"
BETWEEN = "it changes only the white space between sentences"
NO_TOKEN = "it changes no token, only white space"
GROWN = "it begins or ends inside a token, and was widened to whole tokens"


@dataclass(frozen=True, slots=True)
class TokenRange:
    """The tokens [start, end) that an edit replaces, and with what; an insertion where the two are equal."""

    start: int
    end: int
    replacements: tuple[str, ...]

    def span(self, text: str, tokens: Sequence[Span]) -> Span:
        """The range in code points: an insertion stands at the start of its token, or at the end of the text."""
        if self.start < self.end:
            return Span(tokens[self.start].start, tokens[self.end - 1].end)
        point = tokens[self.start].start if self.start < len(tokens) else len(text)
        return Span(point, point)


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence as an essay; `originals` are its edits as they stood in the essay that was cut, one for each."""

    essay: Essay
    originals: tuple[Edit, ...]


def cut(essay: Essay, ids: EssayIds, report: Report) -> Iterator[Block]:
    """The blocks of an essay, in order; each knows its document and where in it it stood."""
    sentences = [Span(0, len(essay.text))] if has_whole_tokens(essay) else list(sentence_spans(essay.text))
    by_sentence: list[list[Edit]] = [[] for _ in sentences]
    for edit in essay.edits:
        index, why = _sentence_of(edit, essay.text, sentences)
        if why:
            report(Loss(essay.essay_id, edit_name(edit), why))
        else:
            by_sentence[index].append(edit)
    for sentence, edits in zip(sentences, by_sentence, strict=True):
        yield _block(essay, sentence, edits, ids, report)


def has_whole_tokens(essay: Essay) -> bool:
    """Whether an essay brings its own tokens, and no token is empty or holds white space."""
    if essay.tokens is None:
        return False
    words = [token.of(essay.text) for token in essay.tokens]
    return all(word.split() == [word] for word in words)


def edit_name(edit: Edit) -> str:
    """How reports name an edit."""
    return f"edit {edit.span.start}-{edit.span.end} {edit.tag}"


def tokens_of_edit(edit: Edit, text: str, tokens: Sequence[Span]) -> TokenRange | None:
    """The tokens of an edit that begins and ends where tokens do; nothing for any other."""
    start = bisect_right(tokens, edit.span.start, key=lambda token: token.start) - 1
    if len(edit.span) == 0 and edit.span.start == len(text):
        return TokenRange(len(tokens), len(tokens), edit.replacements)
    if start < 0 or tokens[start].start != edit.span.start:
        return None
    if len(edit.span) == 0:
        return TokenRange(start, start, edit.replacements)
    last = bisect_right(tokens, edit.span.end, key=lambda token: token.end) - 1
    return (
        TokenRange(start, last + 1, edit.replacements)
        if last >= start and tokens[last].end == edit.span.end
        else None
    )


def grown_to_tokens(edit: Edit, text: str, tokens: Sequence[Span], *, is_tokenised: bool) -> TokenRange | None:
    """The tokens that an edit changes, its alternatives over the same ones; nothing if it changes none."""
    token_edits = normalise(edit, text, tokens, is_tokenised=is_tokenised)
    if not edit.replacements:
        return TokenRange(token_edits[0].start, token_edits[0].end, ())
    changing = [token_edit for token_edit in token_edits if not token_edit.is_empty]
    if not changing:
        return None
    start = min(token_edit.start for token_edit in changing)
    end = max(token_edit.end for token_edit in changing)
    words = [token.of(text) for token in tokens]
    return TokenRange(start, end, tuple(dict.fromkeys(_widened(one, start, end, words) for one in token_edits)))


def _widened(token_edit: TokenEdit, start: int, end: int, words: list[str]) -> str:
    if token_edit.is_empty:
        return " ".join(words[start:end])
    return " ".join((*words[start : token_edit.start], *(token_edit.replacement or ()), *words[token_edit.end : end]))


def _sentence_of(edit: Edit, text: str, sentences: Sequence[Span]) -> tuple[int, str]:
    """The sentence that an edit belongs to, or else why there is none; a point between two belongs to the first."""
    span = shrink(edit.span, text)
    index = max(0, bisect_right(sentences, span.start, key=lambda sentence: sentence.start) - 1)
    if not sentences:
        return 0, BETWEEN
    if len(span) == 0 or sentences[index].covers(span):
        return index, ""
    return index, BETWEEN if not span.of(text).strip() else ACROSS


def _block(essay: Essay, sentence: Span, edits: list[Edit], ids: EssayIds, report: Report) -> Block:
    text, is_tokenised = sentence.of(essay.text), has_whole_tokens(essay)
    tokens = (essay.tokens or ()) if is_tokenised else token_spans(text)
    words = [token.of(text) for token in tokens]
    joined, spans = " ".join(words), joined_spans(words)
    originals, kept = [], []
    for edit in edits:
        token_range = _placed(edit, essay.essay_id, sentence, text, tokens, is_tokenised, report)
        if token_range is not None:
            originals.append(edit)
            kept.append(replace(edit, span=token_range.span(joined, spans), replacements=token_range.replacements))
    metadata: dict[str, Json] = {"document": essay.essay_id, "document_start": sentence.start}
    block = Essay(ids.of_text(joined), joined, tuple(kept), essay.annotators, spans, metadata, essay.line)
    return Block(block, tuple(originals))


def joined_spans(words: Sequence[str]) -> tuple[Span, ...]:
    """Where words stand once they are joined by single spaces."""
    spans, start = [], 0
    for word in words:
        spans.append(Span(start, start + len(word)))
        start += len(word) + 1
    return tuple(spans)


def _placed(
    edit: Edit, essay_id: str, sentence: Span, text: str, tokens: Sequence[Span], is_tokenised: bool, report: Report
) -> TokenRange | None:
    """An edit of the essay on the tokens of its sentence."""
    start, end = (min(max(at - sentence.start, 0), len(text)) for at in (edit.span.start, edit.span.end))
    local = replace(edit, span=Span(start, end))
    token_range = tokens_of_edit(local, text, tokens) if is_tokenised else None
    token_range = token_range or grown_to_tokens(local, text, tokens, is_tokenised=is_tokenised)
    if token_range is None:
        report(Loss(essay_id, edit_name(edit), NO_TOKEN))
    elif cuts_a_token(shrink(local.span, text), tokens):
        report(Loss(essay_id, edit_name(edit), GROWN, changed=True))
    return token_range


def cuts_a_token(span: Span, tokens: Sequence[Span]) -> bool:
    """Whether a span begins or ends inside a token."""
    for point in (span.start, span.end):
        index = bisect_right(tokens, point, key=lambda token: token.start) - 1
        if index >= 0 and tokens[index].start < point < tokens[index].end:
            return True
    return False


OURS = frozenset({CORRECTION_AS_READ, REQUIRED_AS_READ, COMMENT_AS_READ})


def annotation_body(
    edit: Edit, token_range: TokenRange, words: str, *, essay_id: str, name: str, report: Report
) -> str | None:
    """The body for an edit of `words`, or nothing where no line says it; reports call it `name`."""
    tag = edit.tag
    if not token_range.replacements and tag not in UNCORRECTED:
        why = f"M2 can say 'found but not corrected' only with the tag {UNKNOWN}; the tag {tag!r} is lost"
        report(Loss(essay_id, name, why, changed=True))
        tag = UNKNOWN
    correction = _correction(edit, token_range, words)
    required = edit.extra.get(REQUIRED_AS_READ, REQUIRED)
    required = required if isinstance(required, str) else REQUIRED
    fields = [f"{token_range.start} {token_range.end}", tag, correction, required]
    is_same = replacements_of(correction, tag=tag, words=words) == token_range.replacements
    if tag == NOOP or not is_same or not _is_safe(fields):
        report(Loss(essay_id, name, "an A line with it would be read as something else"))
        return None
    _report_extra(edit, name, essay_id, report)
    return SEPARATOR.join((*fields, _comment(edit, name, essay_id, report)))


def on_one_line(edit: Edit, essay_id: str, report: Report) -> Edit:
    """The edit with its line ends changed to spaces."""
    texts = (*edit.replacements, edit.tag, edit.comment)
    if not any("\n" in text for text in texts):
        return edit
    report(Loss(essay_id, edit_name(edit), "it contains a line end, which became a space", changed=True))
    *replacements, tag, comment = (text.replace("\n", " ") for text in texts)
    return replace(edit, replacements=tuple(replacements), tag=tag, comment=comment)


def _correction(edit: Edit, token_range: TokenRange, words: str) -> str:
    """The correction as it was read, if that is still what it means, else in our spelling."""
    as_read = edit.extra.get(CORRECTION_AS_READ)
    if isinstance(as_read, str) and replacements_of(as_read, tag=edit.tag, words=words) == token_range.replacements:
        return as_read
    return correction_of(token_range.replacements, words=words)


def _comment(edit: Edit, name: str, essay_id: str, report: Report) -> str:
    field = comment_field(edit.comment)
    if not edit.comment and isinstance(as_read := edit.extra.get(COMMENT_AS_READ), str) and not comment_of(as_read):
        return as_read
    if comment_of(field) == edit.comment and _is_safe([field]):
        return field
    report(Loss(essay_id, f"comment of {name}", "an A line with it would be read as something else"))
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
            report(Loss(essay.essay_id, "essay id", "M2 has no ids; readers make one from the text"))
        yield Block(essay, edits)
        return
    blocks = list(cut(essay, ids, report))
    report(Loss(essay.essay_id, "essay id", "M2 has no ids; readers make one from each sentence"))
    if blocks:
        why = "it was tokenised and split into sentences"
        report(Loss(essay.essay_id, "text", why, changed=True))
    else:
        report(Loss(essay.essay_id, "text", "it has no words, and M2 stores sentences"))
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
        token_range = _tokens_of(edit, block.essay, essay_id, name, report)
        if token_range is None:
            continue
        words = token_range.span(block.essay.text, block.essay.tokens or ()).of(block.essay.text)
        body = annotation_body(edit, token_range, words, essay_id=essay_id, name=name, report=report)
        if body is not None:
            bodies.append((edit.rater, body))
    return bodies


def _tokens_of(edit: Edit, essay: Essay, essay_id: str, name: str, report: Report) -> TokenRange | None:
    tokens = essay.tokens or ()
    token_range = tokens_of_edit(edit, essay.text, tokens)
    if token_range is None:
        token_range = grown_to_tokens(edit, essay.text, tokens, is_tokenised=True)
        report(Loss(essay_id, name, GROWN if token_range else NO_TOKEN, changed=token_range is not None))
    return token_range


def _in_order(essay: Essay, edits: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Edits in their order, and before them the no-ops of annotators who come earlier.

    Readers list annotators as they appear: where the order of edits would give another list, edits go by annotator.
    """
    raters = dict.fromkeys((*essay.annotators, *(rater for rater, _ in edits)))
    rank = {rater: number for number, rater in enumerate(raters)}
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
        why = "M2 takes everyone with an A line to have read it all"
        report(Loss(essay.essay_id, f"annotators without {rater!r}", why, changed=True))


def _report_silent(silent: dict[tuple[str, ...], tuple[int, str]], numbers: AnnotatorNumbers, report: Report) -> None:
    """Essays without A lines of which a reader would get other annotators."""
    understood = numbers.annotators if len(numbers.annotators) == 1 else ()
    for annotators, (n_essays, essay_id) in silent.items():
        if annotators != understood:
            names = ", ".join(annotators) or "(none)"
            what = f"annotators {names} of {n_essays} essays without A lines, this one first"
            report(Loss(essay_id, what, f"read again they have {', '.join(understood) or 'none'}", changed=True))
