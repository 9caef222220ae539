"""Scores saved to files: the counts of each sentence as a table, and all that later comparisons need.

A saved result is the JSON of `Scores.to_dict` plus its inputs: each system's counts by sentence, how they were
counted, and the documents if known. Intervals, tests and rank groups of several saved results are recomputed from the
counts, so differences are paired. All results must have the same metric, options and references. Counts by type are
stored as rows (sentence, counts...) of the sentences that have any. Systems with the same name in two files are
labelled by file and name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

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
from grater.result import encode
from grater.sheet import Signature
from grater.uncertainty import BASIS, Basis

if TYPE_CHECKING:
    import polars as pl

SAVED_FORMAT = "grater-scores-1"
COMPARED = frozenset({"units", "interval", "level", "resamples", "seed", "test", "baseline"})
"""Parts of a signature that are about intervals and tests, which are made again."""


@dataclass(frozen=True, slots=True, eq=False)
class SavedScores:
    """The contents of one file.

    `name` is the file, for messages; `label` distinguishes systems with the same name in two files; `version` is the
    version of grater that counted.
    """

    name: str
    label: str
    metric: Metric
    options: MetricOptions
    signature: Signature
    counts: tuple[SentenceCounts, ...]
    documents: tuple[str | None, ...] | None
    version: str
    references: str
    n_annotators: int


def saved_json(scores: Scores, options: MetricOptions, documents: Sequence[str | None] | None = None) -> str:
    made = {"what": scores.signature.what, "options": dict(scores.signature.options)}
    how = {"made": made, "metric_options": asdict(options), "documents": documents and list(documents)}
    counts = {}
    for system in scores.systems:
        own = system.sentences
        by_type = {
            name: [[place, *rows[place].tolist()] for place in np.flatnonzero(rows.any(axis=1)).tolist()]
            for name, rows in own.by_type.items()
        }
        parts = {"cells": own.cells, "rows": own.n_rows, "references": own.references, "by_type": by_type}
        counts[system.system] = encode(parts)
    value = {"format": SAVED_FORMAT, "grater": __version__, **scores.to_dict(), **how, "sentence_counts": counts}
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"


def read_saved(text: str, *, name: str, label: str = "") -> SavedScores:
    """Parse a saved result; anything else is refused with a one-line error."""
    try:
        value = json.loads(text)
        if value["format"] != SAVED_FORMAT:
            raise ValueError(value["format"])
        metric, documents = METRICS[value["metric"]], value["documents"]
        saved = value["sentence_counts"].items()
        counts = tuple(_counts(system, own, len(metric.columns)) for system, own in saved)
        if len({own.n_sentences for own in counts} | ({len(documents)} if documents else set())) != 1:
            raise ValueError("systems with different numbers of sentences")
        return SavedScores(
            name=name,
            label=label or name,
            metric=metric,
            options=MetricOptions(**value["metric_options"]),
            signature=Signature(str(value["made"]["what"]), dict(value["made"]["options"])),
            counts=counts,
            documents=tuple(documents) if documents else None,
            version=str(value["grater"]),
            references=str(value.get("references", "")),
            n_annotators=int(value.get("annotators", 0)),
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise BadInput(Problem(name, "expected scores that grater saved, found something else")) from error


def _counts(system: str, own: Any, n_columns: int) -> SentenceCounts:
    cells, n_rows = np.array(own["cells"]), np.array(own["rows"], np.int64)
    if cells.dtype.kind not in "if" or cells.ndim != 3 or cells.shape[::2] != (len(n_rows), n_columns):
        raise ValueError("counts of another shape")
    by_type = {name: np.zeros((len(n_rows), n_columns), np.int64) for name in own["by_type"]}
    for name, rows in own["by_type"].items():
        for place, *numbers in rows:
            by_type[name][place] = numbers
    return SentenceCounts(system, cells, n_rows, tuple(own["references"]), by_type)


def compare_saved(
    saved: Sequence[SavedScores], *, basis: Basis = BASIS, test: Test = "paired", baseline: str = ""
) -> Scores:
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
        basis=basis,
        test=test,
        baseline=baseline,
    )
    scores = replace(scores, references=first.references, n_annotators=first.n_annotators)
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


def sentence_frame(metric: Metric, scores: Scores, options: MetricOptions) -> pl.DataFrame:
    """One row per system and sentence: its number, from 1, the annotator it was scored against, and the counts."""
    import polars as pl  # takes longer than scoring

    def of_system(counts: SentenceCounts) -> pl.DataFrame:
        rows, own = counts.expected, metric.sentence_scores(counts, options)
        is_whole = bool((rows == rows.round()).all())
        columns = {
            "system": [counts.system] * counts.n_sentences,
            "sentence": range(1, counts.n_sentences + 1),
            "reference": counts.references or [""] * counts.n_sentences,
            **{name: rows[:, column] for column, name in enumerate(metric.columns)},
            **{name: own[:, column] for column, name in enumerate(metric.score_names(options))},
        }
        return pl.DataFrame(columns).with_columns(pl.col(*metric.columns).cast(pl.Int64 if is_whole else pl.Float64))

    return pl.concat([of_system(system.sentences) for system in scores.systems])
