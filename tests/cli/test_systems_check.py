from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grater.detect.prepositions.linear import save
from tests.cli.running import grater
from tests.detect.prepositions.tiny import tiny_engine

LEARNER = "The girl waited on the bus.\nThe boy discussed about the film & more. The king listened the music.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny.model"
    save(tiny_engine(), path)
    return path


@pytest.fixture
def essay(tmp_path: Path) -> Path:
    path = tmp_path / "essay.txt"
    path.write_text(LEARNER, encoding="utf-8")
    return path


def test_check_says_what_to_do_about_each_flag(capsys: pytest.CaptureFixture[str], essay: Path, model: Path) -> None:
    ran = grater(capsys, "check", essay, "--system", model)
    assert ran.status == 0
    assert "on → for" in ran.out
    assert "drop about" in ran.out
    assert "put in to" in ran.out
    assert "3 places to look at again" in ran.out


def test_check_as_json_has_every_flag_with_its_place(
    capsys: pytest.CaptureFixture[str], essay: Path, model: Path
) -> None:
    ran = grater(capsys, "check", essay, "--system", model, "--json")
    told = json.loads(ran.out)
    assert [(flag["type"], flag["suggestion"]) for flag in told["flags"]] == [
        ("choice", "for"),
        ("extraneous", "-NONE-"),
        ("missing", "to"),
    ]
    for flag in told["flags"]:
        assert LEARNER[flag["start"] : flag["end"]] == flag["target"]
    assert ran.out == grater(capsys, "check", essay, "--system", model, "--format", "json").out


def test_a_document_of_another_program_is_to_be_saved_as_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, model: Path
) -> None:
    (tmp_path / "essay.DOCX").write_bytes(b"PK\x03\x04")
    ran = grater(capsys, "check", tmp_path / "essay.DOCX", "--system", model)
    assert (ran.status, ran.out) == (2, "")
    assert "save it as text (.txt) first" in ran.err


def test_a_corpus_is_not_taken_for_an_essay(capsys: pytest.CaptureFixture[str], tmp_path: Path, model: Path) -> None:
    (tmp_path / "essays.m2").write_text(
        "S The girl waited on the bus .\nA 3 4|||Prep|||for|||REQUIRED|||-NONE-|||0\n"
    )
    ran = grater(capsys, "check", tmp_path / "essays.m2", "--system", model)
    assert (ran.status, ran.out) == (2, "")
    assert "found a corpus (.m2); use grater decide" in ran.err


def test_without_colours_the_flagged_words_stand_in_brackets(
    capsys: pytest.CaptureFixture[str], essay: Path, model: Path
) -> None:
    ran = grater(capsys, "check", essay, "--system", model)
    assert "The girl waited [on] the bus." in ran.out
    assert "listened [▁] the music" in ran.out


class Words(HTMLParser):
    """What a reader of the page sees of the essay."""

    def __init__(self) -> None:
        super().__init__()
        self.inside: list[str] = []
        self.marks: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.inside and self.inside[-1] == "mark":
            self.marks.append(data)


def test_check_as_html_is_one_page_that_loads_nothing(
    capsys: pytest.CaptureFixture[str], essay: Path, model: Path
) -> None:
    ran = grater(capsys, "check", essay, "--system", model, "--format", "html")
    page = Words()
    page.feed(ran.out)
    assert page.marks == ["on", "about", "\u200b"]
    assert page.addresses
    assert all(address.startswith("#") for address in page.addresses)
    assert "&amp; more" in ran.out


def test_html_in_an_essay_is_words(capsys: pytest.CaptureFixture[str], tmp_path: Path, model: Path) -> None:
    path = tmp_path / "<b>.txt"
    path.write_text("<script>alert(1)</script> The girl waited on the bus.", encoding="utf-8")
    ran = grater(capsys, "check", path, "--system", model, "--format", "html")
    assert "<script>" not in ran.out
    assert "<b>.txt" not in ran.out


def test_an_empty_essay_has_nothing_to_look_at(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, model: Path
) -> None:
    path = tmp_path / "empty.txt"
    path.write_text("", encoding="utf-8")
    ran = grater(capsys, "check", path, "--system", model)
    assert ran.status == 0
    assert "nothing to look at again" in ran.out


def test_an_unknown_system_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str], essay: Path) -> None:
    ran = grater(capsys, "check", essay, "--system", "prep-maxnt")
    assert ran.status == 2
    assert "Did you mean 'prep-maxent'?" in ran.err


def test_a_missing_essay_or_model_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, essay: Path
) -> None:
    ran = grater(capsys, "check", tmp_path / "nothing.txt")
    assert (ran.status, len(ran.err.splitlines())) == (2, 1)
    ran = grater(capsys, "check", essay, "--system", tmp_path / "nothing.model")
    assert (ran.status, len(ran.err.splitlines())) == (2, 1)
    assert "cannot be read" in ran.err


def test_the_writer_is_told_what_was_not_looked_for(
    capsys: pytest.CaptureFixture[str], essay: Path, model: Path
) -> None:
    ran = grater(capsys, "check", essay, "--system", model)
    note = " ".join(ran.err.split())
    assert note == (
        "Looked for: prepositions, missing prepositions; not for spelling, verbs, word order or anything else."
    )
    assert json.loads(grater(capsys, "check", essay, "--system", model, "--json").out)["note"] == note
