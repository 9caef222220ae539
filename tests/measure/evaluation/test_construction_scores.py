"""Article systems against every construction that raters accept (Lee et al. 2009, section 4)."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from grater.measure.agreement.constructions import CONSTRUCTIONS
from grater.reporting.tasks import constructions_section
from grater.tables import read_decisions, read_items, read_judgments
from grater.uncertainty import wilson
from tests.cli.running import grater

ACCEPTED = {
    # noun: (written, yes of both raters, yes* of both)
    0: ("the-singular", ("the-singular", "a-singular"), ("the-singular",)),
    1: ("null-plural", ("null-plural", "the-plural"), ("the-plural",)),
    2: ("a-singular", ("the-singular",), ("the-singular",)),
    3: ("a-singular", ("a-singular",), ("a-singular",)),
}
CHOSEN = {0: "a-singular", 1: "the-plural", 2: None, 3: "the-singular"}
"""Right for the raters twice, never the original but where it leaves it, which they reject."""


@pytest.fixture
def tables(tmp_path: Path) -> list[object]:
    items, judged, decided = [], [], []
    for noun, (written, yes, best) in ACCEPTED.items():
        for name in CONSTRUCTIONS:
            item = f"n{noun}-{name}"
            kind = f"construction/in-context/{name}"
            items.append(
                {"item": item, "essay": "e", "start": noun, "end": noun + 1, "kind": kind, "original": written}
            )
            label = "yes*" if name in best else "yes" if name in yes else "no"
            judged += [{"item": item, "rater": rater, "label": label} for rater in "AB"]
        chosen = CHOSEN[noun]
        first = f"n{noun}-{CONSTRUCTIONS[0]}"
        decided.append({"item": first, "system": "S", "flagged": int(chosen is not None), "suggestion": chosen})
    for name, rows in (("items", items), ("judged", judged), ("decided", decided)):
        pl.DataFrame(rows).write_csv(tmp_path / f"{name}.csv")
    named = {"--decisions": "decided", "--judgments": "judged", "--items": "items"}
    return [part for option, name in named.items() for part in (option, tmp_path / f"{name}.csv")]


def evaluated(capsys: pytest.CaptureFixture[str], tables: list[object]) -> list[dict[str, object]]:
    done = grater(capsys, "evaluate", "--constructions", "--units", "item", *tables, "--json")
    systems: list[dict[str, object]] = json.loads(done.out)["systems"]
    return systems


EXPECTED = {rule: wilson(n, 4).as_json() for rule, n in (("original", 1), ("accepted", 2), ("starred", 1))}
"""It left the third noun as it was."""


def test_any_accepted_construction_is_right(tables: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    [system] = evaluated(capsys, tables)
    assert system == {"system": "S", "n": 4, **EXPECTED}
    shown = grater(capsys, "evaluate", "--constructions", "--units", "item", *tables)
    assert "every accepted one" in shown.out
    assert "95 % intervals generalise to other items like these 4" in shown.out


def of_parts(folder: Path) -> Path:
    """The same choices as decisions on articles and number, in the columns of `grater decide --system article`."""
    rows = []
    for noun, chosen in CHOSEN.items():
        written = ACCEPTED[noun][0].split("-")
        article, number = (chosen or ACCEPTED[noun][0]).split("-")
        word = {"a": "an", "null": "-NONE-"}.get(article, article) if article != written[0] else None
        spans = {"article": (noun, noun, word), "number": (noun, noun + 1, "forms" if number != written[1] else None)}
        rows += [
            (f"{kind}{noun}", "article", int(change is not None), change, "e", start, end, kind)
            for kind, (start, end, change) in spans.items()
        ]
    names = ["item", "system", "flagged", "suggestion", "essay", "start", "end", "kind"]
    pl.DataFrame(rows, names, orient="row").write_csv(folder / "parts.csv")
    return folder / "parts.csv"


def test_decisions_on_articles_and_number_speak_for_the_noun(
    tables: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ["--decisions", of_parts(tmp_path)]
    assert evaluated(capsys, [*parts, *tables[2:]]) == [{"system": "article", "n": 4, **EXPECTED}]
    both = evaluated(capsys, [*parts, *tables])
    assert [{**each, "system": ""} for each in both] == [{"system": "", "n": 4, **EXPECTED}] * 2


def test_a_report_scores_systems_against_every_accepted_construction(tables: list[object], tmp_path: Path) -> None:
    judgments, items = read_judgments(tmp_path / "judged.csv"), read_items(tmp_path / "items.csv")
    section = constructions_section(judgments, items, decisions=read_decisions(of_parts(tmp_path)))
    [sheet] = [each for each in section.sheets if each.name == "constructions-systems"]
    assert sheet.rows[0][:2] == ("article", "4")
    assert sheet.rows[0][3].startswith(".500")
    assert tables
