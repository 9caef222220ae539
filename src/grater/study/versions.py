"""A system of one name is one version of it: what it said before, it says again.

Samples, jobs, curves and reports stand on flags, scores and suggestions, and on the places that a system looked at.
A system that changed any of them is a new version: it is refused under the old name and welcome under a new one, so
that both can be held against the same judgments.  Essays that came since are no change, and neither is a place of a
kind that the system never looked at before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isclose

from grater.detect.detector import Finding
from grater.errors import Conflict
from grater.model import Decision
from grater.store import Tx, decisions

FIELDS = {"flagged": "flags", "score": "scores", "type": "types", "suggestion": "suggestions"}
NEARLY = 1e-6
"""Scores this close are the same: another machine adds up in another order."""


def require_same_findings(tx: Tx, system: str, findings: Sequence[Finding]) -> None:
    """Refuse findings on all essays of the study that differ from what the system said of them before."""
    stored = {each.item_id: each for each in decisions.all(tx, system=system)}
    changed = _changes(stored, (finding.decision for finding in findings))
    decided = {(each.item.essay_id, each.item.kind) for each in findings if each.item.item_id in stored}
    new = (each.item for each in findings if each.item.item_id not in stored)
    changed["places that it did not look at"] = sum((item.essay_id, item.kind) in decided for item in new)
    changed["places that it looks at no more"] = len(stored.keys() - {each.item.item_id for each in findings})
    _require_none(system, len(stored), changed)


def require_same_decisions(tx: Tx, found: Iterable[Decision]) -> None:
    """Refuse decisions of which some are stored and say something else; others may be missing or new."""
    known = set(decisions.names(tx))
    by_system: dict[str, list[Decision]] = {}
    for decision in found if known else ():
        if decision.system in known:
            by_system.setdefault(decision.system, []).append(decision)
    for system in sorted(by_system):
        stored = {each.item_id: each for each in decisions.all(tx, system=system)}
        _require_none(system, len(stored), _changes(stored, by_system[system]))


def _changes(stored: Mapping[str, Decision], found: Iterable[Decision]) -> Counter[str]:
    """How many items differ, by what differs."""
    changed: Counter[str] = Counter()
    for new in found:
        old = stored.get(new.item_id)
        if old is not None and old != new:
            changed.update(words for field, words in FIELDS.items() if not _same(old, new, field))
    return changed


def _same(old: Decision, new: Decision, field: str) -> bool:
    before, now = getattr(old, field), getattr(new, field)
    if isinstance(before, float) and isinstance(now, float):
        return isclose(before, now, rel_tol=NEARLY, abs_tol=NEARLY)
    return bool((before or "") == (now or "")) if field != "score" else before is now


def _require_none(system: str, n_stored: int, changed: Mapping[str, int]) -> None:
    told = ", ".join(f"{n:,} {words}" for words, n in changed.items() if n)
    if told:
        raise Conflict(
            f"{system} is not the {system} that decided on {n_stored:,} items of this study: {told} differ; nothing "
            "was changed. Give the new version a name of its own, as in --system NEW=NAME"
        )
