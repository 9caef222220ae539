"""The progress of long work, and notes: functions report it, the program around them shows it.

The command line draws bars on a terminal and prints notes; in a script nothing is drawn, and notes go to the logger.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

NOTES = logging.getLogger("grater.notes")
"""Notes that no result has room for; commands print them."""

drawn_by: dict[str, Callable[..., AbstractContextManager[Any]]] = {}
"""The drawing of `reading` and `counting`, supplied by the program that has a terminal."""


def _ignore(*_: int) -> None:
    """Nobody watches."""


def reading(title: str, *paths: Path, n_passes: int = 1) -> AbstractContextManager[Callable[[int], None]]:
    """Work that goes through the bytes of files; yields the callback for bytes read."""
    draw = drawn_by.get("reading")
    return draw(title, *paths, n_passes=n_passes) if draw else nullcontext(_ignore)


def counting(title: str) -> AbstractContextManager[Callable[[int, int], None]]:
    """Work in parts; yields the callback for the number of parts done, and of all."""
    draw = drawn_by.get("counting")
    return draw(title) if draw else nullcontext(_ignore)
