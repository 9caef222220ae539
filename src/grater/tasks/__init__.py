"""What raters are asked: one file per task, with form, labels, verdict, gold rule, guidelines (docs/tasks.md)."""

from __future__ import annotations

from grater.registry import Registry
from grater.tasks.task import Answer, Choice, Field, Piece, Shown, Task, Unit, UnitItem

__all__ = ["TASKS", "Answer", "Choice", "Field", "Piece", "Shown", "Task", "Unit", "UnitItem"]

NAMES = ("usage", "cloze", "choice", "error", "construction", "marking", "verify")

TASKS: Registry[Task] = Registry("task", "grater.tasks", {name: f"grater.tasks.{name}:TASK" for name in NAMES})
