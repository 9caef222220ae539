"""Forms of verbs: regular, irregular, doubled, prefixed; and back to the base."""

from __future__ import annotations

import pytest

from grater.corpora.text.verbs import IRREGULAR, VerbForms, verb_base, verb_forms
from tests.each import for_each


@pytest.mark.parametrize(
    "forms",
    [
        "walk walks walked walked walking",
        "hope hopes hoped hoped hoping",
        "hop hops hopped hopped hopping",
        "open opens opened opened opening",
        "prefer prefers preferred preferred preferring",
        "offer offers offered offered offering",
        "study studies studied studied studying",
        "play plays played played playing",
        "die dies died died dying",
        "agree agrees agreed agreed agreeing",
        "singe singes singed singed singeing",
        "panic panics panicked panicked panicking",
        "pass passes passed passed passing",
        "fix fixes fixed fixed fixing",
        "echo echoes echoed echoed echoing",
        "travel travels travelled travelled travelling",
        "rain rains rained rained raining",
        "go goes went gone going",
        "undergo undergoes underwent undergone undergoing",
        "have has had had having",
        "do does did done doing",
        "write writes wrote written writing",
        "rewrite rewrites rewrote rewritten rewriting",
        "put puts put put putting",
        "begin begins began begun beginning",
        "be is was been being",
    ],
)
def test_forms_are_made_from_the_base_and_lead_back_to_it(forms: str) -> None:
    base, s, past, participle, ing = forms.split()
    assert verb_forms(base) == VerbForms(base=base, s=s, past=past, participle=participle, ing=ing)
    tags = ("VB", "VBZ", "VBD", "VBN", "VBG")
    assert {verb_base(form, tag) for form, tag in zip(forms.split(), tags, strict=True)} == {base}


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


@pytest.mark.parametrize(
    ("word", "tag", "base"),
    [
        ("lay", "VB", "lay"),
        ("lay", "VBD", "lie"),
        ("saw", "VBD", "see"),
        ("found", "VBP", "found"),
        ("learnt", "VBN", "learn"),
        ("Gotten", "VBN", "get"),
        ("born", "VBN", "bear"),
        ("am", "VBP", "be"),
        ("'ve", "VBP", "have"),
        ("called", "VBD", "call"),
        ("need", "VBP", "need"),
        ("compared", "VBN", "compare"),
        ("wasting", "VBG", "waste"),
        ("singing", "VBG", "sing"),
        ("present", "VB", "present"),
        ("infringed", "VBD", "infringe"),
        ("traveling", "VBG", "travel"),
        ("went", "VB", "go"),
        ("recieved", "VBD", "recieved"),
        ("", "VB", ""),
        ("😀", "VB", "😀"),
    ],
)
def test_base_of_a_form(word: str, tag: str, base: str) -> None:
    assert verb_base(word, tag) == base


@pytest.mark.parametrize("base", ["", "x", "😀", "gr8", "e", "tie", "y"])
def test_any_string_has_forms(base: str) -> None:
    assert all(form.startswith(base[:1]) for form in (verb_forms(base).s, verb_forms(base).ing))
