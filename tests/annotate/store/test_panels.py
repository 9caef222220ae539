"""Places in panels: who is the same person, when a place ends, and when it is free again."""

from __future__ import annotations

import pytest

from grater.annotate import jobs, leases, panels, people, units
from grater.annotate.panels import PROVIDERS, NewPanel, Panel, PanelPlace, exit_of, id_from
from grater.annotate.store import Store
from grater.annotate.store.transaction import MINUTE
from grater.errors import Conflict, UsageError
from tests.annotate.store.crowds import Crowd, make_crowd
from tests.annotate.store.worlds import FakeClock, new_items, write

OPTIONS = {"codes": {"completed": "C-1", "failed": "F-1"}, "places": 2, "minutes": 10}


def made(crowd: Crowd) -> str:
    return crowd.write(panels.add, crowd.job.job_id, NewPanel.checked(provider="prolific", **OPTIONS)).panel_id


def enter(crowd: Crowd, panel_id: str, external_id: str) -> PanelPlace:
    return crowd.write(panels.enter, panel_id, external_id)


def test_the_same_id_is_the_same_person_in_every_panel_of_a_provider(store: Store) -> None:
    crowd = make_crowd(store)
    first, second = made(crowd), made(crowd)
    one = enter(crowd, first, "abc")
    assert enter(crowd, first, "abc") == one
    assert enter(crowd, second, "abc").person_id == one.person_id
    assert enter(crowd, second, "def").person_id != one.person_id


def test_nobody_becomes_a_person_who_merely_has_the_name(store: Store) -> None:
    crowd = make_crowd(store)
    boss = write(store, people.add, name="prolific abc", role="owner")
    assert enter(crowd, made(crowd), "abc").person_id != boss.person_id


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
    with store.write() as tx:
        panels.set_state(tx, panels.place_of(tx, panel_id, "abc"), "returned", actor=None)
    assert enter(crowd, panel_id, "jkl").state == "joined"
    crowd.require_promises()


@pytest.mark.parametrize(
    ("state", "expected"), [("open", "completed"), ("paused", "joined"), ("closed", "completed")]
)
def test_a_place_ends_when_there_is_nothing_more_for_good(store: Store, state: str, expected: str) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    place = enter(crowd, made(crowd), "abc")
    lease = write(store, leases.take, job_id=crowd.job.job_id, person_id=place.person_id)
    assert lease is not None
    crowd.send(lease)
    with store.write() as tx:
        jobs.set_state(tx, crowd.job.job_id, state)  # type: ignore[arg-type]
        ended = panels.conclude(tx, crowd.job.job_id, place.person_id)
    assert (ended.state, ended.code) == (expected, "C-1" if expected == "completed" else "")


def test_who_did_nothing_is_not_told_that_they_completed(store: Store) -> None:
    crowd = make_crowd(store, n_units=1, n_gold=0, judgments=1, terms={})
    crowd.work(n=1)
    place = enter(crowd, made(crowd), "abc")
    ended = write(store, panels.conclude, crowd.job.job_id, place.person_id)
    assert ended.state == "screened-out"


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
    with store.write() as tx:
        wanted = {"crowd": {"qualifications": [{"job": "job", "judgments": 5, "accuracy": 0.8}]}}
        found = new_items(tx, 60)[50:]
        other = jobs.add(tx, name="other", task="error", options=wanted)  # type: ignore[arg-type]
        units.add_all(tx, other.job_id, [units.NewUnit(((item_id, {}),), essay_id) for essay_id, item_id in found])
        jobs.set_state(tx, other.job_id, "open")
        assert leases.take(tx, job_id=other.job_id, person_id=crowd.raters[0]) is not None
        assert leases.take(tx, job_id=other.job_id, person_id=crowd.raters[1]) is None


def test_each_panel_sends_its_own_id_and_a_link_without_a_sound_one_is_refused() -> None:
    names = {"generic": "id", "prolific": "PROLIFIC_PID", "connect": "participantId", "sona": "survey_code"}
    for name, parameter in names.items():
        assert id_from(Panel(PROVIDERS[name]), {parameter: "abc123"}) == "abc123"
    for external_id in ({}, {"id": ""}, {"id": "x" * 300}, {"id": "a\nb"}):
        with pytest.raises(UsageError, match="lacks id"):
            id_from(Panel(PROVIDERS["generic"]), external_id)


def test_the_way_out_has_the_code_and_the_id_safely_inside() -> None:
    panel = Panel(
        PROVIDERS["sona"], {"completed": "C 1"}, {"completed": "https://x.example/done?code={code}&survey={id}"}
    )
    assert exit_of(panel, "completed", "a&b=1") == ("C 1", "https://x.example/done?code=C%201&survey=a%26b%3D1")
    assert exit_of(panel, "failed", "a") == ("", "")


def test_sona_s_completion_url_is_pasted_as_sona_shows_it() -> None:
    """The form of its documentation: sona-systems.com/researcher/external-study-credit-granting."""
    shown = "https://s.example/webstudy_credit.aspx?experiment_id=123&credit_token=4e48&survey_code=XXXX"
    panel = Panel(PROVIDERS["sona"], {}, {"completed": shown})
    assert exit_of(panel, "completed", "7301") == ("", shown.replace("XXXX", "7301"))


def test_a_link_says_in_the_panels_own_words_where_ids_go_and_with_these_words_in_it_is_refused() -> None:
    assert {name: provider.query for name, provider in PROVIDERS.items()} == {
        "generic": "id=ID",
        "prolific": "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "connect": "",  # the panel adds its parameters itself
        "sona": "survey_code=%SURVEY_CODE%",
        "open": "",
    }
    with pytest.raises(UsageError, match="did not fill in PROLIFIC_PID"):
        id_from(Panel(PROVIDERS["prolific"]), {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
