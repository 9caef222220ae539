"""How many errors a text seems to have, and what that says about each of its flags.

Calibrations come from essays of learners.  Where errors are rarer, a flag with the same margin is more often a false
alarm; where they are more frequent, less often.  By Bayes' rule the log-odds of an error move by the logarithm of how
many times as frequent errors are (Saerens, Latinne and Decaestecker 2002), and so does every margin of an essay:

    shift = log((signs + SHAPE) / (expected + SHAPE))

`signs` are the corrections at all other slots of the essay whose margin reaches the shipped threshold or misses it by
less than `NEARLY`; `expected` is how many an essay of learners has among as many corrections of the same names
(`Calibration.usual`).  The fraction is the mean of how frequent errors are in this essay, given its signs, if that
follows a gamma distribution from essay to essay, as it does with this shape among the 50 of CoNLL-2014 (6.3 by
moments, 6.5 by likelihood).  So a sentence by itself is moved by little, and a long text by all that it shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

from grater.detect.context.calibration import Calibration

NEARLY = 1.0
SHAPE = 6.5


def shifts(
    corrections: Sequence[Sequence[tuple[str, float]]], calibrations: Mapping[str, Calibration]
) -> list[float]:
    """For each slot of an essay, whose corrections are given by name and margin, what to add to its margins.

    Names of which nobody knows how many signs are usual say nothing.
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
