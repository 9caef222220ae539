"""The detector protocol: every place that it looked at, with its decision, its suggestion and its probabilities.

A detector returns a finding for every candidate, flagged or not, because recall, sampling and agreement need both. It
works on batches of essays (`grouped`) for speed; its findings do not depend on batch size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from grater.corpora.text.analysis import Sentence, analyse_all
from grater.errors import UsageError
from grater.model import Decision, Essay, Item, Json

SCHEMES = ("chat", "command", "corrected", "edits", "harper", "languagetool")
"""The schemes of systems that grater did not write, as in `corrected:FILE` (`grater.detect.external`)."""

LEAST_PRECISION, MOST_PRECISION = 0.5, 0.95
BATCH = 50_000
"""Characters of essays taken together."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A detector's decision on one item; `target` is the writer's text, empty for a gap.

    `probabilities` are the detector's answers and their probabilities, likeliest first, including the writer's own.
    If answers are not words (the constructions of a noun), `words` are the words they stand for. `alternatives` to
    the suggestion and a `message` come from systems that supply them. `confidence`, of a calibrated detector, is the
    share of flags like this one that were right; `rule` is the rule for learners that found it, if any.
    """

    item: Item
    decision: Decision
    target: str
    probabilities: tuple[tuple[str, float], ...]
    words: tuple[tuple[str, float], ...] = ()
    alternatives: tuple[str, ...] = ()
    message: str = ""
    confidence: float | None = None
    rule: str = ""


class Detector(Protocol):
    """A finder of errors of some `kinds`; `card` describes its origin."""

    @property
    def name(self) -> str: ...

    @property
    def kinds(self) -> tuple[str, ...]: ...

    @property
    def card(self) -> Mapping[str, Json]: ...

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        """A finding for every candidate, in the order of the essays."""
        ...


@runtime_checkable
class Checker(Protocol):
    """A detector that reads whole texts: `marks` are all its findings, of any kind."""

    def marks(self, essay: Essay) -> Iterator[Finding]:
        """A flagged finding for every place that it would change."""
        ...


@runtime_checkable
class CalibratedDetector(Detector, Protocol):
    """A detector that knows how often its flags are right, and can be adjusted to a precision."""

    def with_precision(self, precision: float) -> Detector:
        """The same with thresholds at which this share of its flags was right."""
        ...


def require_precision(precision: float) -> float:
    """A precision for which thresholds exist."""
    if not LEAST_PRECISION <= precision <= MOST_PRECISION:
        raise UsageError(f"expected a precision from {LEAST_PRECISION} to {MOST_PRECISION}, found {precision:g}")
    return precision


def grouped(essays: Iterable[Essay]) -> Iterator[list[Essay]]:
    """Essays in batches: short ones together, long ones alone."""
    group: list[Essay] = []
    n_characters = 0
    for essay in essays:
        group.append(essay)
        n_characters += len(essay.text)
        if n_characters >= BATCH:
            yield group
            group, n_characters = [], 0
    if group:
        yield group


def analysed(essays: Iterable[Essay]) -> Iterator[tuple[Essay, tuple[Sentence, ...]]]:
    """Every essay with its sentences."""
    for group in grouped(essays):
        yield from zip(group, analyse_all(group), strict=True)
