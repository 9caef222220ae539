"""`grater decide`: systems run over a corpus; a decision for every candidate, in a table or in a folder of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Annotated, Any, Unpack

from grater.cli.command import Done, require_outputs, say
from grater.corpora import write_corpus
from grater.corpora.formats import ignore_loss
from grater.detect.decisions import EDITS, TYPES, EditAccount, corrected_essays
from grater.detect.external import is_external
from grater.detect.systems import at_precision, load_systems
from grater.errors import UsageError
from grater.model import document_of
from grater.options import Deciding, Documents, FormatName, Opt, Precision, SystemNames, described
from grater.scale.corpus import engine_for
from grater.scale.deciding import Corpus, decided_at_once, decided_in_shards
from grater.scale.passes import DECISIONS, ITEMS, DecideJob
from grater.scale.shards import is_cut
from grater.sheet import counted

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
        Path | None, Opt("Items for external systems to decide on; 'edits': every edit.", "ITEMS|edits")
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
    if documents and is_cut(corpus):
        raise UsageError("expected `documents` where the corpus was cut: grater lab shard --documents")
    texts = Corpus(corpus, format_name, documents)
    first = None if is_cut(corpus) else next(iter(texts.essays()), None)
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
        found, edits = decided_at_once(job, texts, targets, places, chat)
    elif places:
        raise UsageError(f"`places` is for external systems; {systems[0]} finds its own places")
    else:
        with closing(engine_for([corpus], **working)) as chosen:
            found = decided_in_shards(job, texts, targets, chosen)
    if corrections:
        detector = at_precision(load_systems(systems, chat=chat), precision)[0]
        write_corpus(corrected_essays(detector, texts.essays()), corrections, ignore_loss)
    messages = [] if found else [f"{out}: no decisions: {corpus} has no place that {' or '.join(systems)} looks at"]
    for counts in found:
        names = sorted((name for name in counts if ":" in name), key=lambda name: -int(str(counts[name])))
        more = ", ..." if len(names) > MOST_TYPES else ""
        by_type = ", ".join(f"{counts[name]:,} {name}" for name in names[:MOST_TYPES] or TYPES) + more
        n_items, n_flagged = counted(int(str(counts["items"])), "item"), f"{counts['flagged']:,} flagged"
        messages.append(f"{out}: {counts['system']}: {n_items}, {n_flagged} ({by_type})")
    for name, account in edits.items():
        hint = "; --places edits makes every edit an item" if account.others and not on_every_edit else ""
        messages.append(f"{out}: {name}: {account.sentence()}{hint}")
    return Done({"decisions": str(out), "systems": found}, messages)
