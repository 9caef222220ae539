"""The error codes of the Cambridge Learner Corpus, as the public FCE and BEA-2019 data use them.

The scheme: Nicholls 2003, "The Cambridge Learner Corpus: error coding and analysis for lexicography and ELT".  A
first letter says what is wrong (F form, M missing, R replace, U unnecessary, D derivation, I inflection, C
countability, AG agreement), a second the word class (A pronoun, C conjunction, D determiner, J adjective, N noun, P
punctuation, Q quantifier, T preposition, V verb, Y adverb); the rest have codes of their own.  The list: the 77 codes
of Bryant 2019 (UCAM-CL-TR-938), which we know from public copies of it.  Descriptions and examples are our own.

Not covered: Nicholls and the NUCLE paper (section 6) speak of 88 codes; among those missing here are the false
friends (FF with a word class) and pairs that the public data do not use (FC, FT).  Newer private releases add codes
(ER, PN, SB, Y...).  Some public tools read `ID` as the inflection of determiners; in Nicholls it is idiom, and `DI`
is the determiner.  `CE` marks strings too tangled to take apart: it owes no correction (our reading).
"""

from __future__ import annotations

from grater.corpora.tagsets.tagset import Tag, TagSet

AGREEMENT = "Agreement"
FORM = "Wrong form"
MISSING = "Missing"
REPLACE = "Replace"
UNNECESSARY = "Unnecessary"
DERIVATION = "Wrongly derived"
INFLECTION = "Inflection"
COUNTABILITY = "Countability"
SPELLING = "Spelling"
REST = "Others"

ROWS: tuple[tuple[str, str, str, str], ...] = (
    ("AG", "Agreement", AGREEMENT, "[That → Those] kind of things happen."),
    ("AGA", "Pronoun agreement", AGREEMENT, "I read the letters and burnt [it → them]."),
    ("AGD", "Determiner agreement", AGREEMENT, "[This → These] shoes are too small."),
    ("AGN", "Noun agreement", AGREEMENT, "One of my [cousin → cousins] plays the harp."),
    ("AGQ", "Quantifier agreement", AGREEMENT, "There were [much → many] people at the fair."),
    ("AGV", "Verb agreement", AGREEMENT, "My neighbour [own → owns] two bakeries."),
    ("AS", "Argument structure", REST, "She [explained me the rules → explained the rules to me]."),
    ("CD", "Countability of determiner", COUNTABILITY, "He gave me [an → some] advice."),
    ("CE", "Compound error", REST, "[By of the which it is the more do we.]"),
    ("CL", "Collocation", REST, "We drank [powerful → strong] tea."),
    ("CN", "Countability of noun", COUNTABILITY, "We need more [informations → information]."),
    ("CQ", "Countability of quantifier", COUNTABILITY, "I had too [many → much] homework."),
    ("DA", "Pronoun derivation", DERIVATION, "The idea was [me → mine]."),
    ("DC", "Conjunction derivation", DERIVATION, "He left [becausely → because] he was ill."),
    ("DD", "Determiner derivation", DERIVATION, "They sold [theirs → their] car."),
    ("DI", "Determiner inflection", INFLECTION, "I met [anothers → other] guests."),
    ("DJ", "Adjective derivation", DERIVATION, "It was a very [care → careful] answer."),
    ("DN", "Noun derivation", DERIVATION, "Her [arrive → arrival] surprised us."),
    ("DQ", "Quantifier derivation", DERIVATION, "[Mostly → Most] of the plates were broken."),
    ("DT", "Preposition derivation", DERIVATION, "We walked [throughly → through] the park."),
    ("DV", "Verb derivation", DERIVATION, "This will [strong → strengthen] the team."),
    ("DY", "Adverb derivation", DERIVATION, "She sings [beautiful → beautifully]."),
    ("FA", "Pronoun form", FORM, "The teacher praised Omar and [I → me]."),
    ("FD", "Determiner form", FORM, "He ate [a → an] orange."),
    ("FJ", "Adjective form", FORM, "This road is [more long → longer]."),
    ("FN", "Noun form", FORM, "We bought three [chair → chairs]."),
    ("FQ", "Quantifier form", FORM, "He has [fewest → fewer] friends than I have."),
    ("FV", "Verb form", FORM, "He enjoys [to swim → swimming]."),
    ("FY", "Adverb form", FORM, "She runs [more fast → faster] than me."),
    ("IA", "Pronoun inflection", INFLECTION, "They cooked for [theirselves → themselves]."),
    ("ID", "Idiom", REST, "It costs [an arm and a foot → an arm and a leg]."),
    ("IJ", "Adjective inflection", INFLECTION, "The [reds → red] apples are sweet."),
    ("IN", "Noun inflection", INFLECTION, "The [childs → children] were asleep."),
    ("IQ", "Quantifier inflection", INFLECTION, "There are [manys → many] reasons."),
    ("IV", "Verb inflection", INFLECTION, "The vase [breaked → broke]."),
    ("IY", "Adverb inflection", INFLECTION, "He arrived [soonlier → sooner]."),
    ("L", "Register", REST, "Dear Sir, [thanks a bunch → thank you] for your letter."),
    ("M", "Missing", MISSING, "The film was long [∅ → but it was] good."),
    ("MA", "Missing pronoun", MISSING, "My brother says [∅ → he] is hungry."),
    ("MC", "Missing conjunction", MISSING, "We packed bread, cheese [∅ → and] apples."),
    ("MD", "Missing determiner", MISSING, "She adopted [∅ → a] puppy."),
    ("MJ", "Missing adjective", MISSING, "It was a [∅ → good] idea to call first."),
    ("MN", "Missing noun", MISSING, "The train [∅ → station] is closed."),
    ("MP", "Missing punctuation", MISSING, "After lunch [∅ → ,] we slept."),
    ("MQ", "Missing quantifier", MISSING, "I have [∅ → some] of your books."),
    ("MT", "Missing preposition", MISSING, "We listened [∅ → to] the radio."),
    ("MV", "Missing verb", MISSING, "The soup [∅ → is] too salty."),
    ("MY", "Missing adverb", MISSING, "She is [∅ → much] taller than her brother."),
    ("QL", "Question prompt error", REST, "(a slip in the question, which the writer copied)"),
    ("R", "Replace", REPLACE, "He is [of the opinion strongly → convinced] that it works."),
    ("RA", "Replace pronoun", REPLACE, "[It → There] was a queue at the door."),
    ("RC", "Replace conjunction", REPLACE, "He was tired, [and → but] he kept walking."),
    ("RD", "Replace determiner", REPLACE, "He saw [a → the] moon rise."),
    ("RJ", "Replace adjective", REPLACE, "He gave a [big → great] speech."),
    ("RN", "Replace noun", REPLACE, "The [kitchen → cook] asked for more salt."),
    ("RP", "Replace punctuation", REPLACE, "Where do you live[. → ?]"),
    ("RQ", "Replace quantifier", REPLACE, "I have not [some → any] money."),
    ("RT", "Replace preposition", REPLACE, "They arrived [to → at] the station."),
    ("RV", "Replace verb", REPLACE, "We must [do → make] a decision."),
    ("RY", "Replace adverb", REPLACE, "I have [ever → never] seen snow."),
    ("S", "Spelling", SPELLING, "My [freind → friend] plays chess."),
    ("SA", "American spelling", SPELLING, "We painted it a dark [color → colour]."),
    ("SX", "Spelling confusion", SPELLING, "I do not know [weather → whether] it works."),
    ("TV", "Verb tense", REST, "Last year I [visit → visited] my aunt."),
    ("U", "Unnecessary", UNNECESSARY, "The film [that I must say → ∅] was good."),
    ("UA", "Unnecessary pronoun", UNNECESSARY, "My uncle [he → ∅] sells carpets."),
    ("UC", "Unnecessary conjunction", UNNECESSARY, "Although it rained, [but → ∅] we went out."),
    ("UD", "Unnecessary determiner", UNNECESSARY, "She is studying [the → ∅] medicine."),
    ("UJ", "Unnecessary adjective", UNNECESSARY, "We had a [big → ∅] huge garden."),
    ("UN", "Unnecessary noun", UNNECESSARY, "The price [cost → ∅] is too high."),
    ("UP", "Unnecessary punctuation", UNNECESSARY, "I know[, → ∅] that you are right."),
    ("UQ", "Unnecessary quantifier", UNNECESSARY, "He knows [many → ∅] a lot of songs."),
    ("UT", "Unnecessary preposition", UNNECESSARY, "They entered [into → ∅] the house."),
    ("UV", "Unnecessary verb", UNNECESSARY, "He [is → ∅] agrees with me."),
    ("UY", "Unnecessary adverb", UNNECESSARY, "I [very → ∅] love this song."),
    ("W", "Word order", REST, "He [drinks always → always drinks] tea."),
    ("X", "Negation", REST, "I [not like → do not like] onions."),
)

