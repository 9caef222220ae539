"""The command line: `grater VERB ...`, one thin file per command group.

A command file is imported only when its command runs, so `grater --help` stays as quick as a bare typer program.
Wrong use and bad input end with exit status 2 and plain lines on standard error; nobody sees a traceback.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

import typer
from typer.exceptions import Abort, Exit, TyperException

from grater import __version__
from grater.cli.lazy import LazyGroup
from grater.errors import GraterError

COMMANDS = {
    "demo": ("grater.cli.demo:app", "The whole loop on the bundled sample study, ending in a report."),
    "check": ("grater.cli.check:app", "Feedback on an essay: what looks wrong, and what would be better."),
    "systems": ("grater.cli.systems:app", "The detectors that are installed."),
    "corpus": ("grater.cli:corpus_app", "Read, write, check and count annotated corpora in every format."),
    "agree": ("grater.cli.agree:app", "How far raters agree: kappa, alpha and the rest, with intervals."),
    "raters": ("grater.cli.crowd:raters_app", "One row per rater: how many, how right, how quick."),
    "raters-needed": ("grater.cli.agree:raters_needed_app", "How many raters match an expert."),
    "difficulty": ("grater.cli.agree:difficulty_app", "Easiest and hardest items, and what goes with disagreement."),
    "aggregate": ("grater.cli.crowd:aggregate_app", "The joint answer of many raters, by one of six methods."),
    "simulate": ("grater.cli.crowd:simulate_app", "Judgments by raters of known skill, for planning and tests."),
    "plan": ("grater.cli.sample:plan_app", "Items, raters, hours and money for a wanted interval, by design."),
    "sample": ("grater.cli.sample:app", "Draw items to judge, by strata and permanent random numbers."),
    "estimate": ("grater.cli.estimate:app", "Precision, recall and F of systems from a judged sample."),
    "evaluate": ("grater.cli.evaluate:app", "Detectors against raters: standard, weighted, binned."),
    "verify": ("grater.cli.compare:verify_app", "Precision only, from judged flags."),
    "compare": ("grater.cli.compare:app", "Paired tests between systems, rank groups."),
    "decide": ("grater.cli.systems:decide_app", "Run a detector over a corpus; a decision for every candidate."),
    "select": ("grater.cli.systems:select_app", "Preposition selection in native text: accuracy, F per preposition."),
    "nouns": ("grater.cli.nouns:app", "Article-number constructions of nouns, and the study of them."),
    "train": ("grater.cli.train:app", "Make models from text: tagger, prepositions, language model."),
    "mine": ("grater.cli.mine:app", "Find likely errors by n-gram counts, for people to look at."),
    "cloze": ("grater.cli.selection:cloze_app", "Writer, raters and systems fill the same blanks."),
    "choice": ("grater.cli.selection:choice_app", "The writer's word or the system's: corrected accuracy."),
    "score": ("grater.cli.score:app", "Score corrections by M2, ERRANT or GLEU, with intervals and tests."),
    "ceiling": ("grater.cli.score:ceiling_app", "What people reach: each annotator against the others."),
    "report": ("grater.cli.report:app", "Tables in, one page with pictures out."),
    "study": ("grater.cli.study:app", "A study in one database: import, jobs, invitations, export."),
    "judge": ("grater.cli.judge:app", "A program as a rater: JSON lines in and out, judgments marked as its own."),
    "serve": ("grater.cli.serve:app", "The annotation server of a study."),
}
"""Every command: where it lives, and its line in `grater --help`."""

CORPUS = {
    "stats": ("grater.cli.corpus:app:stats", "Documents, sentences, tokens, edits, tags (NUCLE, Table 5)."),
    "convert": ("grater.cli.corpus:app:convert", "From one format to another, naming what cannot be held."),
    "check": ("grater.cli.corpus:app:check", "Every defect with its line; exit status 1 if there is any."),
    "judgments": ("grater.cli.corpus:app:judgments", "Annotators' edits as judgments of items."),
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


def main(args: list[str] | None = None) -> None:
    """Run the command line and leave with its exit status: 0 done, 1 problems found, 2 wrong use or bad input."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: list[str]) -> int:
    """Run one command and return its exit status; every error that a person can mend becomes plain lines."""
    _speak_any_language()
    try:
        status = typer.main.get_command(app)(args, prog_name="grater", standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        return _complain(_one_line(error)) if error.format_message() else 2
    except GraterError as error:
        return _complain(str(error))
    except Exit as left:
        return left.exit_code
    except Abort:
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


def _speak_any_language() -> None:
    """What a terminal's encoding lacks is spelt out, `\\u2013`, instead of ending the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _complain(message: str) -> int:
    sys.stderr.write(message.rstrip("\n") + "\n")
    return 2


def _one_line(error: TyperException) -> str:
    """Typer's own complaint, with the command it is about and where to read on."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "grater"
    message = " ".join(error.format_message().split())
    stop = "" if message.endswith(("?", ".")) else "."
    return f"{path}: {message[:1].lower()}{message[1:]}{stop} Try '{path} --help'"
