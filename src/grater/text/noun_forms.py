"""Nouns whose plural no rule gives, and nouns that look like what they are not: lists for `inflect`, our own."""

from __future__ import annotations


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
"""Plurals that no rule takes back, to their singular."""

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
