"""Tokenises corrections like their sources, and checks that lines belong to their sources.

**Tokens.** Edits can be compared only if both sides are tokenised alike: a system that writes *don't worry.* may have
corrected nothing. `fitted` tokenises a line and then follows its source wherever both have the same characters: a
source token that is whole in the line stays one token, and what the source has as two tokens is split (*well -
known*, *do n't*), whatever the source's tokeniser was. Quotation marks and apostrophes are written as in the source.
A space that separates or joins letters is a correction: *life style* and *lifestyle* differ.

**Lines.**  A line that shares few of its longer words with its source is misplaced; if such lines share many with
another source, the file has been shifted or shuffled.  Words are compared by their first letters, since a correction
changes endings.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import filterfalse

from grater.corpora.merge import shared_ends
from grater.corpora.text.tokens import JOINED, words_of
from grater.errors import BadInput, Problem
from grater.sheet import counted

ATOM = re.compile(r"``|''|\w+|\W")
PLAIN = {"``": '"', "''": '"', **dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’‚‛´`", "'")}
"""Quotation marks that are the same but for the typeface."""

HYPHENS = frozenset("-‐‑–/")
HYPHENATED = re.compile(r"[^\W\d_][-‐‑–/][^\W\d_]")
INNER, CUT, SPACE = range(3)
"""What precedes an atom: a part of the same token, a token of the same word, or white space."""


@lru_cache(maxsize=1 << 16)
def _atoms(word: str) -> tuple[tuple[str, int], ...]:
    """Runs of letters and single marks, each with what precedes it."""
    atoms = [
        (atom, CUT if number == 0 else INNER)
        for token in words_of(word)
        for number, atom in enumerate(ATOM.findall(token))
    ]
    return ((atoms[0][0], SPACE), *atoms[1:])


def fitted_lines(sources: Sequence[Sequence[str]], texts: Sequence[str]) -> list[str]:
    """Lines in the tokens of their sources; new words are split at hyphens if most of the sources' words are."""
    words = [word for source in sources for word in source]
    n_cut = sum(word in HYPHENS for word in words)
    at_hyphens = n_cut > sum(HYPHENATED.search(word) is not None for word in words)
    lines = [" ".join(fitted(*pair, at_hyphens=at_hyphens)) for pair in zip(sources, texts, strict=False)]
    return [*lines, *texts[len(lines) :]]


def fitted(words: Sequence[str], text: str, *, at_hyphens: bool = False) -> list[str]:
    """The words of a line, tokenised like the source wherever the two agree."""
    given = text.split()
    if not given or given == words:
        return given
    ours = [atom for word in given for atom in _atoms(word)]
    theirs, tokens = list[tuple[str, int]](), list[range]()
    for word in words:
        tokens.append(range(len(theirs), len(theirs) + len(_atoms(word))))
        theirs += _atoms(word)
    spelt, begins = [atom for atom, _ in ours], [gap > INNER for _, gap in ours]
    for place in range(1, len(ours) - 1) if at_hyphens else ():
        if spelt[place] in HYPHENS and spelt[place - 1].isalpha() and spelt[place + 1].isalpha():
            begins[place] = begins[place + 1] = True
    same = _same([atom for atom, _ in theirs], spelt)
    if not any(atom in PLAIN for atom, _ in theirs):
        spelt = [PLAIN.get(atom, atom) for atom in spelt]
    for start, at, size in same:
        for n in range(size):
            spelt[at + n], gap = theirs[start + n]
            begins[at + n] = begins[at + n] or (n > 0 and gap == SPACE)
        for token in tokens:
            if token.start >= start and token.stop <= start + size:
                inside = [(place - start + at, theirs[place][1]) for place in token[1:]]
                if not any(_parts(ours, place, gap) for place, gap in inside):
                    for place, _ in inside:
                        begins[place] = False
    cuts = [place for place, is_first in enumerate(begins) if is_first]
    return ["".join(spelt[start:end]) for start, end in zip(cuts, [*cuts[1:], len(spelt)], strict=True)]


