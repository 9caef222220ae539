"""Commands on corpora and corrections: edits compared and combined, and what other functions made, in lines."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from grater.cli.command import Done
from grater.corpora import read_corpus, write_corpus
from grater.corpora.formats import ignore_loss
from grater.corpora.normalise import corrected_text
from grater.corpora.source import kind_of, named_files, open_source, replacing, sentences_alone
from grater.errors import Problem, UsageError
from grater.model import Json as JsonValue
from grater.options import EngineName, Opt, described, require_different
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.corpora.check import CheckResult
    from grater.corpora.formats import Conversion
    from grater.measure.corrections.extraction import EditComparison
    from grater.reporting.document import Report
    from grater.tables import Judgments, Sample

MOST_SHOWN = 20
"""Losses that are printed one by one."""


@described
def compare(
    *files: Annotated[
        Path, Opt("Two M2 files, or one to compare with the edits of --engine.", "A [B]", repeats=True)
    ],
    engine: EngineName = "grater",
) -> EditComparison:
    """Compare edits with those of another file, or of an engine."""
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
    return compare_edits(first, second, first_name=str(files[0]), second_name=name)


@described
def combine(
    *files: Annotated[Path, Opt("Corrections by each system, as sentences: FILE or NAME=FILE.", "TEXT")],
    source: Annotated[Path, Opt("The sentences before correction.", "FILE")],
    out: Annotated[Path, Opt("Write the combined correction: text, or .m2 with its edits.", "FILE", writes="folder")],
    at_least: Annotated[int, Opt("Number of systems that must propose an edit.", min=1)] = 2,
    engine: EngineName = "grater",
) -> Done:
    """Combine corrections by vote: keep the edits that enough systems propose."""
    from grater.corpora.edits.engine import load_engine
    from grater.corpora.parallel import combine as combined

    paths = [file for _, file in named_files(files)]
    require_different([*paths, source, out])
    texts = {str(file): sentences_alone(open_source(file)) for file in paths}
    sources = sentences_alone(open_source(source))
    essays = list(combined(sources, texts, at_least=at_least, engine=load_engine(engine), source_name=str(source)))
    if str(out) != "-" and kind_of(out) != "text":
        write_corpus(essays, out, ignore_loss)
    else:
        with replacing(out) as stream:
            stream.writelines(f"{corrected_text(essay.text, essay.edits)}\n" for essay in essays)
    n_edits = sum(len(essay.edits) for essay in essays)
    return Done(
        {"sentences": len(essays), "systems": len(files), "at_least": at_least, "edits": n_edits},
        [f"{out}: {counted(len(essays), 'sentence')}, {counted(n_edits, 'edit')} of at least {at_least} systems"],
    )


# Messages for results that are not tables of numbers


def describe_conversion(conversion: Conversion, given: Mapping[str, Any]) -> Done:
    n_losses, target = conversion.by_reason.total(), given["files"][-1]
    sizes = f"{counted(conversion.n_essays, 'essay')} with {counted(conversion.n_edits, 'edit')}"
    messages = [f"{target}: {sizes}; {counted(n_losses, 'loss', 'losses') if n_losses else 'no losses'}"]
    messages += [f"  {n_times} {verb}: {why}" for (verb, why), n_times in conversion.by_reason.most_common()]
    shown = conversion.losses[:MOST_SHOWN]
    if given["losses"]:
        messages.append(f"the full list is in {given['losses']}")
    else:
        messages += map(str, shown)
        more = [f"and {n_losses - len(shown)} more; --losses FILE writes them all"]
        messages += more if n_losses > len(shown) else []
    return Done(conversion.to_dict(), messages)


def describe_lint(result: CheckResult, given: Mapping[str, Any]) -> Done:
    """Counts by rule first, then every finding."""
    defects = counted(len(result.findings), "defect") if result.findings else "no defects"
    sizes = f"{counted(result.census.essays, 'essay')}, {counted(result.census.edits, 'edit')}"
    messages = [f"{defects} in {counted(len(given['corpora']), 'file')}: {sizes}"]
    messages += [f"  {n:,} {rule}" for rule, n in result.by_rule.items()]
    shown = []
    for file, finding in result.findings:
        is_inside = Path(file).is_dir() and finding.essay_id  # there, a line number means nothing without its essay
        where = f"{file}, essay {finding.essay_id}" if is_inside else file
        shown.append(str(Problem(where, str(finding), finding.line)))
    status = 1 if result.findings else 0
    return Done(result.to_dict(), [*messages, *result.census.notes()], shown, status=status)


def describe_judgments(judged: Judgments, given: Mapping[str, Any]) -> Done:
    frame, out = judged.frame, given["out"]
    n_items, n_raters = frame["item"].n_unique(), frame["rater"].n_unique()
    n_error, n_ok = (int(frame["label"].is_in(names).sum()) for names in (["error", "0", "1"], ["ok", "2"]))
    n_context = int((frame["flags"] == "context").sum())
    messages = [
        f"{out}: {counted(len(frame), 'judgment')} of {counted(n_items, 'item')} by {counted(n_raters, 'annotator')}",
        f"error: {n_error:,}; ok: {n_ok:,}, {n_context:,} of them have an edit with another tag",
        *(f"left out {n_dropped:,}: {reason}" for reason, n_dropped in judged.dropped.items()),
    ]
    sizes: dict[str, JsonValue] = {"items": n_items, "judgments": len(frame), "raters": n_raters}
    return Done({**sizes, "error": n_error, "ok": n_ok, "context": n_context}, messages)


def describe_sample(drawn: Sample, given: Mapping[str, Any]) -> Done:
    from grater.measure.sampling.draw import draws_of, few_flags, to_judge
    from grater.tables import read_judgments, read_sample

    judged, before = given["judgments"], given["add_to"]
    known = [read_judgments(file).frame for file in judged] or ([read_sample(before).frame] if before else [])
    left = to_judge(drawn, [item for frame in known for item in frame["item"].cast(str).to_list()])
    n_items, draws = drawn.frame["item"].n_unique(), draws_of(drawn)
    messages = [f"{given['out']}: {counted(n_items, 'item')}, {len(left):,} still to judge"]
    messages += [
        f"  {draws[-1].system}, {stratum}: {part.n:,} of {part.size:,}"
        for stratum, part in draws[-1].by_stratum.items()
    ]
    seed, parts = drawn.meta.seed if drawn.meta else None, [draw.to_dict() for draw in draws]
    value = {"items": n_items, "to_judge": list(left), "seed": seed, "draws": parts}
    return Done(value, messages, warnings=list(few_flags(drawn).values()))


def describe_report(report: Report, _: Mapping[str, Any]) -> Done:
    """Where the report is; without a folder its headline is the result."""
    lines = report.lines()
    return Done(
        report.to_dict(), lines if report.files else (), () if report.files else lines, warnings=report.warnings
    )
