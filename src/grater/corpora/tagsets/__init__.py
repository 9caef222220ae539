"""The tag sets of the field, what their tags mean, and how they map to each other (docs/tagsets.md).

`TAGSETS["nucle"]` gives a set; `MAPS["nucle", "conll14"]` says what its tags are in another; `split` tells
prepositions and articles apart by the words of an edit; `guess_tagset` finds the set of a corpus.  Others join by the
entry-point group `grater.tagsets`.  Our own are the tables next to this module, in the order and the groups of their
sources; all examples are ours.

- `nucle.tsv`: 27 tags in 13 groups.  Dahlmeier, Ng and Wu 2013, Table 1 (codes, names, groups and their order) and
  section 2; descriptions are our own.  `Um` (cannot be corrected), `Cit` and `Wa` (Table 1 gives a practice, not a
  correction) owe no correction.
- `conll14.tsv`: the 28 tags of the CoNLL-2013 and 2014 shared tasks, NUCLE's with prepositions apart.  Ng et al. 2013
  and 2014, "The CoNLL-2014 Shared Task on Grammatical Error Correction", section 3: the organisers split `Wcip` into
  `Prep` and `Wci`, and moved redundant articles and prepositions out of `Rloc`, whose rest they called `Rloc-`.  They
  give no groups; ours are NUCLE's and one more for `Prep`.
- `errant.tsv`: the 55 error types of ERRANT, an operation and a main type, `M:DET`, or `UNK`.  Bryant, Felice and
  Briscoe 2017, "Automatic Annotation and Evaluation of Error Types for Grammatical Error Correction", section 3 and
  appendix A; the code of ERRANT 3.0 gives the same.  Operations: M a word is missing, R a word is to be replaced, U a
  word is unnecessary.  Types that compare two words (form, number, inflection, agreement, spelling, case, order)
  exist with R only; infinitival *to* and auxiliaries can be missing, so `VERB:FORM` and `VERB:TENSE` exist
  with all three.  `UNK` is an error found but not corrected.  ERRANT's `noop` is neither an error nor a tag here.
- `clc.tsv`: the error codes of the Cambridge Learner Corpus, as the public FCE and BEA-2019 data use them.  The
  scheme: Nicholls 2003, "The Cambridge Learner Corpus: error coding and analysis for lexicography and ELT".  A first
  letter says what is wrong (F form, M missing, R replace, U unnecessary, D derivation, I inflection, C countability,
  AG agreement), a second the word class; the rest have codes of their own.  The list: the 77 codes of Bryant 2019
  (UCAM-CL-TR-938), which we know from public copies of it; descriptions are our own.  Not covered: Nicholls and the
  NUCLE paper (section 6) speak of 88 codes; among those missing here are the false friends (FF with a word class) and
  pairs that the public data do not use (FC, FT).  Newer private releases add codes (ER, PN, SB, Y...).  Some public
  tools read `ID` as the inflection of determiners; in Nicholls it is idiom, and `DI` is the determiner.  `CE` marks
  strings too tangled to take apart: it owes no correction (our reading).
- `maps.tsv`: what a tag of one set is in another.  *Into CoNLL-2014*: NUCLE's is the organisers' own re-mapping (Ng
  et al. 2013 and 2014, section 3).  Those from ERRANT and from the CLC codes are our reading of the definitions: the
  published ones map data, not tags.  That a CoNLL-2014 tag does not tell missing from unnecessary does not make it
  broader: the edit itself says so.  *Into ERRANT*: its operation (M, R, U) is in the edit, not in a CoNLL-2014 tag,
  and its main type is the word class, which most of those tags do not name; so most answers are one of several, by
  the operation, or nothing.  *Into the CLC codes*: from ERRANT only; NUCLE and CoNLL-2014 tags do not name the word
  class that a CLC code needs.  The CLC tells agreement, countability and form of one word class apart; ERRANT does
  not.

`split` tells two broad NUCLE tags apart by the words of the edit: prepositions in `Wcip`, articles in `Rloc`.
Dahlmeier, Ng and Wu 2013, section 5: the bulk of `Wcip` are prepositions, and many local redundancies are articles;
the paper looked by hand and gives no rule.  Ours: take the words of the span and of the first correction, in small
letters, and drop those that both have; what is left has changed.  If all that has changed are prepositions it is
`Wcip/prep`; if all are articles it is `Rloc/article`; else, and where nothing changed or no correction is given, it
is `/other`.  Measured on the CoNLL-2014 test essays, whose annotators distinguished the two: 541 of 601
`Prep` edits come out as prepositions and 809 of 819 `Wci` edits as other; those missed are mostly particles (*out*,
*up*) and prepositions outside the 34 (*regarding*, *throughout*).

Edge cases: a span that starts or ends inside a word is read with the whole word.  Words have no tags here, so the
*to* of an infinitive counts as a preposition.  The CoNLL-2014 tag `Rloc-` is split in the same way; other tags stay
as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Literal, TypeAlias, cast

from grater.corpora.text.prepositions import canonical
from grater.errors import UnknownName, unknown
from grater.model import Edit, Span
from grater.options import Registry


@dataclass(frozen=True, slots=True)
class Tag:
    """One kind of error.

    `example` is a sentence of our own with the error and its correction, `She [go → goes] home.`; ∅ stands for no
    word. `owes_correction` is false where the kind is about text that cannot be, or need not be, corrected.
    """

    code: str
    name: str
    group: str
    description: str
    example: str
    owes_correction: bool = True


@dataclass(frozen=True)
class TagSet:
    """Tags by code, in the order of their source; `title` names that source."""

    name: str
    title: str
    tags: tuple[Tag, ...]

    @cached_property
    def by_code(self) -> dict[str, Tag]:
        return {tag.code: tag for tag in self.tags}

    def __contains__(self, code: object) -> bool:
        return code in self.by_code

    def __iter__(self) -> Iterator[Tag]:
        return iter(self.tags)

    def __len__(self) -> int:
        return len(self.tags)

    def __getitem__(self, code: str) -> Tag:
        if code not in self.by_code:
            raise UnknownName(unknown(f"{self.name} tag", code, list(self.by_code)))
        return self.by_code[code]


def _rows(name: str) -> list[list[str]]:
    """The rows of a table next to this module, without its head."""
    lines = (files("grater.corpora.tagsets") / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:]]


def _tagset(name: str, title: str) -> TagSet:
    rows = _rows(name)
    tags = (Tag(code, name, group, words, example, owes == "yes") for code, name, group, words, example, owes in rows)
    return TagSet(name, title, tuple(tags))


NUCLE = _tagset("nucle", "NUCLE (Dahlmeier, Ng and Wu 2013, Table 1)")
CONLL14 = _tagset("conll14", "CoNLL-2014 (Ng et al. 2014)")
ERRANT = _tagset("errant", "ERRANT (Bryant, Felice and Briscoe 2017)")
CLC = _tagset("clc", "CLC (Nicholls 2003; Bryant 2019)")

OURS = {tagset.name: f"grater.corpora.tagsets:{tagset.name.upper()}" for tagset in (NUCLE, CONLL14, ERRANT, CLC)}
TAGSETS: Registry[TagSet] = Registry("tag set", "grater.tagsets", OURS)


def all_tagsets() -> tuple[TagSet, ...]:
    """Ours in the order above, then those of others by name."""
    others = [name for name in TAGSETS if name not in OURS]
    return tuple(TAGSETS[name] for name in (*OURS, *others))


def guess_tagset(tags: Collection[str]) -> TagSet:
    """The set that knows most of the given tags; the earlier one where two know as many."""
    return max(all_tagsets(), key=lambda tagset: sum(tag in tagset for tag in tags))


Relation: TypeAlias = Literal["exact", "broader", "split", "none"]
"""exact: the same errors.  broader: the nearest tag covers more, or cuts otherwise; something is lost.  split: one of
several tags, and only the words of the edit can tell which.  none: no counterpart."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """The answer of a map: no code for `none`, several for `split`, else one; `reason` is what is lost or needed."""

    relation: Relation
    codes: tuple[str, ...]
    reason: str = ""


MAPS: dict[tuple[str, str], dict[str, Mapped]] = {}
"""By source and target set: what each tag of the one is in the other."""
for _source, _target, _tag, _relation, _codes, _reason in _rows("maps"):
    _table = MAPS.setdefault((_source, _target), {})
    _table[_tag] = Mapped(cast(Relation, _relation), tuple(_codes.split()), _reason)

WORD = re.compile(r"\w+(?:['’]\w+)*")
ARTICLES = frozenset({"a", "an", "the"})


def changed_words(edit: Edit, text: str) -> list[str]:
    """The words of the span and of the first correction that the other does not have, in lower case."""
    if not edit.replacements:
        return []
    span = _grown(edit.span, text)
    replaced = text[span.start : edit.span.start] + edit.replacements[0] + text[edit.span.end : span.end]
    before, after = (Counter(WORD.findall(words.lower())) for words in (span.of(text), replaced))
    return [*(before - after), *(after - before)]


def _grown(span: Span, text: str) -> Span:
    """The span with the words whole that it cuts."""
    start, end = span.start, span.end
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return Span(start, end)


KINDS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "Wcip": ("prep", lambda word: canonical(word) is not None),
    "Rloc": ("article", ARTICLES.__contains__),
    "Rloc-": ("article", ARTICLES.__contains__),
}


def split(edit: Edit, text: str) -> str:
    """The tag with its half: `Wcip/prep`, `Wcip/other`, `Rloc/article`, `Rloc/other`; any other tag as it is."""
    if edit.tag not in KINDS:
        return edit.tag
    name, kind = KINDS[edit.tag]
    changed = changed_words(edit, text)
    return f"{edit.tag}/{name if changed and all(map(kind, changed)) else 'other'}"
