"""Reports from tables: what they say, what they link to, what they leave out."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from markupsafe import escape

from grater.api import read_corpus
from grater.demo import sample_path
from grater.errors import UnknownName
from grater.reporting.agreement import confusion_map
from grater.reporting.build import Inputs, build, of_kind
from grater.reporting.document import Report, Section
from grater.reporting.drawing import DARK, INK, MUTED, PAPER, SERIES, VARIABLES, as_bytes, as_svg
from grater.reporting.items import texts_of
from grater.reporting.save import report_html, report_latex, report_markdown, save_report
from grater.tables import read_decisions, read_judgments
from tests.measure.agreement.tables import TABLE_3
from tests.reporting import made_up
from tests.reporting.made_up import N_ITEMS, essays, inputs, items


@pytest.fixture(scope="module")
def report() -> Report:
    return build(inputs())


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return report_html(report)


def section(report: Report, name: str) -> Section:
    return next(section for section in report.sections if section.name == name)


def test_a_report_has_four_parts_of_which_the_last_two_are_folded(report: Report, page: str) -> None:
    names = [section.name for section in report.parts]
    assert {part: [section.name for section in sections] for part, sections in report.by_part.items()} == {
        "Can we trust it?": ["experts", "agreement", "raters-needed", "annotators"],
        "Detail": ["systems", "bins", "thresholds", "difficulty"],
        "Appendix": ["raters", "effort", "corpus"],
    }
    assert re.findall(r"<h2[^>]*>([^<]+)</h2>", page) == ["Answer", *report.by_part, "How to cite"]
    assert re.findall(r'<details class="part" id="(\w+)">', page) == ["detail", "appendix"]
    assert page.count('<p class="finding">') >= len(report.sections), "each section is led by what it found"
    at = [page.index(f'<section id="{name}"') for name in names]
    assert at == sorted(at)
    assert page.index('class="quote"') < page.index('id="figure-headline"') < page.index('id="table-answer"') < at[1]


@pytest.mark.parametrize(("n_raters", "bars"), [(2, ["50", "100"]), (10, ["50", "60", "70", "80", "90", "100"])])
def test_every_share_of_the_raters_is_a_bar_of_its_own(n_raters: int, bars: list[str]) -> None:
    judged = made_up.judgments(tuple(f"r{place}" for place in range(n_raters)), wrong=0.2, seed=3)
    report = build(replace(inputs(), judgments=judged, experts=None))
    [figure] = [each for each in report.figures if each.name == "agreement-histogram"]
    rows = figure.spec["data"]["values"]
    assert [row["share"] for row in rows] == bars
    assert sum(row["n"] for row in rows) == N_ITEMS
    n_error = judged.frame.group_by("item").agg(n=(pl.col("label").cast(pl.String) == "error").sum())["n"]
    assert rows[-1]["n"] == n_error.is_in([0, n_raters]).sum(), "full agreement stands alone"


def test_annotators_are_compared_in_pairs_where_there_are_more_than_two() -> None:
    # NUCLE 2013, Table 3: a row for each pair, and their average
    marked = [replace(each, annotators=("R1", "R2", "R3")) for each in essays()]
    [_, pairs] = section(build(Inputs("Pairs", marked)), "annotators").sheets
    assert "NUCLE 2013, Table 3" in pairs.title
    assert [row[0] for row in pairs.rows] == ["R1 – R2", "R1 – R3", "R2 – R3", "average"]
    sheets = section(build(Inputs("Pair", essays())), "annotators").sheets
    assert [sheet.title for sheet in sheets] == ["Agreement among annotators (NUCLE 2013, Table 3)"]


def test_what_cannot_be_shown_is_named_with_what_it_needs(report: Report) -> None:
    assert report.left_out == ("Not shown: estimates from the sample: needs a sample, and items that nobody judged.",)
    empty = build(Inputs("Nothing yet"))
    assert (empty.sections, len(empty.left_out)) == ([], 8)


def test_every_section_with_statistics_is_signed_and_other_data_have_other_signatures(report: Report) -> None:
    assert [section.name for section in report.sections if "|grater:" not in section.signature] == ["effort"]
    made = inputs()
    assert made.judgments is not None
    fewer = replace(made, judgments=replace(made.judgments, frame=made.judgments.frame.head(-10)))
    theirs = {section.name: section.signature for section in build(fewer).sections}
    for section in report.sections:
        if section.name in ("agreement", "raters-needed", "raters", "systems", "bins", "thresholds", "difficulty"):
            assert section.signature != theirs[section.name], section.name


def test_words_next_to_the_table_of_two_raters_are_those_of_the_paper() -> None:
    # T&C 2008, 5.2: 26 of 86 and 37 of 97
    words = confusion_map(TABLE_3).words
    assert "Of the 86 uses that R1 calls errors, R2 accepts 26 (30 %)" in words
    assert "of the 97 uses that R2 calls errors, R1 accepts 37 (38 %)" in words


def test_every_number_leads_to_the_items_behind_it(page: str) -> None:
    targets = set(re.findall(r'href="#([^"]+)"', page))
    anchors = set(re.findall(r'\bid="([^"]+)"', page))
    assert {"items-careful-hit", "items-careful-miss", "items-bold---new-false_alarm"} <= targets
    assert targets <= anchors


def test_people_are_held_to_the_test_of_section(report: Report) -> None:
    [people] = [sheet for sheet in report.sheets if sheet.name == "people"]
    assert {row[0] for row in people.rows} == {"A", "B"}
    [figure] = [figure for figure in report.figures if figure.name == "systems"]
    assert f"The best expert, scored in the same way, reaches {people.rows[0][3]}." in figure.words


def test_nothing_on_the_page_comes_from_outside(page: str) -> None:
    [data, script] = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert [slider["system"] for slider in json.loads(data)] == ["careful", "bold_&_new"]
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{allowed}'; img-src data:" in page
    assert not re.search("fetch|XMLHttp|import|eval|http(?!://www.w3.org/2000/svg)", script)
    assert not re.findall(r'(?:src|href)="(?!#|data:)', page)
    assert "url(http" not in page
    assert "@import" not in page


def test_text_of_essays_and_titles_is_text_on_the_page(page: str) -> None:
    assert "A &lt;made-up&gt; study" in page
    assert "<b>at</b>" not in page
    assert "&lt;b&gt;at" in page


def test_every_figure_draws_marks_and_has_words(report: Report, page: str) -> None:
    for figure in report.figures:
        marks = re.findall(r'role="graphics-symbol" aria-roledescription="[^"]+" d="([^"]*)"', as_svg(figure))
        widths = [path for path in marks if not re.search(r"h-?0v", path)]
        lines = as_svg(figure).count("mark-rule") + as_svg(figure).count("mark-line")
        assert widths or lines, figure.name
        assert figure.words.endswith("."), "what it shows, for the alternative text"
    assert page.count('role="img"') == len(report.figures)


def test_figures_come_as_svg_png_and_pdf(report: Report) -> None:
    figure = report.figures[0]
    assert as_bytes(figure, "svg").startswith(b"<svg")
    assert as_bytes(figure, "png").startswith(b"\x89PNG")
    assert as_bytes(figure, "pdf").startswith(b"%PDF")


def test_the_same_study_gives_the_same_page(page: str) -> None:
    assert report_html(build(inputs())) == page


def test_markdown_keeps_tables_whole_and_latex_is_escaped(report: Report) -> None:
    assert r"bold\_\&\_new" in report_latex(report)
    text = report_markdown(replace(report, title="One | two"))
    rows = [line for line in text.splitlines() if line.startswith("| bold_&_new")]
    assert rows
    assert all(line.count(" | ") >= 4 for line in rows)
    assert "![F0.5 of every system](figures/systems.svg)" in text


def test_a_saved_report_is_a_page_and_its_parts(report: Report, tmp_path: Path) -> None:
    written = save_report(report, tmp_path / "new" / "folder", file_types=("svg",))
    assert [path.name for path in written[:3]] == ["report.html", "report.md", "tables.tex"]
    assert len(written) == 3 + len(report.figures)
    assert all(path.stat().st_size for path in written)


def _luminance(colour: str) -> float:
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# WCAG 2.2, 1.4.3 for text and 1.4.11 for series
@pytest.mark.parametrize(("colour", "least"), [(INK, 4.5), (MUTED, 4.5), *((colour, 3) for colour in SERIES)])
def test_text_and_series_have_contrast_in_light_and_dark(colour: str, least: float) -> None:
    assert _contrast(colour, PAPER) >= least
    assert _contrast(DARK[colour], DARK[PAPER]) >= least


def test_systems_on_different_items_are_not_ranked_and_have_their_own_n_in_every_bin() -> None:
    first, second = (
        made_up.decisions().frame.filter((pl.col("system") == system) & pl.col("item").is_in(names))
        for system, names in (
            ("careful", [f"i{place}" for place in range(40)]),
            ("bold_&_new", [f"i{place}" for place in range(40, 60)]),
        )
    )
    report = build(replace(inputs(), decisions=read_decisions(pl.concat([first, second]))))
    systems, bins = (section(report, name) for name in ("systems", "bins"))
    words = " ".join((*report.headline, *systems.words, *(figure.words for figure in systems.figures)))
    assert "comes first" not in words
    assert report.answer is not None
    for stated in (report.headline[0], report.answer.figures[0].words):
        assert "careful" in stated
        assert "bold_&_new" in stated, "the sentence to quote and the first caption name no winner"
    assert "not ranked" in report.headline[0]
    assert "standardised" in {sheet.name for sheet in systems.sheets}
    [sheet] = bins.sheets
    counts = [sum(int(row[1]) for row in sheet.rows if row[2] == system) for system in ("careful", "bold_&_new")]
    assert counts == [40, 20]


def test_scores_of_one_essay_have_no_interval_and_still_a_page() -> None:
    made = inputs()
    assert made.items is not None
    frame = made.items.frame.with_columns(essay=pl.lit("e1"))
    report = build(replace(made, items=replace(made.items, frame=frame)))
    assert report.answer is not None
    assert not any("[" in cell for row in report.answer.sheets[0].rows for cell in row)
    assert any("from 1 essay" in line for line in report.answer.sheets[0].notes)
    assert "</html>" in report_html(report)


def test_a_section_says_once_what_its_intervals_speak_of_and_every_table_of_a_paper_does() -> None:
    judged = made_up.judgments(("r1", "r2"), wrong=0.3, seed=4)
    report = build(replace(inputs(), judgments=judged))
    systems = section(report, "systems")
    shown = [sheet for sheet in systems.sheets if any("[" in cell for row in sheet.rows for cell in row)]
    assert len(shown) > 1
    assert systems.scope.startswith("95 % intervals generalise to")
    assert systems.scope not in systems.words
    page = report_html(report)
    of_section = page[page.index('<section id="systems"') : page.index('<section id="bins"')]
    assert of_section.count(systems.scope) == 1
    assert of_section.rindex("</table>") < of_section.index(systems.scope), "below the last table only"
    assert report_latex(report).replace("\\%", "%").count(systems.scope[5:30]) >= len(shown)
    assert "at the end of both lists" in " ".join(systems.sheets[0].notes)


def test_adjudicated_decisions_raise_neither_agreement_nor_density() -> None:
    # the sample essays: kappa .624 and 7.9 edits per 100 tokens by A and B, with a `gold` equal to A or without
    essays = read_corpus(sample_path())
    with_gold = [
        replace(
            essay,
            annotators=(*essay.annotators, "gold"),
            edits=(*essay.edits, *(replace(edit, rater="gold") for edit in essay.edits if edit.rater == "A")),
        )
        for essay in essays
    ]
    report = build(Inputs("Sample", with_gold))
    assert report.headline[0].startswith("2 annotators, 76 essays")
    assert "kappa .624 [" in report.headline[0]
    corpus = section(report, "corpus")
    assert "7.9 [" in corpus.words[0]
    assert "gold" in corpus.words[1]


def test_warnings_of_every_result_reach_the_page_once() -> None:
    made = inputs()
    assert made.judgments is not None
    few = replace(made, judgments=replace(made.judgments, frame=made.judgments.frame.head(12)))
    report = build(few)
    assert report.answer is not None
    assert report.answer.warnings, "the headline has the warnings of the evaluation"
    assert report.warnings[: len(report.answer.warnings)] == report.answer.warnings
    page, text = report_html(report), report_markdown(report)
    for warning in report.warnings:
        assert page.count(f"<strong>Warning:</strong> {escape(warning)}</p>") == 1, warning
        assert text.count(f"**Warning:** {warning}") == 1, warning
        assert f"Warning: {warning}" in repr(report)


def test_a_report_on_one_kind_has_items_of_that_kind_only() -> None:
    made = inputs()
    assert made.items is not None
    kinds = pl.when(pl.col("start") < 60).then(pl.lit("prep")).otherwise(pl.lit("article"))
    mixed = replace(made, items=replace(made.items, frame=made.items.frame.with_columns(kind=kinds)))
    report = build(of_kind(mixed, "prep"))
    systems = section(report, "systems")
    assert systems.words == ("The lead of careful over bold_&_new may be chance.", "2 systems on 30 items.")
    with pytest.raises(UnknownName, match="article, prep"):
        of_kind(mixed, "verb")


def test_a_tie_is_in_both_lists_and_counts_half_in_each() -> None:
    # two raters: of every eighth item one says error and one ok, which is no majority
    rows = [
        {"item": f"i{place}", "rater": rater, "label": label}
        for place in range(N_ITEMS)
        for rater, label in zip("ab", ("error", "ok") if place % 8 == 0 else ("ok", "ok"), strict=True)
    ]
    even = build(replace(inputs(), judgments=read_judgments(pl.DataFrame(rows)), experts=None))
    [scores] = [sheet for sheet in even.sheets if sheet.name == "scores"]
    by_name = {group.name: group for group in even.lists}
    hits, alarms = by_name["items-careful-hit"], by_name["items-careful-false_alarm"]
    assert hits.n_items
    assert {view.item_id for view in hits.items} <= {view.item_id for view in alarms.items}
    row = next(row for row in scores.rows if row[0] == "careful")
    assert float(row[5]) == hits.n_items / 2
    split = f"{hits.n_items} items where raters are split evenly: each counts half as an error, half as correct."
    assert hits.note == split


def test_every_count_of_every_table_leads_to_its_list(report: Report) -> None:
    names = {group.name for group in report.lists}
    for sheet in report.sheets:
        counts = [place for place, column in enumerate(sheet.columns) if column in ("hits", "false alarms", "misses")]
        for row in range(len(sheet.rows)):
            assert all(sheet.links.get((row, place)) in names for place in counts), sheet.name


def test_a_hard_item_is_shown_in_its_sentence_and_leads_to_its_judgments(report: Report) -> None:
    hardest, easiest = section(report, "difficulty").sheets[:2]
    shown = {f"contentious-{view.item_id}" for group in report.lists for view in group.items}
    assert set(hardest.links.values()) <= shown
    assert len(hardest.links) == len(hardest.rows)
    assert not easiest.links
    assert all("[" in row[0] and "]" in row[0] for row in hardest.rows)


def test_a_line_has_whole_words_round_its_item() -> None:
    assert texts_of(items(), essays()).line("i33") == (
        "…the morning. We arrived <b>at<[/b]> the station in the morning.…"
    )
    assert texts_of(items(), ()).line("i33") == "at"
    assert texts_of(None, ()).line("i33") == "i33"


def test_charts_of_the_page_follow_light_and_dark(page: str) -> None:
    assert f"var({VARIABLES[SERIES[0]]})" in page
    assert not [colour for colour in VARIABLES if colour in page.split("</style>")[1]]


def test_no_section_repeats_a_sentence_of_the_headline() -> None:
    report = build(replace(inputs(), decisions=None))
    agreed = report.headline[0]
    assert agreed in [line for section in report.sections for line in section.words]
    assert report_html(report).count(f">{agreed}<") == 1
    assert report_markdown(report).count(agreed) == 1
