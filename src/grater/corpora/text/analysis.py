"""A text as the detectors see it: sentences, words with exact offsets, tags, chunks.

Every text has an analysis: an empty one has no sentences, noise has words tagged as best they can be.  An essay that
carries its own tokens (an M2 block) is one sentence of just these.

Noun and verb chunks with their heads are in the manner of the CoNLL-2000 shared task (Tjong Kim Sang & Buchholz):
phrases without what follows their head, never nested.  Each tag becomes one letter, and two patterns are searched for
in the string of letters.

- NP: determiner, modifiers and nouns up to the last noun, the head (*a very big dog*); a pronoun; a determiner or
  number alone (*this*, *two*); determiner and adjective (*the poor*).  The clitic of the genitive starts a chunk of
  its own (*the boy* + *'s dog*), so that one chunk has one determiner; so does a noun of time (*school* +
  *yesterday*).
- VP: auxiliaries, *not* and adverbs between them, and a verb, the head (*has not really been seen*); an infinitive
  with its *to* is a chunk of its own (*wants* + *to go*).

The head is always the last word.  Nothing depends on articles, agreement or punctuation, so chunks hold on text with
such errors.  Departures from CoNLL-2000: *wants to go* is one chunk there; adverbs before the first verb are inside
it there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from grater.corpora.text.sentences import sentence_tokens
from grater.corpora.text.tags import PerceptronTagger, load_tagger
from grater.corpora.text.tokens import spans_of_words
from grater.model import Essay, Span

LETTERS = {
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS"), "n"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "j"),
    **dict.fromkeys(("RB", "RBR", "RBS"), "r"),
    **dict.fromkeys(("VB", "VBD", "VBP", "VBZ"), "v"),
    **dict.fromkeys(("PRP$", "WP$"), "s"),
    **dict.fromkeys(("PRP", "EX", "WP"), "h"),
    **dict.fromkeys(("DT", "WDT"), "d"),
    **dict.fromkeys(("HYPH", "AFX"), "y"),
    **dict.fromkeys(("FW", "GW"), "f"),
    **dict(zip(("PDT", "POS", "CD", "$", "CC", ",", "VBN", "VBG", "MD", "TO"), "poc$k,mgat", strict=True)),
}
_AUXILIARIES = (
    "be am is are was were been being 'm 're 's ’m ’re ’s have has had having 've 'd ’ve ’d do does did "
    "dont doesnt didnt isnt arent wasnt werent havent hasnt hadnt"
)
OF_WORDS = {
    **{(word, letter): "x" for word in _AUXILIARIES.split() for letter in "vmg"},
    **{(word, "n"): "u" for word in ("yesterday", "today", "tomorrow", "tonight")},
}
"""Letters that depend on the word as well: auxiliaries (x) and nouns of time (u)."""

FIRST = r"(?:r{0,3}j|[cnuf$])"
MORE = r"(?:r{0,3}[jmg]|[cnf$y]|(?<=j)(?:,|,?k)(?=r{0,3}j))"  # the last for *big and heavy*
NOUN_CHUNK = rf"p?(?:[dso]{MORE}{{0,40}}|{FIRST}{MORE}{{0,40}})?n|p?[dso]?\$?c{{1,40}}|[ds]r?j{{1,40}}|p?d|h|p|o?u"
VERB_CHUNK = r"tr{0,3}(?:[ax]r{0,3}){0,6}[vmgax]|(?:[ax]r{0,3}){0,6}[vmgax]"
PATTERN = re.compile(rf"(?P<NP>{NOUN_CHUNK})|(?P<VP>{VERB_CHUNK})")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A noun or verb phrase up to its head: token indices within the sentence, half-open."""

    kind: str
    start: int
    end: int
    head: int


@lru_cache(maxsize=1 << 16)
def _letter(word: str, tag: str) -> str:
    letter = LETTERS.get(tag, ".")
    return OF_WORDS.get((word.lower(), letter), letter)


@lru_cache(maxsize=1 << 14)
def _chunk(kind: str, span: tuple[int, int]) -> Chunk:
    start, end = span
    return Chunk(kind, start, end, end - 1)


def chunks(words: Sequence[str], tags: Sequence[str]) -> tuple[Chunk, ...]:
    """The chunks of a sentence, in order and disjoint."""
    letters = "".join(map(_letter, words, tags))
    return tuple([_chunk(match.lastgroup or "", match.span()) for match in PATTERN.finditer(letters)])


@dataclass(frozen=True, slots=True)
class Sentence:
    """One span, word and tag for each token; chunks by token index."""

    spans: tuple[Span, ...]
    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[Chunk, ...]


def analyse(essay: Essay | str, *, tagger: PerceptronTagger | None = None) -> tuple[Sentence, ...]:
    """The sentences of an essay or a raw text."""
    return analyse_all([essay], tagger=tagger)[0]


def analyse_all(
    essays: Iterable[Essay | str], *, tagger: PerceptronTagger | None = None
) -> list[tuple[Sentence, ...]]:
    """The same for many essays: their sentences are tagged together, which is faster for short ones."""
    tagger = tagger or load_tagger()
    per_essay = [list(_sentences(essay)) for essay in essays]
    tags = iter(tagger.tag_all([words for sentences in per_essay for _, words in sentences]))
    return [tuple(_sentence(spans, words, next(tags)) for spans, words in sentences) for sentences in per_essay]


def analyse_words(words: Sequence[str]) -> Sentence:
    """One ready-made sentence, as if written with a space between words; the offsets are of that text."""
    return _sentence(spans_of_words(words), tuple(words), load_tagger().tag(words))


def _sentence(spans: tuple[Span, ...], words: tuple[str, ...], tags: tuple[str, ...]) -> Sentence:
    return Sentence(spans, words, tags, chunks(words, tags))


def _sentences(essay: Essay | str) -> Iterator[tuple[tuple[Span, ...], tuple[str, ...]]]:
    """The spans and words of each sentence."""
    text = essay if isinstance(essay, str) else essay.text
    if isinstance(essay, Essay) and essay.tokens is not None:
        if essay.tokens:
            yield essay.tokens, _words(text, essay.tokens)
        return
    yield from sentence_tokens(text)


def _words(text: str, spans: Sequence[Span]) -> tuple[str, ...]:
    return tuple([text[span.start : span.end] for span in spans])
