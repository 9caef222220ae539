"""What a study opens to people without an account: "Check my writing", and LanguageTool's protocol for editors.

Both are closed unless an owner opens them here, or whoever starts the server does (`grater.server.settings`); what
the start of the server opened, a page cannot close.  What is opened stays so through restarts, and leaves an event;
a study that is made again from its archive is closed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from grater.store import Tx, dump, events

OPEN = "open"
KEYS = dict(zip(("check_page", "editors"), dump.PUBLIC_META, strict=True))


@dataclass(frozen=True, slots=True)
class Public:
    """`check_page` is the page at `/check`, `editors` are the calls at `/v2`."""

    check_page: bool = False
    editors: bool = False


def public_pages(tx: Tx) -> Public:
    """What the owners of the study have opened."""
    return Public(**{name: dump.meta_value(tx, key) == OPEN for name, key in KEYS.items()})


def open_to_public(tx: Tx, wanted: Public, *, actor: str | None = None) -> Public:
    """Open and close; the same again changes nothing."""
    if wanted != public_pages(tx):
        for name, is_open in asdict(wanted).items():
            dump.set_meta(tx, KEYS[name], OPEN if is_open else "")
        events.write(tx, actor, "study.public", "", asdict(wanted))
    return wanted
