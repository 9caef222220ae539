"""What is said about one essay: the flags of all systems, in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grater.detect.detector import Detector, Finding
from grater.model import DELETE, Essay, Json


@dataclass(frozen=True, slots=True)
class Feedback:
    """An essay with its flags; `name` is the file, `n_candidates` how many places each system looked at."""

    name: str
    essay: Essay
    flags: tuple[Finding, ...]
    n_candidates: dict[str, int]

    def as_json(self) -> dict[str, Json]:
        return {
            "file": self.name,
            "essay": self.essay.essay_id,
            "characters": len(self.essay.text),
            "systems": [{"system": name, "candidates": n} for name, n in self.n_candidates.items()],
            "flags": [flag_json(finding) for finding in self.flags],
        }


def feedback_on(essay: Essay, systems: Sequence[Detector], *, name: str) -> Feedback:
    """Every system's flags on an essay."""
    flags: list[Finding] = []
    n_candidates: dict[str, int] = {}
    for system in systems:
        found = list(system.find([essay]))
        n_candidates[system.name] = len(found)
        flags += [finding for finding in found if finding.decision.flagged]
    flags.sort(key=lambda finding: (finding.item.span, finding.item.kind, finding.decision.system))
    return Feedback(name, essay, tuple(flags), n_candidates)


MISSING = {"prep-missing": "A preposition", "article": "An article"}
WRONG = {"prep": "the wrong preposition", "article": "the wrong article", "number": "in the wrong number"}
"""What may be amiss, by the kind of the item."""


def advice(finding: Finding) -> str:
    """What to do about a flag, in a few words: `into → in`, `drop about`, `put in to`."""
    decision = finding.decision
    if decision.suggestion == DELETE:
        return f"drop {finding.target}"
    if not finding.target:
        return f"put in {decision.suggestion}"
    return f"{finding.target} → {decision.suggestion}"


def question(finding: Finding) -> str:
    """The flag as a sentence to the writer."""
    decision, target = finding.decision, finding.target
    if decision.suggestion == DELETE:
        return f"“{target}” may not be needed here."
    if not target:
        return f"{MISSING.get(finding.item.kind, 'A word')} may be missing here: “{decision.suggestion}”?"
    return f"“{target}” may be {WRONG.get(finding.item.kind, 'wrong')} here; “{decision.suggestion}”?"


def flag_json(finding: Finding) -> dict[str, Json]:
    decision, span = finding.decision, finding.item.span
    return {
        "item": finding.item.item_id,
        "start": span.start,
        "end": span.end,
        "kind": finding.item.kind,
        "target": finding.target,
        "system": decision.system,
        "type": decision.type,
        "suggestion": decision.suggestion,
        "score": decision.score,
        "message": question(finding),
        "probabilities": dict(finding.probabilities),
    }
