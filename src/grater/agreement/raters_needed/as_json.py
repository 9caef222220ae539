"""Raters needed as JSON: `grater raters-needed --json`."""

from __future__ import annotations

from math import isfinite

from grater.agreement.as_json import coefficient_json, number
from grater.agreement.raters_needed.curves import Curve, RatersNeeded
from grater.model import Interval, Json


def needed_json(found: RatersNeeded) -> dict[str, Json]:
    """Every curve by its expert; `smallest` has null for a limit that lies beyond the judgments that there are."""
    target = found.target
    pairs = [{"raters": [first, second], "kappa": number(kappa)} for first, second, kappa in target.pairs]
    return {
        "items": found.n_items,
        "crowd_only": found.n_crowd_only,
        "experts_only": found.n_experts_only,
        "labels": list(found.labels),
        "experts": list(found.experts),
        "method": found.method,
        "curves": [_curve(curve) for curve in found.curves],
        "target": {"of": target.what, "kappa": coefficient_json(target.kappa), "pairs": pairs},
        "smallest": whole_json(found.smallest),
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def whole_json(interval: Interval) -> dict[str, Json]:
    """A number of raters with its limits, as whole numbers."""
    numbers = {"value": interval.value, "low": interval.low, "high": interval.high}
    shown: dict[str, Json] = {name: int(each) if isfinite(each) else None for name, each in numbers.items()}
    return {**shown, **({"reason": interval.undefined_because} if interval.undefined_because else {})}


def _curve(curve: Curve) -> dict[str, Json]:
    points: list[Json] = [
        {
            "raters": point.n_raters,
            "items": point.n_items,
            "left_out": point.n_left_out,
            "agreement": point.agreement.as_json(),
            "kappa": coefficient_json(point.kappa),
        }
        for point in curve.points
    ]
    return {"against": curve.against, "points": points}
