"""Raters, and those who fill a study, meet at once: it ends as if one came after the other (P3, P4, P6)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier

import pytest

from grater.annotate import content, gold, leases, marks, panels, people, progress, runs, samples, trust
from grater.annotate.plans import NewJob, add_job
from grater.annotate.protocol import set_terms
from grater.annotate.runs import NewRun, work_once
from grater.annotate.samples import NewSample, draw
from grater.annotate.store import Store, events, open_store
from grater.annotate.store.transaction import HOUR, MINUTE
from grater.annotate.systems import decide
from grater.errors import Conflict, Stale, StoreBusy
from grater.model import Essay
from tests.annotate.store.crowds import Crowd, make_crowd, make_world
from tests.annotate.store.postgres import new_database
from tests.annotate.store.races import interrupted, twice, two_answers_at_once, writing
from tests.annotate.store.worlds import FakeClock, read, write
from tests.annotate.study.systems import Scripted, scripted
from tests.annotate.web.studies import corpus

REDUNDANCY = {"redundancy": {"least": 2, "most": 5, "lead": 2}}
LOCKS_UNIT = r"SELECT units.unit_id\s+FROM units\s+WHERE units.unit_id"


def wanted(crowd: Crowd) -> tuple[int, int]:
    """Valid judgments of the only unit, and those wanted."""
    (unit,) = crowd.read(progress.some_units, crowd.job_id)
    return unit.valid, unit.wanted


def test_of_two_answers_at_once_that_differ_the_second_asks_for_more(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    two_answers_at_once(crowd, "error", "ok")
    assert wanted(crowd) == (2, 4)
    crowd.require_promises()


@pytest.mark.parametrize("is_late", [False, True], ids=["a rater takes it", "late work fills it"])
def test_a_slot_that_is_just_needed_is_not_closed(store: Store, is_late: bool) -> None:
    """Two of three agree, so a fourth is asked; without the third all agree, and nobody is."""
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    for rater, label in enumerate(("error", "ok", "ok")):
        crowd.work(rater, label=label)
    needs: Callable[[], object] = partial(crowd.take, 4)
    if is_late:
        late = crowd.must_take(4)
        write(store, leases.close, late, "expired", actor=None)
        needs = partial(crowd.send, late)
    out = writing(store, lambda tx: trust.eject(tx, crowd.job, crowd.raters[0]))
    _, done = interrupted(store, out, needs, before="UPDATE slots.*closed")
    assert done.exception() is None
    assert {*crowd.statuses(4)} <= {"valid", "surplus"}
    crowd.require_promises()


def test_a_lease_that_its_rater_takes_up_again_is_not_freed_under_their_hands(store: Store, clock: FakeClock) -> None:
    crowd = make_world(store, n_units=1, judgments=1)
    crowd.take(0)
    clock.advance(2 * HOUR)
    _, again = interrupted(store, lambda: crowd.take(1), lambda: crowd.take(0), before="UPDATE leases")
    assert again.result() == crowd.read(leases.held, job_id=crowd.job_id, person_id=crowd.raters[0])
    crowd.require_promises()


def test_a_slot_that_late_work_is_filling_goes_to_nobody_else(store: Store, clock: FakeClock) -> None:
    crowd = make_world(store, n_units=1, judgments=1)
    late = crowd.must_take(0)
    clock.advance(2 * HOUR)
    sent, taken = interrupted(store, lambda: crowd.send(late), lambda: crowd.take(1), before="UPDATE leases.*done")
    assert (sent.status, taken.result()) == ("valid", None)
    crowd.require_promises()


def test_of_two_tabs_that_save_a_draft_at_once_the_second_is_told(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    lease = crowd.must_take(0)
    mine = {"unit_id": lease.unit_id, "person_id": lease.person_id}
    one = writing(store, lambda tx: marks.save_draft(tx, **mine, revision=0, body={"tab": 1}))
    two = writing(store, lambda tx: marks.save_draft(tx, **mine, revision=0, body={"tab": 2}))
    first, second = interrupted(store, one, two, before="INSERT INTO drafts")
    assert first == 1
    assert isinstance(second.exception(), Stale)


def test_work_that_a_rater_is_taking_does_not_become_gold(store: Store) -> None:
    crowd = make_world(store, n_units=1, judgments=1)
    (unit_id,) = crowd.unit_ids
    item_id = crowd.item_of(unit_id)
    convert = writing(store, lambda tx: gold.convert(tx, unit_id, item_id, ["error"], reason=""))
    is_gold, taken = interrupted(store, convert, crowd.take, before="UPDATE slots")
    assert (taken.result() is None) == is_gold
    crowd.require_promises()


def test_two_who_wait_for_each_other_are_not_stuck_and_nothing_is_half_done(cluster: str) -> None:
    """What locks cannot prevent: PostgreSQL ends one of the two, who hears that it is busy and may try again."""
    with open_store(new_database(cluster), create=True) as store:
        with store.write() as tx:
            ids = [people.add(tx, name=name, role="worker").person_id for name in ("Ann", "Bob")]
        both_hold = Barrier(2)

        def change(first: str, second: str) -> None:
            with store.write() as tx:
                people.set_role(tx, first, "manager")
                both_hold.wait(120)
                people.set_role(tx, second, "manager")

        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(change, *order) for order in (ids, ids[::-1])]
        failures = [each.exception() for each in both]
        with store.read() as tx:
            assert [person.role for person in people.all(tx)] == ["manager", "manager"]
            assert [event.verb for event in events.all(tx)].count("person.role") == 2
    (failure,) = [each for each in failures if each is not None]
    assert isinstance(failure, StoreBusy)
    assert "nothing was stored" in str(failure)


def in_panel(crowd: Crowd) -> tuple[str, panels.PanelPlace]:
    """A panel of one place, and the rater in it, who has done all that there is."""
    new = panels.NewPanel(provider="prolific", codes={"completed": "C-1"}, places=1, minutes=10)
    panel_id = crowd.write(panels.add, crowd.job_id, new).panel_id
    place = crowd.write(panels.enter, panel_id, "first")
    crowd.send(crowd.write(leases.take, job_id=crowd.job_id, person_id=place.person_id))
    return panel_id, place


@pytest.mark.parametrize("who_waits", ["who ends", "who comes"])
def test_a_place_is_completed_or_times_out_and_never_both(store: Store, clock: FakeClock, who_waits: str) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    panel_id, place = in_panel(crowd)
    clock.advance(11 * MINUTE)
    ended: list[str] = []

    def conclude() -> None:
        ending = write(store, panels.conclude, crowd.job.job_id, place.person_id)
        ended.append(ending.state if ending else "")

    def enter() -> None:
        with suppress(Conflict), store.write() as tx:  # the panel may be full
            panels.enter(tx, panel_id, "second")

    pair = (conclude, enter) if who_waits == "who ends" else (enter, conclude)
    interrupted(store, *pair, before="UPDATE panel_places")
    found = [each.state for each in read(store, panels.places, panel_id)]
    assert found == (["completed"] if ended == ["completed"] else ["timed-out", "joined"])


def test_an_answer_that_waits_for_new_terms_is_followed_by_what_they_want(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    crowd.work(0)
    lease = crowd.must_take(1)
    more = writing(store, lambda tx: set_terms(tx, crowd.job.job_id, {"redundancy": {"least": 3, "most": 5}}))
    interrupted(store, lambda: crowd.send(lease), more, before=LOCKS_UNIT)
    assert wanted(crowd) == (2, 3)
    crowd.require_promises()


@pytest.mark.parametrize(
    "before", ["INSERT INTO people", "SELECT people.*WHERE people.name", "SELECT panel_places.*JOIN panels"]
)
def test_two_who_would_be_the_same_person_of_a_panel_are_one(store: Store, before: str) -> None:
    """One id at two panels of a provider at once: whoever is second is told to come again, and is the same."""
    crowd = make_world(store, n_units=1)
    new = panels.NewPanel(provider="prolific")
    ids = [crowd.write(panels.add, crowd.job_id, new).panel_id for _ in range(2)]
    one, two = (partial(crowd.write, panels.enter, panel_id, "abc") for panel_id in ids)
    with suppress(Conflict):
        interrupted(store, one, two, before=before)
    assert one().person_id == two().person_id


def first_words() -> Scripted:
    """Flags the first two letters of both essays."""
    return scripted([("one", 0, 2), ("two", 0, 2)])


@pytest.fixture
def filled(store: Store) -> Store:
    write(store, content.add_essays, [Essay("one", "We met at noon."), Essay("two", "They sat on a wall.")])
    return store


@pytest.fixture
def decided(filled: Store) -> Store:
    decide(filled, [first_words()])
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
        return decide(filled, [first_words()])[0].n_new

    first, second = interrupted(filled, run, run, before="INSERT INTO (items|systems|decisions)")
    assert sorted((first, second.result())) == [0, 2]


def test_an_essay_that_goes_while_a_system_looks_at_it_is_left_out(filled: Store) -> None:
    (done,) = decide(filled, [first_words()], advance=lambda _: goes(filled, "one")())
    assert (done.n_items, done.n_new) == (1, 1)
    assert [item.item.essay_id for item in read(filled, content.all_items) if item.item] == ["two"]


def test_an_essay_that_goes_while_decisions_on_it_are_stored_takes_them_along(filled: Store) -> None:
    run, gone = goes(filled, "one"), lambda: decide(filled, [first_words()])
    _, went = interrupted(filled, gone, run, before="INSERT INTO items")
    went.result()  # nobody has judged it
    assert [essay.essay_id for essay in read(filled, content.all_essays)] == ["two"]
    assert read(filled, content.n_decisions) == 1


def test_the_same_sample_drawn_twice_at_once_is_one_and_jobs_without_a_name_get_two(decided: Store) -> None:
    def sample() -> list[str]:
        return draw(decided, NewSample(name="first", system="mine", n=2)).sample.frame["item"].to_list()

    def job() -> str:
        return add_job(decided, NewJob(name="", task="error")).name

    first, second = interrupted(decided, sample, sample, before="INSERT INTO samples")
    assert first == second.result()
    assert read(decided, samples.names) == ["first"]
    name, other = interrupted(decided, job, job, before="INSERT INTO jobs")
    assert {name, other.result()} == {"error", "error-2"}


@pytest.mark.parametrize("table", ["samples", "units"])
def test_an_essay_of_which_a_sample_is_just_drawn_or_a_job_just_made_stays(decided: Store, table: str) -> None:
    def make() -> object:
        if table == "samples":
            return draw(decided, NewSample(name="s", system="mine", n=2))
        return add_job(decided, NewJob(name="j", task="error"))

    _, gone = interrupted(decided, make, goes(decided, "one"), before=f"INSERT INTO {table}")
    assert isinstance(gone.exception(), Conflict)
    assert read(decided, content.n_essays) == 2


def asked(store: Store, n: int) -> set[str]:
    with store.write() as tx:
        content.add_essays(tx, corpus())
        return {runs.ask(tx, NewRun(kind="report", title=f"report {number}")).run_id for number in range(n)}


def test_two_processes_that_ask_at_once_get_different_runs(store: Store) -> None:
    waiting = asked(store, 2)
    first, second = twice(store, runs.claim, before="UPDATE runs")
    assert {run.run_id for run in (first, second.result()) if run} == waiting
    assert write(store, runs.claim) is None


def test_the_run_of_a_dead_process_is_done_by_another_and_what_it_made_is_kept(
    store: Store, clock: FakeClock
) -> None:
    (run_id,) = asked(store, 1)
    dead = write(store, runs.claim)
    assert work_once(store) is None
    clock.now += runs.STALE_MS + 1
    assert work_once(store) is not None
    assert not write(store, runs.finish, dead, words="late")
    with store.read() as tx:
        done = runs.get(tx, run_id)
        (page,) = runs.files_of(tx, run_id, is_result=True)
        assert (done.state, done.tries, runs.with_results(tx)) == ("done", 2, {run_id})
    assert page.content.startswith(b"<!doctype html>")
