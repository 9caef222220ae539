"""The documentation, its how-to pages and notebooks, held to the code: every command, name and example is real."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from release.reference import python_reference, reference

import grater
from grater.annotate.tasks import TASKS
from grater.cli import run
from grater.corpora.formats import FORMATS
from grater.corpora.tagsets import TAGSETS
from grater.detect.systems import SYSTEMS
from grater.measure.agreement.coefficients import COEFFICIENTS
from grater.measure.corrections.scores import METRICS
from grater.measure.crowd.aggregate import METHODS
from grater.options import Registry
from tests.cli.running import require_known
from tests.conftest import Demo
from tests.each import for_each

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
PASTED = [ROOT / "README.md", ROOT / "docs" / "tutorial.md", ROOT / "docs" / "corpora.md"]
HOWTOS = [
    ROOT / "docs" / "howto" / f"{name}.md"
    for name in (
        *("give-feedback", "score-output", "compare-two-systems", "rank-by-preference", "judge-a-corrector"),
        *("retest-a-system", "build-a-corpus", "plan-a-study", "big-corpora"),
    )
]
SET_UP = {
    "make demo": "mv .demo demo",
    "grater demo --out demo": "mv .demo demo",
    "make test": "true",
    "source .venv/bin/activate": "true",
}
FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.M | re.S)


def blocks(page: Path, language: str) -> list[str]:
    return [match["code"] for match in FENCE.finditer(page.read_text("utf-8")) if match["language"] == language]


def test_the_pages_of_commands_and_of_python_are_what_these_say() -> None:
    assert (ROOT / "docs" / "commands.md").read_text("utf-8") == reference()
    assert (ROOT / "docs" / "python.md").read_text("utf-8") == python_reference()


@for_each([name for definition in COEFFICIENTS for name in definition.titles])
def test_every_coefficient_has_a_row(name: str) -> None:
    page = (ROOT / "docs" / "agreement.md").read_text("utf-8")
    assert re.search(rf"^\| (\w+, )*{name}(, \w+)* \|", page, re.M)


REGISTRIES: dict[str, Registry[Any]] = {
    "corpora": FORMATS,
    "crowd": METHODS,
    "detectors": SYSTEMS,
    "scoring": METRICS,
    "tagsets": TAGSETS,
    "tasks": TASKS,
}
"""What is registered, by the page that describes it."""


@pytest.mark.parametrize("page", REGISTRIES)
def test_every_registered_name_is_on_its_page(page: str) -> None:
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    assert [name for name in REGISTRIES[page].names() if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "page", [*PASTED, *(pytest.param(page, marks=pytest.mark.slow) for page in HOWTOS)], ids=lambda page: page.name
)
def test_shell_examples_run_one_after_the_other(
    page: Path, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Pasted in order into an empty folder, or next to the demo, with what set-up lines come down to here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    demo.copy_to(Path(".demo" if page in PASTED else "demo"))
    for block in blocks(page, "sh"):
        lines = [SET_UP.get(line) or quicker(line) for line in block.splitlines()]
        statuses = (_in_this_process(part) if is_plain(part[0]) else _in_a_shell(part) for part in _parts(lines))
        status = next((status for status in statuses if status), 0)
        out, err = capfd.readouterr()
        assert status == (1 if "# exits with 1" in block else 0), f"{page.name}:\n{block}\n{out}\n{err}"


SHOWN = [ROOT / "README.md", *(ROOT / "docs" / name for name in ("output.md", "howto/score-output.md"))]
"""Pages with commands and what they print."""


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_the_output_on_a_page_is_what_its_command_prints(
    page: Path, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Line by line, in the folder of the demo; `...` stands for lines that are left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "demo").symlink_to(demo.folder)
    sessions = [block.removeprefix("$ ") for block in blocks(page, "text") if block.startswith("$ grater ")]
    assert sessions
    for session in sessions:
        command, *shown = session.splitlines()
        run(shlex.split(command)[1:])
        printed = iter([line.rstrip() for line in capfd.readouterr().out.splitlines()])
        assert [line for line in shown if line != "..." and line not in printed] == [], command


def quicker(line: str) -> str:
    """The same command, with every figure drawn once instead of in three formats."""
    is_dear = line.startswith("grater report") and "--figures" not in line and not line.endswith("\\")
    return f"{line} --figures svg" if is_dear else line


PLAIN = re.compile(r"grater [^|<>&;$`#\\*?~]*")
"""A command that needs no shell, which spares it a process and a second of importing."""


def is_plain(line: str) -> bool:
    return PLAIN.fullmatch(line) is not None


HERE_DOCUMENT = re.compile(r"<<'(\w+)'")


def _parts(lines: list[str]) -> list[list[str]]:
    """Lines that run together: plain commands, or what needs a shell, a here-document with its text among it."""
    kinds, end = [], ""
    for line in lines:
        kinds.append(not end and is_plain(line))
        begun = HERE_DOCUMENT.search(line)
        end = begun[1] if begun else "" if line == end else end
    rows = groupby(zip(lines, kinds, strict=True), key=lambda row: row[1])
    return [[line for line, _ in part] for _, part in rows]


def _in_this_process(lines: list[str]) -> int:
    statuses = (run(shlex.split(line)[1:]) for line in lines)
    return next((status for status in statuses if status), 0)


def _in_a_shell(lines: list[str]) -> int:
    commands = "\n".join(["set -eo pipefail", *lines])
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    env = {"PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    return subprocess.run(["bash", "-c", commands], env=env, check=False).returncode


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_examples_run(page: Path, demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder beside what `make demo` leaves behind."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").symlink_to(demo.folder)
    example = ModuleType("example")  # a home for dataclasses that are defined in the examples
    monkeypatch.setitem(sys.modules, "example", example)
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), example.__dict__)


@for_each(PAGES)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_links_to_the_glossary_lead_to_a_term() -> None:
    terms = re.findall(r"^\*\*.+\*\* \{ #([\w-]+) \}$", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.M)
    linked = {term for page in PAGES for term in re.findall(r"glossary\.md#([\w-]+)", page.read_text("utf-8"))}
    assert len(terms) == len(set(terms))
    assert linked
    assert linked <= set(terms)


def test_every_picture_stands_in_a_page() -> None:
    words = "".join(page.read_text("utf-8") for page in PAGES)
    pictures = [path for path in (ROOT / "docs" / "images").rglob("*.*") if path.suffix != ".txt"]
    assert [picture.name for picture in pictures if picture.name not in words] == []


def test_every_dependency_is_explained() -> None:
    explained = (ROOT / "docs" / "dependencies.md").read_text("utf-8")
    text = "".join((ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "training/pyproject.toml"))
    packages = re.findall(r'^\s*"([a-z0-9-]+)(?:\[\w+\])?>=', text, re.M) + re.findall(
        r'= \["([a-z0-9-]+)(?:\[\w+\])?>=', text
    )
    assert packages
    assert [name for name in packages if name not in explained and name != "hatchling"] == []


EXPLANATIONS = (
    *("agreement", "raters-needed", "crowd", "sampling", "evaluating", "scoring", "text-analysis"),
    "detectors",
)
"""Pages that explain commands."""
CHAT = ROOT / "docs" / "howto" / "judge-a-language-model.md"
"""Run by `tests/cli/test_chat_loop.py`, with a stand-in for the model."""


def lines(page: Path) -> list[str]:
    """Every line of a page's blocks that runs grater, continued lines joined."""
    code = "\n".join([*blocks(page, "sh"), *blocks(page, "text")]).replace("\\\n", " ")
    return [line for line in code.splitlines() if line.startswith("grater ")]