IN_WORDS = {
    AGREEMENT: "does not agree with the word it belongs to",
    FORM: "has the wrong form",
    MISSING: "is missing",
    REPLACE: "should be replaced by another",
    UNNECESSARY: "is unnecessary",
    DERIVATION: "is wrongly derived from its stem",
    INFLECTION: "has an inflection that does not exist",
    COUNTABILITY: "does not match a countable or uncountable noun",
}
CLASSES = {
    "A": "pronoun",
    "C": "conjunction",
    "D": "determiner",
    "I": "determiner",
    "J": "adjective",
    "N": "noun",
    "P": "punctuation mark",
    "Q": "quantifier",
    "T": "preposition",
    "V": "verb",
    "Y": "adverb",
}
ON_THEIR_OWN = {
    "AG": "Words that belong together do not agree; the word class is not given.",
    "AS": "The complements of a verb are the wrong ones or in the wrong order.",
    "CE": "Several errors too tangled to take apart.",
    "CL": "Words that do not go together.",
    "ID": "An idiom is not quite the idiom.",
    "L": "Too familiar, or too stiff, for the text.",
    "M": "Something is missing; the word class cannot be given.",
    "QL": "An error in the question that the writer answers.",
    "R": "Words should be replaced by others; the word class cannot be given.",
    "S": "A word that is in no dictionary.",
    "SA": "An American spelling.",
    "SX": "A word that exists, in place of one that looks or sounds like it.",
    "TV": "The tense of the verb is wrong.",
    "U": "Something is unnecessary; the word class cannot be given.",
    "W": "The order of words is wrong.",
    "X": "A negative is badly formed.",
}
NO_CORRECTION_OWED = frozenset({"CE"})


def _description(code: str, group: str) -> str:
    if code in ON_THEIR_OWN:
        return ON_THEIR_OWN[code]
    noun = CLASSES[code[-1]]
    return f"{'An' if noun[0] == 'a' else 'A'} {noun} {IN_WORDS[group]}."


TAGSET = TagSet(
    "clc",
    "CLC (Nicholls 2003; Bryant 2019)",
    tuple(
        Tag(code, name, group, _description(code, group), example, owes_correction=code not in NO_CORRECTION_OWED)
        for code, name, group, example in ROWS
    ),
)
