"""The 27 tags of NUCLE in their 13 groups.

Dahlmeier, Ng and Wu 2013, Table 1 (codes, names, groups and their order) and section 2.  Descriptions and examples
are our own.  `Um` (cannot be corrected), `Cit` and `Wa` (Table 1 gives a practice, not a correction) owe no
correction.
"""

from __future__ import annotations

from grater.corpora.tagsets.tagset import Tag, TagSet

VERBS = "Verbs"
AGREEMENT = "Subject-verb agreement"
ARTICLES = "Articles/determiners"
NOUNS = "Nouns"
PRONOUNS = "Pronouns"
WORD_CHOICE = "Word choice"
SENTENCES = "Sentence Structure"
WORD_ORDER = "Word Order"
TRANSITIONS = "Transitions"
MECHANICS = "Mechanics"
REDUNDANCY = "Redundancy"
CITATION = "Citation"
OTHERS = "Others"

TAGSET = TagSet(
    "nucle",
    "NUCLE (Dahlmeier, Ng and Wu 2013, Table 1)",
    (
        Tag("Vt", "Verb Tense", VERBS, "The tense of the verb is wrong.", "Last year I [visit → visited] my aunt."),
        Tag(
            "Vm",
            "Verb modal",
            VERBS,
            "A modal verb is wrong, missing or unnecessary.",
            "If it rained, we [will → would] stay inside.",
        ),
        Tag("V0", "Missing verb", VERBS, "A verb is missing.", "The soup [too → is too] salty."),
        Tag(
            "Vform",
            "Verb form",
            VERBS,
            "The form of the verb is wrong: infinitive, participle, gerund, voice.",
            "He enjoys [to swim → swimming] in the lake.",
        ),
        Tag(
            "SVA",
            "Subject-verb-agreement",
            AGREEMENT,
            "Subject and verb differ in number or person.",
            "My neighbour [own → owns] two bakeries.",
        ),
        Tag(
            "ArtOrDet",
            "Article or Determiner",
            ARTICLES,
            "An article or determiner is wrong, missing or unnecessary.",
            "She adopted [∅ → a] puppy from the shelter.",
        ),
        Tag(
            "Nn",
            "Noun Number",
            NOUNS,
            "Singular for plural, or the other way round.",
            "We bought three [chair → chairs].",
        ),
        Tag(
            "Npos",
            "Noun possessive",
            NOUNS,
            "The possessive of a noun is wrong, missing or unnecessary.",
            "I borrowed my [sister → sister's] bicycle.",
        ),
        Tag(
            "Pform",
            "Pronoun form",
            PRONOUNS,
            "The form of the pronoun is wrong: case, possessive, reflexive.",
            "The teacher praised Omar and [I → me].",
        ),
        Tag(
            "Pref",
            "Pronoun reference",
            PRONOUNS,
            "The pronoun points to the wrong thing, or to nothing clear.",
            "Anna told Maria that [she → Maria] had won the prize.",
        ),
        Tag(
            "Wcip",
            "Wrong collocation/idiom/preposition",
            WORD_CHOICE,
            "Words that do not go together: a wrong collocation, idiom or preposition.",
            "They arrived [to → at] the station in time.",
        ),
        Tag(
            "Wa",
            "Acronyms",
            WORD_CHOICE,
            "An acronym that is used before it is explained.",
            "The [DPH] announced new rules. (nobody has said what DPH stands for)",
            owes_correction=False,
        ),
        Tag(
            "Wform",
            "Word form",
            WORD_CHOICE,
            "The right word in the wrong word class.",
            "It was a very [care → careful] answer.",
        ),
        Tag(
            "Wtone",
            "Tone",
            WORD_CHOICE,
            "Too familiar, or too stiff, for the text.",
            "The results [aren't → are not] conclusive.",
        ),
        Tag(
            "Srun",
            "Runons, comma splice",
            SENTENCES,
            "Two sentences run together, or joined by a comma alone.",
            "The bus was [late, we → late. We] walked home.",
        ),
        Tag(
            "Smod",
            "Dangling modifier",
            SENTENCES,
            "A modifier whose subject is not in the sentence.",
            "[Walking → While I was walking] to school, the rain began.",
        ),
        Tag(
            "Spar",
            "Parallelism",
            SENTENCES,
            "Parts that should have the same form do not.",
            "She likes painting, cooking and [to dance → dancing].",
        ),
        Tag(
            "Sfrag",
            "Fragment",
            SENTENCES,
            "Part of a sentence that stands alone.",
            "We stayed [late. Because → late because] the music was good.",
        ),
        Tag(
            "Ssub",
            "Subordinate clause",
            SENTENCES,
            "A subordinate clause is badly formed.",
            "There is a man [sells → who sells] old clocks.",
        ),
        Tag(
            "WOinc",
            "Incorrect sentence form",
            WORD_ORDER,
            "The order of words makes the wrong kind of sentence.",
            "I wonder where [is the key → the key is].",
        ),
        Tag(
            "WOadv",
            "Adverb/adjective position",
            WORD_ORDER,
            "An adverb or adjective stands in the wrong place.",
            "He [drinks always → always drinks] tea.",
        ),
        Tag(
            "Trans",
            "Link words/phrases",
            TRANSITIONS,
            "A word or phrase that links clauses or sentences is wrong, missing or unnecessary.",
            "[Despite → Although] it was cold, we swam.",
        ),
        Tag(
            "Mec",
            "Punctuation, capitalization, spelling, typos",
            MECHANICS,
            "Punctuation, capital letters, spelling, typing.",
            "Our flat is in [lisbon → Lisbon].",
        ),
        Tag(
            "Rloc",
            "Local redundancy",
            REDUNDANCY,
            "Nearby words already say it; it should be removed.",
            "Please repeat the question [again → ∅].",
        ),
        Tag(
            "Cit",
            "Citation",
            CITATION,
            "A source is cited badly or not at all.",
            "[Experts have proved] that cats dream. (which experts?)",
            owes_correction=False,
        ),
        Tag(
            "Others",
            "Other errors",
            OTHERS,
            "It can be corrected, but fits no other tag.",
            "The shop opens at [9 am in the morning o'clock → 9 am].",
        ),
        Tag(
            "Um",
            "Unclear meaning",
            OTHERS,
            "So unclear that it cannot be corrected.",
            "[The green of it makes often without the whole.]",
            owes_correction=False,
        ),
    ),
)
