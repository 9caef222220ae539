"""Rules that complement the classifier, each of which can be switched off.

In the spirit of Tetreault & Chodorow, COLING 2008 ("The Ups and Downs of Preposition Error Detection in ESL
Writing"), section 3.2.  Some keep the system silent:

- `spelling`: a word within two of the place is unknown (a misspelling, noise): the classifier cannot be trusted
  there;
- `antonyms`: the suggestion is the opposite of what was written, which is a matter of meaning (*with*, *without*);
- `benefactives`: *for* with a person after it, where *to* and *for* are both good (*bought it for her*).

Others flag what the classifier may miss:

- `quantifiers`: *of* between a quantifier and a bare noun (*some of people*) is extraneous;
- `repeated`: the same preposition twice in a row: the second is extraneous.

`NAMES` says which are on by default; docs/detectors.md shows what each does to precision and recall.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from grater.detect.prepositions.candidates import Candidate
from grater.detect.prepositions.thresholds import CHOICE, EXTRANEOUS
from grater.errors import UnknownName
from grater.registry import unknown
from grater.text.prepositions import canonical

NEAR = 2

_OPPOSITES = (
    "with without",
    "to from",
    "into from",
    "before after",
    "above under",
    "over under",
    "on off",
    "for against",
    "with against",
    "since until",
    "before since",
    "within without",
    "behind before",
)
OPPOSITES = frozenset(frozenset(pair.split()) for pair in _OPPOSITES)

_QUANTIFIERS = "some many most few several any all both each"
QUANTIFIERS = frozenset(_QUANTIFIERS.split())
BARE = frozenset(("NN", "NNS"))
PEOPLE = frozenset(
    [
        "me",
        "you",
        "him",
        "her",
        "us",
        "them",
        "himself",
        "herself",
        "themselves",
        "myself",
        "yourself",
        "people",
        "person",
        "man",
        "men",
        "woman",
        "women",
        "child",
        "children",
        "student",
        "students",
        "parent",
        "parents",
        "friend",
        "friends",
        "family",
        "user",
        "users",
        "customer",
        "customers",
        "patient",
        "patients",
    ]
)


class Words(Protocol):
    """Anything that contains words."""

    def __contains__(self, word: str, /) -> bool: ...


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that is about to be raised on a candidate."""

    candidate: Candidate
    type: str
    written: str
    suggestion: str


def spelling(flag: Flag, known: Words) -> bool:
    """Whether a word near the place is unknown; names and what is no plain word are ignored."""
    sentence, index = flag.candidate.sentence, flag.candidate.index
    nearby = range(max(0, index - NEAR), min(len(sentence.words), index + NEAR + 1))
    return any(
        sentence.words[near].isalpha()
        and not sentence.tags[near].startswith(("NNP", "FW"))
        and sentence.words[near] not in known
        for near in nearby
        if near != index
    )


def antonyms(flag: Flag, known: Words) -> bool:  # noqa: ARG001 (all filters are called alike)
    return flag.type == CHOICE and frozenset((flag.written, flag.suggestion)) in OPPOSITES


def benefactives(flag: Flag, known: Words) -> bool:  # noqa: ARG001
    """Whether a person follows *for*."""
    if flag.type != CHOICE or flag.written != "for":
        return False
    words = flag.candidate.sentence.words[flag.candidate.index + 1 : flag.candidate.index + 1 + NEAR]
    return any(word.lower() in PEOPLE for word in words)


def quantifiers(candidate: Candidate) -> bool:
    """Whether the candidate is *of* between a quantifier and a bare noun."""
    words, tags, index = candidate.sentence.words, candidate.sentence.tags, candidate.index
    if candidate.is_gap or words[index].lower() != "of" or not 0 < index < len(words) - 1:
        return False
    return words[index - 1].lower() in QUANTIFIERS and tags[index + 1] in BARE


def repeated(candidate: Candidate) -> bool:
    """Whether the candidate repeats the word before it."""
    words, index = candidate.sentence.words, candidate.index
    if candidate.is_gap or index == 0:
        return False
    before = canonical(words[index - 1])
    return before is not None and before == canonical(words[index])


SILENCING: dict[str, Callable[[Flag, Words], bool]] = {
    "spelling": spelling,
    "antonyms": antonyms,
    "benefactives": benefactives,
}
FLAGGING: dict[str, Callable[[Candidate], bool]] = {"quantifiers": quantifiers, "repeated": repeated}
NAMES = (*SILENCING, *FLAGGING)
DEFAULT = frozenset(NAMES)


def check_names(names: Collection[str]) -> frozenset[str]:
    for name in names:
        if name not in NAMES:
            raise UnknownName(unknown("filter", name, sorted(NAMES)))
    return frozenset(names)


def is_silenced(flag: Flag, known: Words, names: Collection[str]) -> bool:
    """Whether an active filter rejects the flag."""
    return any(SILENCING[name](flag, known) for name in names if name in SILENCING)


def is_flagged(candidate: Candidate, names: Collection[str]) -> bool:
    """Whether an active filter calls the candidate extraneous."""
    return any(FLAGGING[name](candidate) for name in names if name in FLAGGING)


TYPE_OF_RULES = EXTRANEOUS
