"""Agreement as the JSON of interfaces.md: `grater agree --json`."""

from __future__ import annotations

from math import isnan

from grater.agreement.bands import band
from grater.agreement.compare import Comparison
from grater.agreement.confusion import Disagreement
from grater.agreement.groups import Groups, headline
from grater.agreement.summary import Agreement, PairAgreement
from grater.model import Interval, Json


def agreement_json(found: Agreement) -> dict[str, Json]:
    """`observed` is the bare number of the contract; its limits are in `observed_interval`."""
    coefficients = dict(found.coefficients)
    observed = coefficients.pop("observed")
    mean = found.mean
    return {
        "items": found.n_items,
        "compared": found.counts.n_compared,
        "left_out": found.counts.n_left_out,
        "judgments": found.counts.n_judgments,
        "raters": list(found.raters),
        "labels": list(found.labels),
        "observed": number(observed.value),
        "observed_interval": observed.as_json(),
        "pairs": [_pair(pair) for pair in found.pairs],
        **({"pairs_reason": found.no_pairs} if found.no_pairs else {}),
        **({"mean_kappa": coefficient_json(mean.kappa), "undefined_pairs": mean.n_undefined} if mean else {}),
        **{name: coefficient_json(interval) for name, interval in coefficients.items()},
        "warnings": list(found.warnings),
        "signature": str(found.signature),
    }


def groups_json(found: Groups) -> dict[str, Json]:
    """The parts in order, each shaped like the whole."""
    low, high = found.range
    parts = [{"group": name, **_headline(part), **agreement_json(part)} for name, part in found.parts.items()]
    tests = [{"groups": [test.first, test.second], **comparison_json(test.comparison)} for test in found.tests]
    return {"by": found.by, "groups": parts, "range": [number(low), number(high)], "tests": tests}


def comparison_json(comparison: Comparison) -> dict[str, Json]:
    test = comparison.test
    return {
        "coefficient": comparison.coefficient,
        "items": comparison.n_items,
        "difference": test.difference.as_json(),
        "z": number(test.z),
        "p": number(test.p),
        "method": test.method,
    }


def coefficient_json(interval: Interval) -> dict[str, Json]:
    return {**interval.as_json(), **({"band": band(interval.value)} if band(interval.value) else {})}


def number(value: float) -> float | None:
    return None if isnan(value) else value


def _headline(part: Agreement) -> dict[str, Json]:
    name, interval = headline(part)
    return {"headline": name, "value": number(interval.value)}


def _pair(pair: PairAgreement) -> dict[str, Json]:
    table = pair.table
    return {
        "raters": list(table.raters),
        "n": table.n,
        "observed": number(table.observed.value),
        "observed_interval": table.observed.as_json(),
        "kappa": coefficient_json(pair.kappa),
        "confusion": table.cells.tolist(),
        "disagreement": [_disagreement(each) for each in pair.disagreements],
    }


def _disagreement(each: Disagreement) -> dict[str, Json]:
    return {"rater": each.rater, "other": each.other, "ok": each.n_ok, "n": each.n, **each.rate.as_json()}
