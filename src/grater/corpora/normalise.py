"""Alignment of words by minimum edit distance, and normalisation of edits to tokens.

Insertions, deletions and substitutions cost one each (Levenshtein 1966). Among the cheapest alignments, the one whose
pairs share the longest prefixes wins, since a word and its correction are often forms of one lemma (from *their
possible* to *possibility*, *their* is deleted); then deletions and insertions are as early as possible. Past
`MOST_CELLS` cells (a rewritten text, not a correction) words are paired in order instead, to stay linear.

**Normalisation** turns edits of raw text into edits of tokens, so that annotators can be compared.

Dahlmeier, Ng & Wu 2013 (NUCLE), section 3: the selected text is expanded (*grown*) to whitespace boundaries, text and
correction are *tokenised* and *trimmed* of common tokens at either end, and the rest is *projected* onto single
tokens by minimum edit distance. Thus `e` to `ed` in *use* is *use* to *used*, and on *conduct survey* both *conduct*
to *conduct a* and *survey* to *a survey* insert *a* between the two. Where the paper is silent:

- Whitespace at the edge of a selection is accidental and dropped (73 of the 2,397 edits of CoNLL-2014's first
  annotator have it).
- A selection of nothing but the whitespace between two words joins them, with the correction in between: `-` makes
  *well known* *well-known*, an empty one *some thing* *something*.
- Words are never joined: if an edge of the selection lies between two tokens, and a letter or digit of the correction
  would be next to one of the text, or a mark next to the same mark, a space is inserted. Thus `,` to `because` in
  *late,* gives *late because*, and *a* inserted right before *survey* is a separate word, as in the official
  converter of BEA-2019. Only here, and at the edges above, can a normalised edit give other tokens than the raw edit
  applied to the raw text.
- An error found but not corrected cannot be trimmed, so it is not grown either: it covers the tokens it touches.
- In an already tokenised essay, an edit on token boundaries is unchanged, and replacements are split at whitespace.
- An edit that changes no token becomes an empty one: no token, no replacement, at its first token.

Spans must lie inside the text; readers see to that.

*Blocks* are tokenised sentences of one essay each, as M2 holds them (`cut`). Sentences and tokens are those of
`grater.corpora.text`; the words of a block are joined by single spaces. Every edit goes to its sentence and onto
whole tokens, grown and trimmed, its alternatives over the same tokens. Edits across sentences and edits of only white
space do not fit a block and are reported; an edit that began or ended inside a word is kept, expanded, and reported
as changed. An essay with its own tokens is one block, and is not tokenised again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TypeAlias

from grater.corpora.formats import EssayIds, Loss, Report, edit_name
from grater.corpora.merge import first_difference, shared_ends
from grater.corpora.text.sentences import sentence_spans
from grater.corpora.text.tokens import spans_of_words, token_spans, tokens_of
from grater.model import Edit, Essay, Json, Span

Cost: TypeAlias = tuple[int, int]
"""Edit distance, and characters shared, counted down."""

Pair: TypeAlias = tuple[str | None, str | None]
"""A word of the source and its word in the target; None on one side is an insertion or a deletion."""

MOST_CELLS = 1_000_000


def align(source: Sequence[str], target: Sequence[str]) -> list[Pair]:
    """The pairs of the best alignment, in order."""
    if len(source) * len(target) > MOST_CELLS:
        return list(zip_longest(source, target))
    costs = _costs(source, target)
    pairs: list[Pair] = []
    i, j = len(source), len(target)
    while i or j:
        if i and j and costs[i][j] == _paired(costs[i - 1][j - 1], source[i - 1], target[j - 1]):
            i, j = i - 1, j - 1
            pairs.append((source[i], target[j]))
        elif i and costs[i][j] == _dearer(costs[i - 1][j]):
            i -= 1
            pairs.append((source[i], None))
        else:
            j -= 1
            pairs.append((None, target[j]))
    return pairs[::-1]


def _costs(source: Sequence[str], target: Sequence[str]) -> list[list[Cost]]:
    """The lowest cost for every prefix of the source and every prefix of the target."""
    costs: list[list[Cost]] = [[(j, 0) for j in range(len(target) + 1)]]
    for i, word in enumerate(source, 1):
        above = costs[-1]
        row: list[Cost] = [(i, 0)]
        for j, other in enumerate(target):
            row.append(min(_paired(above[j], word, other), _dearer(above[j + 1]), _dearer(row[j])))
        costs.append(row)
    return costs


def _paired(cost: Cost, word: str, other: str) -> Cost:
    distance, shared = cost
    if word == other:
        return distance, shared - len(word)
    return distance + 1, shared - first_difference(word.lower(), other.lower())


def _dearer(cost: Cost) -> Cost:
    return cost[0] + 1, cost[1]


@dataclass(frozen=True, slots=True)
class TokenEdit:
    """One replacement of the tokens [start, end); an insertion before token `start` if the two are equal.

    `replacement` is None if the error was detected but not corrected; `edit` is the original edit.
    """

    start: int
    end: int
    replacement: tuple[str, ...] | None
    tag: str
    rater: str
    edit: Edit

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return self.start == self.end and self.replacement == ()


@dataclass(frozen=True, slots=True)
class TokenMark:
    """What one edit says about one token, or about the gap before it.

    `correction` is the corrected text in the token's place, including the token itself if it stays; for a gap, the
    inserted text; None if the error was detected but not corrected.
    """

    index: int
    is_gap: bool
    tag: str
    rater: str
    correction: tuple[str, ...] | None


def token_texts(text: str) -> tuple[str, ...]:
    """The tokens of a raw text, as strings."""
    return tuple(token.of(text) for token in token_spans(text))


def normalised_edits(essay: Essay) -> tuple[TokenEdit, ...]:
    """Every edit of an essay in tokens, with alternatives listed separately, in the order of the edits."""
    tokens, is_tokenised = tokens_of(essay), essay.tokens is not None
    each = (normalise(edit, essay.text, tokens, is_tokenised=is_tokenised) for edit in essay.edits)
    return tuple(token_edit for token_edits in each for token_edit in token_edits)


def normalise(edit: Edit, text: str, tokens: Sequence[Span], *, is_tokenised: bool = False) -> tuple[TokenEdit, ...]:
    """One token edit for each alternative replacement, expanded and trimmed.

    `is_tokenised` means that `tokens` came with the text, as from M2, and are not those of `text.tokens`.
    """
    span = shrink(edit.span, text)
    start, end = touched_tokens(span, tokens)
    if not edit.replacements:
        return (TokenEdit(start, end, None, edit.tag, edit.rater, edit),)
    touched = tokens[start:end]
    is_aligned = not touched or (span.start == touched[0].start and span.end == touched[-1].end)
    stays = is_tokenised and is_aligned
    grown = [(span, words) if stays else grow(span, words, text) for words in edit.replacements]
    split = str.split if is_tokenised else token_texts
    token_edits = []
    for wide, words in grown:
        start, end = touched_tokens(wide, tokens)
        token_edit = TokenEdit(start, end, tuple(split(words)), edit.tag, edit.rater, edit)
        token_edits.append(trim(token_edit, [token.of(text) for token in tokens[start:end]]))
    return tuple(token_edits)


def touched_tokens(span: Span, tokens: Sequence[Span]) -> tuple[int, int]:
    """The tokens that a span touches; between two tokens, the place between them."""
    start = bisect_right(tokens, span.start, key=lambda token: token.end)
    end = bisect_left(tokens, span.end, key=lambda token: token.start)
    return start, max(start, end)


def shrink(span: Span, text: str) -> Span:
    """The span without whitespace at its edges; a span of only whitespace is unchanged."""
    words = span.of(text)
    stripped = words.strip()
    if not stripped:
        return span
    start = span.start + words.index(stripped[0])
    return Span(start, start + len(stripped))


def grow(span: Span, replacement: str, text: str) -> tuple[Span, str]:
    """The span expanded to whitespace, and the replacement with the added text, by the module's rules."""
    span = shrink(span, text)
    start, end = span.start, span.end
    while start > 0 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and not text[end].isspace():
        end += 1
    grown = Span(start, end)
    left, right = text[grown.start : span.start], text[span.end : grown.end]
    if len(span) and not span.of(text).strip():
        if not (left and right):  # one end of a longer gap, or the rim of the text: no two words to join
            point = span.end if left else span.start
            return Span(point, point), replacement.strip()
        if not replacement:
            return grown, left + right
    before = " " if _welds(left, replacement or right) and _is_border(text, grown, span.start) else ""
    after = " " if _welds(replacement, right) and _is_border(text, grown, span.end) else ""
    return grown, f"{left}{before}{replacement}{after}{right}".strip()


