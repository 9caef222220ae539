"""The detectors by name.

A name stands for a function without arguments that returns a `Detector`; third parties add their own through the
entry-point group `grater.systems`. The path of a model file is a system too, named after its file; the kind of model
in it selects the detector. External systems have names with a scheme (`grater.detect.external`). `NEW=` before any of
these renames the system, so that a new version can be used with an old one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from grater.detect.detector import SCHEMES, CalibratedDetector, Detector, Finding
from grater.errors import GraterError, UnknownName, UsageError
from grater.model import Essay, Item, Json
from grater.models import kind_of, shipped_names
from grater.options import Registry
from grater.result import HIDDEN, OPTIONAL, Data, Result, in_json
from grater.sheet import Sheet

if TYPE_CHECKING:
    import polars as pl


MODEL = ".model"

SYSTEMS: Registry[Callable[[], Detector]] = Registry(
    "system",
    "grater.systems",
    {
        "article": "grater.detect.articles.detector:article",
        "prep-maxent": "grater.detect.prepositions.engines:prep_maxent",
        "prep-perceptron": "grater.detect.prepositions.engines:prep_perceptron",
        "prep-lm": "grater.detect.prepositions.engines:prep_lm",
        "prep-both": "grater.detect.prepositions.engines:prep_both",
        "context": "grater.detect.context.detector:load",
        "grammar": "grater.detect.grammar:Grammar",
        "spelling": "grater.detect.spelling:Spelling",
    },
)


NEURAL, CLASSICAL = "context", ("prep-maxent", "article")
"""The default systems for an essay: the first if it can run, else the others."""

PATTERNS, SPELLING, DICTIONARY = "grammar", "spelling", "prep-lm"
"""The systems that mark, in addition, certain errors by patterns, and misspelt words by this model."""

CHECKER = "harper:errors"
"""The checker for all other errors, if its package is installed."""


def default_systems() -> tuple[str, ...]:
    """The systems that check an essay by default."""
    ours = (NEURAL,) if NEURAL in shipped_names() and find_spec("onnxruntime") else CLASSICAL
    ours = (*ours, PATTERNS, *([SPELLING] if DICTIONARY in shipped_names() else []))
    return (*ours, CHECKER) if find_spec("harper") else ours


FROM_FILE: dict[str, str] = {
    "articles": "grater.detect.articles.detector:from_file",
    "prepositions": "grater.detect.prepositions.engines:linear_from_file",
    "ngrams": "grater.detect.prepositions.engines:ngram_from_file",
    "context": "grater.detect.context.detector:from_file",
    "combined": "grater.detect.prepositions.engines:combined_from_file",
}
"""The function that makes a detector of a model file, by the kind of model in it."""

_BY_KIND: Registry[Callable[[Path], Detector]] = Registry("kind of model", "grater.kinds_of_models", FROM_FILE)


Places: TypeAlias = Mapping[str, Sequence[Item]] | None


def load_systems(
    names: Iterable[str], *, places: Places = None, chat: Mapping[str, Any] | None = None
) -> list[Detector]:
    """The systems of these names, each once; two with the same final name are refused."""
    by_name: dict[str, Detector] = {}
    for name in dict.fromkeys(names):
        detector = load_system(name, places=places, chat=chat)
        if detector.name in by_name:
            raise UsageError(f"two of the systems are called {detector.name}; rename one of them: NEW={name}")
        by_name[detector.name] = detector
    return list(by_name.values())


def at_precision(detectors: Sequence[Detector], precision: float | None) -> list[Detector]:
    """The same with thresholds for a precision; systems without such thresholds are unchanged."""
    if precision is None:
        return list(detectors)
    tuned = [_at_precision(detector, precision) for detector in detectors]
    if all(new is old for new, old in zip(tuned, detectors, strict=True)):
        names = ", ".join(detector.name for detector in detectors)
        raise UsageError(f"expected a system with thresholds by precision, as context has them, found {names}")
    return tuned


def _at_precision(detector: Detector, precision: float) -> Detector:
    if isinstance(detector, RenamedDetector):
        inner = _at_precision(detector.detector, precision)
        return detector if inner is detector.detector else replace(detector, detector=inner)
    return detector.with_precision(precision) if isinstance(detector, CalibratedDetector) else detector


def load_system(name: str, *, places: Places = None, chat: Mapping[str, Any] | None = None) -> Detector:
    """A system by its name, the path of its model, or an external one (`corrected:FILE`, `command:LINE`, ...).

    `NEW=` before any of them renames it. An external system decides on `places`, by essay; ours find their own.
    `chat` configures chat endpoints (`grater.options.Correcting`).
    """
    if ":" in name or name.rpartition("=")[2] in SCHEMES:
        from grater.detect.external import external, is_external  # only who names one needs them

        if is_external(name):
            return external(name, places=places, chat=chat)
    own, equals, rest = name.partition("=")
    if own and equals and not Path(name).exists():
        if not own.isprintable() or not own.strip():
            raise UsageError(f"expected a new name of printable characters, found {own[:40]!r}")
        return RenamedDetector(own, load_system(rest, places=places, chat=chat))
    if places is not None:
        raise UsageError(f"{name} finds its own places; only an external system can be given places")
    if name.endswith(MODEL):
        return _BY_KIND[kind_of(Path(name))](Path(name))
    if name not in SYSTEMS:
        raise UnknownName(_unknown(name))
    return SYSTEMS[name]()


def _unknown(name: str) -> str:
    """The nearest name; a file name needs a scheme that says what is in the file."""
    if Path(name).is_file():
        return f"expected a system, found the file {name}; say what is in it: corrected:{name} or edits:{name}"
    schemes = [scheme if scheme == "harper" else f"{scheme}:..." for scheme in SCHEMES]
    near = get_close_matches(name.partition(":")[0], [*SYSTEMS, *SCHEMES], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown system {name!r}.{hint} Known: {', '.join([*SYSTEMS, *schemes])}"


@dataclass(frozen=True, slots=True, eq=False)
class RenamedDetector:
    """The findings of `detector` under another name."""

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


@dataclass(frozen=True, slots=True)
class SystemCard(Data):
    """A system with the card of its model; one that cannot be loaded has a `problem` instead."""

    system: str
    kinds: tuple[str, ...] = field(default=(), metadata=HIDDEN)
    card: Mapping[str, Json] = field(default_factory=dict, metadata=HIDDEN)
    problem: str = field(default="", metadata=OPTIONAL)

    @property
    def data(self) -> list[str]:
        """The names of the texts that the model was made from."""
        data = self.card.get("data")
        if not isinstance(data, list):
            return []
        return [str(source.get("name", "")) if isinstance(source, dict) else str(source) for source in data]

    @property
    @in_json(flat=True)
    def _known(self) -> dict[str, Json]:
        return {} if self.problem else {"kinds": list(self.kinds), "card": dict(self.card)}


@dataclass(frozen=True, slots=True, repr=False)
class SystemCards(Result):
    """The errors that systems search for, and their sources."""

    systems: tuple[SystemCard, ...]

    def to_frame(self) -> pl.DataFrame:
        """One row per system."""
        import polars as pl  # which loading a system need not wait for

        rows = [
            (card.system, list(card.kinds), card.data, card.card.get("hash"), card.problem) for card in self.systems
        ]
        return pl.DataFrame(rows, schema=("system", "kinds", "data", "hash", "problem"), orient="row")

    def sheets(self) -> tuple[Sheet, ...]:
        rows = tuple(
            (card.system, ", ".join(card.kinds), ", ".join(card.data), str(card.card.get("hash", "")))
            for card in self.systems
            if not card.problem
        )
        notes = tuple(f"{card.system}: {card.problem}" for card in self.systems if card.problem)
        return (Sheet("Systems", ("system", "kinds", "made from", "hash"), rows, notes=notes),)


def system_cards(names: Iterable[str] = ()) -> SystemCards:
    """The cards of these systems, or of all installed ones; of one that cannot be loaded, the problem."""
    cards = []
    for name in names or SYSTEMS.names():
        try:
            detector = load_system(name)
            cards.append(SystemCard(system=detector.name, kinds=tuple(detector.kinds), card=detector.card))
        except GraterError as error:
            if names:
                raise
            cards.append(SystemCard(system=name, problem=str(error)))
    return SystemCards(tuple(cards))
