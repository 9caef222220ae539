"""Forms of verbs: from a base to its forms, and from any form to its base.

Our own rules and lists.  `verb_forms` takes the base; a verb that is not irregular is regular, so every string has
forms.  A prefixed verb (*overtake*, *rebuild*) is inflected like its verb.  Where English has two forms the commoner
is made (*learned*, *got*, *travelled*) and both are understood.  *Be* alone has a present and a past plural of their
own (*are*, *were*); modal verbs have one form and no base here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from grater.corpora.text.lemmas import IRREGULAR, SECOND_FORMS, is_word


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PREFIXES = "over under out mis re un fore inter up with counter pre breast cross"
PREFIXES = tuple(_PREFIXES.split())
BE_FORMS = {
    **dict.fromkeys(("be", "am", "is", "are", "was", "were", "been", "being"), "be"),
    **dict.fromkeys(("'m", "’m", "'re", "’re"), "be"),
    **dict.fromkeys(("'ve", "’ve"), "have"),
}
ALSO_BASES = _words("bore bound fell felt found ground lay left lit relay rent resent rose saw shed shot spat wound")
"""Pasts of one verb that are bases of another (*lay* of *lie*): the tag tells."""

MODALS = _words("can could may might must shall should will would ought cannot ca wo sha 'll ’ll 'd ’d")

DOUBLING = _words(
    "abet abhor abut acquit admit allot annul babysit backpedal befit begin cancel channel commit compel concur "
    "confer control counsel debug defer demur deter dial dispel distil eavesdrop embed emit enrol entrap equip "
    "excel expel forbid forget format fuel fulfil gas handicap hiccup incur infer input instil jewel kidnap label "
    "level marvel model occur offset omit outfit overlap overtop panel patrol pedal permit prefer program propel "
    "quarrel rebel rebut recap recur refer regret remit repel retrofit rival shovel sidestep signal snorkel "
    "stencil submit total towel transfer transmit transship travel tunnel underpin unplug unravel unwrap unzip "
    "upset worship zigzag"
)
"""Verbs of more than one syllable that double their last consonant."""

ONE_SYLLABLE = re.compile(r"(?:[^aeiou]|(?<=q)u)*[aeiou][bdfgklmnprtvz]\Z")
"""*stop*, *quit*: one vowel between consonants; *w*, *x* and *y* never double."""

VOWEL = re.compile("[aeiouy]")
SIBILANT = re.compile(r"(?:s|x|z|ch|sh)\Z")
CONSONANT_Y = re.compile(r"[^aeiou]y\Z")
SINGEING = _words("singe binge tinge whinge swinge")
IN_OES = _words("go do echo veto torpedo forego forgo undergo redo undo overdo outdo")
IN_CK = _words("frolic mimic panic picnic politic traffic bivouac")


@dataclass(frozen=True, slots=True)
class VerbForms:
    """The forms of a verb; `present` and `past_plural` differ from `base` and `past` in *be* alone."""

    base: str
    s: str
    past: str
    participle: str
    ing: str

    @property
    def present(self) -> str:
        return "are" if self.base == "be" else self.base

    @property
    def past_plural(self) -> str:
        return "were" if self.base == "be" else self.past


@lru_cache(maxsize=16_384)
def verb_forms(base: str) -> VerbForms:
    """The forms of a verb, from its base in lower case."""
    if base == "be":
        return VerbForms(base="be", s="is", past="was", participle="been", ing="being")
    past, participle = _past(base)
    return VerbForms(base=base, s=_s(base), past=past, participle=participle, ing=_ing(base))


def verb_base(word: str, tag: str = "VB") -> str:
    """The base of a form, in lower case; the tag tells *lay* (VB) from *lay* (VBD), which is of *lie*."""
    small = word.lower()
    if small in BE_FORMS:
        return BE_FORMS[small]
    if small in SECOND_FORMS and small not in IRREGULAR:
        return SECOND_FORMS[small]
    if tag in ("VB", "VBP") and (small in ALSO_BASES or small in IRREGULAR):
        return small
    return _BASE_OF.get(small) or _prefixed_base(small) or _regular_base(small)


_BASE_OF = {form: base for base, forms in IRREGULAR.items() for form in forms}
_BASE_OF |= {"has": "have", "does": "do", "goes": "go", "did": "do"}


@lru_cache(maxsize=16_384)
def _regular_base(small: str) -> str:
    """The likeliest base that is a word and has the form among its own; the word itself where there is none."""
    bases = (base for base in _cut(small) if base not in NOT_BASES and VOWEL.search(base) and is_word(base))
    return next((base for base in bases if small in _regular_forms(base)), small)


def _regular_forms(base: str) -> tuple[str, ...]:
    single = base[:-1] if base.endswith("l") else ""  # *traveled* next to *travelled*
    return (_s(base), _ed(base), _ing(base), base + "ed" if single else "", base + "ing" if single else "")


def _cut(small: str) -> Iterator[str]:
    """The possible bases of a regular form, the likelier first."""
    if small.endswith(("ies", "ied")):
        yield from (small[:-3] + "y", small[:-1], small[:-2])
    elif small.endswith("eed"):
        yield from (small,) if is_word(small) and small[:-1] not in IN_EE else (small[:-1],)
    elif small.endswith(("ed", "ing")):
        yield from _stems(small[:-2] if small.endswith("ed") else small[:-3])
    elif small.endswith("s") and not small.endswith("ss"):
        yield from (small[:-2], small[:-1]) if small.endswith("sses") else (small[:-1], small[:-2], small[:-3])


def _stems(rest: str) -> Iterator[str]:
    """*call*; *stop* of *stopp*; *hope* of *hop*; *lie* of *ly*; *panic* of *panick*."""
    if rest.endswith(("ll", "ss", "ff", "zz")) or rest in SHORT_DOUBLES:
        yield rest
    if rest[-1:] == rest[-2:-1]:
        yield rest[:-1]
    if ENDS_BEFORE_E.search(rest):
        yield rest + "e"
    yield from (rest, rest + "e", rest[:-1] + "ie", rest[:-1])


ENDS_BEFORE_E = re.compile(r"(?:[vuc]|[drn]g|[ai]z|[aiuorln]s|[bt]l|at|ag)\Z")
IN_EE = _words("agree disagree decree free guarantee referee puree knee fee tee flee")
SHORT_DOUBLES = _words("add err ebb egg purr butt")
NOT_BASES = _words(
    "ad bal belonge breath brows cal cloth compar curs di din dol er fin fir hir laps longe ow pal past prolonge "
    "pul quot rout sal springe teeth tel ti tir typ unit wan wast wreath"
)
"""Words of the list that are rarely or never the verb, where another base has the same forms."""


def _prefixed_base(small: str) -> str:
    prefix, rest = _split(small, _BASE_OF)
    base = prefix + _BASE_OF[rest] if rest else ""
    return base if is_word(base) else ""


def _split(word: str, known: dict[str, str] | dict[str, tuple[str, str]]) -> tuple[str, str]:
    """A prefix and the irregular verb after it, or two empty strings."""
    for prefix in PREFIXES:
        rest = word.removeprefix(prefix)
        if rest != word and rest in known:
            return prefix, rest
    return ("", "")


def _past(base: str) -> tuple[str, str]:
    if base in IRREGULAR:
        return IRREGULAR[base]
    prefix, rest = _split(base, IRREGULAR)
    if rest:
        past, participle = IRREGULAR[rest]
        return prefix + past, prefix + participle
    return (_ed(base),) * 2


def _s(base: str) -> str:
    if base == "have":
        return "has"
    if base in ("quiz", "whiz"):
        return base + "zes"
    if base in IN_OES or SIBILANT.search(base):
        return base + "es"
    return base[:-1] + "ies" if CONSONANT_Y.search(base) else base + "s"


def _ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if CONSONANT_Y.search(base) else _before_vowel(base) + "ed"


def _ing(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and len(base) > 2 and not base.endswith(("ee", "oe", "ye")) and base not in SINGEING:
        return base[:-1] + "ing"
    return _before_vowel(base) + "ing"


def _before_vowel(base: str) -> str:
    if base in IN_CK:
        return base + "k"
    if base in ("quiz", "whiz"):
        return base + "z"
    return base + base[-1] if _doubles(base) else base


def _doubles(base: str) -> bool:
    if base in DOUBLING or ONE_SYLLABLE.fullmatch(base):
        return True
    _, rest = _split(base, IRREGULAR)
    return ONE_SYLLABLE.fullmatch(rest) is not None
