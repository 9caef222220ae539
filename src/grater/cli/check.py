"""`grater check`: feedback on essays, on a terminal, as JSON or as small HTML pages; `grater learners`: on a class.

With `--out` every essay has a separate file in a folder.  The exit status is 0 whether or not anything is marked; a
program that wants to know asks for status 1 with `--fail`.  All files are read before the first is checked, so that
a wrong name costs nothing.  A class has a table of marks per learner and over time, or a page to print.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import typer
from rich.console import Console
from rich.text import Text

from grater.cli.command import messages, print_json, say
from grater.corpora import read_corpus
from grater.corpora.formats import is_of_corpus
from grater.corpora.plain import read_text
from grater.corpora.source import DOCUMENTS, open_source
from grater.detect.feedback import Feedback, feedback_on
from grater.detect.learners import DATE, LEARNER, class_report
from grater.detect.marks import Mark, advice, excerpt, source, why
from grater.detect.systems import default_systems, load_systems
from grater.errors import UsageError
from grater.options import AsJson, Language, Opt, Precision, described
from grater.progress import NOTES
from grater.sheet import counted

if TYPE_CHECKING:
    from grater.detect.learners import ClassReport

Shape: TypeAlias = Literal["text", "json", "html"]
SUFFIXES: dict[Shape, str] = {"text": ".txt", "json": ".json", "html": ".html"}

MARKED = "bold black on bright_yellow"
"""Brighter than anything around it, on a dark terminal and on a light one."""

Systems: TypeAlias = Annotated[
    Sequence[str],
    Opt(
        "A detector or a model file; repeatable; default: context, and Harper if installed.",
        "NAME",
        flag="--system",
        names="grater.detect.systems:SYSTEMS",
    ),
]


@described
def check(
    *files: Annotated[Path, Opt("Essays in plain text, or folders; '-' is standard input.", "FILE")],
    systems: Systems = (),
    precision: Precision = None,
    language: Language = None,
    show: Annotated[Shape, Opt("How to show the feedback.")] = "text",
    out: Annotated[Path | None, Opt("Write one file per essay to this folder.", "FOLDER", writes="folder")] = None,
    fail: Annotated[bool, Opt("Exit with status 1 if anything is marked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Check essays: what looks wrong, a better word, and the rule.

    Exit status: 0 done, 1 something is marked (with --fail only), 2 wrong use or a file that cannot be read.
    """
    shape: Shape = "json" if as_json else show
    files = tuple(own for file in files for own in (_texts_of(file) if file.is_dir() else [file]))
    if shape == "html" and len(files) > 1 and out is None:
        raise UsageError("expected `out` FOLDER: several essays make several HTML pages")
    for file in files:
        _require_text(file)
    texts = [open_source(file) for file in files]
    essays = [(text.name, next(iter(read_text(text.lines(), name=text.name)))) for text in texts]
    detectors = load_systems(systems or default_systems())
    results = (
        feedback_on(essay, detectors, name=name, language=language, precision=precision) for name, essay in essays
    )
    n_marks = _write(results, files, out, shape) if out else _print(results, shape, is_one=len(files) == 1)
    if fail and n_marks:
        raise typer.Exit(1)


def _texts_of(folder: Path) -> list[Path]:
    """The text files of a folder and those below it, by name."""
    files = sorted(file for file in folder.rglob("*.txt") if not file.name.startswith("."))
    if not files:
        raise UsageError(f"{folder}: expected text files (.txt), found none in this folder")
    return files


def _require_text(file: Path) -> None:
    """Refuse what would be read as words and is not."""
    suffix = file.suffix.lower()
    if suffix in DOCUMENTS:
        raise UsageError(f"{file}: expected plain text, found a {file.suffix} document; save it as text (.txt) first")
    if is_of_corpus(suffix):
        decide = f"grater decide {file} --system NAME --out decisions.csv"
        raise UsageError(f"{file}: expected one essay as plain text, found a corpus ({suffix}); use {decide}")


