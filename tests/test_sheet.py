from __future__ import annotations

import csv
import io
from math import nan

from grater import __version__
from grater.model import Interval
from grater.sheet import (
    WRITERS,
    Sheet,
    Signature,
    amount,
    as_html,
    as_latex,
    as_markdown,
    as_text,
    count,
    counted,
    digest,
    interval,
    number,
    undefined_notes,
    without_empty_columns,
)

SHEET = Sheet(
    title="Two systems, 1,336 items",
    columns=("system", "precision", "group"),
    rows=(("prep_maxent|v2", ".700 [.652, .748]", "A"), ("other", "–", "B")),
    notes=("–: nothing is flagged.",),
    signature="evaluate|grater:0.2.0",
    name="scores",
)


def test_a_number_has_three_digits_no_leading_zero_and_its_interval() -> None:
    values = (0.7, 1.0, -0.25, 12.5, nan, 0.0, -0.0001, 0.9999)
    assert list(map(number, values)) == [".700", "1.000", "−.250", "12.500", "–", ".000", ".000", "1.000"]
    assert interval(Interval(0.7, 0.652, 0.748)) == ".700 [.652, .748]"
    assert interval(Interval(0.7, 0.652, 0.748), digits=2) == ".70 [.65, .75]"
    assert interval(Interval(0.7, nan, nan)) == ".700"
    assert interval(Interval(nan, nan, nan, "nothing is flagged")) == "–"
    assert interval(Interval(-0.1, -0.2, 0.05)) == "−.100 [−.200, .050]"


def test_counts_and_estimated_counts_have_separators() -> None:
    assert (count(1336), count(0.5), count(nan)) == ("1,336", "0.5", "–")
    assert list(map(count, (105.771, 49.5, 1.35, 2.8, -3.02))) == ["105.8", "49.5", "1.35", "2.8", "−3.02"]
    assert (count(105.98), count(0.001), count(-0.001), count(100)) == ("106", "0", "0", "100")
    assert amount(Interval(1205.4, 1100, 1310)) == "1,205 [1,100, 1,310]"
    assert amount(Interval(nan, nan, nan)) == "–"
    assert amount(Interval(53.5 - 1e-14, 16.5 + 1e-14, 70)) == amount(Interval(53.5, 16.5, 70)) == "54 [16, 70]"
    assert (counted(1, "essay"), counted(2391, "edit")) == ("1 essay", "2,391 edits")
    assert counted(2, "entry", "entries") == "2 entries"


def test_each_reason_for_an_undefined_number_is_named_once() -> None:
    undefined = Interval(nan, nan, nan, "nothing is flagged")
    assert undefined_notes([undefined, undefined, Interval(0.5, 0.4, 0.6)]) == ["–: nothing is flagged."]


def test_text_is_aligned_with_rules_notes_and_signature() -> None:
    lines = as_text(SHEET).splitlines()
    assert lines[0] == SHEET.title
    assert lines[1] == "system                  precision  group"
    assert lines[3] == "prep_maxent|v2  .700 [.652, .748]  A"
    assert lines[4] == "other                           –  B"
    assert lines[-2:] == ["–: nothing is flagged.", "evaluate|grater:0.2.0"]
    sheet = Sheet("", ("", "n"), (("a", "1"), ("sum", "1")), rules=(1,))
    assert as_text(sheet).splitlines()[3].startswith("─")
    assert as_latex(sheet).count(r"\midrule") == 2


def test_in_a_narrow_terminal_intervals_move_below_and_names_are_cut_in_the_middle() -> None:
    stacked = as_text(SHEET, width=39).splitlines()
    assert stacked[3:5] == ["prep_maxent|v2          .700  A", "                [.652, .748]"]
    long = Sheet("", ("", "n"), (("a-system-with-a-very-long-name-2.1", "7"),))
    assert as_text(long, width=24).splitlines()[-1] == "a-system-w…g-name-2.1  7"
    assert max(map(len, as_text(long, width=24).splitlines())) <= 24


def test_every_way_out_escapes_what_would_break_it() -> None:
    text = as_markdown(SHEET)
    assert "| prep_maxent\\|v2 | .700 [.652, .748] | A |" in text
    assert "|---|---:|---|" in text
    assert text.rstrip().endswith("`evaluate|grater:0.2.0`")
    text = as_latex(SHEET)
    assert r"prep\_maxent\textbar{}v2 & .700 [.652, .748] & A \\" in text
    assert r"\begin{tabular}{lrl}" in text
    assert r"\label{tab:scores}" in text
    assert "% evaluate|grater:0.2.0" in text
    rows = list(csv.reader(io.StringIO(WRITERS["csv"](SHEET))))
    assert rows == [list(SHEET.columns), *map(list, SHEET.rows)]
    html = as_html(Sheet("<b>", ("a",), (("<script>",),), notes=("1 < 2",)))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "<caption>&lt;b&gt;</caption>" in html


def test_columns_that_say_nothing_are_left_out_and_links_follow() -> None:
    sheet = Sheet("", ("system", "kappa", "hits"), (("a", "–", "3"),), links={(0, 2): "hits-of-a"})
    kept = without_empty_columns(sheet)
    assert kept.columns == ("system", "hits")
    assert kept.links == {(0, 1): "hits-of-a"}


def test_a_signature_is_in_a_fixed_order_and_a_digest_knows_where_each_part_ends() -> None:
    signature = Signature("m2", {"ref": "ab12", "beta": "0.5"})
    assert str(signature) == f"m2|grater:{__version__}|beta:0.5|ref:ab12"
    assert digest(["ab", "c"]) != digest(["a", "bc"])
