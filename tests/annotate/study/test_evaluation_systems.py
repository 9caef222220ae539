"""Systems of a study: the page that is looked at while people work says what the command says, of essays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from grater.annotate import jobs
from grater.annotate.dashboard import figures_of
from grater.annotate.evaluation import evaluate_study, live_agreement
from grater.annotate.importing import import_files
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store
from grater.annotate.tables import study_tables
from grater.annotate.tasks import TASKS
from grater.corpora import write_corpus
from grater.errors import UsageError
from grater.model import Essay
from grater.reporting.build import build
from grater.sheet import interval
from grater.tables import read_gold, read_judgments
from tests.annotate.study.files import write_text

N_ESSAYS, N_ITEMS = 12, 5


@pytest.fixture
def judged(store: Store, tmp_path: Path) -> Store:
    """Twelve essays of five items; a system that flags everything but the last; every second essay is all errors."""
    items, decided, verdicts = ["item,essay,start,end,kind"], ["item,system,flagged"], ["item,rater,label"]
    for essay in range(N_ESSAYS):
        for place in range(N_ITEMS):
            name = f"e{essay}-{place}"
            items.append(f"{name},e{essay},{3 * place},{3 * place + 2},prep")
            decided.append(f"{name},eager,{int(place < N_ITEMS - 1)}")
            verdicts += [f"{name},{rater},{'error' if essay % 2 else 'ok'}" for rater in ("A", "B", "C")]
    corpus = tmp_path / "essays.jsonl"
    write_corpus([Essay(f"e{essay}", "in on at by of") for essay in range(N_ESSAYS)], corpus, lambda _: None)
    tables = {
        name: write_text(tmp_path / f"{name}.csv", *rows)
        for name, rows in (("i", items), ("d", decided), ("j", verdicts))
    }
    import_files(store, corpora=[corpus], items=[tables["i"]], decisions=[tables["d"]])
    import_files(store, judgments=[tables["j"]], job="work")
    return store


def test_the_dashboard_and_the_report_print_the_same_intervals(judged: Store, tmp_path: Path) -> None:
    """Of a job whose judgments came in another order than that of its items, and whose raters differ."""
    places = [(essay, place) for place in range(N_ITEMS) for essay in reversed(range(N_ESSAYS))]
    verdicts = [
        f"e{essay}-{place},{rater},{'error' if (essay * place + shift) % 3 else 'ok'},2026-01-0{place + 1}T00:00:00Z"
        for essay, place in places
        for shift, rater in enumerate(("A", "B", "C"))
        if shift < 2 or essay % 4
    ]
    import_files(judged, judgments=[write_text(tmp_path / "n.csv", "item,rater,label,at", *verdicts)], job="noisy")
    with judged.read() as tx:
        board, report = figures_of(tx, jobs.named(tx, "noisy")), build(study_inputs(tx, job_names=["noisy"]))
    assert report.answer is not None
    assert board.agreement is not None
    [line], [answered] = board.scores.systems, report.answer.sheets[0].rows
    assert {interval(line.precision), interval(line.recall)} <= set(answered)
    [coefficients] = [section.sheets[0] for section in report.sections if section.name == "agreement"]
    assert ("Krippendorff alpha", interval(board.agreement.alpha)) in {row[:2] for row in coefficients.rows}


def test_scores_are_corrected_by_the_hidden_gold_of_the_study(judged: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with judged.read() as tx:
        with pytest.raises(UsageError, match="nobody has answered hidden gold yet"):
            evaluate_study(tx, "study", corrected=True)
        plain = study_tables(tx, "study")
        # Of ten errors and ten good items, all flagged, raters call fifteen errors: sensitivity 1, specificity .5.
        names = [f"e{essay}-{place}" for essay in range(5) for place in range(4)]
        gold = read_gold(pl.DataFrame({"item": names, "label": ["error"] * 10 + ["ok"] * 10}), name="gold")
        labels = zip(names, ["error"] * 15 + ["ok"] * 5, strict=True)
        verdicts = [(item, rater, label) for item, label in labels for rater in ("A", "B", "C")]
        on_gold = read_judgments(pl.DataFrame(verdicts, ["item", "rater", "label"], orient="row"))
        tables = replace(plain, gold=gold, on_gold=on_gold)
        monkeypatch.setattr("grater.annotate.tables.study_tables", lambda *_, **__: tables)
        result = evaluate_study(tx, "study", errors_by_flag=True)
    # 24 of 48 flags are errors as judged: (24 - .5 * 48) / .5 = 0 of them in truth
    assert result.whole.standard[0]["precision"].value == 0.5
    assert result.corrected["eager"].precision.value == 0
    assert any("too few gold items on one side" in line for line in result.warnings)


def rows(*labels: tuple[str, str]) -> list[dict[str, object]]:
    """Two raters, one item for each pair of labels."""
    return [
        {"item": f"i{n}", "rater": rater, "label": label, "group": "crowd"}
        for n, pair in enumerate(labels)
        for rater, label in zip(("Ann", "Bob"), pair, strict=True)
    ]


def observed(task: str, *labels: tuple[str, str]) -> float:
    found = live_agreement(rows(*labels), TASKS[task], name="job")  # type: ignore[arg-type]
    assert found.labels is not None
    return found.labels.coefficients["observed"].value


def test_grey_is_merged_with_yes_in_constructions() -> None:
    assert observed("construction", ("yes", "grey"), ("grey", "grey"), ("no", "grey"), ("no", "no")) == 0.75


def test_a_task_that_merges_nothing_keeps_its_labels() -> None:
    assert observed("error", ("error", "unknown"), ("ok", "ok")) == 0.5


def test_where_asking_stopped_early_only_the_first_judgments_are_compared() -> None:
    """Two who agree were enough for one item; for the other two who differed were followed by three who agree."""
    verdicts = {"easy": "oo", "hard": "oeeee"}
    names = {"o": "ok", "e": "error"}
    found = [
        {"item": item, "rater": f"r{n}", "label": names[letter], "group": "crowd", "at": f"2026-01-01T00:00:{n:02}Z"}
        for item, letters in verdicts.items()
        for n, letter in enumerate(letters)
    ]
    all_of_them = live_agreement(found, TASKS["error"], name="job")
    first_two = live_agreement(found, TASKS["error"], name="job", first=2)
    assert all_of_them.labels is not None
    assert first_two.labels is not None
    assert first_two.labels.coefficients["observed"].value == 0.5
    assert all_of_them.labels.coefficients["observed"].value > 0.5
