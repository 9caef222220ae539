"""Running systems over a study's essays: an item for every place they look at, and a decision on each.

A name stands for one version of a system, whose decisions never change. Samples, jobs, curves and reports rest on its
flags, scores and suggestions, and on the places that it looked at. A system that changes any of these is a new
version: it is refused under the old name and accepted under a new one, so that both can be evaluated against the same
judgments. Decisions on newer essays, or on new kinds of places, are not changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from urllib.parse import urlsplit

from grater.annotate import content
from grater.annotate.content import own_essays
from grater.annotate.store import Store, Tx, schema
from grater.annotate.store.transaction import chunks
from grater.detect.decisions import answers_of, on_edits
from grater.detect.detector import Detector, Finding
from grater.detect.external import ExternalDetector
from grater.detect.external.chat import Chatted
from grater.detect.systems import SYSTEMS, load_system
from grater.errors import Conflict, UsageError
from grater.model import EDIT, Decision, Essay, Item, Json
from grater.result import Data

FIELDS = {"flagged": "flags", "score": "scores", "type": "types", "suggestion": "suggestions"}
NEARLY = 1e-6
"""Scores this close are the same: another machine adds up in another order."""


def require_same_decisions(tx: Tx, new: Iterable[Decision]) -> None:
    """Refuse decisions that contradict stored ones; missing and additional ones are allowed."""
    known = set(content.system_names(tx))
    by_system: dict[str, list[Decision]] = {}
    for decision in new if known else ():
        if decision.system in known:
            by_system.setdefault(decision.system, []).append(decision)
    for system in sorted(by_system):
        stored = {each.item_id: each for each in content.all_decisions(tx, system=system)}
        _require_none(system, len(stored), _changes(stored, by_system[system]))


def _changes(stored: Mapping[str, Decision], decided: Iterable[Decision]) -> Counter[str]:
    """How many items differ, by what differs."""
    changed: Counter[str] = Counter()
    for new in decided:
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
    parts = ", ".join(f"{n:,} {words}" for words, n in changed.items() if n)
    if parts:
        raise Conflict(
            f"{system} is not the {system} that decided on {n_stored:,} items of this study: {parts} differ; nothing "
            "was changed. Give the new version its own name"
        )


@dataclass(frozen=True, slots=True)
class Decided(Data):
    system: str
    n_items: int
    n_flagged: int
    n_new: int


def decide(
    store: Store, detectors: Sequence[Detector], *, advance: Callable[[int], None] = lambda _: None
) -> list[Decided]:
    """Run the systems and store their decisions, each system all or nothing; a second run changes nothing.

    A system whose decisions differ is a new version, and refused under its old name (`require_same_decisions`).

    The systems run outside any transaction, so raters need not wait for them.
    """
    with store.read() as tx:
        corpus = list(own_essays(tx))
    if not corpus:
        raise UsageError(f"{store.name}: the study has no essays yet; import some first")
    return [_one(store, detector, _counted(corpus, advance)) for detector in detectors]


def _one(store: Store, detector: Detector, corpus: Iterable[Essay]) -> Decided:
    findings = list(detector.find(corpus))
    with store.write() as tx:
        content.hold(tx)
        # of essays that were deleted meanwhile nothing is stored
        known = content.known_essays(tx, {finding.item.essay_id for finding in findings})
        findings = [finding for finding in findings if finding.item.essay_id in known]
        # Refuse decisions that differ from earlier ones of the system on any essay of the study.
        stored = {each.item_id: each for each in content.all_decisions(tx, system=detector.name)}
        changed = _changes(stored, (finding.decision for finding in findings))
        decided = {(each.item.essay_id, each.item.kind) for each in findings if each.item.item_id in stored}
        new = (each.item for each in findings if each.item.item_id not in stored)
        changed["places it did not look at"] = sum((item.essay_id, item.kind) in decided for item in new)
        changed["places it no longer looks at"] = len(stored.keys() - {each.item.item_id for each in findings})
        _require_none(detector.name, len(stored), changed)
        content.add_items(tx, (content.study_item(each.item, payload=_shown_with(each)) for each in findings))
        n_new = content.add_decisions(tx, (finding.decision for finding in findings))
        if model := detector.card.get("model"):
            this = schema.systems.update().where(schema.systems.c.system == detector.name)
            tx.execute(this.values(options={content.MODEL: str(model)}))
        # The words of every place where the system gives probabilities, flagged or not (T&C 2008, 4).
        content.keep_answers(
            tx,
            detector.name,
            {
                finding.item.item_id: [[word, share] for word, share in answers_of(finding)]
                for finding in findings
                if finding.probabilities and len(finding.item.span)
            },
        )
    return Decided(detector.name, len(findings), sum(each.decision.flagged for each in findings), n_new)


def _shown_with(finding: Finding) -> dict[str, Json]:
    """An item's data besides its place: the words and type of an edit."""
    if finding.item.kind != EDIT:
        return {}
    return {"suggestion": finding.decision.suggestion, "type": finding.decision.type}


def places_of(tx: Tx, kind: str) -> dict[str, list[Item]]:
    """The study's items of one kind, by essay: the places where an external system decides."""
    by_essay: dict[str, list[Item]] = {}
    for each in content.all_items(tx, kind=kind):
        if each.item is not None:
            by_essay.setdefault(each.item.essay_id, []).append(each.item)
    if not by_essay:
        known = ", ".join(name for name, _ in content.item_kinds(tx)) or "none yet"
        raise UsageError(f"the study has no items of kind {kind!r} in its essays; its kinds: {known}")
    return by_essay


def _counted(corpus: Sequence[Essay], advance: Callable[[int], None]) -> Iterator[Essay]:
    for some in chunks(corpus, 10):
        yield from some
        advance(len(some))


def offered_systems(others: Iterable[str] = ()) -> dict[str, str]:
    """The systems that pages and calls may run, by name; forms never send paths, commands or addresses.

    `others` are external ones, `NAME=SYSTEM`, named when the server was started.
    """
    return {**{name: name for name in SYSTEMS}, **{name.partition("=")[0]: name for name in others}}


def load_offered(system: str, chat: Mapping[str, Json]) -> Detector:
    """Load an offered system; for a language model every edit is an item."""
    detector = load_system(system, chat=chat)
    return on_edits([detector], ())[0] if model_in(detector) else detector


def model_in(detector: Detector) -> Chatted | None:
    """The language model that a system uses, if any."""
    corrector = detector.corrector if isinstance(detector, ExternalDetector) else None
    return corrector if isinstance(corrector, Chatted) else None


def require_one_host(detectors: Iterable[Detector]) -> None:
    """Refuse models at several hosts with one key, which would reveal each host's key to the others."""
    models = [model.chat.endpoint for detector in detectors if (model := model_in(detector))]
    hosts = sorted({urlsplit(endpoint.url).netloc for endpoint in models})
    if len(hosts) > 1 and models[0].key:
        raise UsageError(f"one key is for one host, and models at {' and '.join(hosts)} are offered")


def require_offered(name: str, others: Iterable[str] = ()) -> str:
    """The specification of an offered system by its name; other systems are refused."""
    offered = offered_systems(others)
    if name not in offered:
        raise UsageError(f"system: expected one of {', '.join(offered)}, found {name[:20]!r}")
    return offered[name]
