"""Words of a raw text, Penn-Treebank-like, with exact offsets.

The conventions are those of the Penn Treebank (`do|n't`, `it|'s`, `can|not`, `$|5`, `50|%`, quotes and brackets
apart, hyphenated and slashed words whole) except where learner text or offsets ask for more:

- *Local*: the text is cut at whitespace first (NBSP and its like count), and a piece between whitespace always gives
  the same tokens, whatever is next to it; a token alone gives itself.  So a correction and a text are tokenised
  alike (see `corpora.normalise`).
- An abbreviation keeps its full stop, also at the end of a sentence (as in Universal Dependencies; the Penn Treebank
  takes it away there).  Every other full stop is a separate token, also where the space after it is missing
  (`school.Then`, `risk,the`), but for URLs, domains, file names, decimals and times.
- A run of one mark (`...`, `--`, `!!`, `?!`) is one token.  The quotes `''` and two backticks are one token.
- A backtick or an acute accent may stand for an apostrophe (`don`t`).
- Combining marks and invisible format characters stay with the character before them; an emoji, with its skin tone
  and joined by ZWJ, is one token; so is a flag.  Text without spaces (Chinese, Thai) is not cut into words.

Tokens are never empty, never hold whitespace, are disjoint and in order, and cover every character that is not
whitespace.  Every pattern is bounded or possessive, so the time is linear on any input.

Words that keep their full stop are in two lists: those that never end a sentence, and those that may.
Kiss & Strunk 2006 ("Unsupervised Multilingual Sentence Boundary Detection", Computational Linguistics 32:4) learn
abbreviations from a corpus; one essay is too small to learn from, so these are listed.  Words that are also common
words of English (no, sat, sun, mar, art) are left out: a learner who writes *no.* has ended a sentence.  Case counts
where it tells the two apart (*Dr.*, *Wed.*); lower-case entries are found in any case.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

from grater.model import Essay, Span

_NEVER_FINAL = (
    "Mr Mrs Ms Mx Dr Prof St Mt Rev Gen Col Capt Cpt Lt Sgt Maj Gov Sen Rep Hon Messrs Mme Mlle Fr "
    "Fig Figs fig figs Eq Eqs Vol Vols vol vols Ch pp vs cf viz approx incl e.g i.e Nos nos"
)
NEVER_FINAL = frozenset(_NEVER_FINAL.split())
"""A name, a number or the rest of the sentence must follow."""

_MAY_BE_FINAL = (
    "etc al Jr Sr Inc Ltd Co Corp Bros Dept dept Univ Assn Ave Blvd Rd Ph.D B.Sc M.Sc B.Ed M.Ed M.Phil B.Eng M.Eng "
    "Jan Feb Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue Tues Wed Thu Thur Thurs Fri a.m p.m"
)
MAY_BE_FINAL = frozenset(_MAY_BE_FINAL.split())
"""The capital of the next word decides."""

ABBREVIATIONS = NEVER_FINAL | MAY_BE_FINAL


Piece: TypeAlias = tuple[int, int]
"""Start and end of a token within its chunk."""

LONGEST_CACHED = 40

PUNCTUATION = (
    r"""!"#$%&'()*+,\-./:;<=>?@\[\\\]^`{|}~"""
    "¡-©«¬®-±´¶-¸»¿×÷"  # Latin-1, without ª º µ and the soft hyphen
    "\u037e\u0387\u055a-\u055f\u0589\u05be\u05c0\u05c3\u05c6\u05f3\u05f4"  # Greek, Armenian, Hebrew
    "\u060c\u060d\u061b\u061e\u061f\u066a-\u066d\u06d4\u0964\u0965\u1361-\u1368"  # Arabic, Devanagari, Ethiopic
    "\u2010-\u2027\u2030-\u205e\u20a0-\u20cf"  # dashes, quotes, ellipsis; currencies
    "\u2e00-\u2e7f\u3001-\u3003\u3008-\u3020\u3030\ufe10-\ufe19\ufe30-\ufe6b"
    "\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffe6"  # full-width forms
)
PICTURES = "\u2190-\u2bff\U0001f000-\U0001faff"
EXTEND = (  # combining marks of no script of their own, ZWJ and ZWNJ, variation selectors, skin tones, emoji tags
    "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\U000e0100-\U000e01ef"
)
W = rf"[^\s{PUNCTUATION}{PICTURES}]"
LETTER = r"[^\W\d_]"
APOSTROPHE = "['’´`]"
TRAILING = r"""\s<>"“”'’.,;:!?…)\]}"""

SITES = "com|org|net|edu|gov|mil|info|biz|io|tv|uk|de|fr|cn|jp|sg|hk|eu|au|nz"
FILES = (
    "pdf|docx?|xlsx?|pptx?|odt|txt|rtf|csv|tsv|jsonl?|xml|sgml|m2|html?|md|py|ipynb|js|css|exe|zip|gz|tar|"
    "jpe?g|png|gif|svg|mp[34]|wav|avi|mov"
)
DEGREES = r"Ph\.D|[BM]\.(?:Sc|Ed|Phil|Eng|Com)"
STOPPED = "|".join(re.escape(word) for word in sorted(ABBREVIATIONS, key=len, reverse=True) if "." not in word)

