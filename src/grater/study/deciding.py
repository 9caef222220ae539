"""Systems run over the essays of a study: an item for every place they look at, a decision for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grater.detect.detector import Detector, Finding
from grater.errors import Conflict, UsageError
from grater.model import Essay, Json
from grater.store import Store, Tx, decisions, essays, items
from grater.store.chunks import chunks


@dataclass(frozen=True, slots=True)
class Decided:
    """What one system did."""

    system: str
    n_items: int
    n_flagged: int
    n_new: int

    def as_json(self) -> dict[str, Json]:
        return {"system": self.system, "items": self.n_items, "flagged": self.n_flagged, "new": self.n_new}


def decide(
    store: Store, detectors: Sequence[Detector], *, advance: Callable[[int], None] = lambda _: None
) -> list[Decided]:
    """Run the systems and keep their decisions, each system all or nothing; a second run changes nothing.

    The systems run outside any transaction: raters need not wait for them.
    """
    with store.read() as tx:
        corpus = list(essays.all(tx))
    if not corpus:
        raise UsageError(f"{store.name}: the study has no essays yet: grater study import {store.name} FILE...")
    return [_one(store, detector, _counted(corpus, advance)) for detector in detectors]


def _one(store: Store, detector: Detector, corpus: Iterable[Essay]) -> Decided:
    findings = list(detector.find(corpus))
    with store.write() as tx:
        _require_unchanged(tx, detector.name, findings)
        items.add_all(tx, (items.of(finding.item) for finding in findings))
        n_new = decisions.add_all(tx, (finding.decision for finding in findings))
    return Decided(detector.name, len(findings), sum(each.decision.flagged for each in findings), n_new)


def _require_unchanged(tx: Tx, system: str, findings: Sequence[Finding]) -> None:
    """A system that has decided before says the same again: samples and reports stand on what it said."""
    stored = {each.item_id: each.flagged for each in decisions.all(tx, system=system)}
    changed = sum(stored.get(each.item.item_id, each.decision.flagged) != each.decision.flagged for each in findings)
    if changed:
        raise Conflict(
            f"{system} decides {changed} of its {len(stored)} items otherwise than before; "
            "give the new version a name of its own"
        )


def _counted(corpus: Sequence[Essay], advance: Callable[[int], None]) -> Iterator[Essay]:
    for some in chunks(corpus, 10):
        yield from some
        advance(len(some))
