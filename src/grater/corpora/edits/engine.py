"""The type of an edit: operation and category, as in `R:NOUN:NUM`.

Bryant, Felice and Briscoe 2017, "Automatic annotation and evaluation of error types for grammatical error
correction", section 3 and table 2, and what ERRANT writes for real corrections.  The operation is `M` (a word is
missing), `U` (unnecessary) or `R` (to be replaced).  The category comes from the words' parts of speech, lemmas and
characters, never from the tags of an annotator:

- one side empty: the part of speech that its words share; auxiliaries are `VERB:TENSE`, the infinitive's *to*
  `VERB:FORM`, the genitive's *'s* `NOUN:POSS`, a clitic such as *n't* `CONTR`;
- words that differ in case or spaces: `ORTH`; the same words in another order: `WO`;
- one word for one: not on the list of words but similar: `SPELL`; forms of one lemma: `NOUN:NUM`, `VERB:SVA`,
  `VERB:FORM`, `VERB:TENSE`, `ADJ:FORM`, or `MORPH` where the part of speech changes; forms that do not exist
  (*advices*, *getted*): `NOUN:INFL`, `VERB:INFL`; else the part of speech they share;
- several words: verbs with auxiliaries `VERB:TENSE`, with *to* `VERB:FORM`, a noun with its genitive `NOUN:POSS`,
  *more easy* and *easier* `ADJ:FORM`, the part of speech all share; else `OTHER`.

Where ERRANT uses a parser (auxiliaries, subjects, finite verbs), tags and neighbouring words decide; if the tag
contradicts the words (*depend*, tagged as a noun, corrected to *depends*), other possible forms are tried.

**Engines** make edits from a sentence and its correction, by our own rules or by the errant package.

`grater` (the default) needs only the tagger of the package, so the same text gives the same
edits on every machine.  `errant:MODEL` is the errant package (extra `errant`) with a spaCy model of that name: its
edits change with the versions of both.  An engine's `name` goes into the signature of every score made with it.

Both sides are tokenised already: words between white space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeAlias

from grater.corpora.edits.align import CONTENT, Step, Words, align, are_related, character_ratio, merge
from grater.corpora.text.inflect import singular
from grater.corpora.text.lemmas import is_word, lemma, lemmas_of
from grater.corpora.text.tags import PerceptronTagger, load_tagger
from grater.errors import MissingExtra, UsageError

OTHER = "OTHER"
NAMED = frozenset({"ADJ", "ADV", "CONJ", "DET", "NOUN", "PART", "PREP", "PRON", "PUNCT", "VERB"})
"""Parts of speech that are categories; numbers, symbols, interjections and the like are `OTHER`."""

CLITICS = frozenset({"'d", "'ll", "'m", "n't", "'re", "'ve", "’d", "’ll", "’m", "n’t", "’re", "’ve"})
IS = frozenset({"is", "'s", "’s"})
DEGREES = frozenset({"more", "most"})
RELATIVE = frozenset({"that", "which", "who", "whom", "what", "whose"})
SPELT_ALIKE = 0.5


def type_of(edit: Step, source: Words, target: Words) -> str:
    """The type of an edit that spans words of the source, of the target, or of both."""
    edit = _without_common_end(edit, source, target)
    if edit.start == edit.end:
        return "M:" + _Side(target, edit.new_start, edit.new_end).category()
    if edit.new_start == edit.new_end:
        return "U:" + _Side(source, edit.start, edit.end).category()
    old, new = _Side(source, edit.start, edit.end), _Side(target, edit.new_start, edit.new_end)
    return "R:" + replacement(old, new)


def _without_common_end(edit: Step, source: Words, target: Words) -> Step:
    """*Game* to *The game* is a missing determiner: words at the end that differ only in case are removed."""
    start, end, new_start, new_end = edit[1:]
    if source.lower[start:end] == target.lower[new_start:new_end]:
        return edit
    while start < end and new_start < new_end and source.lower[end - 1] == target.lower[new_end - 1]:
        end, new_end = end - 1, new_end - 1
    return Step(edit.operation, start, end, new_start, new_end)


class _Side:
    """The words of an edit on one side."""

    def __init__(self, words: Words, start: int, end: int) -> None:
        self.words, self.start, self.end = words, start, end
        self.texts = words.texts[start:end]
        self.lower = words.lower[start:end]
        self.tags = words.tags[start:end]
        self.categories = words.categories(start, end)

    def __len__(self) -> int:
        return self.end - self.start

    @cached_property
    def lemmas(self) -> tuple[str, ...]:
        return self.words.lemmas(self.start, self.end)

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(self.categories)

    @property
    def are_auxiliaries(self) -> bool:
        return all(self.words.is_auxiliary(index) for index in range(self.start, self.end))

    def category(self) -> str:
        """The category of missing or unnecessary words."""
        if len(self) == 1 and self.is_genitive(0):
            return "NOUN:POSS"
        if self.kinds == {"PUNCT"}:
            return "PUNCT"
        if len(self) == 1 and self.lower[0] in CLITICS:
            return "CONTR"
        if self.tags == ("TO",):
            after = self.words.tags[self.end : self.end + 2]
            return "VERB:FORM" if any(tag.startswith("VB") for tag in after) else "PREP"
        if self.are_auxiliaries:
            return "VERB:TENSE"
        return _shared(self.kinds)

    def is_genitive(self, index: int) -> bool:
        """*'s*, or the apostrophe after a plural."""
        if self.tags[index] == "POS":
            return True
        at = self.start + index
        is_apostrophe = self.lower[index] in ("'", "’") and at > 0
        is_after_s = is_apostrophe and self.words.lower[at - 1].endswith("s")
        return is_after_s and self.words.categories(at - 1, at) == ("NOUN",)


