"""Lemmas: the form of a word that a dictionary lists it under, decided from the word and its tag.

Our own rules and lists of irregular forms; the list of English words says which of the possible bases is a word, so
that *hoping* belongs to *hope* and *hopping* to *hop*.  A word that no rule reduces is its own lemma; a proper
noun keeps its form.  Lemmas are in lower case.

`stem` goes further and cuts off derivational endings: *decide*, *decision* and *decisive* share one.  It is not a
word, only a key by which related words meet.

`is_word` tells a misspelling from a wrong word.  Its list, `words.model`, is made of two that Debian ships
(`wbritish-large` and `wamerican-large` 2020.12.07), which come from Kevin Atkinson's SCOWL (Spell Checker Oriented
Word Lists); NOTICE has its terms.  Forms in *'s* are left out.  It is read when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from grater.corpora.text.inflect import singular
from grater.models import read_model, shipped

KIND = "words"


@cache
def words() -> frozenset[str]:
    """All words of the list, as written there: names have their capital."""
    return frozenset(read_model(shipped(KIND), kind=KIND).strings["words"])


def is_word(text: str) -> bool:
    """Whether the text is on the list, unchanged or in lower case."""
    known = words()
    return text in known or text.lower() in known


_COMMON = """
    the of and to is was are i you it that for on with he she they we have this be not my from at by or an
    there were has had can will do what but if so when which their
"""
COMMON = frozenset(_COMMON.split())
"""A fifth and more of the words of an English text, and hardly one in ten of any other."""

WORD = re.compile(r"[^\W\d_]+")
FEW_WORDS = 5


def english_share(text: str) -> float:
    """How sure it is that a text is English, from 0 to 1; 1 for a text without words.

    A text is English from .5 on: where a fifth of its words are common ones, or nine tenths are on the list.
    """
    words = [word.lower() for word in WORD.findall(text)]
    if not words:
        return 1.0
    known = sum(map(is_word, words)) / len(words)
    common = sum(word in COMMON for word in words) / len(words)
    is_english = common >= 0.2 or known >= (0.9 if len(words) >= FEW_WORDS else 0.5)
    return max(0.5, min(0.99, known)) if is_english else min(0.49, known)


def _forms(text: str) -> dict[str, str]:
    """From `base:past,participle` to each form's base."""
    lemmas: dict[str, str] = {}
    for entry in text.split():
        base, _, forms = entry.partition(":")
        lemmas |= dict.fromkeys(forms.split(","), base)
    return lemmas