def _write(results: Iterator[Feedback], files: Sequence[Path], out: Path, shape: Shape) -> int:
    """A file for each essay, called after it; how many places are marked in all."""
    out.mkdir(parents=True, exist_ok=True)
    n_marks, names = 0, list[str]()
    for file in files:  # the second `essay.txt` is `essay-2`
        stem = "essay" if str(file) == "-" else file.stem
        name, number = f"{stem}{SUFFIXES[shape]}", 2
        while name in names:
            name, number = f"{stem}-{number}{SUFFIXES[shape]}", number + 1
        names.append(name)
    for feedback, name in zip(results, names, strict=True):
        (out / name).write_text(_in_shape(feedback, shape), encoding="utf-8")
        say(feedback.summary)
        n_marks += len(feedback.marks)
    say(f"{out}: {counted(len(names), 'file')}, {counted(n_marks, 'place')} to look at again")
    return n_marks


def _in_shape(feedback: Feedback, shape: Shape) -> str:
    if shape == "html":
        return feedback.to_html()
    if shape == "json":
        return json.dumps(feedback.to_dict(), ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    console = Console(highlight=False, soft_wrap=True, color_system=None, force_terminal=False)
    with console.capture() as captured:
        _print_text(feedback, console)
    return captured.get() + (f"{feedback.note}\n" if feedback.note else "")


def _print(results: Iterator[Feedback], shape: Shape, *, is_one: bool) -> int:
    if shape == "text":
        console = Console(highlight=False, soft_wrap=True)
        n_marks, note = 0, ""
        for number, feedback in enumerate(results):
            console.print(end="\n" * bool(number))
            _print_text(feedback, console)
            n_marks, note = n_marks + len(feedback.marks), feedback.note
        if note:
            messages.print(Text(note, "dim"), soft_wrap=False)
        return n_marks
    feedbacks = list(results)
    if shape == "html":
        sys.stdout.write(feedbacks[0].to_html())
    else:
        files = [feedback.to_dict() for feedback in feedbacks]
        n_flags = sum(len(feedback.flags) for feedback in feedbacks)
        print_json(files[0] if is_one else {"flags": n_flags, "files": files})
    return sum(len(feedback.marks) for feedback in feedbacks)


def _print_text(feedback: Feedback, console: Console) -> None:
    shown: set[str] = set()
    for mark in feedback.marks:
        console.print(_marked(feedback, mark, has_colours=bool(console.color_system)))
        for finding in mark.findings:
            console.print(Text(f"      {advice(finding)}", "bold green"), Text(f"  ({source(finding)})", "dim"))
        console.print(Text(f"      {why(mark)}"))
        rule = mark.explanation
        if rule and rule.rule not in shown:
            shown.add(rule.rule)
            wrong, right = ("      ✗ ", "red"), ("   ✓ ", "green")
            console.print(Text.assemble(wrong, (rule.wrong, "dim"), right, (rule.right, "dim")))
        console.print()
    console.print(Text(feedback.summary, "bold"))


def _marked(feedback: Feedback, mark: Mark, *, has_colours: bool) -> Text:
    """The text around a mark, the marked words brightest; in a file or a pipe, which have no colours, in brackets."""
    around = excerpt(feedback.essay.text, mark.span)
    return Text.assemble(
        (f"{around.line:>4}  ", "dim"),
        around.before,
        (around.marked if has_colours else f"[{around.marked}]", MARKED),
        around.after,
    )


@described
def learners(
    *files: Annotated[Path, Opt("Essays: text files, one per learner, or any format of grater corpus.", "FILE")],
    systems: Systems = (),
    learner_field: Annotated[str, Opt("The metadata field that names the learner.", "FIELD")] = LEARNER,
    date_field: Annotated[str, Opt("The metadata field that holds the date.", "FIELD")] = DATE,
    out: Annotated[Path | None, Opt("Write a printable page to this file, NAME.html.", "PAGE", writes="file")] = None,
) -> ClassReport:
    """Report on a class: which errors are marked and how many, per learner and over time."""
    essays = [
        (file.stem if len(corpus) == 1 else essay.essay_id, essay)
        for file in files
        for corpus in [list(read_corpus(file))]
        for essay in corpus
    ]
    detectors = load_systems(systems or default_systems())
    report = class_report(essays, detectors, learner_field=learner_field, date_field=date_field)
    if out:
        out.write_text(report.to_html(), encoding="utf-8")
        NOTES.info(f"{out}: {report.sheets()[0].title}")
    return report
