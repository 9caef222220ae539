"""A system that says something else than before is a new version: refused under its name, nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grater.annotate import content
from grater.annotate.importing import import_files
from grater.annotate.store import Store
from grater.annotate.systems import decide
from grater.errors import Conflict
from grater.model import Decision
from tests.annotate.store.worlds import read
from tests.annotate.study.files import write_decisions, write_essays, write_items, write_text
from tests.annotate.study.systems import PLACES, Scripted, scripted


@pytest.fixture
def decided(store: Store, tmp_path: Path) -> Store:
    import_files(store, corpora=[write_essays(tmp_path)])
    decide(store, [scripted()])
    return store


def stored(store: Store) -> list[Decision]:
    return read(store, content.all_decisions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda each: replace(each, flagged=False), "3 flags differ"),
        (lambda each: replace(each, score=0.76), "3 scores differ"),
        (lambda each: replace(each, score=None), "3 scores differ"),
        (lambda each: replace(each, suggestion="to"), "3 suggestions differ"),
        (lambda each: replace(each, suggestion=None), "3 suggestions differ"),
        (lambda each: replace(each, type="extraneous", score=0.1), "3 scores, 3 types differ"),
    ],
)
def test_a_changed_decision_is_refused(decided: Store, change: Callable[[Decision], Decision], message: str) -> None:
    before, new = stored(decided), scripted()
    with pytest.raises(Conflict, match=message):
        decide(decided, [replace(new, output=[change(each) for each in new.output])])
    assert stored(decided) == before


def test_other_places_in_the_same_essays_are_another_version(decided: Store) -> None:
    with pytest.raises(Conflict, match="1 places it did not look at differ"):
        decide(decided, [scripted((*PLACES, ("e0", 26, 29)))])
    with pytest.raises(Conflict, match="1 places it no longer looks at differ"):
        decide(decided, [scripted(PLACES[:2])])


def test_a_system_that_says_the_same_and_more_is_no_other_and_a_new_name_is_a_new_system(decided: Store) -> None:
    old, gap = scripted(), scripted([("e0", 3, 3)], kind="prep-missing")
    rounded = replace(old, output=[replace(each, score=0.75 + 1e-12) for each in old.output])
    another_kind = Scripted([*old.output, *gap.output], [*old.items, *gap.items])
    renamed = replace(old, name="mine-2", output=[replace(each, system="mine-2", score=0.2) for each in old.output])
    for new, n_new in ((rounded, 0), (another_kind, 1), (renamed, 3)):
        [done] = decide(decided, [new])
        assert done.n_new == n_new
    assert {each.score for each in stored(decided) if each.system == "mine"} == {0.75}


def test_essays_that_came_since_are_no_change(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_text(tmp_path / "first.txt", "We sat on the bench.")])
    decide(store, [scripted([("first", 7, 9)])])
    import_files(store, corpora=[write_essays(tmp_path)])
    [done] = decide(store, [scripted([("first", 7, 9), *PLACES])])
    assert done.n_new == 3


def test_a_table_that_contradicts_the_study_is_refused_whole(store: Store, tmp_path: Path) -> None:
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
    import_files(store, decisions=[write_decisions(tmp_path)])
    before = stored(store)
    rows = ("item,system,flagged,score,suggestion", "one,S,1,0.4,at", "two,T,1,0.9,on")
    with pytest.raises(Conflict, match="S is not the S that decided on 2 items of this study: 1 scores differ"):
        import_files(store, decisions=[write_text(tmp_path / "other.csv", *rows)])
    assert stored(store) == before
