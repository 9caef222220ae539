"""Human judgments of corrections: corrected sentences as units, marks as items, and tables of the answers.

A corrector's edits are items of kind `edit` (`grater study decide --kind edit`); applying them to the writer's
sentence gives the system's. A system with any edit in the study is assumed to have read all essays, so it left a
sentence without its edits unchanged.

**Marks.** The marks of two annotators in the study's marking jobs are items of kind `mark`; marks that overlap, or
are at the same gap, are merged into one. A job of the task `error` on the kind `mark` verifies them. A job of the
task `fate` asks about every mark that no verifier rejected, for the systems that no such job has covered yet, so a
later system needs new answers only for itself.

`grater prefer` and `grater lab recall` read the tables.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from grater.annotate import content, jobs, judgments
from grater.annotate.judgments import PEOPLE
from grater.annotate.marks import marked_in
from grater.annotate.store import Tx
from grater.annotate.tables import MARK
from grater.annotate.tasks.rank import MOST, WORDS
from grater.corpora.text.sentences import sentences_of
from grater.errors import UsageError
from grater.measure.corrections.recall import GONE, estimate_recall, estimate_remaining
from grater.model import DELETE, EDIT, Essay, Item, Span
from grater.reporting.correctors import Correctors
from grater.reporting.document import ItemList, ItemView
from grater.reporting.items import list_name, texts_of
from grater.tables import Table, as_fates, as_remaining, read_judgments
from grater.tables.schema import LEFT
from grater.uncertainty import generator


@dataclass(frozen=True, slots=True)
class Corrected:
    """A sentence of an essay as each system corrected it."""

    essay: Essay
    span: Span
    by_system: Mapping[str, str]


def corrected_sentences(tx: Tx, *, kind: str = EDIT, essay_ids: Collection[str] = ()) -> Iterator[Corrected]:
    """Every sentence of the study's own essays, as corrected by each system."""
    edits: dict[str, dict[str, list[tuple[Span, str]]]] = defaultdict(lambda: defaultdict(list))
    places = {each.item_id: each.item for each in content.all_items(tx, kind=kind) if each.item is not None}
    systems = set()
    for decision in content.all_decisions(tx):
        item = places.get(decision.item_id)
        if item is None:
            continue
        systems.add(decision.system)
        if decision.flagged and decision.suggestion is not None:
            words = "" if decision.suggestion == DELETE else decision.suggestion
            edits[item.essay_id][decision.system].append((item.span, words))
    if not systems:
        raise UsageError(
            f"no system has items of kind {kind!r} in this study; run correctors with every edit as an item, "
            "grater study decide STUDY --system NAME --kind edit, or import their decisions"
        )
    for essay in content.own_essays(tx):
        if essay_ids and essay.essay_id not in essay_ids:
            continue
        for span in sentences_of(essay):
            yield Corrected(
                essay,
                span,
                {system: _with(essay.text, span, edits[essay.essay_id][system]) for system in sorted(systems)},
            )


def _with(text: str, sentence: Span, edits: Sequence[tuple[Span, str]]) -> str:
    """The sentence after applying the edits, on one line; of two that overlap, only the first is applied."""
    parts, at = [], sentence.start
    for span, words in sorted(edits):
        if span.start < at or span.end > sentence.end:
            continue
        parts += [text[at : span.start], f" {words} " if not len(span) else words]
        at = span.end
    return " ".join("".join([*parts, text[at : sentence.end]]).split())


def rankings(
    tx: Tx, *, kind: str, essay_ids: Collection[str], seed: int, most: int = MOST
) -> Iterator[tuple[Essay, list[tuple[Item, str]]]]:
    """For each sentence with different corrections, up to `most` of these corrections: the items of their systems."""
    for each in corrected_sentences(tx, kind=kind, essay_ids=essay_ids):
        texts = sorted(set(each.by_system.values()))
        if len(texts) < 2:
            continue
        rng = generator(seed, "ranking", each.essay.essay_id, str(each.span.start))
        chosen = {texts[at] for at in rng.permutation(len(texts))[:most].tolist()}
        yield each.essay, _items(each, "rank", each.span, chosen)


