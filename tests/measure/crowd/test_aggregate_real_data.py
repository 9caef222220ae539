"""The crowd data of the field: docs/crowd.md has the table."""

from __future__ import annotations

import pytest

from grater.measure.crowd.aggregate import accuracy, aggregate
from grater.tables import Judgments, Table, parse_columns, read_gold, read_judgments
from tests.real_data import data_path

pytestmark = pytest.mark.data


def crowd(name: str) -> tuple[Judgments, Table]:
    truth = read_gold(data_path(f"crowd/{name}/truth.csv"))
    return read_judgments(data_path(f"crowd/{name}/label.csv"), duplicates="first"), truth


def snow(name: str) -> tuple[Judgments, Table]:
    path = data_path(f"crowd/snow2008-{name}.tsv")
    named = parse_columns(["item=orig_id,rater=!amt_worker_ids,label=response"])
    truth = read_gold(path, columns={"item": "orig_id", "label": "gold"}, duplicates="first")
    return read_judgments(path, columns=named), truth


# Snow et al. 2008, figure 4: ten plain votes reach .897 on RTE, ties broken at random
def test_ten_votes_on_rte_reach_what_snow_found() -> None:
    judgments, truth = snow("rte")
    checked = accuracy(aggregate(judgments, "majority"), truth)
    assert checked.n_items == 800
    assert checked.share.value == pytest.approx(0.897, abs=0.008)


@pytest.mark.parametrize(("name", "least"), [("rte", 0.92), ("temp", 0.93)])
def test_dawid_skene_beats_the_majority_on_snows_data(name: str, least: float) -> None:
    judgments, truth = snow(name)
    assert accuracy(aggregate(judgments, "dawid-skene"), truth).share.value >= least


@pytest.mark.parametrize(("name", "least"), [("SP_amt", 0.9), ("CF_amt", 0.8), ("sentiment", 0.9), ("dog", 0.8)])
def test_dawid_skene_is_right_on_most_items(name: str, least: float) -> None:
    judgments, truth = crowd(name)
    assert accuracy(aggregate(judgments, "dawid-skene"), truth).share.value >= least
