"""Estimates from a sample in the shape of `interfaces.md`; counts are corpus totals."""

from __future__ import annotations

from grater.evaluate.sampled import Sampled, SystemEstimate
from grater.model import Json
from grater.sampling.scores import Scores


def sampled_json(found: Sampled) -> dict[str, Json]:
    """One JSON object for all systems."""
    return {
        "systems": [_system_json(estimate) for estimate in found.systems],
        "differences": [
            {
                "systems": list(pair.systems),
                "precision": pair.precision.as_json(),
                "recall": pair.recall.as_json(),
                **{f"f{beta:g}": each.as_json() for beta, each in pair.f.items()},
            }
            for pair in found.differences
        ],
        "items": found.n_items,
        "drawn": found.n_drawn,
        "judged": found.n_judged,
        "unjudged": found.n_unjudged,
        "warnings": list(found.warnings),
        "signature": str(found.signature),
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
        "precision": found.precision.as_json(),
        "recall": found.recall.as_json(),
        **{f"f{beta:g}": each.as_json() for beta, each in found.f.items()},
        "counts": counts,
        "totals": {name: each.as_json() for name, each in totals.items()},
        "intervals": found.method,
    }
