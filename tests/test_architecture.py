"""The wings: who may import whom, and what stays pure (docs/architecture.md).

A wing imports only those that `WINGS` names for it, and what these may import.  Pure wings open no files, print
nothing, read no clock and use no global randomness.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import LONGEST

SOURCE = Path(__file__).parents[1] / "src" / "grater"
FILES = sorted(SOURCE.rglob("*.py"))

ROOT = {
    "chat", "errors", "files", "model", "models", "options", "progress", "result", "sheet",
    "tables", "uncertainty",
}  # fmt: skip
WINGS: dict[str, set[str]] = {
    **dict.fromkeys(ROOT, ROOT),
    "corpora": ROOT,
    "detect": {"corpora"},
    "measure": {"corpora"},
    "scale": {"detect"},
    "reporting": {"measure"},
    "annotate": {"scale", "reporting"},
    "demo": {"annotate"},
    "api": {"demo"},
    "extend": {"demo"},
    "cli": {"api"},
    "__main__": {"cli"},
}
"""The wings that each may import directly; it may import theirs, too."""

PURE = {"errors", "measure", "model", "result", "sheet", "tables", "uncertainty", "corpora"}
IMPURE = {
    "corpora/converting.py": "opens the paths of what is converted",
    "corpora/source.py": "opens the paths of corpora, looks at names in folders",
    "corpora/__init__.py": "hands paths to the sources",
    "tables/files.py": "opens the paths of tables",
    "tables/write.py": "writes to paths",
}
"""Files of pure wings that touch the world, and what for."""

WORLDLY_MODULES = {"os", "io", "pathlib", "subprocess", "socket", "tempfile", "shutil", "time", "random", "requests"}
WORLDLY_CALLS = {"open", "print", "input"}
HARMLESS = {"pathlib.PurePath", "io.StringIO", "io.BytesIO"}


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def module_of(path: Path) -> str:
    parts = ("grater", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path) for path in FILES}


def wing_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with its line, wherever in the file it does so."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield node.lineno, name if name in MODULES or name in HARMLESS else node.module


@cache
def allowed(wing: str) -> frozenset[str]:
    """The wings that one may import, those of the wings below included."""
    direct = WINGS[wing]
    return frozenset(direct | {wing}).union(*(allowed(each) for each in direct if wing not in WINGS[each]))


def test_every_module_belongs_to_a_wing_and_imports_go_down_only() -> None:
    assert {wing_of(path) for path in FILES} - {"__init__"} <= WINGS.keys()
    assert [
        f"{path.relative_to(SOURCE)}:{line}: {wing_of(path)} may not import {module}"
        for path in FILES
        if wing_of(path) != "__init__"
        for line, module in imports(path)
        if module.startswith("grater.")
        and module.split(".")[1] in WINGS
        and module.split(".")[1] not in allowed(wing_of(path))
    ] == []


def test_pure_wings_touch_nothing_of_the_world_and_the_exceptions_still_exist() -> None:
    pure = [path for path in FILES if wing_of(path) in PURE and path.relative_to(SOURCE).as_posix() not in IMPURE]
    imported = [
        f"{path.relative_to(SOURCE)}:{line}: imports {module}"
        for path in pure
        for line, module in imports(path)
        if module.split(".")[0] in WORLDLY_MODULES and module not in HARMLESS
    ]
    called = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: calls {node.func.id}"
        for path in pure
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLDLY_CALLS
    ]
    assert imported + called == []
    assert [name for name in IMPURE if not (SOURCE / name).exists()] == []


def test_modules_do_not_import_in_a_circle() -> None:
    graph = {
        module_of(path): {name for _, name in imports(path) if name in MODULES} - {module_of(path)}
        for path in FILES
        if wing_of(path) != "__init__"  # names its functions for type checkers only
    }
    while leaves := [name for name, targets in graph.items() if not targets & graph.keys()]:
        for name in leaves:
            del graph[name]
    assert sorted(graph) == []


def test_the_files_of_tests_that_are_to_come_first_exist() -> None:
    """One that was renamed would be handed out late, and the other workers would wait for it at the end."""
    assert [name for name in LONGEST if not (Path(__file__).parent / name).is_file()] == []