URL = rf"(?:(?i:https?|ftp)://|(?i:www)\.)(?:[^\s<>\"“”]*[^{TRAILING}])?"
EMAIL = r"[\w.+-]{1,64}+@[\w-]{1,63}+(?:\.[\w-]{1,63}+){1,8}+"
NAME = (  # a domain with its path, or a file name
    rf"[\w-]{{1,63}}+(?:\.[\w-]{{1,63}}+){{0,8}}?\.(?:(?:{SITES})(?!{W}|\.{W})(?:/(?:\S*[^{TRAILING}])?)?|(?i:{FILES})(?!{W}))"
)
ACRONYM = rf"(?:{LETTER}(?:\.{LETTER})+(?!{W})|(?:{DEGREES})(?!{W}))(?:\.(?!\.))?"
ABBREVIATION = rf"(?:(?:{STOPPED}|(?i:etc))|[A-HJ-ZÀ-ÖØ-Þ]|p)\.(?!\.)"
RUN = r"([.\-*=~+#$])\1++|[!?！？]++|''|``|‘‘|’’"
CLITIC = rf"{APOSTROPHE}(?i:s|m|d|re|ve|ll|em|til|tis|twas|cause|\d0s)(?!{W}|{APOSTROPHE})"
SIGN = rf"(?<!{W})(?:[-+−]\.?|\.)(?=\d)"
WORD = rf"(?:{SIGN})?{W}++(?:(?:[-‐‑/&]|{APOSTROPHE}|(?<=\d)[.,:–](?=\d)){W}++)*+(?:-(?!-))?"
MENTION = rf"[@#](?={LETTER}){W}++"
EMOJI = rf"[\U0001f1e6-\U0001f1ff]{{2}}|[{PICTURES}][{EXTEND}]*+(?:(?<=\u200d)[{PICTURES}][{EXTEND}]*+)*+"

TOKEN = re.compile(
    rf"(?:{RUN}|{URL}|{EMAIL}|{NAME}|{ACRONYM}|{ABBREVIATION}|{WORD}|{CLITIC}|{MENTION}|{EMOJI}|.)[{EXTEND}]*+",
    re.DOTALL,
)
CLITIC_END = re.compile(rf"(?<={W})(?i:n{APOSTROPHE}t|{APOSTROPHE}(?:s|m|d|re|ve|ll))\Z")
LONGEST_CLITIC = 3
JOINED = dict.fromkeys(("cannot", "gonna", "gotta", "wanna", "gimme", "lemme"), 3)
"""Two words written as one, and where the second begins."""


@dataclass(slots=True)
class TokenisedText:
    """The words of a raw text, where they are, and the numbers of those that follow whitespace or nothing.

    Equal words of different texts are the same object, so that it is hashed once.
    """

    words: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    after_space: set[int] = field(default_factory=set)


def tokenised(text: str, start: int = 0) -> TokenisedText:
    """The tokens of a text that begins at `start`."""
    tokens = TokenisedText()
    at = 0
    for chunk in text.split():
        at = text.find(chunk, at)  # only whitespace lies between, so the first hit is the chunk
        tokens.after_space.add(len(tokens.words))
        for word in _cached_cut(chunk) if len(chunk) <= LONGEST_CACHED else _cut(chunk):
            tokens.words.append(word)
            tokens.spans.append(Span(start + at, start + at + len(word)))
            at += len(word)
    tokens.after_space.add(len(tokens.words))
    return tokens


def token_spans(text: str) -> tuple[Span, ...]:
    """The tokens of a raw text, in order."""
    return tuple(tokenised(text).spans)


def spans_of_words(words: Sequence[str]) -> tuple[Span, ...]:
    """Where words are in the text that has one space between them."""
    starts = accumulate((len(word) + 1 for word in words), initial=0)
    return tuple(Span(start, start + len(word)) for start, word in zip(starts, words, strict=False))


def tokens_of(essay: Essay) -> tuple[Span, ...]:
    """The essay's own tokens where it carries them; nothing tokenises such an essay again."""
    return token_spans(essay.text) if essay.tokens is None else essay.tokens


def words_of(text: str) -> list[str]:
    """The words of a raw text."""
    return tokenised(text).words


def _cut(chunk: str) -> tuple[str, ...]:
    pieces = [piece for match in TOKEN.finditer(chunk) for piece in _split_word(chunk, match.start(), match.end())]
    return tuple([chunk[start:end] for start, end in pieces])


_cached_cut = lru_cache(maxsize=1 << 16)(_cut)


def _split_word(chunk: str, start: int, end: int) -> list[Piece]:
    """Take contractions off the end of a word, last first."""
    clitics: list[Piece] = []
    while match := CLITIC_END.search(chunk, max(start + 1, end - LONGEST_CLITIC), end):
        clitics.append((match.start(), end))
        end = match.start()
    middle = start + JOINED.get(chunk[start:end].lower(), 0) if end - start <= 6 else start
    stem = [(start, middle), (middle, end)] if middle > start else [(start, end)]
    return stem + clitics[::-1]