_IRREGULAR = (
    "arise:arose:arisen awake:awoke:awoken babysit:babysat:babysat bear:bore:borne beat:beat:beaten "
    "become:became:become befall:befell:befallen beget:begot:begotten begin:began:begun behold:beheld:beheld "
    "bend:bent:bent bet:bet:bet bid:bid:bid bind:bound:bound bite:bit:bitten bleed:bled:bled blow:blew:blown "
    "break:broke:broken breed:bred:bred bring:brought:brought broadcast:broadcast:broadcast build:built:built "
    "burst:burst:burst buy:bought:bought cast:cast:cast catch:caught:caught choose:chose:chosen cling:clung:clung "
    "come:came:come cost:cost:cost creep:crept:crept cut:cut:cut deal:dealt:dealt dig:dug:dug do:did:done "
    "draw:drew:drawn drink:drank:drunk drive:drove:driven dwell:dwelt:dwelt eat:ate:eaten fall:fell:fallen "
    "feed:fed:fed feel:felt:felt fight:fought:fought find:found:found flee:fled:fled fling:flung:flung "
    "fly:flew:flown forbid:forbade:forbidden forecast:forecast:forecast foresee:foresaw:foreseen "
    "foretell:foretold:foretold forget:forgot:forgotten forgive:forgave:forgiven forgo:forwent:forgone "
    "forsake:forsook:forsaken freeze:froze:frozen get:got:got give:gave:given go:went:gone grind:ground:ground "
    "grow:grew:grown hang:hung:hung have:had:had hear:heard:heard hide:hid:hidden hit:hit:hit hold:held:held "
    "hurt:hurt:hurt keep:kept:kept kneel:knelt:knelt know:knew:known lay:laid:laid lead:led:led leave:left:left "
    "lend:lent:lent let:let:let lie:lay:lain light:lit:lit lose:lost:lost make:made:made mean:meant:meant "
    "meet:met:met mow:mowed:mown offset:offset:offset overhear:overheard:overheard partake:partook:partaken "
    "pay:paid:paid prove:proved:proven put:put:put quit:quit:quit read:read:read ride:rode:ridden ring:rang:rung "
    "rise:rose:risen run:ran:run saw:sawed:sawn say:said:said see:saw:seen seek:sought:sought sell:sold:sold "
    "send:sent:sent set:set:set sew:sewed:sewn shake:shook:shaken shear:sheared:shorn shed:shed:shed "
    "shine:shone:shone shoot:shot:shot show:showed:shown shrink:shrank:shrunk shut:shut:shut sing:sang:sung "
    "sink:sank:sunk sit:sat:sat slay:slew:slain sleep:slept:slept slide:slid:slid sling:slung:slung slit:slit:slit "
    "sow:sowed:sown speak:spoke:spoken speed:sped:sped spend:spent:spent spin:spun:spun spit:spat:spat "
    "split:split:split spread:spread:spread spring:sprang:sprung stand:stood:stood steal:stole:stolen "
    "stick:stuck:stuck sting:stung:stung stink:stank:stunk stride:strode:stridden strike:struck:struck "
    "string:strung:strung strive:strove:striven swear:swore:sworn sweep:swept:swept swell:swelled:swollen "
    "swim:swam:swum swing:swung:swung take:took:taken teach:taught:taught tear:tore:torn tell:told:told "
    "think:thought:thought throw:threw:thrown thrust:thrust:thrust tread:trod:trodden wake:woke:woken "
    "wear:wore:worn weave:wove:woven weep:wept:wept win:won:won wind:wound:wound withdraw:withdrew:withdrawn "
    "withhold:withheld:withheld withstand:withstood:withstood wring:wrung:wrung write:wrote:written"
)
IRREGULAR: dict[str, tuple[str, str]] = {
    base: (past, participle) for base, past, participle in (entry.split(":") for entry in _IRREGULAR.split())
}
"""Base to past and participle."""

_SECOND = (
    "beaten:beat born:bear burnt:burn dreamt:dream gotten:get leant:lean leapt:leap learnt:learn proved:prove "
    "smelt:smell spelt:spell spilt:spill spoilt:spoil stricken:strike showed:show sped:speed lighted:light "
    "hanged:hang kneeled:kneel sewed:sew swelled:swell shined:shine dwelled:dwell pleaded:plead pled:plead"
)
SECOND_FORMS: dict[str, str] = dict(pair.split(":") for pair in _SECOND.split())
"""Other pasts or participles, to their base."""

IRREGULAR_VERBS = {form: base for base, forms in IRREGULAR.items() for form in forms if form != base}
IRREGULAR_VERBS |= SECOND_FORMS | _forms(
    "be:am,is,are,was,were,been,being,'m,'re,’m,’re,ai can:ca,could die:dying do:does go:goes have:has,'ve,’ve "
    "lie:lying mistake:mistook,mistaken overcome:overcame oversee:oversaw,overseen overtake:overtook,overtaken "
    "rebuild:rebuilt repay:repaid shall:should,sha tie:tying undergo:underwent,undergone understand:understood "
    "undertake:undertook,undertaken undo:undid,undone uphold:upheld will:'ll,’ll,wo,would,'d,’d"
)
"""Every irregular form to its base."""

IRREGULAR_ADJECTIVES = _forms(
    "good:better,best bad:worse,worst far:further,furthest,farther,farthest little:less,least many:more,most"
)
IRREGULAR_ADVERBS = _forms(
    "well:better,best badly:worse,worst far:further,furthest,farther,farthest little:less,least"
)
AS_WRITTEN = {"n't": "not", "n’t": "not", "an": "a", "'em": "them"}
PRONOUNS = _forms("i:me he:him she:her we:us they:them who:whom")

SHORT_VOWEL = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")
"""*hop*, which would double its consonant before an ending: *hoping* is of *hope*."""

LOST_E = ("at", "iz", "is", "us", "uc", "ag", "rg", "ng", "nc", "v", "u", "as", "os")
"""Ends of a base that has most often lost an *e*: *creat*, *chang*."""

VOWEL = re.compile("[aeiouy]")

IN_THE_BASE = re.compile(r"ll\Z|ff\Z|zz\Z|\A[aeiou](.)\1\Z")
"""Ends of a base that has two consonants of its own: *telling*, *stuffing*, *adding*."""