def _welds(left: str, right: str) -> bool:
    last, first = left[-1:], right[:1]
    return (last.isalnum() and first.isalnum()) or last == first != ""


def _is_border(text: str, grown: Span, offset: int) -> bool:
    """Whether a token begins or ends at an offset of a span aligned with whitespace."""
    return any(offset - grown.start in (token.start, token.end) for token in token_spans(grown.of(text)))


def trim(token_edit: TokenEdit, source: Sequence[str]) -> TokenEdit:
    """The edit without unchanged tokens at its start, then at its end; `source` are the tokens it covers."""
    target = token_edit.replacement
    if target is None:
        return token_edit
    if tuple(source) == target:
        return replace(token_edit, end=token_edit.start, replacement=())
    first, last = shared_ends(source, target)
    start, end = token_edit.start + first, token_edit.end - last
    return replace(token_edit, start=start, end=end, replacement=target[first : len(target) - last])


def project(token_edit: TokenEdit, tokens_text: Sequence[str], *, gaps: bool = False) -> tuple[TokenMark, ...]:
    """What the edit says about each token, in order, without tokens that stay the same.

    An insertion marks the token after it, at the end of the text or of a longer edit the token before it, or with
    `gaps` a separate unit. An edit that changes nothing, and an insertion into an empty text, mark nothing.
    """
    if token_edit.replacement is None:
        marks = [_mark(token_edit, index, None) for index in range(token_edit.start, token_edit.end)]
        return tuple(marks or _inserted(token_edit, None, tokens_text, gaps))
    if token_edit.start == token_edit.end:
        words = token_edit.replacement
        return tuple(_inserted(token_edit, words, tokens_text, gaps)) if words else ()
    return tuple(_aligned(token_edit, tokens_text[token_edit.start : token_edit.end], gaps))


