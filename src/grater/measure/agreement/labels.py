"""Labels: those that may not mean what a reader thinks, and how near two of them are.

`Error` and `error`, `ok ` and `ok`, `1` and `1.0` are two labels to a computer, and raters who say the same then
disagree.  The three words of a verdict (error, ok, unknown) are one label however they are spelled, in agreement as
in evaluation; of other labels a warning names those that differ only in case, blanks or number format.

An ordinal scale, and weights by distance, need an order.  Numbers have one; words do not: by the alphabet `bad`,
`excellent`, `good`, `poor` gave alpha .170 where the truth was .641.  So words without an order are refused.

Nearness is a weight for kappa and AC2, a squared distance for alpha.  Cohen 1968 gives each pair of labels a weight,
1 for the same and less the further apart.  `linear` and `quadratic` take labels as equally spaced steps in their
order, as scikit-learn does, whatever numbers they are.  A matrix of one's own is taken as it is: symmetric or not,
finite, 1 on the diagonal.

Krippendorff 2011 measures distance by the scale: `nominal` 0 or 1, `interval` (v - w)^2, `ratio` ((v - w) / (v +
w))^2, 0 where both are 0.  (`ordinal` depends on the data and lives in `coefficients.py`.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from grater.errors import Problems, UsageError
from grater.measure.agreement.coded import as_numbers
from grater.tables import Judgments

VERDICT_WORDS = ("error", "ok", "unknown")
MOST_NAMED = 6
FEWEST_ORDERED = 3
"""With two labels every order gives the same."""
Matrix: TypeAlias = npt.NDArray[np.float64]
WeightName: TypeAlias = Literal["identity", "linear", "quadratic"]
Scale: TypeAlias = Literal["nominal", "ordinal", "interval", "ratio"]

WEIGHTS: tuple[WeightName, ...] = ("identity", "linear", "quadratic")
WEIGHT_COLUMNS = ("label", "other", "weight")
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio")


def spelled_alike(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """The labels that differ only in case, blanks or number format, those of one meaning together."""
    by_key: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        by_key[_key(label)].append(label)
    return [tuple(sorted(names)) for _, names in sorted(by_key.items()) if len(names) > 1]


def _key(label: str) -> str:
    plain = " ".join(label.casefold().split())
    number = as_numbers([plain]) if plain else None
    return repr(number[0] + 0.0) if number else plain


def one_spelling(judgments: Judgments) -> Judgments:
    """The judgments with error, ok and unknown each spelled in one way: in small letters where there were several."""
    labels = label_names(judgments)
    several = {name: _key(name) for names in spelled_alike(labels) for name in names if _key(name) in VERDICT_WORDS}
    if not several:
        return judgments
    label = pl.col("label").cast(pl.String).replace(several)
    return replace(judgments, frame=judgments.frame.with_columns(label=label))


def label_names(judgments: Judgments) -> list[str]:
    """The labels that occur."""
    return sorted(judgments.frame["label"].drop_nulls().unique().cast(pl.String).to_list())


def spelling_warnings(judgments: Judgments) -> Iterator[str]:
    """Names labels that are probably one."""
    alike = spelled_alike(label_names(judgments))
    one = [names for names in alike if _key(names[0]) in VERDICT_WORDS]
    apart = [names for names in alike if _key(names[0]) not in VERDICT_WORDS]
    if one:
        yield f"labels that differ only in spelling were taken as one: {_named(one)}"
    if apart:
        yield (
            f"labels differ only in case, blanks or number format: {_named(apart)}; "
            "they count as different; merge them if they mean the same"
        )


def _named(alike: Sequence[tuple[str, ...]]) -> str:
    shown = [" / ".join(map(repr, names)) for names in alike[:MOST_NAMED]]
    return ", ".join([*shown, *([f"and {len(alike) - MOST_NAMED} more"] if len(alike) > MOST_NAMED else [])])


def require_order(labels: Sequence[str], *, scale: str, weights: object, order: Sequence[str]) -> None:
    """Refuse an order of words by the alphabet."""
    needed_for = "scale ordinal" if scale == "ordinal" else f"weights {weights}" if _is_distance(weights) else ""
    if not needed_for or order or len(labels) < FEWEST_ORDERED or as_numbers(labels) is not None:
        return
    names = ", ".join(map(str, labels[:MOST_NAMED])) + (", ..." if len(labels) > MOST_NAMED else "")
    raise UsageError(f"{needed_for} needs the order of labels that are not numbers ({names}); name it, lowest first")


def _is_distance(weights: object) -> bool:
    return isinstance(weights, str) and weights in ("linear", "quadratic")


def weight_matrix(weights: WeightName | npt.ArrayLike, n_labels: int) -> Matrix:
    """Agreement weights for each pair of labels."""
    if isinstance(weights, str):
        return _weights_called(weights, n_labels)
    matrix = np.asarray(weights, np.float64)
    if matrix.shape != (n_labels, n_labels):
        raise UsageError(f"expected weights for {n_labels} x {n_labels} labels, found {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise UsageError("expected finite weights, found an infinite or missing one")
    if (matrix.diagonal() != 1).any() or (matrix > 1).any():
        raise UsageError("expected weights of 1 for equal labels and none above it, found others")
    return matrix


def _weights_called(name: str, n_labels: int) -> Matrix:
    steps = np.abs(np.subtract.outer(np.arange(n_labels), np.arange(n_labels))) / max(1, n_labels - 1)
    match name:
        case "identity":
            return np.eye(n_labels)
        case "linear":
            return 1 - steps
        case "quadratic":
            return 1 - steps**2
    raise UsageError(f"unknown weights {name!r}. Known: {', '.join(WEIGHTS)}, or a matrix")


def matrix_of_rows(rows: Iterable[tuple[object, object, object]], labels: tuple[str, ...], *, name: str) -> Matrix:
    """The matrix of a table with the columns label, other, weight; bad rows are reported with their lines.

    A pair holds in both directions unless the other direction has a row of its own; a pair without a row weighs 0,
    and a label weighs 1 with itself.
    """
    problems = Problems(name)
    given: dict[tuple[str, str], float] = {}
    for line, (label, other, cell) in enumerate(rows, start=2):
        pair, weight = (str(label), str(other)), _weight(cell)
        if strange := next((one for one in pair if one not in labels), None):
            problems.add(f"expected a label of the judgments, found {strange!r}", line=line)
        elif weight is None:
            problems.add(f"expected a finite weight of at most 1, found {cell!r}", line=line)
        else:
            given[pair] = weight
    problems.done()
    matrix = np.eye(len(labels))
    for (label, other), weight in given.items():
        row, column = labels.index(label), labels.index(other)
        matrix[row, column] = weight
        if (other, label) not in given:
            matrix[column, row] = weight
    return matrix


def _weight(cell: object) -> float | None:
    try:
        weight = float(str(cell))
    except ValueError:
        return None
    return weight if isfinite(weight) and weight <= 1 else None


def distances(scale: Scale, labels: Sequence[str]) -> Matrix:
    """Squared distances between labels on a scale that does not depend on the data."""
    if scale == "nominal":
        return 1 - np.eye(len(labels))
    values = _values(scale, labels)
    apart = np.subtract.outer(values, values)
    if scale == "interval":
        return apart**2
    together = np.add.outer(values, values)
    return np.divide(apart, together, out=np.zeros_like(apart), where=together != 0) ** 2


def _values(scale: Scale, labels: Sequence[str]) -> Matrix:
    if scale not in SCALES:
        raise UsageError(f"unknown scale {scale!r}. Known: {', '.join(SCALES)}")
    numbers = as_numbers(labels)
    if numbers is None:
        named = next(label for label in labels if as_numbers([label]) is None)
        raise UsageError(f"expected numbers as labels for scale {scale}, found {named!r}; merge it or use ordinal")
    if scale == "ratio" and min(numbers) < 0:
        raise UsageError(f"expected labels of at least 0 for scale ratio, found {min(numbers):g}; use interval")
    return np.array(numbers)
