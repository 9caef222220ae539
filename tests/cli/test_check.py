"""`grater check`, and `grater learners`: a class report by rule, by learner and over time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from grater.api import check
from grater.detect.marks import sureness
from tests.cli.running import Capture, Ran, grater

Run = Callable[..., Ran]

LEARNER = "The girl waited on the bus.\nThe boy discussed about the film & more. The king listened the music.\n"


@pytest.fixture
def run(capsys: Capture, tiny_model: Path) -> Run:
    """`grater check` by a small model of prepositions."""
    return lambda *args: grater(capsys, "check", *args, "--system", tiny_model)


@pytest.fixture
def essay(tmp_path: Path) -> Path:
    path = tmp_path / "essay.txt"
    path.write_text(LEARNER, encoding="utf-8")
    return path


def test_check_says_what_to_do_about_each_flag_on_a_terminal_and_in_json(run: Run, essay: Path) -> None:
    ran = run(essay)
    assert ran.status == 0
    assert "on → for" in ran.out
    assert "drop about" in ran.out
    assert "put in to" in ran.out
    assert "3 places to look at again" in ran.out
    assert "The girl waited [on] the bus." in ran.out
    assert "listened [▁] the music" in ran.out
    note = "Looked for: prepositions, missing prepositions; not for spelling, verbs, word order or anything else."
    assert " ".join(ran.err.split()) == note
    ran = run(essay, "--json")
    result = json.loads(ran.out)
    assert result["note"] == note
    assert [(flag["type"], flag["suggestion"]) for flag in result["flags"]] == [
        ("choice", "for"),
        ("extraneous", "-NONE-"),
        ("missing", "to"),
    ]
    for flag in result["flags"]:
        assert LEARNER[flag["start"] : flag["end"]] == flag["target"]
    assert ran.out == run(essay, "--show", "json").out


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


def test_html_is_one_page_that_loads_nothing_and_escapes_words(run: Run, essay: Path, tmp_path: Path) -> None:
    ran = run(essay, "--show", "html")
    page = Words()
    page.feed(ran.out)
    assert page.marks == ["on", "about", "\u200b"]
    assert page.addresses
    assert all(address.startswith("#") for address in page.addresses)
    assert "&amp; more" in ran.out
    path = tmp_path / "<b>.txt"
    path.write_text("<script>alert(1)</script> The girl waited on the bus.", encoding="utf-8")
    ran = run(path, "--show", "html")
    assert "<script>" not in ran.out
    assert "<b>.txt" not in ran.out


def test_an_empty_essay_has_nothing_to_look_at_again(run: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    ran = run(tmp_path / "empty.txt")
    assert (ran.status, "nothing to look at again" in ran.out) == (0, True)


# Several essays


@pytest.fixture
def essays(tmp_path: Path) -> list[Path]:
    """Two essays of the same name, and one without errors."""
    texts = {"a/essay.txt": LEARNER, "b/essay.txt": "The girl waited on the bus.\n", "good.txt": "The boy ran.\n"}
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return [tmp_path / name for name in texts]


def test_every_essay_has_a_page_of_its_own(run: Run, tmp_path: Path, essays: list[Path]) -> None:
    out = tmp_path / "new" / "pages"
    ran = run(*essays, "--show", "html", "--out", out)
    assert (ran.status, ran.out) == (0, "")
    assert sorted(path.name for path in out.iterdir()) == ["essay-2.html", "essay.html", "good.html"]
    assert "Nothing to look at again" in (out / "good.html").read_text(encoding="utf-8")
    assert "3 files, 4 places to look at again" in " ".join(ran.err.split())


def test_several_essays_are_one_json_document_and_several_pages_need_a_folder(run: Run, essays: list[Path]) -> None:
    result = json.loads(run(*essays, "--json").out)
    assert result["flags"] == 4
    assert [len(file["flags"]) for file in result["files"]] == [3, 1, 0]
    ran = run(*essays, "--show", "html")
    assert (ran.status, ran.out) == (2, "")
    assert "--out FOLDER" in ran.err


def test_text_in_a_folder_is_what_the_terminal_shows(run: Run, tmp_path: Path, essay: Path) -> None:
    shown = run(essay).out
    run(essay, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "essay.txt").read_text(encoding="utf-8").startswith(shown)


@pytest.mark.parametrize(("name", "status"), [("essay.txt", 1), ("good.txt", 0)])
def test_marks_fail_only_where_that_is_asked(run: Run, tmp_path: Path, name: str, status: int) -> None:
    text = {"essay.txt": LEARNER, "good.txt": "The boy ran."}[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert run(tmp_path / name).status == 0
    assert run(tmp_path / name, "--fail").status == status
    assert run(tmp_path / name, "--fail", "--json").status == status


# The terminal, and the reasons


def test_a_terminal_has_the_marked_word_brightest(run: Run, monkeypatch: pytest.MonkeyPatch, essay: Path) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    line = run(essay).out.splitlines()[0]
    number, _, rest = line.partition("The girl")
    before, style, _ = re.split(r"\x1b\[([\d;]+)mon\x1b", rest)
    assert number.startswith("\x1b[2m"), "the number of the line is dim"
    assert before == " waited ", "the words around are as they are"
    assert {"1", "30", "103"} <= set(style.split(";"))
    assert "2" not in style.split(";")


def test_a_rule_is_reported_at_every_mark_and_its_example_once(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "twice.txt"
    path.write_text("The girl waited on the bus.\nThe boy waited on the bus.\n", encoding="utf-8")
    out = run(path).out
    assert out.count("learn “wait for” as one piece") == 2
    assert out.count("✗ wait on   ✓ wait for") == 1
    page = run(path, "--show", "html").out
    assert (page.count("learn “wait for” as one piece"), page.count("wait on<br>")) == (2, 1)


# Harper


def test_harper_marks_what_our_systems_do_not_look_for(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("harper")
    path = tmp_path / "essay.txt"
    path.write_text("She is interested of music and i recieved the the letter ,too.", encoding="utf-8")
    flags = json.loads(grater(capsys, "check", path, "--json").out)["flags"]
    assert [(flag["target"], flag["kind"], flag["suggestion"], flag["system"]) for flag in flags] == [
        ("of", "prep", "in", "context"),
        ("i", "capital", "I", "harper"),
        ("recieved", "spelling", "received", "spelling"),
        ("the", "repetition", "-NONE-", "grammar"),
    ]


def test_asked_alone_harper_passes_all_its_findings_on(capsys: Capture, tmp_path: Path) -> None:
    harper = pytest.importorskip("harper")
    text = "He depends of his parents, i think. " + "She said that it was so and " * 15 + "left."
    (tmp_path / "essay.txt").write_text(text, encoding="utf-8")
    flags = json.loads(grater(capsys, "check", tmp_path / "essay.txt", "--system", "harper", "--json").out)["flags"]
    lints = harper.Linter().lint(text, language="plaintext")
    assert len(flags) == len(lints) > 1
    assert "readability" in [flag["kind"] for flag in flags]
    assert {flag["message"] for flag in flags} == {lint.message.replace("`", "") for lint in lints}


ERRORS = "harper:errors"


def marked_by(system: str, text: str, language: str = "") -> list[tuple[str, tuple[str, ...]]]:
    """What a system marks in a text, with all that it suggests."""
    flags = check(text, systems=[system], language=language or None).flags
    return [(flag.target, (flag.decision.suggestion or "", *flag.alternatives)) for flag in flags]


@pytest.mark.parametrize("shape", [("--json",), ("--show", "text"), ("--show", "html"), ("--out", "feedback")])
def test_nothing_is_printed_next_to_the_feedback(
    capfd: Capture, tmp_path: Path, shape: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harper writes to file descriptor 1 where it sees *to join*."""
    pytest.importorskip("harper")
    monkeypatch.chdir(tmp_path)
    Path("essay.txt").write_text("I am looking forward to join you.", encoding="utf-8")
    grater(capfd, "check", "essay.txt", "--system", ERRORS, *shape)
    assert capfd.readouterr().out == ""


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


