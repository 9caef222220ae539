"""Every kind of value that our own readers produce comes through every call: nothing answers 500 or changes."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from grater.annotate import content
from grater.annotate.importing import import_files
from grater.corpora import read_corpus
from grater.demo import sample_path
from grater.errors import BadInput
from grater.model import MOST_DEPTH, Edit, Essay, Span
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import TEXTS, Study

ODD: dict[str, Any] = {
    "score": 37.5,
    "big": 2**60,
    "native": False,
    "level": None,
    "drafts": [1, "two", None, [True]],
    "writer": {"age": 19, "languages": ["Thai", "Lao"]},
    "city": "Chiang Mai 🌶",
}
ODD_CELLS = {
    "score": [37.5, float("nan")],
    "native": [True, None],
    "written": [date(2026, 11, 16), None],
    "stamp": [datetime(2026, 11, 16, 9, 30, tzinfo=UTC), None],
    "drafts": [[1, 2], None],
    "writer": [{"age": 19, "city": None}, None],
    "beyond": [float("inf"), 0.5],
}


def nested(depth: int) -> str:
    """An object with lists in each other, as deep as this with the object."""
    return '{"x": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def walk(study: Study) -> dict[str, list[dict[str, object]]]:
    """Every call that lists what files brought in, and the pages of the same; the replies are held to the schema."""
    program, browser = Program(study, "manager"), study.browser("manager")
    essays = program.call("essay_list", query="most=1000")["essays"]
    for essay in essays[:5]:
        program.call("one_essay", query=f"essay_id={essay['essay_id']}")
    listed = program.call("item_list", query="most=1000")["items"]
    for name in ("import_list", "one_study", "system_list", "sample_list", "job_list"):
        program.call(name)
    for page in ("/manage", "/manage/essays", "/manage/items", f"/manage/essays?essay={essays[0]['essay_id']}"):
        assert browser.get(page).status_code == 200, page
    assert browser.post("/manage/export").status_code == 200
    return {"essays": essays, "items": listed}


def test_essays_come_through_every_call_with_all_that_is_known_of_them(bare: Study) -> None:
    bare.write(content.add_essays, [Essay("odd", "It swim. It sleeps.", metadata=ODD)])
    import_files(bare.store, corpora=[sample_path()])
    listed = {each["essay_id"]: each["metadata"] for each in walk(bare)["essays"]}
    assert listed["odd"] == ODD
    assert {essay.essay_id: dict(essay.metadata) for essay in read_corpus(sample_path())}.items() <= listed.items()


def test_every_kind_of_cell_of_an_item_comes_through_every_call(bare: Study, tmp_path: Path) -> None:
    path = tmp_path / "items.parquet"
    place = {"item": ["one", "two"], "essay": ["essay-1"] * 2, "start": [0, 5], "end": [4, 11], "kind": ["error"] * 2}
    pl.DataFrame({**place, **ODD_CELLS}).write_parquet(path)
    import_files(bare.store, items=[path])
    one, two = (each["payload"] for each in walk(bare)["items"] if each["name"] in ("one", "two"))
    assert one == {
        "score": 37.5,
        "native": True,
        "written": "2026-11-16",
        "stamp": "2026-11-16T09:30:00+00:00",
        "drafts": "[1, 2]",
        "writer": '{"age": 19, "city": null}',
        "beyond": "inf",
    }
    assert two == {"beyond": 0.5}


@pytest.mark.parametrize("payload", ['{"x": NaN}', "[1]", "{", "1e999", nested(MOST_DEPTH + 2)])
def test_a_payload_that_is_no_json_object_is_refused_by_its_item(bare: Study, tmp_path: Path, payload: str) -> None:
    path = tmp_path / "judgments.jsonl"
    path.write_text(json.dumps({"item": "one", "rater": "ann", "label": "ok", "payload": payload}), encoding="utf-8")
    with pytest.raises(BadInput, match=r"judgments.*expected (a JSON object|JSON in column 'payload')"):
        import_files(bare.store, judgments=[path])


def test_metadata_nested_as_deep_as_is_read_comes_through_and_deeper_is_refused(bare: Study, tmp_path: Path) -> None:
    path = tmp_path / "deep.jsonl"
    for depth, is_read in ((MOST_DEPTH - 1, True), (900, False)):  # the line itself is an object
        essay = f'{{"id": "deep-{depth}", "text": "It swims.", "metadata": {nested(depth)}}}'
        path.write_text('{"format":"grater-corpus","version":1}\n' + essay + "\n", encoding="utf-8")
        if is_read:
            import_files(bare.store, corpora=[path])
            continue
        with pytest.raises(BadInput, match="nested at most 100 deep"):
            import_files(bare.store, corpora=[path])
    assert "deep-99" in {each["essay_id"] for each in walk(bare)["essays"]}


def test_every_essay_is_listed_and_leads_to_its_text_and_units(study: Study) -> None:
    browser = study.browser("manager")
    page = browser.get("/manage/essays").text
    assert all(f"essay={name}" in page for name in ("essay-1", "essay-2", "essay-3"))
    one = browser.get("/manage/essays?essay=essay-2").text
    assert TEXTS[1] in one
    assert f"/manage/jobs/{study.jobs['marking']}" in one
    assert "/manage/units/" in one


def test_marks_that_came_with_an_essay_are_shown_whatever_it_is_called(bare: Study) -> None:
    edit = Edit(Span(3, 7), ("swims",), "SVA", "ann")
    bare.write(content.add_essays, [Essay("a/b #2?&é", "It swim.", (edit,), ("ann", "bob"))])
    browser = bare.browser("manager")
    link = browser.get("/manage/essays").text.partition("/manage/essays?essay=a")[2].partition('"')[0]
    page = browser.get(f"/manage/essays?essay=a{link}").text
    assert "<del>swim</del>" in page
    assert "<ins>swims</ins>" in page
    assert "nothing wrong" in page
    assert "No job yet." in page
    assert browser.get("/manage/essays?essay=none").status_code == 404
