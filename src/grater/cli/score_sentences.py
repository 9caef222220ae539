"""The counts of every sentence as a table: what `grater score --per-sentence` writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from grater.evaluate.edits.metrics import Metric, MetricOptions, SentenceCounts
from grater.evaluate.edits.scores import Scores
from grater.tables import write_table


def write_sentences(metric: Metric, scores: Scores, options: MetricOptions, path: Path) -> None:
    """A row for each system and sentence: its number from 1 on, the annotator it was held against, and the counts."""
    frames = [_frame(metric, system.sentences, options) for system in scores.systems]
    write_table(pl.concat(frames), path)


def _frame(metric: Metric, counts: SentenceCounts, options: MetricOptions) -> pl.DataFrame:
    rows = counts.expected
    names = metric.score_names(options)
    scores = metric.sentence_scores(counts, options)
    is_whole = bool((rows == rows.round()).all())
    return pl.DataFrame(
        {
            "system": [counts.system] * counts.n_sentences,
            "sentence": range(1, counts.n_sentences + 1),
            "reference": counts.references or [""] * counts.n_sentences,
            **{name: rows[:, place] for place, name in enumerate(metric.columns)},
            **{name: scores[:, place] for place, name in enumerate(names)},
        }
    ).with_columns(pl.col(*metric.columns).cast(pl.Int64 if is_whole else pl.Float64))
