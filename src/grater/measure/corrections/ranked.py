"""Our metrics applied to outputs that people ranked, by system (on the same sentences) and by sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from grater.errors import UsageError
from grater.measure.corrections.scores import (
    METRICS,
    Hypothesis,
    MetricOptions,
    References,
    fit_hypotheses,
    score_systems,
)
from grater.model import Essay
from grater.tables.rankings import Rankings
from grater.uncertainty import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class RankedOutputs:
    """The sentences for which every system's output and a reference are known, in the order of `items`."""

    items: Sequence[str]
    sentences: Sequence[Essay]
    outputs: Mapping[str, Sequence[str]]
    n_items: int


def ranked_outputs(rankings: Rankings, references: Sequence[Essay]) -> RankedOutputs:
    """The ranked outputs and their references, matched by `source`, or else by sentence number."""
    if "output" not in rankings.frame.columns:
        raise UsageError(
            f"{rankings.name}: expected a column 'output' with the words that were ranked, to score them; pass "
            "`metrics` with the scores of systems instead"
        )
    known = rankings.frame.filter(pl.col("system").is_not_null() & pl.col("output").is_not_null())
    systems = known["system"].unique().sort().to_list()
    by_item: dict[str, dict[str, str]] = {}
    for item, system, output in known.select("item", "system", "output").iter_rows():
        by_item.setdefault(item, {}).setdefault(system, output)
    places = {str(number): each for number, each in enumerate(references, rankings.first_item)}
    if "source" in known.columns:
        of_source = {"".join(each.text.split()): each for each in references}
        sources = dict(known.select("item", "source").drop_nulls().iter_rows())
        places = {
            item: of_source["".join(text.split())]
            for item, text in sources.items()
            if "".join(text.split()) in of_source
        }
    whole = [item for item, of in by_item.items() if len(of) == len(systems) and item in places]
    if not whole:
        n_found = sum(item in places for item in by_item)
        raise UsageError(
            f"{rankings.name}: expected sentences of the references with the outputs of all {len(systems)} systems, "
            f"found none; {n_found} of {len(by_item)} items are in the references; pass scores as `metrics` instead"
        )
    outputs = {system: [by_item[item][system] for item in whole] for system in systems}
    return RankedOutputs(whole, [places[item] for item in whole], outputs, len(by_item))


def our_scores(ranked: RankedOutputs) -> tuple[dict[str, dict[str, float]], dict[str, Numbers]]:
    """Each system's score on each metric, and the scores of each sentence (systems sorted by name)."""
    scores, by_sentence = {}, {}
    references = References("references", list(ranked.sentences))
    hypotheses = [Hypothesis(system, system, texts=texts) for system, texts in ranked.outputs.items()]
    for name in METRICS.names():
        metric, options = METRICS[name], MetricOptions()
        fitting, _ = fit_hypotheses(references, hypotheses, tokenise=True)
        found = score_systems(metric, references, fitting, options=options)
        headline = metric.score_names(options)[-1]
        title = headline if headline == name else f"{name} {headline}"
        scores[title] = {each.system: each.overall.scores[headline].value for each in found.systems}
        of = {each.system: metric.sentence_scores(each.sentences, options)[:, -1] for each in found.systems}
        by_sentence[title] = np.stack([of[system] for system in ranked.outputs])
    return scores, by_sentence
