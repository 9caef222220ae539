"""Ranks trigrams whose preposition may be extraneous.

Madnani et al. 2011, section 2.1.  All trigrams of the essays with a preposition in the middle are looked up; a use is
a trigram at one place.  Both neighbours must be words (begin with a letter).  As everywhere, *to* before a verb and
particles are not prepositions (`prepositions.candidates`).  A trigram (*marry with her*) is suspicious if it is
unattested in a large corpus, or has "a count much lower than expected based on the bigram count" (*marry her*).  The
paper gives no formula; ours:

    rate(p)   = sum of c(a p b) / sum of c(a b)     over all trigrams of the essays with p in the middle
    expected  = rate(p) c(a b)
    score     = log((expected + 1/2) / (c(a p b) + 1/2))

A preposition that often occurs between words that also occur adjacently must therefore be rarer to be suspicious. A
trigram is kept if its bigram is attested at least `least_bigram` times and its count is at most `ratio` of what was
expected, or it is unattested. The most suspicious come first; ties are in the order of their words.

Counts of n-grams come from Web1T folders, plain text, or a language model.  The paper looked up Google's Web 1T
5-gram Corpus (Brants & Franz 2006, LDC2006T13): a folder with one folder for each order, `1gms` to `5gms`; in them
files, compressed or not, whose lines are an n-gram, a tab and a count:

    marry with her <tab> 1234

`1gms` has the words in `vocab.gz`, in order of name (`vocab_cs.gz`, the same in order of count, is skipped); the
others have files such as `3gm-0042.gz` (an index, `3gm.idx`, is skipped). They are found at any depth, with the data
of several disks side by side. The corpus is case-sensitive; we look up normal forms (`ngrams.counts.normal`), so the
counts of all spellings of an n-gram are added. It omits n-grams seen fewer than 40 times: a missing n-gram has a
count of 0, which means fewer than 40.

Alternatives are any well-formed text, or one of our language models, which has probabilities but no counts: the count
of an n-gram is its probability times the number of words, approximately, and 0 if the model does not have it. A
model's card gives the number of training words; the default is a million.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import TypeAlias

import numpy as np

from grater.corpora.source import ignore_progress, open_source
from grater.corpora.text.analysis import Sentence, analyse
from grater.detect.ngrams.counts import Packing, find, normal, sentences_of_lines, text_lines
from grater.detect.ngrams.language_model import NOTHING, LanguageModel, load
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.model import Essay, Item, Span
from grater.models import shipped

NGRAM_FILE = re.compile(r"(\d)gm-\d+(\.gz|\.bz2|\.xz)?", re.IGNORECASE)
VOCABULARY_FILE = re.compile(r"vocab(\.gz|\.bz2|\.xz)?", re.IGNORECASE)

Ngram: TypeAlias = tuple[str, ...]
Counts: TypeAlias = Mapping[Ngram, float]
Progress: TypeAlias = Callable[[int], None]

SHIPPED = "prep-lm"
"""The system whose language model is the default source of counts."""


def read_counts(lines: Iterable[str], *, order: int, name: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """The n-grams of a file, as spelt there, with their counts."""
    problems = Problems(name)
    for number, line in enumerate(lines, 1):
        text, tab, count = line.rstrip("\r\n").rpartition("\t")
        words = tuple(text.split(" "))
        if not tab or len(words) != order or not count.isdecimal():
            expected = f"expected {order} words, a tab and a count"
            problems.add(f"{expected}, found {line.rstrip()[:60]!r}", line=number)
        else:
            yield words, int(count)
    problems.done()


def files_of_order(folder: Path, order: int) -> list[Path]:
    """The files of a corpus with n-grams of one order, sorted by name."""
    if not folder.is_dir():
        raise BadInput(Problem(str(folder), "expected a folder of Web1T counts, found none"))
    files = [path for path in folder.rglob("*") if path.is_file()]
    paths = [path for path in files if (named := NGRAM_FILE.fullmatch(path.name)) and int(named[1]) == order]
    if order == 1:
        paths += [path for path in files if VOCABULARY_FILE.fullmatch(path.name)]
    if not paths:
        raise UsageError(
            f"{folder}: expected files such as {order}gms/{order}gm-0000.gz below this folder, found none"
        )
    return sorted(paths)


def counts_in_web1t(
    folder: Path, wanted: Collection[Sequence[str]], *, advance: Progress = ignore_progress
) -> Counts:
    """From a folder in Web1T format, read once; only the wanted n-grams are kept."""
    counts: Counter[tuple[str, ...]] = Counter()
    for order in sorted({len(ngram) for ngram in wanted}):
        among = {tuple(ngram) for ngram in wanted if len(ngram) == order}
        middle = {ngram[order // 2] for ngram in among}
        for path in files_of_order(folder, order):
            lines = open_source(path, advance=advance).lines()
            for words, count in read_counts(lines, order=order, name=str(path)):
                if normal(words[order // 2]) not in middle:  # most lines are skipped here, which keeps the pass quick
                    continue
                ngram = tuple(map(normal, words))
                if ngram in among:
                    counts[ngram] += count
    return counts


def counts_in_text(
    paths: Iterable[Path], wanted: Collection[Ngram], *, advance: Progress = ignore_progress
) -> Counts:
    """From files and folders of plain text."""
    counts: Counter[Ngram] = Counter()
    for words in sentences_of_lines(text_lines(paths, advance=advance)):
        for n in (2, 3):
            counts.update(ngram for ngram in zip(*(words[k:] for k in range(n)), strict=False) if ngram in wanted)
    return counts


def counts_in_model_file(path: Path, wanted: Collection[Ngram]) -> Counts:
    """Rough counts from a stored language model."""
    model = load(path)
    figures = model.card.get("figures")
    n_tokens = figures.get("tokens") if isinstance(figures, Mapping) else None
    return counts_in_model(model, n_tokens if isinstance(n_tokens, int) else 10**6, wanted)


def counts_in_shipped_model(wanted: Collection[Ngram]) -> Counts:
    """Rough counts from the language model that comes with grater."""
    return counts_in_model_file(shipped(SHIPPED), wanted)


def counts_in_model(model: LanguageModel, n_tokens: int, wanted: Collection[Ngram]) -> Counts:
    """Rough counts from a language model trained on `n_tokens` words."""
    counts: dict[Ngram, float] = {}
    for length in sorted({len(ngram) for ngram in wanted}):
        ngrams = sorted(ngram for ngram in wanted if len(ngram) == length)
        rows = np.array([model.vocabulary.ids(ngram) for ngram in ngrams]).reshape(-1, length)
        _, is_there = find(model.tables[length - 1].keys, Packing(length, model.packing.bits).keys(rows))
        padded = np.concatenate([np.full((len(rows), model.order), NOTHING), rows], axis=1)
        log_p = sum(model.log_p(padded[:, end : end + model.order]) for end in range(1, length + 1))
        for ngram, is_kept, log_each in zip(ngrams, is_there.tolist(), np.atleast_1d(log_p).tolist(), strict=True):
            counts[ngram] = n_tokens * exp(log_each) if is_kept and 0 not in model.vocabulary.ids(ngram) else 0.0
    return counts


Trigram: TypeAlias = tuple[str, str, str]
Bigram: TypeAlias = tuple[str, str]

RATIO = 0.1
MOST = 2000
"""Suspects in a list: more than anybody will review."""


@dataclass(frozen=True, slots=True)
class Use:
    """A preposition at its place, `span`; `context` is the sentence, in which it starts at `offset`."""

    trigram: Trigram
    essay_id: str
    document: str
    span: Span
    context: str
    offset: int

    @property
    def words(self) -> str:
        return " ".join(self.trigram)

    @property
    def item(self) -> Item:
        return Item(self.essay_id, self.span, PREP)

    @property
    def target(self) -> str:
        return self.context[self.offset : self.offset + len(self.span)]


def without(trigram: Trigram) -> Bigram:
    """The words with the preposition removed."""
    return trigram[0], trigram[2]


def by_trigram(uses: Iterable[Use]) -> dict[str, list[Use]]:
    """The uses of each trigram, in order; a trigram is its words, separated by blanks."""
    uses_by_trigram: dict[str, list[Use]] = defaultdict(list)
    for use in uses:
        uses_by_trigram[use.words].append(use)
    return uses_by_trigram


def uses_of(essays: Iterable[Essay]) -> Iterator[Use]:
    """Every use of a preposition between two words, in order."""
    for essay in essays:
        document = str(essay.metadata.get("document") or "")
        for sentence in analyse(essay):
            for index in preposition_places(sentence):
                around = sentence.words[index - 1 : index + 2 : 2] if index else ()
                if len(around) == 2 and all(word[0].isalpha() for word in around):
                    yield _use(essay, document, sentence, index)


def _use(essay: Essay, document: str, sentence: Sentence, index: int) -> Use:
    first, middle, last = (normal(word) for word in sentence.words[index - 1 : index + 2])
    span, whole = sentence.spans[index], Span(sentence.spans[0].start, sentence.spans[-1].end)
    return Use(
        trigram=(first, middle, last),
        essay_id=essay.essay_id,
        document=document,
        span=span,
        context=whole.of(essay.text),
        offset=span.start - whole.start,
    )


@dataclass(frozen=True, slots=True)
class Suspect:
    """A trigram with its counts; `uses` are its places in the essays, in order."""

    trigram: Trigram
    n_trigram: float
    n_bigram: float
    expected: float
    uses: tuple[Use, ...]

    @property
    def words(self) -> str:
        return self.uses[0].words

    @property
    def score(self) -> float:
        return log((self.expected + 0.5) / (self.n_trigram + 0.5))


def wanted_ngrams(uses: Iterable[Use]) -> set[tuple[str, ...]]:
    """The trigrams and bigrams whose counts are needed."""
    trigrams = {use.trigram for use in uses}
    return {*trigrams, *map(without, trigrams)}


def rank(
    uses: Sequence[Use], counts: Mapping[tuple[str, ...], float], *, least_bigram: float = 1, ratio: float = RATIO
) -> list[Suspect]:
    """The suspicious trigrams, worst first."""
    uses_by_words = {uses_of_words[0].trigram: uses_of_words for uses_of_words in by_trigram(uses).values()}
    rates = _rates(uses_by_words, counts)
    suspects = []
    for trigram, uses_of_words in uses_by_words.items():
        n_trigram, n_bigram = counts.get(trigram, 0), counts.get(without(trigram), 0)
        expected = rates[trigram[1]] * n_bigram
        if n_bigram >= least_bigram and (not n_trigram or n_trigram <= ratio * expected):
            suspects.append(Suspect(trigram, n_trigram, n_bigram, expected, tuple(uses_of_words)))
    return sorted(suspects, key=lambda suspect: (-suspect.score, suspect.trigram))


def _rates(trigrams: Iterable[Trigram], counts: Mapping[tuple[str, ...], float]) -> dict[str, float]:
    """The ratio of a preposition's trigrams to their bigrams, by preposition."""
    with_it: dict[str, float] = defaultdict(float)
    without_it: dict[str, float] = defaultdict(float)
    for trigram in trigrams:
        with_it[trigram[1]] += counts.get(trigram, 0)
        without_it[trigram[1]] += counts.get(without(trigram), 0)
    return {word: with_it[word] / without_it[word] if without_it[word] else 0.0 for word in with_it}
