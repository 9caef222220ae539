"""Forms of nouns; the pairs are common knowledge of English, written down by us."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.inflect import indefinite_article, is_mass, number_of, plural, singular
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
A = (
    "university one-way one once unit unique European UFO USB US user usual utility ukulele Ukrainian unanimous "
    "ewe euro house hotel historic NASA NATO CD PhD BMW T-shirt U-turn SCHOOL 1 10 100 110 180 1,100,000 yes year "
    "'big 😀 UV Mr St. Ltd"
)


@for_each([*AN.split(), "old university"])
def test_an_stands_before_the_sound_of_a_vowel(word: str) -> None:
    assert indefinite_article(word) == "an"


@for_each([*A.split(), "", " ", "…", "useful idea"])
def test_a_stands_before_the_sound_of_a_consonant(word: str) -> None:
    assert indefinite_article(word) == "a"


@given(st.text(max_size=12))
def test_any_string_has_forms(text: str) -> None:
    assert plural(text).startswith(text[:1].lower()) or plural(text)[:1] == text[:1]
    assert number_of(text) in ("singular", "plural", "either")
    assert len(singular(text)) <= len(text) + 2
    assert indefinite_article(text) in ("a", "an")


@given(st.from_regex(r"[a-z]{3,9}[bdfgklmnprt]", fullmatch=True))
def test_the_plural_of_a_regular_noun_is_a_plural_with_its_way_back(noun: str) -> None:
    assert singular(plural(noun)) == singular(noun)
    assert number_of(plural(noun)) != "singular"
