"""Our sentences and tokens against the official ones of CoNLL-2014 (made with NLTK), on the same essays."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from grater.corpora.text.sentences import sentence_spans
from grater.corpora.text.tokens import token_spans
from tests.real_data import data_path

PARAGRAPH = re.compile(r"<(?:P|TITLE)>\n(.*?)\n</(?:P|TITLE)>", re.DOTALL)


def paragraphs() -> list[str]:
    return PARAGRAPH.findall(data_path("conll14/official/official-2014.0.sgml").read_text("utf-8"))


def official_sentences() -> list[str]:
    lines = data_path("conll14/official/official-2014.0.m2").read_text("utf-8").split("\n")
    return [line[2:] for line in lines if line.startswith("S ")]


def ends(parts: Iterable[str]) -> set[int]:
    """Where the parts end, whitespace not counted."""
    found, offset = set(), 0
    for part in parts:
        offset += len("".join(part.split()))
        found.add(offset)
    return found


def agreement(ours: set[int], theirs: set[int]) -> float:
    """Ends that both have, among all ends that one of them has."""
    return len(ours & theirs) / len(ours | theirs)


@pytest.mark.data
def test_sentence_ends_agree_with_the_official_split() -> None:
    official = official_sentences()
    assert len(official) == 1312
    ours = [sentence.of(text) for text in paragraphs() for sentence in sentence_spans(text)]
    # Measured: 1,332 sentences, 1,309 ends shared, agreement .9805.  Read one by one, the 26 that differ are slips of
    # the official split: 23 ends it lacks (most where no space follows), 3 it has (before closing quotes, at "i.e.").
    assert agreement(ends(ours), ends(official)) > 0.98
    assert len(ends(ours) & ends(official)) / 1312 > 0.997


@pytest.mark.data
def test_token_ends_agree_with_the_official_tokens() -> None:
    official = [token for sentence in official_sentences() for token in sentence.split()]
    assert len(official) == 30144
    ours = [token.of(text) for text in paragraphs() for token in token_spans(text)]
    # Measured: 30,249 tokens, 30,137 ends shared, agreement .9961.  We cut where a space is missing after , or . and
    # before an opening ' (which the official tokens keep on the word), and keep "i.e.", "etc." and "café" whole.
    assert agreement(ends(ours), ends(official)) > 0.995
    assert len(ends(ours) & ends(official)) / 30144 > 0.999
