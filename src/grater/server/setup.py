"""The first owner of a study: no default password, but a link that works once and is printed by `grater serve`."""

from __future__ import annotations

from grater.server.settings import Settings
from grater.store import Store, invitations, people

DAYS = 1.0


def setup_link(settings: Settings, store: Store) -> str | None:
    """A fresh one-time link for the first owner; None once the study has an owner who can log in.

    Links of earlier starts that were not used are taken back.
    """
    with store.write() as tx:
        if any(each.role == "owner" and each.password_hash and each.state == "active" for each in people.all(tx)):
            return None
        for each in invitations.all(tx):
            is_first = each.role == "owner" and each.person_id is None
            if is_first and each.used_at is None and each.ended_at is None:
                invitations.end(tx, each.invitation_id)
        token = invitations.make(tx, role="owner", days=DAYS, name="set-up")
    return settings.link(f"/setup/{token}")
