"""Raters who come from a panel, and go back to it."""

from __future__ import annotations

import pytest

from grater.annotate.panels import PROVIDERS, Panel, exit_of, id_from, sign
from grater.errors import UsageError


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("generic", "id"), ("prolific", "PROLIFIC_PID"), ("connect", "participantId"), ("sona", "survey_code")],
)
def test_each_panel_sends_its_own_id(name: str, parameter: str) -> None:
    assert id_from(Panel(PROVIDERS[name]), {parameter: "abc123"}) == "abc123"


@pytest.mark.parametrize("parameters", [{}, {"id": ""}, {"id": "x" * 300}, {"id": "a\nb"}])
def test_a_link_without_a_sound_id_is_refused(parameters: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="lacks id"):
        id_from(Panel(PROVIDERS["generic"]), parameters)


def test_a_signed_link_cannot_be_changed() -> None:
    panel = Panel(PROVIDERS["generic"], secret="between us")
    good = {"id": "r1", "signature": sign("between us", "r1")}
    assert id_from(panel, good) == "r1"
    with pytest.raises(UsageError, match="this link was changed"):
        id_from(panel, {**good, "id": "r2"})
    with pytest.raises(UsageError, match="this link was changed"):
        id_from(panel, {"id": "r1"})


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


@pytest.mark.parametrize("addresses", [{"completed": "javascript:alert(1)"}, {"elsewhere": "https://x.example"}])
def test_only_web_addresses_of_known_endings_are_taken(addresses: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="expected http"):
        Panel(PROVIDERS["generic"], addresses=addresses)


def test_a_link_says_in_the_panels_own_words_where_ids_go_and_with_these_words_in_it_is_refused() -> None:
    assert {name: provider.query for name, provider in PROVIDERS.items()} == {
        "generic": "id=ID",
        "prolific": "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}",
        "connect": "",  # the panel adds its parameters itself
        "sona": "survey_code=%SURVEY_CODE%",
    }
    with pytest.raises(UsageError, match="did not fill in PROLIFIC_PID"):
        id_from(Panel(PROVIDERS["prolific"]), {"PROLIFIC_PID": "{{%PROLIFIC_PID%}}"})
