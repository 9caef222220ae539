"""Misspellings: unknown words, with likely intended words ranked by how well they fit the context.

A word is known if it is on our list, or frequent in the text that the 4-gram model `prep-lm` was made of, or made of
known parts (*nonmuscle*, *rethink*), or a word of dialects and of friends (*cannae*, *cuz*). An unknown word
capitalised within a sentence counts as a name, and a word used three times must be closer to another to be flagged.
Candidates are one or two letters away (Norvig 2007), or two words in place of one. The noisy channel (Kernighan,
Church and Gale 1990) ranks them: the log-probability of the words around with the candidate in place, minus a cost
for each changed letter, which is lower for typical learner errors: vowels, doubled letters, swapped neighbours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np

from grater.corpora.text.analysis import Sentence
from grater.corpora.text.inflect import in_case_of
from grater.corpora.text.lemmas import is_word, words
from grater.detect.detector import Finding, analysed
from grater.detect.ngrams.counts import START
from grater.detect.ngrams.language_model import NOTHING, LanguageModel, load
from grater.model import Decision, Essay, Item, Json
from grater.models import shipped

NAME, KIND = "spelling", "spelling"
LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORD = re.compile(r"[a-z]{3,24}")
SHAPE = re.compile(r"[A-Z]?[a-z]+")
_PREFIXES = """
    anti auto bio co counter cyber de e eco extra hyper inter macro mega meta micro mid mini mis mono multi nano neo
    neuro non out over para photo poly post pre
    pro pseudo psycho re semi socio sub super tele trans tri ultra un under up
"""
_SUFFIXES = "able al ed er ers eth ful ing ish ism ist ity less like ly ness s wise"
_NEGATED = "are can could did do does had has have is must need should was were would"
PREFIXES, SUFFIXES = tuple(_PREFIXES.split()), tuple(_SUFFIXES.split())
_INFORMAL = """
    bestie brekkie cannae coulda couldnae cuz dal didnae dinnae dontcha faq gif haha hafta lotta luv musta oughta owt
    pilates shoulda shouldnae terroir vlog wasnae whatcha woulda wouldnae