@pytest.mark.usefixtures("essays")
def test_a_folder_stands_for_its_text_files(run: Run, tmp_path: Path) -> None:
    result = json.loads(run(tmp_path, "--json").out)
    assert [len(file["flags"]) for file in result["files"]] == [3, 1, 0]
    (tmp_path / "empty").mkdir()
    ran = run(tmp_path / "empty")
    assert (ran.status, "found none in this folder" in ran.err) == (2, True)


WRONG = "The girl waited on the bus."
RIGHT = "The girl waited for the bus."
ESSAYS = [
    ("a1", f"{WRONG} {WRONG}", "Anna", "2026-09-01"),
    ("a2", f"{WRONG} {RIGHT}", "Anna", "2026-10-01"),
    ("b1", f"{RIGHT} The boy discussed about the film.", "Ben <i>", "2026-09-01"),
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "class.jsonl"
    lines: list[object] = [{"format": "grater-corpus", "version": 1}]
    for name, text, learner, date in ESSAYS:
        lines.append({"id": name, "text": text, "metadata": {"learner": learner, "date": date}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_marks_are_counted_by_rule_learner_and_date(capsys: Capture, corpus: Path, tiny_model: Path) -> None:
    result = json.loads(grater(capsys, "learners", corpus, "--system", tiny_model, "--json").out)
    assert [(row["mark"], row["n"], row["learners"]) for row in result["marks"]] == [
        ("Verb + preposition", 3, 1),
        ("Verb without a preposition", 1, 1),
    ]
    anna, ben = result["learners"]
    assert (anna["learner"], anna["essays"], anna["words"], anna["marks"]) == ("Anna", 2, 24, 3)
    assert anna["per_100_words"] == pytest.approx(100 * 3 / 24)
    assert anna["change"] == pytest.approx(100 / 12 - 200 / 12), "from two marks in 12 words to one"
    assert (ben["change"], ben["most_often"]) == (None, ["Verb without a preposition"])
    out = grater(capsys, "learners", corpus, "--system", tiny_model).out
    assert "4 marks in 3 essays, 36 words" in out
    of_anna = [line.split()[1] for line in out.split("Over time")[1].splitlines() if line.startswith("Anna")]
    assert of_anna == ["2026-09-01", "2026-10-01"]
    fields = ("--learner-field", "date", "--date-field", "nothing")
    result = json.loads(grater(capsys, "learners", corpus, "--system", tiny_model, "--json", *fields).out)
    assert [row["learner"] for row in result["learners"]] == ["2026-09-01", "2026-10-01"]


def test_a_page_loads_nothing_and_escapes_names(
    capsys: Capture, tmp_path: Path, corpus: Path, tiny_model: Path
) -> None:
    ran = grater(capsys, "learners", corpus, "--system", tiny_model, "--out", tmp_path / "class.html")
    page = (tmp_path / "class.html").read_text(encoding="utf-8")
    assert (ran.status, "By learner" in ran.out) == (0, True)
    assert "Ben &lt;i&gt;" in page
    assert page.count("<table>") == 3
    assert "3 essays by 2 learners, 36 words: 4 marks, 11.1 per 100 words." in page
    assert "✗</s> We discussed about the plan.<br>" in page, "a rule has its example"
    assert page.count("<svg") == 1, "a curve for whoever wrote twice"
    assert "src=" not in page
    assert "href=" not in page


def test_a_text_file_is_counted_for_its_name(capsys: Capture, tmp_path: Path, tiny_model: Path) -> None:
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.txt").write_text(WRONG, encoding="utf-8")
    files = [tmp_path / "anna.txt", tmp_path / "ben.txt"]
    result = json.loads(grater(capsys, "learners", *files, "--system", tiny_model, "--json").out)
    learners = [(row["learner"], row["marks"], row["change"]) for row in result["learners"]]
    assert learners == [("anna", 1, None), ("ben", 1, None)]
