"""One number through every door: whoever asks how good a system is gets the same digits.

Twelve essays of twenty places, two systems.  In the study `sample` 84 items were drawn for one system and judged in a
job with hidden gold that asks a third rater where two differ, some of them in a job elsewhere, with an adjudicated
unit and a program that answered too; in `whole` everything was judged, in `flags` only what a system flags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from math import nan
from pathlib import Path
from random import Random
from typing import Any

import pytest

import grater
from grater.annotate import jobs, judgments, people, samples
from grater.annotate.archive import export
from grater.annotate.dashboard import Dashboard, Figures, JobPace, dashboard_of, figures_of, forecasts, sizes
from grater.annotate.evaluation import evaluate_study
from grater.annotate.jobs import Job
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store, open_store
from grater.annotate.web import Settings
from grater.cli import run
from grater.model import Interval
from grater.reporting.build import build
from grater.reporting.document import Report, Section
from grater.reporting.save import report_html
from grater.sheet import interval
from tests.annotate.store.crowds import evenly_hidden_gold
from tests.annotate.study.files import write_text
from tests.annotate.study.places import answer_all, places_in, write_places
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import BASE, Study
from tests.cli.running import Capture
from tests.cli.running import grater as command

N_ESSAYS, N_PLACES, N_DRAWN = 12, 20, 84
PLACES = places_in(N_ESSAYS, N_PLACES)
IDS = list(PLACES)
RNG = Random(7)
ERRORS = {item for item in IDS if RNG.random() < 0.3}
FLAGS = {
    "bold": {item for item in IDS if RNG.random() < (0.7 if item in ERRORS else 0.2)},
    "shy": {item for item in IDS if RNG.random() < (0.4 if item in ERRORS else 0.05)},
}
SCORES = ("precision", "recall", "f0.5", "kappa")
TERMS = '{"gold": {"minimum": 0}, "page": 3, "redundancy": {"least": 2, "most": 3, "lead": 2}}'


def label(item: str, rater: str) -> str:
    """What a rater says: wrong once in eight times."""
    is_wrong = Random(item + rater).random() < 0.125
    return "error" if (item in ERRORS) != is_wrong else "ok"


@dataclass(frozen=True, slots=True)
class Opened:
    """A study on disk; the page of its job `crowd` is looked at."""

    path: Path
    store: Store

    @property
    def is_sample(self) -> bool:
        return self.path.parent.name.startswith("sample")

    def read(self) -> tuple[Job, Figures, Dashboard]:
        with self.store.read() as tx:
            job = jobs.named(tx, "crowd")
            figures = figures_of(tx, job)
            return job, figures, dashboard_of(tx, job, figures.scores, figures.agreement)


def new_study(folder: Path) -> Path:
    corpus, items, decisions = write_places(folder, PLACES, FLAGS)
    studied(("new", folder / "study.db"))
    studied(("import", folder / "study.db", corpus, "--items", items, "--decisions", decisions))
    with open_store(folder / "study.db") as store, store.write() as tx:
        people.add(tx, name="Owner", role="owner")
    return folder / "study.db"


def studied(*steps: tuple[object, ...]) -> None:
    assert [run([*([] if words[0] == "job" else ["study"]), *map(str, words)]) for words in steps] == [0] * len(steps)


def judged(
    study: Path, items: list[str], *, job: str, raters: tuple[str, ...] = ("A", "B", "C"), group: str = ""
) -> None:
    rows = [f"{item},{rater},{label(item, rater)},{group or 'crowd'}" for item in items for rater in raters]
    table = write_text(study.parent / f"{job}.csv", "item,rater,label,group", *rows)
    studied(("import", study, "--judgments", table, "--job", job))


def sampled(study: Path) -> None:
    """A sample whose job has hidden gold, and what else may stand in a study beside it."""
    studied(("sample", study, "--system", "bold", "--n", N_DRAWN))
    with open_store(study) as store, store.read() as tx:
        drawn = samples.named(tx, "sample").frame["item"].unique().sort().to_list()
    others = [item for item in IDS if item not in drawn]
    judged(study, drawn[:10] + others[:15], job="elsewhere")
    wrong, fine = ([item for item in others[15:] if (item in ERRORS) == side][:12] for side in (True, False))
    gold = {item: "error" if item in ERRORS else "ok" for item in drawn[10:16] + wrong + fine}
    table = write_text(study.parent / "g.csv", "item,label", *map(",".join, gold.items()))
    studied(
        ("job", "new", study, "--task", "error", "--sample", "sample", "--judgments-per-item", 2, "--name", "crowd"),
        ("import", study, "--gold", table, "--job", "crowd"),
        ("job", "terms", study, "crowd", "--change", TERMS),
    )
    with open_store(study) as store, evenly_hidden_gold():
        answer_all(store, "crowd", label, n_raters=4)
    studied(("adjudicate", study, "--job", "crowd", "--accept", "unanimous"))
    judged(study, IDS, job="model", raters=("model",), group="program")


@pytest.fixture(scope="module", params=["sample", "whole", "flags"])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    study = new_study(tmp_path_factory.mktemp(request.param))
    if request.param == "sample":
        sampled(study)
    else:
        flagged = FLAGS["bold"] | FLAGS["shy"]
        judged(study, IDS if request.param == "whole" else sorted(flagged), job="crowd")
    with open_store(study) as store:
        yield Opened(study, store)


@pytest.fixture(scope="module")
def reported(opened: Opened) -> Report:
    with opened.store.read() as tx:
        return build(study_inputs(tx))


def evaluated(opened: Opened, *job_names: str, **options: Any) -> dict[str, Any]:
    """As Python has it: what all other doors are held to."""
    with opened.store.read() as tx:
        result = evaluate_study(tx, str(opened.path), job_names=job_names, **options).to_dict()
    found: dict[str, Any] = json.loads(json.dumps(result))
    return found


def served(opened: Opened) -> Study:
    with opened.store.read() as tx:
        owner = people.named(tx, "Owner")
    return Study(opened.store, lambda: 0, {"owner": owner}, settings=Settings(base_url=BASE))  # type: ignore[arg-type]


def printed(score: dict[str, Any]) -> str:
    """The digits of a number in JSON as people see them."""
    value, low, high = (nan if score[key] is None else score[key] for key in ("value", "low", "high"))
    return interval(Interval(value, low, high))


def plain(page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", "", page)).replace("\N{NO-BREAK SPACE}", " ")


def section(report: Report, name: str) -> Section:
    [found] = [each for each in report.sections if each.name == name]
    return found


def rows_of(part: Section, sheet: str) -> dict[str, tuple[str, ...]]:
    [found] = [each for each in part.sheets if each.name == sheet]
    return {row[0]: row for row in found.rows}


def test_scores_are_of_the_whole_corpus_or_withheld(opened: Opened) -> None:
    for system in evaluated(opened)["systems"]:
        flagged = FLAGS[system["system"]]
        hits = len(flagged & ERRORS)
        for score, truth in (("precision", hits / len(flagged)), ("recall", hits / len(ERRORS))):
            shown = system[score]
            assert shown["reason"] if shown["value"] is None else shown["low"] < truth < shown["high"], score
        is_withheld = opened.path.parent.name.startswith("flags")
        assert ("reason" in system["recall"], "reason" in system["precision"]) == (is_withheld, False)


@pytest.fixture(params=["as it is", "corrected", "redundancy"])
def options(request: pytest.FixtureRequest, opened: Opened) -> dict[str, int]:
    """Options of an evaluation; only the sample's job has gold, and items with different numbers of judgments."""
    if request.param != "as it is" and not opened.is_sample:
        pytest.skip("nothing to correct, and all items have three judgments")
    return {} if request.param == "as it is" else {request.param: True if request.param == "corrected" else 3}


