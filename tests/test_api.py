"""`import grater`: every name works with frames, tables and paths, costs nothing to import, and speaks Python."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import grater
from grater import api
from grater.demo import sample_path
from grater.options import is_optional
from tests.each import for_each

JUDGMENTS = pl.DataFrame(
    {
        "item": [f"i{item}" for item in range(40) for _ in range(3)],
        "rater": list("ABC") * 40,
        "label": ["error" if (item * 7 + rater * 3) % 5 < 2 else "ok" for item in range(40) for rater in range(3)],
    }
)
DECISIONS = pl.DataFrame(
    {
        "item": [f"i{item}" for item in range(40)] * 2,
        "system": ["one"] * 40 + ["two"] * 40,
        "flagged": [item % 3 == 0 for item in range(40)] + [item % 4 == 0 for item in range(40)],
        "score": [(item % 10) / 10 for item in range(80)],
    }
)
GOLD = pl.DataFrame({"item": ["i0", "i1", "i2"], "label": ["error", "ok", "ok"]})
ESSAYS = sample_path()


def as_path(frame: pl.DataFrame, folder: Path) -> Path:
    path = folder / f"{'-'.join(frame.columns)}.csv"
    frame.write_csv(path)
    return path


FORMS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "polars": lambda frame, _: frame,
    "pandas": lambda frame, _: frame.to_pandas(),
    "arrow": lambda frame, _: frame.to_arrow(),
    "path": as_path,
    "text": lambda frame, folder: str(as_path(frame, folder)),
}


@pytest.fixture
def inputs(form: str, tmp_path: Path) -> dict[str, Any]:
    tables = {"judgments": JUDGMENTS, "decisions": DECISIONS, "gold": GOLD}
    return {name: FORMS[form](frame, tmp_path) for name, frame in tables.items()}


CALLS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "agreement": lambda given: grater.agreement(given["judgments"]),
    "raters": lambda given: grater.raters(given["judgments"], gold=given["gold"]),
    "raters_needed": lambda given: grater.raters_needed(given["judgments"], given["judgments"]),
    "difficulty": lambda given: grater.difficulty(given["judgments"]),
    "aggregate": lambda given: grater.aggregate(given["judgments"], gold=given["gold"]),
    "evaluate": lambda given: grater.evaluate(given["decisions"], given["judgments"], weighted=True),
    "compare": lambda given: grater.compare(given["decisions"], given["judgments"]),
}


def require_result(result: Any) -> None:
    """The three ways out, and the two in a notebook."""
    assert isinstance(result.to_dict(), dict)
    assert isinstance(result.to_frame(), pl.DataFrame)
    assert len(result.to_frame())
    assert result.sheets()
    assert "<table" in result._repr_html_()
    assert type(result).__name__ in repr(result)


@pytest.mark.parametrize(
    ("form", "name"), [*(("polars", name) for name in CALLS), *product(FORMS, ("agreement", "evaluate"))]
)
def test_a_function_of_tables_takes_any_form_of_table(inputs: dict[str, Any], name: str) -> None:
    result = CALLS[name](inputs)
    require_result(result)
    if name in ("evaluate", "compare"):
        assert [row["system"] for row in result.to_dict()["systems"]] == [scored.system for scored in result.systems]


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_is_drawn_and_evaluated(inputs: dict[str, Any]) -> None:
    drawn = grater.sample(inputs["decisions"], system="one", n=20, seed=1)
    assert len(drawn.frame) == 20
    require_result(grater.evaluate(inputs["decisions"], inputs["judgments"], sample=drawn))
    more = grater.sample(inputs["decisions"], system="two", add_to=drawn)
    assert set(drawn.frame["item"]) <= set(more.frame["item"])


def test_a_number_is_printed_with_its_interval() -> None:
    """README's example, and the advice of a message followed in Python (issue 35, defect 2)."""
    alpha = grater.agreement(JUDGMENTS).alpha
    assert str(alpha) == f"{alpha.value:.3f} [{alpha.low:.3f}, {alpha.high:.3f}]"
    renamed = JUDGMENTS.rename({"item": "sentence_id"})
    with pytest.raises(grater.GraterError, match=r'pass `columns=\{"item": "NAME"\}`'):
        grater.agreement(renamed)
    assert grater.agreement(renamed, columns={"item": "sentence_id"}).alpha == alpha


