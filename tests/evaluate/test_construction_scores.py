"""Article systems against every construction that raters accept (Lee et al. 2009, section 4)."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from grater.agreement.constructions import CONSTRUCTIONS
from grater.statistics.proportions import wilson
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


def test_any_accepted_construction_is_right(tables: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    done = grater(capsys, "evaluate", "--constructions", *tables, "--json")
    [system] = json.loads(done.out)["systems"]
    assert system["n"] == 4
    assert system["original"] == wilson(1, 4).as_json()  # it left the third noun as it was
    assert system["accepted"] == wilson(2, 4).as_json()
    assert system["starred"] == wilson(1, 4).as_json()
    shown = grater(capsys, "evaluate", "--constructions", *tables)
    assert "every accepted one" in shown.out
    assert "95 % intervals are for other items like these 4" in shown.out


def test_the_items_say_what_was_written(tables: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    done = grater(capsys, "evaluate", "--constructions", *tables[:4])
    assert done.status == 2
    assert "expected --items with --constructions" in done.err
