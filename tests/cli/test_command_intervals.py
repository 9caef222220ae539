"""Every command that prints an interval says in words what it speaks of; every section of a report, too.

The walk goes through all commands, so that a new one has to be put on one of the two lists.  Those that print no
interval are held to it by `tests/cli/running.py`, which looks at the output of every command that a test runs.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grater import cli
from grater.cli import GROUPS
from tests.cli.running import INTERVAL, SPOKEN, Capture, grater
from tests.conftest import Demo

UNCORRECTED = "essays.txt"
FEW = "--resamples 40"
COMMANDS = {
    "agree": f"agree crowd.csv --items items.csv {FEW}",
    "agree, a corpus": f"agree essays.m2 {FEW}",
    "aggregate": "aggregate crowd.csv --method majority --true-labels gold.csv",
    "raters": "raters crowd.csv --gold gold.csv",
    "raters-needed": f"raters --needed crowd.csv --experts judgments.csv {FEW}",
    "difficulty": "agree --hardest crowd.csv --experts judgments.csv --items items.csv",
    "evaluate": "evaluate --decisions decisions.csv --judgments crowd.csv",
    "evaluate, a sample": "evaluate --decisions decisions.csv --sample sample.csv --judgments judgments.csv "
    "--items items.csv",
    "compare": "compare --decisions decisions.csv --judgments crowd.csv",
    "cloze": "lab cloze cloze.csv --decisions cloze-words.csv",
    "choice": "lab choice choice.csv --accuracy .75 --n-items 200",
    "nouns": "agree --constructions constructions.csv --items nouns.csv",
    "nouns, entropy": "lab nouns essays.jsonl",
    "corpus": "corpus stats essays.m2",
    "corpus, compared": "corpus compare essays.m2 essays.m2",
    "score": f"score essays.m2 {UNCORRECTED} {FEW}",
    "ceiling": "score --ceiling essays.m2",
    "select": "lab select essays.jsonl --system prep-lm",
    "study": f"study evaluate study.db --job annotators --kind prep {FEW}",
    "study, suggestions": "study suggestions study.db",
    "study, a sample": f"study evaluate study.db --sample sample {FEW}",
}
NO_INTERVALS = {
    *("demo", "check", "systems", "lab simulate", "sample", "decide", "lab mine", "lab combine"),
    *("judge", "serve", "plan", "report", "learners", "lab shard", "lab count"),
    *("corpus convert", "corpus lint", "corpus judgments", "prefer", "lab recall"),
    *(name for name in cli.COMMANDS if name.startswith(("job ", "people "))),
    *(f"study {name}" for name in ("new", "import", "decide", "sample", "status", "report", "adjudicate")),
    *(f"study {name}" for name in ("audit", "export", "backup", "restore", "verify")),
}
"""Commands that print none by themselves, or that are looked at below."""


def test_every_command_is_on_a_list() -> None:
    listed = {" ".join(words.split()[: 2 if words.split()[0] in GROUPS else 1]) for words in COMMANDS.values()}
    assert set(cli.COMMANDS) == listed | NO_INTERVALS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_says_what_its_intervals_speak_of(
    name: str, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(demo.folder)
    written = [line[2:] for line in Path("essays.m2").read_text("utf-8").splitlines() if line.startswith("S ")]
    (tmp_path / UNCORRECTED).write_text("\n".join(written) + "\n", "utf-8")
    words = [tmp_path / each if each == UNCORRECTED else each for each in COMMANDS[name].split()]
    ran, as_json = grater(capsys, *words), grater(capsys, *words, "--json")
    assert ran.status == as_json.status == 0, ran.err
    assert INTERVAL.search(ran.out), ran.out
    assert SPOKEN.search(ran.out), ran.out
    assert SPOKEN.search(as_json.out), "a program's reader is told, too"


def test_every_section_of_a_report_says_what_its_intervals_speak_of(demo: Demo) -> None:
    page = Path(demo.folder / "report" / "report.md").read_text("utf-8")
    sections = [part for part in re.split(r"^### ", page, flags=re.MULTILINE) if INTERVAL.search(part)]
    assert len(sections) > 10
    assert [part.splitlines()[0] for part in sections[1:] if not SPOKEN.search(part)] == []
    [experts] = [part for part in sections if part.startswith("Agreement among experts")]
    assert "(design effect" in experts
