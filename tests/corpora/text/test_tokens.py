"""Tokens: Penn conventions, learner text, and what holds for every text."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.text.tokens import token_spans, tokens_of
from grater.model import Essay, Span
from tests.corpora.text.learner_text import learner_text


def words(text: str) -> list[str]:
    return [token.of(text) for token in token_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # contractions and possessives are cut as in the penn treebank
        ("I don't think it's late.", "I do n't think it 's late ."),
        ("We'll see, they've gone", "We 'll see , they 've gone"),
        ("You can't, cannot and won't!", "You ca n't , can not and wo n't !"),
        ("She'd've come", "She 'd 've come"),
        ("The boys' room, my aunt's cat", "The boys ' room , my aunt 's cat"),
        ("IT’S mine, don’t", "IT ’S mine , do n’t"),
        ("I don`t and it´s", "I do n`t and it ´s"),
        ("five o'clock with O'Neil", "five o'clock with O'Neil"),
        ("call 'em in the '90s", "call 'em in the '90s"),
        ("I'm gonna go", "I 'm gon na go"),
        # numbers dates and money
        ("1,250.75 is 3.5% more", "1,250.75 is 3.5 % more"),
        ("$5, US$20 and €1,000", "$ 5 , US $ 20 and € 1,000"),
        ("on 12/05/2019 at 10:30, 2019-05-12", "on 12/05/2019 at 10:30 , 2019-05-12"),
        ("from 1990–1995, the 20th", "from 1990–1995 , the 20th"),
        ("-5 or .5 degrees, see page.5", "-5 or .5 degrees , see page . 5"),
        ("1. First 2) second", "1 . First 2 ) second"),
        ("It was 1999. Then", "It was 1999 . Then"),
        # punctuation stands alone and hyphenated words stay whole
        ('He said: "go (now)".', 'He said : " go ( now ) " .'),
        ("“Well,” she said, ‘fine’", "“ Well , ” she said , ‘ fine ’"),
        ("''so'' and ``so''", "'' so '' and `` so ''"),
        ("a 'good' idea", "a ' good ' idea"),
        ("Wait... what?! No!! $$", "Wait ... what ?! No !! $$"),
        ("well-known pre- and post-war", "well-known pre- and post-war"),
        ("yes--no—maybe", "yes -- no — maybe"),
        ("and/or him/herself at AT&T", "and/or him/herself at AT&T"),
        ("#topic @friend #1", "#topic @friend # 1"),
        ("¿Qué?", "¿ Qué ?"),
        # abbreviations keep their stop and other words do not
        ("Dr. Lee met Mrs. Tan, e.g. in the U.S. or U.K.", "Dr. Lee met Mrs. Tan , e.g. in the U.S. or U.K."),
        ("J. Tan has a Ph.D. and a B.Sc.", "J. Tan has a Ph.D. and a B.Sc."),
        ("tea, milk, etc. at 5 p.m.", "tea , milk , etc. at 5 p.m."),
        ("tea, etc...", "tea , etc ..."),
        ("My answer is no. So do I.", "My answer is no . So do I ."),
        ("I etched it. Also etc.", "I etched it . Also etc."),
        # a missing space is mended but addresses and file names stay whole
        ("to school.Then we ate", "to school . Then we ate"),
        ("at home.then,later;now", "at home . then , later ; now"),
        ("see www.example.org/a?b=c, and", "see www.example.org/a?b=c , and"),
        ("(https://example.com/x).", "( https://example.com/x ) ."),
        ("write to a.b@example.ac.uk.", "write to a.b@example.ac.uk ."),
        ("on example.com, essay.docx and grater.py.", "on example.com , essay.docx and grater.py ."),
        ("at example.co.uk/help.", "at example.co.uk/help ."),
        ("I like.comics", "I like . comics"),
    ],
)
def test_words_are_cut_as_in_the_penn_treebank_and_as_learners_write_them(text: str, expected: str) -> None:
    assert words(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fun👍🏽👍!", ["fun", "👍🏽", "👍", "!"]),
        ("👨\u200d👩\u200d👧🇸🇬🇫🇷", ["👨\u200d👩\u200d👧", "🇸🇬", "🇫🇷"]),
        ("cafe\u0301 re\u0301sume\u0301.", ["cafe\u0301", "re\u0301sume\u0301", "."]),
        ("!\u0301a", ["!\u0301", "a"]),
        ("one\u00a0two\u2003three\u3000four", ["one", "two", "three", "four"]),
        ("one\r\ntwo", ["one", "two"]),
        ("שלום, עולם!", ["שלום", ",", "עולם", "!"]),
        ("مرحبا، كيف؟", ["مرحبا", "،", "كيف", "؟"]),
        ("zero\u200bwidth soft\u00adhyphen", ["zero\u200bwidth", "soft\u00adhyphen"]),
        ("你好。再见", ["你好", "。", "再见"]),
        ("", []),
        (" \n\u00a0", []),
    ],
)
def test_emoji_marks_scripts_and_spaces(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@given(learner_text)
def test_tokens_are_ordered_hold_no_whitespace_and_cover_everything_else(text: str) -> None:
    tokens = token_spans(text)
    assert all(token.start < token.end for token in tokens)
    assert all(before.end <= after.start for before, after in pairwise(tokens))
    assert "".join(token.of(text) for token in tokens) == "".join(text.split())


@given(learner_text, learner_text)
def test_what_stands_beyond_whitespace_changes_no_token_and_a_token_alone_is_one(text: str, other: str) -> None:
    assert words(f"{text} {other}") == words(text) + words(other)
    assert words(" ".join(words(text))) == words(text)


@given(st.lists(st.sampled_from(["a b", "a.b", "don't", ".", "👍"]), max_size=4).map("".join))
def test_long_pieces_are_cut_like_short_ones(text: str) -> None:
    # Pieces above LONGEST_CACHED take another path: a word of 60 letters in front must not change what follows.
    assert words("w" * 60 + "," + text)[2:] == words("w," + text)[2:]


HARD = "a|.|a.|aa.|a@|a.b@|www.|x.com/|'s|a's|1,|a-|!|👨\u200d|\u0301|.\u0301|http://.|com.|n't|/.| |\n|U."


@pytest.mark.parametrize("pattern", [*HARD.split("|"), "w" * 62 + "."])
def test_time_is_linear_on_any_input(pattern: str) -> None:
    # 50,000 characters take a fifth of a second at the worst; a quadratic pattern would take a minute.
    begin = time.process_time()
    token_spans(pattern * (50_000 // len(pattern)))
    assert time.process_time() - begin < 30


def test_an_essay_that_carries_tokens_is_not_tokenised_again() -> None:
    own = (Span(0, 5),)
    assert tokens_of(Essay("e", "don't", tokens=own)) == own
    assert tokens_of(Essay("e", "don't", tokens=())) == ()
    assert tokens_of(Essay("e", "don't")) == (Span(0, 2), Span(2, 5))