DOUBLED = re.compile(r"([bdfgklmnprtvz])\1\Z")


def lemma(word: str, tag: str) -> str:
    """The lemma of a word under a tag of the Penn Treebank."""
    small = word.lower()
    if small in AS_WRITTEN:
        return AS_WRITTEN[small]
    return _lemma(small, tag[:2] if tag[:2] in ("VB", "JJ", "RB") else tag)


@lru_cache(maxsize=65_536)
def _lemma(small: str, tag: str) -> str:
    if tag in ("VB", "MD"):
        return IRREGULAR_VERBS.get(small) or _regular(small, _verb_bases(small))
    if tag in ("NNS", "NN"):
        return singular(small) if tag == "NNS" else small
    if tag == "NNPS":
        return singular(small)
    if tag == "JJ":
        return IRREGULAR_ADJECTIVES.get(small) or _regular(small, _compared(small))
    if tag == "RB":
        return IRREGULAR_ADVERBS.get(small) or _regular(small, _compared(small))
    if tag == "PRP":
        return PRONOUNS.get(small, small)
    return small


def lemmas_of(word: str) -> frozenset[str]:
    """Every lemma that the word might have, whatever its tag."""
    return _lemmas_of(word.lower())


@lru_cache(maxsize=65_536)
def _lemmas_of(small: str) -> frozenset[str]:
    return frozenset({_lemma(small, tag) for tag in ("VB", "NNS", "JJ", "RB")} | {small})


def _regular(small: str, bases: Iterator[str]) -> str:
    return next((base for base in bases if VOWEL.search(base) and is_word(base)), small)


def _verb_bases(small: str) -> Iterator[str]:
    """The possible lemmas of a regular form of a verb, the likelier first."""
    if small.endswith("ies") and len(small) > 4:
        yield small[:-3] + "y"
    elif small.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        yield from (small[:-1], small[:-2])
    elif small.endswith("s") and not small.endswith("ss"):
        yield small[:-1]
    elif small.endswith("ied") and len(small) > 4:
        yield small[:-3] + "y"
    elif small.endswith("ed"):
        yield from _cut(small[:-2])
    elif small.endswith("ing"):
        yield from _cut(small[:-3])


def _compared(small: str) -> Iterator[str]:
    """The possible lemmas of a comparative or superlative."""
    for ending in ("er", "est"):
        if small.endswith(ending):
            rest = small.removesuffix(ending)
            if rest.endswith("i"):
                yield rest[:-1] + "y"
            yield from _cut(rest)


def _cut(rest: str) -> Iterator[str]:
    """A base that has lost its ending: the bare rest, with its *e* again, or with one of two consonants."""
    if len(rest) < 2:
        return
    if IN_THE_BASE.search(rest):
        yield from (rest, rest[:-1])
    elif DOUBLED.search(rest):
        yield from (rest[:-1], rest)
    elif SHORT_VOWEL.fullmatch(rest) or rest.endswith(LOST_E):
        yield from (rest + "e", rest)
    else:
        yield from (rest, rest + "e")


_ENDINGS = (
    "isations izations isation ization ationally ational ations ation atives ative atory ators ator ates ated ating "
    "ate icians ician ically icities icity ical ics ic ibility ability ibly ably ibles ables ible able "
    "fulness fully ful lessness lessly less ousness ously ous iveness ively ives ive "
    "ments mentally mental ment ances ancies ance ancy ants ant ences encies ence ency ents ently ent "
    "nesses ness ities ity ships ship hoods hood isms ism ists istic ist "
    "izes ized izing ize ises ised ising ise ifications ification ifies ified ifying ify "
    "ings ing edly ed ers er ors or est es s ions ion als ally al ages age "
    "ially ial ily ly ies ied ier iest y e"
)
ENDINGS = tuple(sorted(_ENDINGS.split(), key=len, reverse=True))
SHORTEST_STEM = 3


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A key that words of one family share; at least three letters of the word stay."""
    small = word.lower()
    endings = (end for end in ENDINGS if small.endswith(end) and len(small) - len(end) >= SHORTEST_STEM)
    rest = small.removesuffix(next(endings, ""))
    rest = DOUBLED.sub(r"\1", rest.rstrip("iey") if len(rest) > SHORTEST_STEM else rest)
    return rest[:-1] if len(rest) > SHORTEST_STEM and rest[-1] in "sdtc" else rest
