"""Judgments into a study, by columns beside one row at a time: `python benchmarks/importing.py [--short]`.

The peer is our own plain way (`tests/study/judged_rows.py`), one statement per row, which the columns are held to by
the tests.  100,000 judgments of 20,000 items by 200 raters, 10,000 of 2,000 with `--short`, into an empty study on
SQLite and, where Debian's PostgreSQL is there, on a server of its own.  CPU seconds of this process and of the
database's processes; both must store the same number of rows.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import psycopg
from sqlalchemy import func, select

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.serving import cpu  # noqa: E402  (tests and benchmarks are no packages that are installed)
from tests.store.postgres import new_database, running_cluster  # noqa: E402
from tests.study import judged_rows as by_rows  # noqa: E402

from grater.store import schema  # noqa: E402
from grater.study import importing as by_columns  # noqa: E402
from grater.study.status import new_study  # noqa: E402
from grater.tables import Judgments, read_judgments  # noqa: E402
from race import SHORT, record  # noqa: E402

N_ITEMS, N_EACH, N_RATERS = 20_000, 5, 200
WANTED = 10.0


def table(n_items: int) -> Judgments:
    rng = np.random.default_rng(0)
    who = (rng.integers(0, N_RATERS, n_items)[:, None] + np.arange(N_EACH)) % N_RATERS
    judged = {
        "item": np.repeat([f"i{number}" for number in range(n_items)], N_EACH),
        "rater": [f"r{number}" for number in who.ravel().tolist()],
        "label": np.where(rng.random(n_items * N_EACH) < 0.2, "error", "ok"),
        "seconds": rng.gamma(3.0, 4.0, n_items * N_EACH).round(1),
    }
    return read_judgments(pl.DataFrame(judged), name="crowd")


def cost(add: Callable[..., int], judgments: Judgments, location: str | Path, postmaster: int) -> tuple[float, int]:
    """CPU seconds of an import into a new study, and the rows that it stored; prints both sides' part."""
    store = new_study(location)

    def used() -> tuple[float, float]:
        return time.process_time(), cpu.of_family(postmaster) if postmaster else 0.0

    started = used()
    with store.write() as tx:
        add(tx, judgments, job="crowd", task="error")
    own, database = (after - before for after, before in zip(used(), started, strict=True))
    seconds = own + database
    print(f"  {add.__module__}: {own:.2f} CPU s in this process, {database:.2f} in the database's")
    with store.write() as tx:
        tables = (schema.units, schema.slots, schema.submissions, schema.judgments)
        n_rows = sum(int(tx.value(select(func.count()).select_from(each))) for each in tables)
    store.close()
    return seconds, n_rows


@contextmanager
def places(engine: str) -> Iterator[tuple[Callable[[], str | Path], int]]:
    """What makes the place of a new study, and the database's first process."""
    if engine == "SQLite":
        with tempfile.TemporaryDirectory() as folder:
            yield lambda: Path(folder) / f"{time.perf_counter_ns()}.db", 0
        return
    with running_cluster() as server:
        with psycopg.connect(f"{server}/postgres") as connection:
            (folder,) = connection.execute("SHOW data_directory").fetchone() or ("",)
        yield lambda: new_database(server), int((Path(folder) / "postmaster.pid").read_text().splitlines()[0])


def compare(engine: str, judgments: Judgments) -> float:
    with places(engine) as (place, postmaster):
        ours, n_ours = cost(by_columns.add_judgments, judgments, place(), postmaster)
        theirs, n_theirs = cost(by_rows.add_judgments, judgments, place(), postmaster)
    record(
        job=f"import judgments, {engine}",
        peer="one row at a time",
        size=len(judgments),
        ours=ours,
        theirs=theirs,
        wanted=WANTED,
        agrees=n_ours == n_theirs,
    )
    ratio = theirs / ours
    print(
        f"{engine}: by columns {ours:.2f} CPU s, by rows {theirs:.2f}: {ratio:.1f} times as fast, wanted {WANTED:g}"
    )
    return ratio


def main() -> int:
    judgments = table(N_ITEMS // (10 if SHORT in sys.argv else 1))
    engines = ["SQLite", *(["PostgreSQL"] if any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) else [])]
    return int(min([compare(engine, judgments) for engine in engines]) < WANTED)


if __name__ == "__main__":
    sys.exit(main())
