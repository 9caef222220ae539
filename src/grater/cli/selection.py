"""`grater cloze`: who fills blanks alike; `grater choice`: the writer's word or the system's (T&C 2008, 4).

With `--system` and `--essays` both run the system over the essays themselves: in the cloze test it fills the blanks
that people filled, and the writer's words come from the essays; in the choice test its accuracy by exact match is
worked out on every word that it looks at, or on the items of a table.
"""

from __future__ import annotations

from collections.abc import Collection
from math import nan
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
import polars as pl
import typer

from grater.cli.command import Json, Reading, Seed, Table, require_outputs, say, show, takes_options
from grater.corpora import read_merged
from grater.detect.decisions import Filled, filled, is_mismatch, read_item_places
from grater.detect.systems import load_system
from grater.errors import UsageError
from grater.measure.agreement.essays import NO_ESSAYS, known_essays
from grater.measure.evaluation.selection import WRITER, EquallyBad, choice_study, cloze_study, exact_accuracy
from grater.model import Interval
from grater.sheet import counted
from grater.tables import Judgments, read_decisions, read_gold, read_items, read_judgments, write_table
from grater.tables import Table as DataTable
from grater.uncertainty.proportions import cluster_wilson, wilson

cloze_app = typer.Typer()
choice_app = typer.Typer()

SystemName: TypeAlias = Annotated[str, typer.Option("--system", metavar="NAME", help="Run this system on --essays.")]
EssayFiles: TypeAlias = Annotated[
    list[Path], typer.Option("--essays", metavar="FILE", help="The corpus for --system, in any format.")
]
ItemPlacesFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--items", metavar="FILE", help="The positions of items in the essays, for ids that do not tell them."
    ),
]
AnswersFile: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--answers-out", metavar="FILE", help="Write the words of --system; without judgments, do nothing else."
    ),
]
JUDGED = "expected judgments, or --system, --essays and --answers-out to write a system's words"


@cloze_app.command()
@takes_options
def fill_blanks(
    judgments: Annotated[
        list[Path] | None, typer.Argument(metavar="[JUDGMENTS]...", help="Tables of the words that raters filled in.")
    ] = None,
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="Systems' words, in 'suggestion'; repeatable.")
    ] = [],  # noqa: B006
    writer: Annotated[str, typer.Option(metavar="NAME", help="The rater whose words are the writer's own.")] = WRITER,
    system: SystemName = "",
    essays: EssayFiles = [],  # noqa: B006
    items: ItemPlacesFile = None,
    answers_out: AnswersFile = None,
    *,
    reading: Reading,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score a cloze task: agreement and kappa of the writer with raters and systems, and among raters.

    With --system and --essays the system fills the same blanks, and the essays give the writer's words.
    """
    require_outputs([answers_out], [*(judgments or ()), *decisions, *essays, items])
    people = reading.read_beside_decisions(*judgments) if judgments else None
    decided = reading.read_decisions(*decisions) if decisions else None
    places = read_items(items) if items else None
    essays_of_items = known_essays(people, places) if people else NO_ESSAYS
    if system:
        blanks = people.frame["item"].cast(str).unique().to_list() if people else []
        words = _filled(system, essays, items, blanks)
        _write_answers(words, words.decisions, answers_out)
        if people is not None:
            essays_of_items = known_essays(people, places or _places(words))
            people = _with_writer(people, words, writer)
        decided = _together(decided, words)
    if people is None:
        _require_only_answers(answers_out, system)
        return
    study = cloze_study(people, decisions=decided, writer=writer, essays=essays_of_items, seed=seed)
    show(study, table=table, as_json=as_json)


def _places(words: Filled) -> DataTable:
    """The essays of the places that a system looked at."""
    return DataTable("items", words.decisions.select("item", "essay"), words.system)


def _filled(system: str, essays: list[Path], items: Path | None, wanted: Collection[str]) -> Filled:
    if not essays:
        raise UsageError("expected --essays FILE with --system, the corpus that the blanks are in")
    names = read_item_places(items).names if items else {}
    return filled(load_system(system), read_merged(essays), wanted=wanted or names.values(), names=names)


def _write_answers(words: Filled, frame: pl.DataFrame, out: Path | None) -> None:
    if out is not None:
        write_table(frame, out)
        say(f"{out}: {counted(len(frame), 'word')} of {words.system}, of {counted(len(words.findings), 'place')}")


def _require_only_answers(out: Path | None, system: str) -> None:
    if out is None or not system:
        raise UsageError(JUDGED)


def _with_writer(people: Judgments, words: Filled, writer: str) -> Judgments:
    """What people filled in with the writer's own words beside it, unless the table has them."""
    said = people.frame.select(pl.col("item", "rater", "label").cast(pl.String))
    if writer in said["rater"].unique().to_list():
        return people
    own = words.written.select("item", rater=pl.lit(writer), label="label")
    return read_judgments(pl.concat([said, own]), name=people.name)


