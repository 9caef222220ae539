"""Raters at work, as one process: `python -m benchmarks.serving.raters < plan.json > seen.json`.

Each takes a unit, thinks, hands it in, and so on until the time is up, and goes home with the last unit in hand; one
answer in twenty is sent twice, as by a double click.  Through the `api` that is two calls, `take` and `submit`;
through the `pages` a form is sent, which stores the answer and takes the next unit, and the page that it leads to is
looked at, as a browser does.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from benchmarks.serving.http import Line, Reply

FORM = "application/x-www-form-urlencoded"
HIDDEN = re.compile(rb'name="submission_id" value="([^"]*)"')
TWICE = 0.05
LABELS = ("error", "ok")


@dataclass(frozen=True, slots=True)
class Key:
    """What lets a rater in: an API token, or a session with the token of its forms."""

    token: str
    csrf: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    url: str
    job_id: str
    keys: list[Key]
    seconds: float
    think: float
    through: str = "api"


@dataclass(slots=True)
class Seen:
    """What raters saw: milliseconds of every request by its kind, answers acknowledged, what went wrong.

    `full` requests began when everybody had come in; `seconds` is how long that was.
    """

    waits: dict[str, list[float]] = field(default_factory=dict)
    full: int = 0
    acknowledged: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0


@dataclass(slots=True)
class Rater:
    plan: Plan
    line: Line
    key: Key
    chance: random.Random
    seen: Seen
    begin: float
    end: float

    async def timed(self, kind: str, asked: Awaitable[Reply], *, wanted: int = 200) -> Reply:
        self.seen.full += time.monotonic() >= self.begin
        started = time.perf_counter()
        reply = await asked
        self.seen.waits.setdefault(kind, []).append(1000 * (time.perf_counter() - started))
        if reply.status != wanted:
            self.seen.failures.append(f"{kind} {reply.status}")
        return reply

    async def thinks(self) -> bool:
        """Think for a while; False if the time is up before an answer is found."""
        seconds = self.chance.expovariate(1 / self.plan.think)
        left = self.end - time.monotonic()
        await asyncio.sleep(max(0.0, min(seconds, left)))
        return seconds < left

    @property
    def times(self) -> int:
        return 2 if self.chance.random() < TWICE else 1


Life: TypeAlias = Callable[[Rater], Awaitable[None]]


async def by_api(rater: Rater) -> None:
    plan, line = rater.plan, rater.line
    while True:
        reply = await rater.timed("take", line.ask("POST", f"/api/v1/jobs/{plan.job_id}/next"))
        lease = json.loads(reply.body)["lease"] if reply.status == 200 else None
        if lease is None or not await rater.thinks():
            return
        name = str(uuid.UUID(int=rater.chance.getrandbits(128), version=4))
        body = {"fields": {"label": [rater.chance.choice(LABELS)]}, "submission_id": name, "seconds": plan.think}
        for _ in range(rater.times):
            sent = json.dumps(body).encode()
            reply = await rater.timed("submit", line.ask("POST", f"/api/v1/leases/{lease['lease_id']}", sent))
            if reply.status == 200:
                rater.seen.acknowledged.append(name)


async def by_pages(rater: Rater) -> None:
    line, csrf = rater.line, rater.key.csrf
    path = f"/jobs/{rater.plan.job_id}/next"
    reply = await rater.timed("submit", line.ask("POST", path, form(csrf=csrf), FORM), wanted=303)
    while reply.headers.get("location", "").startswith("/leases/"):
        path = reply.headers["location"]
        page = await rater.timed("page", line.ask("GET", path))
        found = HIDDEN.search(page.body)
        if found is None or not await rater.thinks():
            return
        name = found.group(1).decode()
        body = form(csrf=csrf, submission_id=name, label=rater.chance.choice(LABELS))
        for _ in range(rater.times):
            reply = await rater.timed("submit", line.ask("POST", path, body, FORM), wanted=303)
            if reply.status == 303:
                rater.seen.acknowledged.append(name)


LIVES: dict[str, Life] = {"api": by_api, "pages": by_pages}


def form(**fields: str) -> bytes:
    return urlencode(fields).encode()


async def crowd(plan: Plan) -> Seen:
    seen = Seen()
    now = time.monotonic()
    begin, end = now + plan.think, now + plan.think + plan.seconds
    await asyncio.gather(*(_live(plan, key, number, seen, begin, end) for number, key in enumerate(plan.keys)))
    seen.seconds = plan.seconds
    return seen


async def _live(plan: Plan, key: Key, number: int, seen: Seen, begin: float, end: float) -> None:
    place = urlsplit(plan.url)
    own = {"authorization": f"Bearer {key.token}"}
    if plan.through == "pages":
        own = {"cookie": f"grater-session={key.token}", "origin": plan.url}
    chance = random.Random(number)
    line = Line(place.hostname or "", place.port or 80, own)
    await asyncio.sleep(chance.uniform(0, plan.think))
    try:
        await LIVES[plan.through](Rater(plan, line, key, chance, seen, begin, end))
    except (OSError, EOFError) as error:
        seen.failures.append(f"{type(error).__name__}: {error}")
    finally:
        line.close()


def read_plan(found: dict[str, Any]) -> Plan:
    return Plan(**{**found, "keys": [Key(**each) for each in found["keys"]]})


def main() -> None:
    plan = read_plan(json.load(sys.stdin))
    cpu = time.process_time()
    seen = asyncio.run(crowd(plan))
    seen.cpu = time.process_time() - cpu
    json.dump(asdict(seen), sys.stdout)


if __name__ == "__main__":
    main()
