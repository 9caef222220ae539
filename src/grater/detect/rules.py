"""The rules that learners are told, all in one place: a title, one sentence, an example, and where the rule applies.

A rule applies to a mark of its kind if every pattern that is given matches: `before` the words that lead up to the
mark, `word` the marked words, `better` the suggestion, `after` what follows.  An empty `word` is a gap
where something is missing, an empty `better` means that the word is to go; None takes anything.  `phrases` are pairs
such as `depend on`: some form of the first word stands before the mark, at most an adverb between, and the second is
the suggestion.  Of several rules that apply the first is taken.  The longer patterns are in `patterns`.

In a reason, `{word}` and `{better}` are the marked words and the suggestion, `{left}` and `{right}` the words beside
the mark, `{phrase}` the pair that applies; a named group of a pattern is a slot too.  An example is one sentence with
its error in brackets: `[wrong→right]`.  `grater.detect.explanations` chooses; all sentences are our own.
"""

from __future__ import annotations

from dataclasses import dataclass

from grater.detect import patterns


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to learn, and the marks that it explains."""

    name: str
    title: str
    reason: str
    example: str
    before: str | None = None
    word: str | None = None
    better: str | None = None
    after: str | None = None
    phrases: tuple[str, ...] = ()


WITH_VERBS = (
    Rule(
        name="verb-preposition",
        title="Verb + preposition",
        reason="A verb has its own preposition: learn “{phrase}” as one piece.",
        example="We depend [of→on] our parents.",
        phrases=patterns.VERB_PHRASES,
    ),
    Rule(
        name="adjective-preposition",
        title="Adjective + preposition",
        reason="An adjective has its own preposition: learn “{phrase}” as one piece.",
        example="She is interested [of→in] music.",
        phrases=patterns.ADJECTIVE_PHRASES,
    ),
    Rule(
        name="noun-preposition",
        title="Noun + preposition",
        reason="A noun has its own preposition: learn “{phrase}” as one piece.",
        example="Sleep has a strong effect [in→on] memory.",
        phrases=patterns.NOUN_PHRASES,
    ),
    Rule(
        name="verb-without-preposition",
        title="Verb without a preposition",
        reason="“{verb}” takes its object directly, with no preposition between them.",
        example="We discussed [about→] the plan.",
        before=patterns.DIRECT_VERB,
        better="",
    ),
    Rule(
        name="no-preposition-before-home",
        title="Home, here, there, abroad",
        reason="“{place}” already says where to, so no preposition comes before it.",
        example="We went [to→] home after the film.",
        better="",
        after=patterns.ADVERB_OF_PLACE,
    ),
)

TIME = (
    Rule(
        name="no-preposition-of-time",
        title="Last, next, this, every",
        reason="A time with “{which}” has no preposition.",
        example="I saw her [on→] last Monday.",
        better="",
        after=patterns.WITHOUT_PREPOSITION,
    ),
    Rule(
        name="on-a-day",
        title="In, on and at: time",
        reason="Days and dates have “on”: on Friday, on 3 May, on my birthday.",
        example="The course begins [in→on] Monday.",
        better="on",
        after=patterns.DAY,
    ),
    Rule(
        name="at-a-moment",
        title="In, on and at: time",
        reason="A point of time has “at”: at six o’clock, at noon, at night, at the moment.",
        example="The train leaves [in→at] 6 o'clock.",
        better="at",
        after=patterns.MOMENT,
    ),
    Rule(
        name="in-a-period",
        title="In, on and at: time",
        reason="Months, seasons, years and parts of the day have “in”: in July, in winter, in 2019, in the morning.",
        example="My brother was born [on→in] July.",
        better="in",
        after=patterns.PERIOD,
    ),
)

LENGTHS = (
    Rule(
        name="for-a-length-of-time",
        title="For, since and during",
        reason="“for” goes with a length of time (for two years), “since” with its beginning (since 2019).",
        example="She has lived in London [since→for] two years.",
        better="for",
        after=patterns.AMOUNT,
    ),
    Rule(
        name="since-a-beginning",
        title="For, since and during",
        reason="“since” goes with the beginning of a time that still lasts, “for” with its length.",
        example="He has worked here [from→since] 2019.",
        better="since",
    ),
)

PLACE = (
    Rule(
        name="to-a-destination",
        title="Movement",
        reason="“to” shows where a movement goes: go to school, fly to Rome, come to the party.",
        example="We travelled [in→to] Spain by train.",
        before=patterns.MOVEMENT,
        better="to",
    ),
    Rule(
        name="on-a-surface",
        title="In, on and at: place",
        reason="“on” is for surfaces and lines, and for the internet, television and the telephone.",
        example="I read the news [in→on] the internet.",
        better="on",
        after=patterns.SURFACE,
    ),
    Rule(
        name="at-a-point",
        title="In, on and at: place",
        reason="“at” is for a point on the way and for what happens there: at the station, at school, at a party.",
        example="I will meet you [in→at] the bus stop.",
        better="at",
        after=patterns.POINT,
    ),
    Rule(
        name="in-a-space",
        title="In, on and at: place",
        reason="“in” is for what has an inside: rooms, towns, countries, books and pictures.",
        example="My aunt works [at→in] Canada.",
        better="in",
        after=patterns.SPACE,
    ),
)

OTHER_PREPOSITIONS = (
    Rule(
        name="by-a-means",
        title="By: how it is done",
        reason="“by” says by what means: by bus, by email, by working hard.",
        example="She goes to work [with→by] bus.",
        better="by",
        after=patterns.MEANS,
    ),
    Rule(
        name="by-an-agent",
        title="By: who did it",
        reason="In a passive sentence “by” names who or what did it.",
        example="The window was broken [from→by] the wind.",
        before=patterns.PARTICIPLE,
        better="by",
    ),
    Rule(
        name="preposition-not-needed",
        title="One preposition too many",
        reason="Writers of English join “{left}” and “{right}” without “{word}”.",
        example="She has many [of→] friends in Rome.",
        better="",
    ),
    Rule(
        name="preposition-missing",
        title="A preposition is missing",
        reason="Writers of English put “{better}” between “{left}” and “{right}”.",
        example="He filled the bottle to the top and put it [→in] the fridge.",
        word="",
    ),
    Rule(
        name="preposition-choice",
        title="Choice of preposition",
        reason="Between “{left}” and “{right}” writers of English mostly use “{better}”, seldom “{word}”.",
        example="She cut the bread [by→with] a knife.",
    ),
)

ARTICLES = (
    Rule(
        name="an-before-a-vowel",
        title="A or an",
        reason="“an” comes before a vowel sound, and “{right}” begins with one.",
        example="It took [a→an] hour.",
        word="a",
        better="an",
    ),
    Rule(
        name="a-before-a-consonant",
        title="A or an",
        reason="“a” comes before a consonant sound, and “{right}” begins with one.",
        example="He studies at [an→a] university.",
        word="an",
        better="a",
    ),
    Rule(
        name="no-a-with-uncountable",
        title="Countable and uncountable nouns",
        reason="“{noun}” cannot be counted, so “{word}” does not go with it; say “some {noun}”.",
        example="She gave me [an→] advice about the exam.",
        word="an?",
        better="|some",
        after=patterns.WITH_UNCOUNTABLE,
    ),
    Rule(
        name="the-with-superlatives",
        title="The: best, first, same, only",
        reason="There is only one such thing, so “{which}” has “the”.",
        example="It was [→the] best day of my life.",
        better="the",
        after=patterns.ONLY_ONE_SUCH,
    ),
    Rule(
        name="the-only-one",
        title="The: there is only one",
        reason="There is only one of it, or everybody knows which, so it is “the {which}”.",
        example="Plants need light from [→the] sun.",
        better="the",
        after=patterns.ONLY_ONE,
    ),
    Rule(
        name="the-in-names",
        title="The in names",
        reason="Names of groups of islands, states or peoples, of seas and of rivers have “the”.",
        example="My cousin moved to [→the] Netherlands.",
        word="",
        better="the",
        after=patterns.NAME_WITH_THE,
    ),
    Rule(
        name="no-the-in-names",
        title="No article in names",
        reason="Names of people, towns and most countries have no article.",
        example="We spent a week in [the→] France.",
        word="an?|the",
        better="",
        after=r"(?-i:[A-Z])",
    ),
    Rule(
        name="no-article-in-phrases",
        title="Phrases without an article",
        reason="Some phrases have no article: at home, to work, in bed, by car, for lunch.",
        example="The children go to [the→] bed at eight.",
        before=r"(?:at|to|in|from|by|on|for|after|before)",
        word="an?|the",
        better="",
        after=patterns.PHRASE_NOUN,
    ),
    Rule(
        name="no-the-for-fields",
        title="Meals, games, subjects, languages",
        reason="Meals, games, school subjects and languages have no article.",
        example="He plays [the→] tennis on Fridays.",
        word="an?|the",
        better="",
        after=patterns.FIELD,
    ),
    Rule(
        name="no-the-in-general",
        title="Things in general",
        reason="“{right}” means all of it, everywhere, and things in general have no “the”.",
        example="[The→] life is full of surprises.",
        word="the",
        better="",
    ),
    Rule(
        name="a-means-one",
        title="A and an mean one",
        reason="“{word}” means one, so it does not go with a plural or with something that cannot be counted.",
        example="They have [a→] new shoes.",
        word="an?",
        better="",
    ),
    Rule(
        name="a-for-one-of-a-kind",
        title="A and an: what somebody is",
        reason="After “{verb}” a person or thing that is one of its kind has “{better}”.",
        example="My mother is [→a] teacher.",
        before=patterns.BEING,
        word="",
        better="an?",
    ),
    Rule(
        name="a-with-countable",
        title="Countable nouns need an article",
        reason="A countable noun in the singular needs an article or determiner: “{better}” where it is one of many.",
        example="We bought [→a] car last year.",
        word="",
        better="an?",
    ),
    Rule(
        name="the-with-of",
        title="The: we know which",
        reason="The words after “{right}” say which one is meant, so it has “the”.",
        example="She knows [→the] name of the street.",
        word="",
        better="the",
        after=r"(?:\w+ )?\w+ (?:of|that|which|who)\b",
    ),
    Rule(
        name="the-when-known",
        title="The: we know which",
        reason="“the” shows that the reader knows which one: it was named before, or there is only one.",
        example="I bought a book and a pen; I lost [→the] book.",
        word="",
        better="the",
    ),
    Rule(
        name="the-not-a",
        title="A or the",
        reason="“the” is for what the reader knows already, “a” and “an” for one of many.",
        example="Close [a→the] door, please.",
        word="an?",
        better="the",
    ),
    Rule(
        name="a-not-the",
        title="A or the",
        reason="“a” and “an” are for one of many, “the” for what the reader knows already.",
        example="She is reading [the→a] book; I do not know which.",
        word="the",
        better="an?",
    ),
    Rule(
        name="article",
        title="Articles",
        reason="“a” and “an” are for one of many, “the” for what the reader knows; things in general have neither.",
        example="Can I have [the→some] more soup?",
    ),
)

NUMBERS = (
    Rule(
        name="uncountable-has-no-plural",
        title="Countable and uncountable nouns",
        reason="“{better}” cannot be counted, so it has no plural.",
        example="We need more [informations→information].",
        word=".*s",
        better=patterns.UNCOUNTABLE,
    ),
    Rule(
        name="one-of-the",
        title="One of the + plural",
        reason="“one of” picks one out of several, so the noun is in the plural.",
        example="She is one of the best [player→players] in the team.",
        before=r"one of (?:\w+)(?: \w+){0,2}",
        better=patterns.PLURAL,
    ),
    Rule(
        name="plural-after-many",
        title="Plural after many, few, two, these",
        reason="After “{quantity}” a countable noun is in the plural.",
        example="There are many [problem→problems] to solve.",
        before=patterns.QUANTITY,
        better=patterns.PLURAL,
    ),
    Rule(
        name="singular-after-each",
        title="Singular after a, each, every, this",
        reason="After “{quantity}” the noun is in the singular.",
        example="Every [students→student] has a locker.",
        before=patterns.ONE_EACH,
        word=patterns.PLURAL,
    ),
    Rule(
        name="plural-for-all",
        title="Singular or plural",
        reason="A countable noun without an article, meaning all of its kind, is in the plural.",
        example="She loves [dog→dogs] and horses.",
        better=patterns.PLURAL,
    ),
    Rule(
        name="singular",
        title="Singular or plural",
        reason="Only one is meant here, or something that is not counted, so it is “{better}”.",
        example="He studied [engineerings→engineering].",
    ),
)

VERB_FORMS = (
    Rule(
        name="verb-without-be",
        title="Verb without be",
        reason="This verb needs no form of “be” before it: “{better}”.",
        example="I [am agree→agree] with you.",
        word=patterns.BE_AND_VERB,
    ),
    Rule(
        name="base-after-modal",
        title="Can, must, will + base form",
        reason="After “{helper}” the verb is in its base form: no -s, no -ed, no -ing, no “to”.",
        example="She can [speaks→speak] three languages.",
        before=patterns.MODAL,
        better=patterns.BASE_FORM,
    ),
    Rule(
        name="ing-after-preposition",
        title="Preposition + -ing",
        reason="After the preposition “{preposition}” a verb ends in -ing.",
        example="Thank you for [help→helping] me.",
        before=patterns.BEFORE_ING,
        better=r"\w+ing",
    ),
    Rule(
        name="ing-after-enjoy",
        title="Verb + -ing",
        reason="After “{verb}” another verb ends in -ing.",
        example="I enjoy [to read→reading] in bed.",
        before=patterns.VERB_WITH_ING,
        better=r"\w+ing",
    ),
    Rule(
        name="to-after-want",
        title="Verb + to",
        reason="After “{verb}” another verb has “to” and its base form.",
        example="They want [going→to go] home.",
        before=patterns.VERB_WITH_TO,
        better=r"to \w+",
    ),
    Rule(
        name="to-before-verb",
        title="Verb + to",
        reason="“to” joins this verb to the words before it: “{left} {better}”.",
        example="We are allowed [use→to use] our phones.",
        before=r"\w+",
        better=r"to \w+",
    ),
    Rule(
        name="base-after-to",
        title="To + base form",
        reason="After “to” the verb is in its base form.",
        example="I hope to [seeing→see] you soon.",
        before=r"\bto",
    ),
    Rule(
        name="participle-after-have",
        title="Have + past participle",
        reason="After “{helper}” comes the past participle: have seen, has gone, had written.",
        example="He has [went→gone] to Paris.",
        before=patterns.HAVE,
    ),
    Rule(
        name="participle-after-be",
        title="Be + -ing or past participle",
        reason="After “{helper}” comes -ing for what is going on, or the past participle for what is done to it.",
        example="The house was [build→built] in 1900.",
        before=patterns.BE,
    ),
    Rule(
        name="past-with-past-time",
        title="Past tense",
        reason="“{time}” puts the sentence into the past, so the verb is in the past tense.",
        example="I [go→went] to the market yesterday.",
        better=patterns.PAST,
        after=patterns.PAST_TIME,
    ),
    Rule(
        name="present-tense",
        title="Present tense",
        reason="What is so now, or is always so, has the present tense: “{better}”.",
        example="We [had→have] a garden, and it is full of roses.",
        word=patterns.PAST,
        better=patterns.NOT_PAST,
    ),
    Rule(
        name="third-person-s",
        title="He, she, it + -s",
        reason="In the present, the verb after one person or thing ends in -s: “{better}”.",
        example="She [go→goes] to school by bus.",
        word=r".*(?:[^s]|ss)|have|do|are|were|don't",
        better=r"\w+s|doesn't|is|was|has",
    ),
    Rule(
        name="plural-verb",
        title="Plural subject, plural verb",
        reason="The subject is more than one, or “I” or “you”, so the verb has no -s: “{better}”.",
        example="They [goes→go] to school by bus.",
        word=r"\w+s|doesn't|is|was|has",
        better=r".*(?:[^s]|ss)|have|do|are|were|don't|am",
    ),
    Rule(
        name="past-in-a-story",
        title="Past tense",
        reason="This happened in the past, so the verb is in the past tense: “{better}”.",
        example="We opened the door and [see→saw] a dog.",
        word=patterns.NOT_PAST,
        better=patterns.PAST,
    ),
    Rule(
        name="verb",
        title="Form of the verb",
        reason="The form “{better}” fits the time and the subject of this sentence better than “{word}”.",
        example="They [knowing→know] the answer.",
    ),
)

CAPITALS = (
    Rule(
        name="capital-i",
        title="Capital I",
        reason="“I” is always a capital letter, wherever it stands.",
        example="Tomorrow [i→I] will call you.",
        word="i|i'.*",
    ),
    Rule(
        name="capital-first",
        title="Capital letters",
        reason="A sentence begins with a capital letter, and so do names, days, months, languages and nationalities.",
        example="We meet on [monday→Monday].",
    ),
)

PUNCTUATION = (
    Rule(
        name="its",
        title="Its and it’s",
        reason="“it’s” is short for “it is” or “it has”; “its” shows what belongs to it.",
        example="[Its→It's] a long story.",
        word="its|it's",
    ),
    Rule(
        name="comma-space",
        title="Spaces around punctuation",
        reason="A comma has no space before it and one space after it.",
        example="I like tea[,→, ]and she likes coffee.",
        word=r"\s*,\s*",
    ),
    Rule(
        name="punctuation",
        title="Punctuation",
        reason="Punctuation shows the reader where parts of a sentence begin and end.",
        example="However[→,] it was too late.",
    ),
)

REPETITION = Rule(
    name="repeated",
    title="A word written twice",
    reason="The same word appears twice, or two words say the same thing.",
    example="I saw [the the→the] film.",
)

SPACE = Rule(
    name="spacing",
    title="Spaces",
    reason="There is one space between words, and none before a full stop, a comma or a question mark.",
    example="That is all[ →].",
)

COMPOUND = Rule(
    name="one-word-or-two",
    title="One word or two",
    reason="Some expressions are written as one word, others as two.",
    example="I like it [alot→a lot].",
)

WORD_FORM = Rule(
    name="word-form",
    title="Irregular form",
    reason="“{word}” does not exist: the form is “{better}”.",
    example="The [childrens→children] are happy.",
    word=patterns.MADE_FORM,
)

SPELLING = Rule(
    name="spelling",
    title="Spelling",
    reason="“{word}” is not in the dictionary; the suggestions are the words nearest to it.",
    example="I [recieved→received] your letter.",
)

PREPOSITIONS = (*LENGTHS, *WITH_VERBS, *TIME, *PLACE, *OTHER_PREPOSITIONS)
