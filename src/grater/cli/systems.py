"""`grater systems`, `decide` and `select`: the installed detectors, and detectors run over text.

`decide` writes a table with a decision for every candidate; `select` measures preposition selection in native text,
the cloze task (T&C 2008, section 3.2, Table 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from grater.cli.command import (
    EngineChoice,
    Format,
    Jobs,
    Json,
    Master,
    Precision,
    Seed,
    Table,
    print_json,
    reading,
    require_different,
    require_outputs,
    say,
    show,
    tell_left_out,
)
from grater.cli.scale import engine_for, folder_beside, shards_of
from grater.corpora import format_for, read_corpus, write_corpus
from grater.corpora.formats import ignore_loss
from grater.detect.decisions import TYPES, DecisionRows, corrected_essays, read_item_places, summary
from grater.detect.external import is_external
from grater.detect.prepositions.selection import selection_test
from grater.detect.systems import at_precision, load_system, load_systems, system_cards
from grater.errors import UsageError
from grater.files import require_place
from grater.model import Essay
from grater.model import Json as JsonValue
from grater.scale.deciding import DECISIONS, ITEMS, DecideJob, summary_of
from grater.scale.engines import Engine
from grater.scale.jobs import run_job
from grater.scale.shards import is_cut, read_shards
from grater.sheet import counted
from grater.tables import write_joined, write_table

app = typer.Typer()

OUTSIDE = ("harper", "languagetool:URL", "corrected:FILE", "edits:FILE", "command:LINE")
"""Systems that grater did not write (docs/howto/bring-your-own-detector.md)."""

decide_app = typer.Typer()

select_app = typer.Typer()


@app.command()
def systems(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]", help="Systems or model files to show; default: all.")
    ] = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """List the detectors: what they look for, and what they were trained on."""
    show(system_cards(names or ()), table=table, as_json=as_json)
    if not names and not as_json:
        say(f"external systems, wherever a NAME is expected: {', '.join(OUTSIDE)}")


@decide_app.command()
def decide(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Essays in any format of grater corpus.")],
    system: Annotated[
        list[str],
        typer.Option(metavar="NAME", help="A detector, a model file, or an external system; NEW=NAME renames it."),
    ],
    out: Annotated[Path, typer.Option(metavar="DECISIONS", help="The table of decisions to write.")],
    items: Annotated[
        Path | None,
        typer.Option(
            "--items-out", metavar="FILE", help="Write the positions of items to this file instead of the decisions."
        ),
    ] = None,
    places: Annotated[
        Path | None,
        typer.Option(metavar="ITEMS", help="The items an external system decides on, instead of prepositions."),
    ] = None,
    corrections: Annotated[
        Path | None, typer.Option(metavar="CORPUS", help="Also write the corrected essays, as in out.m2.")
    ] = None,
    with_answers: Annotated[
        bool, typer.Option("--all", help="Also store the best words for every place, with probabilities.")
    ] = False,
    precision: Precision = None,
    jobs: Jobs = None,
    engine: EngineChoice = "processes",
    master: Master = None,
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Run a detector and write a decision for every place it looks at, flagged or not."""
    _require_places([out, items], [corpus, places])
    if corrections:
        _require_one_corrector(corrections, system, [corpus, out])
    job = DecideJob(systems=tuple(system), precision=precision, with_answers=with_answers, items=items is not None)
    targets = {DECISIONS: out, **({ITEMS: items} if items else {})}
    if any(map(is_external, system)):
        _require_this_process(jobs, engine, corpus)
        systems = _decided_at_once(job, corpus, targets, places, format_name)
    elif places:
        raise UsageError(f"--places is for external systems; {system[0]} finds its own places")
    else:
        with closing(engine_for(engine, jobs, master, [corpus])) as chosen:
            systems = _decided_in_shards(job, corpus, targets, chosen, format_name)
    if corrections:
        detector = at_precision(load_systems(system), precision)[0]
        write_corpus(corrected_essays(detector, _essays(corpus, format_name)), corrections, ignore_loss)
    if as_json:
        print_json({"decisions": str(out), "systems": systems})
    else:
        _say_decisions(systems, out, corpus, system)


