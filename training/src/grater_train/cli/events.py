"""`grater-train events`: the training events of a detector, made shard by shard by all cores."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Literal

import typer

from grater.cli.command import EngineChoice, Format, Jobs, Json, Master, Seed, say_done
from grater.cli.scale import Texts, engine_for, texts_in_shards
from grater.errors import UsageError
from grater.sheet import counted
from grater_train.jobs import ArticleEventsJob, EventsJob, TrainingJob, in_passages, run_events
from grater_train.prepositions import GAP_RATE


def events(
    texts: Texts,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of events to write, or to resume.")],
    kind: Annotated[
        Literal["prep", "article"], typer.Option(help="The kind of items: prepositions, or articles and number.")
    ] = "prep",
    gap_rate: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="SHARE", help="Share of gaps used as examples of no preposition."),
    ] = GAP_RATE,
    jobs: Jobs = None,
    engine: EngineChoice = "processes",
    master: Master = None,
    format_name: Format = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Extract the training events of a detector; prepositions and articles read the folder."""
    if kind == "article" and gap_rate != GAP_RATE:
        raise UsageError("--gap-rate is for prepositions; articles have no gaps")
    job: TrainingJob = ArticleEventsJob() if kind == "article" else EventsJob(gap_rate=gap_rate, seed=seed)
    group_lines = in_passages if kind == "article" else None
    cut = texts_in_shards(texts, "analysing", out=out, format_name=format_name, group_lines=group_lines)
    with closing(engine_for(engine, jobs, master, texts)) as chosen, cut as (shards, done):
        parts = run_events(job, shards, out, chosen, done=done)
    message = f"{out}: {counted(parts.n_rows, 'event')} of {counted(parts.totals['lines'], 'line')}"
    say_done(message, {"folder": str(out), "events": parts.n_rows, **parts.totals}, as_json=as_json)
