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
    with store.write() as tx:
        item_id = units.get(tx, world.unit_ids[0]).unit.items[0].item.item_id
        units.add_all(tx, world.job_id, [units.NewUnit(((item_id, {}),))])
    world.must_take(2)
    with store.read() as tx:
        assert checks.violations(tx) == []
    return world


BROKEN = {
    "a submission gone": ("lost", ["DELETE FROM judgments", "DELETE FROM submissions WHERE submission_id = 'b'"]),
    "a judgment gone": ("lost", ["DELETE FROM judgments WHERE submission_id = 'a'"]),
    "a body changed": ("lost", ["UPDATE submissions SET body = '{}' WHERE submission_id = 'a'"]),
    "two that count": ("doubled", ["UPDATE submissions SET status = 'untrusted' WHERE submission_id = 'b'"]),
    "stored twice": (
        "doubled",
        [
            "INSERT INTO events (at, verb, noun, payload) SELECT at, verb, noun, payload FROM events "
            "WHERE verb = 'submission.stored' AND noun = 'a'"
        ],
    ),
    "more than wanted": ("over-issued", ["UPDATE submissions SET status = 'valid', n = 3 WHERE submission_id = 'b'"]),
    "a slot filled twice": ("over-issued", ["UPDATE submissions SET n = 1 WHERE submission_id = 'c'"]),
    "a slot leased twice": (
        "over-issued",
        [
            "INSERT INTO leases (lease_id, job_id, unit_id, n, person_id, place, issued_at, expires_at, state, kept) "
            "SELECT 'x', job_id, unit_id, n, person_id, 1, issued_at, expires_at, state, kept FROM leases "
            "WHERE state = 'held'"
        ],
    ),
    "a slot gone": ("starved", ["DELETE FROM slots WHERE state = 'free'"]),
    "filled by nothing": ("starved", ["UPDATE slots SET state = 'filled' WHERE state = 'free'"]),
    "valid without a slot": ("starved", ["UPDATE slots SET state = 'free' WHERE state = 'filled' AND n = 1"]),
    "a slot with surplus": ("starved", ["UPDATE submissions SET n = 9 WHERE submission_id = 'b'"]),
    "nobody assigned": ("starved", ["UPDATE jobs SET access = 'assigned'"]),
    "leased by nobody": ("orphan", ["UPDATE leases SET state = 'expired' WHERE state = 'held'"]),
    "held without a slot": ("orphan", ["UPDATE slots SET state = 'free' WHERE state = 'leased'"]),
    "an item outside": ("offsets", ['UPDATE items SET "end" = 10000']),
    "judged elsewhere": ("offsets", ["UPDATE judgments SET item_id = 'elsewhere' WHERE submission_id = 'a'"]),
    "two currencies": (
        "money",
        [
            "INSERT INTO payments (payment_id, job_id, person_id, kind, cents, currency, at) "
            f"SELECT '{currency}', job_id, person_id, 'bonus', 100, '{currency}', 0 FROM submissions "
            "WHERE submission_id = 'a'"
            for currency in ("EUR", "USD")
        ],
    ),
    "a job opened in secret": ("rebuilt", ["UPDATE jobs SET state = 'closed'"]),
    "a role changed in secret": ("rebuilt", ["UPDATE people SET role = 'owner'"]),
    "a status changed in secret": (
        "rebuilt",
        ["UPDATE submissions SET status = 'withdrawn' WHERE submission_id = 'b'"],
    ),
    "an event forgotten": ("rebuilt", ["DELETE FROM events WHERE verb = 'lease.taken'"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_checker_turns_red(store: Store, name: str) -> None:
    kind, statements = BROKEN[name]
    assert kind in break_it(a_world(store), *statements)


@pytest.mark.parametrize(
    ("kind", "statements"),
    [
        ("lost", ["DELETE FROM judgments WHERE label = 'ok'", "DELETE FROM submissions WHERE n = 2"]),
        ("doubled", ["INSERT INTO events (at, verb, noun, payload) SELECT at, verb, noun, payload FROM events"]),
        ("rebuilt", ["UPDATE submissions SET status = 'withdrawn' WHERE n = 2"]),
        ("rebuilt", ["DELETE FROM events WHERE verb = 'submissions.imported'"]),
    ],
)
def test_the_checker_turns_red_on_judgments_from_elsewhere(store: Store, kind: str, statements: list[str]) -> None:
    world = make_world(store, n_units=1)
    rows = pl.DataFrame({"item": ["i", "i"], "rater": ["r", "s"], "label": ["error", "ok"]})
    with store.write() as tx:
        add_judgments(tx, read_judgments(rows, name="crowd"), job="crowd", task="error")
    with store.read() as tx:
        assert checks.violations(tx) == []
    assert kind in break_it(world, *statements)


def with_gold(store: Store) -> Crowd:
    """A job with one gold unit, answered right by rater 0 and wrong by rater 1."""
    world = make_world(store, n_units=1, judgments=2, n_raters=2)
    with store.write() as tx:
        item_id = units.get(tx, world.unit_ids[0]).unit.items[0].item.item_id
        (unit_id,) = units.add_all(tx, world.job_id, [units.NewUnit(((item_id, {}),), role="gold")])
        gold.add(tx, unit_id, item_id, ["error"], reason="It is 'at the bus stop'.")
    for rater, label in ((0, "error"), (1, "ok")):
        with store.write() as tx:
            job = jobs.get(tx, world.job_id)
            lease = leases.issue(tx, job, leases.UnitSlot(unit_id, None), person_id=world.raters[rater])
        world.send(lease, label=label)
        with store.write() as tx:
            standing.recount(tx, world.job_id, world.raters[rater])
    return world


@pytest.mark.parametrize(
    "statements",
    [
        ["UPDATE trust SET seen = 2"],
        ['UPDATE trust SET "right" = 1'],
        ["DELETE FROM trust"],
        ["UPDATE trust SET state = 'ejected'"],  # and what they sent is valid
        [
            "UPDATE trust SET state = 'ejected'",
            "UPDATE submissions SET status = 'untrusted', n = NULL",
            "UPDATE leases SET state = 'held'",
        ],
    ],
)
def test_trust_without_its_count_or_its_consequences_is_found(store: Store, statements: list[str]) -> None:
    assert "trust" in break_it(with_gold(store), *statements)


def test_an_edit_outside_its_essay_is_found(store: Store) -> None:
    world = make_world(store)
    with store.write() as tx:
        content.add_essays(tx, [Essay("marked", "Short.", (Edit(Span(0, 5), ("Long",), "Wform", "A1"),), ("A1",))])
    assert "offsets" in break_it(world, 'UPDATE edits SET "end" = 99')


def test_every_kind_of_violation_has_its_negative_control() -> None:
    assert set(checks.QUERIES) | set(checks.RULES) == {kind for kind, _ in BROKEN.values()} | {"trust"}
