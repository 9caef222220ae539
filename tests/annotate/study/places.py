"""Small essays whose places are judged by rule: their items, their files, and raters who answer all."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from pathlib import Path

from grater.annotate import jobs, people
from grater.annotate.store import Store
from grater.annotate.submissions import hand_in, take_desk
from grater.corpora import write_corpus
from grater.model import Essay, Item, Span
from tests.annotate.study.files import write_text


def places_in(n_essays: int, n_places: int) -> dict[str, Item]:
    """The second word of every sentence of the essays, by the id of the item."""
    spans = [Span(14 * at + 5, 14 * at + 7) for at in range(n_places)]
    items = [Item(f"e{essay}", span, "prep") for essay in range(n_essays) for span in spans]
    return {item.item_id: item for item in items}


def write_places(folder: Path, places: Mapping[str, Item], flags: Mapping[str, Container[str]]) -> tuple[Path, ...]:
    """The corpus of these places, a table of them, and one of what each system flags."""
    essay_ids = list(dict.fromkeys(item.essay_id for item in places.values()))
    text = " ".join(["word in noun."] * (len(places) // len(essay_ids)))
    write_corpus([Essay(essay_id, text) for essay_id in essay_ids], folder / "e.jsonl", lambda _: None)
    spans = [f"{name},{item.essay_id},{item.span.start},{item.span.end},prep" for name, item in places.items()]
    decided = [f"{name},{system},{int(name in flagged)}" for system, flagged in flags.items() for name in places]
    items = write_text(folder / "i.csv", "item,essay,start,end,kind", *spans)
    return folder / "e.jsonl", items, write_text(folder / "d.csv", "item,system,flagged", *decided)


def answer_all(store: Store, job: str, label: Callable[[str, str], str], *, n_raters: int) -> set[str]:
    """Raters take units in turn until there are none; returns the items that were answered."""
    with store.write() as tx:
        job_id = jobs.named(tx, job).job_id
        raters = [people.add(tx, name=f"rater {n}", role="worker") for n in range(n_raters)]
    answered: set[str] = set()
    while raters:
        desk = take_desk(store, job_id=job_id, person_id=raters[0].person_id)
        if desk is None:
            del raters[0]
            continue
        item_id = desk.unit.unit.items[0].item.item_id
        hand_in(store, desk, {"label": [label(item_id, raters[0].name)]}, seconds=3.0)
        answered.add(item_id)
        raters.append(raters.pop(0))
    return answered
