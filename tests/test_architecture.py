"""The architecture, held to: who may import whom, what stays pure, how long a file may grow, where rules live.

docs/architecture.md has the table.  A package may import only packages on lines above its own; packages on one line
do not import each other.  Pure packages open no files, print nothing, read no clock and use no global randomness.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import LONGEST
from tests.each import for_each

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
    {"study", "scale", "sample"},
    {"library"},
    {"server"},
    {"cli"},
    {"__main__"},
]

IMPURE = {
    "corpora/source.py": "opens the paths of corpora, looks at names in folders",
    "corpora/spilled.py": "keeps hashes that memory has no room for in temporary files",
    "corpora/__init__.py": "hands paths to the sources",
    "tables/files.py": "opens the paths of tables",
    "tables/large.py": "opens the paths of large tables",
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

HARMLESS = {"pathlib.PurePath", "io.StringIO", "io.BytesIO"}

FILES = sorted(SOURCE.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree_of(path)))


def _module(path: Path) -> str:
    parts = ("grater", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path) for path in FILES}


def package(path: Path) -> str:
    """The package or module directly under `grater` that a file belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with its line, wherever in the file it does so."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                yield node.lineno, name if name in MODULES or name in HARMLESS else node.module


def layer(name: str) -> int | None:
    return next((number for number, line in enumerate(LINES) if name in line), None)


def layer_breaches(path: Path) -> list[str]:
    own = package(path)
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
    if package(path) not in PURE or relative in IMPURE:
        return []
    imported = [
        f"{relative}:{line}: {package(path)} is pure and may not import {module}"
        for line, module in imports(path)
        if module.split(".")[0] in WORLDLY_MODULES and module not in HARMLESS
    ]
    return imported + [
        f"{relative}:{node.lineno}: {package(path)} is pure and may not call {node.func.id}"
        for node in nodes_of(path)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLDLY_CALLS
    ]


@for_each(FILES)
def test_every_package_is_on_the_plan(path: Path) -> None:
    assert package(path) == "__init__" or layer(package(path)) is not None


def test_no_package_imports_one_below_or_beside_it() -> None:
    assert [breach for path in FILES for breach in layer_breaches(path)] == []


def test_pure_packages_touch_nothing_of_the_world() -> None:
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
        if package(path) != "__init__"  # names its functions for type checkers only
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


# What a stranger can rely on


LONGEST_FILE = 600
LONGEST_FUNCTION = 40


