"""Types of edits: a case for every category of Bryant, Felice and Briscoe 2017, table 2, and of changed parts."""

from __future__ import annotations

import pytest

from grater.corpora.edits.engine import load_engine


@pytest.mark.parametrize(
    ("expected", "source", "target"),
    [
        ("R:ADJ", "It was a large surprise .", "It was a big surprise ."),
        ("R:ADJ:FORM", "This one is more big .", "This one is bigger ."),
        ("R:ADV", "He often comes late .", "He always comes late ."),
        ("M:CONJ", "I like tea coffee .", "I like tea and coffee ."),
        ("R:CONTR", "I do not know .", "I do n't know ."),
        ("M:DET", "She bought car .", "She bought a car ."),
        ("U:DET", "I like the music in general .", "I like music in general ."),
        ("R:DET", "She is a owner .", "She is the owner ."),
        ("R:PRON", "We met those at noon .", "We met them at noon ."),
        ("R:PRON", "It is a cat on the roof .", "There is a cat on the roof ."),
        ("R:CONTR", "He 's my uncle .", "He is my uncle ."),
        ("R:MORPH", "The testing took an hour .", "The test took an hour ."),
        ("R:NOUN:NUM", "We did the thing .", "We did the things ."),
        ("R:VERB:FORM", "You should telling us more .", "You should tell us more ."),
        ("R:MORPH", "It was a beauty day .", "It was a beautiful day ."),
        ("R:NOUN", "He opened the doorway with his elbow .", "He opened the gate with his elbow ."),
        ("R:NOUN:INFL", "We saw two oxes there .", "We saw two oxen there ."),
        ("R:NOUN:NUM", "I have two dog .", "I have two dogs ."),
        ("M:NOUN:POSS", "My brother car is red .", "My brother 's car is red ."),
        ("R:NOUN:POSS", "My brothers car is red .", "My brother 's car is red ."),
        ("R:ORTH", "We visited london in May .", "We visited London in May ."),
        ("R:OTHER", "At this moment I agree .", "Now I agree ."),
        ("R:PREP", "We arrived in the station .", "We arrived at the station ."),
        ("M:PREP", "I listen music .", "I listen to music ."),
        ("R:PRON", "I gave it to they .", "I gave it to them ."),
        ("M:PUNCT", "However he left .", "However , he left ."),
        ("R:PUNCT", "Did he leave .", "Did he leave ?"),
        ("R:SPELL", "It was beautifull .", "It was beautiful ."),
        ("R:VERB", "He made his homework .", "He did his homework ."),
        ("R:VERB:FORM", "I enjoy to swim .", "I enjoy swimming ."),
        ("R:VERB:INFL", "He getted a prize .", "He got a prize ."),
        ("R:VERB:SVA", "She like tea .", "She likes tea ."),
        ("R:VERB:TENSE", "I eat fish yesterday .", "I ate fish yesterday ."),
        ("M:VERB:TENSE", "She been there .", "She has been there ."),
        ("R:WO", "I know not it .", "I know it not ."),
        # a word that only changes case at the end does not make a replacement
        ("M:DET", "Price with either case is low .", "The price with either case is low ."),
    ],
)
def test_each_category(expected: str, source: str, target: str) -> None:
    (edits,) = load_engine().extract([(source.split(), target.split())])
    assert [edit.type for edit in edits] == [expected]
