from __future__ import annotations

from itertools import chain, count

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.formats import EssayIds
from grater.model import short_hash


def test_an_essay_without_an_id_is_named_by_its_text() -> None:
    assert EssayIds().of_text("I like tea.") == short_hash("I like tea.")


@given(st.lists(st.sampled_from(["a", "a#2", "a#2#2", "a#7", "b", "b#3", "c", "d"]), min_size=10, max_size=60))
def test_the_first_free_number_is_given_out(names: list[str]) -> None:
    taken: set[str] = set()
    ids = EssayIds()
    for name in names:
        numbered = (f"{name}#{number}" for number in count(2))
        expected = next(each for each in chain([name], numbered) if each not in taken)
        taken.add(expected)
        assert ids.of_document(name) == expected
