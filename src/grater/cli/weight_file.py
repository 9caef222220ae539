"""Custom weights for pairs of labels: a table with the columns `label, other, weight`.

A pair holds in both directions unless the other direction has a row of its own; a pair without a row weighs 0, and a
label weighs 1 with itself.
"""

from __future__ import annotations

from math import isfinite
from pathlib import Path

import numpy as np

from grater.agreement.weights import WEIGHTS, Matrix
from grater.errors import BadInput, Problem, Problems, UsageError
from grater.tables.files import load

NAMES = ("label", "other", "weight")


def read_weights(setting: str, labels: tuple[str, ...]) -> Matrix:
    """The matrix in a file that `--weights` names."""
    if not Path(setting).exists():
        raise UsageError(f"expected --weights {', '.join(WEIGHTS)} or a file, found {setting!r}")
    raw = load(Path(setting), name=setting)
    if missing := [name for name in NAMES if name not in raw.columns]:
        columns = ", ".join(raw.columns)
        raise BadInput(
            Problem(setting, f"expected columns label, other, weight, found {columns}; add {missing[0]!r}")
        )
    rows = list(zip(*(raw.columns[name].to_list() for name in NAMES), strict=True))
    return _matrix(rows, labels, setting)


def _matrix(rows: list[tuple[object, object, object]], labels: tuple[str, ...], name: str) -> Matrix:
    problems = Problems(name)
    given: dict[tuple[str, str], float] = {}
    for line, (label, other, weight) in enumerate(rows, start=2):
        pair, number = (str(label), str(other)), _number(weight)
        if unknown := next((name for name in pair if name not in labels), None):
            problems.add(f"expected a label of the judgments, found {unknown!r}", line=line)
        elif number is None:
            problems.add(f"expected a finite weight of at most 1, found {weight!r}", line=line)
        else:
            given[pair] = number
    problems.done()
    matrix = np.eye(len(labels))
    for (label, other), number in given.items():
        cell = labels.index(label), labels.index(other)
        matrix[cell] = number
        if (other, label) not in given:
            matrix[cell[::-1]] = number
    return matrix


def _number(weight: object) -> float | None:
    try:
        number = float(str(weight))
    except ValueError:
        return None
    return number if isfinite(number) and number <= 1 else None
