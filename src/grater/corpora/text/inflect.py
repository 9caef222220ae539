"""Forms of nouns, plural and singular, and which of the two a form is; and *a* or *an* before a word.

Our own rules and lists.  Every function takes any string and keeps its case: *Child*, *Children*; *CHILD*,
*CHILDREN*; *CD*, *CDs*.  A plural stays as it is when made plural, and so does a singular.  Compounds follow their
last part (*policeman*, *bookshelf*).  Where English has two plurals, the commoner is made and both are understood.

*a* or *an* depends on the first sound of a word, as far as its spelling shows.  Silent *h* (*an hour*), vowels
that sound like *you* or *one* (*a university*, *a one-way street*), letters that are spelt out (*an MBA*, *a UFO*,
*an X-ray*) and numbers (*an 8*, *an 11-year-old*, *an 1800s house*) are known.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, TypeAlias


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


IRREGULAR = _pairs(
    "man:men woman:women child:children person:people foot:feet tooth:teeth goose:geese mouse:mice louse:lice "
    "ox:oxen die:dice criterion:criteria phenomenon:phenomena bacterium:bacteria medium:media datum:data "
    "curriculum:curricula memorandum:memoranda stratum:strata erratum:errata ovum:ova addendum:addenda "
    "symposium:symposia millennium:millennia quantum:quanta axis:axes cactus:cacti fungus:fungi nucleus:nuclei "
    "stimulus:stimuli alumnus:alumni radius:radii bacillus:bacilli locus:loci terminus:termini larva:larvae "
    "alga:algae vertebra:vertebrae nebula:nebulae alumna:alumnae appendix:appendices matrix:matrices "
    "vertex:vertices vortex:vortices codex:codices genus:genera corpus:corpora opus:opuses passer-by:passers-by "
    "passerby:passersby runner-up:runners-up hanger-on:hangers-on looker-on:lookers-on "
    "mother-in-law:mothers-in-law father-in-law:fathers-in-law brother-in-law:brothers-in-law "
    "sister-in-law:sisters-in-law son-in-law:sons-in-law daughter-in-law:daughters-in-law quiz:quizzes "
    "whiz:whizzes tableau:tableaux plateau:plateaus chateau:chateaux himself:themselves herself:themselves "
    "itself:themselves myself:ourselves yourself:yourselves this:these that:those"
)
"""Singular to plural."""

ALSO_PLURAL = _pairs(
    "formulae:formula antennae:antenna indices:index syllabi:syllabus foci:focus persons:person pence:penny "
    "hippopotami:hippopotamus octopi:octopus forums:forum fora:forum stadia:stadium aquaria:aquarium "
    "referenda:referendum scarfs:scarf hoofs:hoof dwarves:dwarf wharfs:wharf roofs:roof curriculums:curriculum "
    "mediums:medium funguses:fungus cactuses:cactus matrixes:matrix appendixes:appendix corpuses:corpus "
    "mosquitos:mosquito volcanos:volcano tornados:tornado cargos:cargo symposiums:symposium "
    "millenniums:millennium"
)
"""Second plurals, to their singular: they are understood, and not made."""

OTHER_PLURALS = _pairs(
    "gases:gas lenses:lens biases:bias atlases:atlas aliases:alias canvases:canvas pancreases:pancreas "
    "christmases:christmas irises:iris pelvises:pelvis trellises:trellis metropolises:metropolis mantises:mantis "
    "rhinoceroses:rhinoceros albatrosses:albatross buses:bus minibuses:minibus summonses:summons axes:axis "
    "yeses:yes thermoses:thermos cosmoses:cosmos menus:menu taxis:taxi skis:ski bikinis:bikini gurus:guru "
    "emus:emu bureaus:bureau khakis:khaki alibis:alibi rabbis:rabbi safaris:safari kiwis:kiwi tsunamis:tsunami "
    "wikis:wiki emojis:emoji israelis:israeli pakistanis:pakistani iraqis:iraqi saudis:saudi caribous:caribou "
    "flus:flu topazes:topaz"
)
"""Plurals that no rule reduces, to their singular."""

_ENDS = "woman man child foot tooth goose mouse wife life knife shelf leaf self half wolf thief loaf calf person"
COMPOUND_ENDS = tuple(_ENDS.split())
"""Nouns that make others by standing at their end (*policeman*, *grandchild*); longer ones first."""

NO_COMPOUND = _words("specimen regimen abdomen stamen omen acumen semen amen yemen hymen lumen olives behalf pumice")
"""Words that end like such a noun and have nothing to do with it."""

NOT_OF_MAN = _words(
    "brahman caiman cayman desman german hetman human mussulman norman oman ottoman roadman roman shaman talisman"
)
"""Nouns in -man that have nothing to do with *man*."""

SIS = _words(
    "analysis antithesis basis catharsis crisis diagnosis dialysis ellipsis emphasis genesis hypnosis hypothesis "
    "metamorphosis nemesis neurosis oasis osmosis paralysis parenthesis photosynthesis prognosis prosthesis "
    "psychoanalysis psychosis symbiosis synopsis synthesis thesis thrombosis tuberculosis urinalysis"
)

VES = _words("calf elf half hoof housewife knife leaf life loaf midwife scarf self sheaf shelf thief wharf wife wolf")
"""Nouns in -f or -fe with a plural in -ves."""

OES = _words(
    "antihero buffalo cargo desperado dingo domino echo embargo go halo hero innuendo mango mosquito negro no "
    "potato superhero tomato tornado torpedo veto volcano"
)
"""Nouns in -o with a plural in -oes."""

HARD_CH = ("stomach", "monarch", "triarch", "oligarch", "eunuch", "epoch", "loch", "tech", "czech", "mach")
"""Endings in -ch that sound like k and take -s."""

UNCHANGED = _words(
    "aircraft barracks bison bourgeois chassis cod corps crossroads deer dozen elk faux-pas fish gallows goldfish "
    "headquarters hertz hovercraft jellyfish means moose offspring percent reindeer rendezvous salmon series "
    "sheep shellfish shrimp spacecraft species sperm squid starfish steelworks swine swiss trout tuna watercraft"
)
"""One form for both numbers."""

PLURAL_ONLY = _words(
    "alms belongings binoculars cattle clothes congratulations earnings folk folks genitals glasses goods "
    "headphones jeans leggings livestock odds outskirts pajamas pants pliers police premises proceeds pyjamas "
    "remains riches savings scissors shorts spectacles sunglasses surroundings thanks them these they those "
    "tights trousers tweezers us vermin we whereabouts"
)

SINGULAR_IN_S = _words(
    "albatross alias always arthritis as asbestos athens atlas besides bias billiards brussels bus canvas chaos "
    "chess christmas cosmos darts diabetes does dominoes ethos gas has hepatitis herpes his innings iris is its "
    "kansas kudos lens mantis measles mess metropolis molasses mumps naples news pancreas paris pathos pelvis "
    "penis perhaps plus pyjamas rabies rhinoceros rickets shingles summons tennis texas thermos this thus trellis "
    "us wales was yes"
)

IN_USE = _words(
    "abuse applause blouse cause clause disuse excuse fuse grouse house menopause misuse muse overuse pause "
    "recluse refuse reuse ruse spouse use"
)
"""Nouns in -use; every other plural in -uses is of a noun in -us."""

IN_IE = _words(
    "auntie belie birdie boogie bookie brownie budgie caddie calorie camaraderie collie cookie coterie cutie die "
    "eerie foodie freebie genie goalie hippie hoodie indie junkie laddie lassie lie magpie menagerie movie "
    "necktie newbie oldie pie pixie prairie reverie rookie selfie smoothie sortie specie sweetie tie untie veggie "
    "walkie-talkie yuppie zombie"
)
"""Nouns in -ie; every other plural in -ies is of a noun in -y."""

E_BEFORE_S = _words(
    "ache aloe annexe avalanche axe backache blaze booze breeze bronze cache canoe cliche craze creche deluxe doe "
    "doze foe freeze gaze glaze haze headache heartache hoe horseshoe maze mistletoe moustache mustache niche "
    "oboe pickaxe prize psyche quiche shoe size sneeze squeeze stomachache tiptoe toe toothache trapeze woe"
)
"""Nouns whose own -e comes before the -s, where -es would be taken off."""

MASS = _words(
    "accommodation acoustics adulthood advice aerobics aesthetics aid air anger athletics baggage behavior "
    "behaviour blood bread butter cash childhood clothing cooking courage darkness dirt dust dynamics economics "
    "education electricity electronics employment entertainment equipment ethics evidence feedback fishing food "
    "freedom fun furniture garbage gasoline genetics gold grammar gymnastics happiness hardware health homework "
    "honesty housework humanity hunting ice informatics information intelligence jewellery jewelry knowledge "
    "laundry leisure lightning linguistics literature logistics loyalty luck luggage machinery mathematics milk "
    "money mud music nature news oil optics patience peace petrol phonetics physics poetry politics pollution "
    "progress punctuation rain research rice robotics rubbish sadness sand scenery semantics shopping silver "
    "slang snow software spelling staff statistics stuff sunshine swimming thermodynamics thunder traffic "
    "transportation trash unemployment violence vocabulary water wealth weather"
)
"""Common nouns that have, in most uses, neither *a* nor a plural."""


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
    """The plural of a noun; a plural is returned unchanged."""
    small = noun.lower()
    if not small or number_of(noun) != "singular" or not small[-1].isalpha():
        return noun if small[-1:].isalpha() or not small else noun + "s"
    if is_spelt_out(noun) or len(noun) == 1:
        return noun + "s"
    if small in MASS and small.endswith("s"):
        return noun
    return in_case_of(noun, _plural(small))


def singular(noun: str) -> str:
    """The singular of a noun; a singular, or a noun without one, is returned unchanged."""
    small = noun.lower()
    if number_of(noun) != "plural" or small in PLURAL_ONLY:
        return noun
    if is_spelt_out(noun[:-1]) and noun.endswith("s"):
        return noun[:-1]
    return in_case_of(noun, _singular(small))


@lru_cache(maxsize=16_384)
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


def in_case_of(model: str, form: str) -> str:
    """A form in the case of another."""
    if len(model) > 1 and model.isupper():
        return form.upper()
    return form[:1].upper() + form[1:] if model[:1].isupper() else form


SILENT_H = re.compile(r"(?:hour|honest|honou?r|heir)")
WEAK_H = re.compile(
    r"h(?:abitual|allucin|erb|ereditary|eroic|ispanic|istori|orrific|otel|umble|ypnoti|ypothe|ysteri)"
)
LIKE_YOU_OR_ONE = re.compile(
    r"eu(?!\Z)|ew|on(?:e(?![a-z])|es?\Z|es[ei]|ce)|oui|uni(?![ndm]|r[or]|ss|m[^o])|unimo|unanim|us[aeu]|"
    r"ut(?:i|o|e(?![a-z]?t))|ub(?:i|er?(?:\Z|t))|ur(?:a|i|ea|o|u)|uk|uga|ufo|uvu|uyg|ute"
)
LETTERS_LIKE_VOWELS = frozenset("aefhilmnorsx")
NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d+")
FIRST = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
ONSETS = re.compile(r"S[CHKLMNPQTW]|F[LR]|RH|TH|CH|SH|PH|WH|[BCDGPT]R|[BCGP]L|TW|KN|WR")
SHORTENED = frozenset(["ft", "lb", "lt", "ltd", "mr", "mrs", "ms", "mt", "mts", "sgt", "sr", "st"])
"""Abbreviations that are read as the word they stand for, none of which begins with a vowel."""

SPELT_OUT = _words(
    "ATM API CEO CFO CPU DNA EU FAA FAQ GPA GPU HIV HOA IPO LA LED MBA MEP MIT MOT NGO NIH NUS PIN RAF REM RNA SAT "
    "SOS SUV UFO UK UN URL US USA USB UI UV UVA UVB UX VIP NPO BA MA BSC PHD"
)


@lru_cache(maxsize=16_384)
def indefinite_article(phrase: str) -> Literal["a", "an"]:
    """The article that goes before a phrase."""
    match = FIRST.search(phrase)
    if not match:
        return "a"
    word = unicodedata.normalize("NFD", match.group())
    return "an" if _starts_with_vowel(word) else "a"


def may_take_either_article(word: str) -> bool:
    """Whether good writers put *a* or *an* before a word: *an historic day*, *an herb*."""
    return WEAK_H.match(word.lower()) is not None


def is_spelt_out(word: str) -> bool:
    """Whether a word is read letter by letter (*MBA*, *CD*), so far as it shows."""
    if not word.isalpha() or len(word) < 2 or not word.isupper():
        return False
    return word in SPELT_OUT or not re.search("[AEIOUY]", word)


def _starts_with_vowel(word: str) -> bool:
    if word[0].isdigit():
        return _number_starts_with_vowel(word)
    if _is_read_as_letters(word):
        return word[0].lower() in LETTERS_LIKE_VOWELS
    small = word.lower()
    if small[0] == "h":
        return SILENT_H.match(small) is not None
    if small[0] in "aeiou":
        return LIKE_YOU_OR_ONE.match(small) is None
    return small.startswith(("yt", "yps", "yvo"))


def _number_starts_with_vowel(word: str) -> bool:
    """*eight*, *eleven* and *eighteen*, with thousands and, in four figures, hundreds after them."""
    match = NUMBER.match(word)
    digits = match.group().replace(",", "") if match else word
    if digits[0] == "8":
        return True
    n_first = 2 if len(digits) == 4 else (len(digits) - 1) % 3 + 1
    return digits[:n_first] in ("11", "18")


def _is_read_as_letters(word: str) -> bool:
    """A single letter, letters with figures (*F16*, *mp3*), no vowel at all, or capitals that make no syllable."""
    letters = re.match(r"[A-Za-z]*", word)
    head = letters.group() if letters else ""
    if head.lower() in SHORTENED and not head.isupper():
        return False
    if len(head) == 1 and head == word[: len(head)] and (len(word) == 1 or not word[1:2].isalpha()):
        return True
    if not head:
        return False
    if is_spelt_out(head) or not re.search("[aeiouyAEIOUY]", head):
        return True
    is_capitals = 1 < len(head) <= 5 and head.isupper() and head == word
    return is_capitals and head[1] not in "AEIOUY" and head[0] not in "AEIOU" and not ONSETS.match(head)
