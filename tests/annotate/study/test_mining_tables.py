"""Mined lists as tables: out of a study as the command writes them, and in again."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from grater.annotate import content, jobs
from grater.annotate.mining import add_list, all_of, verdict_table
from grater.annotate.people import Person
from grater.annotate.store import Store
from grater.detect.mining.ranking import uses_of
from grater.detect.mining.review import mine, suspects_table, verdicts_of
from grater.errors import BadInput
from grater.tables import read_items, write_table
from tests.annotate.study.mined_lists import ada, count, mined, say, store, verdicts

__all__ = ["ada", "store"]


def test_the_table_is_the_one_that_the_command_writes(store: Store, ada: Person, tmp_path: Path) -> None:
    say(store, mined(store), ada, marry="y", entered="n")
    with store.read() as tx:
        ours = verdict_table(tx, jobs.named(tx, "mined").job_id)
        corpus = list(content.all_essays(tx))
    suspects = mine(list(uses_of(corpus)), count).suspects
    theirs = suspects_table(suspects, {"marry with her": "y", "entered into the": "n"})
    assert ours.equals(theirs)
    write_table(ours, tmp_path / "verdicts.csv")
    assert verdicts_of(read_items(tmp_path / "verdicts.csv"))["marry with her"] == "y"


def test_a_list_comes_in_with_its_verdicts_under_the_name_of_who_brings_it(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="n")
    with store.read() as tx:
        table = read_items(verdict_table(tx, job_id))
    again = add_list(store, "again", table, lambda _: ada)
    assert verdicts(store, again.job_id) == verdicts(store, job_id)
    with store.read() as tx:
        assert {each.by for each in all_of(tx, again.job_id) if each.verdict} == {"Ada"}
        assert all_of(tx, again.job_id)[1].n_uses == 2


def test_a_verdict_survives_blanks_that_a_hand_put_in(store: Store, ada: Person) -> None:
    job_id = mined(store)
    say(store, job_id, ada, marry="y", entered="n")
    with store.read() as tx:
        frame = verdict_table(tx, job_id)
    spaced = frame.with_columns(trigram=" " + pl.col("trigram").str.replace(" ", "  "))
    again = add_list(store, "again", read_items(spaced), lambda _: ada)
    assert verdicts(store, again.job_id) == verdicts(store, job_id)


def test_a_list_of_other_essays_or_with_odd_cells_is_refused_whole(store: Store, ada: Person) -> None:
    job_id = mined(store)
    with store.read() as tx:
        good = verdict_table(tx, job_id)
    strange = good.with_columns(trigram=pl.lit("climbed up the"))
    odd = good.with_columns(n_bigram=pl.lit("many"))
    twice = pl.concat([good, good.head(1).with_columns(item=pl.lit("another"))])
    for frame, words in (
        (strange, "expected a trigram of the study's essays, found 'climbed up the'"),
        (odd, "n_bigram: expected a number, found 'many'"),
        (twice, "expected every trigram once"),
        (good.drop("trigram"), "expected a column 'trigram'"),
    ):
        with pytest.raises(BadInput, match=words):
            add_list(store, "odd", read_items(frame), lambda _: ada)
    with store.read() as tx:
        assert [job.name for job in jobs.all(tx)] == ["mined"]
