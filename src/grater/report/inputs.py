"""What a report is made from: the tables of a study, as many as there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from grater.evaluate.draws import Chance
from grater.model import Essay
from grater.tables import Judgments, Sample, Table


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Verdicts (`error`, `ok`, `unknown`) in `judgments` and `experts`; any table may be missing.

    `without_gold` are crowd judgments of the same items made without hidden gold; `on_gold` are the answers to it;
    `hours` says when judgments came, counted from the first.  `constructions`, `cloze` (with the writer's words as
    rater `writer`; those of systems are the suggestions of `cloze_words`) and `choice` are judgments in the labels of
    their tasks.  `redundancy` is how many judgments every item was to have where asking went on only where raters
    differed: shares and agreement are of the first so many.  `cost`, `protocol` and `notes` (what a reader must know
    first) are ready to be read.
    """

    title: str
    essays: Sequence[Essay] = ()
    judgments: Judgments | None = None
    experts: Judgments | None = None
    without_gold: Judgments | None = None
    decisions: Table | None = None
    items: Table | None = None
    gold: Table | None = None
    on_gold: Judgments | None = None
    sample: Sample | None = None
    constructions: Judgments | None = None
    construction_items: Table | None = None
    cloze: Judgments | None = None
    cloze_words: Table | None = None
    choice: Judgments | None = None
    hours: Sequence[float] = ()
    redundancy: int = 0
    cost: str = ""
    protocol: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    chance: Chance = field(default_factory=Chance)
    most_items: int = 50
