"""Benchmarks run by hand: what they take from grater must be there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
FILES = [path for path in sorted(BENCHMARKS.rglob("*.py")) if "work" not in path.relative_to(BENCHMARKS).parts]


def taken_from_grater(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Module of grater, name there, and name here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "grater":
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name


def resolved(module: str, name: str) -> object:
    """What a module has under a name, which may be a module of its own."""
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        return import_module(f"{module}.{name}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(BENCHMARKS).as_posix())
def test_a_benchmark_takes_what_grater_has(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    values = {here: resolved(module, name) for module, name, here in taken_from_grater(tree)}
    modules = {here: value for here, value in values.items() if isinstance(value, ModuleType)}
    used = [
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
    ]
    assert [f"{module}.{name}" for module, name in used if not hasattr(modules[module], name)] == []
