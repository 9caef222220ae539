"""The corpus study as tables: what stands where, and nothing twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grater.corpora.statistics import CorpusStatistics, corpus_statistics
from grater.model import Essay
from grater.sheet import as_text
from tests.cli.running import widest
from tests.corpora.statistics.essays import edit, m2_block, two_sentences

MARKED = [
    two_sentences(edit(11, 15, "likes", tag="SVA"), edit(37, 39, "", tag="Rloc"), language="Tamil"),
    two_sentences(edit(11, 15, "likes", tag="SVA"), essay_id="two", language="[bold]"),
]
BLOCKS = [m2_block(f"Number {number} is well .", annotators=("0", "1")) for number in range(3)]


def study(*corpora: list[Essay], by: str | None = None) -> CorpusStatistics:
    names = {f"corpus-{number}": essays for number, essays in enumerate(corpora)}
    return corpus_statistics(names, by=by)


def shown(*corpora: list[Essay], by: str | None = None, width: int = 80) -> str:
    """What a terminal of this width shows."""
    return "\n".join(as_text(sheet, width=width) for sheet in study(*corpora, by=by).sheets())


@pytest.mark.parametrize("n_corpora", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("essays", [MARKED, BLOCKS, []])
def test_table_fits_a_terminal(essays: list[Essay], n_corpora: int) -> None:
    text = shown(*[essays] * n_corpora)
    assert widest("\n".join(line for line in text.splitlines() if "  " in line)) <= 80


def test_the_sheets_show_bars_dashes_and_fields_as_they_are() -> None:
    lines = [line for line in shown(MARKED).splitlines() if "█" in line]
    assert [line.split()[:2] for line in lines] == [["SVA", "2"], ["Rloc", "1"]]
    assert [line.count("█") for line in lines] == [30, 15]
    text = shown(BLOCKS)
    assert next(line for line in text.splitlines() if "Documents" in line).split() == ["Documents", "–"]
    assert "3 sentences do not say which document they come from" in text
    marked = [replace(essay, metadata={"[/bold]": "yes"}) for essay in MARKED]
    assert "By [/bold]" in shown(marked, by="[/bold]")


def test_frame_has_one_number_per_row() -> None:
    frame = study(MARKED, BLOCKS, by="language").to_frame()
    assert frame.columns == ["corpus", "by", "group", "measure", "value", "low", "high"]
    assert set(frame["corpus"]) == {"corpus-0", "corpus-1", "all"}
    tamil = frame.filter(corpus="corpus-0", by="language", group="Tamil", measure="edits")
    assert tamil["value"].to_list() == [2.0]
    assert frame.filter(measure="documents", corpus="corpus-1")["value"].to_list()[0] is None
