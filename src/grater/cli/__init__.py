"""The command line: `grater VERB ...`, one thin module per group of commands.

A group knows its commands by name and help line, and imports a module only when its command runs, so `grater
--help` stays as quick as a bare typer program.  An option means the same in every command.  Options that had
another name are in `RENAMED`: the old name still works, and no help shows it.  Wrong use and bad input end with
exit status 2 and plain lines on standard error; nobody sees a traceback.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from io import TextIOWrapper
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import Abort, Exit, TyperException

from grater import __version__
from grater.cli.examples import add_examples
from grater.errors import GraterError

COMPLETION = ("install_completion", "show_completion")
"""Options that typer gives to every program; a command of ours is a program to typer, and has no use for them."""

RENAMED: Mapping[str, Mapping[str, str]] = {
    "aggregate": {"--truth": "--true-labels"},
    "agree": {"--order": "--label-order"},
    "check": {"--format": "--show"},
    "choice": {"--of": "--n-items"},
    "decide": {"--items": "--items-out"},
    "estimate": {"--fpc": "--population=these", "--labels": "--stratum-labels", "--no-fpc": "--population=wider"},
    "mine extraneous": {"--gold": "--gold-out"},
    "nouns entropy": {"--least": "--min-phrases", "--most": "--top"},
    "nouns select": {"--least": "--min-phrases"},
    "plan": {"--flagged": "--flag-rate", "--items": "--corpus-size", "--raters": "--raters-per-item"},
    "sample": {"--labels": "--stratum-labels"},
    "simulate": {
        "--items": "--n-items",
        "--judgments": "--judgments-per-item",
        "--raters": "--n-raters",
        "--truth": "--true-labels-out",
    },
    "study design": {"--judgments": "--judgments-per-item"},
    "study gold": {"--least": "--min-experts", "--source": "--expert-job"},
    "study invite": {"--name": "--note"},
    "study job": {"--judgments": "--judgments-per-item"},
    "study mine": {
        "--balanced": "--balanced-job",
        "--judgments": "--judgments-per-item",
        "--verdicts": "--verdicts-out",
    },
    "study token": {"--name": "--note"},
    "verify": {"--fpc": "--population=these", "--no-fpc": "--population=wider"},
}
"""By command: the old name of an option, and the name it has now; what was a flag may have become a value."""


class LaterModule(ModuleType):
    """Stands in for a module until something in it is first used, and passes on to it from then on.

    (`importlib.util.LazyLoader` of Python 3.11 loads at the second `import` already.)
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


def put_off(name: str) -> None:
    """Load this module only when it is used: polars takes as long as grater itself, and no help needs it."""
    sys.modules.setdefault(name, LaterModule(name))


class LaterLeaf(LaterModule):
    """The same for a module that is no package, as `from MODULE import NAME` asks of each."""

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            raise AttributeError(name)
        return super().__getattr__(name)


class LaterClass(type):
    """Stands in for a class that another module imports by name, until an instance or an attribute is asked for."""

    def __call__(cls, *args: Any, **named: Any) -> Any:
        return _real(cls)(*args, **named)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(_real(cls), name)


def _real(stand_in: type) -> Any:
    sys.modules.pop(stand_in.__module__, None)
    return getattr(import_module(stand_in.__module__), stand_in.__name__)


def put_off_class(module: str, name: str) -> None:
    """Load a module only when its class is used.

    For parts of rich that typer imports for every help and hardly ever uses: a third of the time that it takes.
    """
    if module not in sys.modules:
        later = LaterLeaf(module)
        setattr(later, name, LaterClass(name, (), {"__module__": module}))
        sys.modules[module] = later


put_off_class("rich.markdown", "Markdown")
put_off_class("rich.traceback", "Traceback")


class LazyCommand(TyperCommand):
    """Stands in for a command until it is called; then the real one makes the context and runs in it."""

    def __init__(self, name: str, target: str, help_line: str) -> None:
        super().__init__(name, help=help_line)
        self.target = target

    def load(self) -> Any:
        put_off("polars")
        module, attribute, *names = self.target.split(":")
        command: Any = typer.main.get_command(getattr(import_module(module), attribute))
        for name in names:
            command = command.commands[name]
        command.name = self.name
        command.params = [param for param in command.params if param.name not in COMPLETION]
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        path = f"{parent.command_path if parent else ''} {info_name}".strip().removeprefix("grater ")
        command = self.load()
        add_examples(command, path)
        return command.make_context(info_name, renamed(args, path), parent=parent, **extra)


def renamed(args: Sequence[str], path: str) -> list[str]:
    """The arguments of a command, or of a group and its command, with the present names of their options."""
    names = {**RENAMED.get(path, {}), **RENAMED.get(f"{path} {args[0]}" if args else path, {})}
    split = (arg.partition("=") for arg in args)
    return [f"{names.get(option, option)}{equals}{value}" for option, equals, value in split]


