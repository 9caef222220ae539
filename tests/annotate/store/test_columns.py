"""The tables of statistics as columns: the same on both engines, and the same as rows."""

from __future__ import annotations

from sqlalchemy import select

from grater.annotate import content, jobs, judgments, progress
from grater.annotate.store import Store, Tx, schema
from grater.annotate.tables import (
    decided_kinds,
    decision_columns,
    judged_items,
    kinds_of,
    label_columns,
    place_columns,
)
from grater.model import Decision, Essay, Item, Span
from tests.annotate.store.crowds import make_world

TEXT = "😀 We met in the café at noon."
IN = Item("e", Span(9, 11), "prep")
GAP = Item("e", Span(9, 9), "prep-missing")
WHOLE = Item("long", Span(0, 300), "essay")


def fill(store: Store) -> None:
    with store.write() as tx:
        content.add_essays(tx, [Essay("e", TEXT, metadata={"document": "d1"}), Essay("long", "x" * 300)])
        content.add_items(
            tx, [content.study_item(IN, payload={"level": "B1"}), content.study_item(GAP), content.study_item(WHOLE)]
        )
        content.add_decisions(
            tx,
            [
                Decision(IN.item_id, "S", True, 0.5, "choice", "at"),
                Decision(GAP.item_id, "S", False),
                Decision(IN.item_id, "T", False, -0.25),
            ],
        )


def test_places_have_their_words_by_code_points(store: Store) -> None:
    fill(store)
    with store.read() as tx:
        rows = {row["item"]: row for row in place_columns(tx).iter_rows(named=True)}
    where = {"item": IN.item_id, "essay": "e", "start": 9, "end": 11, "kind": "prep"}
    assert rows[IN.item_id] == {**where, "target": "in", "document": "d1", "level": "B1"}
    assert (rows[GAP.item_id]["target"], rows[GAP.item_id]["level"]) == ("", None)
    assert (rows[WHOLE.item_id]["target"], rows[WHOLE.item_id]["document"]) == (None, "long")  # a document of its own


def test_only_the_kinds_that_were_asked_for(store: Store) -> None:
    fill(store)
    with store.read() as tx:
        assert place_columns(tx, ["prep"])["item"].to_list() == [IN.item_id]
        assert decision_columns(tx, ["prep-missing"])["item"].to_list() == [GAP.item_id]
        assert kinds_of(tx, [IN.item_id, WHOLE.item_id]) == {"prep", "essay"}
        assert kinds_of(tx, []) == set()
        assert (decided_kinds(tx, "S"), decided_kinds(tx, "T")) == ({"prep", "prep-missing"}, {"prep"})


def test_decisions_come_by_system_and_item(store: Store) -> None:
    fill(store)
    with store.read() as tx:
        rows = decision_columns(tx).rows()
    assert sorted(rows[:2]) == sorted(
        [(IN.item_id, "S", True, 0.5, "choice", "at"), (GAP.item_id, "S", False, None, None, None)]
    )
    assert rows[2] == (IN.item_id, "T", False, -0.25, None, None)


def test_labels_are_those_of_the_table_of_judgments(store: Store) -> None:
    world = make_world(store)
    world.answer()
    with store.read() as tx:
        [job] = jobs.all(tx)
        rows = judgments.table(tx, job.job_id)
        columns = label_columns(tx, job.job_id)
        assert judged_items(tx) == set(columns["item"])
    assert len(columns) == len(rows) > 0
    expected = {(str(row["item"]), str(row["rater"]), str(row["label"]), str(row["group"])) for row in rows}
    assert set(columns.select("item", "rater", "label", "group").rows()) == expected
    assert columns["flags"].null_count() == len([row for row in rows if not row["flags"]])


def test_a_snapshot_reads_labels_once_and_what_changes_is_read_again(store: Store) -> None:
    world = make_world(store)
    world.answer()
    with store.read() as tx:
        labels = label_columns(tx, world.job_id)
        assert label_columns(tx, world.job_id) is labels
        assert label_columns(tx, world.job_id, role="gold").is_empty()
    with store.write() as tx:
        assert label_columns(tx, world.job_id).equals(labels)
        withdraw_one(tx)
        assert len(label_columns(tx, world.job_id)) == len(labels) - 1


def test_submissions_are_counted_by_job_and_status_whoever_sent_them(store: Store) -> None:
    world = make_world(store, judgments=3)
    for rater in range(len(world.raters)):
        world.answer(rater)
    with store.write() as tx:
        (n_valid,) = progress.submissions_by_job(tx)[world.job_id].values()
        withdraw_one(tx)
        assert progress.submissions_by_job(tx) == {world.job_id: {"valid": n_valid - 1, "withdrawn": 1}}
        assert n_valid == len(label_columns(tx, world.job_id)) + 1 > 2


def withdraw_one(tx: Tx) -> None:
    submission_id = tx.value(select(schema.submissions.c.submission_id).limit(1))
    judgments.set_status(tx, submission_id, "withdrawn")
