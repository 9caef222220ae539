"""The check over the real files of CoNLL-2014: it ends, and says what is really wrong with them."""

from __future__ import annotations

from collections import Counter

import pytest

from grater.corpora.check import Census, Finding, check_essays
from grater.corpora.formats import FORMATS, FileFormat
from grater.corpora.source import open_source
from tests.real_data import data_path

pytestmark = pytest.mark.data

OFFICIAL = [f"official/official-2014.{name}" for name in ("0.m2", "1.m2", "combined.m2", "combined-withalt.m2")]
SGML = ["official/official-2014.0.sgml", "official/official-2014.1.sgml"]
TEN = [f"ten-annotators/A{number}.m2" for number in range(1, 11)]


def checked(relative: str) -> tuple[list[Finding], Census]:
    heard: list[Census] = []
    path = data_path(f"conll14/{relative}")
    form = FORMATS["nucle" if path.suffix == ".sgml" else "m2"]
    assert isinstance(form, FileFormat)
    findings = list(check_essays(form.read(open_source(path)), tally=heard.append))
    return findings, heard[0]


@pytest.mark.parametrize(
    "relative", [*OFFICIAL, *SGML, TEN[0], *(pytest.param(name, marks=pytest.mark.slow) for name in TEN[1:])]
)
def test_the_check_ends_on_every_file_and_knows_every_tag(relative: str) -> None:
    findings, census = checked(relative)
    assert census.edits > 0
    assert "unknown-tag" not in Counter(finding.rule for finding in findings)


@pytest.mark.parametrize(("relative", "n_edits"), [(SGML[0], 2397), (SGML[1], 3331)])
def test_the_redundancies_that_remove_nothing_are_found_in_the_sgml_files(relative: str, n_edits: int) -> None:
    findings, census = checked(relative)
    assert census.edits == n_edits
    # Looked at by eye: refers → refers to, and five commas added after a word.
    assert Counter(finding.rule for finding in findings)["redundancy"] == {2397: 1, 3331: 5}[n_edits]


def test_the_combined_file_is_reported_to_drop_an_agreeing_annotator() -> None:
    findings, _ = checked("official/official-2014.combined.m2")
    # Counted against the single files: in all 88 the two have the same corrections (in 73 the same tags too).
    assert [finding.message for finding in findings if finding.rule == "coverage"] == [
        "annotator '1' has no line in 88 of 1,312 sentences although annotator '0' has edits there: a combined file "
        "that drops an annotator who agrees; use the single-annotator files for agreement"
    ]