def _require_places(outputs: Sequence[Path | None], inputs: Sequence[Path | None]) -> None:
    """Tables are files or, without an extension, folders with a file per shard; never one of each."""
    wanted = [path for path in outputs if path]
    if not any(path.suffix for path in wanted):
        require_different([*wanted, *(path for path in inputs if path)])
        return
    require_outputs(outputs, inputs)


def _require_this_process(jobs: int | None, engine: str, corpus: Path) -> None:
    if (jobs or 1) > 1 or engine != "processes" or is_cut(corpus):
        raise UsageError("an external system reads the whole corpus in one process; leave out --jobs and --engine")


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
                write_joined(results[table].paths, job.tables[table].schema, path)
    if not is_cut(corpus):
        tell_left_out([corpus], format_name)
    return summary_of(results[DECISIONS])


def _decided_at_once(
    job: DecideJob, corpus: Path, targets: Mapping[str, Path], places: Path | None, format_name: str | None
) -> list[dict[str, JsonValue]]:
    """Run systems of which some are from outside, each over the whole corpus."""
    asked = read_item_places(places) if places else None
    by_essay = asked.by_essay if asked else None
    detectors = at_precision(load_systems(job.systems, places=by_essay), job.precision)
    rows = DecisionRows(with_places=not job.items, names=asked.names if asked else {}, with_answers=job.with_answers)
    n_passes = format_for(corpus, format_name).n_passes * len(detectors)
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        for detector in detectors:
            rows.add(read_corpus(corpus, format_name=format_name, advance=advance), detector)
    tell_left_out([corpus], format_name)
    decisions = rows.decisions()
    if places and asked:
        _say_missing(places, len(asked.names) - decisions["item"].n_unique(), len(asked.names), corpus)
    write_table(decisions, targets[DECISIONS])
    if job.items:
        write_table(rows.items(), targets[ITEMS])
    return [dict(counts) for counts in summary(decisions)]


def _essays(corpus: Path, format_name: str | None) -> Iterable[Essay]:
    if not is_cut(corpus):
        return read_corpus(corpus, format_name=format_name)
    return (each.essay for shard in read_shards(corpus) for each in shard.read())


def _say_decisions(systems: Sequence[Mapping[str, JsonValue]], out: Path, corpus: Path, names: Sequence[str]) -> None:
    if not systems:
        say(f"{out}: no decisions: {corpus} has no place that {' or '.join(names)} looks at")
    for counts in systems:
        by_type = ", ".join(f"{counts[name]} {name}" for name in TYPES)
        n_items, n_flagged = counted(int(str(counts["items"])), "item"), f"{counts['flagged']:,} flagged"
        say(f"{out}: {counts['system']}: {n_items}, {n_flagged} ({by_type})")


def _require_one_corrector(corrections: Path, systems: Sequence[str], others: Sequence[Path]) -> None:
    if len(systems) != 1:
        raise UsageError(f"expected one system whose corrections go to {corrections}, found {len(systems)}")
    require_different([*others, corrections])
    require_place(corrections)


def _say_missing(places: Path, n_missing: int, n_asked: int, corpus: Path) -> None:
    """Report items in essays that the corpus does not have; if there are no others it is another corpus."""
    message = f"{places}: {counted(n_missing, 'item')} in essays that {corpus} does not have"
    if n_missing == n_asked:
        raise UsageError(message)
    if n_missing:
        say(message)


@select_app.command()
def select(
    corpus: Annotated[
        Path, typer.Argument(metavar="CORPUS", help="Well-formed text in any format of grater corpus.")
    ],
    system: Annotated[str, typer.Option(metavar="NAME", help="A preposition detector, or a model file.")],
    format_name: Format = None,
    seed: Seed = 0,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Measure how often a system predicts the writer's preposition: accuracy, and F by preposition."""
    detector = load_system(system)
    n_passes = format_for(corpus, format_name).n_passes
    with reading(f"reading {corpus}", corpus, n_passes=n_passes) as advance:
        essays = read_corpus(corpus, format_name=format_name, advance=advance)
        result = selection_test(detector, essays, seed=seed)
    show(result, table=table, as_json=as_json)
