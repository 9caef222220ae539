"""Forms of nouns and verbs, lemmas and stems, prepositions, and the list of words: pairs written down by us."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.inflect import indefinite_article, is_mass, number_of, plural, singular
from grater.corpora.text.lemmas import IRREGULAR, is_word, lemma, lemmas_of, stem, words
from grater.corpora.text.prepositions import PREPOSITIONS, VARIANTS, canonical
from grater.corpora.text.verbs import VerbForms, verb_base, verb_forms
from tests.each import for_each

PAIRS = """
child children man men policeman policemen woman women human humans German Germans person people foot feet tooth
teeth mouse mice goose geese ox oxen die dice grandchild grandchildren criterion criteria phenomenon phenomena
datum data analysis analyses basis bases crisis crises thesis theses hypothesis hypotheses diagnosis diagnoses
bacterium bacteria stimulus stimuli cactus cacti larva larvae matrix matrices knife knives wife wives housewife
housewives leaf leaves bookshelf bookshelves life lives half halves wolf wolves thief thieves roof roofs belief
beliefs chief chiefs cliff cliffs proof proofs safe safes giraffe giraffes glove gloves olive olives wave waves
nerve nerves potato potatoes tomato tomatoes hero heroes echo echoes photo photos piano pianos video videos studio
studios zoo zoos city cities country countries lady ladies soliloquy soliloquies day days key keys boy boys box
boxes tax taxes church churches bench benches wish wishes stomach stomachs monarch monarchs arch arches class
classes process processes bus buses gas gases virus viruses campus campuses bonus bonuses circus circuses house
houses cause causes blouse blouses excuse excuses horse horses case cases database databases disease diseases
response responses lens lenses bias biases iris irises quiz quizzes size sizes prize prizes waltz waltzes movie
movies tie ties pie pies cookie cookies shoe shoes canoe canoes headache headaches cache caches price prices
bridge bridges employee employees tree trees menu menus taxi taxis topic topics clinic clinics specimen specimens
mother-in-law mothers-in-law passer-by passers-by student students Child Children CHILD CHILDREN City Cities CITY
CITIES CD CDs MBA MBAs NGO NGOs
"""
NOUNS = dict(zip(PAIRS.split()[::2], PAIRS.split()[1::2], strict=True))


@for_each(NOUNS.items())
def test_plural_and_singular_are_each_others_way_back(noun: tuple[str, str]) -> None:
    one, many = noun
    assert (plural(one), singular(many)) == (many, one)
    assert (plural(many), singular(one)) == (many, one)
    assert (number_of(one), number_of(many)) == ("singular", "plural")


def test_nouns_of_one_form_second_plurals_and_mass_nouns_are_known() -> None:
    for noun in ["sheep", "series", "species", "aircraft", "fish", "Chinese", "SHEEP"]:
        assert (number_of(noun), plural(noun), singular(noun)) == ("either", noun, noun)
    for noun in ["scissors", "trousers", "clothes", "police", "Jeans"]:
        assert (number_of(noun), plural(noun), singular(noun)) == ("plural", noun, noun)
    for noun in ["news", "physics", "Mathematics", "diabetes", "tennis", "class", "bus", "status", "analysis"]:
        assert (number_of(noun), singular(noun)) == ("singular", noun)
    for many, one in (("formulae", "formula"), ("persons", "person"), ("indices", "index")):
        assert (singular(many), number_of(many), plural(many)) == (one, "plural", many)
    assert (is_mass("Information"), is_mass("fact")) == (True, False)


AN = (
    "hour honest Honour heir hourly MBA FBI X-ray SUV HIV HTML L-shaped F16 mp3 8 80 8,000 11 18 11-year-old "
    "1800s 18,000 egg umbrella uncle unimportant uninteresting unidentified usher urban utter other only e-mail "
    "élan 'apple UGLY ATM EU"
)
ODD = ["", " ", "…", "useful idea"]
A = (
    "university one-way one once unit unique European UFO USB US user usual utility ukulele Ukrainian unanimous "
    "ewe euro house hotel historic NASA NATO CD PhD BMW T-shirt U-turn SCHOOL 1 10 100 110 180 1,100,000 yes year "
    "'big 😀 UV Mr St. Ltd"
)


@for_each(
    [*((word, "an") for word in [*AN.split(), "old university"]), *((word, "a") for word in [*A.split(), *ODD])]
)
def test_an_stands_before_the_sound_of_a_vowel_and_a_before_that_of_a_consonant(case: tuple[str, str]) -> None:
    word, article = case
    assert indefinite_article(word) == article


@given(st.text(max_size=12))
def test_any_string_has_forms(text: str) -> None:
    assert plural(text).startswith(text[:1].lower()) or plural(text)[:1] == text[:1]
    assert number_of(text) in ("singular", "plural", "either")
    assert len(singular(text)) <= len(text) + 2
    assert indefinite_article(text) in ("a", "an")
    assert verb_forms(text).s.endswith("s")
    assert verb_forms(text).ing.endswith("ing")


@given(st.from_regex(r"[a-z]{3,9}[bdfgklmnprt]", fullmatch=True))
def test_the_plural_of_a_regular_noun_is_a_plural_with_its_way_back(noun: str) -> None:
    assert singular(plural(noun)) == singular(noun)
    assert number_of(plural(noun)) != "singular"


def cases(text: str) -> list[tuple[str, ...]]:
    return [tuple(case.split()) for case in text.split(",")]


VERBS = """
walk walks walked walked walking, hope hopes hoped hoped hoping, hop hops hopped hopped hopping,
open opens opened opened opening, prefer prefers preferred preferred preferring,
offer offers offered offered offering, study studies studied studied studying,
play plays played played playing, die dies died died dying, agree agrees agreed agreed agreeing,
singe singes singed singed singeing, panic panics panicked panicked panicking,
pass passes passed passed passing, fix fixes fixed fixed fixing, echo echoes echoed echoed echoing,
travel travels travelled travelled travelling, rain rains rained rained raining, go goes went gone going,
undergo undergoes underwent undergone undergoing, have has had had having, do does did done doing,
write writes wrote written writing, rewrite rewrites rewrote rewritten rewriting, put puts put put putting,
begin begins began begun beginning, be is was been being
"""


@for_each(cases(VERBS))
def test_forms_are_made_from_the_base_and_lead_back_to_it(forms: tuple[str, ...]) -> None:
    base, s, past, participle, ing = forms
    assert verb_forms(base) == VerbForms(base=base, s=s, past=past, participle=participle, ing=ing)
    tags = ("VB", "VBZ", "VBD", "VBN", "VBG")
    assert {verb_base(form, tag) for form, tag in zip(forms, tags, strict=True)} == {base}


def test_only_be_has_a_present_and_a_past_plural_of_its_own() -> None:
    assert (verb_forms("be").present, verb_forms("be").past_plural) == ("are", "were")
    assert (verb_forms("go").present, verb_forms("go").past_plural) == ("go", "went")


@for_each(IRREGULAR)
def test_every_irregular_form_leads_back(base: str) -> None:
    forms = verb_forms(base)
    assert verb_base(forms.past, "VBD") == base
    assert verb_base(forms.participle, "VBN") == base
    assert verb_base(forms.s, "VBZ") == base
    assert verb_base(forms.ing, "VBG") == base


BASES = """
lay VB lay, lay VBD lie, saw VBD see, found VBP found, learnt VBN learn, Gotten VBN get, born VBN bear,
am VBP be, 've VBP have, called VBD call, need VBP need, compared VBN compare, wasting VBG waste,
singing VBG sing, present VB present, infringed VBD infringe, traveling VBG travel, went VB go,
recieved VBD recieved, 😀 VB 😀
"""


@for_each([*cases(BASES), ("", "VB", "")])
def test_base_of_a_form(case: tuple[str, ...]) -> None:
    word, tag, base = case
    assert verb_base(word, tag) == base


LEMMAS = """
hoping VBG hope, hopping VBG hop, opening VBG open, telling VBG tell, added VBD add, controlled VBD control,
Studies VBZ study, goes VBZ go, was VBD be, n't RB not, ca MD can, children NNS child, easier JJR easy,
worst JJS bad, worst RBS badly, bring VB bring, London NNP london
"""


@for_each([*cases(LEMMAS), ("", "NN", "")])
def test_lemma(case: tuple[str, ...]) -> None:
    word, tag, expected = case
    assert lemma(word, tag) == expected


def test_a_form_may_have_several_lemmas_and_words_of_one_family_share_a_stem() -> None:
    assert {"leave", "left"} <= lemmas_of("left")
    assert stem("the") == "the"
    assert stem("is") != stem("it")
    for family in ("decide decision decisive", "happy happiness happily", "possible possibility"):
        assert len({stem(word) for word in family.split()}) == 1, family


def test_the_list_holds_words_alone_in_british_and_american_spelling() -> None:
    known = ["house", "House", "colour", "color", "organise", "organize", "London", "went"]
    assert [word for word in (*known, "beautifull", "recieve", "london's", "", "xqzt") if is_word(word)] == known
    assert len(words()) > 100_000
    assert not any(word.endswith("'s") or " " in word for word in words())


def test_case_and_spelling_variants_are_one_of_the_34_prepositions_in_alphabetical_order() -> None:
    assert len(PREPOSITIONS) == 34
    assert list(PREPOSITIONS) == sorted(set(PREPOSITIONS))
    assert [canonical(word) for word in ("towards", "TILL", "Of")] == ["toward", "until", "of"]
    assert {canonical(word) for word in ("", "the", "ofthe", "despite", "-NONE-")} == {None}
    assert set(VARIANTS.values()) <= set(PREPOSITIONS)
    assert not set(VARIANTS) & set(PREPOSITIONS)
