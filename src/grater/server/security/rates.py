"""How often somebody may try: a bucket of tries for every address and every name, refilled with time.

Kept in memory, so each process of a server counts for itself.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from grater.store.clock import MINUTE, Clock

MOST_BUCKETS = 20_000


@dataclass(slots=True)
class _Bucket:
    tries: float
    at: int


class Tries:
    """At most `a_minute` tries in a row for one key, and as many again every minute."""

    def __init__(self, *, a_minute: int, clock: Clock) -> None:
        self.a_minute = a_minute
        self.clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._lock = threading.Lock()

    def take(self, *keys: str) -> bool:
        """Whether every key has a try left; it is used up by asking."""
        with self._lock:
            taken = [self._take(key) for key in keys]  # every one, also after the first refusal
            return all(taken)

    def forget(self, *keys: str) -> None:
        """After a success: whoever knows the password may come in as often as they like."""
        with self._lock:
            for key in keys:
                self._buckets.pop(key, None)

    def _take(self, key: str) -> bool:
        now = self.clock()
        if len(self._buckets) >= MOST_BUCKETS:
            self._drop_full(now)
        bucket = self._buckets.setdefault(key, _Bucket(float(self.a_minute), now))
        bucket.tries = self._filled(bucket, now)
        bucket.at = now
        if bucket.tries < 1:
            return False
        bucket.tries -= 1
        return True

    def _filled(self, bucket: _Bucket, now: int) -> float:
        return min(float(self.a_minute), bucket.tries + max(0, now - bucket.at) * self.a_minute / MINUTE)

    def _drop_full(self, now: int) -> None:
        kept = {key: each for key, each in self._buckets.items() if self._filled(each, now) < self.a_minute}
        self._buckets = kept if len(kept) < MOST_BUCKETS else {}
