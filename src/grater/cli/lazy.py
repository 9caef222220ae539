"""A command group that knows its commands by name and help line, and imports one only when it runs.

An option means the same in every command.  Options that had another name are in `RENAMED`: the old name still works,
and no help shows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMPLETION = ("install_completion", "show_completion")
"""Options that typer gives to every program; a command of ours is a program to typer, and has no use for them."""

RENAMED: Mapping[str, Mapping[str, str]] = {
    "aggregate": {"--truth": "--true-labels"},
    "agree": {"--order": "--label-order"},
    "check": {"--format": "--show"},
    "choice": {"--of": "--n-items"},
    "decide": {"--items": "--items-out"},
    "estimate": {"--labels": "--stratum-labels", "--no-fpc": "--population=wider"},
    "mine extraneous": {"--gold": "--gold-out"},
    "nouns entropy": {"--least": "--min-phrases", "--most": "--top"},
    "nouns select": {"--least": "--min-phrases"},
    "plan": {"--flagged": "--flag-rate", "--items": "--corpus-size", "--raters": "--raters-per-item"},
    "sample": {"--labels": "--stratum-labels"},
    "simulate": {
        "--items": "--n-items",
        "--judgments": "--judgments-per-item",
        "--raters": "--n-raters",
        "--truth": "--true-labels-out",
    },
    "study design": {"--judgments": "--judgments-per-item"},
    "study gold": {"--least": "--min-experts", "--source": "--expert-job"},
    "study invite": {"--name": "--note"},
    "study job": {"--judgments": "--judgments-per-item"},
    "study mine": {
        "--balanced": "--balanced-job",
        "--judgments": "--judgments-per-item",
        "--verdicts": "--verdicts-out",
    },
    "study token": {"--name": "--note"},
    "train articles": {"--most": "--text-limit"},
    "train prepositions": {"--weights": "--max-weights"},
    "train tagger": {"--test": "--test-treebank"},
    "verify": {"--fpc": "--population=these", "--no-fpc": "--population=wider"},
}
"""By command: the old name of an option, and the name it has now; what was a flag may have become a value."""


class LazyCommand(TyperCommand):
    """Stands in for a command until it is called; then the real one makes the context and runs in it."""

    def __init__(self, name: str, target: str, help_line: str) -> None:
        super().__init__(name, help=help_line)
        self.target = target

    def load(self) -> Any:
        module, attribute, *names = self.target.split(":")
        command: Any = typer.main.get_command(getattr(import_module(module), attribute))
        for name in names:
            command = command.commands[name]
        command.name = self.name
        command.params = [param for param in command.params if param.name not in COMPLETION]
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        path = f"{parent.command_path if parent else ''} {info_name}".strip().removeprefix("grater ")
        return self.load().make_context(info_name, renamed(args, path), parent=parent, **extra)


def renamed(args: Sequence[str], path: str) -> list[str]:
    """The arguments of a command, or of a group and its command, with the present names of their options."""
    names = {**RENAMED.get(path, {}), **RENAMED.get(f"{path} {args[0]}" if args else path, {})}
    split = (arg.partition("=") for arg in args)
    return [f"{names.get(option, option)}{equals}{value}" for option, equals, value in split]


class LazyGroup(TyperGroup):
    """A group whose commands are given as `{name: (module:attribute or module:attribute:command, help line)}`."""

    targets: Mapping[str, tuple[str, str]] = {}

    @classmethod
    def of(cls, targets: Mapping[str, tuple[str, str]]) -> type[LazyGroup]:
        return type("LazyGroup", (cls,), {"targets": targets})

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (target, help_line) in self.targets.items():
            self.add_command(LazyCommand(name, target, help_line))
