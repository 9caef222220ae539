"""The page that asks how sure a study is to be."""

from __future__ import annotations

from pathlib import Path

from grater.annotate import units
from grater.annotate.importing import import_files
from grater.annotate.protocol import set_terms
from tests.annotate.web.studies import Study, served
from tests.annotate.web.test_crowd_numbers import plain


def decide(study: Study, folder: Path, *, first: int) -> None:
    """A system that flags the first item and no other, or (0) every other item."""
    with study.store.read() as tx:
        ids = units.ids_of_job(tx, study.jobs["error"])
        chosen = [units.get(tx, each).unit.items[0].item.item_id for each in ids]
    rows = [f"{item},S,{first if place == 0 else 1 - first}" for place, item in enumerate(dict.fromkeys(chosen))]
    (folder / "decisions.csv").write_text("\n".join(["item,system,flagged", *rows]) + "\n", "utf-8")
    import_files(study.store, decisions=[folder / "decisions.csv"])


def test_a_system_that_flags_nearly_everything_has_a_plan(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        decide(study, tmp_path, first=0)
        reply = study.browser("owner").get("/manage/sure?cents=7")
    assert reply.status_code == 200
    assert " EUR" in plain(reply.text)


def test_the_cost_of_a_width_is_in_the_currency_of_the_study(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        decide(study, tmp_path, first=1)
        owner = study.browser("owner")
        before = plain(owner.get("/manage/sure?cents=7").text)
        with study.store.write() as tx:
            set_terms(tx, study.jobs["error"], {"pay": {"cents": 7, "currency": "USD"}})
        after = plain(owner.get("/manage/sure?cents=7").text)
    assert " EUR" in before
    assert " USD" in after
    assert " EUR" not in after
