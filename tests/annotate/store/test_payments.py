"""Money adds up to the cent under every policy, however often it is written down; currencies never mix."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grater.annotate import jobs, judgments, money, trust
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, open_store, schema
from grater.annotate.terms import PAID, POLICIES, Policy
from grater.errors import Conflict
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.worlds import write


def paid(crowd: Crowd) -> Counter[str]:
    found: Counter[str] = Counter()
    for each in crowd.read(money.payments_of, crowd.job_id):
        found[each.person_id] += each.cents
    return found


def settle(crowd: Crowd) -> None:
    crowd.write(money.settle, crowd.read(jobs.get, crowd.job_id))


CHANGES = st.lists(st.tuples(st.integers(0, 11), st.sampled_from(schema.STATUSES), st.booleans()), max_size=10)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=CHANGES, cents=st.integers(0, 999))
def test_the_rows_add_up_to_what_the_policy_owes(
    tmp_path_factory: pytest.TempPathFactory, policy: Policy, changes: list[tuple[int, str, bool]], cents: int
) -> None:
    with open_store(tmp_path_factory.mktemp("pay") / "study.db", create=True) as store:
        crowd = make_crowd(store, n_units=6, n_gold=0, terms={"pay": {"cents": cents, "policy": policy}})
        for rater in range(2):
            crowd.work(rater, n=6)
        ids = [row.submission_id for row, _ in crowd.read(judgments.by_submission, crowd.job_id)]
        for number, status, is_settled in changes:
            write(store, judgments.set_status, ids[number], status)
            if is_settled:
                settle(crowd)
        settle(crowd)
        settle(crowd)
        work = crowd.read(money.work_of, crowd.job_id)
        expected = Counter(dict.fromkeys(paid(crowd), 0))
        for each in work:
            expected[each.rater] += cents if each.status in PAID[policy] else 0
        assert paid(crowd) == expected
        assert sum(paid(crowd).values()) == cents * sum(each.status in PAID[policy] for each in work)


def test_a_bonus_is_next_to_the_pay_and_only_in_its_currency(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={"pay": {"cents": 5, "currency": "EUR"}})
    crowd.work(n=4)
    settle(crowd)
    write(store, money.bonus, crowd.job, crowd.raters[0], money.NewBonus(cents=100, note="thanks"))
    settle(crowd)
    assert paid(crowd)[crowd.raters[0]] == 120
    with pytest.raises(Conflict, match="cannot be mixed"):
        write(store, set_terms, crowd.job.job_id, {"pay": {"cents": 5, "currency": "USD"}})


def test_what_is_paid_is_paid_once_and_an_ejected_rater_is_still_paid(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={"pay": {"cents": 5}})
    crowd.work(n=2)
    settle(crowd)
    assert write(store, money.set_paid, crowd.job.job_id) == 1
    crowd.work(n=2)
    settle(crowd)
    rows = [(each.cents, each.state) for each in crowd.read(money.payments_of, crowd.job_id)]
    assert sorted(rows) == [(10, "owed"), (10, "paid")]
    write(store, trust.eject, crowd.job, crowd.raters[0])
    settle(crowd)
    assert paid(crowd)[crowd.raters[0]] == 20


def test_a_second_answer_to_the_same_unit_is_kept_and_not_paid_again(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=0, terms={"pay": {"cents": 5}})
    lease = crowd.must_take()
    tabs = [crowd.send(lease, label="ok", submission_id=tab).status for tab in ("first", "second", "third")]
    assert tabs == ["valid", "surplus", "surplus"]
    settle(crowd)
    assert paid(crowd)[crowd.raters[0]] == 5