"""
INFORMAL = frozenset(_INFORMAL.split())
CONTRACTIONS = {f"{verb}nt": f"{verb}n't" for verb in _NEGATED.split()} | {
    "cant": "can't",
    "im": "I'm",
    "ive": "I've",
}
CONTRACTIONS |= {"thats": "that's", "theyre": "they're", "theyve": "they've", "theyll": "they'll", "weve": "we've"}
CONTRACTIONS |= {"youre": "you're", "youve": "you've", "youll": "you'll", "alot": "a lot"}
MANY_TIMES = 3
PRICE, CHEAP, FAR, RARE = 4.0, 2.5, 1.5, 14.0
"""Nats for a letter that changes, for one that learners often change, and for the second besides."""
THRESHOLD, FIRST, OFTEN, SHORT_WORD, NEAR = -16.0, 10.0, 4.0, 5.0, 2.0
"""What a suggestion must reach, how much more at the beginning of a sentence, of a word used often and of a short
word, and how near others must come to it."""
MOST_LETTERS = 5
"""Of a short word: many are near it, and it may be of another language."""
MOST = 3
SHARE = 0.8
TOUCHING, AFTER = re.compile(r"[-/@._&\d’']"), re.compile(r"[-/@_&\d’']|\.\w")
"""What is next to a part of a compound, an address or a code."""


@dataclass(frozen=True, slots=True)
class Candidate:
    word: str
    price: float


@cache
def _model() -> LanguageModel:
    return load(shipped("prep-lm"))


def is_known(small: str) -> bool:
    if is_word(small) or small in _model().vocabulary.numbers or small in INFORMAL:
        return True
    parts = [small[len(each) :] for each in PREFIXES if small.startswith(each)]
    parts += [small[: -len(each)] for each in SUFFIXES if small.endswith(each)]
    return any(len(part) > 3 and is_word(part) for part in parts) or any(
        is_word(small[:at]) and is_word(small[at:]) for at in range(4, len(small) - 3)
    )


@cache
def _small() -> frozenset[str]:
    return frozenset(word for word in words() if word.islower())


def _near(word: str) -> dict[str, float]:
    """Every string one letter away, with its cost."""
    found = dict[str, float]()
    for at in range(len(word) + 1):
        before, after = word[:at], word[at:]
        if after:
            doubled = after[0] == before[-1:] or after[0] == after[1:2]
            found[before + after[1:]] = CHEAP if doubled or after[0] in "eh" else PRICE
            for letter in LETTERS:
                vowels = letter in "aeiouy" and after[0] in "aeiouy"
                found[before + letter + after[1:]] = CHEAP if vowels or {letter, after[0]} in ALIKE else PRICE
        if len(after) > 1:
            found[before + after[1] + after[0] + after[2:]] = CHEAP
        for letter in LETTERS:
            doubles = letter in (before[-1:], after[:1])
            found[before + letter + after] = CHEAP if doubles or letter in "eh" else PRICE
    return found


ALIKE = ({"c", "s"}, {"c", "k"}, {"s", "z"}, {"f", "v"}, {"g", "j"}, {"i", "y"}, {"d", "t"}, {"m", "n"})


@lru_cache(maxsize=4096)
def candidates(word: str) -> tuple[Candidate, ...]:
    known, prices = _small(), dict[str, float]()
    near = _near(word)
    for one, price in near.items():
        if one in known:
            prices[one] = min(price, prices.get(one, 99))
    for one, price in near.items():
        if len(one) < 4 and len(word) < 6:
            continue
        for other, more in _near(one).items() if len(word) > 4 else ():
            if other in known and price + more + FAR < prices.get(other, 99):
                prices[other] = price + more + FAR
    numbers = _model().vocabulary.numbers
    for at in range(1, len(word)):
        pair = word[:at], word[at:]
        if all(part in known and part in numbers and (len(part) > 2 or part in SHORT) for part in pair):
            prices[" ".join(pair)] = PRICE
    prices.pop(word, None)
    prices = {one: price + RARE * (not all(part in numbers for part in one.split())) for one, price in prices.items()}
    return tuple(Candidate(*each) for each in prices.items())


SHORT = frozenset(
    ("a", "i", "an", "as", "at", "be", "by", "do", "go", "he", "if", "in", "is", "it", "me", "my", "no")
)
SHORT |= {"of", "on", "or", "so", "to", "up", "us", "we"}


def ranked(before: Sequence[str], word: str, after: Sequence[str]) -> list[tuple[str, float]]:
    """The candidates by how much more likely than an unknown word they make the sentence, minus their cost."""
    model, n = _model(), _model().order - 1
    each = (Candidate("<unk>", 0.0), *candidates(word))
    rows, owners = [], []
    for number, candidate in enumerate(each):
        middle = model.vocabulary.ids(candidate.word.split())
        ids = np.concatenate([[START], model.vocabulary.ids(before), middle, model.vocabulary.ids(after[:n])])
        padded = np.concatenate([np.full(n, NOTHING), ids])
        windows = np.lib.stride_tricks.sliding_window_view(padded, n + 1)[1 + len(before) :]
        rows.append(windows)
        owners += [number] * len(windows)
    sums = np.bincount(owners, model.log_p(np.concatenate(rows).astype(np.int64)))
    found = [(one.word, float(own - sums[0]) - one.price) for one, own in zip(each[1:], sums[1:], strict=True)]
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))


@dataclass(frozen=True, slots=True, eq=False)
class Spelling:
    """The misspelt words of a text, as a checker of whole texts."""

    name: str = NAME
    kinds: tuple[str, ...] = (KIND,)
    card: Mapping[str, Json] = field(default_factory=dict, repr=False)

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for essay, sentences in analysed(essays):
            times = Counter(word.lower() for sentence in sentences for word in sentence.words)
            for sentence in sentences:
                yield from _in_sentence(essay, sentence, self.name, times)

    def marks(self, essay: Essay) -> Iterator[Finding]:
        return self.find([essay])


def _in_sentence(essay: Essay, sentence: Sentence, system: str, times: Mapping[str, int]) -> Iterator[Finding]:
    for index, written in enumerate(sentence.words):
        small, span = written.lower(), sentence.spans[index]
        is_part = TOUCHING.search(essay.text[max(0, span.start - 1) : span.start]) or AFTER.match(
            essay.text, span.end
        )
        is_short = small in CONTRACTIONS and not is_word(small)
        if not (is_short or WORD.fullmatch(small)) or not (
            written.islower() or (index == 0 and SHAPE.fullmatch(written))
        ):
            continue
        if is_part or (not is_short and is_known(small)):
            continue
        found = ranked(sentence.words[max(0, index - 3) : index], small, sentence.words[index + 1 :])
        if is_short:
            found = [(CONTRACTIONS[small], 0.0)]
        extra = FIRST * (index == 0) + OFTEN * (times[small] >= MANY_TIMES)
        extra += SHORT_WORD * (len(small) <= MOST_LETTERS and not is_short)
        if not found or found[0][1] < THRESHOLD + extra:
            continue
        better = [word for word, score in found[:MOST] if score > found[0][1] - NEAR]
        shown = [in_case_of(written, word) for word in better]
        item = Item(essay.essay_id, span, KIND)
        score = round(found[0][1] - THRESHOLD, 3)
        decision = Decision(item.item_id, system, flagged=True, score=score, type="choice", suggestion=shown[0])
        message = f"“{written}” is not in our list of words."
        yield Finding(item, decision, written, (), alternatives=tuple(shown[1:]), message=message, confidence=SHARE)