def test_what_was_read_before_is_taken_as_it_is() -> None:
    judgments = grater.read_judgments(JUDGMENTS, merge={"error": "wrong"})
    decisions = grater.read_decisions(DECISIONS.rename({"system": "tool"}), columns={"system": "tool"})
    assert "wrong" in grater.agreement(judgments).labels
    assert decisions.frame["system"].unique().sort().to_list() == ["one", "two"]
    essays = grater.read_corpus(ESSAYS)
    assert isinstance(essays[0], grater.Essay)
    require_result(grater.corpus_statistics(essays))
    require_result(grater.edit_agreement(essays))
    require_result(grater.corpus_statistics(ESSAYS))


def test_systems_texts_plans_and_reports_are_results(tmp_path: Path) -> None:
    require_result(grater.systems("article"))
    assert grater.load_system("prep-maxent").name == "prep-maxent"
    require_result(grater.check("She is interested of music.", systems=["prep-maxent"]))
    flags = [len(grater.check("She is interested of music.", precision=share).flags) for share in (0.5, 0.95)]
    assert flags[0] >= flags[1]
    require_result(grater.plan(recall=0.4, corpus_size=20000, wage=20))
    with pytest.raises(grater.GraterError, match="expected `missed` or `recall`"):
        grater.plan()
    report = grater.report(judgments=JUDGMENTS, decisions=DECISIONS, out=tmp_path / "report")
    assert {"agreement", "systems"} <= {section.name for section in report.sections}
    assert (tmp_path / "report" / "report.html").exists()
    assert report.headline[0] in repr(report)
    assert len(repr(report)) < 2000  # a notebook shows the last value of a cell


def test_corrections_are_scored_from_lines_and_from_files(tmp_path: Path) -> None:
    source, better = ["She go to school .", "Fine ."], ["She goes to school .", "Fine ."]
    (tmp_path / "ref.m2").write_text(
        f"S {source[0]}\nA 1 2|||Vform|||goes|||REQUIRED|||-NONE-|||0\n\nS {source[1]}\n\n"
    )
    (tmp_path / "mine.txt").write_text("\n".join(better) + "\n")
    result = grater.score(tmp_path / "ref.m2", {"mine": tmp_path / "mine.txt", "theirs": source})
    require_result(result)
    by_system = {system.system: system.overall.scores["f0.5"].value for system in result.systems}
    assert by_system == {"mine": 1.0, "theirs": 0.0}
    again = grater.score([str(tmp_path / "ref.m2")], [tmp_path / "mine.txt"])
    assert again.systems[0].to_dict() == result.systems[0].to_dict() | {"group": again.systems[0].group}
    assert grater.score(tmp_path / "ref.m2", source).systems[0].overall.scores["f0.5"].value == 0
    result = grater.score(better, {"mine": better}, metric="gleu", source=source)
    assert result.systems[0].overall.scores["gleu"].value == pytest.approx(1.0)
    with pytest.raises(grater.GraterError, match="need the sentences before correction: `source`"):
        grater.score(better, {"mine": better}, metric="gleu")


def test_every_public_function_of_the_module_is_offered() -> None:
    own = {
        name
        for name, value in vars(api).items()
        if inspect.isfunction(value) and value.__module__ == api.__name__ and not name.startswith("_")
    }
    assert own == {name for name in grater.__all__ if not inspect.isclass(getattr(grater, name))}


@for_each(grater.__all__)
def test_every_name_shows_its_own_signature_and_words_and_options_are_keyword_only(name: str) -> None:
    """No package has the name of a function: `help(grater.sample)` is about the function."""
    value = getattr(grater, name)
    assert not inspect.ismodule(value)
    assert value.__doc__
    for parameter in () if inspect.isclass(value) else inspect.signature(value).parameters.values():
        is_option = parameter.default is not inspect.Parameter.empty and parameter.default is not None
        assert not is_option or parameter.kind is inspect.Parameter.KEYWORD_ONLY, parameter.name


