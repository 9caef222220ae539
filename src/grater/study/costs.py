"""What a job cost in money and time, as far as it is known: judgments, seconds, payments, turn-around."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import Any

from grater.model import Json
from grater.store import Tx, dump, judgments


def costs(tx: Tx, job_id: str) -> dict[str, Json]:
    """Submissions by status, working time, first to last answer, money by currency and the cost of a valid one."""
    rows = [row for row, _ in judgments.by_submission(tx, job_id, judgments.ALL)]
    statuses = Counter(row.status for row in rows)
    seconds = [row.seconds for row in rows if row.seconds is not None]
    money: Counter[str] = Counter()
    for payment in dump.rows(tx, "payments"):
        if payment["job_id"] == job_id and payment["state"] != "refused":
            money[payment["currency"]] += payment["cents"]
    times = [row.at for row in rows]
    return {
        "submissions": dict(sorted(statuses.items())),
        "seconds": {"total": sum(seconds), "median": median(seconds) if seconds else None},
        "turn_around_seconds": (max(times) - min(times)) / 1000 if times else None,
        "cents": dict(sorted(money.items())),
        "cents_per_valid": {name: _share(cents, statuses["valid"]) for name, cents in sorted(money.items())},
    }


def _share(cents: int, n_valid: int) -> Any:
    return cents / n_valid if n_valid else None
