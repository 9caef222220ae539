"""The checker finds each broken promise about the crowd, whoever broke it."""

from __future__ import annotations

from sqlalchemy import text

from grater.annotate import money
from grater.annotate.store import Store, checks, schema
from tests.annotate.store.crowds import Crowd, make_crowd


def kinds(crowd: Crowd) -> set[str]:
    with crowd.store.read() as tx:
        return {f"{each.kind}: {each.message.split(': ', 1)[1]}" for each in checks.violations(tx)}


def ejected(store: Store) -> Crowd:
    crowd = make_crowd(store, n_units=20, n_gold=4, terms={"gold": {"least_seen": 2}, "page": 5})
    crowd.work(n=20, gold="ok")
    assert crowd.trust().state == "ejected"
    assert kinds(crowd) == set()
    return crowd


def test_a_valid_judgment_of_a_rater_who_was_ejected_is_found(store: Store) -> None:
    crowd = ejected(store)
    with store.write() as tx:
        tx.execute(
            schema.submissions.update()
            .where(schema.submissions.c.person_id == crowd.raters[0])
            .values(status="valid")
        )
    assert any("valid, but person" in found for found in kinds(crowd))


def test_work_in_the_hands_of_a_rater_who_was_ejected_is_found(store: Store) -> None:
    crowd = ejected(store)
    with store.write() as tx:
        first = tx.first(schema.leases.select().where(schema.leases.c.person_id == crowd.raters[0]))
        assert first is not None
        tx.execute(schema.leases.update().where(schema.leases.c.lease_id == first.lease_id).values(state="held"))
    assert any("who was ejected" in found for found in kinds(crowd))


def test_a_job_paid_in_two_currencies_is_found(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={"pay": {"cents": 5}}, n_raters=2)
    crowd.work(0, n=2)
    crowd.work(1, n=2)
    with store.write() as tx:
        money.settle(tx, crowd.job)
        tx.execute(text("UPDATE payments SET currency = 'USD' WHERE person_id = :who"), {"who": crowd.raters[0]})
    assert any("paid in 2 currencies" in found for found in kinds(crowd))
