"""A detector under a name of one's own: the new version of a system beside the old one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from grater.detect.detector import Detector, Finding
from grater.model import Essay, Json


@dataclass(frozen=True, slots=True, eq=False)
class Renamed:
    """Finds what `detector` finds, and signs it with `name`."""

    name: str
    detector: Detector

    @property
    def kinds(self) -> tuple[str, ...]:
        return self.detector.kinds

    @property
    def card(self) -> Mapping[str, Json]:
        return self.detector.card

    def find(self, essays: Iterable[Essay]) -> Iterator[Finding]:
        for finding in self.detector.find(essays):
            yield replace(finding, decision=replace(finding.decision, system=self.name))