def _mark(
    token_edit: TokenEdit, index: int, correction: tuple[str, ...] | None, *, is_gap: bool = False
) -> TokenMark:
    return TokenMark(index, is_gap, token_edit.tag, token_edit.rater, correction)


def _inserted(
    token_edit: TokenEdit, words: tuple[str, ...] | None, tokens_text: Sequence[str], gaps: bool
) -> list[TokenMark]:
    if gaps:
        return [_mark(token_edit, token_edit.start, words, is_gap=True)]
    if not tokens_text:
        return []
    if token_edit.start < len(tokens_text):
        correction = None if words is None else (*words, tokens_text[token_edit.start])
        return [_mark(token_edit, token_edit.start, correction)]
    correction = None if words is None else (tokens_text[-1], *words)
    return [_mark(token_edit, len(tokens_text) - 1, correction)]


def _aligned(token_edit: TokenEdit, source: Sequence[str], gaps: bool) -> list[TokenMark]:
    becomes, put_in = _fates(source, token_edit.replacement or ())
    if not gaps:
        becomes = [new + words for new, words in zip(put_in, becomes, strict=False)]
        becomes[-1] += put_in[-1]
    marks: list[TokenMark] = []
    for index, words in enumerate(put_in):
        if gaps and words:
            marks.append(_mark(token_edit, token_edit.start + index, words, is_gap=True))
        if index < len(source) and becomes[index] != (source[index],):
            marks.append(_mark(token_edit, token_edit.start + index, becomes[index]))
    return marks


def _fates(source: Sequence[str], target: Sequence[str]) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """The replacement of each token, and the insertions before each token and at the end."""
    becomes: list[tuple[str, ...]] = []
    put_in: list[tuple[str, ...]] = [()]
    for word, other in align(source, target):
        new = () if other is None else (other,)
        if word is None:
            put_in[-1] += new
        else:
            becomes.append(new)
            put_in.append(())
    return becomes, put_in


def corrected_text(text: str, edits: Iterable[Edit]) -> str:
    """The text with first alternatives applied; of edits that overlap, only the first in the text."""
    parts, at = list[str](), 0
    for edit in sorted(edits, key=lambda edit: (edit.span.start, len(edit.span) > 0)):
        if edit.span.start < at or not edit.replacements:
            continue
        parts += [text[at : edit.span.start], f" {edit.replacements[0]} "]
        at = edit.span.end
    return " ".join("".join([*parts, text[at:]]).split())


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
        """The range in code points: an insertion is at the start of its token, or at the end of the text."""
        if self.start < self.end:
            return Span(tokens[self.start].start, tokens[self.end - 1].end)
        point = tokens[self.start].start if self.start < len(tokens) else len(text)
        return Span(point, point)


@dataclass(frozen=True, slots=True)
class Block:
    """A sentence as an essay; `originals` are its edits as they were before the essay was cut."""

    essay: Essay
    originals: tuple[Edit, ...]


def has_whole_tokens(essay: Essay) -> bool:
    """Whether an essay has its own tokens, all non-empty and without white space."""
    if essay.tokens is None:
        return False
    words = [token.of(essay.text) for token in essay.tokens]
    return all(word.split() == [word] for word in words)


