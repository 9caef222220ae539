"""`grater corpus`: count, convert and check annotated corpora, and turn their edits into judgments."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from grater.cli.command import (
    FORMAT_HELP,
    Columns,
    EngineChoice,
    EngineName,
    Format,
    Jobs,
    Json,
    Master,
    Table,
    print_json,
    reading,
    reading_all,
    require_different,
    require_outputs,
    say,
    show,
    tell_left_out,
    warn,
)
from grater.corpora import Loss, format_for, read_corpus, read_merged, with_documents, write_corpus
from grater.corpora.check import CheckResult, check_corpora
from grater.corpora.counts import Counting
from grater.corpora.formats import Conversion, Report, ignore_loss
from grater.corpora.merge import stems
from grater.corpora.source import open_source, read_sentences, replacing
from grater.corpora.statistics import CorpusTally, statistics_of
from grater.corpora.tagsets import TAGSETS
from grater.errors import Problem, UsageError
from grater.files import URL
from grater.model import Essay
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.scale.shards import ShardSource

MOST_SHOWN = 20
"""Losses that are printed one by one."""


def stats(
    files: Annotated[list[Path], Argument(metavar="FILE", help="Corpora; several are shown side by side.")],
    format_name: Format = None,
    by: Annotated[
        str | None, Option(metavar="FIELD", help="Show one row per value of a metadata field, such as language.")
    ] = None,
    merge_alternatives: Annotated[
        bool, Option("--merge-alternatives", help="Count several edits by one annotator on one span once.")
    ] = False,
    split_tags: Annotated[
        bool, Option("--split-tags", help="Split Wcip into prepositions and others, Rloc into articles and others.")
    ] = False,
    jobs: Jobs = None,
    engine: EngineChoice = "processes",
    master: Master = None,
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Count documents, sentences, tokens, types and edits, by annotator, tag and metadata field."""
    counting = Counting(merge_alternatives, split_tags)
    cut = [file for file in files if _is_cut(file)]
    if jobs or engine != "processes" or cut:
        from grater.cli.scale import engine_for  # polars, which a small corpus need not wait for
        from grater.scale.passes import StatisticsJob, counted_corpus

        require_different(files)
        tallies, job = [], StatisticsJob(by, counting)
        with closing(engine_for(engine, jobs, master, files)) as chosen:
            for file in files:
                with _shards_for_now(file, format_name, engine) as (shards, done, folder):
                    tallies.append(counted_corpus(job, str(file), shards, folder, chosen, done=done))
    else:
        with reading_all(files, format_name) as corpora:
            tallies = [CorpusTally.of(name, essays, by, counting) for name, essays in corpora.items()]
    tell_left_out([file for file in files if file not in cut], format_name)
    statistics = statistics_of(tallies, by, counting)
    warn(statistics.warnings)
    show(statistics, table=table, as_json=as_json)


def _is_cut(file: Path) -> bool:
    if not file.is_dir() and not URL.match(str(file)):
        return False
    from grater.scale.shards import is_cut

    return is_cut(file)


@contextmanager
def _shards_for_now(
    file: Path, format_name: str | None, engine: str
) -> Iterator[tuple[ShardSource, Callable[[int], None], Path]]:
    """The shards of a corpus, and a folder for their results, gone at the end; Spark's is beside the corpus."""
    from grater.cli.scale import folder_beside, shards_of

    with folder_beside(file if engine == "spark" else Path(tempfile.gettempdir(), "grater-parts")) as folder:
        out = folder / "parts"
        with shards_of([file], f"reading {file}", out=out, format_name=format_name) as (shards, done):
            yield shards, done, out