def _shared(kinds: frozenset[str]) -> str:
    """The shared category of all words; verbs with particles are verbs."""
    if kinds == {"PART", "VERB"}:
        return "VERB"
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= NAMED else OTHER


def replacement(old: _Side, new: _Side) -> str:
    """The category of a replacement."""
    if "".join(old.lower) == "".join(new.lower):
        return "ORTH"
    if sorted(old.lower) == sorted(new.lower):
        return "WO"
    if len(old) == len(new) == 1:
        return _one_for_one(old, new)
    return _several(old, new)


def _one_for_one(old: _Side, new: _Side) -> str:
    kinds = old.kinds | new.kinds
    if old.is_genitive(0) or new.is_genitive(0):
        return "NOUN:POSS"
    if kinds == {"PUNCT"}:
        return "PUNCT"
    words, is_one_lemma = {old.lower[0], new.lower[0]}, old.lemmas == new.lemmas
    if words <= IS or (words & CLITICS and (is_one_lemma or old.kinds == new.kinds)):
        return "CONTR"
    if old.texts[0].isalpha() and not is_word(old.texts[0]):
        return _misspelt(old, new)
    is_form = is_one_lemma or are_related(old.lower[0], new.lower[0])
    if is_form and (form := _form(old, new)) is not None:
        return form
    if old.are_auxiliaries and new.are_auxiliaries:
        return "VERB:TENSE"
    if kinds == {"PART", "PREP"}:
        return "PART"
    tags = old.tags + new.tags
    if kinds == {"DET", "PRON"}:
        if "PRP" in tags or words <= RELATIVE:
            return "PRON"
        return "DET" if "PRP$" in tags else OTHER
    if kinds == {"ADV", "PRON"} and "EX" in tags:  # *it* for *there* as a subject
        return "PRON"
    return _shared(kinds)


def _misspelt(old: _Side, new: _Side) -> str:
    if (old.lemmas == new.lemmas or lemmas_of(old.lower[0]) & lemmas_of(new.lower[0])) and old.kinds == new.kinds:
        kind = next(iter(old.kinds))
        if kind in ("NOUN", "VERB"):
            return f"{kind}:INFL"
    if character_ratio(old.lower[0], new.lower[0]) > SPELT_ALIKE:
        return "SPELL"
    return _shared(old.kinds | new.kinds)


