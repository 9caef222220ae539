"""`unit.finished`: written when a unit has all its judgments, whoever brings it there, on either engine."""

from __future__ import annotations

from grater.annotate import trust, units
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, events
from grater.annotate.units import FINISHED
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.races import two_answers_at_once


def finished(store: Store) -> list[str]:
    with store.read() as tx:
        return [event.noun for event in events.all(tx) if event.verb == FINISHED]


def crowd_of(store: Store, *, judgments: int = 2) -> Crowd:
    return make_crowd(store, n_units=1, n_gold=0, judgments=judgments, terms={})


def only_unit(crowd: Crowd) -> str:
    with crowd.store.read() as tx:
        (unit_id,) = units.ids_of_job(tx, crowd.job.job_id)
    return unit_id


def test_it_is_told_once_when_the_last_judgment_comes(store: Store) -> None:
    crowd = crowd_of(store)
    crowd.work(0)
    assert finished(store) == []
    crowd.work(1)
    assert finished(store) == [only_unit(crowd)]


def test_of_two_last_answers_at_once_one_tells(store: Store) -> None:
    crowd = crowd_of(store)
    two_answers_at_once(crowd, "error", "error")
    assert finished(store) == [only_unit(crowd)]


def test_it_is_told_again_when_it_gets_there_again(store: Store) -> None:
    crowd = crowd_of(store)
    crowd.work(0)
    crowd.work(1)
    with store.write() as tx:
        trust.eject(tx, crowd.job, crowd.raters[0])
    assert finished(store) == [only_unit(crowd)]
    with store.write() as tx:
        trust.reinstate(tx, crowd.job, crowd.raters[0])
    assert finished(store) == [only_unit(crowd)] * 2


def test_terms_that_ask_for_no_more_finish_a_unit(store: Store) -> None:
    crowd = crowd_of(store, judgments=3)
    crowd.work(0)
    crowd.work(1)
    with store.write() as tx:
        set_terms(tx, crowd.job.job_id, {"redundancy": {"least": 2, "most": 3, "lead": 2}})
    assert finished(store) == [only_unit(crowd)]
