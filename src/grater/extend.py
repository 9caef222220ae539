"""The imports for your own package that extends grater.

It names what it adds as an entry point, and every command, page and function knows it by that name:

    | group | an entry point is |
    |---|---|
    | `grater.formats` | a `FileFormat` or `FolderFormat` |
    | `grater.tagsets` | a `TagSet` |
    | `grater.systems` | a function or class that returns a `Detector` when called |
    | `grater.tasks` | a `Task` |
    | `grater.aggregators` | a function `fit(ballots: Ballots, options: AggregationOptions) -> Fit` |
    | `grater.metrics` | a `Metric` |

The package in `examples/house-style` has one of each.  A name of ours cannot be taken over.
"""

from __future__ import annotations

from grater.annotate.tasks.task import (
    ERROR,
    LABEL,
    OK,
    UNKNOWN,
    Accepted,
    Answer,
    Choice,
    Field,
    Form,
    OneItem,
    Piece,
    Rng,
    Shown,
    Task,
    Unit,
    UnitItem,
    all_accepted,
    only_item,
    pieces_around,
    read_fields,
    the_one,
)
from grater.corpora.formats import EssayIds, FileFormat, FolderFormat, Loss, Report, Source, parse_json
from grater.corpora.tagsets import Tag, TagSet
from grater.detect.detector import Detector, Finding
from grater.errors import BadInput, GraterError, Problem, Problems, UsageError
from grater.measure.corrections.scores import (
    AnnotatorCounts,
    EditMetric,
    Hypothesis,
    Metric,
    MetricOptions,
    References,
    SentenceCounts,
    corrected_texts,
    hypothesis_texts,
    of_rows,
)
from grater.measure.crowd.aggregate.ballots import Ballots, Fit, clamped
from grater.measure.crowd.aggregate.ballots import Options as AggregationOptions
from grater.model import Decision, Edit, Essay, Item, Json, Span, short_hash
from grater.sheet import Signature, digest

__all__ = ["Decision", "Edit", "Essay", "Item", "Json", "Span", "short_hash"]
__all__ += ["BadInput", "GraterError", "Problem", "Problems", "UsageError"]

# Formats and tag sets
__all__ += ["EssayIds", "FileFormat", "FolderFormat", "Loss", "Report", "Source", "parse_json"]
__all__ += ["Tag", "TagSet"]

# Detectors
__all__ += ["Detector", "Finding"]

# Tasks
__all__ += ["Accepted", "Answer", "Choice", "Field", "Form", "Piece", "Rng", "Shown", "Task", "Unit", "UnitItem"]
__all__ += ["ERROR", "LABEL", "OK", "UNKNOWN", "OneItem"]
__all__ += ["all_accepted", "only_item", "pieces_around", "read_fields", "the_one"]

# Aggregation methods and metrics
__all__ += ["AggregationOptions", "Ballots", "Fit", "clamped"]
__all__ += ["AnnotatorCounts", "EditMetric", "Metric", "MetricOptions", "SentenceCounts"]
__all__ += ["Hypothesis", "References"]
__all__ += ["Signature", "corrected_texts", "digest", "hypothesis_texts", "of_rows"]