def _together(decided: DataTable | None, words: Filled) -> DataTable:
    own = words.decisions.select("item", "system", "flagged", "suggestion")
    if decided is None:
        return read_decisions(own, name=words.system)
    frame = pl.concat([decided.frame.select(own.columns).cast(own.schema), own])
    return read_decisions(frame, name=f"{decided.name}, {words.system}")


@choice_app.command()
@takes_options
def choose_word(
    judgments: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[JUDGMENTS]...", help="Tables of judgments: writer, system, equally good or equally bad."
        ),
    ] = None,
    accuracy: Annotated[
        float | None, typer.Option(min=0, max=1, metavar="SHARE", help="The system's accuracy by exact match.")
    ] = None,
    of: Annotated[
        int | None,
        typer.Option("--n-items", min=1, metavar="N", help="Number of items behind --accuracy, for its interval."),
    ] = None,
    decisions: Annotated[
        list[Path], typer.Option("--decisions", metavar="FILE", help="The system's words, to compute the accuracy.")
    ] = [],  # noqa: B006
    words: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The writer's words, columns item and label; with --decisions."),
    ] = None,
    equally_bad: Annotated[
        EquallyBad, typer.Option(help="Ignore 'equally bad', or count it for the writer.")
    ] = "drop",
    system: SystemName = "",
    essays: EssayFiles = [],  # noqa: B006
    items: ItemPlacesFile = None,
    answers_out: AnswersFile = None,
    *,
    reading: Reading,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Score a choice task: how often the system's word is as good or better, and the accuracy that gives.

    With --system and --essays its accuracy is computed there; --answers-out lists the places where it would write
    a different word, for raters to choose between.
    """
    require_outputs([answers_out], [*(judgments or ()), *decisions, *essays, items])
    known = _accuracy(accuracy, of, decisions, words, reading)
    places = read_items(items) if items else None
    if system:
        own = _filled(system, essays, items, ())
        _write_answers(own, own.mismatches, answers_out)
        known = known or _of_system(own)
        places = places or _places(own)
    if not judgments:
        _require_only_answers(answers_out, system)
        return
    chosen = reading.read_beside_decisions(*judgments)
    study = choice_study(chosen, accuracy=known, equally_bad=equally_bad, essays=known_essays(chosen, places))
    show(study, table=table, as_json=as_json)


def _of_system(words: Filled) -> Interval:
    """The share of places where the system would write the writer's word."""
    by_essay: dict[str, list[bool]] = {}
    for finding in words.findings:
        by_essay.setdefault(finding.item.essay_id, []).append(not is_mismatch(finding))
    if len(by_essay) < 2:
        return wilson(sum(map(sum, by_essay.values())), len(words.findings))
    hits, n = (np.array([count(each) for each in by_essay.values()], np.float64) for count in (sum, len))
    return cluster_wilson(hits, n)


def _accuracy(
    accuracy: float | None, n: int | None, decisions: list[Path], words: Path | None, reading: Reading
) -> Interval | None:
    """The accuracy by exact match, as given or worked out; none where nothing is said of it."""
    if bool(decisions) != bool(words) or (decisions and accuracy is not None):
        raise UsageError("expected --accuracy A, or --decisions and --words together, or neither")
    if decisions and words:
        by_system = exact_accuracy(reading.read_decisions(*decisions), read_gold(words))
        if len(by_system) != 1:
            raise UsageError(f"expected the words of one system in --decisions, found {len(by_system)}")
        return next(iter(by_system.values()))
    if accuracy is None:
        return None
    if n is None:
        return Interval(accuracy, nan, nan, "expected --n-items N with --accuracy, for its interval")
    return wilson(accuracy * n, n)