def _parts(atoms: Sequence[tuple[str, int]], place: int, gap: int) -> bool:
    """Whether a space splits a source token other than a tokeniser would: in *any one*, not in *well - known*."""
    (before, gap_before), (atom, gap_here) = atoms[place - 1 : place + 1]
    if gap_here < SPACE or (gap == CUT and before[-1].isalnum() and atom[0].isalnum()):
        return False
    gap_after = atoms[place + 1][1] if place + 1 < len(atoms) else SPACE
    return not (before in HYPHENS and gap_before == SPACE) and not (atom in HYPHENS and gap_after == SPACE)


def _same(theirs: Sequence[str], ours: Sequence[str]) -> list[tuple[int, int, int]]:
    """The stretches of atoms shared by both sides: their starts and lengths."""
    one, other = ([PLAIN.get(atom, atom) for atom in side] for side in (theirs, ours))
    before, after = shared_ends(one, other)
    middle = SequenceMatcher(None, one[before : len(one) - after], other[before : len(other) - after], autojunk=False)
    found = [(start + before, at + before, size) for start, at, size in middle.get_matching_blocks() if size]
    blocks: list[tuple[int, int, int]] = []
    for start, at, size in [(0, 0, before), *found, (len(one) - after, len(other) - after, after)]:
        if blocks and (blocks[-1][0] + blocks[-1][2], blocks[-1][1] + blocks[-1][2]) == (start, at):
            blocks[-1] = (*blocks[-1][:2], blocks[-1][2] + size)
        else:
            blocks.append((start, at, size))
    return blocks


# Lines

LONGER = re.compile(r"\w{4,}")
FEW, ENOUGH = 0.25, 0.5
"""Shares of a source's longer words, below which a line may not belong to it, and from which on it does."""

FARTHEST = 5
MOST_SOUGHT = 200
LEAST_MOVED = 3
MOST_SHOWN = 3
LONGEST_SHOWN = 60


def _keys(text: str) -> frozenset[str]:
    return frozenset([word[:4] for word in LONGER.findall(text.lower())])


def _shared(source: frozenset[str], line: frozenset[str]) -> float:
    """The share of a source's longer words that a line has; too few words say nothing."""
    return len(source & line) / len(source) if len(source) > 2 else 1.0


@lru_cache(maxsize=1 << 16)
def _is_several(word: str) -> bool:
    """Whether our tokeniser splits a word; most words have only letters and need no tokenising."""
    if word.isascii() and word.isalpha():
        return word.lower() in JOINED
    return any(gap == CUT for _, gap in _atoms(word))


@dataclass(frozen=True, slots=True)
class OddLines:
    """Lines that share few words with their source, that are tokenised differently, or that differ only in this."""

    misplaced: list[int]
    cut: list[int]
    cut_alone: list[int]


def odd_lines(
    sources: Sequence[Sequence[str]], texts: Sequence[str], lines: Sequence[Sequence[str]] | None = None
) -> OddLines:
    """Find odd lines in one fast pass, since most lines share most words with their source.

    `lines` are the texts in words, if known.
    """
    odd = OddLines([], [], [])
    split = [text.split() for text in texts] if lines is None else lines
    for number, (words, text, given) in enumerate(zip(sources, texts, split, strict=False)):
        if given == words:
            continue
        new = list(filterfalse(frozenset(words).__contains__, given))
        is_several = any(map(_is_several, new))
        if 4 * (len(given) - len(new)) < 3 * len(words):
            is_far = 2 * len(set(given).difference(new)) < len(words)
            if is_far and _shared(_keys(" ".join(words)), _keys(text)) < FEW:
                odd.misplaced.append(number)
        is_same = len(given) != len(words) and "".join(given) == "".join(words) and fitted(words, text) == words
        if is_several or is_same:
            odd.cut.append(number)
        if is_same:
            odd.cut_alone.append(number)
    return odd


