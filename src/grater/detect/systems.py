"""A detector under a name of one's own: the new version of a system beside the old one.

The detectors by name.

A name stands for a function without arguments that gives a `Detector`; others add their own by the entry-point group
`grater.systems`.  A path to a model (of any `grater train`) is a system too, named after
its file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

from grater.detect.detector import Detector, Finding
from grater.detect.external import SCHEMES
from grater.errors import UnknownName, UsageError
from grater.model import Essay, Item, Json
from grater.models import kind_of
from grater.registry import Registry


@dataclass(frozen=True, slots=True, eq=False)
class RenamedDetector:
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


MODEL = ".model"

SYSTEMS: Registry[Callable[[], Detector]] = Registry(
    "system",
    "grater.systems",
    {
        "article": "grater.detect.articles.detector:article",
        "prep-maxent": "grater.detect.prepositions.linear:prep_maxent",
        "prep-perceptron": "grater.detect.prepositions.linear:prep_perceptron",
        "prep-lm": "grater.detect.prepositions.ngram:load",
        "prep-both": "grater.detect.prepositions.combined:load",
    },
)


FROM_FILE: dict[str, str] = {
    "articles": "grater.detect.articles.detector:from_file",
    "prepositions": "grater.detect.prepositions.linear:from_file",
    "ngrams": "grater.detect.prepositions.ngram:from_file",
    "combined": "grater.detect.prepositions.combined:from_file",
}
"""What makes a detector of a model file, by the kind of model in it."""

_BY_KIND: Registry[Callable[[Path], Detector]] = Registry("kind of model", "grater.kinds_of_models", FROM_FILE)


def load_systems(names: Iterable[str], *, places: Mapping[str, Sequence[Item]] | None = None) -> list[Detector]:
    """The systems of these names, each once; two that would sign their decisions alike are refused."""
    by_name: dict[str, Detector] = {}
    for name in dict.fromkeys(names):
        found = load_system(name, places=places)
        if found.name in by_name:
            raise UsageError(f"two of the systems are called {found.name}; give one another name: NEW={name}")
        by_name[found.name] = found
    return list(by_name.values())


def load_system(name: str, *, places: Mapping[str, Sequence[Item]] | None = None) -> Detector:
    """A system by its name, by the path of its model, or one from outside (`corrected:FILE`, `command:LINE`, ...).

    `NEW=` before any of them gives it a name of one's own.  One from outside decides on `places`, by essay; ours know
    where to look.
    """
    if ":" in name or name.rpartition("=")[2] in SCHEMES:
        from grater.detect.external.detector import external, is_external  # only who names one needs them

        if is_external(name):
            return external(name, places=places)
    own, equals, rest = name.partition("=")
    if own and equals and not Path(name).exists():
        if not own.isprintable() or not own.strip():
            raise UsageError(f"expected a new name of letters that can be seen, found {own[:40]!r}")
        return RenamedDetector(own, load_system(rest, places=places))
    if places is not None:
        raise UsageError(f"{name} knows where to look; only a system from outside can be given places")
    if name.endswith(MODEL):
        return _BY_KIND[kind_of(Path(name))](Path(name))
    if name not in SYSTEMS:
        raise UnknownName(_unknown(name))
    return SYSTEMS[name]()


def _unknown(name: str) -> str:
    """The nearest name, ours or from outside; the name of a file wants a word that says what is in it."""
    if Path(name).is_file():
        return f"expected a system, found the file {name}; say what it holds: corrected:{name} or edits:{name}"
    schemes = [scheme if scheme == "harper" else f"{scheme}:..." for scheme in SCHEMES]
    near = get_close_matches(name.partition(":")[0], [*SYSTEMS, *SCHEMES], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown system {name!r}.{hint} Known: {', '.join([*SYSTEMS, *schemes])}"
