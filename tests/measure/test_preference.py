"""Preference: expected wins, Davidson's model, groups and judges, by hand and on GJG15."""

from __future__ import annotations

import json
from math import atanh, log, sqrt, tanh
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.preference import World, rows

import grater
from grater.corpora import read_corpus, with_documents, write_corpus
from grater.corpora.merge import attach_documents
from grater.demo import sample_path
from grater.demo.raters import sample_rankings
from grater.errors import GraterError
from grater.measure.metrics_and_people import pearson_interval, spearman_interval, williams
from grater.measure.preference import Preference
from grater.tables.rankings import Rankings, read_rankings
from grater.uncertainty import t_value
from tests.cli.running import grater as command
from tests.real_data import data_path

ROWS = [
    # A and B wrote the same in s1; the judges differ on s2; C is alone in s3, which decides nothing.
    ("s1", "Ada", "A|B", 1),
    ("s1", "Ada", "C", 2),
    ("s2", "Ada", "A", 1),
    ("s2", "Ada", "B", 2),
    ("s2", "Ada", "C", 2),
    ("s2", "Bo", "A", 2),
    ("s2", "Bo", "B", 1),
    ("s2", "Bo", "C", 3),
    ("s3", "Bo", "C", 1),
]
XML = """<?xml version="1.0" encoding="UTF-8"?>
<appraise-results><error-correction-ranking-result id="0">
  <ranking-item doc-id="7" id="0" src-id="0" user="Ada">
    <translation rank="1" system="A B"/><translation rank="2" system="C"/></ranking-item>
  <ranking-item doc-id="7" id="1" src-id="1" user="Ada">
    <translation rank="1" system="A"/><translation rank="2" system="B"/>
    <translation rank="2" system="C"/></ranking-item>
  <ranking-item doc-id="7" id="2" src-id="1" user="Bo">
    <translation rank="2" system="A"/><translation rank="1" system="B"/>
    <translation rank="3" system="C"/></ranking-item>
  <ranking-item doc-id="7" id="3" src-id="2" user="Bo"><translation rank="1" system="C"/></ranking-item>
</error-correction-ranking-result></appraise-results>
"""


