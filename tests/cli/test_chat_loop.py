"""A language model corrects essays, people and the model itself judge its edits: the loop, and its how-to page."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import grater as package
from grater.annotate.content import all_items
from grater.annotate.store import open_store
from grater.corpora import read_corpus, write_corpus
from grater.model import Essay
from grater.sheet import counted
from tests.chat_server import ChatServer, serving
from tests.cli.running import Capture, as_json, grater, invoked
from tests.test_docs import blocks

N_ESSAYS = 12
NAMES = ("Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hal", "Ida", "Jo", "Kim", "Lea")
CHANGES = {" depends of ": " depends on ", "He like": "He likes", " a old ": " an old ", " in town": " in the town"}
"""What the model changes; the last is not needed."""


def answer(request: dict[str, Any]) -> str:
    """As a corrector it makes its changes, in a fence as models do; as a judge it likes all of them."""
    if "You correct the English" not in request["messages"][0]["content"]:
        return '{"label": "suggestion better"}'
    lines = json.loads(request["messages"][1]["content"])
    for wrong, right in CHANGES.items():
        lines = {number: line.replace(wrong, right) for number, line in lines.items()}
    return f"Sure!\n```json\n{json.dumps(lines)}\n```"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(answer) as running:
        yield running


def essay(number: int) -> Essay:
    name = NAMES[number]
    return Essay(
        f"e{number}", f"{name} depends of her brother.\nHe like a old house, and lives in town with {name}.\n"
    )


def fill_in(sheet: Path, is_error: Callable[[dict[str, str]], bool]) -> Counter[str]:
    """Ann says of each edit on a worksheet whether it is better or not needed; the number of edits by that."""
    with sheet.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream))
    [place] = [place for place, row in enumerate(rows) if "item" in row and "label" in row]
    head, counts = rows[place], Counter[str]()
    for row in rows[place + 1 :]:
        cells = dict(zip(head, row, strict=True))
        if cells["question"]:
            label = "suggestion better" if is_error(cells) else "both fine"
            row[head.index("label")], row[head.index("rater")] = label, "Ann"
            counts[label] += 1
    with sheet.open("w", newline="", encoding="utf-8-sig") as stream:
        csv.writer(stream).writerows(rows)
    return counts


def test_a_model_is_run_judged_by_people_and_itself_and_evaluated(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_corpus([essay(number) for number in range(N_ESSAYS)], Path("essays.jsonl"), print)
    invoked("study new study.db --name Loop")
    invoked("study import study.db essays.jsonl")
    decide = f"study decide study.db --system gpt=chat:{server.url}#tiny --kind edit --price-in 1 --price-out 4"
    said = invoked(decide).stderr
    assert f"gpt: asking {N_ESSAYS} questions, about " in said
    assert f"gpt: {N_ESSAYS} requests, {110 * N_ESSAYS:,} tokens, cost 0.0017 so far" in said
    assert f"gpt: {4 * N_ESSAYS} items, {4 * N_ESSAYS} flagged, {4 * N_ESSAYS} new decisions" in said
    assert as_json(f"{decide} --most-requests 0")[0]["new"] == 0
    assert len(server.requests) == N_ESSAYS

    drawn = as_json("study sample study.db --system gpt --strata type --n 24 --name edits")
    assert len(drawn["to_judge"]) == 24
    invoked("job new study.db --task verify --system gpt --sample edits --name verify")
    invoked(f"judge study.db --job verify --endpoint {server.url} --model-name tiny --name judge")
    invoked("job units study.db verify --worksheet sheet.csv")
    counts = fill_in(Path("sheet.csv"), lambda cells: "lives in [[ ]]" not in cells["sentence"])
    assert sum(counts.values()) == 24
    invoked("study import study.db --judgments sheet.csv --job verify")

    for more in ((), ("--with-programs",)):
        result = as_json("study evaluate study.db --kind edit", *more)
        [scored] = result["systems"]
        assert scored["precision"]["value"] == pytest.approx(counts["suggestion better"] / 24, abs=0.02)
        assert scored["recall"]["value"] is None
        precision = {each["type"]: each["precision"]["value"] for each in result["by_type"] if each["flags"]}
        assert precision == {"R:PREP": 1.0, "R:VERB:SVA": 1.0, "R:DET": 1.0, "M:DET": 0.0}
        [apart] = [line for line in result["warnings"] if "judged its own corrections" in line]
        n_right = counts["suggestion better"]
        assert apart == (
            "judge is the model behind gpt and judged its own corrections: it calls 24 of 24 right, "
            f"people {n_right} of 24; its judgments of them do not count"
        )
    invoked("study export study.db out")
    verdicts = ("--merge", "suggestion better=error", "--merge", "both fine=ok")
    told = as_json("evaluate --decisions out/decisions.csv --judgments out/judgments.csv", *verdicts)
    [again] = [line for line in told["warnings"] if "judged its own corrections" in line]
    assert again.partition(" is the model behind gpt")[2] == apart.partition(" is the model behind gpt")[2]
    assert told["systems"][0]["precision"]["value"] == n_right / 24
    invoked("study report study.db --out report")
    page = Path("report/report.md").read_text("utf-8")
    assert "judge on its own corrections (gpt)" in page
    assert f"Estimated for {counted(4 * N_ESSAYS, 'item')} from 24 judged by 1 rater" in page
    assert "gpt: its edits by type" in page
    assert re.search(r"^\| M:DET \| \d+ \| \.000 \[\.000, \.\d+\] \| \.000 \[", page, re.M)
    assert "[of → on] her brother." in page
    assert "judged its own corrections" in page


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
def corrector(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
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

    def is_error(cells: dict[str, str]) -> bool:
        item = items[cells["item"]]
        return any(edit.span.touches(item.span) for edit in seconds[item.essay_id])

    fill_in(sheet, is_error)


@pytest.mark.slow
def test_the_page_runs_and_prints_what_it_shows(
    corrector: ChatServer, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "demo").mkdir()
    shutil.copy(ESSAYS, tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    printed = []
    for block in blocks(PAGE, "sh"):
        outputs = []
        for line in block.splitlines():
            ran = grater(capsys, *shlex.split(line.replace(ADDRESS, corrector.url))[1:])
            assert ran.status == 0, ran.err
            outputs.append(re.sub(r"\|data:\w+\|", "|data:...|", ran.out + ran.err))
        if (tmp_path / "sheet.csv").exists() and len(printed) == 1:
            judge(tmp_path / "sheet.csv", tmp_path / "model.db", list(read_corpus(ESSAYS)))
        printed.append("".join(outputs))
    for shown, found in zip(blocks(PAGE, "text"), printed, strict=False):
        for line in (line for line in shown.splitlines() if line != "..."):
            assert line in found.splitlines(), found
    assert len(corrector.requests) == len(list(read_corpus(ESSAYS)))