def _form(old: _Side, new: _Side) -> str | None:
    """How two forms of one word differ."""
    kind, other = old.categories[0], new.categories[0]
    if kind == other:
        if kind == "NOUN":
            return "NOUN:NUM" if _differ_in_number(old.lower[0], new.lower[0]) else "MORPH"
        if kind == "VERB":
            return _verb_form(old, new)
        if kind == "ADJ":
            return "ADJ:FORM" if {old.tags[0], new.tags[0]} & {"JJR", "JJS"} else "MORPH"
        return None
    return _as_tagged_after(old, new) or ("MORPH" if {kind, other} <= CONTENT else None)


def _as_tagged_after(old: _Side, new: _Side) -> str:
    """The difference in form, using the corrected word's part of speech for both, since taggers err on errors."""
    word, other, tag = old.lower[0], new.lower[0], new.tags[0]
    if tag in ("NN", "NNS") and singular(word) == singular(other) != "":
        return "NOUN:NUM"
    if tag in ("VBG", "VBN") and lemma(word, "VB") == new.lemmas[0] and old.kinds == {"NOUN"}:
        return "VERB:FORM"
    if tag in ("VBP", "VB") and word.endswith("ing") and lemma(word, "VBG") == new.lemmas[0]:
        return "VERB:FORM"
    if tag in ("VBZ", "VBP", "VB") and _differ_in_s(word, other):
        return "VERB:SVA"
    return ""


def _differ_in_number(word: str, other: str) -> bool:
    """Whether two nouns are forms of the same noun; *testing* and *test* are not."""
    are_gerunds = [form.removesuffix("s").endswith("ing") for form in (word, other)]
    return are_gerunds[0] == are_gerunds[1] and bool(lemmas_of(word) & lemmas_of(other))


def _differ_in_s(word: str, other: str) -> bool:
    """Whether one word is the other with *-s* or *-es*."""
    short, long = sorted((word, other), key=len)
    return long in (short + "s", short + "es")


def _verb_form(old: _Side, new: _Side) -> str:
    """Number of a finite verb, its tense, or a non-finite form."""
    if not lemmas_of(old.lower[0]) & lemmas_of(new.lower[0]):
        return "MORPH"
    tags = {old.tags[0], new.tags[0]}
    words = {old.lower[0], new.lower[0]}
    if words == {"was", "were"} or (words <= {"am", "is", "are", "'m", "'re", "'s"}):
        return "VERB:SVA"
    if ("VBZ" in tags and tags & {"VBP", "VB"}) or _differ_in_s(old.lower[0], new.lower[0]):
        return "VERB:SVA"
    if "MD" in tags:
        return "VERB:TENSE"
    if tags & {"VBG", "VBN"}:
        return "VERB:FORM"
    if "VBD" in tags:
        return "VERB:TENSE"
    return "VERB:FORM"


def _several(old: _Side, new: _Side) -> str:
    kinds = old.kinds | new.kinds
    if kinds == {"PUNCT"}:
        return "PUNCT"
    if (old.is_genitive(len(old) - 1) or new.is_genitive(len(new) - 1)) and kinds <= {"NOUN", "PART", "PUNCT"}:
        return "NOUN:POSS"
    if kinds == {"VERB"}:
        is_tense = _same_end(old, new) or (old.are_auxiliaries and new.are_auxiliaries)
        return "VERB:TENSE" if is_tense else "VERB"
    if kinds == {"PART", "VERB"}:
        return "VERB:FORM" if _same_end(old, new) else "VERB"
    if kinds <= {"ADJ", "ADV"} and ({*old.lower, *new.lower} & DEGREES) and _same_end(old, new):
        return "ADJ:FORM"
    return _shared(kinds)


def _same_end(old: _Side, new: _Side) -> bool:
    return old.lemmas[-1] == new.lemmas[-1] or bool(lemmas_of(old.lower[-1]) & lemmas_of(new.lower[-1]))


RULES = 2
"""Incremented whenever new rules of alignment, merging or typing change the result."""

GRATER = "grater"
ERRANT = "errant"
AT_ONCE = 512

Pair: TypeAlias = tuple[Sequence[str], Sequence[str]]
"""The words of a sentence and those of its correction."""


class WordEdit(NamedTuple):
    """The words [start, end) of the source, their replacement (words joined by spaces), and the type."""

    start: int
    end: int
    type: str
    correction: str


class Engine(Protocol):
    @property
    def name(self) -> str: ...

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]: ...


