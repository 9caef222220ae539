"""docs/tagsets.md says what the code says."""

from __future__ import annotations

from pathlib import Path

from grater.corpora.tagsets import TAGSETS
from grater.corpora.tagsets.page import render_map, render_markdown, render_page

PAGE = Path(__file__).parents[3] / "docs" / "tagsets.md"


def test_the_page_is_made_from_the_code() -> None:
    # To mend: Path("docs/tagsets.md").write_text(render_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == render_page()


def test_a_table_has_one_row_for_every_tag_with_its_example() -> None:
    nucle = TAGSETS["nucle"]
    rows = [line for line in render_markdown(nucle).splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [tag.code for tag in nucle]
    assert "| `SVA` | Subject-verb-agreement | Subject-verb agreement |" in rows[4]
    assert rows[4].endswith("| My neighbour [own → owns] two bakeries. |")


def test_a_tag_without_a_correction_is_marked_as_such() -> None:
    assert render_markdown(TAGSETS["nucle"]).count("Needs no correction.") == 3


def test_a_map_shows_what_has_no_counterpart() -> None:
    assert "| `Cit` | – | none | ERRANT has no type for citations |" in render_map("nucle", "errant")
