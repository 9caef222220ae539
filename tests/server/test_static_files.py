"""One style sheet for every page, kept by browsers until its words change."""

from __future__ import annotations

import re

import pytest

from grater.server import static_files
from grater.server.static_files import SHEETS, STATIC, sheet_address
from tests.server.studies import Study


def test_a_page_has_one_sheet_with_every_file_in_it_and_keeps_it_for_good(bare: Study) -> None:
    client = bare.client()
    (address,) = re.findall(r'<link rel="stylesheet" href="([^"]+)">', client.get("/login").text)
    reply = client.get(address)
    assert reply.headers["content-type"].startswith("text/css")
    assert "immutable" in reply.headers["cache-control"]
    assert "style-src 'self'" in reply.headers["content-security-policy"]
    places = [reply.text.index((STATIC / f"{name}.css").read_text(encoding="utf-8")) for name in SHEETS]
    assert places == sorted(places)


def test_no_sheet_lies_beside_the_others_and_reaches_no_page() -> None:
    assert {path.stem for path in STATIC.glob("*.css")} == set(SHEETS)


def test_other_words_have_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    before = sheet_address()
    monkeypatch.setattr(static_files, "SHEETS", SHEETS[:-1])
    assert sheet_address() != before


def test_the_sheet_is_only_read(bare: Study) -> None:
    assert bare.client().post(sheet_address()).status_code == 405
