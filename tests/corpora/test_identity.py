from __future__ import annotations

from errno import ENOSPC
from itertools import chain, count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grater.corpora import identity, spilled
from grater.corpora.identity import EssayIds, HashSet, hash_of
from grater.errors import GraterError
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


@given(st.lists(st.integers(0, 40), max_size=60), st.sampled_from([3, 1000]))
def test_a_hash_set_behaves_as_a_set(keys: list[int], most_held: int) -> None:
    known: set[int] = set()
    table = HashSet(most_held=most_held)
    for key in keys:
        assert table.add(key + 1) == (key + 1 not in known)
        known.add(key + 1)
    assert len(table) == len(known)


@pytest.mark.parametrize("most_held", [64, 1 << 18])
def test_a_hash_set_grows_past_its_first_size(most_held: int) -> None:
    """On disk in 93 lots of 64, of which every eight are put together, and every eight of those."""
    table = HashSet(most_held=most_held)
    keys = [hash_of(str(number)) for number in range(6000)]
    assert all(table.add(key) for key in [2**64 - 1, *keys])
    assert not any(table.add(key) for key in [*keys, 2**64 - 1])
    assert len(table) == 6001


def test_a_temporary_folder_that_is_full_is_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(spilled, "TemporaryFile", refuse)
    table = HashSet(most_held=2)
    with pytest.raises(GraterError, match="cannot be written: No space left on device"):
        [table.add(key) for key in (1, 2)]


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["a", "a#2", "a#2#2", "a#7", "b", "b#3", "c", "d"]), min_size=10, max_size=60))
def test_ids_do_not_depend_on_what_is_held_in_memory(names: list[str]) -> None:
    """`#2`, `#3` by a set of all ids, in five lines, beside ours with next to nothing in memory."""
    taken: set[str] = set()
    expected = []
    for name in names:
        numbered = (f"{name}#{number}" for number in count(2))
        expected.append(next(each for each in chain([name], numbered) if each not in taken))
        taken.add(expected[-1])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(identity, "MOST_NUMBERED", 2)
        ids = EssayIds()
        ids._seen = HashSet(most_held=4)
        assert [ids.of_document(name) for name in names] == expected
