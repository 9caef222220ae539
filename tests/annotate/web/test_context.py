"""What is sent: one model for an action, and the same words at every door for what is wrong with it."""

from __future__ import annotations

import html
import re

import pytest

from grater.annotate.credentials import NewToken
from grater.annotate.invitations import NewInvitation
from grater.annotate.people import NewSeat
from grater.annotate.requests import Body
from grater.annotate.second_factor import NewSecondFactorRule
from grater.annotate.web.context import version_of
from grater.annotate.web.people import NewInvitations
from grater.annotate.webhooks import NewWebhook
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


def test_page_api_and_command_refuse_in_the_same_words(bare: Study) -> None:
    browser, program = bare.browser("manager"), Program(bare, "manager")
    for sent, line in WRONG:
        page = browser.post("/manage/invitations", sent)
        with pytest.raises(UsageError) as refused:
            NewInvitation.checked(**sent)
        assert str(refused.value) == program.call("invite", sent, status=422)["error"]["message"] == line
        assert (page.status_code, line in html.unescape(page.text)) == (422, True), line


FORMS: list[tuple[str, str, type[Body]]] = [
    ("/manage/people", "/manage/invitations", NewInvitations),
    ("/manage/people", "/manage/seats", NewSeat),
    ("/manage/people", "/manage/second-factor", NewSecondFactorRule),
    ("/manage/webhooks", "/manage/webhooks", NewWebhook),
    ("/me", "/me/tokens", NewToken),
]


def test_the_fields_of_a_form_are_those_of_its_model(bare: Study) -> None:
    """One by another name would be dropped without a word (P14)."""
    browser = bare.browser("owner")
    for path, action, model in FORMS:
        form = re.search(rf'<form[^>]*action="{action}".*?</form>', browser.get(path).text, re.DOTALL)
        assert form, action
        names = set(re.findall(r' name="(\w+)"', form[0])) - {"csrf"}
        assert names, action
        assert names <= model.model_fields.keys(), action


@pytest.mark.parametrize("sent", [{"name": "a\0b"}, {"rôle": "x"}])
def test_what_no_database_holds_and_what_nobody_knows_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"without NUL|unknown field 'rôle'"):
        NewInvitation.checked(role="worker", **sent)


@pytest.mark.parametrize(
    ("text", "version"), [("0", 0), ("12", 12), ("", None), ("x", None), ("-1", None), ("9" * 5000, None)]
)
def test_a_version_is_a_number_or_none(text: str, version: int | None) -> None:
    assert version_of(text) == version