@pytest.mark.parametrize("page", [*HOWTOS, CHAT], ids=lambda page: page.stem)
def test_every_command_of_a_howto_exists_with_its_options(page: Path) -> None:
    assert lines(page)
    for line in lines(page):
        require_known(shlex.split(line)[1:])


def test_designs_of_the_plan_are_those_of_the_code() -> None:
    from grater.annotate.samples import DESIGNS

    page = (ROOT / "docs" / "howto" / "plan-a-study.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| .+? \| (\d+) \| .+ \| (.+) \|$", page, re.M)
    assert [(name, int(n)) for name, n, _ in rows] == [(each.name, each.judgments) for each in DESIGNS.values()]


HAVE_FUNCTIONS = {
    *(name.replace("_", "-") for name in grater.__all__ if name.islower()),
    *("agree", "corpus stats", "corpus lint", "corpus convert", "corpus judgments"),
}
"""Commands, by their words after `grater`."""
GUIDES = [*(ROOT / "docs" / "howto").glob("*.md"), *(ROOT / "docs" / f"{name}.md" for name in EXPLANATIONS)]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_page_with_a_command_that_has_a_function_shows_the_python_next_to_it(page: Path) -> None:
    commands = re.findall(r"^ *grater ((?:corpus )?[a-z-]+)", page.read_text("utf-8"), re.M)
    has_function = not HAVE_FUNCTIONS.isdisjoint(commands)
    assert not has_function or blocks(page, "python")


NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs" / "notebooks").glob("*.ipynb"))


def code_cells(path: Path) -> list[str]:
    notebook = json.loads(path.read_text("utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(code: str, scope: dict[str, object]) -> object:
    """What a notebook shows under a cell: the value of its last line, if that is an expression."""
    *body, last = ast.parse(code).body
    exec(compile(ast.Module(body, []), "cell", "exec"), scope)
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), scope)
    exec(compile(ast.Module([last], []), "cell", "exec"), scope)
    return None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_its_results(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scope: dict[str, object] = {}
    pages = []
    for code in code_cells(path):
        value = shown(code, scope)
        show = getattr(value, "_repr_html_", None)
        if show is not None:
            pages.append(show())
    assert len(pages) >= 3
    assert all("<table" in page for page in pages)


def test_notebooks_are_kept_without_outputs() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["agreement", "evaluation"]
    for notebook in (json.loads(path.read_text("utf-8")) for path in NOTEBOOKS):
        assert notebook["nbformat"] == 4
        assert [cell["outputs"] for cell in notebook["cells"] if cell.get("outputs")] == []
