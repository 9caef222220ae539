"""Colluders at length: 1, 3, 9 and 30 of 60 raters, by pages and API, on both databases, from several seeds.

Their figures must be zero.  The best oracle is how well 30 colluders tell gold from work before they answer, as
balanced accuracy (.50 is chance); time is how well the server's reply tells a right answer to gold from one to work,
as area under the curve.  `tests/annotate/test_colluders.py` plays one attack for each door and database.

    python -m benchmarks.colluders [--k 1 3 9 30] [--engine sqlite postgres] [--seeds 1 2 3]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from itertools import cycle, islice, product
from pathlib import Path

import numpy as np
from benchmarks.load import databases

from grater.annotate import people
from tests.annotate.test_colluders import N_RATERS, RULE, STRATEGIES, Rater, attack, fill, oracle
from tests.annotate.web.studies import Study, served


def by_time(study: Study) -> str:
    """Raters are right on gold and work by turns; the reply is timed by the clock and by the server's CPU."""
    job, truth = fill(study.store, n_work=60, n_gold=66, judgments=12, terms={"gold": RULE, "page": 2})
    times: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for number in range(12):
        with study.store.write() as tx:
            person = people.add(tx, name=f"rater {number}", role="worker")
        rater = Rater(study, job, truth, "pages", person.person_id)
        rater.work(10)  # the quiz, and a few until everything is warm
        browser = rater.browser
        assert browser is not None
        browser.client.follow_redirects = False
        while (desk := rater.take()) is not None:
            before = time.perf_counter(), time.process_time()
            reply = browser.post(f"/leases/{desk.lease.lease_id}", {"label": rater.right(desk)})
            after = time.perf_counter(), time.process_time()
            assert reply.status_code == 303
            times[desk.unit.role == "gold"].append((after[0] - before[0], after[1] - before[1]))
            rater.next_path = reply.headers["location"]
    gold, work = (np.array(times[kind]) for kind in (True, False))
    areas = [(gold[:, [n]] > work[:, n]).mean() + (gold[:, [n]] == work[:, n]).mean() / 2 for n in range(2)]
    return f"AUC {areas[0]:.3f} by the clock, {areas[1]:.3f} by CPU, of {len(gold)} gold, {len(work)} work"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[1, 3, 9, 30])
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"], choices=["sqlite", "postgres"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    asked = parser.parse_args()
    with databases(asked.engine) as place, tempfile.TemporaryDirectory() as folder:
        for seed in asked.seeds:
            for engine in asked.engine:
                accuracy, turns, _ = oracle(place(engine)[0], n_gold=16, seed=seed)
                words = f"{accuracy:.3f} of {turns[True]} gold, {turns[False]} work"
                print(f"oracle, {engine}, seed {seed}: {words}", flush=True)
                with served(Path(folder) if engine == "sqlite" else place(engine)[0]) as study:
                    print(f"time, {engine}, seed {seed}: {by_time(study)}", flush=True)
            for k, engine, door in product(asked.k, asked.engine, ("pages", "api")):
                strategies = islice(cycle(STRATEGIES), seed, None)  # a single colluder plays another for each seed
                with served(Path(folder) if engine == "sqlite" else place(engine)[0]) as study:
                    attacked = attack(study, door, k=k, n_honest=N_RATERS - k, strategies=strategies, seed=seed)
                    print(f"{engine}, {door}, k = {k}, seed {seed}: {attacked.figures}", flush=True)


if __name__ == "__main__":
    main()
