"""`grater-train events`: the training events of a detector, made shard by shard by all cores."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated, Literal, Unpack

from grater.cli.command import Done
from grater.cli.scale import OutFolder, Texts
from grater.errors import UsageError
from grater.options import FormatName, Opt, Seed, Working, described
from grater.scale.corpus import engine_for, texts_in_shards
from grater.sheet import counted
from grater_train.jobs import ArticleEventsJob, EventsJob, TrainingJob, in_passages, run_events
from grater_train.prepositions import GAP_RATE


@described
def events(
    *texts: Texts,
    out: OutFolder,
    kind: Annotated[
        Literal["prep", "article"], Opt("The kind of items: prepositions, or articles and number.")
    ] = "prep",
    gap_rate: Annotated[
        float, Opt("Share of gaps used as examples of no preposition.", "SHARE", min=0, max=1)
    ] = GAP_RATE,
    format_name: FormatName = None,
    seed: Seed = 0,
    **options: Unpack[Working],
) -> Done:
    """Extract the training events of a detector; prepositions and articles read the folder."""
    if kind == "article" and gap_rate != GAP_RATE:
        raise UsageError("`gap_rate` is for prepositions; articles have no gaps")
    job: TrainingJob = ArticleEventsJob() if kind == "article" else EventsJob(gap_rate=gap_rate, seed=seed)
    group_lines = in_passages if kind == "article" else None
    cut = texts_in_shards(texts, "analysing", out=out, format_name=format_name, group_lines=group_lines)
    with closing(engine_for(texts, **options)) as chosen, cut as (shards, done):
        parts = run_events(job, shards, out, chosen, done=done)
    messages = [f"{out}: {counted(parts.n_rows, 'event')} of {counted(parts.totals['lines'], 'line')}"]
    return Done({"folder": str(out), "events": parts.n_rows, **parts.totals}, messages)
