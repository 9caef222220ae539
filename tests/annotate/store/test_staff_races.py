"""Those who run a study meet at the worst moment: no change is lost, none is made twice, on either engine."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from grater.annotate import credentials, gold, invitations, jobs, judgments, marks, money, people, standing, trust
from grater.annotate.protocol import set_terms
from grater.annotate.store import Store, events, schema
from grater.annotate.store.database import meta_value, set_meta
from grater.annotate.terms import terms_of
from grater.errors import Conflict, NotFound
from tests.annotate.store.crowds import make_crowd, make_world
from tests.annotate.store.races import interrupted, race, twice, writing
from tests.annotate.store.worlds import new_items, read, write


def test_a_double_click_disputes_once_and_a_dispute_is_granted_or_refused_and_never_both(store: Store) -> None:
    crowd = make_crowd(store, n_units=4, n_gold=2, terms={"gold": {"quiz": 2, "least_seen": 9}, "page": 5})
    crowd.work(gold="ok")
    write(store, jobs.set_state, crowd.job.job_id, "closed")
    (missed,) = (row for unit_id in crowd.gold_ids for row in read(store, judgments.of_unit, unit_id))
    ours = {"person_id": crowd.raters[0], "text": "It is not wrong."}
    made, again = twice(
        store, lambda tx: trust.open_dispute(tx, missed.submission_id, **ours), before="INSERT INTO disputes"
    )
    assert isinstance(again.exception(), Conflict)
    assert len(read(store, trust.disputes_of_job, crowd.job.job_id)) == 1
    _, granted = race(
        store,
        lambda tx: trust.decide_dispute(tx, made.dispute_id, is_granted=False),
        lambda tx: trust.decide_dispute(tx, made.dispute_id, is_granted=True),
        before="UPDATE disputes",
    )
    assert isinstance(granted.exception(), Conflict)
    assert read(store, trust.get_dispute, made.dispute_id).state == "refused"
    states = {each.unit_id: each.state for each in read(store, trust.gold_records, crowd.job.job_id)}
    assert states[made.unit_id] == "active"


def test_the_same_review_twice_at_once_finds_everything_once(store: Store) -> None:
    crowd = make_world(store, n_units=1)
    found = [marks.Finding("", crowd.unit_ids[0], crowd.raters[0], "same", "a correction that changes nothing", 0, 2)]
    n_added, again = twice(store, lambda tx: marks.add_findings(tx, found), before="INSERT INTO findings")
    assert (n_added, again.result()) == (1, 0)
    with store.read() as tx:
        assert tx.value(select(func.count()).select_from(schema.findings)) == 1


def test_what_is_paid_twice_at_once_is_counted_once(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, terms={"pay": {"cents": 5}})
    crowd.work()
    write(store, money.settle, crowd.job)
    n_rows, again = twice(store, lambda tx: money.set_paid(tx, crowd.job.job_id), before="UPDATE payments")
    assert sorted((n_rows, again.result())) == [0, 1]


def test_somebodys_answers_about_themselves_are_stored_once(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, terms={})
    first = writing(store, lambda tx: standing.say_about(tx, crowd.raters[0], country="NO", languages=["en"]))
    second = writing(store, lambda tx: standing.say_about(tx, crowd.raters[0], country="TR", languages=["en"]))
    first_event, later = interrupted(store, first, second, before="UPDATE people")
    known = read(store, people.get, crowd.raters[0]).payload["country"]
    assert first_event.payload["country"] == later.result().payload["country"] == known


def test_two_who_change_different_terms_at_once_change_both(store: Store) -> None:
    crowd, terms = make_world(store, n_units=1), iter(({"pay": {"cents": 5}}, {"limit": 7}))
    twice(store, lambda tx: set_terms(tx, crowd.job_id, next(terms)), before="UPDATE jobs")
    found = terms_of(read(store, jobs.get, crowd.job_id).options)
    assert (found.pay.cents, found.limit) == (5, 7)


def test_two_who_write_guidelines_at_once_make_two_versions(store: Store) -> None:
    crowd, words = make_world(store, n_units=1), iter(("Mark little.", "Mark less."))
    first, second = twice(
        store, lambda tx: jobs.add_guidelines(tx, crowd.job_id, next(words)), before="INSERT INTO guidelines"
    )
    assert sorted((first.version, second.result().version)) == [1, 2]


def test_a_bonus_and_new_terms_at_once_leave_one_currency(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, terms={"pay": {"cents": 5, "currency": "EUR"}})
    give = writing(store, lambda tx: money.bonus(tx, crowd.job, crowd.raters[0], money.NewBonus(cents=100)))

    def dollars() -> None:
        with store.write() as tx:
            job = set_terms(tx, crowd.job.job_id, {"pay": {"cents": 5, "currency": "USD"}})
            money.bonus(tx, job, crowd.raters[1], money.NewBonus(cents=100))

    _, changed = interrupted(store, give, dollars, before="INSERT INTO payments")
    assert isinstance(changed.exception(), Conflict)
    crowd.require_promises()


def test_one_link_lets_one_person_in(store: Store) -> None:
    token = write(store, invitations.make, role="manager")
    ann = writing(store, lambda tx: invitations.accept(tx, token, name="Ann", password_hash="x"))
    bob = writing(store, lambda tx: invitations.accept(tx, token, name="Bob", password_hash="x"))
    _, second = interrupted(store, ann, bob, before="UPDATE invitations")
    assert isinstance(second.exception(), NotFound)
    assert [person.name for person in read(store, people.all)] == ["Ann"]


def test_an_invitation_that_was_used_is_not_reported_to_have_ended(store: Store) -> None:
    with store.write() as tx:
        token = invitations.make(tx, role="worker")
        (made,) = invitations.all(tx)
    accept = writing(store, lambda tx: invitations.accept(tx, token, name="Ann", password_hash="x"))
    end = writing(store, lambda tx: invitations.end(tx, made.invitation_id))
    interrupted(store, accept, end, before="UPDATE invitations")
    verbs = [event.verb for event in read(store, events.all)]
    assert ("invitation.used" in verbs, "invitation.ended" in verbs) == (True, False)


def open_links(store: Store) -> list[str]:
    """The roles of the links that still let somebody in."""
    return [each.role for each in read(store, invitations.all) if each.used_at is None and each.ended_at is None]


def with_owner(store: Store, *names: str) -> tuple[str, list[str]]:
    """The ids of an owner and of adjudicators."""
    with store.write() as tx:
        owner_id = people.add(tx, name="Olga", role="owner", password_hash="x").person_id
        return owner_id, [
            people.add(tx, name=name, role="adjudicator", password_hash="x").person_id for name in names
        ]


def test_a_manager_gets_no_link_into_an_account_that_becomes_an_owners_meanwhile(store: Store) -> None:
    owner_id, (ann,) = with_owner(store, "Ann")
    invite = writing(store, lambda tx: invitations.invite_back(tx, ann, own_role="manager"))
    promote = writing(store, lambda tx: credentials.give_role(tx, ann, "owner", actor=owner_id))
    token, _ = interrupted(store, invite, promote, before="INSERT INTO invitations")
    with pytest.raises(NotFound), store.write() as tx:
        credentials.reset_password(tx, token, password_hash="taken over")


def test_of_two_links_made_at_once_for_the_same_purpose_one_lets_somebody_in(store: Store) -> None:
    twice(store, lambda tx: invitations.invite_first_owner(tx, days=1), before="INSERT INTO invitations")
    assert open_links(store) == ["owner"]
    _, (ann,) = with_owner(store, "Ann")
    twice(store, lambda tx: invitations.invite_back(tx, ann), before="INSERT INTO invitations")
    assert sorted(open_links(store)) == ["adjudicator", "owner"]


def test_a_seat_may_do_no_more_than_somebody_who_is_demoted_while_it_is_made(store: Store) -> None:
    owner_id, ids = with_owner(store, "Ann", "Bob")
    make = writing(store, lambda tx: people.add_seat(tx, ["Ann", "Bob"]))
    demote = writing(store, lambda tx: credentials.give_role(tx, ids[0], "worker", actor=owner_id))
    joint, _ = interrupted(store, make, demote, before="INSERT INTO people")
    assert read(store, people.get, joint.person_id).role == "worker"


def test_an_item_that_two_make_gold_at_once_is_gold_once(store: Store) -> None:
    crowd = make_world(store, n_units=1)
    ((_, item_id),) = write(store, new_items, 1, name="known")
    first, second = twice(
        store, lambda tx: gold.make_gold(tx, crowd.job, item_id, ["error"], reason=""), before="SELECT max"
    )
    assert (first, second.result()) == (True, False)
    assert len(read(store, gold.all)) == 1


def test_of_two_changes_to_the_study_at_once_the_second_stays(store: Store) -> None:
    values = iter("12")
    _, second = twice(store, lambda tx: set_meta(tx, "said", next(values)), before="INSERT INTO meta")
    assert second.exception() is None
    assert read(store, meta_value, "said") in ("1", "2")
