"""What is sent: one model for an action, and the same words at every door for what is wrong with it."""

from __future__ import annotations

import html

import pytest

from grater.annotate.invitations import NewInvitation
from grater.annotate.web.context import version_of
from grater.errors import UsageError
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study

WRONG = [
    ({"role": "worker", "days": "400"}, "days: expected at most 365, found '400'"),
    ({"role": "worker", "days": "0"}, "days: expected more than 0, found '0'"),
    ({"role": "worker", "days": "soon"}, "days: expected a number, found 'soon'"),
    ({"role": "worker", "days": "nan"}, "days: expected a number, found 'nan'"),
    ({"role": "worker", "name": 81 * "x"}, "name: expected at most 80 characters, found 81"),
    ({"role": "king"}, "role: expected 'owner', 'manager', 'adjudicator', 'annotator' or 'worker', found 'king'"),
]


@pytest.mark.parametrize(("sent", "line"), WRONG)
def test_page_api_and_command_refuse_in_the_same_words(bare: Study, sent: dict[str, str], line: str) -> None:
    page = bare.browser("manager").post("/manage/invitations", sent)
    reply = Program(bare, "manager").call("invite", sent, status=422)
    with pytest.raises(UsageError) as refused:
        NewInvitation.checked(**sent)
    assert str(refused.value) == reply["error"]["message"] == line
    assert page.status_code == 422
    assert line in html.unescape(page.text)


@pytest.mark.parametrize("sent", [{"name": "a\0b"}, {"rôle": "x"}])
def test_what_no_database_holds_and_what_nobody_knows_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"without NUL|rôle: there is no such field"):
        NewInvitation.checked(role="worker", **sent)


@pytest.mark.parametrize(
    ("text", "version"), [("0", 0), ("12", 12), ("", None), ("x", None), ("-1", None), ("9" * 5000, None)]
)
def test_a_version_is_a_number_or_none(text: str, version: int | None) -> None:
    assert version_of(text) == version
