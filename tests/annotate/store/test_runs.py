"""Runs on both engines: one process each, also when two come at once, one dies, or one is held up."""

from __future__ import annotations

from grater.annotate import content, runs
from grater.annotate.runs import NewRun, Run, work_once
from grater.annotate.store import Store
from tests.annotate.store.races import interrupted, writing
from tests.annotate.store.worlds import FakeClock
from tests.annotate.web.studies import corpus


def asked(store: Store, n: int) -> set[str]:
    with store.write() as tx:
        content.add_essays(tx, corpus())
        return {runs.ask(tx, NewRun(kind="report", title=f"report {number}")).run_id for number in range(n)}


def test_two_processes_that_ask_at_once_get_different_runs(store: Store) -> None:
    waiting, claim = asked(store, 2), writing(store, runs.claim)
    first, second = interrupted(store, claim, claim, before="UPDATE runs")
    claimed = [run.run_id for run in (first, second.result()) if isinstance(run, Run)]
    assert set(claimed) == waiting
    assert claim() is None


def test_the_run_of_a_dead_process_is_done_by_another_and_what_it_made_is_kept(
    store: Store, clock: FakeClock
) -> None:
    (run_id,) = asked(store, 1)
    dead = writing(store, runs.claim)()
    assert dead is not None
    assert work_once(store) is None
    clock.now += runs.STALE_MS + 1
    assert work_once(store) is not None
    with store.write() as tx:
        assert not runs.finish(tx, dead, words="late")
        done = runs.get(tx, run_id)
        (page,) = runs.files_of(tx, run_id, is_result=True)
        assert (done.state, done.tries, runs.with_results(tx)) == ("done", 2, {run_id})
    assert page.content.startswith(b"<!doctype html>")
