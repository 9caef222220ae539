"""Raters who meet at the worst moment: it ends as if one had come after the other, on either engine (P3, P4, P6)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier

import pytest

from grater.annotate import gold, leases, marks, panels, people, progress, trust, units
from grater.annotate.panels import NewPanel, PanelPlace
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, events, open_store
from grater.annotate.store.transaction import HOUR, MINUTE
from grater.errors import Conflict, Stale, StoreBusy
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.postgres import new_database
from tests.annotate.store.races import interrupted, two_answers_at_once, writing
from tests.annotate.store.worlds import FakeClock

REDUNDANCY = {"redundancy": {"least": 2, "most": 5, "lead": 2}}
LOCKS_UNIT = r"SELECT units.unit_id\s+FROM units\s+WHERE units.unit_id"


def three_answers(store: Store) -> Crowd:
    """Two of three agree, so a fourth is asked; without the third all agree, and nobody is."""
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    for rater, label in enumerate(("error", "ok", "ok")):
        crowd.work(rater, label=label)
    return crowd


def test_of_two_answers_at_once_that_differ_the_second_asks_for_more(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    two_answers_at_once(crowd, "error", "ok")
    with store.read() as tx:
        assert [(unit.valid, unit.wanted) for unit in progress.of_job(tx, crowd.job.job_id).by_unit] == [(2, 4)]
    crowd.require_promises()


def test_a_slot_that_a_rater_is_taking_is_not_closed(store: Store) -> None:
    crowd = three_answers(store)
    out = writing(store, lambda tx: trust.eject(tx, crowd.job, crowd.raters[0]))
    _, taken = interrupted(store, out, lambda: crowd.take(4), before="UPDATE slots.*closed")
    assert taken.exception() is None
    crowd.require_promises()


def test_a_slot_that_late_work_fills_is_not_closed(store: Store) -> None:
    crowd = three_answers(store)
    late = crowd.must_take(4)
    with store.write() as tx:
        leases.close(tx, late, "expired", actor=None)
    out = writing(store, lambda tx: trust.eject(tx, crowd.job, crowd.raters[0]))
    _, sent = interrupted(store, out, lambda: crowd.send(late), before="UPDATE slots.*closed")
    assert sent.result().status in ("valid", "surplus")
    crowd.require_promises()


def test_a_lease_that_its_rater_takes_up_again_is_not_freed_under_their_hands(store: Store, clock: FakeClock) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    crowd.take(0)
    clock.advance(2 * HOUR)
    _, again = interrupted(store, lambda: crowd.take(1), lambda: crowd.take(0), before="UPDATE leases")
    lease = again.result()
    with store.read() as tx:
        held = leases.held(tx, job_id=crowd.job.job_id, person_id=crowd.raters[0])
    assert lease == held
    crowd.require_promises()


def test_a_slot_that_late_work_is_filling_goes_to_nobody_else(store: Store, clock: FakeClock) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
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
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    with store.read() as tx:
        (unit_id,) = units.ids_of_job(tx, crowd.job.job_id)
        item_id = units.get(tx, unit_id).unit.items[0].item.item_id
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


def in_panel(crowd: Crowd) -> tuple[str, PanelPlace]:
    """A panel of one place, and the rater in it, who has done all that there is."""
    new = NewPanel(provider="prolific", codes={"completed": "C-1"}, places=1, minutes=10)
    with crowd.store.write() as tx:
        panel_id = panels.add(tx, crowd.job.job_id, new).panel_id
        place = panels.enter(tx, panel_id, "first")
        lease = leases.take(tx, job_id=crowd.job.job_id, person_id=place.person_id)
    assert lease is not None
    crowd.send(lease)
    return panel_id, place


@pytest.mark.parametrize("who_waits", ["who ends", "who comes"])
def test_a_place_is_completed_or_times_out_and_never_both(store: Store, clock: FakeClock, who_waits: str) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    panel_id, place = in_panel(crowd)
    clock.advance(11 * MINUTE)
    ended: list[str] = []

    def conclude() -> None:
        with store.write() as tx:
            ending = panels.conclude(tx, crowd.job.job_id, place.person_id)
        ended.append(ending.state if ending else "")

    def enter() -> None:
        with suppress(Conflict), store.write() as tx:  # the panel may be full
            panels.enter(tx, panel_id, "second")

    pair = (conclude, enter) if who_waits == "who ends" else (enter, conclude)
    interrupted(store, *pair, before="UPDATE panel_places")
    with store.read() as tx:
        found = [each.state for each in panels.places(tx, panel_id)]
    assert found == (["completed"] if ended == ["completed"] else ["timed-out", "joined"])


def test_an_answer_that_waits_for_new_terms_is_followed_by_what_they_want(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=2, terms=REDUNDANCY)
    crowd.work(0)
    lease = crowd.must_take(1)
    more = writing(store, lambda tx: set_terms(tx, crowd.job.job_id, {"redundancy": {"least": 3, "most": 5}}))
    interrupted(store, lambda: crowd.send(lease), more, before=LOCKS_UNIT)
    with store.read() as tx:
        assert [(unit.valid, unit.wanted) for unit in progress.of_job(tx, crowd.job.job_id).by_unit] == [(2, 3)]
    crowd.require_promises()


@pytest.mark.parametrize(
    "before", ["INSERT INTO people", "SELECT people.*WHERE people.name", "SELECT panel_places.*JOIN panels"]
)
def test_two_who_would_be_the_same_person_of_a_panel_are_one(store: Store, before: str) -> None:
    """One id at two panels of a provider at once: whoever is second is told to come again, and is the same."""
    crowd = make_crowd(store, n_units=1, n_gold=0, terms={})
    with store.write() as tx:
        ids = [panels.add(tx, crowd.job.job_id, NewPanel(provider="prolific")).panel_id for _ in range(2)]
    one = writing(store, lambda tx: panels.enter(tx, ids[0], "abc"))
    two = writing(store, lambda tx: panels.enter(tx, ids[1], "abc"))
    with suppress(Conflict):
        interrupted(store, one, two, before=before)
    assert one().person_id == two().person_id
