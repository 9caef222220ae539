"""crowd-kit's numbers on seeded tables: kept in goldens/, and asked again where `make peers` has been run."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from grater.crowd.aggregate import Aggregation, Options, aggregate
from grater.crowd.aggregate.ballots import Numbers, ballots_of
from grater.crowd.aggregate.mace import Parameters, _cells, run
from grater.tables import Judgments, Table

GOLDENS = Path(__file__).parent / "goldens"
PEER = Path(__file__).parents[2] / ".peers" / "crowdkit" / "bin" / "python"
NEVER = float("-inf")
TABLES = ("two", "three")
GOLD = {"i01": "l02", "i02": "l02", "i03": "l01"}


def load(name: str) -> Any:
    return json.loads((GOLDENS / name).read_text(encoding="utf-8"))


def table(name: str) -> Judgments:
    return Judgments(pl.DataFrame(load("tables.json")[name], schema=["item", "rater", "label"], orient="row"), name)


def theirs(name: str, key: str) -> Numbers:
    return np.array(load("crowdkit.json")[name][key])


def ours(name: str, method: str, n: int, gold: Table | None = None) -> Aggregation:
    return aggregate(table(name), method, gold=gold, options=Options(iterations=n, tolerance=NEVER))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n", [1, 5, 30])
@pytest.mark.parametrize("method", ["dawid-skene", "one-coin"])
def test_posteriors_equal_crowd_kits_after_equal_iterations(name: str, method: str, n: int) -> None:
    found = ours(name, method, n)
    assert np.abs(found.posteriors - theirs(name, f"{method} {n}")).max() < 1e-6
    assert len(found.fit.history) == n


@pytest.mark.parametrize("name", TABLES)
def test_posteriors_equal_crowd_kits_with_gold(name: str) -> None:
    gold = Table("gold", pl.DataFrame({"item": list(GOLD), "label": list(GOLD.values())}), "gold")
    assert np.abs(ours(name, "dawid-skene", 10, gold).posteriors - theirs(name, "dawid-skene gold")).max() < 1e-6


@pytest.mark.parametrize("name", TABLES)
def test_shares_equal_crowd_kits(name: str) -> None:
    assert np.abs(ours(name, "majority", 1).posteriors - theirs(name, "majority")).max() < 1e-8


@pytest.mark.parametrize("name", TABLES)
def test_mace_from_the_same_start_equals_crowd_kits(name: str) -> None:
    ballots = ballots_of(table(name))
    cells = _cells(ballots)
    # crowd-kit draws both from RandomState(0): scipy's uniform(1, 1.5)
    spam, strategy = (
        1 + 1.5 * np.random.RandomState(0).random_sample(size) for size in ((cells.shape[0], 2), cells.shape)
    )
    spam /= spam.sum(axis=1, keepdims=True)
    start = Parameters(spam[:, 0], spam[:, 1], strategy / strategy.sum(axis=1, keepdims=True))
    found = run(ballots, cells, start, Options(iterations=10, tolerance=NEVER)).state
    assert np.abs(found.posteriors - theirs(name, "mace")).max() < 1e-6
    assert np.abs(found.parameters.knows - theirs(name, "mace knows")).max() < 1e-6


@pytest.mark.parametrize("name", TABLES)
def test_glad_equals_crowd_kits_one_iteration_later(name: str) -> None:
    # Both climb by conjugate gradients until the slope is below 0.01, not to the very top.
    assert np.abs(ours(name, "glad", 3).posteriors - theirs(name, "glad")).max() < 1e-3


@pytest.mark.slow
def test_the_installed_crowd_kit_says_what_the_goldens_say() -> None:
    if not PEER.exists():
        pytest.skip("crowd-kit missing: run `make peers` to compare with it and not only with its kept numbers")
    done = subprocess.run([PEER, GOLDENS / "ask_crowdkit.py"], capture_output=True, text=True, check=True)
    kept, said = load("crowdkit.json"), json.loads(done.stdout)
    assert list(said) == list(kept)
    for name in TABLES:
        for method, posteriors in said[name].items():
            np.testing.assert_allclose(posteriors, kept[name][method], atol=1e-8, err_msg=f"{name} {method}")
