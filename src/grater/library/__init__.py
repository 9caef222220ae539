"""grater from Python: one function for each thing that a command does, offered by `import grater` itself.

Tables go in as they are: a frame of pandas, polars or Arrow, a path, or a table that was read before; essays go in as
a path or as the list that `read_corpus` returns.  Options are keyword-only and have the defaults of the commands.
Results have `to_dict()`, `to_frame()` and `sheets()`, and show themselves as tables in a notebook.

Each function imports what it needs when it is called, so that scoring corrections does not wait for data frames, nor
reading a corpus for detectors.
"""

from __future__ import annotations

from grater.library.corpora import (
    check_corpus,
    convert,
    corpus_judgments,
    corpus_statistics,
    read_corpus,
)
from grater.library.corrections import (
    ceiling,
    score,
)
from grater.library.detectors import (
    check,
    decide,
    load_system,
    select,
    systems,
)
from grater.library.evaluation import (
    compare,
    estimate,
    evaluate,
    plan,
    read_decisions,
    report,
    sample,
    verify,
    worksheet,
)
from grater.library.judgments import (
    aggregate,
    agreement,
    difficulty,
    edit_agreement,
    raters,
    raters_needed,
    read_judgments,
    simulate,
)

__all__ = [
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

CHAPTERS = ("corpora", "judgments", "evaluation", "corrections", "detectors")
"""The modules in the order in which a reader meets them."""
