"""Real crowds stand beside the simulated ones in docs/exhibits.md, and their figures are those of the data."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from grater.measure.agreement.difficulty import spreads
from grater.measure.agreement.raters_needed import raters_needed
from grater.measure.agreement.summary import agreement
from grater.sheet import count, number
from grater.tables import Judgments, read_judgments
from tests.real_data import data_path

PAGE = (Path(__file__).parents[1] / "docs" / "exhibits.md").read_text("utf-8")
SNOW = {"item": "orig_id", "rater": "!amt_worker_ids", "label": "response"}
CROWDS = {
    "Snow 2008, entailment": "snow2008-rte.tsv",
    "Snow 2008, order of events": "snow2008-temp.tsv",
    "CrowdFlower weather": "CF_amt",
    "Sentence polarity": "SP_amt",
    "Dogs": "dog",
    "Sentiment": "sentiment",
}


def read(name: str) -> tuple[Judgments, Judgments]:
    """The crowd, and its gold as one expert."""
    path = data_path(f"crowd/{CROWDS[name]}")
    if path.is_dir():
        crowd = read_judgments(path / "label.csv", duplicates="first")
        gold = pl.read_csv(path / "truth.csv", infer_schema=False)
        gold = gold.rename(dict(zip(gold.columns, ("item", "label"), strict=False)))
    else:
        crowd = read_judgments(path, columns=SNOW)
        gold = pl.read_csv(path, separator="\t", infer_schema=False).select(item="orig_id", label="gold").unique()
    return crowd, read_judgments(gold.select("item", "label", rater=pl.lit("gold")), name="gold", duplicates="first")


def figures(crowd: Judgments, gold: Judgments) -> tuple[str, ...]:
    """Items, raters, judgments per item, alpha, share of items with 90 % agreement, kappa of 1, 3 and 5 with gold."""
    whole = agreement(crowd, most_raters=0)
    share = spreads(crowd).majority_share
    [curve] = raters_needed(crowd, gold).curves[:1]
    kappas = {point.n_raters: point.kappa.value for point in curve.points}
    n_items = crowd.frame["item"].n_unique()
    sizes = (count(n_items), count(crowd.frame["rater"].n_unique()), number(len(crowd) / n_items, digits=1))
    reached = (number(kappas[n], digits=2) if n in kappas else "–" for n in (1, 3, 5))
    return (*sizes, number(whole.alpha.value, digits=2), number(float((share >= 0.9).mean()), digits=2), *reached)


@pytest.mark.data
@pytest.mark.parametrize("name", CROWDS)
def test_the_figures_of_a_real_crowd_are_those_of_its_data(name: str) -> None:
    [row] = re.findall(rf"^\| {re.escape(name)} \| real \| (.*) \|$", PAGE, re.M)
    assert tuple(cell.strip() for cell in row.split("|")) == figures(*read(name))