def _items(each: Corrected, kind: str, span: Span, texts: Collection[str]) -> list[tuple[Item, str]]:
    return [
        (Item(each.essay.essay_id, span, f"{kind}/{system}"), text)
        for system, text in each.by_system.items()
        if text in texts
    ]


def remaining(
    tx: Tx, *, kind: str, essay_ids: Collection[str], system: str
) -> Iterator[tuple[Essay, list[tuple[Item, str]]]]:
    """Every distinct corrected sentence, with the systems that wrote it."""
    for each in corrected_sentences(tx, kind=kind, essay_ids=essay_ids):
        wanted = {name: text for name, text in each.by_system.items() if system in ("", name)}
        for text in sorted(set(wanted.values())):
            yield each.essay, _items(Corrected(each.essay, each.span, wanted), "remaining", each.span, (text,))


# Marks


@dataclass(frozen=True, slots=True)
class Mark:
    """An error in a source text, with the type given by each rater."""

    item: Item
    types: Mapping[str, str]


def marks(tx: Tx) -> list[Mark]:
    """The marks of the two annotators of each essay; essays that only one has finished are left out."""
    spans: dict[str, list[tuple[Span, str, str]]] = defaultdict(list)
    annotators: dict[str, set[str]] = defaultdict(set)
    for job in jobs.all(tx):
        for essay in marked_in(tx, job.job_id) if job.task == "marking" else ():
            spans[essay.essay_id] += [(edit.span, edit.rater, edit.tag) for edit in essay.edits]
            annotators[essay.essay_id] |= set(essay.annotators)
    pairs = {essay_id: sorted(raters)[:2] for essay_id, raters in annotators.items() if len(raters) > 1}
    are_two = len({rater for pair in pairs.values() for rater in pair}) == 2
    found = []
    for essay_id, pair in sorted(pairs.items()):
        names = {rater: rater if are_two else role for rater, role in zip(pair, ("first", "second"), strict=True)}
        groups: list[list[tuple[Span, str, str]]] = []
        end = -1
        for span, rater, tag in sorted(each for each in spans[essay_id] if each[1] in names):
            is_same = bool(groups) and (span.start < end or span == groups[-1][-1][0])
            groups[len(groups) - is_same :] = [[*(groups[-1] if is_same else []), (span, names[rater], tag)]]
            end = max(end, span.end)
        for group in groups:
            whole = Span(group[0][0].start, max(span.end for span, _, _ in group))
            found.append(Mark(Item(essay_id, whole, MARK), {rater: tag for _, rater, tag in reversed(group)}))
    return found


def accepted_marks(tx: Tx) -> list[Item]:
    """The marks that no verifier rejected; all marks if nobody verified any."""
    rejected = {row["item"] for row in _answers(tx, "error") if row["label"] != "error"}
    return [mark.item for mark in marks(tx) if mark.item.item_id not in rejected]


def fates(
    tx: Tx, *, kind: str, essay_ids: Collection[str], system: str
) -> Iterator[tuple[Essay, list[tuple[Item, str]]]]:
    """For each mark, the corrections of its sentence by systems that nobody has been asked about yet."""
    by_essay: dict[str, list[Item]] = defaultdict(list)
    for item in accepted_marks(tx):
        by_essay[item.essay_id].append(item)
    if not by_essay:
        raise UsageError("no marks: annotators mark source sentences first, in a job of the task marking")
    asked = {each.item_id for each in content.all_items(tx) if each.kind.startswith("fate/")}
    for each in corrected_sentences(tx, kind=kind, essay_ids=essay_ids or by_essay.keys()):
        for mark in by_essay[each.essay.essay_id]:
            if not each.span.start <= mark.span.start < max(each.span.end, mark.span.start):
                continue
            items = [
                (item, text)
                for item, text in _items(each, "fate", mark.span, set(each.by_system.values()))
                if item.item_id not in asked and system in ("", item.kind.partition("/")[2])
            ]
            if items:
                yield each.essay, items


# The answers


def _answers(tx: Tx, task: str) -> Iterator[Mapping[str, object]]:
    for job in jobs.all(tx):
        if job.task == task:
            yield from (row for row in judgments.table(tx, job.job_id) if row["group"] in PEOPLE)