def words_of(options: dict[str, int]) -> list[object]:
    return [word for name, value in options.items() for word in (f"--{name}", *([] if value is True else [value]))]


def test_command_and_api_say_what_python_says(opened: Opened, options: dict[str, int], capsys: Capture) -> None:
    expected = evaluated(opened, **options)
    ran = command(capsys, "study", "evaluate", opened.path, *words_of(options), "--json")
    assert json.loads(ran.out) == expected
    query = "&".join(f"{name}={value}" for name, value in options.items())
    assert Program(served(opened), "owner").call("evaluation", query=query) == expected


def test_exports_give_the_same_again(
    opened: Opened, options: dict[str, int], capsys: Capture, tmp_path: Path
) -> None:
    expected = evaluated(opened, **options)
    export(opened.store, tmp_path / "export")
    tables = {file.stem: file for file in (tmp_path / "export" / "evaluation").glob("*.csv")}
    of_gold = {"gold", "gold-answers"}
    assert set(tables) == {"decisions", "judgments", "items", *(of_gold | {"sample"} if opened.is_sample else ())}
    read = {name: file for name, file in tables.items() if "corrected" in options or name not in of_gold}
    first = {"redundancy": options.get("redundancy", 2 if opened.is_sample else 0)}
    named = [word for name, file in sorted(read.items()) for word in (f"--{name}", file)]
    of_files = json.loads(command(capsys, "evaluate", *named, *words_of(first), "--json").out)
    by_name: dict[str, Any] = {name.replace("-", "_"): file for name, file in read.items()} | first
    assert of_files == json.loads(json.dumps(grater.evaluate(**by_name).to_dict()))
    for key in ("systems", "signature", "scope", "items", "unjudged"):
        assert of_files[key] == expected[key], key
    assert of_files.get("corrected") == expected.get("corrected")
    assert of_files.get("rater_error") == expected.get("rater_error")
    assert set(of_files["warnings"]) <= set(expected["warnings"])


