"""The worked examples of CONTRIBUTING, registered for a moment and held to the tests that it names."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import typer
from fastapi import APIRouter

from grater.annotate.web import jobs
from grater.cli import app_of
from grater.corpora.formats import FORMATS
from grater.demo import sample_path
from grater.detect.systems import SYSTEMS
from grater.measure.agreement import coefficients
from grater.measure.crowd.aggregate import METHODS
from grater.model import Essay
from grater.registry import Registry
from tests.annotate.tasks import test_every_task
from tests.annotate.web.studies import served
from tests.corpora import test_formats
from tests.corpora.sources import TextSource
from tests.detect import test_systems
from tests.measure.agreement import test_coefficients
from tests.measure.crowd import test_aggregate
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "CONTRIBUTING.md"


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The one example with the given words in it, as a module."""
    (code,) = [block for block in blocks(PAGE, "python") if request.param in block]
    module = ModuleType("example")
    monkeypatch.setitem(sys.modules, "example", module)
    exec(compile(code, str(PAGE), "exec"), module.__dict__)
    return module


def of(words: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("example", [words], indirect=True, ids=[""])


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Registry[Any], str, str], None]:
    return lambda registry, name, attribute: monkeypatch.setitem(registry._places, name, f"example:{attribute}")


def registry_tests(module: ModuleType, argument: str, values: list[str] | None) -> Iterator[Callable[..., None]]:
    """The tests of a module that run over `values` of an argument; over whatever values if none are given."""
    for name, test in vars(module).items():
        marks = getattr(test, "pytestmark", ()) if name.startswith("test_") else ()
        if any(mark.args[0] == argument and values in (None, list(mark.args[1])) for mark in marks if mark.args):
            yield test


def run_all(tests: Iterator[Callable[..., None]], **given: Any) -> None:
    """Those that need no more than what is given."""
    wanted = [(test, inspect.signature(test).parameters.keys()) for test in tests]
    ready = [(test, names) for test, names in wanted if names <= given.keys()]
    assert len(ready) > 1
    for test, names in ready:
        test(**{name: given[name] for name in names})


@of("FORMAT = ")
def test_the_format(example: ModuleType, register: Callable[..., None], tmp_path: Path) -> None:
    names = FORMATS.names()
    register(FORMATS, "braces", "FORMAT")
    run_all(registry_tests(test_formats, "name", names), name="braces", tmp_path=tmp_path)
    essays = list(example.FORMAT.read(TextSource("She is interested {of=>in} music.\n", "a")))
    assert [(edit.span.of(essays[0].text), edit.replacements) for edit in essays[0].edits] == [("of", ("in",))]


@of("AlotDetector")
def test_the_detector(example: ModuleType, register: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    names = SYSTEMS.names()
    register(SYSTEMS, "alot", "AlotDetector")
    monkeypatch.setattr(test_systems, "ESSAYS", (*test_systems.ESSAYS, Essay("z", "I read alot, and a lot of it.")))
    run_all(registry_tests(test_systems, "name", names), name="alot")


@of("TASK = ")
def test_the_task(example: ModuleType) -> None:
    run_all(registry_tests(test_every_task, "task", None), task=example.TASK)


@of("DEFINITION = ")
def test_the_coefficient(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    definitions = (*coefficients.COEFFICIENTS, example.DEFINITION)
    for module in (coefficients, test_coefficients):
        monkeypatch.setattr(module, "COEFFICIENTS", definitions)
    test_coefficients.test_margins_alone_give_the_same_coefficients_as_the_table()
    test_coefficients.test_unanimous_raters_agree_fully(example.DEFINITION.of_table(np.eye(2), "nominal", ("a", "b")))


@of("def fit(")
def test_the_method_of_aggregation(example: ModuleType, register: Callable[..., None]) -> None:  # noqa: ARG001
    names = METHODS.names()
    register(METHODS, "laplace", "fit")
    run_all(registry_tests(test_aggregate, "method", names), method="laplace")


@of("def lengths")
def test_the_command(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    command: Any = typer.main.get_command(app_of(example.lengths))
    command([str(sample_path("essays.jsonl")), "--json"], standalone_mode=False)
    assert '"documents"' in capsys.readouterr().out


def test_the_page(tmp_path: Path) -> None:
    (code,) = blocks(PAGE, "text")
    names = {**vars(jobs), "pages": APIRouter()}
    exec(compile(code, str(PAGE), "exec"), names)
    with served(tmp_path, tasks=("error",)) as study:
        context = SimpleNamespace(server=SimpleNamespace(store=study.store), page=lambda name, **shown: (name, shown))
        template, shown = names["notes_page"](context, study.jobs["error"])
    assert (template, shown["job"].task) == ("notes.html", "error")
    assert [route.path for route in names["pages"].routes] == ["/manage/jobs/{job_id}/notes"]