def load_engine(name: str = GRATER) -> Engine:
    """An engine by its name: `grater`, or `errant:MODEL` with the name of a spaCy model."""
    if name == GRATER:
        return GraterEngine()
    kind, _, model = name.partition(":")
    if kind != ERRANT:
        raise UsageError(f"expected the engine grater, errant or errant:MODEL, found {name!r}")
    return ErrantEngine(model or "en_core_web_sm")


class GraterEngine:
    """Our own alignment, merging and types; sentences are tagged a few hundred at a time."""

    def __init__(self, tagger: PerceptronTagger | None = None) -> None:
        self.tagger = tagger or load_tagger()

    @property
    def name(self) -> str:
        return f"{GRATER}-{RULES}/{self.tagger.card.get('hash') or self.tagger.name}"

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]:
        remaining = iter(pairs)
        while batch := [(tuple(old), tuple(new)) for old, new in islice(remaining, AT_ONCE)]:
            tags = iter(self.tagger.tag_all([side for old, new in batch if old != new for side in (old, new)]))
            for old, new in batch:
                yield tuple(_edits(Words(old, next(tags)), Words(new, next(tags)))) if old != new else ()

    def types(self, words: Sequence[str], edits: Sequence[WordEdit]) -> list[str]:
        """Types for edits made elsewhere; edits that overlap or correct nothing get an empty type."""
        steps, corrected = _applied(words, edits)
        tags, new_tags = self.tagger.tag_all([words, corrected])
        source, target = Words(tuple(words), tags), Words(tuple(corrected), new_tags)
        return ["" if step is None else type_of(step, source, target) for step in steps]


def _edits(source: Words, target: Words) -> Iterator[WordEdit]:
    for step in merge(align(source, target), source, target):
        correction = " ".join(target.texts[step.new_start : step.new_end])
        yield WordEdit(step.start, step.end, type_of(step, source, target), correction)


def _applied(words: Sequence[str], edits: Sequence[WordEdit]) -> tuple[list[Step | None], list[str]]:
    """The position of each edit in the source and in the corrected sentence, and that sentence."""
    steps: list[Step | None] = [None] * len(edits)
    corrected: list[str] = []
    at = 0
    for index, edit in sorted(enumerate(edits), key=lambda pair: (pair[1].start, pair[1].end)):
        if edit.start < at:
            continue
        corrected += words[at : edit.start]
        new = edit.correction.split()
        if new or edit.start < edit.end:
            steps[index] = Step("E", edit.start, edit.end, len(corrected), len(corrected) + len(new))
        corrected += new
        at = edit.end
    return steps, corrected + list(words[at:])


class ErrantEngine:
    """The errant package, used as in `errant_parallel`. spaCy is loaded only here."""

    def __init__(self, spacy_model: str) -> None:
        self.spacy_model = spacy_model
        self.annotator = _load_errant(spacy_model)

    @property
    def name(self) -> str:
        return f"{ERRANT}-{version(ERRANT)}/{self.spacy_model}"

    def extract(self, pairs: Iterable[Pair]) -> Iterator[tuple[WordEdit, ...]]:
        for words, corrected in pairs:
            yield () if list(words) == list(corrected) else tuple(self._edits(words, corrected))

    def _edits(self, words: Sequence[str], corrected: Sequence[str]) -> Iterator[WordEdit]:
        parse = self.annotator.parse
        for edit in self.annotator.annotate(parse(" ".join(words)), parse(" ".join(corrected))):
            yield WordEdit(edit.o_start, edit.o_end, edit.type, edit.c_str)


def _load_errant(spacy_model: str) -> Any:
    try:
        spacy, errant = import_module("spacy"), import_module("errant")
    except ImportError as error:
        raise MissingExtra(
            f"the engine errant needs the package {error.name}; install it with: pip install 'grater[errant]'"
        ) from error
    try:
        pipeline = spacy.load(spacy_model, disable=["ner"])  # as errant.load does with its own
    except OSError as error:
        raise MissingExtra(
            f"the spaCy model {spacy_model!r} is not installed; install it (python -m spacy download {spacy_model}), "
            "or name one that is"
        ) from error
    return errant.load("en", pipeline)
