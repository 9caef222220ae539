"""Hidden gold among the work, the entry quiz, and raters who fail (P5, P6), also when all happens at once (P3-P6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pytest

from grater.annotate import credentials, gold, jobs, leases, progress, standing, trust
from grater.annotate.store import Store, events, migrations, schema, transaction
from grater.annotate.store.transaction import HOUR, Record
from grater.annotate.submissions import desk_of, hand_in
from grater.errors import Conflict
from grater.model import Json
from tests.annotate.store.crowds import Crowd, make_crowd, statements
from tests.annotate.store.races import patiently, together
from tests.annotate.store.worlds import FakeClock, read, write


def test_every_turn_is_gold_by_the_same_chance_for_every_rater(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "multiplier", transaction.multiplier)
    crowd = make_crowd(store, n_units=1, n_gold=1)
    with store.read() as tx:
        raters = [f"rater {number}" for number in range(400)]
        due = [standing.due(tx, crowd.job, rater, state="trusted", n_answered=0) for rater in raters]
    assert 50 < due.count("hidden") < 115  # 80 expected; one run in 100,000 is outside


def test_a_rater_may_answer_what_hidden_gold_covers_and_gold_used_up_stops_nobody_before(store: Store) -> None:
    crowd = make_crowd(store, n_units=30, n_gold=3)
    assert read(store, standing.limit_of, crowd.job) == 15
    turns = crowd.work(1, n=40)
    assert (len(turns), sum(turns)) == (15, 3), "gold comes among the work, and none comes twice"
    for unit_id in crowd.gold_ids:
        write(store, trust.set_gold_state, unit_id, "suspended")
    assert len(crowd.work(n=40)) == 15
    assert read(store, standing.why_not, crowd.job, crowd.raters[0]) == "limit"
    crowd.require_promises()


def test_hidden_gold_rests_after_its_viewings_until_all_of_it_rests(store: Store) -> None:
    """Five units of gold, two viewings each: after ten raters all of it rests, and the least seen comes again."""
    terms: dict[str, Json] = {"gold": {"least_seen": 90, "exposure": 2}, "page": 2}
    crowd = make_crowd(store, n_units=20, n_gold=5, judgments=5, n_raters=15, terms=terms)
    met, found = Counter[str](), {}
    for rater in range(15):
        while not crowd.is_gold(lease := crowd.must_take(rater)):
            crowd.send(lease)
        met[lease.unit_id] += 1
        crowd.send(lease)
        trust.review_gold(store, crowd.job, lease.unit_id)
        n_alerts = sum(event.verb == "gold.alert" for event in crowd.read(events.all))
        found[rater + 1] = (min(met.values()), max(met.values()), n_alerts)
    assert {n: found[n] for n in (9, 10, 15)} == {9: (1, 2, 0), 10: (2, 2, 1), 15: (3, 3, 1)}
    assert any("least seen comes again" in words for words in crowd.read(trust.gold_warnings, crowd.job))
    crowd.require_promises()


def test_what_ejected_a_rater_rests_since_they_know_that_it_is_gold(store: Store) -> None:
    crowd = make_crowd(store, n_units=40, n_gold=6, judgments=9)
    crowd.work(n=40, gold="ok")
    assert crowd.trust().state == "ejected"
    (revealed,) = [row.unit_id for row in gold_of(crowd) if row.revealed]
    came = []
    while (lease := crowd.take(1)) is not None:
        came += [lease.unit_id] if crowd.is_gold(lease) else []
        crowd.send(lease)
    assert (set(came), came[-1]) == (crowd.gold_ids, revealed)


def test_gold_is_not_given_out_when_no_work_is_left(store: Store) -> None:
    """Every second unit is gold here: if it were, one of eight raters would meet it at the end, but once in 256."""
    terms: dict[str, Json] = {"gold": {"least_seen": 4}, "page": 2}
    crowd = make_crowd(store, n_units=3, n_gold=8, judgments=8, n_raters=8, terms=terms)
    for rater in range(8):
        seen = crowd.work(rater, n=20)
        assert (seen.count(False), seen[-1]) == (3, False)
        assert crowd.take(rater) is None


def test_what_was_given_back_is_the_next_unit_and_uses_up_no_gold(store: Store) -> None:
    crowd = make_crowd(store, n_units=12, n_gold=4, judgments=1)
    were_gold = []
    while (lease := crowd.take()) is not None:
        write(store, leases.give_back, lease.lease_id, person_id=lease.person_id)
        again = crowd.must_take()
        assert (again.lease_id, again.unit_id) == (lease.lease_id, lease.unit_id)
        crowd.send(lease)
        were_gold.append(crowd.is_gold(lease))
    assert (were_gold.count(True), were_gold.count(False)) == (4, 12)
    assert crowd.trust().returns == 16
    crowd.require_promises()


def test_what_others_did_meanwhile_comes_again_all_the_same_and_is_surplus(store: Store, clock: FakeClock) -> None:
    """Gold comes again whatever others do; so must work, or waiting would tell them apart (P5)."""
    crowd = make_crowd(store, n_units=6, n_gold=9, judgments=1)
    while (lease := crowd.take()) is not None and crowd.is_gold(lease):
        crowd.send(lease)
    clock.advance(2 * HOUR)
    crowd.work(1, n=40)
    again = crowd.must_take()
    assert (again.unit_id, again.n) == (lease.unit_id, None)
    assert crowd.send(again).status == "surplus"
    crowd.require_promises()


RULE: dict[str, Json] = {"minimum": 0.75, "quiz": 4, "least_seen": 4}
QUIZ: dict[str, Json] = {"gold": RULE, "page": 5}


def gold_of(crowd: Crowd) -> Sequence[Record]:
    with crowd.store.read() as tx:
        return tx.all(gold.OF_JOB, job=crowd.job_id)


def pools(crowd: Crowd) -> dict[str, set[str]]:
    rows = gold_of(crowd)
    return {pool: {row.unit_id for row in rows if row.pool == pool} for pool in schema.GOLD_POOLS}


def test_a_rater_begins_with_the_quiz_and_its_questions_are_never_hidden_gold(store: Store) -> None:
    crowd = make_crowd(store, terms=QUIZ, n_units=60)
    by_pool = pools(crowd)
    assert (len(by_pool["quiz"]), len(by_pool["hidden"])) == (5, 5)
    for rater in range(2):
        quiz = [crowd.must_take(rater)]
        while crowd.trust(rater).state != "trusted":
            crowd.send(quiz[-1])
            quiz.append(crowd.must_take(rater))
        assert {lease.unit_id for lease in quiz[:-1]} < by_pool["quiz"]
        assert 0 < sum(crowd.work(rater, n=40)) <= 5
    assert sum(row.n_met for row in gold_of(crowd) if row.pool == "quiz") == 2 * 4
    crowd.require_promises()


def test_of_the_gold_of_0_2_what_most_have_met_becomes_the_quiz_and_trust_stays(store: Store) -> None:
    crowd = make_crowd(store, n_units=60, n_gold=9, terms={"gold": {**RULE, "quiz": 0}, "page": 2})
    for rater in range(3):
        crowd.work(rater, n=6)
    before = [crowd.trust(rater) for rater in range(3)]
    n_met = {row.unit_id: row.n_met for row in gold_of(crowd)}
    with store.write() as tx:
        jobs.set_options(tx, crowd.job.job_id, {"crowd": QUIZ})
        migrations.split_gold(tx.connection)
    by_pool = pools(crowd)
    assert len(by_pool["quiz"]) == 4
    assert min(n_met[each] for each in by_pool["quiz"]) >= max(n_met[each] for each in by_pool["hidden"])
    assert [crowd.trust(rater) for rater in range(3)] == before
    assert crowd.work(5, n=4) == [True] * 4
    assert crowd.trust(5).state == "trusted"
    crowd.require_promises()


def test_gold_moves_between_the_pools_while_nobody_has_met_it(store: Store) -> None:
    crowd = make_crowd(store, terms=QUIZ)
    crowd.work(n=1)
    (met,) = (row.unit_id for row in gold_of(crowd) if row.n_met)
    crowd.write(gold.set_pool, min(pools(crowd)["quiz"] - {met}), "hidden")
    assert len(pools(crowd)["hidden"]) == 6
    with pytest.raises(Conflict):
        crowd.write(gold.set_pool, met, "hidden")
    crowd.require_promises()


def test_a_question_that_no_longer_counts_is_replaced_in_the_quiz(store: Store) -> None:
    """Who failed because of it has to answer another; the quiz does not shrink until nothing is left to pass."""
    crowd = make_crowd(store, terms=QUIZ)
    crowd.work(n=4, gold="ok")
    for _ in range(2):
        assert (crowd.trust().state, crowd.trust().why) == ("ejected", "quiz")
        missed = crowd.read(standing.gold_answers, crowd.job_id, crowd.raters[0])
        crowd.write(trust.set_gold_state, next(each.unit_id for each in missed if each.is_active), "suspended")
        assert crowd.trust().state == "quiz"
        crowd.work(n=1)
    for unit_id in crowd.gold_ids:
        crowd.write(trust.set_gold_state, unit_id, "suspended")
    assert crowd.trust().state == "quiz"
    assert crowd.take() is None
    crowd.require_promises()


@pytest.mark.parametrize("attempts", [1, 2], ids=["reinstated", "another attempt"])
def test_whoever_failed_the_quiz_begins_again_with_fresh_gold_and_a_clean_count(store: Store, attempts: int) -> None:
    crowd = make_crowd(store, terms={**QUIZ, "gold": {**RULE, "attempts": attempts}}, n_gold=16)
    for rater, label in enumerate(("ok", "error")):
        crowd.work(rater, n=4, gold="ok")
        if attempts == 1:
            write(store, trust.reinstate, crowd.job, crowd.raters[rater])
        assert (crowd.trust(rater).state, crowd.trust(rater).seen) == ("quiz", 0)
        assert crowd.work(rater, n=4, gold=label) == [True] * 4
    assert (crowd.trust(0).state, crowd.trust(0).why) == ("ejected", "quiz")
    assert (crowd.trust(1).state, crowd.trust(1).seen, crowd.trust(1).right) == ("trusted", 4, 4)
    with pytest.raises(Conflict, match="make more gold first"):
        crowd.write(trust.reinstate, crowd.job, crowd.raters[0])
    crowd.require_promises()


def test_below_the_minimum_a_rater_is_ejected_and_the_work_is_asked_of_others(store: Store) -> None:
    crowd = make_crowd(store, n_units=30, n_gold=10, judgments=1)
    seen = crowd.work(n=40, gold="ok")
    assert sum(seen) == 4  # least_seen
    assert crowd.trust().state == "ejected"
    assert set(crowd.statuses()) == {"untrusted"}
    others = [crowd.work(rater, n=60) for rater in (1, 2, 3)]
    assert sum(each.count(False) for each in others) == 30
    crowd.require_promises()


def test_what_a_manager_decides_stands_whatever_gold_says(store: Store) -> None:
    crowd = make_crowd(store, n_units=60, n_gold=12)
    crowd.work(0, n=40, gold="ok")
    write(store, trust.reinstate, crowd.job, crowd.raters[0], actor=None)
    crowd.work(0, n=10, gold="ok")
    assert (crowd.trust(0).state, "untrusted" in crowd.statuses(0)) == ("trusted", False)
    crowd.work(1, n=6)
    write(store, trust.flag, crowd.job.job_id, crowd.raters[1])
    assert crowd.take(1) is None
    assert set(crowd.statuses(1)) == {"valid"}, "who is flagged keeps what was done"
    crowd.work(2, n=8)
    write(store, trust.eject, crowd.job, crowd.raters[2])
    for unit_id in crowd.gold_ids:
        write(store, trust.set_gold_state, unit_id, "forgiven")
    assert crowd.trust(2).state == "ejected"
    crowd.require_promises()


def test_forgiven_gold_counts_for_nobody_and_reinstates_whom_it_ejected(store: Store) -> None:
    crowd = make_crowd(store, n_units=60, n_gold=4, terms={"gold": {"minimum": 0.75, "least_seen": 4}, "page": 5})
    wrong = sorted(crowd.gold_ids)[:2]
    miss(crowd, {*wrong}, raters=1)
    assert (crowd.trust().state, crowd.trust().right, crowd.trust().seen) == ("ejected", 2, 4)
    crowd.write(trust.set_gold_state, wrong[0], "forgiven")
    assert (crowd.trust().state, crowd.trust().right, crowd.trust().seen) == ("trusted", 2, 3)
    assert set(crowd.statuses()) == {"valid"}
    crowd.require_promises()


DOUBT: dict[str, Json] = {"gold": {"least_seen": 3, "minimum": 0.3}, "page": 2}


def miss(crowd: Crowd, wrong: set[str], *, raters: int = 5, n_missing: int = 3) -> None:
    """All raters meet all gold; the first ones miss what is wrong with it."""
    for rater in range(raters):
        while (lease := crowd.take(rater)) is not None:
            crowd.send(lease, label="ok" if rater < n_missing and lease.unit_id in wrong else "error")


def states(crowd: Crowd) -> dict[str, str]:
    return {row.unit_id: row.state for row in gold_of(crowd)}


@pytest.mark.parametrize("n_together", [0, 3], ids=["everybody elsewhere", "three at one address"])
def test_gold_that_most_of_five_reliable_raters_miss_suspends_itself(store: Store, n_together: int) -> None:
    crowd = make_crowd(store, n_units=30, n_gold=5, judgments=9, terms=DOUBT)
    wrong = min(crowd.gold_ids)
    miss(crowd, {wrong})
    for rater in crowd.raters[:n_together]:
        write(store, credentials.start_session, rater, hours=1, address="the same")
    trust.review_gold(store, crowd.job, wrong)
    assert states(crowd)[wrong] == ("active" if n_together else "suspended")
    assert crowd.trust(0).seen == (5 if n_together else 4)
    (only,) = [record for record in read(store, trust.gold_records, crowd.job.job_id) if record.unit_id == wrong]
    assert (only.seen, only.missed, only.is_trouble) == (5, 3, True)
    crowd.require_promises()


@pytest.mark.parametrize("least_seen", [3, 99])
def test_raters_who_miss_most_gold_suspend_none(store: Store, least_seen: int) -> None:
    """Neither once they are ejected, after three answers, nor before."""
    terms: dict[str, Json] = {"gold": {"least_seen": least_seen, "minimum": 0.5}, "page": 2}
    crowd = make_crowd(store, n_units=30, n_gold=5, judgments=9, terms=terms)
    miss(crowd, set(crowd.gold_ids))
    for unit_id in crowd.gold_ids:
        trust.review_gold(store, crowd.job, unit_id)
    assert set(states(crowd).values()) == {"active"}
    assert {crowd.trust(rater).state == "ejected" for rater in range(3)} == {least_seen == 3}


def test_where_a_tenth_of_the_gold_is_suspended_the_manager_is_alerted_instead(store: Store) -> None:
    crowd = make_crowd(store, n_units=60, n_gold=9, judgments=9, terms=DOUBT)
    wrong = sorted(crowd.gold_ids)[:2]
    miss(crowd, set(wrong))
    for unit_id in wrong:
        trust.review_gold(store, crowd.job, unit_id)
    assert list(states(crowd).values()).count("suspended") == 1
    alerts = [event.payload for event in crowd.read(events.all) if event.verb == "gold.alert"]
    assert alerts == [{"why": "suspended"}]
    assert any("Suspended: 1 gold unit" in words for words in crowd.read(trust.gold_warnings, crowd.job))


SHOWS: dict[str, Json] = {"gold": {"least_seen": 2, "minimum": 0.5, "shows_misses": True}, "page": 2}


def missed(crowd: Crowd, rater: int = 0) -> list[bool]:
    """Whether each miss was shown to a rater who answers every second gold wrong, until there is no more work."""
    shown, label = [], "ok"
    while (lease := crowd.take(rater)) is not None:
        is_gold = crowd.is_gold(lease)
        label = {"ok": "error", "error": "ok"}[label] if is_gold else label
        receipt = crowd.send(lease, label=label if is_gold else "error")
        shown += [receipt.has_feedback] if is_gold and label == "ok" else []
    return shown


def test_a_miss_is_shown_where_the_job_says_so_and_that_gold_counts_and_comes_to_nobody_else(store: Store) -> None:
    crowd = make_crowd(store, n_units=40, n_gold=8, judgments=9, terms=SHOWS)
    assert missed(crowd) == [True] * 4
    assert missed(crowd, 1) == [False] * 2, "half of the gold stays hidden"
    gone = pools(crowd)["shown"]
    assert len(gone) == 4
    assert (crowd.trust().seen, crowd.trust().right) == (8, 4), "a miss that was shown is a miss"
    assert read(store, standing.limit_of, crowd.job) == 16, "nobody loses what they were promised"
    while (lease := crowd.take(2)) is not None:
        assert lease.unit_id not in gone
        crowd.send(lease)
    crowd.require_promises()


def test_nobody_who_misses_most_gold_is_shown_any(store: Store) -> None:
    crowd = make_crowd(store, n_units=40, n_gold=8, judgments=9, terms=SHOWS)
    for rater in range(3):
        crowd.work(rater, n=40, gold="ok")
        assert crowd.trust(rater).state == "ejected"
    assert pools(crowd) == {"quiz": set(), "hidden": set(crowd.gold_ids), "shown": set()}
    assert crowd.work(3, n=12).count(True) > 0


@pytest.mark.parametrize("label", ["error", "ok"])
def test_gold_right_or_missed_costs_the_same_statements_as_work(
    store: Store, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    """Time tells nothing: both are looked for on every turn, and the database is asked and told the same."""
    monkeypatch.setattr(leases, "new_shuffle", lambda: 0)  # from the first unit on: nobody has to begin anew
    terms: dict[str, Json] = {"gold": {"least_seen": 90}, "page": 5, "redundancy": {"least": 2, "most": 3}}
    crowd = make_crowd(store, n_units=30, n_gold=10, terms=terms)
    crowd.work(n=1)
    shown: dict[bool, set[tuple[str, ...]]] = {True: set(), False: set()}
    for _ in range(20):
        with statements(store) as found:
            lease = crowd.must_take()
            with store.glance() as tx:
                desk = desk_of(tx, lease.lease_id, person_id=lease.person_id)
            hand_in(store, desk, {"label": [label]}, seconds=2.0)
        shown[crowd.is_gold(lease)].add(tuple(found))
    assert shown[True] == shown[False]
    assert len(shown[True]) == 1


def test_two_gold_misses_in_parallel_put_a_rater_out_once(store: Store) -> None:
    """As on a page that shows several units."""
    crowd = make_crowd(store, n_units=20, n_gold=6, terms={"gold": {"least_seen": 2}, "page": 5})
    places = [leases.UnitSlot(unit_id, None) for unit_id in sorted(crowd.gold_ids)[:3]]
    issue = partial(crowd.write, leases.issue, crowd.job, person_id=crowd.raters[0])
    held = [issue(at, place=place) for place, at in enumerate(places, 1)]
    together(*(partial(crowd.send, lease, label="ok") for lease in held))
    assert (crowd.trust().state, crowd.trust().why) == ("ejected", "gold")
    assert set(crowd.statuses()) == {"untrusted"}
    crowd.require_promises()


def test_a_submission_that_comes_during_an_ejection_is_untrusted_and_frees_its_slot(store: Store) -> None:
    crowd = make_crowd(store, n_units=12, n_gold=4, judgments=1, terms={"gold": {"least_seen": 2}, "page": 5})
    lease = crowd.must_take()
    together(lambda: write(store, trust.eject, crowd.job, crowd.raters[0]), lambda: crowd.send(lease))
    assert crowd.statuses() == ["untrusted"]
    crowd.require_promises()
    for rater in range(1, 6):
        crowd.work(rater, n=40)
    assert {unit.valid for unit in read(store, progress.some_units, crowd.job.job_id)} == {1}


def test_forgiveness_while_everybody_works_leaves_trust_as_counted_from_scratch(store: Store) -> None:
    crowd = make_crowd(store, n_units=30, n_gold=8, judgments=5, terms={"gold": {"least_seen": 3}, "page": 3})

    def forgive() -> None:
        for unit_id in sorted(crowd.gold_ids)[:3]:
            write(store, trust.set_gold_state, unit_id, "forgiven")

    def work(rater: int) -> None:
        for _ in range(9):
            patiently(lambda: crowd.work(rater, gold="ok" if rater < 2 else "error"))

    together(forgive, *(partial(work, rater) for rater in range(4)))
    crowd.require_promises()


def test_reinstatement_while_others_refill_the_slots_never_overfills_them(store: Store) -> None:
    crowd = make_crowd(store, n_units=10, n_gold=6, judgments=1, terms={"gold": {"least_seen": 50}, "page": 3})
    crowd.work(n=9)
    write(store, trust.eject, crowd.job, crowd.raters[0])
    reinstate = partial(write, store, trust.reinstate, crowd.job, crowd.raters[0])
    together(reinstate, *(partial(crowd.work, rater, n=4) for rater in (1, 2)))
    assert set(crowd.statuses()) <= {"valid", "surplus"}
    crowd.require_promises()


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_quiz_that_ends_in_two_tabs_at_once_is_judged_once(store: Store, attempts: int) -> None:
    terms: dict[str, Json] = {"gold": {"quiz": 2, "attempts": attempts, "minimum": 1.0}, "page": 5}
    crowd = make_crowd(store, n_gold=8, terms=terms)
    crowd.work(n=1, gold="ok")
    lease = crowd.must_take()
    together(*(lambda: crowd.send(lease, label="ok") for _ in range(3)))
    assert crowd.trust().attempts == 1
    assert crowd.trust().state == ("ejected" if attempts == 1 else "quiz")
    write(store, credentials.start_session, crowd.raters[0], hours=1)  # a new browser changes nothing
    assert (crowd.take() is None) == (attempts == 1)
    crowd.require_promises()
