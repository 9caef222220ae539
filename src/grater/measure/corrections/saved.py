"""Scores kept in a file, and compared with others later.

A saved result is the JSON of `Scores.to_dict` with what it was made of: the counts of every sentence of each system,
how they were counted, and the documents where they are known.  Intervals, tests and rank groups of several saved
results are made anew from the counts, so differences are paired.  Results are refused unless they have the same
measure, options and references.  Counts by type are kept as rows (sentence, counts...) of the sentences that have
any.  Systems of one name in two files are called by file and name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from grater import __version__
from grater.errors import BadInput, Problem, UsageError
from grater.measure.corrections.scores import (
    METRICS,
    Metric,
    MetricOptions,
    Scores,
    SentenceCounts,
    Test,
    compare_counts,
)
from grater.model import Json
from grater.result import encode
from grater.signature import Signature
from grater.uncertainty import Basis, Ints

SAVED_FORMAT = "grater-scores-1"
COMPARED = frozenset({"units", "interval", "level", "resamples", "seed", "test", "baseline"})
"""Parts of a signature that are about intervals and tests, which are made anew."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedScores:
    """What one file holds.

    `name` is the file, for messages; `label` goes before names of systems that two files have; `version` is that of
    the grater that counted.
    """

    name: str
    label: str
    metric: Metric
    options: MetricOptions
    signature: Signature
    counts: tuple[SentenceCounts, ...]
    documents: tuple[str | None, ...] | None
    version: str


def saved_json(scores: Scores, options: MetricOptions, documents: Sequence[str | None] | None = None) -> str:
    """The scores as text for a file."""
    made = {"what": scores.signature.what, "options": dict(scores.signature.options)}
    counts = {system.system: _counts_json(system.sentences) for system in scores.systems}
    how = {"made": made, "metric_options": asdict(options), "documents": documents and list(documents)}
    value = {"format": SAVED_FORMAT, "grater": __version__, **scores.to_dict(), **how, "sentence_counts": counts}
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def _counts_json(counts: SentenceCounts) -> dict[str, Json]:
    by_type = {
        name: [[place, *rows[place].tolist()] for place in np.flatnonzero(rows.any(axis=1)).tolist()]
        for name, rows in counts.by_type.items()
    }
    return {
        "cells": encode(counts.cells),
        "rows": encode(counts.n_rows),
        "references": list(counts.references),
        "by_type": encode(by_type),
    }


def read_saved(text: str, *, name: str, label: str = "") -> SavedScores:
    """A saved result; anything else is refused in one line."""
    try:
        value = json.loads(text)
        if value["format"] != SAVED_FORMAT:
            raise ValueError(value["format"])
        return _saved(value, name, label or name)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadInput(Problem(name, "expected scores that grater saved, found something else")) from error


def _saved(value: Any, name: str, label: str) -> SavedScores:
    metric = METRICS[value["metric"]]
    documents = value["documents"]
    counts = tuple(_counts(system, own, len(metric.columns)) for system, own in value["sentence_counts"].items())
    n_sentences = {own.n_sentences for own in counts} | ({len(documents)} if documents else set())
    if len(n_sentences) != 1:
        raise ValueError("systems with different numbers of sentences")
    return SavedScores(
        name=name,
        label=label,
        metric=metric,
        options=MetricOptions(**value["metric_options"]),
        signature=Signature(str(value["made"]["what"]), dict(value["made"]["options"])),
        counts=counts,
        documents=tuple(documents) if documents else None,
        version=str(value["grater"]),
    )


def _counts(system: str, own: Any, n_columns: int) -> SentenceCounts:
    cells, n_rows = np.array(own["cells"]), np.array(own["rows"], np.int64)
    if (
        cells.ndim != 3
        or cells.shape[0] != len(n_rows)
        or cells.shape[2] != n_columns
        or cells.dtype.kind not in "if"
    ):
        raise ValueError("counts of another shape")
    by_type = {name: _dense(rows, len(n_rows), n_columns) for name, rows in own["by_type"].items()}
    return SentenceCounts(system, cells, n_rows, tuple(own["references"]), by_type)


def _dense(rows: Sequence[Sequence[int]], n_sentences: int, n_columns: int) -> Ints:
    dense = np.zeros((n_sentences, n_columns), np.int64)
    for place, *numbers in rows:
        dense[place] = numbers
    return dense


def compare_saved(
    saved: Sequence[SavedScores], *, basis: Basis | None = None, test: Test = "paired", baseline: str = ""
) -> Scores:
    """All systems of some saved results in one table, tested in pairs."""
    first, *others = saved
    for other in others:
        _require_same(first, other)
    times = Counter(own.system for one in saved for own in one.counts)
    counts = [
        replace(own, system=f"{one.label}:{own.system}") if times[own.system] > 1 else own
        for one in saved
        for own in one.counts
    ]
    made = {name: option for one in saved for name, option in one.signature.options.items() if name not in COMPARED}
    scores = compare_counts(
        first.metric,
        counts,
        replace(first.signature, options=made),
        options=first.options,
        documents=next((one.documents for one in saved if one.documents), None),
        basis=basis or Basis(),
        test=test,
        baseline=baseline,
    )
    versions = {one.name: one.version for one in saved}
    if len(set(versions.values())) < 2:
        return scores
    makers = ", ".join(f"{name} by {version}" for name, version in versions.items())
    return replace(scores, warnings=(f"counted by different versions of grater: {makers}", *scores.warnings))


def _require_same(first: SavedScores, other: SavedScores) -> None:
    ours, theirs = (
        {"measure": one.signature.what}
        | {name: value for name, value in one.signature.options.items() if name not in COMPARED}
        for one in (first, other)
    )
    shared = ours.keys() & theirs.keys() if "engine" in ours.keys() ^ theirs.keys() else ours.keys() | theirs.keys()
    differing = [name for name in sorted(shared) if ours.get(name) != theirs.get(name)]
    if "measure" in differing:
        why = f"its measure is {theirs['measure']}, not {ours['measure']}"
    elif "reference" in differing:
        why = "it was scored on other sentences or references, so nothing can be paired"
    elif differing:
        name = differing[0]
        why = f"{name} is {theirs.get(name, 'not set')} here and {ours.get(name, 'not set')} there"
    elif first.documents and other.documents and first.documents != other.documents:
        why = "its sentences are from other documents"
    else:
        return
    raise UsageError(f"{other.name}: cannot be compared with {first.name}: {why}")
