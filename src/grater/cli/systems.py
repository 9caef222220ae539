"""`grater decide`: systems run over a corpus; a decision for every candidate, in a table or in a folder of them."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Unpack

from grater.cli.command import Done, require_outputs, say
from grater.corpora import format_for, note_left_out, read_corpus, with_documents, write_corpus
from grater.corpora.formats import ignore_loss
from grater.detect.decisions import (
    EDITS,
    TYPES,
    DecisionRows,
    EditAccount,
    corrected_essays,
    on_edits,
    read_item_places,
    summary,
)
from grater.detect.external import ExternalDetector, is_external
from grater.detect.external.chat import Chatted
from grater.detect.systems import at_precision, load_systems
from grater.errors import UsageError
from grater.model import Json as JsonValue
from grater.model import document_of
from grater.options import Correcting, Deciding, Documents, FormatName, Opt, Precision, SystemNames, described
from grater.progress import reading
from grater.scale.corpus import engine_for, folder_beside, shards_of
from grater.scale.engines import Engine
from grater.scale.jobs import run_job
from grater.scale.passes import DECISIONS, ITEMS, DecideJob, summary_of
from grater.scale.shards import is_cut, read_shards
from grater.sheet import counted
from grater.tables import write_joined, write_table

MOST_TYPES = 8
"""Of edits, in the line of a system."""


@described
def decide(
    corpus: Annotated[Path, Opt("Essays in any format of grater corpus.", "CORPUS")],
    *,
    systems: SystemNames,
    out: Annotated[Path, Opt("The table of decisions to write.", "DECISIONS", writes="folder")],
    items_out: Annotated[
        Path | None,
        Opt("Write the positions of items to this file instead of the decisions.", "FILE", writes="folder"),
    ] = None,
    places: Annotated[
        Path | None,
        Opt(
            "Items for external systems to decide on, instead of prepositions; 'edits': every edit is an item.",
            "ITEMS|edits",
        ),
    ] = None,
    corrections: Annotated[
        Path | None, Opt("Also write the corrected essays, as in out.m2.", "CORPUS", writes="file")
    ] = None,
    all_answers: Annotated[
        bool, Opt("Also store the best words for every place, with probabilities.", flag="--all")
    ] = False,
    precision: Precision = None,
    documents: Documents = None,
    format_name: FormatName = None,
    **options: Unpack[Deciding],
) -> Done:
    """Run a detector and write a decision for every place it looks at, flagged or not."""
    tables, on_every_edit = [path for path in (out, items_out) if path], str(places) == EDITS
    if any(path.suffix for path in tables):  # else folders with a file per shard
        require_outputs(tables, [corpus])
    if corrections and len(systems) != 1:
        raise UsageError(f"expected one system whose corrections go to {corrections}, found {len(systems)}")
    if documents:
        with tempfile.TemporaryDirectory(prefix="grater-documents-") as folder:
            named = Path(folder) / f"{corpus.stem}.jsonl"
            write_corpus(with_documents(read_corpus(corpus, format_name=format_name), documents), named, ignore_loss)
            return decide(
                named,
                systems=systems,
                out=out,
                items_out=items_out,
                places=places,
                corrections=corrections,
                all_answers=all_answers,
                precision=precision,
                **options,
            )
    first = None if is_cut(corpus) else next(iter(read_corpus(corpus, format_name=format_name)), None)
    is_placed = first is not None and document_of(first) != first.essay_id
    if first is not None and document_of(first) is None:
        say(f"warning: {corpus} does not name the documents of its sentences; pass --documents FILE")
    job = DecideJob(
        systems=tuple(systems),
        precision=precision,
        with_answers=all_answers,
        items=items_out is not None,
        documents=is_placed,
    )
    targets, edits = {DECISIONS: out, **({ITEMS: items_out} if items_out else {})}, dict[str, EditAccount]()
    working: dict[str, Any] = {name: options[name] for name in ("jobs", "engine", "master") if name in options}
    chat: Any = {name: value for name, value in options.items() if name not in working}
    if on_every_edit or any(map(is_external, systems)):
        if (options.get("jobs") or 1) > 1 or "engine" in working or is_cut(corpus):
            raise UsageError("an external system reads a corpus in one process; leave out `jobs` and `engine`")
        found, edits = _decided_at_once(job, corpus, targets, places, format_name, chat)
    elif places:
        raise UsageError(f"`places` is for external systems; {systems[0]} finds its own places")
    else:
        with closing(engine_for([corpus], **working)) as chosen:
            found = _decided_in_shards(job, corpus, targets, chosen, format_name)
    if corrections:
        detector = at_precision(load_systems(systems, chat=chat), precision)[0]
        shards = read_shards(corpus) if is_cut(corpus) else None
        cut = (each.essay for shard in shards or () for each in shard.read())
        essays = cut if shards else read_corpus(corpus, format_name=format_name)
        write_corpus(corrected_essays(detector, essays), corrections, ignore_loss)
    said = [] if found else [f"{out}: no decisions: {corpus} has no place that {' or '.join(systems)} looks at"]
    for counts in found:
        names = sorted((name for name in counts if ":" in name), key=lambda name: -int(str(counts[name])))
        more = ", ..." if len(names) > MOST_TYPES else ""
        by_type = ", ".join(f"{counts[name]:,} {name}" for name in names[:MOST_TYPES] or TYPES) + more
        n_items, n_flagged = counted(int(str(counts["items"])), "item"), f"{counts['flagged']:,} flagged"
        said.append(f"{out}: {counts['system']}: {n_items}, {n_flagged} ({by_type})")
    for name, account in edits.items():
        hint = "; --places edits makes every edit an item" if account.others and not on_every_edit else ""
        said.append(f"{out}: {name}: {account.sentence()}{hint}")
    return Done({"decisions": str(out), "systems": found}, said)


def _decided_in_shards(
    job: DecideJob, corpus: Path, targets: Mapping[str, Path], engine: Engine, format_name: str | None
) -> list[dict[str, JsonValue]]:
    """Run our own systems shard by shard: into folders, or into files that are written as the shards are done."""
    out = targets[DECISIONS]
    with shards_of([corpus], f"reading {corpus}", out=out, format_name=format_name) as (shards, done):
        if not out.suffix:
            return summary_of(run_job(job, shards, targets, engine, done=done)[DECISIONS])
        with folder_beside(out) as folder:
            folders = {table: folder / table for table in targets}
            results = run_job(job, shards, folders, engine, done=done)
            for table, path in targets.items():
                write_joined(results[table].paths, job.tables[table], path)
    if not is_cut(corpus):
        note_left_out([corpus], format_name)
    return summary_of(results[DECISIONS])


def _decided_at_once(
    job: DecideJob,
    corpus: Path,
    targets: Mapping[str, Path],
    places: Path | None,
    format_name: str | None,
    correcting: Correcting,
) -> tuple[list[dict[str, JsonValue]], dict[str, EditAccount]]:
    """Run systems of which some are from outside, each over the whole corpus."""
    asked = read_item_places(places) if places and str(places) != EDITS else None
    by_essay = asked.by_essay if asked else None
    detectors = at_precision(load_systems(job.systems, places=by_essay, chat=correcting), job.precision)
    correctors = {each.name: each.corrector for each in detectors if isinstance(each, ExternalDetector)}
    if places and not asked:
        detectors = on_edits(detectors, read_corpus(corpus, format_name=format_name))
    rows = DecisionRows(
        with_places=not job.items,
        names=asked.names if asked else {},
        with_answers=job.with_answers,
        with_documents=job.documents,
    )
    n_passes = format_for(corpus, format_name).n_passes * len(detectors)
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        for detector in detectors:
            rows.add(read_corpus(corpus, format_name=format_name, advance=advance), detector)
    note_left_out([corpus], format_name)
    decisions = rows.decisions()
    if places and asked:
        n_missing = len(asked.names) - decisions["item"].n_unique()
        message = f"{places}: {counted(n_missing, 'item')} in essays that {corpus} does not have"
        if n_missing == len(asked.names):  # it is another corpus
            raise UsageError(message)
        if n_missing:
            say(message)
    write_table(decisions, targets[DECISIONS])
    if job.items:
        write_table(rows.items(), targets[ITEMS])
    systems: list[dict[str, JsonValue]] = [dict(counts) for counts in summary(decisions)]
    for counts in systems:
        if account := rows.edits.get(str(counts["system"])):
            counts["edits"] = account.to_dict()
        if isinstance(model := correctors.get(str(counts["system"])), Chatted):
            counts["chat"] = model.used
    return systems, rows.edits
