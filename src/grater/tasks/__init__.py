"""What raters are asked: one file per task, with form, labels, verdict, gold rule, guidelines (docs/tasks.md)."""

from __future__ import annotations

from grater.registry import Registry
from grater.tasks.task import Answer, Choice, Field, Piece, Shown, Task, Unit, UnitItem

__all__ = ["SOURCES", "TASKS", "Answer", "Choice", "Field", "Piece", "Shown", "Task", "Unit", "UnitItem"]

NAMES = ("usage", "cloze", "choice", "error", "construction", "marking", "verify")

TASKS: Registry[Task] = Registry("task", "grater.tasks", {name: f"grater.tasks.{name}:TASK" for name in NAMES})

SOURCES = {
    "usage": "Tetreault and Chodorow 2008, section 5.1; Tetreault, Chodorow and Madnani 2013, section 5.5",
    "cloze": "Tetreault and Chodorow 2008, section 4.1",
    "choice": "Tetreault and Chodorow 2008, section 4.2; Tetreault, Chodorow and Madnani 2013, section 4.1.2",
    "error": "Madnani et al. 2011, section 2.1; Tetreault, Chodorow and Madnani 2013, sections 5.3 to 5.5",
    "construction": "Lee, Tetreault and Chodorow 2009, section 3.1",
    "marking": "Dahlmeier, Ng and Wu 2013, sections 2 to 4",
    "verify": "Tetreault and Chodorow 2008, section 6.4",
}
"""The papers behind the guidelines of a task, for managers: raters need none."""
