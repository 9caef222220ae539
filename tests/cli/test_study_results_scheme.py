"""The rating scheme of T&C 2008, 5.1 and 5.2, inside a study: flags, confidence, contexts apart, the 3 x 3 table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.annotate import jobs, status
from grater.annotate.importing import import_files
from grater.annotate.programs import program_job, store_answer, to_ask
from grater.annotate.reporting import study_inputs
from grater.annotate.store import open_store
from grater.annotate.tables import ALL_COUNT, Counting
from grater.reporting.build import build
from grater.reporting.document import Section
from grater.tables import write_table
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.cli.running import invoked, refused
from tests.measure.agreement.tables import TABLE_3

LABELS = {"Extraneous": "0", "Wrong-Choice": "1", "OK": "2"}
N_FLAGGED = 40


@pytest.fixture(scope="module")
def table_3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The 1,336 contexts of Table 3, and 40 that one rater flagged, on which the two always differ."""
    folder = tmp_path_factory.mktemp("table-3")
    rows: list[tuple[str, str, str, str | None, str, str]] = [
        (f"{place}-{one}-{other}", rater, LABELS[label], None, "high", "expert")
        for i, one in enumerate(TABLE_3.labels)
        for j, other in enumerate(TABLE_3.labels)
        for place in range(int(TABLE_3.cells[i, j]))
        for rater, label in (("R1", one), ("R2", other))
    ]
    for place in range(N_FLAGGED):
        rows.append((f"messy-{place}", "R1", "1", None, "low", "expert"))
        rows.append((f"messy-{place}", "R2", "e", "spelling|grammar", "high", "expert"))
    columns = ["item", "rater", "label", "flags", "confidence", "group"]
    write_table(pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row"), folder / "judgments.csv")
    decided = sorted({(row[0], "S", int(row[0].startswith(("messy", "0-W", "0-E")))) for row in rows})
    decisions = pl.DataFrame(decided, schema=["item", "system", "flagged"], orient="row")
    write_table(decisions, folder / "decisions.csv")
    with status.new_study(folder / "study.db") as store:
        import_files(store, judgments=[folder / "judgments.csv"], job="trained raters", task="usage")
        import_files(store, decisions=[folder / "decisions.csv"])
    return folder / "study.db"


def usage_section(study: Path, counting: Counting = ALL_COUNT) -> Section:
    with open_store(study) as store, store.read() as tx:
        report = build(study_inputs(tx, counting=counting, names=True))
    [section] = [each for each in report.sections if each.name == "usage"]
    return section


def cells(section: Section, sheet_name: str) -> list[tuple[str, ...]]:
    [sheet] = [each for each in section.sheets if each.name == sheet_name]
    return [tuple(row) for row in sheet.rows]


def counts(section: Section, figure_name: str) -> list[int]:
    [figure] = [each for each in section.figures if each.name == figure_name]
    return [row["n"] for row in figure.spec["data"]["values"]]


def test_the_papers_table_and_kappa_are_those_without_flagged_contexts(table_3: Path) -> None:
    section = usage_section(table_3)
    # T&C 2008, Table 3, cell by cell
    assert counts(section, "usage-clean") == [17, 0, 6, 1, 42, 20, 4, 33, 1213]
    assert counts(section, "usage-all")[3:6] == [1, 42, 60]
    assert [row[2] for row in cells(section, "usage-disagreement")] == ["66/126", "37/97", "26/86", "37/97"]
    by_part = {row[0]: row for row in cells(usage_section(table_3), "usage-agreement")}
    assert by_part["no other error nearby"][1] == "1,336"
    # from the nine cells: .629717 [.546272, .713161] by Fleiss, Cohen and Everitt; the paper prints .630
    assert by_part["no other error nearby"][3].startswith(".630 [")
    assert by_part["all items"][1] == "1,376"
    assert float(by_part["all items"][3].split()[0]) < 0.53
    assert by_part["confident judgments only"][3].startswith(".630")


def test_judgments_with_a_flag_or_of_low_confidence_are_left_out_of_a_report(table_3: Path) -> None:
    for counting in (Counting(drop_flags=("spelling",)), Counting(min_confidence=1)):
        by_part = {row[0]: row for row in cells(usage_section(table_3, counting), "usage-agreement")}
        assert by_part["all items"][1] == "1,336"
    with open_store(table_3) as store, store.read() as tx:
        report = build(study_inputs(tx, counting=Counting(drop_flags=("spelling",))))
    assert "Left out of all numbers: 40 judgments, flag spelling." in report.headline


def evaluated(study: Path, *args: str) -> tuple[Any, str]:
    ran = invoked("study evaluate --json", study, *args)
    return json.loads(ran.stdout), ran.stderr


def test_flags_and_confidence_move_the_scores_of_a_study_or_leave_none(table_3: Path) -> None:
    plain, _ = evaluated(table_3)
    dropped, messages = evaluated(table_3, "--drop-flags", "spelling,grammar")
    sure, _ = evaluated(table_3, "--min-confidence", "1")
    # messy contexts are a tie, half an error each; without the flagging rater they are errors by the other's word
    assert plain["systems"][0]["counts"]["false_alarm"] - dropped["systems"][0]["counts"]["false_alarm"] == 20
    assert dropped["systems"][0]["counts"]["hit"] - plain["systems"][0]["counts"]["hit"] == 20
    assert sure["systems"][0]["counts"]["false_alarm"] - plain["systems"][0]["counts"]["false_alarm"] == 20
    assert "left out 40 judgments: flag spelling" in messages
    line = refused("study evaluate --min-confidence 2", table_3)
    assert "no judgment is left: 2,752 are left out (confidence below 2)" in line


def test_contexts_are_shown_separately(table_3: Path) -> None:
    result, messages = evaluated(table_3, "--contexts", "spelling,grammar")
    assert {name: part["items"] for name, part in result["parts"].items()} == {
        "without flagged contexts": 1336,
        "with flagged contexts": N_FLAGGED,
    }
    assert "no judgment has the flag" not in messages
    _, messages = evaluated(table_3, "--contexts", "speling,grammar")
    assert "no judgment has the flag speling; flags that raters set: grammar, spelling" in messages


def test_a_program_is_named_and_counted_only_with_programs(tmp_path: Path) -> None:
    with status.new_study(tmp_path / "study.db") as store:
        judged = write_text(tmp_path / "j.csv", "item,rater,label", "one,Ann,error", "two,Ann,ok")
        decided = write_text(tmp_path / "d.csv", "item,system,flagged", "one,S,1", "two,S,1")
        files = {"items": [write_items(tmp_path)], "judgments": [judged], "decisions": [decided]}
        import_files(store, corpora=[write_essays(tmp_path)], job="people", **files)  # type: ignore[arg-type]
        with store.write() as tx:
            job, person = program_job(tx, jobs.named(tx, "people"), "robot")
            asked = to_ask(tx, job)
        for unit in asked:
            store_answer(store, unit, person, {"label": ["error"]})
    study = tmp_path / "study.db"
    people_only, messages = evaluated(study)
    assert "robot, a program: 2 judgments not counted; --with-programs counts them" in messages
    assert people_only["systems"][0]["precision"]["value"] == 0.5
    together, messages = evaluated(study, "--with-programs")
    assert together["systems"][0]["precision"]["value"] == 0.75
    assert "robot" not in messages