def table(rows: list[tuple[str, str, str, int]] = ROWS, **more: list[str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["item", "rater", "system", "rank"], orient="row").with_columns(
        *(pl.Series(name, values) for name, values in more.items())
    )


def values(result: Preference) -> dict[str, float]:
    return {each.system: each.expected_wins.value for each in result.systems}


def test_expected_wins_pairs_and_judges_are_those_of_the_hand() -> None:
    result = grater.prefer(table())
    # A beats B once in two, C three times in three; B also beats C twice, of two decided.
    assert values(result) == {"A": pytest.approx(0.75), "B": pytest.approx(0.75), "C": 0.0}
    counts = {pair.test.systems: (pair.wins, pair.losses, pair.ties, pair.identical) for pair in result.pairs}
    assert counts == {("A", "B"): (1, 1, 0, 1), ("A", "C"): (3, 0, 0, 0), ("B", "C"): (2, 0, 1, 0)}
    assert [(judge.rater, judge.n, judge.tie_share) for judge in result.judges] == [("Ada", 2, 0.25), ("Bo", 2, 0.0)]
    assert (result.n, result.n_units) == (4, 3)
    assert any("1 ranking with fewer than two different outputs" in warning for warning in result.warnings)
    made: Any = result.to_dict()
    assert made.keys() >= {"systems", "pairs", "agreement", "judges", "units", "n", "warnings", "signature"}
    assert made["systems"][0].keys() >= {"system", "expected_wins", "davidson", "rank_low", "group"}


@pytest.mark.parametrize("way", ["xml", "output", "pairs"])
def test_rankings_are_the_same_however_they_are_written(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / f"rankings.{'xml' if way == 'xml' else 'csv'}"
    expected = grater.prefer(table())
    if way == "xml":
        file.write_text(XML)
    elif way == "output":
        apart = table().with_row_index("at").with_columns(pl.col("system").str.split("|")).explode("system")
        apart.with_columns(output=pl.format("text {}", "at")).drop("at").write_csv(file)
    else:
        rows = ["item,rater,system_a,system_b,winner", "s1,Ada,A,C,A", "s1,Ada,B,C,first", "s2,Ada,B,A,second"]
        rows += ["s2,Ada,A,C,A", "s2,Ada,B,C,Tie", "s2,Bo,A,B,B", "s2,Bo,A,C,A", "s2,Bo,C,B,B"]
        file.write_text("\n".join(rows) + "\n")
    found = grater.prefer(file)
    assert values(found) == values(expected)
    assert json.loads(command(capsys, "prefer", file, "--json").out) == json.loads(json.dumps(found.to_dict()))
    shown = command(capsys, "prefer", file).out
    assert all(name in shown for name in ("A", "B", "C", "expected wins", "Judges"))
    for ours, theirs in zip(found.pairs, expected.pairs, strict=True):
        assert (ours.wins, ours.losses, ours.ties) == (theirs.wins, theirs.losses, theirs.ties)
        assert way == "pairs" or ours == theirs


def test_davidson_s_score_of_two_systems_has_a_closed_form() -> None:
    # 6 wins, 2 losses, 4 ties: exp(t) is the root of wins / losses, nu the ties over the root of their product.
    outcomes = [(1, 2)] * 6 + [(2, 1)] * 2 + [(1, 1)] * 4
    rows = [(f"s{n}", "Ada", name, ranks["AB".index(name)]) for n, ranks in enumerate(outcomes) for name in "AB"]
    result = grater.prefer(table(rows))
    assert [each.davidson.value for each in result.systems] == pytest.approx([log(3) / 2, -log(3) / 2])
    assert result.log_nu == pytest.approx(log(4 / 12**0.5))
    assert result.systems[0].expected_wins.value == 0.75
    never_loses = grater.prefer(table(rows[:12]))
    assert all("no finite score" in each.davidson.undefined_because for each in never_loses.systems)
    assert any("Davidson gives no finite score to A, B" in warning for warning in never_loses.warnings)


def test_ties_in_every_ranking_decide_nothing_and_rows_that_occur_twice_are_left_out_as_asked() -> None:
    rows = [(f"s{n}", rater, name, 1) for n in range(4) for rater in ("Ada", "Bo") for name in "AB"]
    result = grater.prefer(table(rows))
    assert "no comparison with another system was decided" in result.systems[0].expected_wins.undefined_because
    assert any("A – B" in warning for warning in result.warnings)
    assert {each.group for each in result.systems} == {""}
    twice = grater.prefer(table([*ROWS, ("s1", "Ada", "C", 1)]), duplicates="first")
    assert values(twice) == values(grater.prefer(table()))
    assert any("left out 1 row of rankings" in warning for warning in twice.warnings)


def test_documents_are_the_units_where_they_are_known(tmp_path: Path) -> None:
    rows = [(str(n), "Ada", name, 1 + (name == "B") * (n % 3 > 0)) for n in range(1, 31) for name in "AB"]
    rows += [(str(n), "Bo", name, 1 + (name == "A") * (n % 4 > 2)) for n in range(1, 31) for name in "AB"]
    file = tmp_path / "documents.txt"
    file.write_text("".join(f"d{n // 3}\n" for n in range(30)))
    by_line = grater.prefer(table(rows), documents=file)
    own = table(rows, document=[f"d{(int(row[0]) - 1) // 3}" for row in rows])
    assert by_line.to_dict() == {**grater.prefer(own).to_dict(), "signature": str(by_line.signature)}
    assert (by_line.n_units, by_line.scope.unit) == (10, "document")
    assert grater.prefer(own, units="sentence").scope.unit == "sentence"
    with pytest.raises(GraterError, match="numbers of sentences, 1 to 30"):
        grater.prefer(table([("x", *row[1:]) for row in rows[:2]]), documents=file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,rater,system,rank\ns1,Ada,A,best\n", "expected a number in column 'rank'"),
        ("item,rater,system,rank\ns1,Ada,A,1\ns1,Ada,A,2\n", "expected item 's1', rater 'Ada', system 'A' once"),
        ("item,rater,system,rank\ns1,Ada,A|B,1\ns1,Ada,A,2\n", "'A' once, found it in several rows"),
        ("item,rater,system,rank\ns1,Ada,A,1\n", "expected rankings of at least two systems"),
        ("item,rater,first,second,better\ns1,Ada,A,B,C\n", "expected one of the two systems, first, second or tie"),
        ("item,rater,first,second,better\ns1,Ada,A,A,A\n", "expected two systems"),
        ("item,rater,label\ns1,Ada,error\n", "expected rankings, found a table of judgments"),
        (XML.replace('rank="2" system="C"', 'rank="x" system="C"'), "expected a whole number as rank, found 'x'"),
        (XML.replace("src-id", "source"), "expected <ranking-item> with src-id and user"),
        (XML[:-30], "expected well-formed XML"),
        ("<!DOCTYPE x><x/>", "expected no DTD"),
    ],
)
def test_what_is_no_ranking_is_refused_with_its_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / ("rankings.xml" if text.startswith("<") else "rankings.csv")
    file.write_text(text)
    ran = command(capsys, "prefer", file)
    assert ran.status == 2
    assert message in ran.err


# Grundkiewicz, Junczys-Dowmunt & Gillian 2015

PUBLISHED = {
    "AMU": 0.628, "RAC": 0.566, "CAMB": 0.561, "CUUI": 0.550, "POST": 0.539, "UFC": 0.513, "PKU": 0.506,
    "UMC": 0.495, "IITB": 0.485, "SJTU": 0.463, "INPUT": 0.456, "NTHU": 0.437, "IPN": 0.300,
}  # fmt: skip
"""Their expected wins (Table 4)."""


@pytest.fixture(scope="module")
def gjg15() -> Rankings:
    return read_rankings(data_path("rankings/gjg15/judgments.xml"))


@pytest.mark.data
def test_gjg15_s_expected_wins_davidson_and_kappas_come_out(gjg15: Rankings) -> None:
    result = grater.prefer(gjg15)
    assert list(values(result)) == list(PUBLISHED)
    assert values(result) == pytest.approx(PUBLISHED, abs=0.001)
    assert (result.n, result.n_units, len(result.judges)) == (2319, 663, 8)
    decided = sum(pair.wins + pair.losses for pair in result.pairs)
    ties = sum(pair.ties + pair.identical for pair in result.pairs)
    assert (decided + ties, ties) == (109_098, 59_117)  # section 4: pairs with identical outputs expanded
    by_name = {each.system: each.davidson.value for each in result.systems}
    shown = {"AMU": 0.4913, "RAC": 0.2367, "CAMB": 0.2327, "IPN": -0.7106}  # ../shared/design/statistics.md
    assert {name: by_name[name] for name in shown} == pytest.approx(shown, abs=5e-5)
    assert result.log_nu == pytest.approx(-0.3749, abs=5e-5)
    assert result.agreement.between == pytest.approx(0.29, abs=0.005)  # Table 3, both
    assert result.agreement.within == pytest.approx(0.46, abs=0.005)


@pytest.mark.data
def test_documents_join_the_first_five_systems_that_pairs_taken_as_independent_part(gjg15: Rankings) -> None:
    folder = data_path("conll14/official")
    sentences = with_documents(read_corpus(folder / "official-2014.0.m2"), folder / "official-2014.0.sgml")
    documents = [str(sentence.metadata["document"]) for sentence in sentences]
    by_document = {each.system: each for each in grater.prefer(gjg15, documents=documents).systems}
    assert all("A" in by_document[name].group for name in ("AMU", "RAC", "CAMB", "CUUI", "POST"))
    published = grater.prefer(gjg15, interval="published-pairs")
    assert "pairs taken as independent" in published.scope.sentence
    assert "pairs taken as independent" in published.warnings[0]
    assert [each.group for each in published.systems[:1]] == ["A"]  # AMU alone in the first cluster (Table 4)
    assert "A" not in published.systems[1].group
    by_sentence = {each.system: each.influence.error for each in grater.prefer(gjg15).systems}
    shares = [each.influence.error / by_sentence[each.system] for each in published.systems]
    assert sum(shares) / len(shares) == pytest.approx(0.29, abs=0.01)  # ../shared/design/statistics.md
    with pytest.raises(GraterError, match="expected raters these"):
        grater.prefer(gjg15, raters="random", interval="published-pairs")
    random = grater.prefer(gjg15, raters="random")
    assert all(each.influence.variance >= by_sentence[each.system] ** 2 for each in random.systems)


# Metrics and people


def test_williams_test_and_spearman_s_interval_are_those_of_the_literature() -> None:
    # R's psych: r.test(n = 103, r12 = .4, r13 = .5, r23 = .1) has t = -.89, p < .37.
    assert williams(0.4, 0.5, 0.1, 103) == pytest.approx(0.375, abs=0.001)
    x = np.arange(12.0)
    y = np.array([0, 5, 1, 7, 2, 8, 3, 9, 4, 11, 6, 10], np.float64)
    rho = spearman_interval(x, y)
    half = t_value(10) * sqrt((1 + rho.value**2 / 2) / 9)
    assert (rho.low, rho.high) == pytest.approx((tanh(atanh(rho.value) - half), tanh(atanh(rho.value) + half)))
    r = pearson_interval(x, y)
    assert r.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    assert r.low <= tanh(atanh(r.value) - 1.9599 / 3)
    assert "needs 6" in pearson_interval(x[:5], y[:5]).undefined_because


@pytest.mark.data
def test_gjg15_s_metrics_correlate_with_people_as_published(gjg15: Rankings) -> None:
    rows = []
    for metric in ("m2", "bleu", "meteor", "iwacc"):
        for line in data_path(f"rankings/gjg15/scores.{metric}").read_text().splitlines():
            system, score, *_ = line.split()
            rows.append((system, metric, float(score)))
    metrics = pl.DataFrame(rows, schema=["system", "metric", "score"], orient="row")
    found = grater.prefer(gjg15, metrics=metrics).metrics
    assert found is not None
    best = found.metrics[0]
    assert (best.metric, best.n) == ("m2", 13)
    assert best.spearman.value == pytest.approx(0.692, abs=0.0005)  # Table 5
    assert best.pearson.value == pytest.approx(0.627, abs=0.003)  # Table 5, from scores that they rounded
    assert (best.n_separated, best.ordered_right) == (24, 21)
    assert found.ceiling == pytest.approx(found.reliability**0.5)
    assert [len(each.windows) for each in found.metrics] == [6] * 4
    inner, outer = best.pearson_these_systems, best.pearson
    assert outer.low < inner.low < inner.high < outer.high


def test_our_metrics_score_what_was_ranked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # The rankings of the demo, and its essays in M2.
    sample, essays = tmp_path, list(read_corpus(sample_path()))
    write_corpus(essays, sample / "essays.m2", lambda _: None)
    sentences = list(attach_documents(read_corpus(sample / "essays.m2"), essays))
    sample_rankings(sentences).write_csv(sample / "rankings.csv")
    page = tmp_path / "page.html"
    result = grater.prefer(sample / "rankings.csv", score=sample / "essays.m2", html=page)
    assert [each.system for each in result.systems][::5] == ["eager", "unchanged"]
    assert result.metrics is not None
    by_name = {each.metric: each for each in result.metrics.metrics}
    assert by_name.keys() == {"cleme f0.5", "errant f0.5", "gleu", "m2 f0.5"}
    # The same outputs, scored as text by `score`.
    table = pl.read_csv(sample / "rankings.csv").unique(["item", "system"], maintain_order=True)
    by_text = {each.text: each for each in read_corpus(sample / "essays.m2")}
    of = table.filter(pl.col("system") == "half")
    [scored] = grater.score([by_text[text] for text in of["source"]], {"half": of["output"].to_list()}).systems
    assert result.metrics.scores["m2 f0.5"]["half"] == pytest.approx(scored.overall.scores["f0.5"].value)
    gleu = by_name["gleu"].on_sentences
    assert gleu is not None
    assert 0.5 < gleu.low < gleu.value < gleu.high < 1
    text = page.read_text("utf-8")
    assert text.count("<svg") == 5
    assert all(f'<section id="{name}"' in text for name in ("preference", "pairs", "judges", "metrics"))
    scores = tmp_path / "scores.csv"
    scores.write_text("system,metric,score\nhalf,mine,1\neager,mine,2\nother,mine,0\n")
    ran = command(capsys, "prefer", sample / "rankings.csv", "--metrics", scores)
    assert "mine: no score of thorough, careful, grammar, unchanged; no rankings of other" in ran.err
    for bad, message in (("half,mine,x", "expected a number"), ("half,mine,1\nhalf,mine,2", "expected one score")):
        scores.write_text(f"system,metric,score\n{bad}\n")
        assert message in command(capsys, "prefer", sample / "rankings.csv", "--metrics", scores).err
    bare = tmp_path / "bare.csv"
    table.drop("output").write_csv(bare)
    assert "expected a column 'output'" in command(capsys, "prefer", bare, "--score", sample / "essays.m2").err


@pytest.mark.parametrize("world", [World(4, 80), World(4, 90, judges=1, per_document=6, document=0.7)])
def test_intervals_hold_and_equal_systems_share_a_group_in_simulated_rankings(world: World) -> None:
    found = rows(world, 30)  # in all designs, with 200 corpora: docs/benchmarks.md
    assert 0.9 <= found["expected wins"] <= 0.99
    assert 0.9 <= found["davidson"] <= 0.99
    assert found["family-wise error"] <= 0.15
