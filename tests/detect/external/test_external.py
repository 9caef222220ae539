"""Systems from outside: a file, a command, a server, a real checker, each decided place by place."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grater.corpora import write_corpus
from grater.detect.detector import Finding
from grater.detect.external import edits_between, external, findings
from grater.errors import BadInput, GraterError, UnknownName, UsageError
from grater.model import Edit, Essay, Item, Span

TEXT = "She depends of her sister and discusses about it."
OF, ABOUT = Span(12, 14), Span(40, 45)
ESSAY = Essay("e1", TEXT)
CORRECTED = "She depends on her sister and discusses it."


def _flags(found: list[Finding]) -> dict[str, tuple[str, str | None]]:
    return {
        finding.target: (finding.decision.type, finding.decision.suggestion)
        for finding in found
        if finding.decision.flagged
    }


def test_corrected_lines_become_decisions_and_corrected_essays_are_met_by_their_ids(tmp_path: Path) -> None:
    lines, corpus = tmp_path / "mine.txt", tmp_path / "system.jsonl"
    lines.write_text(CORRECTED + "\n", encoding="utf-8")
    write_corpus([Essay("e2", "All is well."), Essay("e1", CORRECTED)], corpus, print)
    for name, system in ((f"corrected:{lines}", "mine"), (f"best=corrected:{corpus}", "best")):
        detector = external(name)
        found = list(detector.find([ESSAY]))
        assert _flags(found) == {"of": ("choice", "on"), "about": ("extraneous", "-NONE-")}
        assert {finding.decision.system for finding in found} == {detector.name} == {system}


def test_a_correction_too_many_or_missing_is_named(tmp_path: Path) -> None:
    lines, corpus = tmp_path / "short.txt", tmp_path / "system.jsonl"
    lines.write_text("One.\nTwo.\n", encoding="utf-8")
    write_corpus([Essay("e2", "All is well.")], corpus, print)
    with pytest.raises(BadInput, match="expected a line for each of 1 essays, found 2"):
        list(external(f"corrected:{lines}").find([ESSAY]))
    with pytest.raises(BadInput, match="expected a correction of essay 'e1', found none"):
        list(external(f"corrected:{corpus}").find([ESSAY]))


words = st.lists(st.sampled_from(["we", "go", "to", "the", "sea", "in", "at", "on"]), max_size=8)


@given(words, words)
def test_edits_applied_give_the_corrected_words(source: list[str], target: list[str]) -> None:
    essay = Essay("e", " ".join(source))
    text = essay.text
    for edit in reversed(edits_between(essay, " ".join(target), rater="s")):
        text = text[: edit.span.start] + edit.replacements[0] + text[edit.span.end :]
    assert text.split() == target


def test_edits_of_one_annotator_are_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    edits = (Edit(OF, ("on",), "Prep", "A"), Edit(ABOUT, ("",), "Prep", "B"))
    write_corpus([Essay("e1", TEXT, edits, ("A", "B"))], path, print)
    assert _flags(list(external(f"edits:{path}@B").find([ESSAY]))) == {"about": ("extraneous", "-NONE-")}
    with pytest.raises(BadInput, match="expected one annotator, found A, B"):
        list(external(f"edits:{path}").find([ESSAY]))
    with pytest.raises(UnknownName, match="unknown annotator 'C'"):
        list(external(f"edits:{path}@C").find([ESSAY]))


PROGRAM = """
import json, sys
lines = {read}
for line in lines:
    asked = json.loads(line)
    start = asked["text"].find(" of ") + 1
    edits = [{{"start": start, "end": start + 2, "replacements": ["on"]}}] if start else []
    print(json.dumps({{"essay": asked["essay"], "edits": edits}}), flush=True)
