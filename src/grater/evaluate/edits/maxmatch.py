"""MaxMatch (M2): the edits of a system, read in the way that agrees best with those of an annotator.

Dahlmeier and Ng 2012, "Better evaluation for grammatical error correction", with the counts of their scorer, which
was that of the CoNLL-2014 shared task (nusnlp/m2scorer, read at commit d12eea2; its published version is 3.2).
Each step has a module of its own: all best alignments (`lattice`), edits of several words (`lattice_arcs`), the way
through them that meets most gold edits (`maxmatch_search`), the annotator that a sentence is scored against
(`maxmatch_choice`).

Counts are the official scorer's for every sentence, for ties too, where the order of its work decides
(`maxmatch_replay`).  Departures: where a sentence has so many arcs that the official scorer would take minutes or
hours, ties go to the fewest edits; there is no option that takes a change of case or spacing for none (the official
`--ignore_whitespace_casing`).

Edge cases: an annotator without edits counts in full, so that a sentence which needs no correction rewards a system
that makes none.  Where two gold edits of one annotator are the same, one edit counts for both, and false positives
may come out negative; precision is still correct edits by proposed ones.  By the official convention precision and
recall are 1 where they are 0/0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from grater.errors import UsageError
from grater.evaluate.edits.maxmatch_choice import Chosen, choose_references
from grater.evaluate.edits.maxmatch_gold import GoldEdit, corrected_tokens, gold_edits, source_tokens
from grater.evaluate.edits.maxmatch_sentence import Counts, maxmatch_counts
from grater.model import Essay

__all__ = [
    "Chosen",
    "Counts",
    "GoldEdit",
    "Hypothesis",
    "choose_references",
    "corrected_tokens",
    "count_systems",
    "gold_edits",
    "maxmatch_counts",
    "score_maxmatch",
    "score_systems",
    "source_tokens",
]

Hypothesis: TypeAlias = Sequence[str] | Essay
"""A corrected sentence: its tokens, or an M2 essay whose edits are to be applied."""


def score_maxmatch(
    references: Sequence[Essay], hypotheses: Sequence[Hypothesis], *, max_unchanged: int = 2, beta: float = 0.5
) -> Chosen:
    """One system: for each sentence the annotator chosen, and true positives, false positives, false negatives."""
    return score_systems(references, {"hypotheses": hypotheses}, max_unchanged=max_unchanged, beta=beta)["hypotheses"]


def score_systems(
    references: Sequence[Essay],
    systems: Mapping[str, Sequence[Hypothesis]],
    *,
    max_unchanged: int = 2,
    beta: float = 0.5,
) -> dict[str, Chosen]:
    """Many systems against the same references, which are prepared once."""
    counted = count_systems(references, systems, max_unchanged=max_unchanged)
    return {system: choose_references(counts, beta=beta) for system, counts in counted.items()}


def count_systems(
    references: Sequence[Essay], systems: Mapping[str, Sequence[Hypothesis]], *, max_unchanged: int = 2
) -> dict[str, list[dict[str, Counts]]]:
    """For each system and each sentence the counts against every annotator, before one is chosen."""
    if max_unchanged < 0:
        raise UsageError(f"expected a number of unchanged words from 0 on, found {max_unchanged}")
    for system, hypotheses in systems.items():
        if len(hypotheses) != len(references):
            raise UsageError(
                f"{system}: expected {len(references):,} sentences, as many as the reference has, "
                f"found {len(hypotheses):,}; give one line for each sentence, empty ones too"
            )
    counted: dict[str, list[dict[str, Counts]]] = {system: [] for system in systems}
    for place, essay in enumerate(references):
        source, gold = source_tokens(essay), gold_edits(essay)
        seen: dict[tuple[str, ...], dict[str, Counts]] = {}
        for system, hypotheses in systems.items():
            hypothesis = _tokens(hypotheses[place], source, where=f"{system}: sentence {place + 1}")
            if hypothesis not in seen:
                seen[hypothesis] = maxmatch_counts(source, hypothesis, gold, max_unchanged=max_unchanged)
            counted[system].append(seen[hypothesis])
    return counted


def _tokens(hypothesis: Hypothesis, source: tuple[str, ...], *, where: str) -> tuple[str, ...]:
    if not isinstance(hypothesis, Essay):
        return tuple(hypothesis)
    found = source_tokens(hypothesis)
    if found != source:
        raise UsageError(
            f"{where}: expected the reference's sentence {' '.join(source)!r}, found {' '.join(found)!r}; "
            "give hypotheses for the same sentences, tokenised alike"
        )
    return corrected_tokens(hypothesis)
