"""Benchmarks run by hand: what they take from grater must be there, and the page says what the results say."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from benchmarks import coverage, results

import grater
from grater.model import Interval

ROOT = Path(__file__).parents[1]
FILES = [*sorted((ROOT / "benchmarks").glob("*.py")), *sorted((ROOT / "training" / "figures").glob("*.py"))]
CODE = re.compile(r'^[A-Z_0-9]+ = """(\n.*?)^"""$', re.M | re.S)
"""A script that a benchmark runs in a process of its own."""


def taken_from_grater(tree: ast.Module) -> Iterator[tuple[str, str, str]]:
    """Module of grater, name there, and name here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("grater", "grater_train"):
            for alias in node.names:
                yield node.module or "", alias.name, alias.asname or alias.name


def resolved(module: str, name: str) -> object:
    """What a module has under a name, which may be a module of its own."""
    try:
        return getattr(import_module(module), name)
    except AttributeError:
        return import_module(f"{module}.{name}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_benchmark_takes_what_grater_has(path: Path) -> None:
    source = path.read_text("utf-8")
    for part in [source, *(code for code in CODE.findall(source) if "grater" in code)]:
        tree = ast.parse(part)
        values = {here: resolved(module, name) for module, name, here in taken_from_grater(tree)}
        modules = {here: value for here, value in values.items() if isinstance(value, ModuleType)}
        modules |= {"grater": import_module("grater")} if re.search(r"^import grater$", part, re.M) else {}
        used = [
            (node.value.id, node.attr)
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules
        ]
        assert [f"{module}.{name}" for module, name in used if not hasattr(modules[module], name)] == []


def test_the_page_is_what_the_results_say() -> None:
    assert results.PAGE.read_text("utf-8") == results.page(json.loads(results.RESULTS.read_text("utf-8")))


def test_coverage_counts_the_intervals_that_hold_and_leaves_out_those_withheld() -> None:
    nan = float("nan")
    found = [Interval(0.5, 0.4, 0.6), Interval(0.2, 0.1, 0.3), Interval(0.5, nan, nan, "two essays")]
    corpora = [{"recall": each, "rejects": coverage.rejects(each)} for each in found]
    assert coverage.cell(corpora, {"recall": 0.5}) == {"recall": 0.5, "rejects": 1.0}
    assert coverage.rejects(Interval(0.1, -0.1, 0.3)) == 0


def test_a_corpus_of_the_worlds_has_the_numbers_of_the_public_functions() -> None:
    world = coverage.ESSAYS["20 x 25, half of the labels missing"]
    found, corpus = coverage.judged(world, np.random.default_rng(0)), world.draw(np.random.default_rng(0))
    tables, items = (corpus.decisions(), corpus.judgments()), corpus.items()
    evaluation = grater.evaluate(*tables, items=items)
    public = {name: evaluation.systems[0][name] for name in coverage.SCORES}
    public |= {"weighted recall": evaluation.whole.weighted[0]["recall"]}
    agreement = grater.agreement(tables[1], items=items)
    public |= {
        "alpha": agreement.alpha,
        "mean kappa": agreement.kappa,
        coverage.INDEPENDENT: grater.agreement(tables[1]).alpha,
    }
    for name, each in public.items():
        own: Any = found[name]
        assert [own.value, own.low, own.high] == pytest.approx([each.value, each.low, each.high], rel=1e-12), name
    [pair] = grater.compare(*tables, items=items).pairs
    assert found["F0.5 of equal systems differs"] == coverage.rejects(pair.test.difference)
