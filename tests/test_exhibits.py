"""docs/exhibits.md is complete: every table and figure of the papers has its row, every command there is real."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from grater.cli import LazyCommand, app

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "exhibits.md").read_text("utf-8")
EXHIBITS = [
    *(f"T&C Table {n}" for n in range(1, 8)),
    "T&C Figure 1",
    *(f"Lee Table {n}" for n in range(1, 6)),
    "Madnani Table 1",
    *(f"Madnani Figure {n}" for n in (1, 2)),
    *(f"T,C&M Table {n}" for n in range(1, 7)),
    *(f"T,C&M Figure {n}" for n in range(1, 5)),
    *(f"NUCLE Table {n}" for n in range(1, 6)),
    *(f"NUCLE Figure {n}" for n in range(1, 5)),
]
ROWS = {
    match[1]: match[2]
    for match in re.finditer(r"^\| ((?:T&C|Lee|Madnani|T,C&M|NUCLE) \w+ \d) \| (.+) \|$", PAGE, re.M)
}
COMMANDS = sorted(set(re.findall(r"`(grater [^`]+)`", PAGE)))


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """The command that some words name, and what is left of them."""
    command: Any = typer.main.get_command(app)
    while words:
        if isinstance(command, LazyCommand):
            command = command.load()
        children = getattr(command, "commands", {})
        if not children:
            break
        assert words[0] in children, f"no such command: {words[0]}"
        command, words = children[words[0]], words[1:]
    return command.load() if isinstance(command, LazyCommand) else command, words


def test_every_exhibit_of_every_paper_has_its_row() -> None:
    assert set(ROWS) == set(EXHIBITS)


@pytest.mark.parametrize("exhibit", EXHIBITS)
def test_every_row_has_a_command_and_says_whose_data_it_is(exhibit: str) -> None:
    _, command, ours = (cell.strip() for cell in re.split(r" \| ", ROWS[exhibit], maxsplit=2))
    assert command.startswith("`grater ")
    assert ours


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_exists_with_its_options(line: str) -> None:
    command, rest = command_of(shlex.split(line)[1:])
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    assert [word for word in rest if word.startswith("--") and word not in known] == []


@pytest.mark.slow
def test_every_command_runs_on_what_the_demo_left(tmp_path: Path) -> None:
    program = str(Path(sys.executable).parent / "grater")
    lines = ["grater demo --out demo --figures svg", *(line for line in COMMANDS if " serve " not in line)]
    for line in lines:
        done = subprocess.run(
            [program, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
