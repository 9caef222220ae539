"""The 55 error types of ERRANT: an operation and a main type, `M:DET`, or `UNK`.

Bryant, Felice and Briscoe 2017, "Automatic Annotation and Evaluation of Error Types for Grammatical Error
Correction", section 3 and appendix A; the code of ERRANT 3.0 gives the same.  Operations: M a word is missing, R a
word is to be replaced, U a word is unnecessary.  Types that compare two words (form, number, inflection, agreement,
spelling, case, order) exist with R only; infinitival *to* and auxiliaries can be missing, so `VERB:FORM` and
`VERB:TENSE` exist with all three.  `UNK` is an error found but not corrected.  ERRANT's `noop` is neither an error
nor a tag here.  Examples are our own.
"""

from __future__ import annotations

from grater.corpora.tagsets.tagset import Tag, TagSet

OPERATIONS = {"M": "Missing", "R": "Replacement", "U": "Unnecessary"}

TYPES: dict[str, tuple[str, str]] = {
    "ADJ": ("adjective", "An adjective."),
    "ADJ:FORM": ("adjective form", "The comparative or superlative of an adjective."),
    "ADV": ("adverb", "An adverb."),
    "CONJ": ("conjunction", "A conjunction."),
    "CONTR": ("contraction", "A contraction, such as 'll or n't."),
    "DET": ("determiner", "An article or another determiner."),
    "MORPH": ("morphology", "The same stem in another word class, or a form of it that has no type of its own."),
    "NOUN": ("noun", "A noun."),
    "NOUN:INFL": ("noun inflection", "A plural that does not exist."),
    "NOUN:NUM": ("noun number", "Singular for plural, or the other way round."),
    "NOUN:POSS": ("noun possessive", "The possessive of a noun."),
    "ORTH": ("orthography", "Capital letters and spaces."),
    "OTHER": ("other", "Whatever fits no other type: paraphrases, and several words at once."),
    "PART": ("particle", "The particle of a phrasal verb."),
    "PREP": ("preposition", "A preposition."),
    "PRON": ("pronoun", "A pronoun."),
    "PUNCT": ("punctuation", "A punctuation mark."),
    "SPELL": ("spelling", "A word that is in no dictionary."),
    "VERB": ("verb", "A verb."),
    "VERB:FORM": ("verb form", "Infinitive, gerund, participle; a missing or unnecessary infinitival to."),
    "VERB:INFL": ("verb inflection", "An inflected verb that does not exist."),
    "VERB:SVA": ("subject-verb agreement", "Subject and verb differ in number or person."),
    "VERB:TENSE": ("verb tense", "Tense, and the auxiliaries and modals that make it."),
    "WO": ("word order", "The same words in another order."),
}

EXAMPLES: dict[str, str] = {
    "M:ADJ": "It was a [∅ → good] idea to call first.",
    "M:ADV": "She is [∅ → much] taller than her brother.",
    "M:CONJ": "We packed bread, cheese [∅ → and] apples.",
    "M:CONTR": "I think he [∅ → 'll] call tomorrow.",
    "M:DET": "She adopted [∅ → a] puppy.",
    "M:NOUN": "The train [∅ → station] is closed.",
    "M:NOUN:POSS": "I borrowed my sister [∅ → 's] bicycle.",
    "M:OTHER": "The film was long [∅ → but it was] good.",
    "M:PART": "Please switch [∅ → off] the lamp before you go.",
    "M:PREP": "We listened [∅ → to] the radio.",
    "M:PRON": "My brother says [∅ → he] is hungry.",
    "M:PUNCT": "After lunch [∅ → ,] we slept.",
    "M:VERB": "The soup [∅ → tastes] too salty.",
    "M:VERB:FORM": "He wants [∅ → to] swim in the lake.",
    "M:VERB:TENSE": "They [∅ → have] lived here since May.",
    "R:ADJ": "He gave a [big → great] speech.",
    "R:ADJ:FORM": "This road is [more long → longer].",
    "R:ADV": "I have [ever → never] seen snow.",
    "R:CONJ": "He was tired, [and → but] he kept walking.",
    "R:CONTR": "She [ca → can] n't come.",
    "R:DET": "He saw [a → the] moon rise.",
    "R:MORPH": "It was a very [care → careful] answer.",
    "R:NOUN": "The [kitchen → cook] asked for more salt.",
    "R:NOUN:INFL": "The [childs → children] were asleep.",
    "R:NOUN:NUM": "We bought three [chair → chairs].",
    "R:NOUN:POSS": "The [boys → boy 's] shoes were wet.",
    "R:ORTH": "Our flat is in [lisbon → Lisbon].",
    "R:OTHER": "He is [of the opinion strongly → convinced] that it works.",
    "R:PART": "She looked [on → up] the word.",
    "R:PREP": "They arrived [to → at] the station.",
    "R:PRON": "The teacher praised Omar and [I → me].",
    "R:PUNCT": "Where do you live [. → ?]",
    "R:SPELL": "My [freind → friend] plays chess.",
    "R:VERB": "We must [do → make] a decision.",
    "R:VERB:FORM": "He enjoys [swim → swimming].",
    "R:VERB:INFL": "The vase [breaked → broke].",
    "R:VERB:SVA": "My neighbour [own → owns] two bakeries.",
    "R:VERB:TENSE": "Last year I [visit → visited] my aunt.",
    "R:WO": "He [drinks always → always drinks] tea.",
    "U:ADJ": "We had a [big → ∅] huge garden.",
    "U:ADV": "I [very → ∅] love this song.",
    "U:CONJ": "Although it rained, [but → ∅] we went out.",
    "U:CONTR": "He ['s → ∅] lives in a small town.",
    "U:DET": "She is studying [the → ∅] medicine.",
    "U:NOUN": "The price [cost → ∅] is too high.",
    "U:NOUN:POSS": "The table ['s → ∅] legs are loose.",
    "U:OTHER": "The film [that I must say → ∅] was good.",
    "U:PART": "We discussed [over → ∅] the plan.",
    "U:PREP": "They entered [into → ∅] the house.",
    "U:PRON": "My uncle [he → ∅] sells carpets.",
    "U:PUNCT": "I know [, → ∅] that you are right.",
    "U:VERB": "He [is → ∅] agrees with me.",
    "U:VERB:FORM": "You must [to → ∅] wait here.",
    "U:VERB:TENSE": "She [was → ∅] went home early.",
}


def _tag(code: str, example: str) -> Tag:
    letter, _, main = code.partition(":")
    name, description = TYPES[main]
    operation = OPERATIONS[letter]
    return Tag(code, f"{operation}: {name}", operation, description, example)


UNKNOWN = Tag(
    "UNK",
    "Unknown",
    "Unknown",
    "An error that was found but not corrected.",
    "[The green of it makes often without the whole.]",
    owes_correction=False,
)

TAGSET = TagSet(
    "errant",
    "ERRANT (Bryant, Felice and Briscoe 2017)",
    (*(_tag(code, example) for code, example in EXAMPLES.items()), UNKNOWN),
)
