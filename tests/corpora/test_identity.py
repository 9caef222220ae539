from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from grater.corpora.identity import EssayIds, HashSet
from grater.model import short_hash


def test_an_essay_without_an_id_is_named_by_its_text() -> None:
    assert EssayIds().of_text("I like tea.") == short_hash("I like tea.")


def test_repeats_are_numbered_from_two() -> None:
    ids = EssayIds()
    assert [ids.of_document("a") for _ in range(3)] == ["a", "a#2", "a#3"]


def test_an_id_that_looks_like_a_repeat_is_never_given_out_twice() -> None:
    ids = EssayIds()
    assert [ids.of_document(name) for name in ("a", "a#2", "a", "a")] == ["a", "a#2", "a#3", "a#4"]


@given(st.lists(st.sampled_from(["a", "a#2", "a#2#2", "b"]), max_size=12))
def test_ids_are_unique(names: list[str]) -> None:
    ids = EssayIds()
    given_out = [ids.of_document(name) for name in names]
    assert len(set(given_out)) == len(given_out)


@given(st.lists(st.integers(0, 40), max_size=60))
def test_a_hash_set_behaves_as_a_set(keys: list[int]) -> None:
    known: set[int] = set()
    table = HashSet()
    for key in keys:
        assert table.add(key + 1) == (key + 1 not in known)
        known.add(key + 1)
    assert len(table) == len(known)


def test_a_hash_set_grows_past_its_first_size() -> None:
    table = HashSet()
    assert all(table.add(key) for key in range(1, 5000))
    assert not any(table.add(key) for key in range(1, 5000))
