"""The examples of CONTRIBUTING and of examples/, registered for a moment and held to the tests of what they are."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import typer

from grater.annotate.web import jobs
from grater.annotate.web.context import Routes
from grater.annotate.web.security import MANAGERS
from grater.cli import app_of
from grater.corpora.formats import FORMATS
from grater.demo import sample_path
from grater.detect.systems import SYSTEMS
from grater.measure.crowd.aggregate import METHODS
from grater.model import Essay
from grater.options import Registry
from tests.annotate.tasks import test_every_task
from tests.annotate.web.studies import served
from tests.corpora import test_formats
from tests.corpora.sources import TextSource
from tests.detect import test_systems
from tests.measure.crowd import test_aggregate
from tests.test_docs import ROOT, blocks

PAGE = ROOT / "CONTRIBUTING.md"


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the package that shows how to add to grater."""
    monkeypatch.syspath_prepend(ROOT / "examples" / "house-style")
    return importlib.import_module(f"house_style.{request.param}")


def of(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("example", [name], indirect=True, ids=[""])


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Registry[Any], str, str], None]:
    return lambda registry, name, place: monkeypatch.setitem(registry._places, name, f"house_style.{place}")


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


@of("braces")
def test_the_format(example: ModuleType, register: Callable[..., None], tmp_path: Path) -> None:
    names = FORMATS.names()
    register(FORMATS, "braces", "braces:FORMAT")
    run_all(registry_tests(test_formats, "name", names), name="braces", tmp_path=tmp_path)
    essays = list(example.FORMAT.read(TextSource("She is interested {of=>in} music.\n", "a")))
    assert [(edit.span.of(essays[0].text), edit.replacements) for edit in essays[0].edits] == [("of", ("in",))]


@of("alot")
def test_the_detector(example: ModuleType, register: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    names = SYSTEMS.names()
    register(SYSTEMS, "alot", "alot:AlotDetector")
    monkeypatch.setattr(test_systems, "ESSAYS", (*test_systems.ESSAYS, Essay("z", "I read alot, and a lot of it.")))
    run_all(registry_tests(test_systems, "name", names), name="alot")


@of("register")
def test_the_task(example: ModuleType) -> None:
    run_all(registry_tests(test_every_task, "task", None), task=example.TASK)


@of("laplace")
def test_the_method_of_aggregation(example: ModuleType, register: Callable[..., None]) -> None:  # noqa: ARG001
    names = METHODS.names()
    register(METHODS, "laplace", "laplace:fit")
    run_all(registry_tests(test_aggregate, "method", names), method="laplace")


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = blocks(PAGE, "python")
    names: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), names)
    command: Any = typer.main.get_command(app_of(names["lengths"]))
    command([str(sample_path()), "--json"], standalone_mode=False)
    assert '"documents"' in capsys.readouterr().out


def test_the_page(tmp_path: Path) -> None:
    (code,) = blocks(PAGE, "text")
    names = {**vars(jobs), "pages": Routes(MANAGERS)}
    exec(compile(code, str(PAGE), "exec"), names)
    with served(tmp_path, tasks=("error",)) as study:
        context = SimpleNamespace(page=lambda name, **shown: (name, shown))
        with study.store.read() as tx:
            template, shown = names["notes_page"](context, tx, study.jobs["error"])
    assert (template, shown["job"].task) == ("notes.html", "error")
    assert [route.path for route in names["pages"].routes] == ["/manage/jobs/{job_id}/notes"]
