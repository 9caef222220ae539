"""Errors that every language course warns of: `python benchmarks/textbook.py [SYSTEM ...]`.

`textbook.tsv` has 200 sentences of our own, a hundred pairs: one with a textbook error, one without.  They were
written before the first neural model was trained and are never learnt from.  A row has the sentence, the kind and the
type of error that its pair is about, the span of the wrong words (an empty span is a gap; nothing, a right sentence)
and the corrections that are accepted (`-NONE-` for deletion), separated by `|`.

An error is found where a flag lies on its span, and corrected where the suggestion is accepted as well.  A right
sentence is falsely flagged by any flag at all, of whatever kind.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grater.detect.detector import Detector, Finding
from grater.detect.systems import load_systems
from grater.errors import GraterError
from grater.model import Essay, Span

LIST = Path(__file__).with_suffix(".tsv")
SYSTEMS = ("prep-maxent", "prep-both", "article")


@dataclass(frozen=True, slots=True)
class Case:
    """A sentence; `wrong` is None where nothing is."""

    sentence: str
    kind: str
    type: str
    wrong: Span | None
    corrections: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.kind if self.type == "number" else f"{self.kind} ({self.type})"


@dataclass(slots=True)
class Tally:
    """Errors, those found, those corrected; right sentences, those flagged."""

    n_wrong: int = 0
    n_found: int = 0
    n_corrected: int = 0
    n_right: int = 0
    n_flagged: int = 0
    missed: list[str] = field(default_factory=list)
    false_alarms: list[str] = field(default_factory=list)

    def add(self, case: Case, flags: Sequence[Finding]) -> None:
        if case.wrong is None:
            self.n_right += 1
            self.n_flagged += bool(flags)
            self.false_alarms += [_shown(case, flag) for flag in flags[:1]]
            return
        on_place = [flag for flag in flags if _is_on(flag.item.span, case.wrong)]
        self.n_wrong += 1
        self.n_found += bool(on_place)
        self.n_corrected += any((flag.decision.suggestion or "") in case.corrections for flag in on_place)
        self.missed += [] if on_place else [case.sentence]


def cases() -> list[Case]:
    """The list."""
    with LIST.open(encoding="utf-8", newline="") as stream:
        return [_case(row) for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]


def _case(row: dict[str, str]) -> Case:
    start, _, end = row["wrong"].partition("-")
    return Case(
        sentence=row["sentence"],
        kind=row["kind"],
        type=row["type"],
        wrong=Span(int(start), int(end)) if start else None,
        corrections=tuple(row["corrections"].split("|")) if row["corrections"] else (),
    )


def _is_on(flag: Span, wrong: Span) -> bool:
    """Whether a flag overlaps the wrong words; a gap is hit by an insertion there."""
    if flag.start == flag.end or wrong.start == wrong.end:
        return flag.start == wrong.start
    return flag.start < wrong.end and wrong.start < flag.end


def _shown(case: Case, flag: Finding) -> str:
    return f"{case.sentence}  [{flag.item.kind}: {flag.target or '(gap)'} → {flag.decision.suggestion}]"


def tallied(detector: Detector, listed: Sequence[Case]) -> dict[str, Tally]:
    """The counts by name of error, and of all under `all`."""
    flags: dict[str, list[Finding]] = {}
    for finding in detector.find(Essay(str(number), case.sentence) for number, case in enumerate(listed)):
        if finding.decision.flagged:
            flags.setdefault(finding.item.essay_id, []).append(finding)
    tallies: dict[str, Tally] = {}
    for number, case in enumerate(listed):
        for name in (case.name, "all"):
            tallies.setdefault(name, Tally()).add(case, flags.get(str(number), []))
    return {name: tallies[name] for name in [*(name for name in tallies if name != "all"), "all"]}


def show(name: str, tallies: dict[str, Tally], *, with_sentences: bool) -> None:
    print(f"\n{name}\n{'':26}{'found':>10}{'corrected':>12}{'falsely flagged':>18}")
    for kind, tally in tallies.items():
        shares = (
            f"{tally.n_found} of {tally.n_wrong}",
            f"{tally.n_corrected}",
            f"{tally.n_flagged} of {tally.n_right}",
        )
        print(f"{kind:26}{shares[0]:>10}{shares[1]:>12}{shares[2]:>18}")
    if with_sentences:
        print("missed:", *tallies["all"].missed, sep="\n  ")
        print("falsely flagged:", *tallies["all"].false_alarms, sep="\n  ")


def main(arguments: Iterable[str]) -> int:
    given = list(arguments)
    names = [name for name in given if name != "--sentences"] or SYSTEMS
    try:
        detectors = load_systems(names)
    except GraterError as error:
        print(error, file=sys.stderr)
        return 2
    for detector in detectors:
        show(detector.name, tallied(detector, cases()), with_sentences="--sentences" in given)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
