"""A command group that knows its commands by name and help line, and imports one only when it runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

COMPLETION = ("install_completion", "show_completion")
"""Options that typer gives to every program; a command of ours is a program to typer, and has no use for them."""


class LazyCommand(TyperCommand):
    """Stands in for a command until it is called; then the real one makes the context and runs in it."""

    def __init__(self, name: str, place: str, help_line: str) -> None:
        super().__init__(name, help=help_line)
        self.place = place

    def load(self) -> Any:
        module, _, attribute = self.place.partition(":")
        command = typer.main.get_command(getattr(import_module(module), attribute))
        command.name = self.name
        command.params = [param for param in command.params if param.name not in COMPLETION]
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent=parent, **extra)


class LazyGroup(TyperGroup):
    """A group whose commands are given as `{name: (module:attribute, help line)}`."""

    places: Mapping[str, tuple[str, str]] = {}

    @classmethod
    def of(cls, places: Mapping[str, tuple[str, str]]) -> type[LazyGroup]:
        return type("LazyGroup", (cls,), {"places": places})

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (place, help_line) in self.places.items():
            self.add_command(LazyCommand(name, place, help_line))
