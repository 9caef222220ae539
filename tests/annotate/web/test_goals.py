"""The page that asks how sure a study is to be."""

from __future__ import annotations

from pathlib import Path

from grater.annotate import units
from grater.annotate.importing import import_files
from grater.annotate.protocol import set_terms
from tests.annotate.web.studies import served
from tests.annotate.web.test_crowd_numbers import plain


def test_the_cost_of_a_width_is_in_the_currency_of_the_study(tmp_path: Path) -> None:
    with served(tmp_path, tasks=("error",)) as study:
        with study.store.read() as tx:
            chosen = [
                units.get(tx, each).unit.items[0].item.item_id for each in units.ids_of_job(tx, study.jobs["error"])
            ]
        rows = [f"{item},S,{int(place == 0)}" for place, item in enumerate(dict.fromkeys(chosen))]
        (tmp_path / "decisions.csv").write_text("\n".join(["item,system,flagged", *rows]) + "\n", "utf-8")
        import_files(study.store, decisions=[tmp_path / "decisions.csv"])
        owner = study.browser("owner")
        before = plain(owner.get("/manage/sure?cents=7").text)
        with study.store.write() as tx:
            set_terms(tx, study.jobs["error"], {"pay": {"cents": 7, "currency": "USD"}})
        after = plain(owner.get("/manage/sure?cents=7").text)
    assert " EUR" in before
    assert " USD" in after
    assert " EUR" not in after