MOST_SHOWN = 50


def corrector_results(tx: Tx) -> Correctors | None:
    """Recall, each system's missed errors, and remaining errors; None if no job asked about them."""
    tables = answer_tables(tx)
    recall = left = None
    lists: list[ItemList] = []
    if {"marks", "fates"} <= tables.keys():
        verified = read_judgments(tables["verified"], name="verified") if "verified" in tables else None
        recall = estimate_recall(
            read_judgments(tables["marks"], name="marks"), as_fates(tables["fates"]), verified=verified
        )
        lists = list(_missed(tx, tables["fates"]))
    if "remaining" in tables:
        left = estimate_remaining(as_remaining(tables["remaining"]))
    return Correctors(recall, left, tuple(lists)) if recall or left else None


def _missed(tx: Tx, fates: pl.DataFrame) -> Iterator[ItemList]:
    """For each system, the marks that most answers do not call gone."""
    places = {item.item_id: item for item in accepted_marks(tx)}
    rows = [(name, item.essay_id, item.span.start, item.span.end) for name, item in places.items()]
    table = Table("items", pl.DataFrame(rows, ["item", "essay", "start", "end"], orient="row"), "marks")
    texts = texts_of(table, list(content.essays_of(tx, sorted({item.essay_id for item in places.values()}))))
    for [system], own in fates.sort("system", "item").group_by("system", maintain_order=True):
        by_item: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for item, rater, label in own.select("item", "rater", "label").iter_rows():
            by_item[item].append((rater, label))
        views = [
            ItemView(item, *texts.around(item), labels=tuple(verdicts), decisions=())
            for item, verdicts in by_item.items()
            if item in places and 2 * sum(label == GONE for _, label in verdicts) < len(verdicts)
        ]
        name, title = list_name(f"{system}", "missed-error"), f"Errors that {system} did not correct"
        yield ItemList(name=name, title=title, n_items=len(views), items=tuple(views[:MOST_SHOWN]))


def answer_tables(tx: Tx) -> dict[str, pl.DataFrame]:
    """Rankings, marks with verification and fates, and remaining errors, as far as they exist.

    Empty if no job asks about corrections, even if essays were marked.
    """
    if not {"rank", "fate", "remaining"} & {job.task for job in jobs.all(tx)}:
        return {}
    known = {each.item_id: each for each in content.all_items(tx)}
    documents = {
        essay.essay_id: str(essay.metadata.get("document") or essay.essay_id) for essay in content.all_essays(tx)
    }
    rows: dict[str, list[dict[str, object]]] = defaultdict(list)
    of_marks = marks(tx)
    ids = {mark.item.item_id for mark in of_marks}
    for task in ("rank", "fate", "remaining"):
        for row in _answers(tx, task):
            each = known[str(row["item"])]
            if each.item is None:
                continue
            essay_id, span = each.item.essay_id, each.item.span
            own = {"item": f"{essay_id}:{span.start}-{span.end}", "system": each.kind.partition("/")[2]}
            own |= {"rater": str(row["rater"])}
            document = {"document": documents[essay_id]}
            if task == "rank":
                rows["rankings"].append(
                    {**own, "ranking": row["job"], "rank": row["label"], "output": each.payload[WORDS], **document}
                )
            elif task == "fate":
                own["item"] = Item(essay_id, span, MARK).item_id
                rows["fates"] += [{**own, "label": row["label"]}] if own["item"] in ids else []
            else:
                counts = cast("Mapping[str, object]", row["payload"])
                rows["remaining"].append({**own, **{name: counts[name] for name in (*LEFT, WORDS)}, **document})
    for mark in of_marks:
        for rater, tag in mark.types.items():
            place = {"essay": mark.item.essay_id, "document": documents[mark.item.essay_id]}
            rows["marks"].append({"item": mark.item.item_id, "rater": rater, "label": tag, **place})
    for row in _answers(tx, "error"):
        if row["item"] in ids:
            rows["verified"].append({name: row[name] for name in ("item", "rater", "label")})
    return {name: pl.DataFrame(some, infer_schema_length=None) for name, some in rows.items()}
