"""CoNLL-2014 beside the classical systems, and what `--precision` keeps: parts `learners` and `precision`.

Precision at a recall needs no threshold and is measured on all documents; what depends on thresholds, on the half
that they were not fitted on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.context.options import Options
from benchmarks.context.scored import (
    any_items,
    error_items,
    flagged_scores,
    interval,
    paired,
    precision_at,
    scored_items,
)
from benchmarks.context.texts import TAGS, halves, learner_documents
from benchmarks.detect.data import cell, keep, table

from grater.detect.context.calibration import PRECISIONS
from grater.detect.context.detector import ContextDetector
from grater.detect.context.signs import shifts
from grater.detect.context.tuning import PossibleFlag, possible_flags
from grater.detect.detector import Finding
from grater.detect.systems import load_system
from grater.model import Essay
from grater.statistics.proportions import wilson

CLASSICAL = {
    "prep": ("prep-maxent", "prep-both"),
    "prep-missing": ("prep-maxent", "prep-both"),
    "article": ("article",),
    "number": ("article",),
    "verb-form": (),
}
RECALL = 0.19


def learners(options: Options) -> None:
    """Every kind beside the classical systems, on all of CoNLL-2014 by rank and on the held-out half by threshold."""
    essays = learner_documents()
    _, held_out = halves(essays)
    held_ids = {essay.essay_id for essay in held_out}
    everywhere = {options.detector.name: _ranked(options.detector, essays)}
    own = {options.detector.name: list(options.detector.find(essays))}
    rows = []
    for kind, names in CLASSICAL.items():
        for name in names:
            if name not in own:
                own[name] = everywhere[name] = list(load_system(name).find(essays))
        by_name = {name: scored_items(everywhere[name], essays, kind) for name in (options.detector.name, *names)}
        for name, scored in by_name.items():
            own_half = [finding for finding in own[name] if finding.item.essay_id in held_ids]
            at_own = flagged_scores(scored_items(own_half, held_out, kind))
            at_recall = interval(scored, lambda each: precision_at(each, RECALL))
            of_any = precision_at(scored, RECALL, of_any=True)
            versus = "" if name == options.detector.name else paired(by_name[options.detector.name], scored, RECALL)
            rows.append(
                [
                    kind,
                    name,
                    f"{int(scored.is_error.sum())}",
                    cell(at_recall),
                    f"{of_any:.3f}",
                    versus,
                    *(f"{value:.3f}" for value in at_own),
                ]
            )
            print(rows[-1], flush=True)
    headers = [
        "kind",
        "system",
        "errors",
        f"P at R {RECALL}",
        "any",
        "context - this",
        "own P",
        "own P, any",
        "own R",
    ]
    table(headers, rows)
    keep("context-learners", rows)


def _ranked(detector: ContextDetector, essays: Sequence[Essay]) -> list[Finding]:
    """Findings whose scores are probabilities of being right, so that types of error can be ranked together."""
    by_essay: dict[str, dict[str, list[PossibleFlag]]] = defaultdict(lambda: defaultdict(list))
    for flag in possible_flags(detector, essays):
        by_essay[flag.item.essay_id][flag.item.item_id].append(flag)
    best: dict[str, float] = {}
    for by_item in by_essay.values():
        corrections = [[(flag.name, flag.margin) for flag in flags] for flags in by_item.values()]
        for item_id, own, shift in zip(by_item, corrections, shifts(corrections, detector.calibrations), strict=True):
            best[item_id] = max(detector.calibrations[name].probability(margin + shift) for name, margin in own)
    return [
        replace(finding, decision=replace(finding.decision, score=best[finding.item.item_id]))
        for finding in detector.find(essays)
    ]


def precision(options: Options) -> None:
    """What --precision keeps on the half of CoNLL-2014 that it was not fitted on."""
    _, held_out = halves(learner_documents())
    rows = []
    for level in (None, *PRECISIONS):
        detector = options.detector if level is None else options.detector.with_precision(level)
        findings = list(detector.find(held_out))
        flags = [finding for finding in findings if finding.decision.flagged]
        n_right = n_any = 0
        for kind in TAGS:
            items = [finding.item for finding in flags if finding.item.kind == kind]
            n_right += len(error_items(held_out, items, kind)) if items else 0
            n_any += len(any_items(held_out, items)) if items else 0
        name = "shipped" if level is None else f"{level:g}"
        rows.append([name, str(len(flags)), cell(wilson(n_right, len(flags))), cell(wilson(n_any, len(flags)))])
    table(["--precision", "flags", "right: this kind", "right: any correction"], rows)
    keep("context-precision", rows)
