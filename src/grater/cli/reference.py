"""The reference pages, made from the code itself; a test holds the pages to it.

`python -m grater.cli.reference > docs/commands.md` writes the page of commands,
`python -m grater.cli.reference python > docs/python.md` the page of what `import grater` offers.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import typer

import grater
from grater import library
from grater.cli import LazyCommand, app

HEADER = """# Commands

Made from the code by `python -m grater.cli.reference`; a test holds this page to it.

Every command that prints a result takes `--json`: machine output on standard output and nothing else. Messages and
progress bars go to standard error. Exit status: 0 done, 1 done and problems found, 2 wrong use or unreadable input.
"""

PYTHON_HEADER = """# Python

Made from the code by `python -m grater.cli.reference python`; a test holds this page to it.

`import grater` costs nothing; a name is loaded when it is first used. Tables go in as they are: a frame of pandas,
polars or Arrow, a path, or a table that was read before. Essays go in as a path or as a list. Options are
keyword-only and have the defaults of the [commands](commands.md).

```python
import grater
import polars as pl

essays = grater.read_corpus("demo/essays.jsonl")
judgments = pl.DataFrame(
    {
        "item": ["a", "a", "b", "b", "c", "c"],
        "rater": ["Ann", "Bob"] * 3,
        "label": ["error", "error", "ok", "ok", "error", "ok"],
    }
)
result = grater.agreement(judgments)
result.alpha.value, result.alpha.low, result.alpha.high  # a value with its interval
result.to_frame()  # a polars frame, one number per row
result.to_dict()  # the JSON of the command
result  # in a notebook, the tables of the command
```

A result has `to_dict()`, `to_frame()` and `sheets()`; `grater.sheet` writes a sheet as text, Markdown, LaTeX, CSV or
HTML. A table (`read_judgments`, `read_decisions`, `sample`, `decide`) has its rows in `frame`. Every error is a
`grater.GraterError`. Everything else is imported from its own package, as in
`from grater.statistics.bootstrap import Chance`. `grater demo --out demo` makes the folder of the examples.
Two notebooks show the whole way:
[agreement and aggregation](notebooks/agreement.ipynb), [sampling and evaluation](notebooks/evaluation.ipynb).
"""


def python_reference() -> str:
    """The page of what `import grater` offers: functions in the order of the library, then values."""
    modules = [import_module(f"grater.library.{chapter}") for chapter in library.CHAPTERS]
    functions = [name for module in modules for name in vars(module) if name in library.__all__]
    values = [name for name in grater.__all__ if name not in functions]
    parts = [*(_function(name) for name in functions), *(_value_type(name) for name in values)]
    return "\n".join([PYTHON_HEADER, *parts])


def _function(name: str) -> str:
    function = getattr(library, name)
    signature = inspect.signature(function)
    lines = "".join(f"    {line},\n" for line in _parameters(signature))
    call = f"grater.{name}(\n{lines}) -> {signature.return_annotation}"
    return f"## {name}\n\n{inspect.getdoc(function)}\n\n```text\n{call}\n```\n"


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """One line per parameter, and a star where those that must be named begin."""
    can_be_unnamed = True
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and can_be_unnamed:
            yield "*"
        can_be_unnamed = parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        yield f"{star}{parameter.name}: {parameter.annotation}{default}"


def _value_type(name: str) -> str:
    value = getattr(grater, name)
    rows = "".join(f"    {field.name}: {field.type}\n" for field in fields(value)) if is_dataclass(value) else ""
    block = f"\n```text\ngrater.{name}\n{rows}```\n" if rows else ""
    return f"## {name}\n\n{inspect.getdoc(value)}\n{block}"


def reference() -> str:
    """The page of commands."""
    commands = _commands(typer.main.get_command(app), ("grater",))
    return "\n".join([HEADER, *("\n".join(_section(path, command)) for path, command in commands)])


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that can be run, with the words that run it."""
    if isinstance(command, LazyCommand):
        command = command.load()
    children = getattr(command, "commands", {})
    if not children:
        yield path, command
    for name, child in children.items():
        yield from _commands(child, (*path, name))


def _section(path: tuple[str, ...], command: Any) -> Iterator[str]:
    arguments = [param for param in command.params if param.param_type_name == "argument"]
    options = [param for param in command.params if param.param_type_name == "option"]
    needed = [
        *map(_usage, arguments),
        *(f"{option.opts[0]}{_value(option)}" for option in options if option.required),
    ]
    usage = " ".join([*path, *needed, "[OPTIONS]"])
    yield f"## {' '.join(path)}\n\n{command.help}\n\n    {usage}\n"
    yield "| option | meaning |\n|---|---|"
    for param in [*arguments, *options]:
        yield f"| {_names(param)} | {param.help or ''} |"
    yield ""


def _usage(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return f"{name.removesuffix('...')}..." if argument.nargs == -1 else name


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    value = _value(param)
    names = ", ".join(f"`{name}{value}`" for name in [*param.opts, *param.secondary_opts]).replace("|", "\\|")
    return names if param.default in (None, "", (), []) or not value else f"{names} (default {param.default})"


def _value(param: Any) -> str:
    return "" if param.is_flag else f" {param.metavar or param.name.upper()}"


if __name__ == "__main__":
    sys.stdout.write(python_reference() if sys.argv[1:] == ["python"] else reference())
