"""Evaluations as JSON, under the keys of the contract (interfaces.md, "JSON, by example")."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan

from grater.evaluate.comparison import Comparison
from grater.evaluate.evaluation import Evaluation, Part
from grater.evaluate.standard import Bin, Scored, spread
from grater.evaluate.thresholds import SHOWN, Curve, Point
from grater.evaluate.verified import Verified
from grater.model import Json
from grater.signature import Signature

HEAD = ("precision", "recall", "f0.5", "f1")
IN_BIN = ("error_rate", "precision", "recall", "kappa")
SPREAD = ("precision", "recall", "f0.5", "f1")


def evaluation_json(found: Evaluation) -> dict[str, Json]:
    return {
        **part_json(found.whole, found.cases.systems),
        **_corrected(found),
        "truth": found.truth.name,
        "raters": list(found.cases.raters),
        **({"parts": _parts_json(found)} if found.parts else {}),
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def _corrected(found: Evaluation) -> dict[str, Json]:
    """The scores after the correction, and how raters err; nothing without gold."""
    if found.correction is None:
        return {}
    scores = {each.system: {name: each[name].as_json() for name in HEAD} for each in found.corrected}
    return {"corrected": scores, "rater_error": found.correction.raters.as_json()}


def _parts_json(found: Evaluation) -> dict[str, Json]:
    return {name: part_json(part, found.cases.systems) for name, part in found.parts.items()}


def part_json(part: Part, systems: tuple[str, ...]) -> dict[str, Json]:
    bars: list[Json] = [{"low": low, "high": high, "n": n} for low, high, n in part.histogram]
    return {
        "items": part.n_items,
        "unjudged": part.n_unjudged,
        "systems": [_system(part, place, system) for place, system in enumerate(systems)],
        "agreement": bars,
    }


def _system(part: Part, place: int, system: str) -> dict[str, Json]:
    standard = part.standard[place]
    return {
        "system": system,
        "n": standard.n,
        **scored_json(standard),
        "kappa": standard["kappa"].as_json(),
        "error_rate": standard["error_rate"].as_json(),
        "flagged_unjudged": part.flagged_unjudged[system],
        "weighted": scored_json(part.weighted[place]),
        "bins": [bin_json(each, place) for each in part.bins],
        **_raters(part, place),
    }


def _raters(part: Part, place: int) -> dict[str, Json]:
    if not part.by_rater:
        return {}
    of_raters = [(rater, scored[place]) for rater, scored in part.by_rater.items()]
    rows: list[Json] = [{"rater": rater, "n": scored.n, **scored_json(scored)} for rater, scored in of_raters]
    spreads = {name: asdict(spread([scored[name] for _, scored in of_raters])) for name in SPREAD}
    return {"by_rater": rows, "spread": {name: _defined(values) for name, values in spreads.items()}}


def scored_json(scored: Scored) -> dict[str, Json]:
    return {**{name: scored[name].as_json() for name in HEAD}, "counts": scored.counts.as_json()}


def bin_json(each: Bin, place: int) -> dict[str, Json]:
    scored = each.systems[place]
    return {"low": each.low, "high": each.high, "n": scored.n, **{name: scored[name].as_json() for name in IN_BIN}}


def curve_json(curve: Curve, signature: Signature) -> dict[str, Json]:
    return {
        "system": curve.system,
        "higher": curve.higher,
        "items": curve.n_items,
        "unscored": curve.n_unscored,
        "best": curve.best.threshold,
        "best_weighted": curve.best_weighted.threshold if curve.best_weighted else None,
        "points": [_point(point) for point in curve.points],
        "signature": str(signature),
    }


def _point(point: Point) -> dict[str, Json]:
    return {
        "threshold": point.threshold,
        "operating": point.is_operating,
        **_shown(point.standard),
        "weighted": _shown(point.weighted),
    }


def _shown(scored: Scored) -> dict[str, Json]:
    return {**{name: scored[name].as_json() for name in SHOWN}, "counts": scored.counts.as_json()}


def verified_json(found: list[Verified], signature: Signature) -> dict[str, Json]:
    rows: list[Json] = [
        {
            "system": each.system,
            "flagged": each.n_flagged,
            "judged": each.n_judged,
            "precision": each.precision.as_json(),
            "recall": each.recall.as_json(),
            "counts": {"hit": each.hit, "false_alarm": each.false_alarm},
        }
        for each in found
    ]
    return {"systems": rows, "signature": str(signature)}


def comparison_json(found: Comparison, signature: Signature) -> dict[str, Json]:
    systems: list[Json] = [
        {"system": each.system, "n": each.n, **scored_json(each), "group": found.groups[each.system]}
        for each in found.systems
    ]
    return {
        "score": found.score,
        "items": found.n_items,
        "left_out": found.n_left_out,
        "systems": systems,
        "pairs": [pair.as_json() for pair in found.pairs],
        "signature": str(signature),
    }


def _defined(values: dict[str, float]) -> dict[str, Json]:
    return {name: None if isnan(value) else value for name, value in values.items()}
