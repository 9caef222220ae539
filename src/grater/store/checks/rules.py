"""Which rules stand behind each kind of violation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from grater.store import events
from grater.store.checks import crowd, places, work
from grater.store.checks.standing import trust_recomputed
from grater.store.rebuild import differences, from_events, stored
from grater.store.transaction import Tx


def _rebuilt(tx: Tx) -> Iterator[str]:
    """The state built from the events is the state."""
    yield from differences(from_events(events.all(tx)), stored(tx))


RULES: Mapping[str, tuple[Callable[[Tx], Iterator[str]], ...]] = {
    "lost": (work.stored_but_gone, work.without_judgments, work.changed_bodies),
    "doubled": (work.twice_by_one_rater, work.told_twice),
    "over-issued": (work.more_than_wanted, work.slot_filled_twice, work.slot_leased_twice),
    "starved": (work.slots_missing, work.filled_by_nothing, work.valid_without_slot, work.nobody_left),
    "orphan": (work.leased_by_nobody, work.lease_without_slot),
    "trust": (trust_recomputed, crowd.put_out_but_counting, crowd.put_out_but_holding),
    "money": (crowd.currencies_mixed,),
    "offsets": (places.items_outside, places.edits_outside, places.judged_elsewhere),
    "rebuilt": (_rebuilt,),
}
