"""Where asking stops once raters agree, shares are of the first judgments of each item, and only those are fair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from grater.annotate.terms import Redundancy, still_wanted
from grater.measure.evaluation.cases import cases_of
from grater.measure.evaluation.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.measure.evaluation.standard import agreement_of
from grater.tables import Judgments, Table, read_decisions
from grater.uncertainty.bootstrap import Chance

RULE = Redundancy(least=3, most=9, lead=3)
N_ITEMS = 4000


def world(seed: int = 1) -> tuple[Table, Judgments, float, float]:
    """Items on which people differ, asked about by the rule; the system flags what many call an error.

    Also the weighted precision and recall against the shares of all people there are.
    """
    rng = np.random.default_rng(seed)
    share = rng.beta(1.2, 2.0, N_ITEMS)
    flagged = rng.random(N_ITEMS) < 0.15 + 0.6 * share
    rows = [row for item in range(N_ITEMS) for row in asked(item, share[item], rng)]
    columns = ["item", "rater", "label", "at"]
    decisions = pl.DataFrame({"item": [f"i{n}" for n in range(N_ITEMS)], "system": "s", "flagged": flagged})
    hit = float(share[flagged].sum())
    return (
        read_decisions(decisions),
        Judgments(pl.DataFrame(rows, columns, orient="row"), "crowd"),
        hit / float(flagged.sum()),
        hit / float(share.sum()),
    )


def asked(item: int, share: float, rng: np.random.Generator) -> list[tuple[str, str, str, str]]:
    said: list[str] = []
    while still_wanted(RULE, said):
        said.append("error" if rng.random() < share else "ok")
    return [(f"i{item}", f"r{n}", label, f"2026-01-01T00:00:{n:02}") for n, label in enumerate(said)]


def weighted(found: Evaluation, score: str) -> float:
    return found.whole.weighted[0][score].value


def test_shares_of_all_votes_lean_and_those_of_the_first_do_not() -> None:
    decisions, judged, precision, recall = world()
    few = Chance(n_resamples=100)
    plain = evaluate(decisions, judged, options=EvaluationOptions(chance=few))
    equal = evaluate(decisions, judged, options=EvaluationOptions(chance=few, redundancy=RULE.least))
    # Half of all limits are .012 wide here, and the bias of early stopping is .02 and more: recall is too good.
    assert weighted(equal, "recall") == pytest.approx(recall, abs=0.012)
    assert weighted(equal, "precision") == pytest.approx(precision, abs=0.012)
    assert weighted(plain, "recall") - recall > 0.015
    assert plain.whole.standard[0]["recall"].value == equal.whole.standard[0]["recall"].value  # of all votes


def test_what_was_done_is_said() -> None:
    decisions, judged, _, _ = world()
    few = Chance(n_resamples=20)
    plain = evaluate(decisions, judged, options=EvaluationOptions(chance=few))
    (words,) = [each for each in plain.warnings if "judgments" in each]
    assert words.startswith("items have 3 to 9 judgments")
    assert "a redundancy of 3" in words
    equal = evaluate(decisions, judged, options=EvaluationOptions(chance=few, redundancy=3))
    assert "weighted scores and bins are of the first 3 judgments of each item" in equal.warnings
    assert "redundancy:first-3" in str(equal.signature)
    assert "redundancy" not in str(plain.signature)


def test_items_with_fewer_judgments_are_left_out_of_shares_and_counted() -> None:
    rows = [("a", "r1", "error", "1"), ("a", "r2", "ok", "2"), ("a", "r3", "ok", "3"), ("b", "r1", "error", "1")]
    judged = Judgments(pl.DataFrame(rows, ["item", "rater", "label", "at"], orient="row"), "crowd")
    decisions = read_decisions(pl.DataFrame({"item": ["a", "b"], "system": "s", "flagged": [True, True]}))
    cases = cases_of(decisions, judged, first=2)
    assert cases.n_votes.tolist() == [3, 1]
    assert cases.equal.share.tolist()[0] == 0.5
    assert np.isnan(cases.equal.share[1])
    assert agreement_of(cases)[0] == 0.5
    found = evaluate(decisions, judged, options=EvaluationOptions(chance=Chance(n_resamples=10), redundancy=2))
    assert (found.whole.weighted[0].n, found.whole.standard[0].n) == (1, 2)
    assert any("1 items with fewer judgments are left out" in each for each in found.warnings)


@pytest.mark.parametrize("cluster", ["rater", "item+rater"])
def test_raters_are_drawn_with_the_same_votes(cluster: str) -> None:
    decisions, judged, _, _ = world()
    chance = Chance(cluster, 50)  # type: ignore[arg-type]
    found = evaluate(decisions, judged, options=EvaluationOptions("share", chance=chance, redundancy=3))
    limits = found.whole.weighted[0]["recall"]
    assert limits.low <= limits.value <= limits.high
    assert limits.value == found.whole.standard[0]["recall"].value  # the truth itself is the share
