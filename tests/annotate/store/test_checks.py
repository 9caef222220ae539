"""The invariant checker sees each broken promise: every kind of violation is made on purpose and found."""

from __future__ import annotations

from itertools import product

import polars as pl
import pytest
from sqlalchemy import text as sql

from grater.annotate import content, gold, jobs, leases, standing, units
from grater.annotate.store import Store, checks
from grater.annotate.worksheets import add_judgments
from grater.model import Edit, Essay, Span
from grater.tables import read_judgments
from tests.annotate.store.crowds import Crowd, make_world

TABLES = ("submissions", "judgments", "events", "leases", "slots", "units")
INDEXES = ("one_lease_a_place", "one_lease_a_slot", "one_judgment_a_rater", "one_judgment_a_slot")


def disarm(world: Crowd) -> None:
    """Take away what the database itself refuses, so that a promise can be broken at all."""
    is_postgres = world.store.engine.dialect.name == "postgresql"
    with world.store.write() as tx:
        for table, verb in product(TABLES, ("delete", "update", "truncate")):
            where = f" ON {table}" if is_postgres else ""
            tx.execute(sql(f"DROP TRIGGER IF EXISTS {table}_no_{verb}{where}"))
        for index in INDEXES:
            tx.execute(sql(f"DROP INDEX {index}"))


def break_it(world: Crowd, *statements: str) -> set[str]:
    """Run SQL behind everybody's back and give the kinds of violation that the checker then finds."""
    disarm(world)
    with world.store.write() as tx:
        for statement in statements:
            tx.execute(sql(statement))
    return {violation.kind for violation in world.read(checks.violations)}


def a_world(store: Store) -> Crowd:
    """Three units; one filled by rater 0 and 1, one in the hands of rater 2, and a surplus answer."""
    world = make_world(store, n_units=1, judgments=2, n_raters=4)
    lease = world.must_take(0)
    world.send(lease, submission_id="a")
    world.send(lease, submission_id="b")
    world.send(world.must_take(1), submission_id="c")
    world.write(units.add_all, world.job_id, [units.NewUnit(((world.item_of(world.unit_ids[0]), {}),))])
    world.must_take(2)
    return world


def with_gold(store: Store) -> Crowd:
    """A job with one gold unit, answered right by rater 0 and wrong by rater 1."""
    world = make_world(store, n_units=1, judgments=2, n_raters=2)
    item_id = world.item_of(world.unit_ids[0])
    with store.write() as tx:
        (unit_id,) = units.add_all(tx, world.job_id, [units.NewUnit(((item_id, {}),), role="gold")])
        gold.add(tx, unit_id, item_id, ["error"], reason="It is 'at the bus stop'.")
    for person_id, label in zip(world.raters, ("error", "ok"), strict=True):
        place = leases.UnitSlot(unit_id, None)
        lease = world.write(leases.issue, world.read(jobs.get, world.job_id), place, person_id=person_id)
        world.send(lease, label=label)
        world.write(standing.recount, world.job_id, person_id)
    return world


def imported(store: Store) -> Crowd:
    """A world with a job whose judgments came in as a table."""
    world = make_world(store, n_units=1)
    rows = pl.DataFrame({"item": ["i", "i"], "rater": ["r", "s"], "label": ["error", "ok"]})
    world.write(add_judgments, read_judgments(rows, name="crowd"), job="crowd", task="error")
    return world


def with_marks(store: Store) -> Crowd:
    world = make_world(store)
    essay = Essay("marked", "Short.", (Edit(Span(0, 5), ("Long",), "Wform", "A1"),), ("A1",))
    world.write(content.add_essays, [essay])
    return world


ADD_PAYMENT = (
    "INSERT INTO payments (payment_id, job_id, person_id, kind, cents, currency, at) SELECT '{0}', job_id, "
    "person_id, 'bonus', 100, '{0}', 0 FROM submissions WHERE submission_id = 'a'"
)
LEASE_AGAIN = (
    "INSERT INTO leases (lease_id, job_id, unit_id, n, person_id, place, issued_at, expires_at, state, kept) "
    "SELECT 'x', job_id, unit_id, n, person_id, 1, issued_at, expires_at, state, kept FROM leases "
    "WHERE state = 'held'"
)
STORE_AGAIN = "INSERT INTO events (at, verb, noun, payload) SELECT at, verb, noun, payload FROM events"
WITHDRAW = "UPDATE submissions SET status = 'withdrawn'"
EJECT = "UPDATE trust SET state = 'ejected'"
REVOKE = "UPDATE submissions SET status = 'untrusted', n = NULL; UPDATE leases SET state = 'held'"

