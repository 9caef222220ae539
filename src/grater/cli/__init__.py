"""The command line: `grater VERB ...`, one thin module per group of commands.

A group has only the names and help lines of its commands, and imports a module when its command runs, so `grater
--help` is fast. An option means the same in every command. Wrong use and bad input end with exit status 2 and plain
messages on standard error, never a traceback.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, signature
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import Abort, Exit, TyperException

from grater import __version__
from grater.errors import GraterError, UsageError
from grater.options import named_as, typed


@dataclass(frozen=True, slots=True)
class Entry:
    """A command: the function behind it, its line in the help of its group, and an example of what follows it."""

    target: str
    line: str
    example: str


TABLE = """\
demo: Run the whole pipeline on a bundled sample study and write its report.
    cli.demo:demo --out demo
check: Give feedback on essays: what looks wrong, why, and what would be better.
    cli.check:check essay.txt --show html --out feedback
serve: Serve a study to annotators in the browser.
    cli.study.files:serve study.db --port 8000
corpus stats: Count documents, sentences, tokens, edits and tags.
    api:corpus_statistics demo/essays.m2 --split-tags
corpus convert: Convert a corpus, or parallel text, to another format.
    api:convert demo/essays.jsonl essays.m2 --losses losses.jsonl
corpus compare: Compare two sets of edits of the same sentences.
    cli.corpus:compare demo/essays.m2 --engine grater
corpus lint: List every defect of a corpus with its line.
    api:check_corpus demo/essays.sgml --ignore whitespace
corpus judgments: Turn annotators' edits into judgments of items.
    api:corpus_judgments demo/essays.jsonl --decisions demo/decisions.csv --tags Wcip --out judged.csv
decide: Run a detector on a corpus and write its decisions.
    cli.systems:decide demo/essays.jsonl --system context --out decisions.csv
systems: List the installed detectors.
    api:systems context prep-maxent
