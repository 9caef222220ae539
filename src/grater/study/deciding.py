"""Systems run over the essays of a study: an item for every place they look at, a decision for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from grater.detect.detector import Detector
from grater.errors import UsageError
from grater.model import Essay, Item, Json
from grater.store import Store, Tx, decisions, items
from grater.store.chunks import chunks
from grater.study.crowd_planting import own_essays
from grater.study.versions import require_same_findings


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

    A system that says something else than before is a new version, and refused under its old name (`versions`).

    The systems run outside any transaction: raters need not wait for them.
    """
    with store.read() as tx:
        corpus = list(own_essays(tx))
    if not corpus:
        raise UsageError(f"{store.name}: the study has no essays yet: grater study import {store.name} FILE...")
    return [_one(store, detector, _counted(corpus, advance)) for detector in detectors]


def _one(store: Store, detector: Detector, corpus: Iterable[Essay]) -> Decided:
    findings = list(detector.find(corpus))
    with store.write() as tx:
        require_same_findings(tx, detector.name, findings)
        items.add_all(tx, (items.of(finding.item) for finding in findings))
        n_new = decisions.add_all(tx, (finding.decision for finding in findings))
    return Decided(detector.name, len(findings), sum(each.decision.flagged for each in findings), n_new)


def places_of(tx: Tx, kind: str) -> dict[str, list[Item]]:
    """The items of one kind that the study has, by essay: where a system from outside is to look."""
    by_essay: dict[str, list[Item]] = {}
    for each in items.all(tx, kind=kind):
        if each.item is not None:
            by_essay.setdefault(each.item.essay_id, []).append(each.item)
    if not by_essay:
        known = ", ".join(name for name, _ in items.kinds(tx)) or "none yet"
        raise UsageError(f"the study has no items of kind {kind!r} in its essays; its kinds: {known}")
    return by_essay


def _counted(corpus: Sequence[Essay], advance: Callable[[int], None]) -> Iterator[Essay]:
    for some in chunks(corpus, 10):
        yield from some
        advance(len(some))
