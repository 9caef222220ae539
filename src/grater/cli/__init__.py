"""The command line: `grater VERB ...`, one thin module per group of commands.

A group knows its commands by name and help line, and imports a module only when its command runs, so `grater
--help` stays as quick as a bare typer program.  An option means the same in every command.  Wrong use and bad input
end with exit status 2 and plain lines on standard error; nobody sees a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import Abort, Exit, TyperException

from grater import __version__
from grater.errors import GraterError, MissingExtra


def app_of(target: typer.Typer | Callable[..., None]) -> typer.Typer:
    """A group as it is, or a function as an application of one command."""
    if isinstance(target, typer.Typer):
        return target
    app = typer.Typer(add_completion=False)
    app.command()(target)
    return app


class LazyCommand(TyperCommand):
    """Stands in for a command until it is called; then the real one makes the context and runs in it."""

    def __init__(self, name: str, target: str, help_line: str) -> None:
        super().__init__(name, help=help_line)
        self.target = target

    def load(self) -> Any:
        module, attribute = self.target.split(":")
        try:
            loaded = import_module(module)
        except ModuleNotFoundError as error:
            if error.name not in ("sqlalchemy", "pydantic"):
                raise
            raise MissingExtra("a study needs SQLAlchemy and pydantic: pip install 'grater[server]'") from error
        command: Any = typer.main.get_command(app_of(getattr(loaded, attribute)))
        command.name = self.name
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        path = f"{parent.command_path if parent else ''} {info_name}".strip().removeprefix("grater ")
        command = self.load()
        add_examples(command, path)
        return command.make_context(info_name, args, parent=parent, **extra)


class LazyGroup(TyperGroup):
    """A group whose commands are given as `{name: (module:function or module:app, help line)}`.

    A name of two words is a command beside the one of its first word: `score FILE...` and `score compare FILE...`.
    """

    targets: Mapping[str, tuple[str, str]] = {}

    @classmethod
    def of(cls, targets: Mapping[str, tuple[str, str]]) -> type[LazyGroup]:
        return type("LazyGroup", (cls,), {"targets": targets})

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, (target, help_line) in self.targets.items():
            self.add_command(LazyCommand(name, target, help_line))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = " ".join(args[:2])
        return (name, self.commands[name], args[2:]) if name in self.commands else super().resolve_command(ctx, args)


COMMANDS = {
    "demo": ("grater.cli.demo:demo", "Run the whole pipeline on a bundled sample study and write its report."),
    "check": ("grater.cli.check:check", "Give feedback on essays: what looks wrong, why, and what would be better."),
    "learners": ("grater.cli.check:learners", "Report on a class: errors per learner and over time."),
    "systems": ("grater.cli.systems:systems", "List the installed detectors."),
    "corpus": ("grater.cli.corpus:app", "Count, convert, compare and check annotated corpora."),
    "agree": ("grater.cli.agree:agree", "Measure agreement among raters: kappa, alpha and AC1 with intervals."),
    "raters": ("grater.cli.agree:raters", "Profile each rater: accuracy, agreement, skill, speed."),
    "raters-needed": ("grater.cli.agree:needed", "Find out how many crowd raters match an expert."),
    "difficulty": ("grater.cli.agree:hard", "List the easiest and hardest items, and what predicts disagreement."),
    "aggregate": ("grater.cli.agree:aggregate", "Combine the judgments of many raters into one answer per item."),
    "simulate": ("grater.cli.agree:simulate", "Simulate judgments by raters of known skill."),
    "plan": ("grater.cli.sample:plan", "Plan an evaluation: items, raters, hours and cost for a target interval."),
    "sample": ("grater.cli.sample:sample", "Draw a stratified sample of items to judge."),
    "evaluate": ("grater.cli.evaluate:evaluate_detectors", "Score systems against raters: precision, recall and F."),
    "compare": (
        "grater.cli.evaluate:compare_detectors",
        "Test whether systems differ: paired tests and rank groups.",
    ),
    "decide": ("grater.cli.systems:decide", "Run a detector on a corpus and write its decisions."),
    "count": ("grater.cli.scale:count", "Count the n-grams of a text."),
    "scale": ("grater.cli.scale:app", "Cut large corpora into shards for parallel work."),
    "select": ("grater.cli.systems:select", "Measure preposition selection in native text."),
    "nouns": ("grater.cli.mine:nouns_app", "Study the article and number of nouns: entropy, items, agreement."),
    "mine": ("grater.cli.mine:app", "Find likely errors by n-gram counts, for people to judge."),
    "cloze": (
        "grater.cli.systems:fill_blanks",
        "Score a cloze task: writer, raters and systems fill the same blanks.",
    ),
    "choice": ("grater.cli.systems:choose_word", "Score a choice task: the writer's word or the system's."),
    "score": ("grater.cli.score:app", "Score corrections by M2, ERRANT, CLEME or GLEU."),
    "score compare": ("grater.cli.score:compare", "Compare saved scores, paired by sentence."),
    "combine": ("grater.cli.score:combine", "Combine the corrections of several systems by vote."),
    "ceiling": ("grater.cli.score:ceiling_app", "Measure the human ceiling: each annotator against the others."),
    "report": ("grater.cli.report:report", "Write a report on judgments and decisions, with figures."),
    "study": ("grater.cli.study:app", "Run a study: essays, jobs, people, judgments, results."),
    "judge": ("grater.cli.study.results:ask", "Let a program or a language model judge the units of a job."),
    "serve": ("grater.cli.study.files:serve", "Serve a study to annotators in the browser."),
}
"""Every command: where it lives, and its line in `grater --help`."""

EXAMPLES: Mapping[str, str] = {
    "demo": "--out demo",
    "check": "essay.txt --show html --out feedback",
    "learners": "class/*.txt --out class.html",
    "systems": "context prep-maxent",
    "corpus stats": "demo/essays.m2 --split-tags",
    "corpus convert": "demo/essays.jsonl essays.m2 --losses losses.jsonl",
    "corpus compare": "demo/essays.m2 --engine grater",
    "corpus check": "demo/essays.sgml --ignore whitespace",
    "corpus judgments": "demo/essays.jsonl --decisions demo/decisions.csv --tags Wcip --out judged.csv",
    "agree": "demo/judgments.csv --items demo/items.csv",
    "raters": "demo/crowd.csv --gold demo/gold.csv",
    "raters-needed": "demo/crowd.csv --experts demo/judgments.csv",
    "difficulty": "demo/crowd.csv --items demo/items.csv --essays demo/essays.jsonl",
    "aggregate": "demo/crowd.csv --method dawid-skene --out answers.csv",
    "simulate": "--n-items 200 --n-raters 20 --skill 0.85 --out simulated.csv",
    "plan": "--flag-rate 0.1 --precision 0.8 --recall 0.5 --width 0.1 --wage 20",
    "sample": "demo/decisions.csv --system prep-maxent --n 200 --out my-sample.csv",
    "evaluate": "--decisions demo/decisions.csv --judgments demo/crowd.csv --weighted",
    "compare": "--decisions demo/decisions.csv --judgments demo/crowd.csv --score f0.5",
    "decide": "demo/essays.jsonl --system context --out decisions.csv",
    "count": "news.txt.gz --hold-out --out counts",
    "scale shard": "corpus.jsonl --out shards",
    "select": "news.txt --system prep-maxent",
    "nouns entropy": "news.txt --noun dog",
    "nouns select": "news.txt --out nouns.csv",
    "nouns agree": "demo/constructions.csv --items demo/nouns.csv",
    "mine extraneous": "demo/essays.jsonl --out suspects.csv",
    "cloze": "demo/cloze.csv --decisions demo/cloze-words.csv",
    "choice": "demo/choice.csv --accuracy 0.7 --n-items 500",
    "score": "reference.m2 ours=ours.txt theirs=theirs.txt --metric errant",
    "score compare": "ours.json theirs.json",
    "combine": "a.txt b.txt c.txt --source source.txt --at-least 2 --out combined.txt",
    "ceiling": "reference.m2 --hyp ours=ours.txt",
    "report": "--decisions demo/decisions.csv --judgments demo/crowd.csv --out report",
    "study new": "study.db --name 'Learner essays'",
    "study import": "study.db demo/essays.jsonl --decisions demo/decisions.csv",
    "study decide": "study.db --system context",
    "study sample": "study.db --system context --n 500",
    "study design": "study.db sampling --system context --n 500",
    "study mine": "study.db --name suspects",
    "study job": "study.db --task error --sample sample --judgments-per-item 3",
    "study change": "study.db --job error --state paused",
    "study gold": "study.db --job error --min-experts 2 --n 50",
    "study crowd": "study.db --job error --pay amounts.csv",
    "study invite": "study.db --role annotator --note Ann",
    "study token": "study.db Ann --scope read",
    "study second-factor": "study.db --require both",
    "study audit": "study.db --person Ann --out events.csv",
    "study hand-over": "study.db Ann Bob --job error",
    "study seat": "study.db Ann Bob",
    "study status": "demo/study.db",
    "study check": "demo/study.db",
    "study adjudicate": "study.db --job error --accept unanimous",
    "study review": "study.db --job marking",
    "study evaluate": "study.db --sample sample --corrected",
    "study suggestions": "demo/study.db",
    "study report": "demo/study.db --out study-report",
    "study export": "demo/study.db export",
    "study backup": "study.db monday.backup",
    "study restore": "monday.backup restored.db",
    "study import-archive": "copy.db export",
    "judge": "study.db --job error --endpoint https://HOST/v1 --model-name NAME",
    "serve": "study.db --port 8000",
}
"""By command: what follows its name in the example at the end of its help.  `grater demo` writes the files."""


def example(path: str) -> str:
    """The example of a command, ready to be typed."""
    return f"grater {path} {EXAMPLES[path]}"


def add_examples(command: Any, path: str) -> None:
    """End the help of a command, or of every command of a group, with its example."""
    if path in EXAMPLES:
        command.epilog = f"Example: {example(path)}"
    for name, child in getattr(command, "commands", {}).items():
        add_examples(child, f"{path} {name}")


app = typer.Typer(
    name="grater",
    cls=LazyGroup.of(COMMANDS),
    help="grater: find out how good a grammatical error detector really is.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def grater(
    version: bool = typer.Option(False, "--version", help="Print the version and exit.", is_eager=True),
) -> None:
    if version:
        typer.echo(f"grater {__version__}")
        raise typer.Exit


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status: 0 done, 1 problems found, 2 wrong use or bad input."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: list[str], program: typer.Typer = app) -> int:
    """Run one command and return its exit status; every error that a person can mend becomes plain lines."""
    _open_streams()
    _speak_any_language()
    try:
        status = typer.main.get_command(program)(args, prog_name=program.info.name, standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        return _complain(_one_line(error)) if error.format_message() else 2
    except GraterError as error:
        return _complain(str(error))
    except Exit as left:
        return left.exit_code
    except (Abort, KeyboardInterrupt):  # typer turns Ctrl-C into Abort once a command runs, not while it is imported
        return 130
    except BrokenPipeError:
        _drop_output()
        return 141
    except OSError as error:
        if error.filename is None:
            _drop_output()
        return _complain(f"{error.filename or 'standard output'}: {error.strerror or error}")
    return status if isinstance(status, int) else 0


def _drop_output() -> None:
    """Our reader (head, less) has gone, or the disk is full: Python's own flush at exit must not fail as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Where the shell has closed an output (`>&-`), what is printed to it fails as on a full disk."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def _speak_any_language() -> None:
    """What a terminal's encoding lacks is spelt out, `\\u2013`, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> int:
    sys.stderr.write(message.rstrip("\n") + "\n")
    return 2


PLAIN = {
    "is not a valid float range": "is not a number",
    "is not a valid int range": "is not a whole number",
    "is not a valid float": "is not a number",
    "is not a valid integer": "is not a whole number",
}
"""Typer's words for types, and ours."""


def _one_line(error: TyperException) -> str:
    """Typer's own complaint, with the command it is about and where to read on."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "grater"
    message = " ".join(error.format_message().split())
    for technical, plain in PLAIN.items():
        message = message.replace(technical, plain)
    stop = "" if message.endswith(("?", ".")) else "."
    return f"{path}: {message[:1].lower()}{message[1:]}{stop} Try '{path} --help'"
