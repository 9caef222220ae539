"""The jobs on a corpus shard by shard: decisions of detectors, and corpus statistics.

*Decisions* of several detectors come from one pass, with the places of their items.  Rows are in the order of essays,
and within an essay in the order of the systems as they were named.  External systems that are files or programs
see a corpus as a whole and are not run shard by shard (`is_external`).

*Statistics* of a shard are a tally that merges with others (`grater.corpora.statistics`): a document that continues
in the next shard is added up by its name, and intervals come from the same blocks of documents, so every number is
the same as in one pass.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Unpack

from grater.corpora.counts import Counting
from grater.corpora.statistics import CorpusTally
from grater.detect.decisions import ITEM, TYPES, DecisionRows, summary
from grater.detect.detector import Detector
from grater.detect.systems import at_precision, load_systems
from grater.model import Json
from grater.options import Working, require_different
from grater.scale.corpus import engine_for, shards_of
from grater.scale.engines import Engine
from grater.scale.jobs import Done, Partial, Parts, Schema, ignore_done
from grater.scale.shards import Shard, ShardEssay, ShardSource

DECISIONS, ITEMS = "decisions", "items"


@cache
def _detectors(systems: tuple[str, ...], precision: float | None) -> tuple[Detector, ...]:
    return tuple(at_precision(load_systems(systems), precision))


@dataclass(frozen=True, slots=True)
class DecideJob:
    """The systems by name or model file; with `items` their places go into a separate table.

    With `documents` decisions have a column of these.
    """

    systems: tuple[str, ...]
    precision: float | None = None
    with_answers: bool = False
    items: bool = False
    documents: bool = False
    name: str = "decide"
    version: int = 1

    @property
    def detectors(self) -> tuple[Detector, ...]:
        return _detectors(self.systems, self.precision)

    @property
    def options(self) -> Mapping[str, Json]:
        systems: list[Json] = [[detector.name, (detector.card or {}).get("hash")] for detector in self.detectors]
        return {
            "systems": systems,
            "precision": self.precision,
            "answers": self.with_answers,
            "items": self.items,
            **({"documents": True} if self.documents else {}),
        }

    @property
    def tables(self) -> Mapping[str, Schema]:
        decisions = {DECISIONS: self._rows().schema}
        return {**decisions, ITEMS: ITEM} if self.items else decisions

    def _rows(self) -> DecisionRows:
        return DecisionRows(with_places=not self.items, with_answers=self.with_answers, with_documents=self.documents)

    def partial(self, essays: Sequence[ShardEssay]) -> Partial:
        rows = self._rows()
        rows.add_batch([each.essay for each in essays], self.detectors)
        decisions = rows.decisions()
        tables = {DECISIONS: decisions, **({ITEMS: rows.items()} if self.items else {})}
        totals = {
            f"{counts['system']}|{name}": int(counts[name])
            for counts in summary(decisions)
            for name in ("items", "flagged", *TYPES)
        }
        return Partial(tables=tables, totals=totals)


def summary_of(decisions: Parts) -> list[dict[str, Json]]:
    """The number of items, of flags and of each type for each system, as `grater.detect.decisions.summary`."""
    names, totals = ("items", "flagged", *TYPES), decisions.totals
    systems: list[list[str]] = decisions.about["options"]["systems"]  # type: ignore[index,call-overload,assignment]
    return [
        {"system": system, **{name: totals[f"{system}|{name}"] for name in names}}
        for system, _ in systems
        if f"{system}|items" in totals
    ]


@dataclass(frozen=True, slots=True)
class TallyTask:
    """The counts of a shard for the corpus study, by the values of a metadata field where one is named."""

    shard: Shard
    by: str | None
    counting: Counting

    @property
    def name(self) -> str:
        return f"statistics of {self.shard.file}"

    def run(self) -> tuple[int, CorpusTally]:
        essays = (each.essay for each in self.shard.read())
        return self.shard.number, CorpusTally.of("", essays, self.by, self.counting)


def tally_of(
    name: str, shards: ShardSource, by: str | None, counting: Counting, engine: Engine, *, done: Done = ignore_done
) -> CorpusTally:
    """The tally of a corpus: those of its shards, added up in their order as they come."""
    tally, waiting, n_added = CorpusTally(name, by), dict[int, CorpusTally](), 0
    for number, part in engine.run(TallyTask(shard, by, counting) for shard in shards):
        waiting[number] = part
        while n_added in waiting:
            tally.merge(waiting.pop(n_added))
            n_added += 1
        done(number)
    return tally


def tallies_of(
    files: Sequence[Path], by: str | None, counting: Counting, format_name: str | None, **working: Unpack[Working]
) -> list[CorpusTally]:
    """The tally of each corpus; one without shards is cut first, for Spark next to it, where its workers see it."""
    require_different(files)
    is_shared, found = working.get("engine") == "spark", []
    with closing(engine_for(files, **working)) as engine:
        for file in files:
            out = file if is_shared else Path(tempfile.gettempdir(), "grater-parts")
            with shards_of([file], f"reading {file}", out=out, format_name=format_name) as (shards, done):
                found.append(tally_of(str(file), shards, by, counting, engine, done=done))
    return found