def test_the_dashboard_ends_with_the_same_scores(opened: Opened) -> None:
    expected, of_job = evaluated(opened), evaluated(opened, "crowd")
    assert of_job["systems"] == expected["systems"]
    study, (job, _, board) = served(opened), opened.read()
    page = study.browser("owner").get(f"/manage/jobs/{job.job_id}/crowd").text
    api = Program(study, "owner").call("crowd", job_id=job.job_id)
    *_, last = board.checkpoints
    best_first = sorted(expected["systems"], key=lambda system: -(system["f0.5"]["value"] or 0))
    for line, shown, system in zip(last.systems, api["scores"], best_first, strict=True):
        assert line.system == shown["system"] == system["system"]
        for score in ("precision", "recall"):
            assert shown[score] == {"reason": "", **system[score]}
            assert interval(getattr(line, score)) == printed(system[score])
            assert f'data-label="{score.title()}">{printed(system[score])}<' in page
    assert api["scope"] == expected["scope"]["sentence"]
    assert set(api["warnings"]) <= set(of_job["warnings"])


def test_the_report_prints_the_same_everywhere(opened: Opened, reported: Report) -> None:
    expected = evaluated(opened)
    assert reported.answer is not None
    answer, details = rows_of(reported.answer, "answer"), section(reported, "systems")
    scores, weighted = rows_of(details, "scores"), rows_of(details, "weighted-scores")
    page = plain(report_html(reported))
    for system in expected["systems"]:
        name = system["system"]
        for score in ("precision", "recall", "f0.5"):
            cell = printed(system[score])
            assert cell in answer[name], score
            assert cell in page, score
        assert scores[name][1:5] == tuple(printed(system[score]) for score in SCORES)
        assert weighted[name][1:4] == tuple(printed(system["weighted"][score]) for score in SCORES[:3])
    best = reported.headline[1]
    system = next(each for each in expected["systems"] if f", {each['system']} flags errors" in best)
    assert f"precision {printed(system['precision'])}" in best
    reason = system["recall"].get("reason")
    assert (f"Recall is withheld: {reason}." if reason else f"recall {printed(system['recall'])}") in best
    assert not reason or any(reason in note for note in reported.answer.sheets[0].notes)
    [bins] = section(reported, "bins").sheets
    in_bins = [
        of_bin for group in zip(*(each["bins"] for each in expected["systems"]), strict=True) for of_bin in group
    ]
    n_judged = expected["sample"]["judged"] if "sample" in expected else expected["items"] - expected["unjudged"]
    in_histogram = sum(bar["n"] for bar in expected["agreement"])
    # The histogram is of the first judgments of each item, and a few items may have too few of them.
    assert 0.8 * n_judged < in_histogram <= n_judged if opened.is_sample else in_histogram == n_judged
    for of_bin, row in zip(in_bins, bins.rows, strict=True):
        assert row[3:] == tuple(printed(of_bin[score]) for score in ("precision", "recall", "kappa"))
    if opened.is_sample:
        estimates = rows_of(section(reported, "sampling"), "estimates")
        for system in expected["systems"]:
            assert estimates[system["system"]][1:4] == tuple(printed(system[score]) for score in SCORES[:3])
        rows = rows_of(details, "corrected-scores")
        for name, corrected in evaluated(opened, corrected=True)["corrected"].items():
            assert corrected["precision"]["low"] < corrected["precision"]["high"]
            assert rows[name][1:4] == tuple(printed(corrected[score]) for score in SCORES[:3])


def test_every_warning_is_in_page_and_json(opened: Opened, reported: Report, capsys: Capture, tmp_path: Path) -> None:
    ran = command(capsys, "study", "report", opened.path, "--out", tmp_path / "report", "--figures", "svg", "--json")
    assert json.loads(ran.out)["warnings"] == list(reported.warnings)
    page = plain((tmp_path / "report" / "report.html").read_text("utf-8")).casefold()
    for warning in (*evaluated(opened)["warnings"], *reported.warnings):
        assert warning.casefold() in page


def test_the_history_has_one_estimator_and_the_forecast_counts_undrawn_items(opened: Opened) -> None:
    job, figures, board = opened.read()
    with opened.store.read() as tx:
        n_items = len({row["item"] for row in judgments.table(tx, job.job_id)})
    assert [point.n for point in board.checkpoints] == sizes(n_items)
    is_sample = bool(figures.scores.sample)
    assert {line.estimated is not None for point in board.checkpoints for line in point.systems} == {is_sample}
    pace = JobPace(an_hour=60.0, hours_left=0.0)
    narrow, wide = (forecasts(figures.scores, figures.costs, pace, per_item=2, width=each) for each in (0.3, 0.99))
    assert [each.more for each in wide] == [0] * len(FLAGS) * is_sample
    for each in narrow:
        assert 0 < each.more <= len(IDS) - N_DRAWN
        assert each.hours == each.more / 30
