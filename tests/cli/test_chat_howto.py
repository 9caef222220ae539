"""The how-to on judging a language model, run against a stand-in that corrects as an annotator of the demo does."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import grater as package
from grater.annotate.content import all_items
from grater.annotate.store import open_store
from grater.corpora import read_corpus
from grater.model import Essay
from tests.chat_server import ChatServer, serving
from tests.cli.running import Capture, grater
from tests.test_docs import blocks

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "judge-a-language-model.md"
ESSAYS = Path(package.__file__).parent / "demo" / "essays.jsonl"
ADDRESS = "http://localhost:8080/v1"


def plain(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def lines_by_annotator(essays: list[Essay]) -> dict[str, str]:
    """Every line of the essays as the first annotator corrects it, but where they join two."""
    corrected: dict[str, str] = {}
    for essay in essays:
        firsts = [edit for edit in essay.edits if edit.rater == essay.annotators[0]]
        text = essay.text
        for edit in sorted(firsts, key=lambda edit: edit.span, reverse=True):
            text = text[: edit.span.start] + (*edit.replacements, "")[0] + text[edit.span.end :]
        before, after = plain(essay.text), plain(text)
        corrected |= zip(before, after if len(after) == len(before) else before, strict=True)
    return corrected


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    corrected = lines_by_annotator(list(read_corpus(ESSAYS)))

    def answer(request: dict[str, Any]) -> str:
        lines = json.loads(request["messages"][1]["content"])
        return json.dumps({number: corrected[line] for number, line in lines.items()})

    with serving(answer) as running:
        running.usage = None
        yield running


def judge(sheet: Path, study: Path, essays: list[Essay]) -> None:
    """As the second annotator might: an edit where they changed something is better, any other is not needed."""
    seconds = {
        essay.essay_id: [each for each in essay.edits if each.rater == essay.annotators[1]] for essay in essays
    }
    with open_store(str(study)) as store, store.read() as tx:
        items = {each.item_id: each.item for each in all_items(tx, kind="edit") if each.item}
    with sheet.open(newline="", encoding="utf-8-sig") as stream:
        head, *rows = csv.reader(stream)
    for row in rows:
        if row[0] in items:
            item = items[row[0]]
            is_error = any(edit.span.touches(item.span) for edit in seconds[item.essay_id])
            row[head.index("label")] = "suggestion better" if is_error else "both fine"
            row[head.index("rater")] = "Ann"
    with sheet.open("w", newline="", encoding="utf-8-sig") as stream:
        csv.writer(stream).writerows([head, *rows])


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_shows(
    server: ChatServer, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo").mkdir()
    shutil.copy(ESSAYS, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    printed = []
    for block in blocks(PAGE, "sh"):
        outputs = []
        for line in block.splitlines():
            ran = grater(capsys, *shlex.split(line.replace(ADDRESS, server.url))[1:])
            assert ran.status == 0, ran.err
            outputs.append(re.sub(r"\|data:\w+\|", "|data:...|", ran.out + ran.err))
        if (tmp_path / "sheet.csv").exists() and len(printed) == 1:
            judge(tmp_path / "sheet.csv", tmp_path / "model.db", list(read_corpus(ESSAYS)))
        printed.append("".join(outputs))
    for shown, found in zip(blocks(PAGE, "text"), printed, strict=False):
        for line in (line for line in shown.splitlines() if line != "..."):
            assert line in found.splitlines(), found
    assert len(server.requests) == len(list(read_corpus(ESSAYS)))
