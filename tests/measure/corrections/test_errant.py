"""ERRANT's comparison: its rules by hand, against a slow twin, and against numbers that errant_compare printed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from grater.corpora import read_corpus
from grater.corpora.m2 import FORMAT
from grater.corpora.source import open_source
from grater.errors import UsageError
from grater.measure.corrections.errant import METRIC, MODES, errant_signature, read_table
from grater.measure.corrections.scores import (
    Hypothesis,
    MetricOptions,
    Mode,
    References,
    SentenceCounts,
    Sentences,
    Tier,
)
from grater.model import Edit, Essay, Span
from tests.corpora.sources import TextSource

GOLDENS = Path(__file__).parent / "goldens"
TIERS: tuple[Tier, ...] = ("op", "main", "full")


def essays(m2: str) -> list[Essay]:
    """Blocks with A lines cut short: `A 1 2|||tag|||correction|||annotator`."""
    lines = []
    for line in m2.strip().splitlines():
        if line.startswith("A "):
            span, tag, correction, annotator = line.split("|||")
            line = f"{span}|||{tag}|||{correction}|||REQUIRED|||-NONE-|||{annotator}"
        lines.append(f"{line}\n")
    return list(FORMAT.read(TextSource("".join(lines), "test.m2")))


def scored(references: Sentences, hypotheses: Sentences, *, mode: Mode = "cs", tier: Tier = "full") -> SentenceCounts:
    system = Hypothesis("system", "hypothesis", sentences=hypotheses)
    [counts] = METRIC.count(References("reference", references), [system], MetricOptions(mode=mode, tier=tier))
    return counts


def types(counts: SentenceCounts) -> dict[str, tuple[int, ...]]:
    """For each type tp, fp, fn of all sentences."""
    return {name: tuple(rows.sum(axis=0).tolist()) for name, rows in counts.by_type.items()}


def totals(counts: SentenceCounts) -> tuple[int, ...]:
    return tuple(counts.cells.sum(axis=(0, 1)).tolist())


def test_the_reference_is_chosen_by_the_f_of_the_corpus_so_far() -> None:
    # Alone, sentence 2 has F 0 against both annotators.  After sentence 1 (tp 1, nothing wrong), annotator 0 gives
    # P 1/2, R 1 (F .5556), annotator 1 gives P 1/2, R 1/3 (F .4545).
    references = essays(
        "S It rain .\nA 1 2|||R:VERB|||rains|||0\n\n"
        "S He go .\nA 0 1|||R:PRON|||She|||1\nA 2 3|||R:PUNCT|||!|||1\nA -1 -1|||noop|||-NONE-|||0"
    )
    hypotheses = essays("S It rain .\nA 1 2|||R:VERB|||rains|||0\n\nS He go .\nA 1 2|||R:VERB|||goes|||0")
    score = scored(references, hypotheses)
    assert score.references == ("0", "0")
    assert score.cells.tolist() == [[[1, 0, 0]], [[0, 1, 0]]]
    # Where nothing is right yet, F is 0 against everybody, and the annotator with fewer misses is taken.
    two = essays("S He go .\nA 0 1|||R:PRON|||She|||0\nA 2 3|||R:PUNCT|||!|||0\nA 2 3|||R:PUNCT|||?|||1")
    assert scored(two, hypotheses[1:]).references == ("1",)


def test_essays_without_tokens_and_edits_inside_words_are_refused() -> None:
    plain = Essay("p", "It rain .")
    inside = Essay(
        "i", "It rain .", (Edit(Span(4, 7), ("x",), "R", "0"),), ("0",), (Span(0, 2), Span(3, 7), Span(8, 9))
    )
    with pytest.raises(UsageError, match="no tokens"):
        scored([plain], [plain])
    with pytest.raises(UsageError, match="inside a token"):
        scored([inside], [inside])


GOLDEN = json.loads((GOLDENS / "errant.json").read_text(encoding="utf-8"))


def read(name: str) -> list[list[Essay]]:
    return [list(read_corpus(GOLDENS / f"{name}-{side}.m2")) for side in ("ref", "hyp")]


@pytest.mark.parametrize("mode", MODES)
def test_files_of_our_own_get_the_numbers_of_errant_compare_but_for_duplicates(mode: Mode) -> None:
    # goldens/errant.json: errant 3.0.2, errant_compare -hyp errant-hyp.m2 -ref errant-ref.m2 -MODE -cat 1|2|3
    for tier in TIERS:
        score = scored(*read("errant"), mode=mode, tier=tier)
        assert list(totals(score)) == GOLDEN["plain"][mode]["overall"]
        assert {name: list(n) for name, n in types(score).items()} == GOLDEN["plain"][mode][tier]
    # ERRANT counts the full stop that the hypothesis sets once as two true positives, and so on.
    assert GOLDEN["duplicates"][mode]["overall"] == [3, 2, 4]
    assert totals(scored(*read("errant-duplicates"), mode=mode)) == (2, 1, 3)


@pytest.mark.parametrize("name", ["errant", "errant-duplicates"])
def test_files_read_straight_give_the_same_as_essays(name: str) -> None:
    straight = [read_table(open_source(GOLDENS / f"{name}-{side}.m2")) for side in ("ref", "hyp")]
    by_essays = read(name)
    for mode in MODES:
        first, second = scored(*straight, mode=mode), scored(*by_essays, mode=mode)
        assert np.array_equal(first.cells, second.cells)
        assert types(first) == types(second)
        assert first.references == second.references
    signatures = [errant_signature(side[0], mode="cs", beta=0.5) for side in (straight, by_essays)]
    assert signatures[0] == signatures[1]
