"""Forms of nouns: plural, singular, which of the two a form is, and *a* or *an* before a word.

Our own rules and lists (`noun_forms`).  Every function takes any string and keeps its case: *Child*, *Children*;
*CHILD*, *CHILDREN*; *CD*, *CDs*.  A plural stays as it is when made plural, and so does a singular.  Compounds follow
their last part (*policeman*, *bookshelf*).  Where English has two plurals, the commoner is made and both are
understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, TypeAlias

from grater.text.noun_forms import (
    ALSO_PLURAL,
    COMPOUND_ENDS,
    E_BEFORE_S,
    HARD_CH,
    IN_IE,
    IN_USE,
    IRREGULAR,
    MASS,
    NO_COMPOUND,
    NOT_OF_MAN,
    OES,
    OTHER_PLURALS,
    PLURAL_ONLY,
    SINGULAR_IN_S,
    SIS,
    UNCHANGED,
    VES,
)
from grater.text.sound import is_spelt_out

Number: TypeAlias = Literal["singular", "plural", "either"]

_SINGULAR_OF = {plural: singular for singular, plural in IRREGULAR.items()} | ALSO_PLURAL | OTHER_PLURALS
_SINGULAR_OF |= {"themselves": "themself", "ourselves": "ourself"}
_SINGULAR_OF |= {noun.removesuffix("sis") + "ses": noun for noun in SIS}

_IN_VES = {noun: re.sub("fe?$", "ves", noun) for noun in VES}
_SINGULAR_OF |= {plural: singular for singular, plural in _IN_VES.items()}
_PLURAL_OF = IRREGULAR | _IN_VES

SIBILANT = re.compile(r"(?:s|x|z|ch|sh)\Z")
CONSONANT_Y = re.compile(r"(?:[^aeiou]|qu)y\Z")
SINGULAR_ENDING = re.compile(r"(?:ss|us|is)\Z")
ES_AFTER_SIBILANT = re.compile(r"(?:ss|x|ch|sh|tz|zz)es\Z")
PEOPLES = re.compile(r"[a-z]{3,}(?:nese|lese|mese|uese|tese)\Z")
"""*Chinese*, *Vietnamese*, *Portuguese*: one form for both numbers."""


def plural(noun: str) -> str:
    """The plural of a noun; a plural is given back."""
    small = noun.lower()
    if not small or number_of(noun) != "singular" or not small[-1].isalpha():
        return noun if small[-1:].isalpha() or not small else noun + "s"
    if is_spelt_out(noun) or len(noun) == 1:
        return noun + "s"
    if small in MASS and small.endswith("s"):
        return noun
    return _like(noun, _plural(small))


def singular(noun: str) -> str:
    """The singular of a noun; a singular, or a noun without one, is given back."""
    small = noun.lower()
    if number_of(noun) != "plural" or small in PLURAL_ONLY:
        return noun
    if is_spelt_out(noun[:-1]) and noun.endswith("s"):
        return noun[:-1]
    return _like(noun, _singular(small))


def number_of(noun: str) -> Number:
    """Whether a form is a singular, a plural, or either (*sheep*)."""
    small = noun.lower()
    if small in UNCHANGED or PEOPLES.match(small):
        return "either"
    if small in _SINGULAR_OF or small in PLURAL_ONLY:
        return "plural"
    if small in _PLURAL_OF or small in SINGULAR_IN_S or small in MASS:
        return "singular"
    if _compound(small, _PLURALS_OF_ENDS):
        return "plural"
    if not small.endswith("s") or len(small) < 3:
        return "singular"
    return "singular" if SINGULAR_ENDING.search(small) else "plural"


def is_mass(noun: str) -> bool:
    """Whether a noun has, in most uses, neither *a* nor a plural (*information*)."""
    return noun.lower() in MASS


_PLURALS_OF_ENDS = {_PLURAL_OF[end]: end for end in COMPOUND_ENDS}


def _compound(small: str, ends: Iterable[str]) -> str:
    """The noun at the end of a compound, if one of these is; an empty string otherwise."""
    if small in NO_COMPOUND or small.removesuffix("s") in NOT_OF_MAN:
        return ""
    return next((end for end in ends if small.endswith(end) and len(small) - len(end) >= 2), "")


def _plural(small: str) -> str:
    if small in _PLURAL_OF:
        return _PLURAL_OF[small]
    if end := _compound(small, COMPOUND_ENDS):
        return small.removesuffix(end) + _PLURAL_OF[end]
    if small in SIS:
        return small.removesuffix("is") + "es"
    if SIBILANT.search(small) and not small.endswith(HARD_CH):
        return small + "es"
    if CONSONANT_Y.search(small):
        return small[:-1] + "ies"
    return small + ("es" if small in OES else "s")


def _singular(small: str) -> str:
    if small in _SINGULAR_OF:
        return _SINGULAR_OF[small]
    if end := _compound(small, _PLURALS_OF_ENDS):
        return small.removesuffix(end) + _PLURALS_OF_ENDS[end]
    without = small[:-1]
    if small.endswith("ies"):
        return without if without in IN_IE or len(small) == 4 else small[:-3] + "y"
    if without in E_BEFORE_S:
        return without
    if small.endswith("uses"):
        return without if without in IN_USE or small.endswith(("houses", "auses")) else small[:-2]
    if ES_AFTER_SIBILANT.search(small) or small[:-2] in OES:
        return small[:-2]
    return without


def _like(model: str, form: str) -> str:
    """A form in the case of another."""
    if len(model) > 1 and model.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if model[:1].isupper() else form
