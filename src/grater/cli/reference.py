"""The page of commands, made from the commands themselves: `python -m grater.cli.reference > docs/commands.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from grater.cli import app
from grater.cli.lazy import LazyCommand

HEADER = """# Commands

Made from the code by `python -m grater.cli.reference`; a test holds this page to it.

Every command that prints a result takes `--json`: machine output on standard output and nothing else. Messages and
progress bars go to standard error. Exit status: 0 done, 1 done and problems found, 2 wrong use or unreadable input.
"""


def reference() -> str:
    """The whole page."""
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
    sys.stdout.write(reference())
