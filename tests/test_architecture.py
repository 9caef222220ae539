"""The plan of the house, held to: who may import whom, what stays pure, how long a file may grow.

docs/architecture.md has the table.  A package may import only packages on lines above its own; packages on one line
do not import each other.  Pure packages open no files, print nothing, read no clock and use no global randomness.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "grater"

LINES = [
    {"errors"},
    {"model", "registry", "files"},
    {"rng", "signature", "statistics", "models"},
    {"sheet"},
    {"result"},
    {"tables", "text"},
    {"corpora"},
    {"agreement"},
    {"sampling", "crowd", "detect"},
    {"tasks"},
    {"evaluate"},
    {"report", "store"},
    {"study", "sample"},
    {"library"},
    {"server"},
    {"cli"},
    {"__main__"},
]

IMPURE = {
    "corpora/source.py": "opens the paths of corpora",
    "corpora/__init__.py": "hands paths to the sources",
    "corpora/guess.py": "looks at names in folders",
    "tables/files.py": "opens the paths of tables",
}
"""Files of pure packages that touch the world, and what for."""

PURE = {
    "errors",
    "model",
    "rng",
    "signature",
    "statistics",
    "sheet",
    "result",
    "tables",
    "text",
    "corpora",
    "agreement",
    "sampling",
    "crowd",
    "tasks",
    "evaluate",
}
WORLDLY_MODULES = {"os", "io", "pathlib", "subprocess", "socket", "tempfile", "shutil", "time", "random", "requests"}
WORLDLY_CALLS = {"open", "print", "input"}

HARMLESS = {"pathlib.PurePath"}

FILES = sorted(SOURCE.rglob("*.py"))


def _module(path: Path) -> str:
    parts = ("grater", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path) for path in FILES}


def room(path: Path) -> str:
    """The package or module directly under `grater` that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with its line, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield node.lineno, name if name in MODULES or name in HARMLESS else node.module


def layer(name: str) -> int | None:
    return next((number for number, line in enumerate(LINES) if name in line), None)


def layer_breaches(path: Path) -> list[str]:
    own = room(path)
    if own == "__init__":
        return []
    breaches = []
    for line, module in imports(path):
        parts = module.split(".")
        if parts[0] != "grater" or len(parts) < 2 or parts[1] == own or layer(parts[1]) is None:
            continue
        if layer(parts[1]) >= layer(own):  # type: ignore[operator]
            breaches.append(f"{path.relative_to(SOURCE)}:{line}: {own} may not import {parts[1]}")
    return breaches


def impurities(path: Path) -> list[str]:
    relative = path.relative_to(SOURCE).as_posix()
    if room(path) not in PURE or relative in IMPURE:
        return []
    found = [
        f"{relative}:{line}: {room(path)} is pure and may not import {module}"
        for line, module in imports(path)
        if module.split(".")[0] in WORLDLY_MODULES and module not in HARMLESS
    ]
    return found + [
        f"{relative}:{node.lineno}: {room(path)} is pure and may not call {node.func.id}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLDLY_CALLS
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_every_room_is_on_the_plan(path: Path) -> None:
    assert room(path) == "__init__" or layer(room(path)) is not None


def test_no_room_imports_one_below_or_beside_it() -> None:
    assert [breach for path in FILES for breach in layer_breaches(path)] == []


def test_pure_rooms_touch_nothing_of_the_world() -> None:
    assert [breach for path in FILES for breach in impurities(path)] == []


def test_exceptions_to_purity_still_exist() -> None:
    assert [name for name in IMPURE if not (SOURCE / name).exists()] == []


def test_no_file_is_called_after_nothing_in_particular() -> None:
    vague = {"utils", "helpers", "common", "manager", "misc"}
    assert [path.name for path in FILES if path.stem in vague] == []


def test_modules_do_not_import_in_a_circle() -> None:
    graph = {
        _module(path): {name for _, name in imports(path) if name.startswith("grater")}
        for path in FILES
        if room(path) != "__init__"  # names its functions for type checkers only
    }
    known = {name: targets & graph.keys() - {name} for name, targets in graph.items()}
    assert _a_circle(known) is None


def _a_circle(graph: dict[str, set[str]]) -> list[str] | None:
    done: set[str] = set()

    def walk(name: str, trail: list[str]) -> list[str] | None:
        if name in trail:
            return [*trail[trail.index(name) :], name]
        if name in done:
            return None
        for target in sorted(graph[name]):
            if circle := walk(target, [*trail, name]):
                return circle
        done.add(name)
        return None

    return next((circle for name in sorted(graph) if (circle := walk(name, []))), None)
