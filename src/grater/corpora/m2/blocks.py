"""Essays cut into blocks: tokenised sentences of one essay each, as M2 holds them.

Sentences and tokens are those of `grater.text`; the words of a block are joined by single spaces.  Every edit goes
to its sentence and onto whole tokens, grown and trimmed (Dahlmeier, Ng and Wu 2013, section 3), its alternatives
over the same tokens.  An edit across sentences, and one of white space alone, has no place in a block and is
reported; one that began or ended inside a word is kept, grown, and reported as changed.

An essay with tokens of its own is one block, and nothing cuts its words again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grater.corpora.formats import Loss, Report
from grater.corpora.identity import EssayIds
from grater.corpora.normalise import TokenEdit, normalise, shrink
from grater.model import Edit, Essay, Json, Span
from grater.text.sentences import sentence_spans
from grater.text.tokens import token_spans

ACROSS = "it goes across sentences"
BETWEEN = "it changes only the white space between sentences"
NO_TOKEN = "it changes no token, only white space"
GROWN = "it begins or ends inside a token, and was grown to whole ones"


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
    found = normalise(edit, text, tokens, is_tokenised=is_tokenised)
    if not edit.replacements:
        return TokenRange(found[0].start, found[0].end, ())
    changing = [token_edit for token_edit in found if not token_edit.is_empty]
    if not changing:
        return None
    start = min(token_edit.start for token_edit in changing)
    end = max(token_edit.end for token_edit in changing)
    words = [token.of(text) for token in tokens]
    return TokenRange(start, end, tuple(dict.fromkeys(_widened(one, start, end, words) for one in found)))


def _widened(found: TokenEdit, start: int, end: int, words: list[str]) -> str:
    if found.is_empty:
        return " ".join(words[start:end])
    return " ".join((*words[start : found.start], *(found.replacement or ()), *words[found.end : end]))


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
        found = _placed(edit, essay.essay_id, sentence, text, tokens, is_tokenised, report)
        if found is not None:
            originals.append(edit)
            kept.append(replace(edit, span=found.span(joined, spans), replacements=found.replacements))
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
    found = tokens_of_edit(local, text, tokens) if is_tokenised else None
    found = found or grown_to_tokens(local, text, tokens, is_tokenised=is_tokenised)
    if found is None:
        report(Loss(essay_id, edit_name(edit), NO_TOKEN))
    elif cuts_a_token(shrink(local.span, text), tokens):
        report(Loss(essay_id, edit_name(edit), GROWN, changed=True))
    return found


def cuts_a_token(span: Span, tokens: Sequence[Span]) -> bool:
    """Whether a span begins or ends inside a token."""
    for point in (span.start, span.end):
        index = bisect_right(tokens, point, key=lambda token: token.start) - 1
        if index >= 0 and tokens[index].start < point < tokens[index].end:
            return True
    return False
