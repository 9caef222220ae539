"""Detectors from Python: the installed systems, feedback, decisions and selection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grater.errors import UsageError
from grater.library.sources import (
    EssaySource,
    checked,
    essays_of,
)

if TYPE_CHECKING:
    from grater.detect.detector import Detector
    from grater.detect.feedback import Feedback
    from grater.detect.prepositions.selection import SelectionTest
    from grater.detect.systems import SystemCards
    from grater.tables import Table


@checked
def systems(*names: str | Path) -> SystemCards:
    """The detectors that are installed, or those named: what they look for and what they were made of."""
    from grater.detect.systems import system_cards

    return system_cards([_named(name) for name in names])


@checked
def load_system(name: str | Path) -> Detector:
    """A detector by its name, a model file, or a system from outside."""
    from grater.detect.systems import load_system

    return load_system(_named(name))


def _named(name: str | Path) -> str:
    if not isinstance(name, str | Path):
        raise UsageError(f"expected the name of a system or the path of its model, found {type(name).__name__}")
    return str(name)


@checked
def check(text: str, *, systems: Sequence[str] = ()) -> Feedback:
    """Feedback on an essay: what looks wrong, why, and what would be better; by the systems of `grater check`."""
    from grater.detect.feedback import check

    if not isinstance(text, str):
        raise UsageError(f"expected the text of an essay, found {type(text).__name__}")
    return check(text, systems)


@checked
def decide(corpus: EssaySource, *, systems: Sequence[str]) -> Table:
    """A decision of every system on every place that it looks at, with where the place is."""
    from grater.detect.decisions import DecisionRows
    from grater.detect.systems import load_systems
    from grater.tables import as_decisions

    essays = list(essays_of(corpus))
    rows = DecisionRows(with_places=True)
    for detector in load_systems(systems):
        rows.add(essays, detector)
    return as_decisions(rows.decisions(), name="decisions")


@checked
def select(corpus: EssaySource, *, system: str, seed: int = 0) -> SelectionTest:
    """How often a system finds the preposition that stood in well-formed text."""
    from grater.detect.prepositions.selection import selection_test
    from grater.detect.systems import load_system

    return selection_test(load_system(system), essays_of(corpus), seed=seed)
