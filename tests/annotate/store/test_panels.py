"""Places in panels: who is the same person, when a place ends, and when it is free again."""

from __future__ import annotations

import pytest

from grater.annotate import jobs, leases, panels, people, units
from grater.annotate.panels import PROVIDERS, NewPanel, Panel, PanelPlace, exit_of, id_from
from grater.annotate.store import Store
from grater.annotate.store.transaction import MINUTE
from grater.errors import Conflict, UsageError
from grater.model import Json
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.worlds import FakeClock, new_items, write

OPTIONS = {"codes": {"completed": "C-1", "failed": "F-1"}, "places": 2, "minutes": 10}


def made(crowd: Crowd) -> str:
    return crowd.write(panels.add, crowd.job.job_id, NewPanel.checked(provider="prolific", **OPTIONS)).panel_id


def enter(crowd: Crowd, panel_id: str, external_id: str) -> PanelPlace:
    return crowd.write(panels.enter, panel_id, external_id)


def test_the_same_id_is_the_same_person_in_every_panel_of_a_provider_and_a_name_makes_nobody_that(
    store: Store,
) -> None:
    crowd = make_crowd(store)
    boss = write(store, people.add, name="prolific abc", role="owner")
    first, second = made(crowd), made(crowd)
    one = enter(crowd, first, "abc")
    assert one.person_id != boss.person_id
    assert enter(crowd, first, "abc") == one
    assert enter(crowd, second, "abc").person_id == one.person_id
    assert enter(crowd, second, "def").person_id != one.person_id


def test_a_full_panel_lets_nobody_in_until_a_place_is_free(store: Store, clock: FakeClock) -> None:
    crowd = make_crowd(store, terms={})
    panel_id = made(crowd)
    place = enter(crowd, panel_id, "abc")
    enter(crowd, panel_id, "def")
    lease = write(store, leases.take, job_id=crowd.job.job_id, person_id=place.person_id)
    with pytest.raises(Conflict, match="all the raters"):
        enter(crowd, panel_id, "ghi")
    clock.advance(11 * MINUTE)
    assert enter(crowd, panel_id, "ghi").state == "joined"
    with store.read() as tx:
        assert [each.state for each in panels.places(tx, panel_id)].count("timed-out") == 2
        found = leases.find(tx, lease.lease_id, person_id=place.person_id)
        assert found.state == "returned"
    assert enter(crowd, panel_id, "abc").state == "joined"  # there is one place left
    crowd.write(panels.set_state, crowd.read(panels.place_of, panel_id, "abc"), "returned", actor=None)
    assert enter(crowd, panel_id, "jkl").state == "joined"
    crowd.require_promises()


@pytest.mark.parametrize(
    ("state", "is_idle", "expected"),
    [
        ("open", False, "completed"),
        ("paused", False, "joined"),
        ("closed", False, "completed"),
        ("open", True, "screened-out"),
    ],
)
def test_a_place_ends_when_there_is_nothing_more_for_good_as_completed_for_some_work(
    store: Store, state: jobs.JobState, is_idle: bool, expected: str
) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    if is_idle:
        crowd.work(n=1)
    place = enter(crowd, made(crowd), "abc")
    lease = write(store, leases.take, job_id=crowd.job.job_id, person_id=place.person_id)
    assert (lease is None) == is_idle
    if lease is not None:
        crowd.send(lease)
    write(store, jobs.set_state, crowd.job.job_id, state)
    ended = write(store, panels.conclude, crowd.job.job_id, place.person_id)
    assert (ended.state, ended.code) == (expected, "C-1" if expected == "completed" else "")


@pytest.mark.parametrize(
    "options",
    [
        {"provider": "prolifik"},
        {"provider": "sona", "codes": {"done": "x"}},
        {"provider": "sona", "addresses": {"completed": "javascript:alert(1)"}},
        {"provider": "sona", "addresses": {"elsewhere": "https://x.example"}},
    ],
)
def test_wrong_providers_endings_and_addresses_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=list(options)[-1]):
        NewPanel.checked(**options)


def test_a_qualification_is_met_by_work_and_gold_of_another_job(store: Store) -> None:
    crowd = make_crowd(store, n_units=20, n_gold=4)
    crowd.work(0, n=10)
    crowd.work(1, n=2)
    wanted: dict[str, Json] = {"qualifications": [{"job": "job", "judgments": 5, "accuracy": 0.8}]}
    with store.write() as tx:
        other = jobs.add(tx, name="other", task="error", options={"crowd": wanted})
        found = new_items(tx, 10, name="other")
        units.add_all(tx, other.job_id, [units.NewUnit(((item_id, {}),), essay_id) for essay_id, item_id in found])
        jobs.set_state(tx, other.job_id, "open")
        assert leases.take(tx, job_id=other.job_id, person_id=crowd.raters[0]) is not None
        assert leases.take(tx, job_id=other.job_id, person_id=crowd.raters[1]) is None


def test_each_panel_sends_its_own_id_and_a_link_without_a_sound_one_is_refused() -> None:
    for name, parameter, words in (
        ("generic", "id", "ID"),
        ("prolific", "PROLIFIC_PID", "{{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"),
        ("connect", "participantId", ""),  # the panel adds its parameters itself
        ("sona", "survey_code", "%SURVEY_CODE%"),
    ):
        assert id_from(Panel(PROVIDERS[name]), {parameter: "abc123"}) == "abc123"
        assert PROVIDERS[name].query == (f"{parameter}={words}" if words else "")
    for external_id in ({}, {"id": ""}, {"id": "x" * 300}, {"id": "a\nb"}):
        with pytest.raises(UsageError, match="lacks id"):
            id_from(Panel(PROVIDERS["generic"]), external_id)
    with pytest.raises(UsageError, match="did not fill in PROLIFIC_PID"):
        id_from(Panel(PROVIDERS["prolific"]), {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})


def test_the_way_out_has_the_code_and_the_id_safely_inside() -> None:
    """Sona's URL is pasted as it shows it: sona-systems.com/researcher/external-study-credit-granting."""
    own = "https://x.example/done?code={code}&survey={id}"
    shown = "https://s.example/webstudy_credit.aspx?experiment_id=123&credit_token=4e48&survey_code=XXXX"
    for code, address, external_id, way in (
        ("C 1", own, "a&b=1", "https://x.example/done?code=C%201&survey=a%26b%3D1"),
        ("", shown, "7301", shown.replace("XXXX", "7301")),
    ):
        panel = Panel(PROVIDERS["sona"], {"completed": code}, {"completed": address})
        assert exit_of(panel, "completed", external_id) == (code, way)
        assert exit_of(panel, "failed", external_id) == ("", "")