def tokens_of_edit(edit: Edit, text: str, tokens: Sequence[Span]) -> TokenRange | None:
    """The tokens of an edit that begins and ends at token boundaries; None for any other."""
    start = bisect_right(tokens, edit.span.start, key=lambda token: token.start) - 1
    if len(edit.span) == 0 and edit.span.start == len(text):
        return TokenRange(len(tokens), len(tokens), edit.replacements)
    if start < 0 or tokens[start].start != edit.span.start:
        return None
    if len(edit.span) == 0:
        return TokenRange(start, start, edit.replacements)
    last = bisect_right(tokens, edit.span.end, key=lambda token: token.end) - 1
    if last < start or tokens[last].end != edit.span.end:
        return None
    return TokenRange(start, last + 1, edit.replacements)


def grown_to_tokens(edit: Edit, text: str, tokens: Sequence[Span], *, is_tokenised: bool) -> TokenRange | None:
    """The tokens that an edit changes, with all alternatives over the same ones; None if it changes none."""
    token_edits = normalise(edit, text, tokens, is_tokenised=is_tokenised)
    if not edit.replacements:
        return TokenRange(token_edits[0].start, token_edits[0].end, ())
    changing = [token_edit for token_edit in token_edits if not token_edit.is_empty]
    if not changing:
        return None
    start = min(token_edit.start for token_edit in changing)
    end = max(token_edit.end for token_edit in changing)
    words = [token.of(text) for token in tokens]
    widened = [
        " ".join(words[start:end])
        if one.is_empty
        else " ".join((*words[start : one.start], *(one.replacement or ()), *words[one.end : end]))
        for one in token_edits
    ]
    return TokenRange(start, end, tuple(dict.fromkeys(widened)))


def cut(essay: Essay, ids: EssayIds, report: Report) -> Iterator[Block]:
    """The blocks of an essay, in order, each with its document and position there."""
    text, is_tokenised = essay.text, has_whole_tokens(essay)
    sentences = [Span(0, len(text))] if is_tokenised else list(sentence_spans(text))
    by_sentence: list[list[Edit]] = [[] for _ in sentences]
    for edit in essay.edits:
        span = shrink(edit.span, text)  # a point between two sentences belongs to the first
        index = max(0, bisect_right(sentences, span.start, key=lambda sentence: sentence.start) - 1)
        if not sentences:
            report(Loss(essay.essay_id, edit_name(edit), BETWEEN))
        elif len(span) == 0 or sentences[index].covers(span):
            by_sentence[index].append(edit)
        else:
            why = BETWEEN if not span.of(text).strip() else ACROSS
            report(Loss(essay.essay_id, edit_name(edit), why))
    for sentence, edits in zip(sentences, by_sentence, strict=True):
        yield _block(essay, sentence, edits, ids, report, is_tokenised=is_tokenised)


def _block(
    essay: Essay, sentence: Span, edits: list[Edit], ids: EssayIds, report: Report, *, is_tokenised: bool
) -> Block:
    text = sentence.of(essay.text)
    tokens = (essay.tokens or ()) if is_tokenised else token_spans(text)
    words = [token.of(text) for token in tokens]
    joined, spans = " ".join(words), spans_of_words(words)
    originals, kept = [], []
    for edit in edits:
        start, end = (min(max(at - sentence.start, 0), len(text)) for at in (edit.span.start, edit.span.end))
        local = replace(edit, span=Span(start, end))
        place = tokens_of_edit(local, text, tokens) if is_tokenised else None
        place = place or grown_to_tokens(local, text, tokens, is_tokenised=is_tokenised)
        if place is None:
            report(Loss(essay.essay_id, edit_name(edit), NO_TOKEN))
            continue
        if _cuts_a_token(shrink(local.span, text), tokens):
            report(Loss(essay.essay_id, edit_name(edit), GROWN, changed=True))
        originals.append(edit)
        kept.append(replace(edit, span=place.span(joined, spans), replacements=place.replacements))
    metadata: dict[str, Json] = {"document": essay.essay_id, "document_start": sentence.start}
    block = Essay(ids.of_text(joined), joined, tuple(kept), essay.annotators, spans, metadata, essay.line)
    return Block(block, tuple(originals))


def _cuts_a_token(span: Span, tokens: Sequence[Span]) -> bool:
    """Whether a span begins or ends inside a token."""
    for point in (span.start, span.end):
        index = bisect_right(tokens, point, key=lambda token: token.start) - 1
        if index >= 0 and tokens[index].start < point < tokens[index].end:
            return True
    return False
