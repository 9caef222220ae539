"""The tasks of raters: one file per task, with form, labels, verdict, gold rule, guidelines (docs/tasks.md)."""

from __future__ import annotations

from grater.annotate.tasks.task import Answer, Choice, Field, Piece, Shown, Task, Unit, UnitItem
from grater.options import Registry

__all__ = ["TASKS", "Answer", "Choice", "Field", "Piece", "Shown", "Task", "Unit", "UnitItem"]

NAMES = ("usage", "cloze", "choice", "error", "construction", "marking", "verify", "rank", "fate", "remaining")

TASKS: Registry[Task] = Registry(
    "task", "grater.tasks", {name: f"grater.annotate.tasks.{name}:TASK" for name in NAMES}
)
