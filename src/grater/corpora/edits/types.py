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

Where ERRANT asks a parser (auxiliaries, subjects, finite verbs), tags and neighbouring words decide; where tagger and
words contradict each other (*depend*, tagged as a noun, corrected to *depends*), the forms that a word may be are
tried.
"""

from __future__ import annotations

from functools import cached_property

from grater.corpora.edits.align import CONTENT, Step, Words, are_related, character_ratio
from grater.corpora.text.inflect import singular
from grater.corpora.text.lemmas import is_word, lemma, lemmas_of

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
    """*Game* to *The game* is a missing determiner: words that differ in case alone are left out at the end."""
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
        """The category of words that are missing or unnecessary."""
        if len(self) == 1 and self.is_genitive(0):
            return "NOUN:POSS"
        if self.kinds == {"PUNCT"}:
            return "PUNCT"
        if len(self) == 1 and self.lower[0] in CLITICS:
            return "CONTR"
        if self.tags == ("TO",):
            return "VERB:FORM" if self._is_before_verb() else "PREP"
        if self.are_auxiliaries:
            return "VERB:TENSE"
        return _shared(self.kinds)

    def is_genitive(self, index: int) -> bool:
        """*'s*, or the apostrophe after a plural."""
        if self.tags[index] == "POS":
            return True
        at = self.start + index
        is_apostrophe = self.lower[index] in ("'", "’") and at > 0
        return (
            is_apostrophe
            and self.words.lower[at - 1].endswith("s")
            and self.words.categories(at - 1, at) == ("NOUN",)
        )

    def _is_before_verb(self) -> bool:
        after = self.words.tags[self.end : self.end + 2]
        return any(tag.startswith("VB") for tag in after)


def _shared(kinds: frozenset[str]) -> str:
    """The one category of all words; verbs with particles are verbs."""
    if kinds == {"PART", "VERB"}:
        return "VERB"
    return next(iter(kinds)) if len(kinds) == 1 and kinds <= NAMED else OTHER


def replacement(old: _Side, new: _Side) -> str:
    """The category of words that stand for others."""
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
    if _is_contraction(old, new):
        return "CONTR"
    if _is_misspelt(old):
        return _misspelt(old, new)
    if _are_forms(old, new) and (form := _form(old, new)) is not None:
        return form
    if old.are_auxiliaries and new.are_auxiliaries:
        return "VERB:TENSE"
    return _other_word(old, new)


def _are_forms(old: _Side, new: _Side) -> bool:
    return old.lemmas == new.lemmas or are_related(old.lower[0], new.lower[0])


def _is_contraction(old: _Side, new: _Side) -> bool:
    words = {old.lower[0], new.lower[0]}
    if words <= IS:
        return True
    return bool(words & CLITICS) and (old.lemmas == new.lemmas or old.kinds == new.kinds)


def _is_misspelt(side: _Side) -> bool:
    word = side.texts[0]
    return word.isalpha() and not is_word(word)


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
    """The difference in form, where the corrected word's part of speech is taken for both: taggers err on errors."""
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
    """Whether two nouns are one in two forms; *testing* and *test* are two."""
    are_gerunds = [form.removesuffix("s").endswith("ing") for form in (word, other)]
    return are_gerunds[0] == are_gerunds[1] and bool(lemmas_of(word) & lemmas_of(other))


def _differ_in_s(word: str, other: str) -> bool:
    """Whether one word is the other with *-s* or *-es*."""
    short, long = sorted((word, other), key=len)
    return long in (short + "s", short + "es")


def _verb_form(old: _Side, new: _Side) -> str:
    """Number of a finite verb, its tense, or a form that is not finite."""
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


def _other_word(old: _Side, new: _Side) -> str:
    kinds = old.kinds | new.kinds
    if kinds == {"PART", "PREP"}:
        return "PART"
    if kinds == {"DET", "PRON"}:
        return _determiner_or_pronoun(old, new)
    if kinds == {"ADV", "PRON"} and "EX" in old.tags + new.tags:  # *it* for *there* as a subject
        return "PRON"
    return _shared(kinds)


def _determiner_or_pronoun(old: _Side, new: _Side) -> str:
    tags = old.tags + new.tags
    if "PRP" in tags or {*old.lower, *new.lower} <= RELATIVE:
        return "PRON"
    return "DET" if "PRP$" in tags else OTHER


def _several(old: _Side, new: _Side) -> str:
    kinds = old.kinds | new.kinds
    if kinds == {"PUNCT"}:
        return "PUNCT"
    if (old.is_genitive(len(old) - 1) or new.is_genitive(len(new) - 1)) and kinds <= {"NOUN", "PART", "PUNCT"}:
        return "NOUN:POSS"
    if kinds == {"VERB"}:
        return _verbs(old, new)
    if kinds == {"PART", "VERB"}:
        return "VERB:FORM" if _same_end(old, new) else "VERB"
    if kinds <= {"ADJ", "ADV"} and ({*old.lower, *new.lower} & DEGREES) and _same_end(old, new):
        return "ADJ:FORM"
    return _shared(kinds)


def _verbs(old: _Side, new: _Side) -> str:
    if _same_end(old, new):
        return "VERB:TENSE"
    return "VERB:TENSE" if old.are_auxiliaries and new.are_auxiliaries else "VERB"


def _same_end(old: _Side, new: _Side) -> bool:
    return old.lemmas[-1] == new.lemmas[-1] or bool(lemmas_of(old.lower[-1]) & lemmas_of(new.lower[-1]))
