"""Corrections from Python: scores and the human ceiling."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grater.library.sources import (
    DEFAULT_RESAMPLES,
    TextSource,
    checked,
    hypothesis_of,
    references_of,
)

if TYPE_CHECKING:
    from grater.measure.corrections.ceiling import Ceiling
    from grater.measure.corrections.edit_table import Mode, Tier
    from grater.measure.corrections.scores import Cluster as TextCluster
    from grater.measure.corrections.scores import Scores
    from grater.uncertainty.paired import Test


@checked
def score(
    references: TextSource,
    hypotheses: Mapping[str, TextSource],
    *,
    metric: str = "m2",
    source: TextSource | None = None,
    mode: Mode = "cs",
    by: Tier | None = None,
    beta: float = 0.5,
    max_unchanged: int = 2,
    engine: str = "grater",
    cluster: TextCluster = "sentence",
    test: Test = "bootstrap",
    baseline: str = "",
    resamples: int = 5_000,
    seed: int = 0,
) -> Scores:
    """Score corrections by M2, ERRANT or GLEU, with paired tests between systems and rank groups.

    References are annotated (M2, JSONL or essays), or plain sentences, which need their `source`.  M2 and ERRANT
    score edits: of plain text they are made by the `engine`, `grater` or `errant:MODEL` with a spaCy model.
    """
    from grater.measure.corrections.metrics import METRICS, MetricOptions
    from grater.measure.corrections.scores import Resampling, score_systems

    return score_systems(
        METRICS[metric],
        references_of(references, source, metric=METRICS[metric], engine=engine),
        [hypothesis_of(name, texts) for name, texts in hypotheses.items()],
        options=MetricOptions(beta=beta, mode=mode, tier=by, max_unchanged=max_unchanged, engine=engine),
        chance=Resampling(n_resamples=resamples, seed=seed, cluster=cluster, test=test, baseline=baseline),
    )


@checked
def ceiling(
    references: TextSource,
    hypotheses: Mapping[str, TextSource] | None = None,
    *,
    metric: str = "m2",
    source: TextSource | None = None,
    n_references: Sequence[int] | None = None,
    mode: Mode = "cs",
    beta: float = 0.5,
    max_unchanged: int = 2,
    engine: str = "grater",
    cluster: TextCluster = "sentence",
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = 0,
) -> Ceiling:
    """What people reach: each annotator against the others, and systems against the same numbers of references."""
    from grater.measure.corrections.ceiling import ceiling
    from grater.measure.corrections.metrics import METRICS, MetricOptions
    from grater.measure.corrections.scores import Resampling

    return ceiling(
        METRICS[metric],
        references_of(references, source, metric=METRICS[metric], engine=engine),
        [hypothesis_of(name, texts) for name, texts in (hypotheses or {}).items()],
        options=MetricOptions(beta=beta, mode=mode, max_unchanged=max_unchanged, engine=engine),
        chance=Resampling(n_resamples=resamples, seed=seed, cluster=cluster),
        sizes=n_references,
    )
