"""How many examples a property is tried on: few, and always the same, in `make test`; new ones, and more, in
`make test-slow`, which sets `GRATER_EXAMPLES` to the number for a property that does not name its own.

A machine with much else to do may take long over an example: no property is judged by the clock.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

FEW = 25
MANY = int(os.environ.get("GRATER_EXAMPLES", 0))

DEFAULT = settings(
    max_examples=MANY or FEW,
    derandomize=not MANY,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)


def examples(n: int) -> settings:
    """At most `n` examples, for a property that takes long over each or needs more than others."""
    return settings(DEFAULT, max_examples=n if MANY else min(n, FEW))
