"""Lives of a study (`lives.py`): short ones, long ones (`slow`, on both engines, with their figures), and twins.

A defect for each family of promises turns the short life red, most of them under `slow`.  P10 is also held by twins:
two lives that differ only in what a system flagged look the same to every rater.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy import select

from grater.annotate import archive, credentials, leases, marks, panels, standing, submissions, trust, units
from grater.annotate.jobs import Job
from grater.annotate.store import Tx, open_store, schema, transaction
from grater.annotate.store.transaction import new_id
from grater.annotate.tasks.task import OneItem, Rng, Shown, Unit
from grater.errors import GraterError
from grater.model import Json
from tests.annotate.store.postgres import new_database
from tests.annotate.store.worlds import FakeClock, SeededSecrets
from tests.annotate.study.lives import NAMED, TESTED, Life, LifeInFile, LongLife, LongLifeInFile, build, new_file

SHORT = settings(
    max_examples=4,
    stateful_step_count=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)


@pytest.fixture(autouse=True)
def same_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids decide what comes next; with the same ones a life can be repeated."""
    for flagged in (0, 1):
        monkeypatch.setattr(transaction, "secrets", SeededSecrets(1))
        new_file(flagged=flagged)
    monkeypatch.setattr(transaction, "secrets", SeededSecrets(2))
    submissions._shown.cache_clear()


def test_no_life_of_a_study_breaks_a_promise() -> None:
    run_state_machine_as_test(LifeInFile, settings=SHORT)
    assert Life.counts["answers"] > 20


def figures(lives: settings) -> str:
    """What happened in the lives so far; anything lost, doubled, over-issued or starved would have ended them."""
    names = ("steps", "kills", "answers", "undone", "drafts", "exports", "codes")
    done = ", ".join(f"{Life.counts[name]:,} {name}" for name in names)
    return f"{lives.max_examples} lives: {done}; nothing lost, doubled, over-issued or starved"


@pytest.mark.slow
@pytest.mark.parametrize(("database", "n", "steps"), [("sqlite", 150, 60), ("postgresql", 40, 50)])
def test_no_long_life_breaks_a_promise(
    request: pytest.FixtureRequest,
    record_property: Callable[[str, object], None],
    database: str,
    n: int,
    steps: int,
) -> None:
    """`GRATER_LIVES=10` asks for that many."""
    lives = settings(SHORT, max_examples=int(os.environ.get("GRATER_LIVES", n)), stateful_step_count=steps)
    life = LongLifeInFile if database == "sqlite" else life_in_database(request.getfixturevalue("cluster"))
    Life.counts.clear()
    run_state_machine_as_test(life, settings=lives)
    assert Life.counts["kills"]
    record_property("figures", figures(lives))


def life_in_database(cluster: str) -> type[LongLife]:
    """Lives of copies of a study that is made once."""
    first = new_database(cluster)
    with open_store(first, create=True, clock=FakeClock()) as store:
        build(store)
    place = partial(new_database, cluster, template=first.rpartition("/")[2])
    return type("LifeInDatabase", (LongLife,), {"place": staticmethod(place)})


def nothing(*_: Any, **__: Any) -> None:
    """Leave undone what should be done."""


Defect: TypeAlias = Callable[[pytest.MonkeyPatch], None]


def instead(place: object, name: str, does: Any) -> Defect:
    """The named function of a module does something else."""
    return lambda patch: patch.setattr(place, name, does)


def without_slots(state: str) -> Defect:
    """No slot ever gets into a state."""
    right = units.set_slot
    return instead(units, "set_slot", lambda *given: right(*given) if given[-1] != state else None)


def _draw_gold_twice(patch: pytest.MonkeyPatch) -> None:
    first = select(schema.units.c.unit_id).where(schema.units.c.role == "gold").order_by(schema.units.c.position)
    patch.setattr(leases, "GOLD", first.limit(1))


def _leave_doors_open(patch: pytest.MonkeyPatch) -> None:
    for name in ("end_access", "end_all_sessions"):
        patch.setattr(credentials, name, nothing)


def _forget_rows(patch: pytest.MonkeyPatch) -> None:
    right = archive.judgment_frame
    patch.setattr(archive, "judgment_frame", lambda *given, **more: right(*given, **more)[:-1])


def _export_in_any_order(patch: pytest.MonkeyPatch) -> None:
    """The second export has every table backwards."""
    right, turns, n_tables = archive.rows, count(), len(archive.table_names())

    def rows(*given: Any, **more: Any) -> list[Any]:
        return list(right(*given, **more))[:: 1 if next(turns) < n_tables else -1]

    patch.setattr(archive, "rows", rows)


def _show_the_suggestion(patch: pytest.MonkeyPatch) -> None:
    right = OneItem.show

    def show(task: OneItem, unit: Unit, *, rng: Rng) -> Shown:
        known = unit.items[0].payload
        return replace(right(task, unit, rng=rng), after=str(known.get("suggestion", "")))

    patch.setattr(OneItem, "show", show)


def _type_over(patch: pytest.MonkeyPatch) -> None:
    def save(tx: Tx, *, unit_id: str, person_id: str, revision: int, body: Mapping[str, Json]) -> int:  # noqa: ARG001
        return marks.put_draft(tx, unit_id=unit_id, person_id=person_id, body=body)

    patch.setattr(marks, "save_draft", save)