"""


def _command(tmp_path: Path, source: str) -> str:
    path = tmp_path / "checker.py"
    path.write_text(source, encoding="utf-8")
    return f"command:{sys.executable} {path}"


@pytest.mark.parametrize(
    "read", ["sys.stdin", "reversed(sys.stdin.readlines())"], ids=["as it reads", "at the end, in any order"]
)
def test_a_command_answers_line_by_line(tmp_path: Path, read: str) -> None:
    essays = [Essay(f"e{place}", "😀 " * place + TEXT) for place in range(50)]
    found = list(external(f"mine={_command(tmp_path, PROGRAM.format(read=read))}").find(essays))
    places = [int(finding.item.essay_id[1:]) for finding in found]
    assert places == sorted(places)
    assert [finding.target for finding in found if finding.decision.flagged] == ["of"] * 50


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; sys.exit(3)", "exit status 3"),
        ("print('hello')", "expected a JSON line"),
        ('print(\'{"essay": "stranger"}\')', "expected a JSON line"),
        ("import sys; sys.stdin.read()", "expected an answer to essay 'e1', found none"),
        (
            'import sys; sys.stdin.read()\nfor _ in "ab": print(\'{"essay": "e1", "edits": []}\')',
            "for the second time",
        ),
        (
            'import sys; sys.stdin.read()\nprint(\'{"essay": "e1", "edits": [{"start": 0, "end": 999}]}\')',
            "an edit from 0 to 999 in an essay of 49",
        ),
    ],
)
def test_a_command_that_misbehaves_is_refused_with_the_reason(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(GraterError, match=message):
        list(external(_command(tmp_path, source)).find([ESSAY]))


class _Answer(BaseHTTPRequestHandler):
    """Stands in for a LanguageTool server: flags `of`, counting in UTF-16 units as the real one does."""

    def do_POST(self) -> None:
        asked = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        text = asked["text"][0]
        offset = len(text[: text.find(" of ") + 1].encode("utf-16-le")) // 2
        match = {"offset": offset, "length": 2, "replacements": [{"value": "on"}]}
        match |= {"rule": {"id": "PREP"}, "message": "?"}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"matches": [match]}).encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


def test_units_of_languagetool_become_code_points() -> None:
    with HTTPServer(("127.0.0.1", 0), _Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        detector = external(f"languagetool:http://127.0.0.1:{server.server_port}")
        found = list(detector.find([Essay("e1", "👩‍👧 " + TEXT)]))
        server.shutdown()
    assert _flags(found) == {"of": ("choice", "on")}


def test_what_cannot_be_asked_is_one_line() -> None:
    with pytest.raises(GraterError, match="no LanguageTool server answers"):
        list(external("languagetool:http://127.0.0.1:9").find([ESSAY]))
    with pytest.raises(UsageError, match="expected languagetool:http://HOST:PORT"):
        external("languagetool:localhost")
    with pytest.raises(UsageError, match="No closing quotation"):
        external("mine=command:python 'check.py")


INTERESTED = "He was interested of the history of the town."


def test_harper_is_not_shown_endless_words_and_flags_a_preposition_around_them() -> None:
    """Its time and memory grow with the square of a word's length: 200,000 letters ended the process."""
    pytest.importorskip("harper", reason="harper-py is not installed")
    endless = f"{INTERESTED} {'x' * 200_000}.\n\n"
    alone, around = (
        list(external("harper").find([Essay("e1", text)])) for text in (INTERESTED, endless + INTERESTED)
    )
    flagged = [(each.item.span.start, each.decision.suggestion) for each in around if each.decision.flagged]
    assert flagged == [(18, "in"), (len(endless) + 18, "in")]
    assert _flags(alone) == {"of": ("choice", "in")}
    starts = [each.item.span.start for each in alone]
    assert [each.item.span.start for each in around] == [*starts, *(len(endless) + start for start in starts)]


def test_harper_marks_capitals_and_no_names_compounds_or_abbreviations() -> None:
    pytest.importorskip("harper", reason="harper-py is not installed")
    text = "Mr. and Mrs. Smith came at 5 p.m. on monday. Sam sold heatsinks by DeWitt etc. and left; i saw VUE."
    text += " We speak english and read about electron microscopy. Oh! how good. shows the result. the end."
    found = external("harper:errors").marks(Essay("e1", text))
    assert [(finding.target, finding.item.kind) for finding in found] == [
        (word, "capital") for word in ("monday", "i", "english", "the")
    ]


def test_items_of_a_table_are_decided_on_whatever_their_kind() -> None:
    items = [Item("e1", Span(0, 3), "word"), Item("e1", OF, "word"), Item("e1", Span(15, 15), "gap")]
    edits = (Edit(Span(12, 18), ("on her",), "x", "s"), Edit(Span(15, 15), ("all ",), "x", "s"))
    found = list(findings(ESSAY, edits, items, "s"))
    assert [finding.decision.flagged for finding in found] == [False, True, True]
    assert [finding.decision.suggestion for finding in found] == [None, "on", "all"]
