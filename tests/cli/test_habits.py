"""The habits that all commands share: an option means one thing, `-h` helps, tables are printed in every form."""

from __future__ import annotations

import json
import shlex
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import typer
from release.reference import _commands

from grater import api
from grater.cli import COMMANDS, PANELS, app, example
from grater.cli.command import imported
from tests.cli.running import Capture, grater
from tests.conftest import Demo
from tests.each import for_each


@cache
def commands() -> dict[str, Any]:
    """Importing them all takes a second: they come with the first test that asks."""
    return {" ".join(path[1:]): command for path, command in _commands(typer.main.get_command(app), ("grater",))}


OF_ITS_NOUN = {
    *("--add-to", "--as", "--assist", "--by", "--constructions", "--corrections", "--engine", "--job", "--json"),
    *("--kind", "--labels", "--n", "--name", "--out", "--precision", "--rater", "--sample", "--score", "--system"),
    *("--items", "--tagset", "--task", "--top"),
}
"""What these are depends on the command: the name of a study or of a job, the file that it writes."""


def options(command: Any) -> dict[str, Any]:
    found = (param for param in command.params if param.param_type_name == "option")
    return {name: param for param in found for name in param.opts}


def kind(param: Any) -> str:
    """What a value of an option is: nothing (a flag), a file, a number or text."""
    if param.is_flag:
        return "flag"
    type_name = type(param.type).__name__.lower()
    numbers = ("int", "float")
    return "file" if "path" in type_name else "number" if type_name.startswith(numbers) else "text"


def test_an_option_has_one_meaning_one_description_and_one_kind_of_value_in_all_commands() -> None:
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    helps: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name, command in commands().items():
        for option, param in options(command).items():
            kinds[option][kind(param)].append(name)
            helps[option][param.help].append(name)
    for found in (kinds, helps):
        assert {option for option, each in found.items() if len(each) > 1} <= OF_ITS_NOUN


@for_each(COMMANDS)
def test_a_command_is_made_of_a_function(name: str) -> None:
    """Its options, defaults and descriptions are those of the function; docs/commands.md shows them."""
    assert imported(COMMANDS[name].target).is_described


def test_a_command_prints_the_result_of_its_function(capsys: Capture, demo: Demo, tmp_path: Path) -> None:
    crowd, decisions, gold = (demo.folder / f"{name}.csv" for name in ("crowd", "decisions", "gold"))
    essays, reference, both = demo.folder / "essays.jsonl", tmp_path / "ref.m2", tmp_path / "both.m2"
    first = "S She go .\nA 1 2|||Vform|||goes|||REQUIRED|||-NONE-|||0\n"
    reference.write_text(f"{first}\n")
    both.write_text(f"{first}{first.splitlines()[1][:-1]}1\n\n")
    corrected = tmp_path / "h.txt"
    corrected.write_text("She goes .\n")
    results = {
        f"agree {crowd} --units item": api.agreement(crowd, units="item"),
        f"raters {crowd} --gold {gold}": api.raters(crowd, gold=gold),
        f"raters {crowd} --needed --gold {gold}": api.raters_needed(crowd, gold=gold),
        f"agree {crowd} --hardest --top 3": api.difficulty(crowd, top=3),
        f"aggregate {crowd} --method majority": api.aggregate(crowd, method="majority"),
        f"evaluate --decisions {decisions} --judgments {crowd} --truth share": api.evaluate(
            decisions, crowd, truth="share"
        ),
        f"compare --decisions {decisions} --judgments {crowd}": api.compare(decisions, crowd),
        "plan --recall 0.4 --wage 20": api.plan(recall=0.4, wage=20.0),
        f"corpus stats {essays} --by language": api.corpus_statistics(essays, by="language"),
        f"corpus lint {essays}": api.check_corpus(essays),
        f"corpus convert {essays} {tmp_path / 'a.m2'}": api.convert(essays, tmp_path / "b.m2"),
        f"score {reference} h={corrected} --metric errant": api.score(reference, {"h": corrected}, metric="errant"),
        f"score {both} --ceiling": api.ceiling(both),
        f"report --judgments {crowd}": api.report(judgments=crowd),
    }
    for words, result in results.items():
        assert json.loads(grater(capsys, *words.split(), "--json").out) == json.loads(json.dumps(result.to_dict()))


@for_each(commands)
def test_a_command_explains_every_option_accepts_its_example_and_answers_programs(name: str) -> None:
    command = commands()[name]
    assert [param.name for param in command.params if not param.help and param.name != "help"] == []
    command.make_context(name, shlex.split(COMMANDS[name].example))
    helps = [command.help or "", *(str(param.help) for param in command.params)]
    assert [text for text in helps if "so many" in text or "so often" in text or "a sentence a line" in text] == []
    assert "--json" in options(command) or name == "serve"
    if "--table" in options(command):
        table = options(command)["--table"]
        assert (list(table.type.choices), table.default) == (["text", "markdown", "latex", "csv"], "text")


def test_there_are_few_enough_commands() -> None:
    assert COMMANDS.keys() == commands().keys()
    assert len(COMMANDS) <= 60
    assert sum(map(len, PANELS.values())) <= 22


def test_h_is_help(capsys: Capture) -> None:
    for name in commands():
        ran = grater(capsys, *name.split(), "-h")
        assert (ran.status, ran.err) == (0, "")
        assert f"Usage: grater {name}" in ran.out
        assert f"Example: {example(name)}" in " ".join(ran.out.split())
