"""The answer of a report: all systems with intervals and ranges over raters, one sentence, and which is earlier."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import grater
from grater.errors import UnknownName, UsageError
from grater.model import Essay, Interval
from grater.reporting.answer import in_words
from grater.reporting.build import Inputs, build, headline
from grater.reporting.document import Byline, Report
from grater.reporting.save import report_html, report_latex, report_markdown, save_figure
from grater.reporting.versions import earlier_versions
from grater.sheet import number
from grater.tables import read_decisions, read_judgments
from tests.cli.running import invoked, refused
from tests.reporting import made_up

N_RATED = 120


def rated(label_of: dict[str, int]) -> pl.DataFrame:
    """Each rater calls every n-th item an error."""
    rows = [
        {"item": f"i{place}", "rater": rater, "label": "error" if place % step == 0 else "ok"}
        for rater, step in label_of.items()
        for place in range(N_RATED)
    ]
    return pl.DataFrame(rows)


def flags(**systems: int) -> pl.DataFrame:
    rows = [
        {"item": f"i{place}", "system": name, "flagged": place % step == 0}
        for name, step in systems.items()
        for place in range(N_RATED)
    ]
    return pl.DataFrame(rows)


@pytest.fixture(scope="module")
def report() -> Report:
    """Raters A and B call every 2nd item an error, C every 4th: the majority is A and B."""
    return grater.report(
        title="Which detector?",
        author="Ann Other",
        judgments=rated({"A": 2, "B": 2, "C": 4}),
        decisions=flags(every=1, half=2),
    )


def cells(report: Report, row: int) -> dict[str, list[str]]:
    assert report.answer is not None
    [sheet] = report.answer.sheets
    by_column: dict[str, list[str]] = {}
    for column, cell in zip(sheet.columns, sheet.rows[row], strict=True):
        by_column.setdefault(column, []).append(cell)
    return by_column


def test_the_best_system_is_first_with_its_range_over_raters(report: Report) -> None:
    # half flags 60 items, all errors to A and B, 30 of them to C; every flags 120, of which 60 and 30 are errors
    best, other = cells(report, 0), cells(report, 1)
    assert (best["system"], other["system"]) == (["half"], ["every"])
    assert best["precision"][0].startswith("1.000 [")
    assert best["range over raters"] == [".50 to 1.00", "1.00 to 1.00"]
    assert other["precision"][0].startswith(".500 [")
    assert other["range over raters"] == [".25 to .50", "1.00 to 1.00"]


def test_a_range_over_raters_holds_the_score_next_to_it() -> None:
    # two raters who judged the good flags only: all of their precisions lie above that of the majority of everybody
    flags = [f"i{place}" for place in range(60)]
    rows = [(item, rater, "error") for rater in ("A", "B") for item in flags[:30]]
    rows += [(item, f"r{place}", "ok") for place, item in enumerate(flags[30:])]
    both = read_judgments(pl.DataFrame(rows, schema=["item", "rater", "label"], orient="row"))
    decided = read_decisions(pl.DataFrame({"item": flags, "system": "S", "flagged": True}))
    report = build(Inputs("Range", judgments=both, decisions=decided))
    assert cells(report, 0)["precision"][0].startswith(".500 [")
    assert cells(report, 0)["range over raters"][0] == ".50 to 1.00"


def test_the_first_sentence_can_be_quoted_and_the_second_has_its_numbers(report: Report) -> None:
    quote, numbers = report.headline
    assert quote == "half is right in all of its flags and finds all of the errors."
    assert re.fullmatch(
        r"On 120 items judged by 3 raters, half flags errors with precision 1\.000 \[.*\] and recall 1\.000 \[.*\] "
        r"\(95 % intervals\); from rater to rater, its precision ranges from \.500 to 1\.000\.",
        numbers,
    )
    assert report_markdown(report).splitlines()[4] == quote.replace("half", "> **half**", 1)
    assert f'<p class="quote">{quote.replace("half", "<strong>half</strong>", 1)}</p>' in report_html(report)


def test_scores_are_given_as_the_nearest_ratio() -> None:
    for precision, recall, expected in (
        (0.75, 0.56, "three of four flags and finds about half of the errors"),
        (0.7, 0.35, "two of three flags and finds about one error in three"),
        (0.52, 0.87, "half of its flags and finds about nine errors in ten"),
    ):
        scores = Interval(precision, precision, precision), Interval(recall, recall, recall)
        assert in_words("s", *scores, 400) == f"s is right in about {expected}."
    [none, nearly] = Interval(0.0, 0.0, 0.0), Interval(0.975, 0.9, 1.0)
    assert in_words("s", nearly, none, 9) == "s is right in nearly all of its flags and finds none of the errors."


def test_ten_sentences_show_hits_next_to_false_alarms_and_misses() -> None:
    report = build(varied())
    shown = {group.title.split(":")[0]: group for group in report.examples}
    assert {title: len(group.items) for title, group in shown.items()} == {"Right": 4, "Wrong": 3, "Missed": 3}
    lists = {group.name: group for group in report.lists}
    for group in shown.values():
        behind = {view.item_id: view for view in lists[group.name].items}
        assert all(view.item_id in behind for view in group.items)
        assert group.n_items == lists[group.name].n_items
        texts = [f"{view.before}{view.target}{view.after}" for view in group.items]
        assert len(set(texts)) == len(texts), "no sentence twice"
        assert all(re.fullmatch(r"Number \d+ is at home\.", text) for text in texts), "its own sentence alone"
    page = report_html(report)
    assert page.index('id="figure-headline"') < page.index('id="examples"') < page.index('id="trust"')


def test_a_slider_holds_every_threshold_and_begins_at_the_systems_own() -> None:
    report = build(made_up.inputs())
    assert {slider.system for slider in report.sliders} == {"careful", "bold_&_new"}
    for slider in report.sliders:
        _, precision, _, words = slider.points[slider.own]
        row = next(cells(report, row) for row in range(2) if cells(report, row)["system"] == [slider.system])
        assert words == f"precision {row['precision'][0]}, recall {row['recall'][0]}, F0.5 {row['F0.5'][0]}"
        assert row["precision"][0].startswith(number(precision))
        recalls = [point[2] for point in slider.points]
        assert recalls == sorted(recalls), "from strict to lax"


def varied() -> Inputs:
    """60 items in sentences of their own: the made-up study with words to read."""
    made = made_up.inputs()
    assert made.items is not None
    assert made.decisions is not None
    bold = made.decisions.frame.filter(pl.col("system") == "bold_&_new")
    text = " ".join(f"Number {n} is at home." for n in range(made_up.N_ITEMS))
    starts = [match.start() for match in re.finditer(r"\bat\b", text)]
    frame = made.items.frame.with_columns(
        essay=pl.lit("all"), start=pl.Series(starts), end=pl.Series([start + 2 for start in starts])
    )
    return replace(
        made,
        essays=[Essay("all", text, (), ())],
        items=replace(made.items, frame=frame),
        decisions=replace(made.decisions, frame=bold),
    )


def test_every_score_of_the_answer_leads_to_its_items(report: Report) -> None:
    assert report.answer is not None
    [sheet] = report.answer.sheets
    scored = [place for place, column in enumerate(sheet.columns) if column in ("precision", "recall", "F0.5")]
    names = {group.name for group in report.lists}
    assert set(sheet.links) == {(row, place) for row in range(2) for place in scored}
    assert set(sheet.links.values()) <= names
    assert sheet.links[1, scored[0]] == "items-every-false_alarm"


def test_date_author_study_and_how_to_cite_are_on_the_page() -> None:
    byline = Byline(author="Ann Other", date="2026-03-01", study="Two & more schools")
    report = build(replace(made_up.inputs(), essays=(), experts=None, byline=byline, title="How good?"))
    page = report_html(report)
    assert all(f"<span>{words}</span>" in page for words in ("Ann Other", "1 March 2026"))
    assert "Two &amp; more schools" in page
    assert report.citation.startswith(
        "Ann Other (2026). How good? Report of the study Two & more schools, 1 March 2026."
    )
    assert report.citation in report_markdown(report)
    assert report.bibtex.startswith("@misc{other2026,\n  author = {Ann Other},\n  title = {How good?},")
    assert r"% " + "  howpublished = {Report of the study Two \\& more schools, 1 March 2026}," in report_latex(
        report
    )


def test_a_report_without_systems_has_no_answer_but_says_how_far_raters_agree() -> None:
    report = build(Inputs("Agreement", judgments=made_up.judgments(("a", "b"), wrong=0.1, seed=1)))
    assert report.answer is None
    assert report.headline[0].startswith("120 judgments of 60 items by 2 raters: kappa")
    assert 'class="quote"' in report_html(report)


@pytest.mark.parametrize(
    ("systems", "stated", "expected"),
    [
        (["mine", "mine-2"], {}, {"mine-2": "mine"}),
        (["mine-v1", "mine-v10", "mine-v2"], {}, {"mine-v2": "mine-v1", "mine-v10": "mine-v2"}),
        (["mine", "mine-v1", "mine-v2"], {}, {"mine": "mine-v1", "mine-v2": "mine"}),
        (["mine@0.9", "mine"], {}, {"mine": "mine@0.9"}),
        (["system-1", "system-2"], {}, {}),
        (["prep-lm", "prep-maxent"], {}, {}),
        (["new", "old"], {"new": "old"}, {"new": "old"}),
    ],
)
def test_names_say_which_version_is_earlier(
    systems: list[str], stated: dict[str, str], expected: dict[str, str]
) -> None:
    assert earlier_versions(systems, stated) == expected


def two_versions() -> Report:
    """mine flags every 4th item, mine-2 every 2nd, and every 2nd is an error."""
    decisions = flags(**{"mine": 4, "mine-2": 2})
    return grater.report(judgments=rated({"A": 2, "B": 2, "C": 2}), decisions=decisions)


def test_a_new_version_is_next_to_the_earlier_one_with_what_it_gained() -> None:
    report = two_versions()
    assert [cells(report, row)["system"] for row in range(2)] == [["mine-2"], ["mine, earlier"]]
    [section] = [each for each in report.sections if each.name == "versions"]
    assert report.headline[2] == section.words[0]
    assert section.words[0].startswith("Compared with mine on the same 120 items, mine-2 changes F0.5 by +.")
    assert "significantly better" in section.words[0]
    differences, sheet = section.sheets
    row = {name: cell for each in (differences, sheet) for name, cell in zip(each.columns, each.rows[0], strict=True)}
    assert row["Δ recall"].startswith("+.500 [")
    assert [row[name] for name in ("hits gained", "hits lost", "false alarms gone", "new false alarms")] == [
        *("30", "0", "0", "0")
    ]
    lists = {group.name: group for group in report.lists}
    counts = [lists[sheet.links[0, sheet.columns.index(name)]].n_items for name in ("hits gained", "hits lost")]
    assert counts == [30, 0]


def test_the_headline_figure_is_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, report: Report
) -> None:
    monkeypatch.chdir(tmp_path)
    rated({"A": 2, "B": 2}).write_csv("judgments.csv")
    flags(every=1, half=2).with_columns(pl.col("flagged").cast(pl.Int8)).write_csv("decisions.csv")
    command = "report --judgments judgments.csv --decisions decisions.csv"
    invoked(command, "--headline", "answer.svg")
    assert [path.name for path in Path().glob("*.svg")] == ["answer.svg"]
    drawn = Path("answer.svg").read_text("utf-8")
    assert all(f">{name}</text>" in drawn for name in ("every", "half", "Precision", "Recall", "F0.5"))
    assert "gif" in refused(command, "--headline", "answer.gif")
    assert invoked(command).stdout.startswith("half is right in all of its f")
    save_figure(report.figures[0], Path("answer.png"))
    assert Path("answer.png").read_bytes().startswith(b"\x89PNG")


def test_lines_differ_in_their_strokes_and_points_in_their_shapes() -> None:
    report = build(made_up.inputs())
    by_name = {figure.name: str(figure.spec) for figure in report.figures}
    for name in ("precision-recall", "agreement-bins", "raters-needed"):
        assert "'strokeDash': {" in by_name[name], name
        assert "'shape': {" in by_name[name], name


def sampled_inputs() -> Inputs:
    """Half of the items are judged: 20 of 30 that are flagged and 40 of 90 that are not."""
    decisions = read_decisions(flags(mine=4))
    sample = grater.sample(decisions, system="mine", n=60, flagged=20)
    drawn = sample.frame["item"].to_list()
    judged = rated({"A": 4, "B": 4}).filter(pl.col("item").is_in(drawn))
    return Inputs("Sampled", judgments=grater.read_judgments(judged), decisions=decisions, sample=sample)


def test_of_a_judged_sample_the_answer_is_the_estimate_for_the_whole_corpus() -> None:
    report = build(sampled_inputs())
    assert report.headline[1].startswith("Estimated for 120 items from 60 judged by 2 raters, mine flags errors")
    assert report.answer is not None
    assert "Scores are estimates for the whole corpus from the judged sample." in report.answer.sheets[0].notes
    [estimates] = [sheet for sheet in report.sheets if sheet.name == "estimates"]
    assert cells(report, 0)["precision"][0] == estimates.rows[0][1]


def test_an_earlier_version_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown system 'odl'\. Did you mean 'old'"):
        earlier_versions(["new", "old"], {"new": "odl"})


def test_the_headline_needs_systems_and_raters() -> None:
    with pytest.raises(UsageError, match="expected decisions and judgments"):
        headline(Inputs("Nothing"))