def test_importing_grater_loads_nothing_heavy_and_a_wrong_name_is_an_attribute_error() -> None:
    code = "import sys; before = set(sys.modules); import grater; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert {name.split(".")[0] for name in loaded} <= {"grater", "importlib", "types", "warnings", "__future__"}
    assert [name for name in loaded if name.startswith("grater.")] == []
    with pytest.raises(AttributeError, match="module 'grater' has no attribute 'agrement'"):
        grater.agrement  # type: ignore[attr-defined]  # noqa: B018


WRONG: dict[Any, list[object]] = {
    bool: ["x", [1], 1.5],
    int: ["x", [1], 1.5, True],
    float: ["x", [1], True],
    str: [7, True, ["x"]],
    Sequence[str]: ["x", 7, [7], {"x": "x"}],
    Sequence[float]: ["x", 7, ["x"]],
    Mapping[str, str]: ["x", ["x"]],
}
"""Values that will not do, by the type of an option."""


def test_an_option_of_another_type_is_reported_in_one_line_before_anything_is_read() -> None:
    seen = set()
    for function in filter(inspect.isfunction, (getattr(grater, name) for name in grater.__all__)):
        for option in inspect.signature(function).parameters.values():
            kind, can_be_none = is_optional(option.annotation)
            if option.kind is not option.KEYWORD_ONLY or kind not in WRONG:
                continue
            seen.add(kind)
            for value in WRONG[kind] + ([] if can_be_none else [None]):
                shown = re.escape(repr(value))
                with pytest.raises(grater.GraterError, match=rf"^{option.name}: expected .*, found {shown}$"):
                    function(**{option.name: value})
    assert seen == WRONG.keys()


def test_numbers_of_numpy_are_numbers() -> None:
    options: dict[str, Any] = {"resamples": np.int64(2), "reach": np.float32(0.5), "seed": np.uint8(1)}
    result = grater.raters_needed(JUDGMENTS, JUDGMENTS, **options)
    assert result.to_dict() == grater.raters_needed(JUDGMENTS, JUDGMENTS, resamples=2, reach=0.5, seed=1).to_dict()
    truth: Any = np.True_
    assert len(grater.corpus_statistics(ESSAYS, split_tags=truth).to_frame())


def test_an_unknown_option_value_is_answered_without_naming_a_command_line_option() -> None:
    import pandas as pd  # half a second that no other test needs

    wrong: list[Callable[[], object]] = [
        lambda: grater.aggregate(JUDGMENTS, method="dawid-sken"),
        lambda: grater.evaluate(DECISIONS, JUDGMENTS, truth="majorty"),
        lambda: grater.sample(DECISIONS, system="one"),
        lambda: grater.sample(DECISIONS, system="three", n=3),
        lambda: grater.agreement(pd.DataFrame({"a": [1]})),
        lambda: grater.evaluate(DECISIONS, JUDGMENTS, units="essay"),
        lambda: grater.evaluate(DECISIONS, JUDGMENTS, kind="prep"),
        lambda: grater.evaluate(DECISIONS, JUDGMENTS, assist=JUDGMENTS),
    ]
    for call in wrong:
        with pytest.raises(grater.GraterError) as caught:
            call()
        assert "--" not in str(caught.value), str(caught.value)


def test_what_is_no_corpus_text_or_name_is_answered_in_one_line(tmp_path: Path) -> None:
    calls: list[Callable[[Any], object]] = [
        lambda given: grater.corpus_statistics(given),
        lambda given: grater.edit_agreement(given, resamples=2),
        lambda given: grater.check_corpus(given),
        lambda given: grater.convert(given, tmp_path / "out.m2"),
        lambda given: grater.corpus_judgments(given, DECISIONS, tags=["Wcip"]),
        lambda given: grater.decide(given, systems=["prep-maxent"]),
        lambda given: grater.select(given, systems=["prep-maxent"]),
        lambda given: grater.score(given, {"mine": ["a"]}),
        lambda given: grater.score(["a"], {"mine": given}, source=["a"]),
        lambda given: grater.ceiling(given),
        grater.check,
        grater.load_system,
        grater.systems,
    ]
    frames = (JUDGMENTS, JUDGMENTS.to_pandas(), pl.DataFrame())
    for call, given in product(calls, (None, 3, [1, 2], {"a": 1}, b"x", [["a"]], *frames)):
        with pytest.raises(grater.GraterError, match=r"expected .+ found") as caught:
            call(given)
        assert "\n" not in str(caught.value)