class LazyGroup(TyperGroup):
    """A group whose commands are given as `{name: (module:attribute or module:attribute:command, help line)}`.

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
    "demo": ("grater.cli.demo:app", "Run the whole pipeline on a bundled sample study and write its report."),
    "check": ("grater.cli.check:app", "Give feedback on essays: what looks wrong, why, and what would be better."),
    "learners": ("grater.cli.check:class_app", "Report on a class: errors per learner and over time."),
    "systems": ("grater.cli.systems:app", "List the installed detectors."),
    "corpus": ("grater.cli:corpus_app", "Count, convert, compare and check annotated corpora."),
    "agree": ("grater.cli.agree:app", "Measure agreement among raters: kappa, alpha and AC1 with intervals."),
    "raters": ("grater.cli.crowd:raters_app", "Profile each rater: accuracy, agreement, skill, speed."),
    "raters-needed": ("grater.cli.agree:raters_needed_app", "Find out how many crowd raters match an expert."),
    "difficulty": (
        "grater.cli.agree:difficulty_app",
        "List the easiest and hardest items, and what predicts disagreement.",
    ),
    "aggregate": ("grater.cli.crowd:aggregate_app", "Combine the judgments of many raters into one answer per item."),
    "simulate": ("grater.cli.crowd:simulate_app", "Simulate judgments by raters of known skill."),
    "plan": (
        "grater.cli.sample:plan_app",
        "Plan an evaluation: items, raters, hours and cost for a target interval.",
    ),
    "sample": ("grater.cli.sample:app", "Draw a stratified sample of items to judge."),
    "estimate": ("grater.cli.sample:estimate_app", "Estimate precision, recall and F from a judged sample."),
    "evaluate": ("grater.cli.evaluate:app", "Score systems against raters: precision, recall and F."),
    "verify": ("grater.cli.evaluate:verify_app", "Score systems on judged flags: precision only."),
    "compare": ("grater.cli.evaluate:compare_app", "Test whether systems differ: paired tests and rank groups."),
    "decide": ("grater.cli.systems:decide_app", "Run a detector on a corpus and write its decisions."),
    "count": ("grater.cli.scale:count_app", "Count the n-grams of a text."),
    "scale": ("grater.cli.scale:app", "Cut large corpora into shards for parallel work."),
    "select": ("grater.cli.systems:select_app", "Measure preposition selection in native text."),
    "nouns": ("grater.cli.nouns:app", "Study the article and number of nouns: entropy, items, agreement."),
    "mine": ("grater.cli.mine:app", "Find likely errors by n-gram counts, for people to judge."),
    "cloze": (
        "grater.cli.selection:cloze_app",
        "Score a cloze task: writer, raters and systems fill the same blanks.",
    ),
    "choice": ("grater.cli.selection:choice_app", "Score a choice task: the writer's word or the system's."),
    "score": ("grater.cli.score:app", "Score corrections by M2, ERRANT, CLEME or GLEU."),
    "score compare": ("grater.cli.score:compare_app", "Compare saved scores, paired by sentence."),
    "combine": ("grater.cli.score:combine_app", "Combine the corrections of several systems by vote."),
    "ceiling": ("grater.cli.score:ceiling_app", "Measure the human ceiling: each annotator against the others."),
    "report": ("grater.cli.report:app", "Write a report on judgments and decisions, with figures."),
    "study": ("grater.cli.study:app", "Run a study: essays, jobs, people, judgments, results."),
    "judge": (
        "grater.cli.study.judge:judge_app",
        "Let a program or a language model judge the units of a job.",
    ),
    "serve": ("grater.cli.serve:app", "Serve a study to annotators in the browser."),
}
"""Every command: where it lives, and its line in `grater --help`."""

CORPUS = {
    "stats": ("grater.cli.corpus:app:stats", "Count documents, sentences, tokens, edits and tags."),
    "convert": (
        "grater.cli.corpus:app:convert",
        "Convert a corpus, or parallel text, to another format.",
    ),
    "compare": (
        "grater.cli.corpus:app:compare",
        "Compare two sets of edits of the same sentences.",
    ),
    "check": ("grater.cli.corpus:app:check", "Check a corpus and list every defect with its line."),
    "judgments": ("grater.cli.corpus:app:judgments", "Turn annotators' edits into judgments of items."),
}

corpus_app = typer.Typer(cls=LazyGroup.of(CORPUS), no_args_is_help=True, help=COMMANDS["corpus"][1])


@corpus_app.callback()
def corpus_group() -> None:
    pass


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


OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""Python's 700 would have what a command imports, which stays, looked through for garbage hundreds of times."""


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status: 0 done, 1 problems found, 2 wrong use or bad input."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 50)
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
