"""What `grater plan` is told, or reads, of the corpus and of raters."""

from __future__ import annotations

from math import inf
from pathlib import Path

from grater.cli.sample_rates import parse_rates, score_rates
from grater.errors import UsageError
from grater.evaluate.rater_error import rater_error
from grater.sampling.allocate import with_rates
from grater.sampling.plan import Expected, missed_of
from grater.sampling.raters import Skill, skill_of_kappa
from grater.sampling.scores import Stratum
from grater.sampling.strata import strata_of, stratified, system_names
from grater.tables import Judgments, read_decisions, read_gold


def guessed(
    flagged: float, precision: float, missed: float | None, recall: float | None, items: int | None
) -> Expected:
    """What is expected of a corpus that nobody has looked at."""
    if (missed is None) == (recall is None):
        raise UsageError("expected one of --missed RATE and --recall R, or --decisions D")
    for name, share in {"--recall": recall, "--flagged": flagged}.items():
        if share is not None and not 0 < share < 1:
            raise UsageError(f"expected {name} between 0 and 1, found {share:g}")
    rate = missed if recall is None else missed_of(flagged=flagged, precision=precision, recall=recall)
    return Expected(flagged, precision, rate or 0.0, items or inf)


def strata_from(decisions: Path, system: str | None, strata: str, rate: list[str]) -> list[Stratum]:
    """The strata of a corpus that a system has decided on, with the rates expected in each."""
    table = read_decisions(decisions)
    names = system_names(table)
    if system is None and len(names) > 1:
        raise UsageError(f"{decisions}: expected --system, one of {', '.join(names)}")
    name = system or names[0]
    rates = score_rates(table, name, strata, None) if rate in ([], ["score"]) else parse_rates(rate)
    return with_rates(strata_of(stratified(table, name, strata=strata)), rates)


def skill_from(
    accuracy: float | None, kappa: float | None, judgments: Judgments | None, gold: Path | None, error_rate: float
) -> Skill | None:
    """What one rater is like: as said, as the kappa of two says, or as gold shows; none where nothing is said."""
    given = [accuracy is not None, kappa is not None, judgments is not None or gold is not None]
    if sum(given) > 1:
        raise UsageError("expected one of --rater-accuracy, --kappa, and --judgments with --gold")
    if accuracy is not None:
        return Skill(accuracy, accuracy)
    if kappa is not None:
        return skill_of_kappa(kappa, error_rate)
    if judgments is None and gold is None:
        return None
    if judgments is None or gold is None:
        raise UsageError("expected --judgments and --gold together")
    raters = rater_error(judgments, read_gold(gold), truth="share")
    if raters.reason:
        raise UsageError(f"{gold}: {raters.reason}")
    return Skill(raters.sensitivity.value, raters.specificity.value)
