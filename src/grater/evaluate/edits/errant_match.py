"""Which edits meet, in each of ERRANT's modes, for all sentences and all pairs of annotators at once.

An edit is cut into the *units* of its mode: itself, or its tokens.  Units of one sentence that must be equal to
match have one key, a number from 0 on; the rest is counting keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from grater.errors import UnknownName
from grater.evaluate.edits.errant_table import EditTable

Ints: TypeAlias = npt.NDArray[np.int64]
Mode: TypeAlias = Literal["cs", "cse", "ds", "dt"]

MODES: tuple[Mode, ...] = get_args(Mode)
UNCORRECTED = "UNK"
MOST = 1 << 62


@dataclass(frozen=True, slots=True)
class Units:
    """One side of the comparison: for each unit its group, its key and its type (counted in `Matched.types`)."""

    group_sentence: Ints
    group_annotator: Sequence[str]
    group: Ints
    key: Ints
    type_of: Ints

    @property
    def sentence(self) -> Ints:
        return self.group_sentence[self.group]


@dataclass(frozen=True, slots=True)
class Matched:
    """All pairs of annotators: by sentence, then by the hypothesis's annotator, then by the reference's.

    `counts` has a row (tp, fp, fn) for each pair; `ours` and `theirs` are the groups of the pair.
    """

    hypothesis: Units
    reference: Units
    types: tuple[str, ...]
    n_sentences: int
    ours: Ints
    theirs: Ints
    counts: Ints
    n_duplicates: int


def match(references: EditTable, hypotheses: EditTable, *, mode: Mode) -> Matched:
    """Count what every pair of annotators has in common; the sentences must be the same."""
    if mode not in MODES:
        raise UnknownName(f"unknown mode {mode!r} of ERRANT; known: {', '.join(MODES)}")
    once = [_once(table) for table in (hypotheses, references)]
    hypothesis, reference, types = _units(once[0], once[1], mode)
    ours, theirs, n_before = _pairs(hypothesis, reference, n_sentences=len(references.sentences))
    n_duplicates = len(hypotheses.group) + len(references.group) - sum(len(table.group) for table in once)
    counts = _count(hypothesis, reference, ours, theirs, n_before)
    return Matched(hypothesis, reference, types, len(references.sentences), ours, theirs, counts, n_duplicates)


def _once(table: EditTable) -> EditTable:
    """The first of edits that are equal in everything."""
    code = joined(table.group, table.start, table.end, table.tag, table.correction)
    return table.only(np.sort(np.unique(code, return_index=True)[1]))


def _units(hypotheses: EditTable, references: EditTable, mode: Mode) -> tuple[Units, Units, tuple[str, ...]]:
    tags, (tag, other_tag) = _shared(hypotheses.tags, references.tags)
    _, (correction, other_correction) = _shared(hypotheses.corrections, references.corrections)
    sides = [
        _cut(hypotheses, tag[hypotheses.tag], correction[hypotheses.correction], tags, mode),
        _cut(references, other_tag[references.tag], other_correction[references.correction], tags, mode),
    ]
    columns = [np.concatenate(column) for column in zip(*(key for _, _, key in sides), strict=True)]
    code = np.unique(joined(*columns), return_inverse=True)[1]
    keys = np.split(code, [len(sides[0][0])])
    hypothesis, reference = (
        Units(table.group_sentence, table.group_annotator, group, key, type_of)
        for table, (group, type_of, _), key in zip((hypotheses, references), sides, keys, strict=True)
    )
    return hypothesis, reference, tuple(tags)


def _shared(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[str], tuple[Ints, Ints]]:
    """The names of both sides, sorted, and for each side what its own codes are among them."""
    names = sorted({*ours, *theirs})
    places = {name: place for place, name in enumerate(names)}
    return names, (
        np.array([places[name] for name in ours], np.int64),
        np.array([places[name] for name in theirs], np.int64),
    )


def _cut(
    table: EditTable, tag: Ints, correction: Ints, tags: Sequence[str], mode: Mode
) -> tuple[Ints, Ints, tuple[Ints, ...]]:
    """The group and type of each unit, and the columns that its key is made of."""
    sentence = table.group_sentence[table.group]
    if mode == "dt":
        length = np.maximum(table.end - table.start, 1)
        edit = np.repeat(np.arange(len(length)), length)
        token = table.start[edit] + np.arange(len(edit)) - (np.cumsum(length) - length)[edit]
        return table.group[edit], tag[edit], (sentence[edit], token)
    if mode == "ds":
        return table.group, tag, (sentence, table.start, table.end)
    kept = np.array([name != UNCORRECTED for name in tags], np.bool_)[tag]
    columns = (sentence, table.start, table.end, correction, *([tag] if mode == "cse" else []))
    return table.group[kept], tag[kept], tuple(column[kept] for column in columns)


def _pairs(ours: Units, theirs: Units, *, n_sentences: int) -> tuple[Ints, Ints, Ints]:
    """The two groups of each pair, and how many pairs come before those of each hypothesis group."""
    n_theirs = np.bincount(theirs.group_sentence, minlength=n_sentences)
    first_theirs = np.cumsum(n_theirs) - n_theirs
    n_of_group = n_theirs[ours.group_sentence]
    n_before = np.cumsum(n_of_group) - n_of_group
    our_group = np.repeat(np.arange(len(n_of_group)), n_of_group)
    place = np.arange(len(our_group)) - n_before[our_group]
    return (
        our_group,
        first_theirs[ours.group_sentence[our_group]] + place,
        n_before - first_theirs[ours.group_sentence],
    )


def _count(hypothesis: Units, reference: Units, ours: Ints, theirs: Ints, n_before: Ints) -> Ints:
    our_group, our_key, our_n = _tally(hypothesis)
    their_group, their_key, their_n = _tally(reference)
    order = np.argsort(their_key, kind="stable")
    left, right = (np.searchsorted(their_key[order], our_key, side=side) for side in ("left", "right"))
    n_met = right - left
    mine = np.repeat(np.arange(len(our_key)), n_met)
    other = order[np.arange(len(mine)) - np.repeat(np.cumsum(n_met) - n_met, n_met) + np.repeat(left, n_met)]
    pair = n_before[our_group[mine]] + their_group[other]
    tp, n_matched = (_sums(pair, n, len(ours)) for n in (their_n[other], our_n[mine]))
    fp = np.bincount(hypothesis.group, minlength=len(hypothesis.group_sentence))[ours] - n_matched
    fn = np.bincount(reference.group, minlength=len(reference.group_sentence))[theirs] - tp
    return np.stack([tp, fp, fn], axis=1)


def _tally(units: Units) -> tuple[Ints, Ints, Ints]:
    """Each key of each group once, with how often it stands there."""
    _, first, n = np.unique(joined(units.group, units.key), return_index=True, return_counts=True)
    return units.group[first], units.key[first], n


def _sums(place: Ints, values: Ints, n: int) -> Ints:
    return np.bincount(place, weights=values, minlength=n).astype(np.int64)


def joined(*columns: Ints) -> Ints:
    """One number for each row, equal where all columns are."""
    code = columns[0]
    for column in columns[1:]:
        width = int(column.max(initial=0)) + 1
        if int(code.max(initial=0)) >= MOST // width:
            code = np.unique(code, return_inverse=True)[1]
        code = code * width + column
    return code
