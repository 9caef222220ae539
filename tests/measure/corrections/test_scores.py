"""Scores of systems: by hand, against the published numbers, and whatever the order of things."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from grater.corpora.source import open_source, read_sentences
from grater.errors import UnknownName, UsageError
from grater.measure.corrections.scores import METRICS, MetricOptions, Resampling, Scores, score_systems, together
from grater.measure.corrections.systems import Hypothesis, References, rewritten
from grater.uncertainty.bootstrap import PairTest
from tests.measure.corrections.essays import REFERENCE, SOURCE, TEXT, essays, m2_system, references, text_system
from tests.measure.corrections.slow_gleu import corpus_gleu
from tests.real_data import data_path

QUICK = Resampling(n_resamples=200)
WORSE = ["She goes to school every day .", "I agree with it .", "We like it .", "He is on home ."]


def scored(
    metric: str, *hypotheses: Hypothesis, options: MetricOptions | None = None, chance: Resampling = QUICK
) -> Scores:
    return score_systems(METRICS[metric], references(), hypotheses, options=options, chance=chance)


def values(scores: Scores) -> dict[str, list[float]]:
    return {each.system: [score.value for score in each.overall.scores.values()] for each in scores.systems}


@pytest.mark.parametrize("system", [text_system("s"), m2_system("s")], ids=["text", "m2"])
def test_the_m2_score_is_that_of_the_hand_for_text_and_edits(system: Hypothesis) -> None:
    # Sentences: goes (annotator 1 has no more) tp; am deleted tp; love fp; at missed fn.
    scores = scored("m2", system)
    assert scores.systems[0].overall.counts == {"tp": 2, "fp": 1, "fn": 1}
    assert values(scores)["s"] == pytest.approx([2 / 3] * 3)
    assert scores.systems[0].sentences.references == ("1", "0", "0", "0")
    assert scores.systems[0].sentences.cells[:, 0].tolist() == [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_errant_scores_are_those_of_the_hand_also_by_type() -> None:
    scores = scored("errant", m2_system("s"), options=MetricOptions(tier="full"))
    [system] = scores.systems
    assert system.overall.counts == {"tp": 2, "fp": 1, "fn": 1}
    by_type = {name: list(each.counts.values()) for name, each in system.by_type.items()}
    assert by_type == {"R:VERB:SVA": [1, 0, 0], "U:VERB": [1, 0, 0], "R:VERB": [0, 1, 0], "R:PREP": [0, 0, 1]}
    assert system.by_type["R:PREP"].scores["precision"].value == 1  # 0/0
    assert system.by_type["R:PREP"].scores["recall"].value == 0


def test_errant_types_can_be_taken_together_by_operation() -> None:
    [system] = scored("errant", m2_system("s"), options=MetricOptions(tier="op")).systems
    assert {name: list(each.counts.values()) for name, each in system.by_type.items()} == {
        "R": [1, 1, 1],
        "U": [1, 0, 0],
    }


def test_errant_of_plain_text_names_the_engine_that_made_the_edits() -> None:
    assert scored("errant", text_system("s")).signature.options["engine"].startswith("grater-")


def test_gleu_is_that_of_the_slow_implementation() -> None:
    sides = {"r0": TEXT, "r1": WORSE}
    made = References("refs", rewritten(SOURCE, sides, source_name="src"))
    scores = score_systems(METRICS["gleu"], made, [text_system("s"), text_system("source", SOURCE)], chance=QUICK)
    expected, _ = corpus_gleu(SOURCE, TEXT, list(zip(TEXT, WORSE, strict=True)))
    assert values(scores)["s"] == [pytest.approx(expected)]
    assert [each.system for each in scores.systems] == ["s", "source"]


def test_gleu_takes_annotated_sentences_as_references_too() -> None:
    corrected = [("She goes to school every day .", "She goes to school every days ."), ("I agree with it .",) * 2]
    corrected += [("We like it .",) * 2, ("He is at home .",) * 2]
    expected, _ = corpus_gleu(SOURCE, TEXT, corrected)
    assert values(scored("gleu", text_system("s")))["s"] == [pytest.approx(expected)]


def test_beta_moves_f_and_names_it() -> None:
    [system] = scored("m2", text_system("s", WORSE), options=MetricOptions(beta=2)).systems
    assert list(system.overall.scores) == ["precision", "recall", "f2"]
    with pytest.raises(UsageError, match="a beta above 0, found 0"):
        MetricOptions(beta=0)


@pytest.mark.parametrize("metric", METRICS.names())
def test_the_order_of_systems_changes_nothing(metric: str) -> None:
    if metric == "errant":
        systems = [m2_system("a"), m2_system("b", "\n\n".join(f"S {line}" for line in SOURCE) + "\n\n")]
    else:
        systems = [text_system("a"), text_system("b", WORSE), text_system("c", SOURCE)]
    there, back = scored(metric, *systems), scored(metric, *reversed(systems))
    assert there.to_dict() == back.to_dict()


def test_a_system_keeps_its_limits_whoever_stands_beside_it() -> None:
    alone = scored("m2", text_system("s"))
    among = scored("m2", text_system("s"), text_system("b", WORSE))
    [beside] = [each for each in among.systems if each.system == "s"]
    assert beside.overall == alone.systems[0].overall


def test_systems_are_ranked_and_compared_in_that_order() -> None:
    scores = scored("m2", text_system("source", SOURCE), text_system("s"), text_system("best", WORSE))
    ranked = [each.system for each in scores.systems]
    f = [each.overall.scores["f0.5"].value for each in scores.systems]
    assert f == sorted(f, reverse=True)
    assert [(pair.first, pair.second) for pair in scores.pairs] == [
        (ranked[0], ranked[1]),
        (ranked[0], ranked[2]),
        (ranked[1], ranked[2]),
    ]
    assert all(pair.difference.value >= 0 for pair in scores.pairs)


def test_one_seed_gives_one_result_and_another_another() -> None:
    many, systems = references(REFERENCE * 10), [text_system("s", TEXT * 10), text_system("b", SOURCE * 10)]

    def found(seed: int) -> PairTest:
        [pair] = score_systems(METRICS["m2"], many, systems, chance=replace(QUICK, seed=seed)).pairs
        return pair

    assert found(3) == found(3)
    assert found(3).difference != found(4).difference


def test_documents_can_be_the_units_where_they_are_known() -> None:
    known = [replace(essay, metadata={"document": place // 2}) for place, essay in enumerate(essays())]
    chance = replace(QUICK, cluster="document")
    scores = score_systems(METRICS["m2"], References("r", known), [text_system("s")], chance=chance)
    # Documents (tp 2) and (fp 1, fn 1): a resample is one of them twice, or both.
    low, high = (getattr(scores.systems[0].overall.scores["precision"], side) for side in ("low", "high"))
    assert (low, high) == (0, 1)
    assert "units:document" in str(scores.signature)
    with pytest.raises(UsageError, match="sentence 1 does not say which document"):
        scored("m2", text_system("s"), chance=chance)


def test_two_systems_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="found 's' twice"):
        scored("m2", text_system("s"), text_system("s", WORSE))


def test_no_system_at_all_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one hypothesis"):
        scored("m2")


def test_scores_of_one_signature_come_together_and_those_of_two_do_not() -> None:
    first, second = scored("m2", text_system("a")), scored("m2", text_system("b", WORSE))
    both = together(METRICS["m2"], first, second, options=MetricOptions(), chance=QUICK)
    assert both.to_dict() == scored("m2", text_system("a"), text_system("b", WORSE)).to_dict()
    other = scored("m2", text_system("b", WORSE), options=MetricOptions(beta=1))
    with pytest.raises(UsageError, match=r"beta is 0\.5 in one and 1 in the other"):
        together(METRICS["m2"], first, other, options=MetricOptions(), chance=QUICK)


@pytest.mark.parametrize("metric", METRICS.names())
def test_a_signature_knows_the_references(metric: str) -> None:
    one = METRICS[metric].signature(references(), MetricOptions())
    changed = replace(references(), sentences=essays()[:3])
    other = METRICS[metric].signature(changed, MetricOptions())
    assert one.options["reference"] != other.options["reference"]
    assert one.options["tokens"]
    assert one == METRICS[metric].signature(references(), MetricOptions())


def test_an_unknown_metric_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'errant'"):
        METRICS["errand"]


def test_json_has_the_keys_of_the_contract() -> None:
    made = json.loads(json.dumps(scored("m2", text_system("a"), text_system("b", WORSE)).to_dict()))
    assert set(made) == {"metric", "systems", "pairs", "intervals", "signature"}
    first, _ = made["systems"]
    assert set(first) == {"system", "precision", "recall", "f0.5", "counts", "by_type", "group"}
    assert set(first["f0.5"]) == {"value", "low", "high"}
    [pair] = made["pairs"]
    assert set(pair) == {"systems", "difference", "bootstrap", "randomisation"}


PUBLISHED = {
    # The CoNLL-2014 shared task (Ng et al. 2014): P, R, F0.5 of the official M2 scorer, two annotators.
    "CAMB": (39.71, 30.10, 37.33),
    "CUUI": (41.78, 24.88, 36.79),
    "AMU": (41.62, 21.40, 35.01),
    "IITB": (30.77, 1.39, 5.90),
    "UFC": (70.00, 1.72, 7.84),
}


@pytest.mark.data
def test_the_published_scores_of_the_shared_task_come_out() -> None:
    metric = METRICS["m2"]
    reference = data_path("conll14/official/official-2014.combined.m2")
    files = {name: data_path(f"conll14/systems/{name}.txt") for name in PUBLISHED}
    systems = [Hypothesis(name, str(file), texts=read_sentences(open_source(file))) for name, file in files.items()]
    gold = References(str(reference), metric.read(open_source(reference)))
    scores = score_systems(metric, gold, systems, chance=Resampling(n_resamples=2000))
    found = {name: tuple(np.round(100 * np.array(row), 2)) for name, row in values(scores).items()}
    assert found == PUBLISHED
    assert [(each.system, each.group) for each in scores.systems] == [
        ("CAMB", "A"),
        ("CUUI", "A"),
        ("AMU", "A"),
        ("UFC", "B"),
        ("IITB", "B"),
    ]


@pytest.mark.data
def test_the_published_gleu_of_uncorrected_jfleg_comes_out() -> None:
    # The leader board of the JFLEG repository (keisks/jfleg, README.md at 025fcbd): SOURCE 38.21 on dev.
    source = read_sentences(open_source(data_path("jfleg/dev/dev.src")))
    texts = {str(n): read_sentences(open_source(data_path(f"jfleg/dev/dev.ref{n}"))) for n in range(4)}
    made = References("refs", rewritten(source, texts, source_name="src"))
    scores = score_systems(METRICS["gleu"], made, [text_system("source", source)], chance=Resampling(n_resamples=100))
    assert round(100 * values(scores)["source"][0], 2) == 38.21
