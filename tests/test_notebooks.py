"""The example notebooks run from top to bottom, and every result at the end of a cell can show itself."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

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
