"""grater: find out how good a grammatical error detector really is.

`import grater` offers the functions of `grater.library` and the values that they share.  Importing costs nothing, for
a name is loaded when it is first used.  Everything else is imported from its own package, as in
`from grater.uncertainty.bootstrap import Chance`.  docs/architecture.md says which package holds what.
"""

from __future__ import annotations

from importlib import import_module

__version__ = "0.2.0"

TYPE_CHECKING = False  # `typing` itself would double the time of the import
if TYPE_CHECKING:
    from typing import Any

    from grater.errors import GraterError as GraterError
    from grater.library import aggregate as aggregate
    from grater.library import agreement as agreement
    from grater.library import ceiling as ceiling
    from grater.library import check as check
    from grater.library import check_corpus as check_corpus
    from grater.library import compare as compare
    from grater.library import convert as convert
    from grater.library import corpus_judgments as corpus_judgments
    from grater.library import corpus_statistics as corpus_statistics
    from grater.library import decide as decide
    from grater.library import difficulty as difficulty
    from grater.library import edit_agreement as edit_agreement
    from grater.library import estimate as estimate
    from grater.library import evaluate as evaluate
    from grater.library import load_system as load_system
    from grater.library import plan as plan
    from grater.library import raters as raters
    from grater.library import raters_needed as raters_needed
    from grater.library import read_corpus as read_corpus
    from grater.library import read_decisions as read_decisions
    from grater.library import read_judgments as read_judgments
    from grater.library import report as report
    from grater.library import sample as sample
    from grater.library import score as score
    from grater.library import select as select
    from grater.library import simulate as simulate
    from grater.library import systems as systems
    from grater.library import verify as verify
    from grater.library import worksheet as worksheet
    from grater.model import Edit as Edit
    from grater.model import Essay as Essay
    from grater.model import Interval as Interval
    from grater.model import Span as Span

_HOME = {
    "Edit": "grater.model",
    "Essay": "grater.model",
    "GraterError": "grater.errors",
    "Interval": "grater.model",
    "Span": "grater.model",
}
"""Which module holds a name, where that is not `grater.library`."""

__all__ = [
    "Edit",
    "Essay",
    "GraterError",
    "Interval",
    "Span",
    "aggregate",
    "agreement",
    "ceiling",
    "check",
    "check_corpus",
    "compare",
    "convert",
    "corpus_judgments",
    "corpus_statistics",
    "decide",
    "difficulty",
    "edit_agreement",
    "estimate",
    "evaluate",
    "load_system",
    "plan",
    "raters",
    "raters_needed",
    "read_corpus",
    "read_decisions",
    "read_judgments",
    "report",
    "sample",
    "score",
    "select",
    "simulate",
    "systems",
    "verify",
    "worksheet",
]


if not TYPE_CHECKING:  # which knows the names from above, and should know no others

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'grater' has no attribute {name!r}")
        value = getattr(import_module(_HOME.get(name, "grater.library")), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