def shift_of(sources: Sequence[Sequence[str]], texts: Sequence[str], lines: Sequence[int]) -> int | None:
    """How many lines further down the source of most of these lines is; 0 if they did not move together.

    None if these lines, which share few words with their source, share no more with another.
    """
    keys = [_keys(" ".join(words)) for words in sources]
    places = defaultdict[str, list[int]](list)
    for number, of_source in enumerate(keys):
        for key in of_source:
            places[key].append(number)
    sought, offsets = lines[:: max(1, len(lines) // MOST_SOUGHT)], Counter[int]()
    for line in sought:
        own = _keys(texts[line])
        votes = Counter(number for key in own if len(places[key]) <= MOST_SOUGHT for number in places[key])
        near = range(max(0, line - FARTHEST), min(len(keys), line + FARTHEST + 1))
        fits = [number for number in (*near, *dict(votes.most_common(3))) if len(keys[number]) > 2]
        best = max(fits, key=lambda number: (_shared(keys[number], own), -abs(number - line)), default=line)
        offsets[best - line] += _shared(keys[best], own) >= ENOUGH
    if offsets.total() < max(LEAST_MOVED, len(sought) / 2):
        return None
    offset, n_same = offsets.most_common(1)[0]
    return offset if 2 * n_same > offsets.total() and abs(offset) <= FARTHEST else 0


def require_lines_fit(
    sources: Sequence[Sequence[str]],
    texts: Sequence[str],
    *,
    name: str,
    source_name: str,
    advice: str = "tokenise both alike",
    words: Sequence[Sequence[str]] | None = None,
) -> list[str]:
    """Warnings of lines that may not fit their source; raises if the file as a whole does not."""
    odd = odd_lines(sources, texts, words)
    lines, cut, alone = odd.misplaced, odd.cut, odd.cut_alone
    if lines:
        first = lines[0]
        offset = shift_of(sources, texts, lines)
        if offset is not None:
            message = f"expected a correction of {begun(' '.join(sources[first]))}, found {begun(texts[first])}; "
            if offset:
                side, amiss = ("down", "missing") if offset > 0 else ("up", "too many")
                where = f"the source {counted(abs(offset), 'line')} farther {side}"
                message += f"from here on each line fits {where}: {counted(abs(offset), 'line')} {amiss} before it"
            else:
                message += f"the lines are in another order than in {source_name}"
            raise BadInput(Problem(name, message, first + 1))
    if len(cut) > len(texts) / 2:
        word = next((word for word in texts[cut[0]].split() if _is_several(word)), texts[cut[0]].split()[0])
        message = f"expected words as in {source_name}, found {word!r}; {len(cut):,} of {len(texts):,} lines are "
        raise BadInput(Problem(name, f"{message}tokenised differently, this one first; {advice}", cut[0] + 1))
    warnings = []
    if lines:
        shown = [f"line {n + 1}, {begun(texts[n])} for {begun(' '.join(sources[n]))}" for n in lines[:MOST_SHOWN]]
        more = f", and {len(lines) - MOST_SHOWN:,} more" if len(lines) > MOST_SHOWN else ""
        noun = "line shares" if len(lines) == 1 else "lines share"
        warnings.append(f"{name}: {len(lines):,} {noun} few words with the source: {'; '.join(shown)}{more}")
    if odd_ones := alone or (cut if len(cut) > len(texts) / 50 else []):
        n_lines = counted(len(odd_ones), "line")
        warnings.append(f"{name}: {n_lines} tokenised differently, line {odd_ones[0] + 1} first; {advice}")
    return warnings


def begun(text: str) -> str:
    """The beginning of a sentence, for a message."""
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


_ENGLISH = "the of and to that for it with are this have be by they"
ENGLISH = frozenset(_ENGLISH.split())
LEAST_ENGLISH, FEWEST_WORDS = 0.08, 100


def is_english(sentences: Iterable[Sequence[str]]) -> bool:
    """Whether the most common English words are as frequent as in English; a few words may be English."""
    words = [word.lower() for sentence in sentences for word in sentence]
    return len(words) < FEWEST_WORDS or sum(map(ENGLISH.__contains__, words)) >= LEAST_ENGLISH * len(words)