def test_no_file_is_longer_than_a_chapter() -> None:
    lengths = {path.relative_to(SOURCE).as_posix(): len(path.read_text().splitlines()) for path in FILES}
    assert {name: n for name, n in lengths.items() if n > LONGEST_FILE} == {}


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in nodes_of(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body without the docstring."""
    has_docstring = ast.get_docstring(function) is not None and len(function.body) > 1
    first, last = function.body[has_docstring], function.body[-1]
    return (last.end_lineno or last.lineno) - first.lineno + 1


def test_no_function_is_longer_than_a_page() -> None:
    long = [
        f"{path.relative_to(SOURCE)}:{function.lineno}: {function.name}"
        for path in FILES
        for function in _functions(path)
        if _length(function) > LONGEST_FUNCTION
    ]
    assert long == []


def test_no_variable_is_called_found() -> None:
    """A variable is named for what it holds; a field that is only declared is none."""
    fields = {
        id(node.target)
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.AnnAssign) and node.value is None
    }
    assert [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        for node in nodes_of(path)
        if (isinstance(node, ast.Name) and node.id == "found" and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == "found")
        if id(node) not in fields
    ] == []


def test_a_package_has_one_public_class_of_a_name() -> None:
    by_name: dict[tuple[str, str], list[str]] = {}
    for path in FILES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                by_name.setdefault((package(path), node.name), []).append(path.relative_to(SOURCE).as_posix())
    assert {key: paths for key, paths in by_name.items() if len(paths) > 1} == {}


OPTION = re.compile(r"(?<![\w(-])--[a-z][a-z-]+(?![\w-]*:)")
"""`--flag`, but not a CSS variable (`--ink: #1c1e21`, `var(--ink)`)."""


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """String constants that a person may read: all but docstrings, which are expressions by themselves."""
    loose = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in loose:
            yield node.lineno, node.value


NO_OPTIONS = {
    "report/drawing.py": "names of CSS variables",
    "store/backup.py": "options of pg_dump and pg_restore",
}
"""Files whose dashes are no options of ours."""


def test_nothing_below_the_commands_names_an_option() -> None:
    """A library user, a page or an API client has no `--flag` to use."""
    assert [
        f"{path.relative_to(SOURCE)}:{line}: {text[:60]!r}"
        for path in FILES
        if package(path) not in ("cli", "__main__") and path.relative_to(SOURCE).as_posix() not in NO_OPTIONS
        for line, text in _texts(path)
        if OPTION.search(text)
    ] == []


# The three doors: command, page, API


def test_pages_and_api_do_not_import_each_other() -> None:
    """What both need is a rule (in `study`) or a shape beside them."""
    kinds = {"pages", "api"}
    breaches = []
    for path in (SOURCE / "server").rglob("*.py"):
        own = kinds & set(_module(path).split("."))
        for line, module in imports(path):
            other = kinds & set(module.split("."))
            if own and other and module.startswith("grater.annotate.web") and own != other:
                breaches.append(f"{path.relative_to(SOURCE)}:{line}: {module}")
    assert breaches == []


WRITING = {"insert", "insert_by", "update", "delete"}


def _calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id
            elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
                yield f"{node.func.value.id}.{node.func.attr}"


def _writes(function: ast.FunctionDef) -> bool:
    """Whether a function of the store builds a statement that changes rows: `tx.insert(...)`, `table.update()`."""
    return any(
        isinstance(node, ast.Call)
        and (
            (isinstance(node.func, ast.Name) and node.func.id in WRITING)
            or (isinstance(node.func, ast.Attribute) and node.func.attr in ("insert", "insert_by"))
            or (isinstance(node.func, ast.Attribute) and node.func.attr in WRITING and not node.args)
        )
        for node in ast.walk(function)
    )


def _writers() -> set[str]:
    """Functions of the store, as `module.function`, that change the database themselves or through another."""
    bodies: dict[str, set[str]] = {}
    writers = set()
    for path in (SOURCE / "store").rglob("*.py"):
        tree = tree_of(path)
        local = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        names = {
            alias.asname or alias.name: f"{node.module.rsplit('.', 1)[-1]}.{alias.name}"
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for alias in node.names
        }
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                calls = set(_calls(node))
                qualified = {f"{path.stem}.{call}" if call in local else names.get(call, call) for call in calls}
                bodies[f"{path.stem}.{node.name}"] = qualified
                writers |= {f"{path.stem}.{node.name}"} if _writes(node) else set()
    while more := {name for name, calls in bodies.items() if calls & writers} - writers:
        writers |= more
    return writers


def test_commands_pages_and_api_change_a_study_only_through_the_service_layer() -> None:
    writers = _writers()
    assert len(writers) > 50, "the functions that write were not recognised"
    breaches = []
    for path in FILES:
        if package(path) not in ("server", "cli"):
            continue
        tree = tree_of(path)
        direct = {
            alias.asname or alias.name: f"{node.module.rsplit('.', 1)[-1]}.{alias.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("grater.annotate.store")
            for alias in node.names
        }
        modules = {name for name, target in direct.items() if target.startswith("store.")}
        for call in set(_calls(tree)):
            first = call.split(".")[0]
            target = call if first in modules and "." in call else direct.get(call, "")
            if target in writers:
                breaches.append(f"{path.relative_to(SOURCE)}: {call}")
    assert sorted(breaches) == []


# Tests mirror the source


TESTS = Path(__file__).parent
NOT_MIRRORED = {"browser": "drives the whole application in a real browser"}
"""Folders of tests that belong to no package."""


def test_tests_mirror_the_source() -> None:
    """`tests/measure/agreement/test_kappa.py`, or a longer name that begins so, speaks of `agreement/kappa.py`."""
    strays = []
    for path in sorted(TESTS.rglob("test_*.py")):
        relative = path.relative_to(TESTS)
        folder = SOURCE.joinpath(*relative.parent.parts)
        if len(relative.parts) == 1 or relative.parts[0] in NOT_MIRRORED:
            continue
        names = (
            {entry.stem for entry in folder.glob("*") if entry.suffix in ("", ".py")} if folder.is_dir() else set()
        )
        stem = path.stem.removeprefix("test_")
        if (
            not any(stem == name or stem.startswith(f"{name}_") for name in names)
            and relative.as_posix() not in WHOLE
        ):
            strays.append(relative.as_posix())
    assert strays == []


WHOLE = {
    "cli/test_habits.py": "what all commands have in common",
    "cli/test_main.py": "help, mistakes and exit status of all commands",
    "cli/test_outputs.py": "files that commands read and write",
    "cli/test_redundancy.py": "one option of several commands",
    "detect/external/test_external.py": "systems from outside, whatever they are",
    "evaluate/test_halves.py": "a published table, on real data",
    "models/test_models.py": "the package is one module",
    "store/test_crowd.py": "fifty raters at once",
    "store/test_histories.py": "random histories of a study",
    "store/test_killed.py": "processes that are killed",
    "store/test_races.py": "two people at once",
    "store/test_corpus_races.py": "essays that come and go while systems run and jobs are made",
    "store/test_staff_races.py": "two managers at once",
    "study/test_lives.py": "the whole life of a study, whatever happens in it",
    "tasks/test_every_task.py": "what every task owes",
    "tasks/test_hidden_words.py": "what no task shows",
}
"""Tests of a package as a whole, and what they are about."""


def test_exceptions_to_the_mirror_still_exist() -> None:
    assert [name for name in WHOLE if not (TESTS / name).exists()] == []


def test_the_files_of_tests_that_are_to_come_first_exist() -> None:
    """One that was renamed would be handed out late, and the other workers would wait for it at the end."""
    assert [name for name in LONGEST if not (Path(__file__).parent / name).is_file()] == []