learners: Report on a class: errors per learner and over time.
    cli.check:learners class/*.txt --out class.html
agree: Measure agreement among raters: kappa, alpha and AC1 with intervals.
    api:agreement demo/judgments.csv --items demo/items.csv
raters: Profile each rater: accuracy, agreement, skill, speed.
    api:raters demo/crowd.csv --gold demo/gold.csv
aggregate: Combine the judgments of many raters into one answer per item.
    api:aggregate demo/crowd.csv --method dawid-skene --out answers.csv
plan: Plan an evaluation: items, raters, hours and cost for a target interval.
    api:plan --flag-rate 0.1 --precision 0.8 --recall 0.5 --width 0.1 --wage 20
sample: Draw a stratified sample of items to judge.
    api:sample demo/decisions.csv --system prep-maxent --n 200 --out my-sample.csv
evaluate: Score systems against raters: precision, recall and F.
    api:evaluate --decisions demo/decisions.csv --judgments demo/crowd.csv --weighted
compare: Test whether systems differ: paired tests and rank groups.
    api:compare --decisions demo/decisions.csv --judgments demo/crowd.csv --score f0.5
score: Score corrections by M2, ERRANT, CLEME or GLEU.
    api:score reference.m2 ours=ours.txt theirs=theirs.txt --metric errant
prefer: Rank systems by people's preference, with intervals and rank groups.
    api:prefer demo/rankings.csv
report: Write a report on judgments and decisions, with figures.
    api:report --decisions demo/decisions.csv --judgments demo/crowd.csv --out report
study new: Create an empty study: a file or a PostgreSQL database.
    cli.study.files:make_study_file study.db --name 'Learner essays'
study import: Import essays, items, decisions, judgments or known answers.
    cli.study.files:import_into study.db demo/essays.jsonl --decisions demo/decisions.csv
study decide: Run systems on the essays and store their decisions.
    cli.study.systems:run_systems study.db --system context
study sample: Draw a sample of flagged and unflagged items to judge.
    cli.study.systems:draw_sample study.db --system context --n 500
study status: Show progress and the next step.
    cli.study.files:show_status demo/study.db
study evaluate: Score the systems against the raters: precision, recall and F.
    cli.study.results:evaluate_study study.db --sample sample --corrected
study report: Write the report of a study, with figures.
    cli.study.results:write_report demo/study.db --out study-report
study adjudicate: List what raters differ on, and decide it.
    cli.study.results:adjudicate study.db --job error --accept unanimous
study suggestions: Measure the effect of a system's suggestions on marking.
    cli.study.results:suggestions demo/study.db
study audit: Show who did what and when, or write it to a file.
    cli.study.people:audit study.db --person Ann --out events.csv
study export: Export a study to a folder, without secrets.
    cli.study.files:export_to demo/study.db export
study backup: Back up a study, even while people work.
    cli.study.files:backup study.db monday.backup
study restore: Restore a study from a backup or an export.
    cli.study.files:restore monday.backup restored.db
study verify: Look for lost, duplicate or orphaned work in a study.
    cli.study.files:verify demo/study.db
job new: Create a job: a task on items or essays, or a published design.
    cli.study.people:add_job_command study.db --task error --sample sample --judgments-per-item 3
job open: Open a draft, or a paused or closed job.
    cli.study.people:open_job study.db error
job pause: Pause a job; work in progress is still accepted.
    cli.study.people:pause_job study.db error
job close: Close a job.
    cli.study.people:close_job study.db error
job guidelines: Give a job a new version of its instructions.
    cli.study.people:guidelines study.db error guidelines.md
job gold: Add gold to a job, from experts' agreement or known errors.
    cli.study.people:make_gold_units study.db error --min-experts 2 --n 50
job terms: Show or change a crowd job's terms, show its protocol and cost, write its payment file.
    cli.study.people:terms study.db error --pay amounts.csv
job units: Write the units of a job, or the items of a sample, as worksheets to judge in a spreadsheet.
    cli.study.files:write_units study.db error --worksheet sheet.xlsx
job review: Check a job's marks and return the findings to their annotators.
    cli.study.results:review_marks study.db marking
people invite: Print an invitation link that works once.
    cli.study.people:make_link study.db --role annotator --note Ann
people token: Create, list or revoke API tokens.
    cli.study.people:print_token study.db Ann --scope read
people seat: Create a joint seat: two people, one agreed judgment.
    cli.study.people:make_seat study.db Ann Bob
people hand-over: Reassign a person's remaining units to somebody else.
    cli.study.people:hand_units_over study.db Ann Bob --job error
people second-factor: List, require or reset second factors.
    cli.study.people:second_factor study.db --require both
judge: Let a program or a language model judge the units of a job.
    cli.study.results:ask study.db --job error --endpoint https://HOST/v1 --model-name NAME
lab recall: Estimate the recall of correctors, or the errors they leave, from marked sentences.
    api:recall marks.csv --fates fates.csv --verified verified.csv
lab simulate: Simulate judgments by raters of known skill.
    api:simulate --n-items 200 --n-raters 20 --skill 0.85 --out simulated.csv
lab cloze: Score a cloze task: writer, raters and systems fill the same blanks.
    api:cloze demo/cloze.csv --decisions demo/cloze-words.csv
lab choice: Score a choice task: the writer's word or the system's.
    api:choice demo/choice.csv --accuracy 0.7 --n-items 500
lab select: Measure preposition selection in native text.
    api:select news.txt --system prep-maxent
lab nouns: Show how predictable article and number of nouns are, or choose items to judge.
    cli.mine:nouns news.txt --noun dog
lab mine: Find likely errors by n-gram counts, for people to judge.
    cli.mine:mine_prepositions demo/essays.jsonl --out suspects.csv
lab count: Count the n-grams of a text.
    cli.scale:count news.txt.gz --hold-out --out counts
lab shard: Cut a large corpus into shards for parallel work.
    cli.scale:shard corpus.jsonl --out shards
lab combine: Combine the corrections of several systems by vote.
    cli.corpus:combine a.txt b.txt c.txt --source source.txt --at-least 2 --out combined.txt
"""
"""Every command with its line of help, then the function behind it and an example of what follows its name.

`grater demo` writes the files under `demo/` in the examples.
"""

N_ARGUMENTS = {**dict.fromkeys(("plan", "evaluate", "compare", "report", "lab simulate"), 0)}
"""How many parameters of a function of `grater.api` are arguments, where that is not one."""
OTHERS: Mapping[str, Mapping[str, str]] = {
    "agree": {"": "grater.api:edit_agreement", "hardest": "grater.api:difficulty"},
    "raters": {"needed": "grater.api:raters_needed"},
    "score": {"ceiling": "grater.api:ceiling"},
    "lab recall": {"remaining": "grater.api:remaining"},
}
"""What is called instead where the option of that name is given or, under "", where an annotated corpus is."""
DESCRIBE = {
    **dict.fromkeys(("report", "study report"), "grater.cli.corpus:describe_report"),
    "corpus lint": "grater.cli.corpus:describe_lint",
    "corpus convert": "grater.cli.corpus:describe_conversion",
    "corpus judgments": "grater.cli.corpus:describe_judgments",
    "sample": "grater.cli.corpus:describe_sample",
}
"""What makes lines of a result that is not a table of numbers."""


def _entries() -> dict[str, Entry]:
    heads, places = TABLE.splitlines()[::2], TABLE.splitlines()[1::2]
    found = {}
    for head, place in zip(heads, places, strict=True):
        name, _, line = head.partition(": ")
        target, _, words = place.strip().partition(" ")
        found[name] = Entry(f"grater.{target}", line, words)
    return found


COMMANDS: Mapping[str, Entry] = _entries()
GROUPS: Mapping[str, str] = {
    "corpus": "Count, convert, compare and check annotated corpora.",
    "study": "Create a study, import files, check its progress, export results.",
    "job": "Create the jobs of a study, open and close them, set their gold and terms.",
    "people": "Let people and programs into a study.",
    "lab": "What only researchers on methods need.",
}
PANELS: Mapping[str, Sequence[str]] = {
    "Start": ("demo", "check", "serve"),
    "Texts": ("corpus", "decide", "systems", "learners"),
    "Measure": (
        *("agree", "raters", "aggregate", "plan", "sample", "evaluate", "compare"),
        *("score", "prefer", "report"),
    ),
    "Studies": ("study", "job", "people", "judge"),
    "Lab": ("lab",),
}


def example(path: str) -> str:
    """The example of a command, ready to paste."""
    return f"grater {path} {COMMANDS[path].example}"


class OneValue(TyperCommand):
    """Refuses repeating an option that takes one value, since the last would silently win."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        args = repeated(args, {name for each in self.params for name in each.opts if name == HYP})
        named_as.clear()
        named_as.update({str(each.name): each.opts[0] for each in self.params if each.param_type_name == "option"})
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for param in order:
            is_single = param.param_type_name == "option" and not (param.multiple or getattr(param, "is_flag", False))
            if is_single and order.count(param) > 1:
                raise UsageError(f"{param.opts[0]} takes one value, found {order.count(param)}")
        return super().parse_args(ctx, args)


HYP = "--hyp"
"""An option that takes all the files that follow it, up to the next option."""


def repeated(args: Sequence[str], names: Collection[str]) -> list[str]:
    """`--hyp a b c` as `--hyp a --hyp b --hyp c`."""
    arguments: list[str] = []
    name, is_first = "", False
    for arg in args:
        if arg.startswith("-") and arg != "-":
            name, is_first = arg if arg in names else "", True
        elif name and not is_first:
            arguments.append(name)
        else:
            is_first = False
        arguments.append(arg)
    return arguments


def app_of(target: Any) -> typer.Typer:
    """A function as an application of one command."""
    if hasattr(target, "is_described"):
        from grater.cli.command import made_of

        target = made_of(target, n_arguments=n_positional(target))
    app = typer.Typer(add_completion=False)
    app.command(cls=OneValue)(target)
    return app


class LazyCommand(TyperCommand):
    """A placeholder for a command that imports the real one when it is called."""

    def __init__(self, path: str, entry: Entry, panel: str | None = None) -> None:
        super().__init__(path.rpartition(" ")[2], help=entry.line, rich_help_panel=panel)
        self.path, self.entry = path, entry

    def load(self) -> Any:
        from grater.cli.command import imported, made_of  # help of the whole program is quicker without

        target = imported(self.entry.target)
        if hasattr(target, "is_described"):
            others = {name: imported(place) for name, place in OTHERS.get(self.path, {}).items()}
            describe = imported(DESCRIBE[self.path]) if self.path in DESCRIBE else None
            is_own = not self.entry.target.startswith("grater.api:")
            n_arguments = n_positional(target) if is_own else N_ARGUMENTS.get(self.path, 1)
            target = made_of(target, others, n_arguments=n_arguments, describe=describe)
        command: Any = typer.main.get_command(app_of(target))
        command.name, command.epilog = self.name, f"Example: {example(self.path)}"
        return command

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent=parent, **extra)


def n_positional(function: Any) -> int:
    """The number of positional parameters of a function."""
    kinds = [each.kind for each in signature(function).parameters.values()]
    return sum(kind is not Parameter.KEYWORD_ONLY for kind in kinds)


class LazyGroup(TyperGroup):
    """The commands whose first words are those of the group, in the panels of the help."""

    def __init__(self, path: str = "", **attributes: Any) -> None:
        super().__init__(**attributes)
        for words, entry in COMMANDS.items():
            group = words.split()[0] if words.split()[0] in GROUPS else ""
            if group == path:
                command: Any = LazyCommand(words, entry, None if path else panel_of(words))
            elif path or group in self.commands:
                continue
            else:
                command = LazyGroup(
                    group,
                    name=group,
                    help=GROUPS[group],
                    no_args_is_help=True,
                    rich_help_panel=panel_of(group),
                    rich_markup_mode="rich",
                )
            self.add_command(command)


def panel_of(name: str) -> str:
    return next(panel for panel, names in PANELS.items() if name in names)


app = typer.Typer(
    name="grater",
    cls=LazyGroup,
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
    """Run the command line and exit: 0 done, 1 problems found, 2 wrong use or bad input."""
    sys.exit(run(sys.argv[1:] if args is None else args))


def run(args: list[str], program: typer.Typer = app) -> int:
    """Run one command and return its exit status; errors that a person can fix become plain messages."""
    _open_streams()
    _speak_any_language()
    try:
        status = typer.main.get_command(program)(args, prog_name=program.info.name, standalone_mode=False)
        sys.stdout.flush()
    except TyperException as error:
        return _complain(_one_line(error)) if error.format_message() else 2
    except GraterError as error:
        return _complain(typed(str(error)))
    except ModuleNotFoundError as error:
        if error.name not in ("sqlalchemy", "pydantic"):
            raise
        return _complain("a study needs SQLAlchemy and pydantic: pip install 'grater[server]'")
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
    """The reader (head, less) has gone or the disk is full: prevent Python's flush at exit from failing as well."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_streams() -> None:
    """Reopen outputs closed by the shell (`>&-`), so that printing fails as on a full disk."""
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8", closefd=False)


def _speak_any_language() -> None:
    """Characters that the terminal's encoding lacks are printed as escapes, `\\u2013`, instead of failing."""
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
    """Typer's own error message, with its command and a pointer to the help."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "grater"
    message = " ".join(error.format_message().split())
    for technical, plain in PLAIN.items():
        message = message.replace(technical, plain)
    stop = "" if message.endswith(("?", ".")) else "."
    return f"{path}: {message[:1].lower()}{message[1:]}{stop} Try '{path} --help'"
