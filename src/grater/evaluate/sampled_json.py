"""Estimates from a sample in the shape of `interfaces.md`; counts are corpus totals."""

from __future__ import annotations

from collections.abc import Mapping

from grater.evaluate.sampled import Sampled, SystemEstimate
from grater.evaluate.sampled.correction import CorrectedEstimate, CorrectedSample
from grater.evaluate.sampled.estimates import Difference
from grater.model import Interval, Json
from grater.statistics.stratified import Scores


def sampled_json(found: Sampled, correction: CorrectedSample | None = None) -> dict[str, Json]:
    """One JSON object for all systems; corrected scores beside those as judged, where there are any."""
    by_system = (
        {each.system: {"corrected": _corrected_json(each)} for each in correction.systems} if correction else {}
    )
    by_pair = {pair.systems: {"corrected": _pair_json(pair)} for pair in correction.differences} if correction else {}
    return {
        "systems": [{**_system_json(each), **by_system.get(each.system, {})} for each in found.systems],
        "differences": [
            {"systems": list(pair.systems), **_pair_json(pair), **by_pair.get(pair.systems, {})}
            for pair in found.differences
        ],
        "items": found.n_items,
        "drawn": found.n_drawn,
        "judged": found.n_judged,
        "unjudged": found.n_unjudged,
        "warnings": [*found.warnings, *(correction.warnings if correction else ())],
        "signature": str(found.signature),
        **({"rater_error": _rater_error_json(correction)} if correction else {}),
        **({"parts": {name: sampled_json(part) for name, part in found.parts.items()}} if found.parts else {}),
    }


def _pair_json(pair: Difference) -> dict[str, Json]:
    return _main_json(pair.precision, pair.recall, pair.f)


def _rater_error_json(correction: CorrectedSample) -> dict[str, Json]:
    return {**correction.raters.as_json(), "signature": str(correction.signature)}


def _corrected_json(found: CorrectedEstimate) -> dict[str, Json]:
    totals = {"hit": found.hit, "miss": found.miss}
    return {
        **_main_json(found.precision, found.recall, found.f),
        "totals": {name: each.as_json() for name, each in totals.items()},
    }


def _system_json(estimate: SystemEstimate) -> dict[str, Json]:
    strata: list[Json] = [
        {
            "stratum": each.name,
            "flagged": each.is_flagged,
            "items": each.size,
            "drawn": each.n_drawn,
            "judged": each.n_judged,
            "errors": each.errors,
        }
        for each in estimate.strata
    ]
    return {
        "system": estimate.system,
        **_scores_json(estimate.scores),
        "paper": _scores_json(estimate.paper),
        "horvitz_thompson": {
            "precision": estimate.weighted.precision.as_json(),
            "recall": estimate.weighted.recall.as_json(),
        },
        "strata": strata,
    }


def _scores_json(found: Scores) -> dict[str, Json]:
    totals = {"hit": found.hit, "false_alarm": found.false_alarm, "miss": found.miss}
    counts: dict[str, Json] = {name: each.as_json()["value"] for name, each in totals.items()}
    return {
        **_main_json(found.precision, found.recall, found.f),
        "counts": counts,
        "totals": {name: each.as_json() for name, each in totals.items()},
        "intervals": found.method,
    }


def _main_json(precision: Interval, recall: Interval, f: Mapping[float, Interval]) -> dict[str, Json]:
    scores = {"precision": precision, "recall": recall, **{f"f{beta:g}": each for beta, each in f.items()}}
    return {name: each.as_json() for name, each in scores.items()}
