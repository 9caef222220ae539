"""What is said about one essay: the flags of all systems, in the order of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grater.detect.detector import Detector, Finding
from grater.model import DELETE, Essay, Json


@dataclass(frozen=True, slots=True)
class Feedback:
    """An essay with its flags; `name` is the file, `n_candidates` how many places each system looked at.

    `kinds` are the kinds of places that anybody looked at.
    """

    name: str
    essay: Essay
    flags: tuple[Finding, ...]
    n_candidates: dict[str, int]
    kinds: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Json]:
        return {
            "file": self.name,
            "essay": self.essay.essay_id,
            "characters": len(self.essay.text),
            "systems": [{"system": name, "candidates": n} for name, n in self.n_candidates.items()],
            "note": limits(self),
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
    kinds = tuple(dict.fromkeys(kind for system in systems for kind in system.kinds))
    return Feedback(name, essay, tuple(flags), n_candidates, kinds)


MISSING = {"prep-missing": "A preposition", "article": "An article"}
WRONG = {"prep": "the wrong preposition", "article": "the wrong article", "number": "in the wrong number"}
"""What may be amiss, by the kind of the item."""


LOOKED_FOR = {
    "prep": "prepositions",
    "prep-missing": "missing prepositions",
    "article": "articles",
    "number": "singular and plural",
}
MEASURED = ("prep-maxent", "prep-perceptron", "prep-lm", "prep-both", "article")
CHANCES = (
    "About half of its marks are errors to most teachers, and it finds about one error in six: ask, do not obey."
)
"""From docs/detectors.md and docs/articles.md: five or more of ten annotators of CoNLL-2014 see 588 errors; of 186
marks of `prep-maxent` and `article`, 95 are among them."""

SURE, FAIRLY, ALSO = 0.95, 0.8, 0.1
"""What the model must believe for its word to be called sure, or fairly sure, or worth a second suggestion."""


def limits(feedback: Feedback) -> str:
    """What was looked for, what was not, and how far the marks can be trusted."""
    known = [words for kind, words in LOOKED_FOR.items() if kind in feedback.kinds]
    if not known:
        return ""
    text = f"Looked for: {', '.join(known)}; not for spelling, verbs, word order or anything else."
    return f"{text} {CHANCES}" if set(feedback.n_candidates) <= set(MEASURED) else text


def advice(finding: Finding) -> str:
    """What to do about a flag, in a few words: `into → in`, `drop about`, `put in to`, `of → on or upon`."""
    decision = finding.decision
    if decision.suggestion == DELETE:
        return f"drop {finding.target}"
    words = " or ".join([str(decision.suggestion), *_further(finding)])
    return f"{finding.target} → {words}" if finding.target else f"put in {words}"


def _further(finding: Finding) -> list[str]:
    """Other prepositions that fit nearly as well."""
    if not finding.item.kind.startswith("prep"):
        return []
    best = (DELETE, finding.decision.suggestion, finding.target.lower())
    return [word for word, belief in finding.probabilities if belief >= ALSO and word not in best]


def sureness(finding: Finding) -> str:
    """How sure the system is of its answer, in words; nothing where it does not say."""
    belief = max((belief for _, belief in finding.probabilities), default=None)
    if belief is None:
        return ""
    return "sure" if belief >= SURE else "fairly sure" if belief >= FAIRLY else "not quite sure"


def source(finding: Finding) -> str:
    """Which system says so, and how sure it is."""
    return ", ".join(word for word in (finding.decision.system, sureness(finding)) if word)


def reason(finding: Finding) -> str:
    """What may be amiss, in two words."""
    if finding.decision.suggestion == DELETE:
        return "not needed?"
    if not finding.target:
        return f"{MISSING.get(finding.item.kind, 'A word').lower()} missing?"
    return f"{WRONG.get(finding.item.kind, 'wrong')}?"


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
        "sureness": sureness(finding),
        "message": question(finding),
        "probabilities": dict(finding.probabilities),
    }