CONTROLS: dict[str, Defect] = {
    "P1 a judgment is lost": instead(submissions, "store_all", nothing),
    "P2 a submission is stored twice": instead(submissions, "submission_id_of", lambda _lease_id: new_id()),
    "P3 a slot is issued twice": without_slots("leased"),
    "P4 a slot is never free again": without_slots("free"),
    "P5 a returned unit is not the next": instead(leases, "_take_again", nothing),
    "P5 gold is drawn twice": _draw_gold_twice,
    "P6 an ejected rater's work counts": instead(trust, "_with_status", lambda *_: []),
    "P8 a judgment is not exported": _forget_rows,
    "P8 exports differ": _export_in_any_order,
    "P10 a suggestion is shown": _show_the_suggestion,
    "P14 an old tab types over a newer draft": _type_over,
    "P14 a draft is not kept": instead(marks, "put_draft", lambda *_, **__: 1),
    "P11 access does not end": _leave_doors_open,
    "P12 a code for nothing": instead(panels, "_ending", lambda *_: "completed"),
    "trust is not counted": instead(standing, "gold_answers", lambda *_: []),
}


def one_life(*, flagged: int = 0, is_checked: bool = True) -> list[tuple[str, ...]]:
    """A short life in which everything happens once, checked at each step or at its end; what raters received."""
    life: Life = type("LifeWithFlags", (Life,), {"place": staticmethod(lambda: new_file(flagged=flagged))})()
    try:
        for step in steps_of(life):
            step()
            if is_checked:
                life.promises()
        life.promises()
    finally:
        life.teardown()
    return life.received


def steps_of(life: Life) -> list[Callable[[], None]]:
    def replay() -> None:
        for acknowledged in list(life.acknowledged.values())[:2]:
            desk = life.desk_again(acknowledged)
            assert submissions.hand_in(life.store, desk, acknowledged.fields, seconds=2.0).is_replay

    return [
        lambda: life.somebody_logs_in("worker", "session"),
        lambda: life.somebody_logs_in("other worker", "token"),
        lambda: life.come_from_the_panel("panel 1"),
        lambda: life.answer("panel 1", TESTED, "error"),
        lambda: life.return_a_unit("panel 1", TESTED),
        lambda: life.answer_several("worker", "error", 3),
        replay,
        lambda: life.return_a_unit("worker", TESTED),
        lambda: life.look_at_a_unit("worker", TESTED),
        lambda: life.clock_jumps(11),
        lambda: life.answer_several("other worker", "error", 6),
        lambda: life.look_at_a_unit("worker", TESTED),
        lambda: life.undo("other worker", TESTED),
        lambda: life.next_change_is_killed("after"),
        lambda: life.answer("annotator", NAMED, "ok"),
        lambda: life.next_change_is_killed("before"),
        lambda: life.answer("annotator", NAMED, "ok"),
        lambda: life.answer("annotator", NAMED, "ok"),
        lambda: life.answer_several("worker", "ok", 9),
        life.manager_settles_what_is_owed,
        lambda: life.owner_shuts_somebody_out_or_lets_them_in("other worker", is_in=False),
        lambda: life.manager_judges_a_rater("worker", "reject", TESTED),
        lambda: life.clock_jumps(-40_000),
        lambda: life.manager_judges_a_rater("worker", "reinstate", TESTED),
        lambda: life.answer_several("panel 1", "error", 9),
        lambda: life.come_from_the_panel("panel 2"),
        lambda: life.answer("panel 2", TESTED, "error"),
        lambda: life.manager_judges_a_rater("panel 2", "flag", TESTED),
        lambda: life.look_at_a_unit("panel 2", TESTED),
        lambda: life.mark_an_essay("annotator", is_stale=False, is_finished=False),
        lambda: life.mark_an_essay("annotator", is_stale=True, is_finished=False),
        lambda: life.mark_an_essay("annotator", is_stale=False, is_finished=True),
        life.owner_exports,
    ]


def test_a_life_in_which_everything_happens_once_keeps_every_promise() -> None:
    one_life()
    assert Life.counts["codes"]


QUICK = ("P1 a judgment is lost", "P8 exports differ", "P10 a suggestion is shown", "P14 a draft is not kept")


@pytest.mark.parametrize(
    "defect", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CONTROLS]
)
def test_a_defect_is_found(defect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    CONTROLS[defect](monkeypatch)
    with pytest.raises((AssertionError, GraterError)):
        one_life()


def twins(monkeypatch: pytest.MonkeyPatch) -> list[list[tuple[str, ...]]]:
    """What raters received in two lives that differ only in which items the system flagged."""
    lives = []
    for flagged in (0, 1):
        monkeypatch.setattr(transaction, "secrets", SeededSecrets(3))
        lives.append(one_life(flagged=flagged, is_checked=False))
    return lives


def test_what_raters_receive_does_not_depend_on_what_a_system_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    """P10: the same units in the same order, with the same ids and the same words."""
    one, other = twins(monkeypatch)
    assert one
    assert one == other


def test_an_order_that_depends_on_flags_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right, slots, decisions = leases._free_work, schema.slots.c, schema.decisions.c
    flagged = (
        select(slots.unit_id, slots.n)
        .join(schema.unit_items, schema.unit_items.c.unit_id == slots.unit_id)
        .join(schema.decisions, decisions.item_id == schema.unit_items.c.item_id)
        .join(schema.units, schema.units.c.unit_id == slots.unit_id)
        .where(slots.state == "free", decisions.flagged.is_(True), leases.NOT_JUDGED)
        .order_by(slots.shuffle)
        .limit(1)
    )

    def flagged_first(tx: Tx, job: Job, person_id: str, *, left_out: int) -> leases.UnitSlot | None:
        row = tx.first(flagged.where(slots.job_id == job.job_id), person=person_id)
        if row is None:
            return right(tx, job, person_id, left_out=left_out)
        return leases.UnitSlot(unit_id=row.unit_id, n=row.n)

    monkeypatch.setattr(leases, "_free_work", flagged_first)
    one, other = twins(monkeypatch)
    assert one != other
