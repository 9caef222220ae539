"""The agreement of annotators as JSON: the three criteria, each shaped like the agreement of judgments."""

from __future__ import annotations

import numpy as np

from grater.agreement.as_json import coefficient_json, number
from grater.agreement.edits.summary import CorpusAgreement, EditAgreement, PairOfAnnotators
from grater.model import Json

MOST_LABELS = 100
"""Labels whose table of two annotators is written out; a tag with its correction is one of thousands."""


def corpus_json(found: CorpusAgreement) -> dict[str, Json]:
    """Top level of interfaces.md, with what was counted beside it."""
    return {
        "unit": found.unit,
        "essays": found.n_essays,
        "shared_essays": found.n_shared,
        "units": found.n_units,
        "raters": list(found.raters),
        **{name: _criterion(found, each) for name, each in found.criteria.items()},
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _criterion(found: CorpusAgreement, each: EditAgreement) -> dict[str, Json]:
    coefficients = dict(each.coefficients)
    observed = coefficients.pop("observed")
    return {
        "items": each.n_units + each.n_left_out,
        "compared": each.n_units,
        "left_out": each.n_left_out,
        "judgments": each.n_judgments,
        "raters": list(found.raters),
        "labels": list(each.labels),
        "observed": number(observed.value),
        "observed_interval": observed.as_json(),
        "pairs": [_pair(pair, each.labels) for pair in each.pairs],
        **({"pairs_reason": found.no_pairs} if found.no_pairs else {}),
        "mean_kappa": coefficient_json(each.mean_kappa),
        "undefined_pairs": each.n_undefined,
        **{name: coefficient_json(interval) for name, interval in coefficients.items()},
        "warnings": [],
        "signature": str(found.signature),
    }


def _pair(pair: PairOfAnnotators, labels: tuple[str, ...]) -> dict[str, Json]:
    return {
        "raters": list(pair.raters),
        "n": pair.n,
        "observed": number(pair.observed.value),
        "observed_interval": pair.observed.as_json(),
        "kappa": coefficient_json(pair.kappa),
        **({"confusion": _confusion(pair, len(labels))} if len(labels) <= MOST_LABELS else {}),
    }


def _confusion(pair: PairOfAnnotators, n_labels: int) -> list[list[int]]:
    table = np.zeros((n_labels, n_labels), np.int64)
    np.add.at(table, (pair.cells.first, pair.cells.second), pair.cells.times)
    rows: list[list[int]] = table.tolist()
    return rows
