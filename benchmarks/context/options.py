"""What every part is given: the detector to measure, and what the command line says beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grater.detect.context.detector import ContextDetector


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """A detector, the name or file that `--system` finds it by, and the files beside it."""

    system: str
    path: Path
    float_graph: Path | None
    well_formed: Path | None
    native: Path | None
    only: Sequence[str]
    detector: ContextDetector
