"""Agreement on the public crowd sets, as docs/agreement.md prints it: `python -m
tests.measure.agreement.real_tables`.

Snow et al. 2008 (rte, temp), the crowd sets CF_amt, SP_amt, sentiment and dog, and the GUG sentences (Heilman et al.
2014), whose raters are anonymous and whose labels are an ordinal scale from 1 to 4.  Five raters of CF_amt judged an
item twice: their last judgment counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grater.measure.agreement.coefficients import Scale, band
from grater.measure.agreement.summary import Agreement, agreement
from grater.model import Interval
from grater.tables import read_judgments
from tests.real_data import data_path

SNOW = {"item": "orig_id", "rater": "!amt_worker_ids"}
GUG = {"item": "Id", "label": "Crowd Flower Judgements"}


@dataclass(frozen=True, slots=True)
class DataSet:
    name: str
    path: str
    columns: Mapping[str, str] = field(default_factory=dict)
    scale: Scale = "nominal"

    def agreement(self) -> Agreement:
        judgments = read_judgments(self.file(), columns=self.columns, duplicates="last")
        return agreement(judgments, scale=self.scale)

    def file(self) -> Path:
        return data_path(self.path)


DATA = [
    DataSet("rte", "crowd/snow2008-rte.tsv", SNOW),
    DataSet("temp", "crowd/snow2008-temp.tsv", SNOW),
    DataSet("CF_amt", "crowd/CF_amt/label.csv"),
    DataSet("SP_amt", "crowd/SP_amt/label.csv"),
    DataSet("sentiment", "crowd/sentiment/label.csv"),
    DataSet("dog", "crowd/dog/label.csv"),
    DataSet("gug, nominal", "gug/gug_annotations.tsv", GUG),
    DataSet("gug, ordinal", "gug/gug_annotations.tsv", GUG, "ordinal"),
]


def row(data: DataSet) -> str:
    found = data.agreement()
    counts = found.counts
    alpha = found.coefficients["alpha"]
    raters = "anonymous" if "positions" in found.no_pairs else f"{len(found.raters):,}"
    sizes = [f"{counts.n_compared:,}", raters, str(len(found.labels)), f"{counts.n_judgments:,}"]
    numbers = [_shown(found.coefficients[name]) for name in ("observed", "fleiss", "alpha", "ac1")]
    return f"| {data.name} | {' | '.join([*sizes, *numbers])} | {band(alpha.value)} |"


def rows() -> Iterator[str]:
    yield "| set | items | raters | labels | judgments | observed | Fleiss | alpha | AC1 | band of alpha |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    yield from map(row, DATA)


def _shown(interval: Interval) -> str:
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


if __name__ == "__main__":
    for line in rows():
        sys.stdout.write(line + "\n")
