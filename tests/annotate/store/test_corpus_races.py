"""Those who fill a study meet at the worst moment: essays come and go while systems run and jobs are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pytest

from grater.annotate import content, jobs, samples
from grater.annotate.mining import NewList, mine_study
from grater.annotate.plans import NewJob, add_job
from grater.annotate.samples import NewSample, draw
from grater.annotate.store import Store
from grater.annotate.systems import decide
from grater.detect.detector import Finding
from grater.detect.mining.ranking import Counts
from grater.errors import Conflict
from grater.model import Decision, Essay, Item, Json, Span
from tests.annotate.store.races import interrupted, writing
from tests.annotate.study.mined_lists import MORE, TEXT, count


@dataclass(frozen=True, slots=True)
class FirstWord:
    """Flags the first two letters of every essay."""

    name: str = "first-word"
    kinds: tuple[str, ...] = ("prep",)
    card: Mapping[str, Json] = field(default_factory=dict, hash=False)

    def find(self, corpus: Iterable[Essay]) -> Iterator[Finding]:
        for essay in corpus:
            item = Item(essay.essay_id, Span(0, 2), "prep")
            decision = Decision(item_id=item.item_id, system=self.name, flagged=True)
            yield Finding(item=item, decision=decision, target=essay.text[:2], probabilities=())


@pytest.fixture
def filled(store: Store) -> Store:
    with store.write() as tx:
        content.add_essays(tx, [Essay("one", TEXT), Essay("two", MORE)])
    return store


@pytest.fixture
def decided(filled: Store) -> Store:
    decide(filled, [FirstWord()])
    return filled


def goes(store: Store, essay_id: str) -> Callable[[], None]:
    return writing(store, lambda tx: content.delete_essay(tx, essay_id))


def test_essays_that_come_twice_at_once_have_places_of_their_own(filled: Store) -> None:
    def come(name: str) -> Callable[[], object]:
        return writing(filled, lambda tx: content.add_essays(tx, [Essay(name, "We went home.")]))

    _, other = interrupted(filled, come("three"), come("four"), before="INSERT INTO essays")
    other.result()
    with filled.read() as tx:
        assert {essay.essay_id for essay in content.all_essays(tx)} == {"one", "two", "three", "four"}
        assert len({essay.essay_id for n in range(4) for essay in content.some_essays(tx, start=n, most=1)}) == 4


def test_a_system_that_runs_twice_at_once_decides_once(filled: Store) -> None:
    def run() -> int:
        return decide(filled, [FirstWord()])[0].n_new

    first, second = interrupted(filled, run, run, before="INSERT INTO (items|systems|decisions)")
    assert sorted((first, second.result())) == [0, 2]


def test_an_essay_that_goes_while_a_system_looks_at_it_is_left_out(filled: Store) -> None:
    (done,) = decide(filled, [FirstWord()], advance=lambda _: goes(filled, "one")())
    assert (done.n_items, done.n_new) == (1, 1)
    with filled.read() as tx:
        assert [item.item.essay_id for item in content.all_items(tx) if item.item] == ["two"]


def test_an_essay_that_goes_while_decisions_on_it_are_stored_takes_them_along(filled: Store) -> None:
    run, gone = goes(filled, "one"), lambda: decide(filled, [FirstWord()])
    _, went = interrupted(filled, gone, run, before="INSERT INTO items")
    went.result()  # nobody has judged it
    with filled.read() as tx:
        assert [essay.essay_id for essay in content.all_essays(tx)] == ["two"]
        assert content.n_decisions(tx) == 1


def test_the_same_sample_drawn_twice_at_once_is_one(decided: Store) -> None:
    def once() -> list[str]:
        return draw(decided, NewSample(name="first", system="first-word", n=2)).sample.frame["item"].to_list()

    first, second = interrupted(decided, once, once, before="INSERT INTO samples")
    assert first == second.result()
    with decided.read() as tx:
        assert samples.names(tx) == ["first"]


def test_two_jobs_without_a_name_at_once_get_two_names(decided: Store) -> None:
    def make() -> str:
        return add_job(decided, NewJob(name="", task="error")).name

    first, second = interrupted(decided, make, make, before="INSERT INTO jobs")
    assert {first, second.result()} == {"error", "error-2"}


@pytest.mark.parametrize("table", ["samples", "units"])
def test_an_essay_of_which_a_sample_is_just_drawn_or_a_job_just_made_stays(decided: Store, table: str) -> None:
    def make() -> object:
        if table == "samples":
            return draw(decided, NewSample(name="s", system="first-word", n=2))
        return add_job(decided, NewJob(name="j", task="error"))

    _, gone = interrupted(decided, make, goes(decided, "one"), before=f"INSERT INTO {table}")
    assert isinstance(gone.exception(), Conflict)
    with decided.read() as tx:
        assert content.n_essays(tx) == 2


def test_an_essay_that_goes_while_it_is_mined_is_asked_about_by_no_list(filled: Store) -> None:
    def count_and_delete(wanted: set[tuple[str, ...]]) -> Counts:
        goes(filled, "two")()
        return count(wanted)

    with pytest.raises(Conflict, match="deleted"):
        mine_study(filled, NewList(name="mined", most=10), count_and_delete, source="toy")
    with filled.read() as tx:
        assert jobs.all(tx) == []