BROKEN = {
    "a submission gone": (
        a_world,
        "lost",
        "DELETE FROM judgments; DELETE FROM submissions WHERE submission_id = 'b'",
    ),
    "a judgment gone": (a_world, "lost", "DELETE FROM judgments WHERE submission_id = 'a'"),
    "a body changed": (a_world, "lost", "UPDATE submissions SET body = '{}' WHERE submission_id = 'a'"),
    "an import gone": (
        imported,
        "lost",
        "DELETE FROM judgments WHERE label = 'ok'; DELETE FROM submissions WHERE n = 2",
    ),
    "two that count": (a_world, "doubled", "UPDATE submissions SET status = 'untrusted' WHERE submission_id = 'b'"),
    "stored twice": (a_world, "doubled", f"{STORE_AGAIN} WHERE verb = 'submission.stored' AND noun = 'a'"),
    "imported twice": (imported, "doubled", STORE_AGAIN),
    "more than wanted": (
        a_world,
        "over-issued",
        "UPDATE submissions SET status = 'valid', n = 3 WHERE submission_id = 'b'",
    ),
    "a slot filled twice": (a_world, "over-issued", "UPDATE submissions SET n = 1 WHERE submission_id = 'c'"),
    "a slot leased twice": (a_world, "over-issued", LEASE_AGAIN),
    "a slot gone": (a_world, "starved", "DELETE FROM slots WHERE state = 'free'"),
    "filled by nothing": (a_world, "starved", "UPDATE slots SET state = 'filled' WHERE state = 'free'"),
    "valid without a slot": (a_world, "starved", "UPDATE slots SET state = 'free' WHERE state = 'filled' AND n = 1"),
    "a slot with surplus": (a_world, "starved", "UPDATE submissions SET n = 9 WHERE submission_id = 'b'"),
    "nobody assigned": (a_world, "starved", "UPDATE jobs SET access = 'assigned'"),
    "leased by nobody": (a_world, "orphan", "UPDATE leases SET state = 'expired' WHERE state = 'held'"),
    "held without a slot": (a_world, "orphan", "UPDATE slots SET state = 'free' WHERE state = 'leased'"),
    "an item outside": (a_world, "offsets", 'UPDATE items SET "end" = 10000'),
    "an edit outside": (with_marks, "offsets", 'UPDATE edits SET "end" = 99'),
    "judged elsewhere": (a_world, "offsets", "UPDATE judgments SET item_id = 'x' WHERE submission_id = 'a'"),
    "two currencies": (a_world, "money", f"{ADD_PAYMENT.format('EUR')}; {ADD_PAYMENT.format('USD')}"),
    "a job opened in secret": (a_world, "rebuilt", "UPDATE jobs SET state = 'closed'"),
    "a role changed in secret": (a_world, "rebuilt", "UPDATE people SET role = 'owner'"),
    "a status changed in secret": (a_world, "rebuilt", f"{WITHDRAW} WHERE submission_id = 'b'"),
    "an import changed in secret": (imported, "rebuilt", f"{WITHDRAW} WHERE n = 2"),
    "an event forgotten": (a_world, "rebuilt", "DELETE FROM events WHERE verb = 'lease.taken'"),
    "an import forgotten": (imported, "rebuilt", "DELETE FROM events WHERE verb = 'submissions.imported'"),
    "gold counted twice": (with_gold, "trust", "UPDATE trust SET seen = 2"),
    "a miss counted as right": (with_gold, "trust", 'UPDATE trust SET "right" = 1'),
    "no count of gold": (with_gold, "trust", "DELETE FROM trust"),
    "ejected and still valid": (with_gold, "trust", EJECT),
    "ejected and still at work": (with_gold, "trust", f"{EJECT}; {REVOKE}"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checker_turns_red(store: Store, name: str) -> None:
    make, kind, statements = BROKEN[name]
    world = make(store)
    world.require_promises()
    assert kind in break_it(world, *statements.split("; "))


def test_every_kind_of_violation_has_its_negative_control() -> None:
    assert set(checks.QUERIES) | set(checks.RULES) == {kind for _, kind, _ in BROKEN.values()}
