"""Judging everything and judging a sample, side by side.

T&C 2008, 6.2 and Table 6, on the CoNLL-2014 test essays as ten annotators marked them (Bryant & Ng 2015).  The system
is annotator A1, or a rule that flags every `in`, `on` and `at`; the truth of a preposition is what most of the nine
others say.  Documents are split into two halves, as the paper used two sets; one half is judged whole, of the other a
sample is drawn as the paper drew it, two items that are not flagged for each that is.
"""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

import grater
from grater.corpora import read_corpus
from grater.corpora.judgments import judgments_from_edits
from grater.corpora.merge import attach_documents, merge_annotators
from grater.corpora.text.prepositions import canonical
from grater.corpora.text.tokens import tokens_of
from grater.measure.evaluation.evaluation import EvaluationOptions, evaluate
from grater.measure.evaluation.standard import Scored, spread
from grater.measure.sampling.draw import draw_sample
from grater.model import Item
from grater.tables import Judgments, Table, read_decisions
from tests.real_data import data_path

SYSTEM, RULE = "A1", "in, on, at"
FLAGGED_BY_RULE = ("in", "on", "at")


@cache
def corpus() -> tuple[Table, Judgments, dict[str, str]]:
    """Decisions of both systems on every preposition, the judgments of nine, and the document of each item."""
    files = [data_path(f"conll14/ten-annotators/A{number}.m2") for number in range(1, 11)]
    documents = read_corpus(data_path("conll14/official/official-2014.0.sgml"))
    merged = merge_annotators({file.stem: read_corpus(file) for file in files})
    essays = list(attach_documents(merged, documents))
    places, words, document = {}, {}, {}
    for essay in essays:
        for span in tokens_of(essay):
            if canonical(span.of(essay.text)):
                item = Item(essay.essay_id, span, "prep")
                places[item.item_id], words[item.item_id] = item, span.of(essay.text).lower()
                document[item.item_id] = str(essay.metadata["document"])
    table = judgments_from_edits(essays, places, tags=["Prep"])
    own = table.frame.filter(pl.col("rater") == SYSTEM)
    flags = {item: label == "error" for item, label in own.select("item", "label").iter_rows()}
    decided = pl.DataFrame(
        {
            "item": [*places, *places],
            "system": [SYSTEM] * len(places) + [RULE] * len(places),
            "flagged": [flags[item] for item in places] + [words[item] in FLAGGED_BY_RULE for item in places],
        }
    )
    others = Judgments(table.frame.filter(pl.col("rater") != SYSTEM), table.name)
    return read_decisions(decided), others, document


def half(number: int) -> tuple[Table, Judgments]:
    """Every other document: decisions on its prepositions and judgments of them."""
    decisions, judgments, document = corpus()
    chosen = set(sorted(set(document.values()))[number::2])
    here = pl.DataFrame({"item": [item for item, name in document.items() if name in chosen]})
    kept = [table.frame.join(here, on="item", how="semi") for table in (decisions, judgments)]
    return read_decisions(kept[0]), Judgments(kept[1], judgments.name)


def scored(number: int, system: str, *, n_drawn: int | None = None, seed: int = 0) -> Scored:
    """The system on a half that is judged whole, or of which so many are drawn."""
    decisions, judgments = half(number)
    own = read_decisions(decisions.frame.filter(pl.col("system").cast(pl.String) == system))
    sample = draw_sample(decisions, system, n_drawn, seed=seed) if n_drawn else None
    [found] = evaluate(own, judgments, sample=sample, options=EvaluationOptions(is_brief=True)).systems
    return found


@pytest.mark.data
@pytest.mark.parametrize("n_samples", [2, pytest.param(5, marks=pytest.mark.slow)])
def test_a_sample_says_of_its_half_what_judging_all_of_it_says(n_samples: int) -> None:
    # T&C 2008, Table 6; of five samples each, at least four hold
    for system in (SYSTEM, RULE):
        known = scored(0, system)
        found = [scored(0, system, n_drawn=300, seed=seed) for seed in range(n_samples)]
        for name in ("precision", "recall"):
            held = [each[name].low <= known[name].value <= each[name].high for each in found]
            assert sum(held) >= n_samples - 1


@pytest.mark.data
def test_ten_annotators_of_conll_2014_move_the_precision_of_one_of_them() -> None:
    # docs/evaluating.md: A1 against the nine others on all 3,878 prepositions, judged whole and in two halves
    decisions, others, _ = corpus()
    own = decisions.frame.filter(decisions.frame["system"].cast(str) == SYSTEM)
    found = grater.evaluate(own, others).whole
    assert found.n_items == sum(half(number)[0].frame["item"].n_unique() for number in (0, 1)) == 3878
    counts = [scored(number, SYSTEM).counts for number in (0, 1)]
    assert found.standard[0].counts.row().tolist() == (counts[0] + counts[1]).row().tolist() == [200, 360, 45, 3273]
    precisions = spread([each[0]["precision"] for each in found.by_rater.values()])
    assert (round(precisions.low, 3), round(precisions.high, 3)) == (0.211, 0.438)
    assert found.weighted[0]["recall"].value == pytest.approx(0.651, abs=5e-4)
    assert [each.n for each in found.bins] == [271, 596, 3011]
