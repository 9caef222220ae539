"""Mined lists as tables: the files of `grater mine extraneous` into a study, and out of it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import polars as pl

from grater.detect.mining.ranking import Suspect
from grater.detect.mining.uses import Use, by_trigram
from grater.detect.mining.verdicts import OPEN, suspects_table, verdicts_of
from grater.errors import BadInput, Problem, Problems
from grater.model import Essay
from grater.store import Store, Tx, essays
from grater.store.jobs import Job
from grater.store.people import Person
from grater.study.mining import NUMBERS, Verdict, all_of, decide, keep, uses_in
from grater.study.name_rules import require_name
from grater.tables import Table
from grater.tasks.context import TARGET, pieces_around

Decider: TypeAlias = Callable[[Tx], Person]
"""Finds whoever decides."""


def add_list(store: Store, name: str, table: Table, decider: Decider) -> Job:
    """A list that `grater mine extraneous` wrote; its verdicts, if it has any, are those of `decider`."""
    require_name(name)
    verdicts = {trigram: verdict for trigram, verdict in verdicts_of(table).items() if verdict != OPEN}
    found = _suspects(table, by_trigram(uses_in(store)))
    with store.write() as tx:
        job = keep(tx, name, found, source=table.name)
        for each in all_of(tx, job.job_id) if verdicts else ():
            decide(tx, each, verdicts.get(each.trigram, OPEN), decider(tx))
    return job


def verdict_table(tx: Tx, job_id: str) -> pl.DataFrame:
    """The list as `grater mine extraneous` writes and reads it."""
    found = all_of(tx, job_id)
    texts = {essay.essay_id: essay for essay in essays.of_ids(tx, [each.listed.item.essay_id for each in found])}
    firsts = [_first_use(each, texts[each.listed.item.essay_id]) for each in found]
    table = suspects_table(
        [Suspect(use.trigram, uses=(use,), **each.numbers(NUMBERS)) for each, use in zip(found, firsts, strict=True)],
        {each.trigram: each.verdict for each in found},
    )
    return table.with_columns(n_uses=pl.Series([each.n_uses for each in found], dtype=pl.Int64))


def _first_use(each: Verdict, essay: Essay) -> Use:
    span = each.listed.item.span
    pieces = pieces_around(essay, span, mark=TARGET)
    offset = 0 if pieces[0].mark else len(pieces[0].text)
    context = "".join(piece.text for piece in pieces)
    document = str(essay.metadata.get("document") or "")
    first, middle, last = each.trigram.split(" ")
    return Use((first, middle, last), essay.essay_id, document, span, context, offset)


def _suspects(table: Table, uses: Mapping[str, Sequence[Use]]) -> list[Suspect]:
    """The rows of a list as suspects, at the places where the study's essays have them."""
    problems = Problems(table.name)
    found: dict[str, Suspect] = {}
    for line, row in enumerate(table.frame.iter_rows(named=True), 2):
        trigram = " ".join(str(row["trigram"] or "").split())
        if trigram not in uses:
            problems.add(f"expected a trigram of the study's essays, found {trigram!r}", line=line)
        elif trigram in found:
            problems.add(f"expected every trigram once, found {trigram!r} again", line=line)
        else:
            numbers = {name: _number(row.get(name), name, problems, line) for name in NUMBERS}
            found[trigram] = Suspect(uses[trigram][0].trigram, uses=tuple(uses[trigram]), **numbers)
    problems.done()
    if not found:
        raise BadInput(Problem(table.name, "expected trigrams, found none"))
    return list(found.values())


def _number(cell: object, name: str, problems: Problems, line: int) -> float:
    try:
        value = float(str(cell))
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        problems.add(f"{name}: expected a number, found {str(cell)[:20]!r}", line=line)
    return value
