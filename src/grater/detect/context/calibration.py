"""Calibration: from the network's margin to a probability of being right, and to thresholds for target precisions.

The margin of a correction is log p(its word) - log p(written word). For every error name (`NAMES`), a model's card
has

- a pair of numbers (Platt 1999): sigmoid(slope * margin + intercept) is the share of such flags that are right;
- a threshold for each of several precisions: the lowest margin above which that share of flags was right, based on at
  least `LEAST` flags. If the table is empty, it is the margin at which that share is right. A precision above all in
  the table flags nothing;
- the threshold used if no precision is requested (`shipped`);
- the share of such corrections in essays of learners that come near it (`usual`).

`shifts` adapts margins to the apparent error rate of a text. Calibrations come from learner essays; where errors are
rarer, a flag with the same margin is more often a false alarm, where they are more frequent, less often. By Bayes'
rule the log-odds of an error, and so every margin of an essay, shift by the logarithm of the ratio of error rates
(Saerens, Latinne and Decaestecker 2002):

    shift = log((signs + SHAPE) / (expected + SHAPE))

`signs` are the corrections at all other slots of the essay whose margin reaches the shipped threshold or misses it by
less than `NEARLY`; `expected` is how many an essay of learners has among as many corrections of the same names
(`Calibration.usual`). The fraction is the posterior mean of this essay's relative error rate, if rates follow a gamma
distribution over essays; the shape was fitted to the 50 essays of CoNLL-2014 (6.3 by moments, 6.5 by likelihood). A
single sentence is therefore shifted only a little, and a long text by almost its full ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, isfinite, log

from grater.model import Json

USUAL = {
    "prep-choice": 0.02794,
    "prep-extraneous": 0.0173,
    "prep-missing": 0.00482,
    "article-choice": 0.01367,
    "article-extraneous": 0.04004,
    "article-missing": 0.02258,
    "number": 0.01419,
    "verb-form": 0.03291,
}
"""For the model that comes with grater, whose card has none: from the half of CoNLL-2014 that it was calibrated on
(`python -m figures context usual` in training)."""

VERIFIED = 0.8
"""The highest probability shown for a mark of that model.  Of its marks with .7 and more, .8 were right on average,
over two corpora that no figure reports: the half of CoNLL-2014 that it was calibrated on (.93) and 2,500 sentences
of CWEB-G (.63)."""

NAMES = tuple(USUAL)
"""The errors that have a calibration each: kind and type."""

TRUST = 2.0
LOWER = dict.fromkeys(NAMES, 1.0) | {"article-choice": 0.5}
"""For feedback: the shift counts twice and thresholds are lower.  Chosen on the half of CoNLL-2014 that the model was
calibrated on (precision .66 and recall .16 before, .62 and .20 after) and on CWEB-G (.36 and .13, .47 and .12)."""

PRECISIONS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
LEAST = 20
"""Flags that a threshold must be shown by."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """The calibration of the margins of one error name."""

    slope: float = 1.0
    intercept: float = 0.0
    shipped: float = inf
    thresholds: Mapping[float, float] = field(default_factory=dict, hash=False)
    usual: float = 0.0

    def probability(self, margin: float) -> float:
        """The share of flags with this margin that are right."""
        return 1 / (1 + exp(-max(-60.0, min(60.0, self.slope * margin + self.intercept))))

    def margin(self, probability: float) -> float:
        """The margin at which this share of flags is right; infinite if the share does not grow with the margin."""
        return (log(probability / (1 - probability)) - self.intercept) / self.slope if self.slope > 0 else inf

    def threshold(self, precision: float | None) -> float:
        """The margin that a flag must exceed; infinite if the precision was never reached."""
        if precision is None:
            return self.shipped
        if not self.thresholds and isfinite(self.shipped):
            return self.margin(precision)
        return min((margin for level, margin in self.thresholds.items() if level >= precision), default=inf)

    def as_json(self) -> dict[str, Json]:
        thresholds: dict[str, Json] = {f"{level:g}": margin for level, margin in sorted(self.thresholds.items())}
        shipped = self.shipped if isfinite(self.shipped) else None
        fitted: dict[str, Json] = {"slope": self.slope, "intercept": self.intercept, "shipped": shipped}
        return {**fitted, "thresholds": thresholds, "usual": self.usual}


SILENT = Calibration()
"""For an error with too few flags: nothing is flagged."""


def calibrations_of(numbers: object) -> dict[str, Calibration]:
    """From the numbers on a model's card; a `ValueError` for anything else."""
    if not isinstance(numbers, Mapping) or set(numbers) != set(NAMES):
        raise ValueError(f"expected a calibration for each of {', '.join(NAMES)}")
    return {name: _calibration(numbers[name], USUAL[name]) for name in NAMES}


def _calibration(numbers: Mapping[str, Json], usual: float) -> Calibration:
    shipped, thresholds = numbers["shipped"], numbers["thresholds"]
    if not isinstance(thresholds, Mapping):
        raise ValueError("expected thresholds by precision")
    return Calibration(
        slope=_number(numbers["slope"]),
        intercept=_number(numbers["intercept"]),
        shipped=inf if shipped is None else _number(shipped),
        thresholds={float(level): _number(margin) for level, margin in thresholds.items()},
        usual=_number(numbers.get("usual", usual)),
    )


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"expected a number, found {value!r}")
    return float(value)


NEARLY = 1.0
SHAPE = 6.5


def shifts(
    corrections: Sequence[Sequence[tuple[str, float]]], calibrations: Mapping[str, Calibration]
) -> list[float]:
    """For each slot of an essay, given all corrections by name and margin, the amount to add to its margins.

    Names without a known usual number of signs are ignored.
    """
    known = [[pair for pair in slot if calibrations[pair[0]].usual] for slot in corrections]
    signs = [sum(is_sign(margin, calibrations[name]) for name, margin in slot) for slot in known]
    usual = [sum(calibrations[name].usual for name, _ in slot) for slot in known]
    n_signs, expected = sum(signs), sum(usual)
    return [
        log((n_signs - own + SHAPE) / (expected - own_usual + SHAPE))
        for own, own_usual in zip(signs, usual, strict=True)
    ]


def is_sign(margin: float, calibration: Calibration) -> bool:
    return margin > calibration.shipped - NEARLY
