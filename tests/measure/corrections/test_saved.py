"""Scores kept in files and compared later: the numbers of one run, or a refusal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from grater.errors import GraterError
from grater.measure.corrections.saved import compare_saved, read_saved, saved_json
from grater.measure.corrections.scores import METRICS, Hypothesis, MetricOptions, References, Scores, score_systems
from tests.cli.running import Ran, grater
from tests.measure.corrections.essays import REFERENCE, SOURCE, TEXT, essays

OURS, IDLE = Hypothesis("ours", "ours.txt", texts=TEXT), Hypothesis("idle", "idle.txt", texts=SOURCE)


def scored(metric: str, *hypotheses: Hypothesis, options: MetricOptions | None = None) -> Scores:
    references = References("ref.m2", essays(REFERENCE))
    return score_systems(METRICS[metric], references, hypotheses, options=options)


def kept(metric: str, hypothesis: Hypothesis, options: MetricOptions | None = None) -> str:
    return saved_json(scored(metric, hypothesis, options=options), options or MetricOptions())


@pytest.mark.parametrize("metric", ["m2", "errant", "cleme", "gleu"])
def test_saved_systems_get_the_numbers_of_one_run(metric: str) -> None:
    options = MetricOptions(tier="full") if metric == "errant" else None
    saved = [read_saved(kept(metric, system, options), name=system.name) for system in (OURS, IDLE)]
    compared, together = compare_saved(saved), scored(metric, OURS, IDLE, options=options)
    assert compared.to_dict() == together.to_dict()


def test_what_was_scored_in_another_way_or_on_other_sentences_is_refused() -> None:
    short = References("short.m2", essays(REFERENCE)[:1])
    other_sentences = score_systems(METRICS["m2"], short, [Hypothesis("idle", "idle.txt", texts=SOURCE[:1])])
    first = read_saved(kept("m2", OURS), name="a.json")
    for other, why in (
        (kept("errant", IDLE), "its measure is errant, not m2"),
        (kept("m2", IDLE, MetricOptions(beta=1)), "beta is 1 here and 0.5 there"),
        (saved_json(other_sentences, MetricOptions()), ".*other sentences or references"),
    ):
        with pytest.raises(GraterError, match=f"b.json: cannot be compared with a.json: {why}"):
            compare_saved([first, read_saved(other, name="b.json")])


def test_one_name_in_two_files_is_distinguished_by_the_files() -> None:
    saved = [read_saved(kept("m2", OURS), name=f"{name}.json", label=name) for name in ("old", "new")]
    assert {system.system for system in compare_saved(saved).systems} == {"old:ours", "new:ours"}


def test_scores_that_0_2_saved_are_read_and_take_the_documents_that_another_knows() -> None:
    old = json.loads(kept("m2", OURS))
    old["made"]["options"] |= {"resamples": "5000", "seed": "0", "test": "bootstrap", "units": "sentence"}
    del old["made"]["options"]["interval"]
    known = [replace(essay, metadata={"document": place}) for place, essay in enumerate(essays(REFERENCE))]
    scores = score_systems(METRICS["m2"], References("ref.m2", known), [IDLE])
    new = saved_json(scores, MetricOptions(), References("ref.m2", known).documents)
    compared = compare_saved([read_saved(json.dumps(old), name="old.json"), read_saved(new, name="new.json")])
    assert (compared.scope.unit, compared.scope.n_units) == ("document", 4)
    other = json.loads(new) | {"documents": ["a", "b", "c", "c"]}
    saved = [read_saved(new, name="new.json"), read_saved(json.dumps(other), name="other.json")]
    with pytest.raises(GraterError, match="other documents"):
        compare_saved(saved)


@pytest.mark.parametrize("damage", ["", "[]", "{}", "null", '{"format": "grater-scores-1"}'])
def test_anything_else_is_refused_in_one_line(damage: str) -> None:
    with pytest.raises(GraterError, match=r"^a\.json: expected scores that grater saved, found something else$"):
        read_saved(damage, name="a.json")


@pytest.mark.parametrize(
    ("key", "value"), [("cells", [[1]]), ("rows", [1]), ("cells", "x"), ("by_type", {"R": [[99, 1]]})]
)
def test_damaged_counts_are_refused(key: str, value: object) -> None:
    saved = json.loads(kept("m2", OURS))
    saved["sentence_counts"]["ours"][key] = value
    with pytest.raises(GraterError, match="expected scores that grater saved"):
        read_saved(json.dumps(saved), name="a.json")


def test_the_commands_save_and_compare(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def run(*args: object) -> Ran:
        return grater(capsys, "score", *args)

    folder = tmp_path
    (folder / "ref.m2").write_text(REFERENCE)
    (folder / "ours.txt").write_text("\n".join(TEXT) + "\n")
    (folder / "idle.txt").write_text("\n".join(SOURCE) + "\n")
    for system in ("ours", "idle"):
        ran = run(folder / "ref.m2", folder / f"{system}.txt", "--save", folder / f"{system}.json")
        assert ran.status == 0
    compared = run(folder / "ours.json", folder / "idle.json", "--json")
    direct = run(folder / "ref.m2", folder / "ours.txt", folder / "idle.txt", "--json")
    assert json.loads(compared.out) == json.loads(direct.out)
    shown = run(folder / "ours.json", folder / "idle.json", "--baseline", "idle")
    assert "95 % intervals generalise to other sentences like these" in shown.out
