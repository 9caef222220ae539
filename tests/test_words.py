"""What users read is plain, idiomatic English: wordings that were mended do not come back."""

from __future__ import annotations

import re

import pytest

from tests.words import PARTS, phrases

AVOIDED = {
    r"\bso many\b": "a number",
    r"\bso few\b": "a small number",
    r"[Cc]ame in before": "imported earlier",
    r"\b[Pp]ut out of\b": "removed from",
    r"\bgo(es)? on with\b": "continue",
    r"\bis told\b": "is shown, or is reported",
    r"\bstands? beside\b": "is next to, or compare",
    r"\bshut out\b": "without access",
    r"\bdelete .*\bfor good\b": "permanently",
    r"\btelephone\b": "phone",
    r"\bthis once\b": "only once",
    r"\bwhoever comes\b": "everyone",
    r"\bmay be given several times\b": "repeatable",
    r"\bif not given\b": "default:",
    r"\b[Tt]urn-around\b": "turnaround",
    r"\b[Tt]he rest {}": "others",
    r"\bWhat (people call it|it is called)\b": "its name",
}
"""Not English usage, or not ours; and what to write instead."""


@pytest.mark.parametrize("part", PARTS[:4])  # corpora and detectors have words of their own
def test_no_wording_that_was_mended_comes_back(part: str) -> None:
    wrong = [
        f"{phrase.file}:{phrase.line}: {match[0]!r} in {phrase.words[:80]!r}; write {better or 'something else'}"
        for phrase in phrases([part])
        for avoided, better in AVOIDED.items()
        if (match := re.search(avoided, phrase.words))
    ]
    assert wrong == []


def test_the_listing_has_pages_scripts_messages_and_help() -> None:
    wanted = {"archive.py", "tasks/error.py", "web/static/send-once.js", "web/templates/lease.html"}
    assert {f"annotate/{name}" for name in wanted} <= {phrase.file for phrase in phrases(PARTS[:1])}
