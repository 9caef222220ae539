"""`grater check`, and `grater learners`: a class report by rule, by learner and over time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grater.api import check
from grater.detect.marks import sureness
from tests.cli.running import Capture, as_json, grater, invoked, refused

LEARNER = "The girl waited on the bus.\nThe boy discussed about the film & more. The king listened the music.\n"
SEVERAL = {"a/essay.txt": LEARNER, "b/essay.txt": "The girl waited on the bus.\n", "good.txt": "The boy ran.\n"}
"""Two essays of the same name, and one without errors."""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_model: Path) -> None:
    """A small model of prepositions, and an essay with three errors."""
    monkeypatch.chdir(tmp_path)
    Path("tiny.model").symlink_to(tiny_model)
    write("essay.txt", LEARNER)


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text(text, encoding="utf-8")


def shown(*args: object) -> str:
    return invoked("check --system tiny.model", *args).stdout


def found(*args: object) -> Any:
    return as_json("check --system tiny.model", *args)


def test_check_says_what_to_do_about_each_flag_on_a_terminal_and_in_json() -> None:
    ran = invoked("check --system tiny.model essay.txt")
    for words in (
        *("on → for", "drop about", "put in to", "3 places to look at again"),
        *("The girl waited [on] the bus.", "listened [▁] the music"),
    ):
        assert words in ran.stdout
    note = "Looked for: prepositions, missing prepositions; not for spelling, verbs, word order or anything else."
    assert " ".join(ran.stderr.split()) == note
    result = found("essay.txt")
    assert result["note"] == note
    assert [(flag["type"], flag["suggestion"]) for flag in result["flags"]] == [
        ("choice", "for"),
        ("extraneous", "-NONE-"),
        ("missing", "to"),
    ]
    for flag in result["flags"]:
        assert LEARNER[flag["start"] : flag["end"]] == flag["target"]
    assert json.loads(shown("essay.txt", "--show", "json")) == result


def test_html_is_one_page_that_loads_nothing_and_escapes_words() -> None:
    html = shown("essay.txt", "--show", "html")
    assert re.findall(r"<mark[^>]*>([^<]*)<sup>", html) == ["on", "about", "&#8203;"]
    addresses = re.findall(r"""(?:src|href)=["']?([^"'>]*)""", html)
    assert addresses
    assert all(address.startswith("#") for address in addresses)
    assert "&amp; more" in html
    write("<b>.txt", "<script>alert(1)</script> The girl waited on the bus.")
    html = shown("<b>.txt", "--show", "html")
    assert "<script>" not in html
    assert "<b>.txt" not in html


def test_every_essay_has_a_page_of_its_own() -> None:
    for name, text in SEVERAL.items():
        write(name, text)
    ran = invoked("check --system tiny.model --show html --out new/pages", *SEVERAL)
    assert ran.stdout == ""
    out = Path("new/pages")
    assert sorted(path.name for path in out.iterdir()) == ["essay-2.html", "essay.html", "good.html"]
    assert "Nothing to look at again" in (out / "good.html").read_text(encoding="utf-8")
    assert "3 files, 4 places to look at again" in " ".join(ran.stderr.split())
    assert "--out FOLDER" in refused("check --system tiny.model --show html", *SEVERAL)


def test_several_essays_are_one_json_document_and_a_folder_stands_for_its_texts() -> None:
    Path("essay.txt").unlink()
    for name, text in SEVERAL.items():
        write(name, text)
    for files in (SEVERAL, ["."]):
        result = found(*files)
        assert result["flags"] == 4
        assert [len(file["flags"]) for file in result["files"]] == [3, 1, 0]
    Path("empty").mkdir()
    assert "found none in this folder" in refused("check --system tiny.model empty")


def test_text_in_a_folder_is_what_the_terminal_shows_and_an_empty_essay_has_nothing_to_look_at() -> None:
    printed = shown("essay.txt")
    shown("essay.txt", "--out", "out")
    assert Path("out/essay.txt").read_text(encoding="utf-8").startswith(printed)
    write("essay.txt", "")
    assert "nothing to look at again" in shown("essay.txt")


def test_marks_fail_only_where_that_is_asked(capsys: Capture) -> None:
    write("good.txt", "The boy ran.")
    for name, status in (("essay.txt", 1), ("good.txt", 0)):
        for options, expected in (((), 0), (("--fail",), status), (("--fail", "--json"), status)):
            ran = grater(capsys, "check", name, "--system", "tiny.model", *options)
            assert ran.status == expected, (name, options)


def test_a_terminal_has_the_marked_word_brightest(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    line = grater(capsys, "check", "essay.txt", "--system", "tiny.model").out.splitlines()[0]
    number, _, rest = line.partition("The girl")
    before, style, _ = re.split(r"\x1b\[([\d;]+)mon\x1b", rest)
    assert number.startswith("\x1b[2m"), "the number of the line is dim"
    assert before == " waited ", "the words around are as they are"
    assert {"1", "30", "103"} <= set(style.split(";"))
    assert "2" not in style.split(";")


def test_a_rule_is_reported_at_every_mark_and_its_example_once() -> None:
    write("twice.txt", "The girl waited on the bus.\nThe boy waited on the bus.\n")
    out = shown("twice.txt")
    assert out.count("learn “wait for” as one piece") == 2
    assert out.count("✗ wait on   ✓ wait for") == 1
    page = shown("twice.txt", "--show", "html")
    assert (page.count("learn “wait for” as one piece"), page.count("wait on<br>")) == (2, 1)


# Harper


def test_harper_marks_what_our_systems_do_not_look_for() -> None:
    pytest.importorskip("harper")
    write("essay.txt", "She is interested of music and i recieved the the letter ,too.")
    flags = as_json("check essay.txt")["flags"]
    assert [(flag["target"], flag["kind"], flag["suggestion"], flag["system"]) for flag in flags] == [
        ("of", "prep", "in", "context"),
        ("i", "capital", "I", "harper"),
        ("recieved", "spelling", "received", "spelling"),
        ("the", "repetition", "-NONE-", "grammar"),
    ]


def test_asked_alone_harper_passes_all_its_findings_on() -> None:
    harper = pytest.importorskip("harper")
    text = "He depends of his parents, i think. " + "She said that it was so and " * 15 + "left."
    write("essay.txt", text)
    flags = as_json("check essay.txt --system harper")["flags"]
    lints = harper.Linter().lint(text, language="plaintext")
    assert len(flags) == len(lints) > 1
    assert "readability" in [flag["kind"] for flag in flags]
    assert {flag["message"] for flag in flags} == {lint.message.replace("`", "") for lint in lints}


ERRORS = "harper:errors"


def marked_by(system: str, text: str, language: str = "") -> list[tuple[str, tuple[str, ...]]]:
    """What a system marks in a text, with all that it suggests."""
    flags = check(text, systems=[system], language=language or None).flags
    return [(flag.target, (flag.decision.suggestion or "", *flag.alternatives)) for flag in flags]


@pytest.mark.parametrize("shape", ["--json", "--show text", "--show html", "--out feedback"])
def test_nothing_is_printed_next_to_the_feedback(capfd: Capture, shape: str) -> None:
    """Harper writes to file descriptor 1 where it sees *to join*."""
    pytest.importorskip("harper")
    write("essay.txt", "I am looking forward to join you.")
    command = f"check essay.txt --system {ERRORS} {shape}"
    assert grater(capfd, *command.split()).out == invoked(command).stdout


def test_spelling_of_either_side_of_the_ocean_is_no_error_unless_one_is_asked_for() -> None:
    pytest.importorskip("harper")
    text = "My neighbours organised a colorful show of maths and traveled to the center afterwards."
    assert marked_by(ERRORS, text) == marked_by("spelling", text) == []
    assert "traveled" in dict(marked_by(ERRORS, text, "en-GB"))
    assert "organised" in dict(marked_by(ERRORS, text, "en-US"))


def test_misspelt_words_are_mended_by_the_words_around_them() -> None:
    text = "I recieved teh letter yestarday, but my freinds in Kvorsk dont live in this contry. Zorblat is nonmuscle."
    found = {target: better[0] for target, better in marked_by("spelling", text)}
    assert found == {
        "recieved": "received",
        "teh": "the",
        "yestarday": "yesterday",
        "freinds": "friends",
        "dont": "don't",
        "contry": "country",
    }
    assert marked_by("spelling", "The brelvok is red. A brelvok is blue, and we saw it.") == []


def test_a_mark_of_harper_says_how_often_its_kind_is_right_and_suggests_no_more_than_is_missing() -> None:
    pytest.importorskip("harper")
    assert marked_by(ERRORS, "We meet on monday.") == [("monday", ("Monday",))]
    feedback = check("We meet on monday at the the station.", systems=[ERRORS])
    assert all("right" in sureness(flag) for flag in feedback.flags)


WRONG = "The girl waited on the bus."
RIGHT = "The girl waited for the bus."
ESSAYS = [
    ("a1", f"{WRONG} {WRONG}", "Anna", "2026-09-01"),
    ("a2", f"{WRONG} {RIGHT}", "Anna", "2026-10-01"),
    ("b1", f"{RIGHT} The boy discussed about the film.", "Ben <i>", "2026-09-01"),
]


def test_marks_are_counted_by_rule_learner_and_date() -> None:
    lines: list[object] = [{"format": "grater-corpus", "version": 1}]
    for name, text, learner, date in ESSAYS:
        lines.append({"id": name, "text": text, "metadata": {"learner": learner, "date": date}})
    write("class.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    command = "learners class.jsonl --system tiny.model"
    result = as_json(command)
    assert [(row["mark"], row["n"], row["learners"]) for row in result["marks"]] == [
        ("Verb + preposition", 3, 1),
        ("Verb without a preposition", 1, 1),
    ]
    anna, ben = result["learners"]
    assert (anna["learner"], anna["essays"], anna["words"], anna["marks"]) == ("Anna", 2, 24, 3)
    assert anna["per_100_words"] == pytest.approx(100 * 3 / 24)
    assert anna["change"] == pytest.approx(100 / 12 - 200 / 12), "from two marks in 12 words to one"
    assert (ben["change"], ben["most_often"]) == (None, ["Verb without a preposition"])
    result = as_json(command, "--learner-field", "date", "--date-field", "nothing")
    assert [row["learner"] for row in result["learners"]] == ["2026-09-01", "2026-10-01"]
    out = invoked(command, "--out", "class.html").stdout
    assert "By learner" in out
    assert "4 marks in 3 essays, 36 words" in out
    of_anna = [line.split()[1] for line in out.split("Over time")[1].splitlines() if line.startswith("Anna")]
    assert of_anna == ["2026-09-01", "2026-10-01"]
    page = Path("class.html").read_text(encoding="utf-8")
    assert "Ben &lt;i&gt;" in page
    assert page.count("<table>") == 3
    assert "3 essays by 2 learners, 36 words: 4 marks, 11.1 per 100 words." in page
    assert "✗</s> We discussed about the plan.<br>" in page, "a rule has its example"
    assert page.count("<svg") == 1, "a curve for whoever wrote twice"
    assert not re.search("src=|href=", page), "it loads nothing"


def test_a_text_file_is_counted_for_its_name() -> None:
    for name in ("anna", "ben"):
        write(f"{name}.txt", WRONG)
    result = as_json("learners anna.txt ben.txt --system tiny.model")
    learners = [(row["learner"], row["marks"], row["change"]) for row in result["learners"]]
    assert learners == [("anna", 1, None), ("ben", 1, None)]