def convert(
    files: Annotated[
        list[Path],
        Argument(
            metavar="IN OUT",
            help="The corpus to read and the file or folder to write, all or nothing; '-' is standard input or "
            "output.  Of parallel text: SOURCE CORRECTED... OUT.",
        ),
    ],
    from_format: Annotated[str | None, Option("--from", metavar="FORMAT", help=FORMAT_HELP)] = None,
    to_format: Annotated[str | None, Option("--to", metavar="FORMAT", help=FORMAT_HELP)] = None,
    edits: Annotated[
        Literal["keep", "extract"],
        Option(metavar="keep|extract", help="Keep the edits, or extract new ones from the corrected text."),
    ] = "keep",
    types: Annotated[
        Literal["keep", "errant"],
        Option(metavar="keep|errant", help="Keep the tags of edits, or give each an ERRANT type."),
    ] = "keep",
    engine: EngineName = "grater",
    documents: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="The documents of sentences: SGML, a table with a column document, or an id per line.",
        ),
    ] = None,
    losses: Annotated[
        Path | None, Option(metavar="FILE", help="Write every loss to this file, as JSON lines.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert a corpus, and list everything the new format cannot hold."""
    if len(files) < 2:
        raise UsageError("expected IN OUT, a corpus and the file to write, or SOURCE CORRECTED... OUT")
    *sources, target = files
    require_different([*dict.fromkeys(sources), target, *([losses] if losses else [])])
    if as_json and "-" in (str(target), str(losses)):
        raise UsageError(
            "expected one result on standard output, found --json and the corpus or its losses; write one to a file"
        )
    with replacing(losses) if losses else nullcontext() as stream:

        def write_loss(loss: Loss) -> None:
            if stream:
                stream.write(json.dumps(asdict(loss), ensure_ascii=False) + "\n")

        conversion = Conversion(most=None if as_json else MOST_SHOWN, hear=write_loss if stream else None)
        with _opened(sources, from_format, documents, engine) as essays:
            if len(sources) == 1:
                essays = _with_new_edits(
                    conversion.remembering(essays), conversion.report, edits=edits, types=types, engine=engine
                )
            write_corpus(conversion.counting(essays), target, conversion.report, format_name=to_format)
    if as_json:
        print_json(conversion.to_dict())
    else:
        _tell_conversion(conversion, target, losses)


@contextmanager
def _opened(
    sources: Sequence[Path], format_name: str | None, documents: Path | None, engine: str
) -> Iterator[Iterable[Essay]]:
    """The essays of a corpus, or of parallel text, with a progress bar while they are read."""
    if len(sources) > 1:
        yield _parallel(sources, engine)
        return
    n_passes = format_for(sources[0], format_name).n_passes
    with reading(f"reading {sources[0]}", sources[0], n_passes=n_passes) as advance:
        essays = read_corpus(sources[0], format_name=format_name, advance=advance)
        yield with_documents(essays, documents) if documents else essays
    tell_left_out(sources, format_name)


def _parallel(files: Sequence[Path], engine: str) -> Iterator[Essay]:
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import parallel_essays  # loads the tagger

    first, *others = [read_sentences(open_source(file)) for file in files]
    corrections = {str(file): lines for file, lines in zip(files[1:], others, strict=True)}
    if len(corrections) < len(others):
        raise UsageError("expected each corrected file once")
    names = stems(corrections) if len(corrections) > 1 else dict.fromkeys(corrections, "0")
    return parallel_essays(first, corrections, load_engine(engine), source_name=str(files[0]), annotators=names)


def _with_new_edits(
    essays: Iterable[Essay], report: Report, *, edits: str, types: str, engine: str
) -> Iterable[Essay]:
    if edits == types == "keep":
        return essays
    from grater.corpora.edits.engine import GraterEngine, load_engine
    from grater.corpora.parallel import assign_types, extract_again  # loads the tagger

    if edits == "extract":
        return extract_again(essays, load_engine(engine), report)
    return assign_types(essays, GraterEngine(), report)


def _tell_conversion(conversion: Conversion, target: Path, losses: Path | None) -> None:
    n_losses = conversion.by_reason.total()
    sizes = f"{counted(conversion.n_essays, 'essay')} with {counted(conversion.n_edits, 'edit')}"
    say(f"{target}: {sizes}; {counted(n_losses, 'loss', 'losses') if n_losses else 'no losses'}")
    for (verb, why), n_times in conversion.by_reason.most_common():
        say(f"  {n_times} {verb}: {why}")
    if losses:
        say(f"the full list is in {losses}")
        return
    shown = conversion.losses[:MOST_SHOWN]
    for loss in shown:
        say(str(loss))
    if n_losses > len(shown):
        say(f"and {n_losses - len(shown)} more; --losses FILE writes them all")


def compare(
    files: Annotated[
        list[Path], Argument(metavar="A [B]", help="Two M2 files, or one to compare with the edits of --engine.")
    ],
    engine: EngineName = "grater",
    table: Table = "text",
    as_json: Json = False,
) -> None:
    """Compare edits with those of another file, or with those that an engine extracts from the corrected text."""
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import extract_again
    from grater.measure.corrections.extraction import compare_edits

    if len(files) > 2:
        raise UsageError(f"expected one file or two, found {len(files)}")
    first = list(read_corpus(files[0]))
    if len(files) == 2:
        second, name = list(read_corpus(files[1])), str(files[1])
    else:
        chosen = load_engine(engine)
        second, name = list(extract_again(first, chosen, ignore_loss)), chosen.name
    compared = compare_edits(first, second, first_name=str(files[0]), second_name=name)
    warn(compared.warnings)
    show(compared, table=table, as_json=as_json)


def lint(
    files: Annotated[
        list[Path], Argument(metavar="FILE", help="Corpora; several are also compared with each other.")
    ],
    format_name: Format = None,
    tagset: Annotated[
        str | None, Option(metavar="NAME", help=f"Tag set: {TAGSETS.listed()}; default: guessed.")
    ] = None,
    only: Annotated[list[str], Option(metavar="RULE", help="Report only this rule; repeatable.")] = [],
    ignore: Annotated[list[str], Option(metavar="RULE", help="Ignore this rule; repeatable.")] = [],
    baseline: Annotated[
        Path | None, Option("--known", metavar="FILE", help="Known defects: the --json output of an earlier check.")
    ] = None,
    jobs: Jobs = None,
    engine: EngineChoice = "processes",
    master: Master = None,
    as_json: Json = False,
) -> None:
    """Look for edits that change nothing, duplicates, spans across sentences, unknown tags and more."""
    try:
        findings = json.loads("".join(open_source(baseline).lines()))["findings"] if baseline else []
        known = Counter((one["rule"], one["essay_id"], one["message"]) for one in findings)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{baseline}: expected the JSON that a check printed, found something else") from error
    if jobs or engine != "processes" or any(map(_is_cut, files)):
        from grater.cli.scale import engine_for
        from grater.scale.passes import CheckJob, checked_corpus

        with closing(engine_for(engine, jobs, master, files)) as chosen:
            if len(files) > 1:
                raise UsageError(
                    "expected one corpus with --jobs or --engine, found several; check them one at a time"
                )
            with _shards_for_now(files[0], format_name, engine) as (shards, done, folder):
                result = checked_corpus(CheckJob(tagset), str(files[0]), shards, folder, chosen, done=done)
    else:
        with reading_all(files, format_name, n_readings=1 if len(files) == 1 else 2) as corpora:
            result = check_corpora(corpora, tagset=TAGSETS[tagset] if tagset else None)
    result = result.chosen(only=only, ignore=ignore).without_known(known)
    if as_json:
        print_json(result.to_dict())
    else:
        _tell_check(result, len(files))
    raise typer.Exit(1 if result.findings else 0)


def _tell_check(result: CheckResult, n_files: int) -> None:
    """Counts by rule first, then every finding."""
    defects = counted(len(result.findings), "defect") if result.findings else "no defects"
    sizes = f"{counted(result.census.essays, 'essay')}, {counted(result.census.edits, 'edit')}"
    say(f"{defects} in {counted(n_files, 'file')}: {sizes}")
    for rule, n in result.by_rule.items():
        say(f"  {n:,} {rule}")
    for note in result.census.notes():
        say(note)
    for file, finding in result.findings:
        is_inside = Path(file).is_dir() and finding.essay_id  # there, a line number means nothing without its essay
        where = f"{file}, essay {finding.essay_id}" if is_inside else file
        typer.echo(str(Problem(where, str(finding), finding.line)))


def judgments(
    files: Annotated[list[Path], Argument(metavar="CORPUS", help="Annotated corpora of the same essays.")],
    decisions: Annotated[Path, Option(metavar="FILE", help="Decisions of systems.")],
    tags: Annotated[str, Option(metavar="TAG,TAG", help="Tags that make an item an error.")],
    out: Annotated[Path, Option(metavar="FILE", help="The table of judgments to write.")],
    items: Annotated[
        Path | None, Option(metavar="FILE", help="A table of items, for their places and other columns.")
    ] = None,
    match: Annotated[
        Literal["tag", "any"],
        Option(metavar="tag|any", help="Which edits make an item an error: those with these tags, or any."),
    ] = "tag",
    labels: Annotated[
        Literal["verdict", "usage"],
        Option(
            metavar="verdict|usage",
            help="Labels to write: error and ok; or 0 extraneous, 1 incorrect, 2 correct (T&C 2008).",
        ),
    ] = "verdict",
    duplicates: Annotated[
        Literal["error", "first", "last"],
        Option(metavar="error|first|last", help="What to do if a rater or system is twice on an item."),
    ] = "error",
    columns: Columns = [],
    format_name: Format = None,
    as_json: Json = False,
) -> None:
    """Turn annotations into judgments: for every item and annotator, error or ok, or the labels of usage."""
    from grater.corpora.judgments import documents_of_items, items_of, judgments_from_edits
    from grater.tables import parse_columns, read_decisions, read_items, write_table

    require_different(files)
    require_outputs([out], [*files, decisions, items])
    wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
    if not wanted:
        raise UsageError(f"expected --tags TAG or TAG,TAG, as in Wcip, found {tags!r}")
    decided = read_decisions(decisions, columns=parse_columns(columns), duplicates=duplicates)
    tables = decided, read_items(items) if items else None
    items_judged, documents = items_of(*tables), documents_of_items(*tables)
    essays = read_merged(files, format_name=format_name)
    judged = judgments_from_edits(essays, items_judged, tags=wanted, match=match, labels=labels, documents=documents)
    write_table(judged, out)
    frame = judged.frame
    n_raters = frame["rater"].n_unique()
    n_error, n_ok = (int(frame["label"].is_in(names).sum()) for names in (["error", "0", "1"], ["ok", "2"]))
    n_context = int((frame["flags"] == "context").sum())
    if as_json:
        sizes = {"items": len(items_judged), "judgments": len(frame), "raters": n_raters}
        print_json({**sizes, "error": n_error, "ok": n_ok, "context": n_context})
        return
    sizes_said = f"{counted(len(frame), 'judgment')} of {counted(len(items_judged), 'item')}"
    say(f"{out}: {sizes_said} by {counted(n_raters, 'annotator')}")
    say(f"error: {n_error:,}; ok: {n_ok:,}, {n_context:,} of them have an edit with another tag")
    for reason, n_dropped in judged.dropped.items():
        say(f"left out {n_dropped:,}: {reason}")
