"""The how-to pages: every command in them exists, and their shell blocks run in order on what the demo left."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import grater
from tests.cli.running import require_known
from tests.conftest import Demo
from tests.test_docs import blocks

ROOT = Path(__file__).parents[1]
NAMES = (
    "give-feedback",
    "score-output",
    "compare-two-systems",
    "rank-by-preference",
    "judge-a-corrector",
    "retest-a-system",
    "build-a-corpus",
    "plan-a-study",
    "big-corpora",
)
EXPLANATIONS = (
    *("agreement", "raters-needed", "crowd", "sampling", "evaluating", "scoring", "text-analysis"),
    "detectors",
)
"""Pages that explain commands."""
PAGES = [ROOT / "docs" / "howto" / f"{name}.md" for name in NAMES]
CHAT = ROOT / "docs" / "howto" / "judge-a-language-model.md"
"""Run by `tests/cli/test_chat_howto.py`, with a stand-in for the model."""

BIN = Path(sys.executable).parent


def lines(page: Path) -> list[str]:
    """Every line of a page's blocks that runs grater, continued lines joined."""
    code = "\n".join([*blocks(page, "sh"), *blocks(page, "text")]).replace("\\\n", " ")
    return [line for line in code.splitlines() if line.startswith("grater ")]


@pytest.mark.parametrize("page", [*PAGES, CHAT], ids=lambda page: page.stem)
def test_every_command_exists_with_its_options(page: Path) -> None:
    assert lines(page)
    for line in lines(page):
        require_known(shlex.split(line)[1:])


def test_designs_of_the_plan_are_those_of_the_code() -> None:
    from grater.annotate.samples import DESIGNS

    page = (ROOT / "docs" / "howto" / "plan-a-study.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| .+? \| (\d+) \| .+ \| (.+) \|$", page, re.M)
    assert [(name, int(n)) for name, n, _ in rows] == [(each.name, each.judgments) for each in DESIGNS.values()]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_shell_blocks_run_one_after_the_other(page: Path, demo: Demo, tmp_path: Path) -> None:
    demo.copy_to(tmp_path / "demo")
    for block in blocks(page, "sh"):
        done = subprocess.run(
            ["bash", "-c", f"set -eo pipefail\n{block}"],
            cwd=tmp_path,
            env={"PATH": f"{BIN}:/usr/bin:/bin", "COLUMNS": "100", "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{page.name}:\n{block}\n{done.stdout}\n{done.stderr}"


COUNTERPARTS = {
    **{name.replace("_", "-"): name for name in grater.__all__ if name.islower()},
    "agree": "agreement",
    "corpus stats": "corpus_statistics",
    "corpus lint": "check_corpus",
    "corpus convert": "convert",
    "corpus judgments": "corpus_judgments",
}
"""Commands that have a function, by their words after `grater`."""
GUIDES = [*(ROOT / "docs" / "howto").glob("*.md"), *(ROOT / "docs" / f"{name}.md" for name in EXPLANATIONS)]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_page_with_a_command_that_has_a_function_shows_the_python_next_to_it(page: Path) -> None:
    commands = re.findall(r"^ *grater ((?:corpus )?[a-z-]+)", page.read_text("utf-8"), re.M)
    has_function = any(command in COUNTERPARTS for command in commands)
    assert not has_function or blocks(page, "python")
