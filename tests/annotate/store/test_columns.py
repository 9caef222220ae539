"""Offsets count code points in what the database cuts out of a text, on both engines (P7)."""

from __future__ import annotations

from grater.annotate import content
from grater.annotate.store import Store
from grater.annotate.tables import place_columns
from grater.model import Essay, Item, Span

IN = Item("e", Span(9, 11), "prep")
GAP = Item("e", Span(9, 9), "prep-missing")
WHOLE = Item("long", Span(0, 300), "essay")


def test_places_have_their_words_by_code_points(store: Store) -> None:
    with store.write() as tx:
        text = "😀 We met in the café at noon."
        content.add_essays(tx, [Essay("e", text, metadata={"document": "d1"}), Essay("long", "x" * 300)])
        items = [content.study_item(IN, payload={"level": "B1"}), content.study_item(GAP), content.study_item(WHOLE)]
        content.add_items(tx, items)
        rows = {row["item"]: row for row in place_columns(tx).iter_rows(named=True)}
    where = {"item": IN.item_id, "essay": "e", "start": 9, "end": 11, "kind": "prep"}
    assert rows[IN.item_id] == {**where, "target": "in", "document": "d1", "level": "B1"}
    assert (rows[GAP.item_id]["target"], rows[GAP.item_id]["level"]) == ("", None)
    assert (rows[WHOLE.item_id]["target"], rows[WHOLE.item_id]["document"]) == (None, "long")  # a document of its own
