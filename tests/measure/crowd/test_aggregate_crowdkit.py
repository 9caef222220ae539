"""crowd-kit's numbers on seeded tables: kept in goldens/, and asked again where `make peers` has been run."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from grater.measure.crowd.aggregate import Aggregation, Options, aggregate
from grater.measure.crowd.aggregate.ballots import Numbers, ballots_of
from grater.measure.crowd.aggregate.mace import MaceState, Parameters, _cells, run
from grater.tables import Judgments, Table
from tests.real_data import data_path

GOLDENS = Path(__file__).parent / "goldens"
PEER = Path(__file__).parents[3] / ".peers" / "crowdkit" / "bin" / "python"
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


def mace_from_their_start(judgments: Judgments) -> MaceState:
    """Ten iterations; crowd-kit draws both starts from RandomState(0): scipy's uniform(1, 1.5)."""
    ballots = ballots_of(judgments)
    cells = _cells(ballots)
    spam, strategy = (
        1 + 1.5 * np.random.RandomState(0).random_sample(size) for size in ((cells.shape[0], 2), cells.shape)
    )
    spam /= spam.sum(axis=1, keepdims=True)
    start = Parameters(spam[:, 0], spam[:, 1], strategy / strategy.sum(axis=1, keepdims=True))
    return run(ballots, cells, start, Options(iterations=10, tolerance=NEVER)).state


@pytest.mark.parametrize("name", TABLES)
def test_mace_from_the_same_start_equals_crowd_kits(name: str) -> None:
    found = mace_from_their_start(table(name))
    assert np.abs(found.posteriors - theirs(name, "mace")).max() < 1e-6
    assert np.abs(found.parameters.knows - theirs(name, "mace knows")).max() < 1e-6


@pytest.mark.parametrize("name", TABLES)
def test_glad_equals_crowd_kits_one_iteration_later(name: str) -> None:
    # Both climb by conjugate gradients until the slope is below 0.01, not to the very top.
    assert np.abs(ours(name, "glad", 3).posteriors - theirs(name, "glad")).max() < 1e-3


def asked(*args: Path) -> Any:
    """What the installed crowd-kit says."""
    if not PEER.exists():
        pytest.skip("crowd-kit missing: run `make peers` to compare with it and not only with its kept numbers")
    done = subprocess.run([PEER, GOLDENS / "ask_crowdkit.py", *args], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_installed_crowd_kit_says_what_the_goldens_say() -> None:
    kept, said = load("crowdkit.json"), asked()
    assert list(said) == list(kept)
    for name in TABLES:
        for method, posteriors in said[name].items():
            np.testing.assert_allclose(posteriors, kept[name][method], atol=1e-8, err_msg=f"{name} {method}")


@pytest.mark.slow
@pytest.mark.data
def test_mace_and_glad_of_a_real_crowd_are_the_installed_crowd_kits(tmp_path: Path) -> None:
    """Snow et al. 2008, entailment; raters and labels are named as they come, else crowd-kit mixes them up."""
    frame = pl.read_csv(data_path("crowd/snow2008-rte.tsv"), separator="\t", infer_schema=False)
    columns = [frame[name].to_list() for name in ("orig_id", "!amt_worker_ids", "response")]
    names = [{name: f"n{at:03}" for at, name in enumerate(dict.fromkeys(column))} for column in columns]
    rows = [[by[cell] for by, cell in zip(names, row, strict=True)] for row in zip(*columns, strict=True)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    said = asked(tmp_path / "rows.json")
    judgments = Judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"), "rte")
    glad = aggregate(judgments, "glad", options=Options(iterations=3, tolerance=NEVER))
    assert np.abs(mace_from_their_start(judgments).posteriors - np.array(said["mace"])).max() < 1e-6
    assert np.abs(glad.posteriors - np.array(said["glad"])).max() < 1e-3
