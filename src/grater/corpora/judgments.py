"""Derives judgments of items from the edits of a corpus's annotators, by the rule in docs/corpora.md.

For every item and each annotator of its essay there is one row. It says `error` if a normalised edit of that
annotator with a wanted tag overlaps the item; an edit of another tag there gives `ok` with the flag `context` (match
`tag`) or `error` (match `any`); otherwise it says `ok`.

Our choices where that rule is silent:

- Items have spans of characters, normalised edits of tokens; an item covers every token that it touches.
- An insertion overlaps an item that has words only from inside, between two of its tokens: inserting *the* before
  *car* says nothing about the word *car*. Zero-width items cover insertions: they lie anywhere in the gap between two
  words, and only insertions into that gap count; inside a word nothing counts.
- Edits that change no token are not edits.  An error that was found but not corrected counts like any other.
- With the labels of `usage`, an error is `0`, extraneous, where every correction deletes the words, else `1`; ok is
  `2`. That scheme has no gaps, so items without width are refused.
- `alternatives` are the annotator's corrections by the edits that made the row an error, in order, `-NONE-` for words
  that are to go.  A `|` in a correction would end it there, so it is written `¦`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import polars as pl

from grater.corpora.normalise import TokenEdit, normalised_edits, touched_tokens
from grater.corpora.tagsets import all_tagsets
from grater.corpora.text.tokens import tokens_of
from grater.errors import BadInput, Problem, Problems, UsageError, unknown
from grater.model import DELETE, Essay, Item, Span, document_of, item_at
from grater.tables import Judgments, Table, read_items
from grater.tables.schema import LIST_SEPARATOR

Match: TypeAlias = Literal["tag", "any"]
Labels: TypeAlias = Literal["verdict", "usage"]
"""Error and ok, or those of T&C 2008, 5.1: 0 extraneous, 1 incorrect, 2 correct."""

ERROR, OK, CONTEXT = "error", "ok", "context"
EXTRANEOUS, INCORRECT, CORRECT = "0", "1", "2"
PLACE = ("item", "essay", "start", "end", "kind")
UNREAD = "item in an essay without annotators"


@dataclass(frozen=True, slots=True)
class ItemJudgment:
    """One annotator's verdict on one item, derived from the edits."""

    item: str
    rater: str
    label: str
    flags: str | None = None
    alternatives: str | None = None
    essay: str | None = None
    document: str | None = None


def judgments_from_edits(
    essays: Iterable[Essay],
    items: Mapping[str, Item],
    *,
    tags: Collection[str],
    match: Match = "tag",
    labels: Labels = "verdict",
    documents: Mapping[str, str] | None = None,
    name: str = "corpus",
) -> Judgments:
    """One judgment for every item (by id) and each annotator of its essay, in the order of the essays.

    `documents` has the document of items whose essays are sentences that do not name it.
    """
    gap = next((item_id for item_id, item in items.items() if not len(item.span)), None)
    if labels == "usage" and gap is not None:
        message = f"the labels 0, 1 and 2 are for words in the text; item {gap} is a gap"
        raise BadInput(Problem(name, f"{message}; label gaps error or ok"))
    if match not in ("tag", "any"):
        raise UsageError(f"expected match tag or any, found {match!r}")
    problems = Problems(name)
    waiting: defaultdict[str, list[tuple[str, Item]]] = defaultdict(list)
    for item_id, item in items.items():
        waiting[item.essay_id].append((item_id, item))
    seen: set[str] = set()
    found_tags: set[str] = set()
    rows: list[ItemJudgment] = []
    n_unread, is_placed = 0, False
    for essay in essays:
        found_tags.update(edit.tag for edit in essay.edits)
        if essay.essay_id in seen:
            problems.add(f"expected essay {essay.essay_id!r} once, found it again; merge its annotators first")
        elif essay.essay_id in waiting:
            seen.add(essay.essay_id)
            placed = _placed(essay, waiting[essay.essay_id], problems)
            document, known = document_of(essay), documents or {}
            is_placed |= document != essay.essay_id
            rows += [
                replace(row, essay=essay.essay_id, document=document or known.get(row.item))
                for row in _judged(essay, placed, frozenset(tags), match)
            ]
            n_unread += 0 if essay.annotators else len(placed)
    for essay_id, of_essay in waiting.items():
        if essay_id not in seen:
            shown = ", ".join(item_id for item_id, _ in of_essay[:3]) + (", ..." if len(of_essay) > 3 else "")
            missing = f"expected essay {essay_id!r} of item {shown}, found no such essay"
            problems.add(f"{missing}; give the corpus it is from")
    problems.done()
    for tag in tags:  # a misspelt tag would make items right unnoticed
        if tag not in found_tags and not any(tag in tagset for tagset in all_tagsets()):
            raise BadInput(Problem(name, f"no edit has this tag: {unknown('tag', tag, sorted(found_tags))}"))
    if labels == "usage":  # an error whose every correction deletes the word is extraneous
        of_error = {True: EXTRANEOUS, False: INCORRECT}
        named = [CORRECT if row.label == OK else of_error[row.alternatives == DELETE] for row in rows]
        rows = [replace(row, label=label) for row, label in zip(rows, named, strict=True)]
    names = ("item", "rater", "label", "flags", "alternatives", "essay", *(["document"] if is_placed else []))
    columns = {column: [getattr(row, column) for row in rows] for column in names}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String))
    return Judgments(frame, name, dropped={UNREAD: n_unread} if n_unread else {})


def items_of(decisions: Table, items: Table | None = None) -> dict[str, Item]:
    """The places of all items that systems decided on, from the items table or from columns of the decisions."""
    wanted = decisions.frame["item"].unique(maintain_order=True)
    if items is not None:
        places = items.frame.filter(pl.col("item").is_in(wanted.implode()))
        strangers = wanted.filter(~wanted.is_in(places["item"].implode())).to_list()
        if strangers:
            shown = ", ".join(strangers[:5]) + (", ..." if len(strangers) > 5 else "")
            message = f"expected every item of {decisions.name}, found no row for {len(strangers)} of them: {shown}"
            raise BadInput(Problem(items.name, message))
        return _items(places)
    missing = [column for column in PLACE if column not in decisions.frame.columns]
    if missing:
        columns = f"expected columns {', '.join(PLACE[1:])} that give the positions of items"
        message = f"{columns}, found no {', '.join(missing)}; give the items table too"
        raise BadInput(Problem(decisions.name, message))
    places = decisions.frame.select(PLACE).unique(maintain_order=True)
    return _items(read_items(places, name=decisions.name).frame)


def documents_of_items(*tables: Table | None) -> dict[str, str]:
    """The document of each item, from the tables that name any."""
    named = [table.frame for table in tables if table is not None and "document" in table.frame.columns]
    rows = [frame.select("item", "document").drop_nulls().iter_rows() for frame in named]
    return {str(item): str(document) for of_table in rows for item, document in of_table}


def _items(places: pl.DataFrame) -> dict[str, Item]:
    rows = places.select(PLACE).iter_rows()
    return {item: item_at(essay_id, start, end, kind, item) for item, essay_id, start, end, kind in rows}


def _placed(essay: Essay, items: list[tuple[str, Item]], problems: Problems) -> list[tuple[str, Item]]:
    """The items that lie inside the text."""
    text = Span(0, len(essay.text))
    for item_id, item in items:
        if not text.covers(item.span):
            where = f"essay {essay.essay_id!r} of {len(text)} characters"
            problems.add(f"expected item {item_id} inside {where}, found {item.span.start} to {item.span.end}")
    return [(item_id, item) for item_id, item in items if text.covers(item.span)]


def _judged(
    essay: Essay, items: list[tuple[str, Item]], tags: frozenset[str], match: Match
) -> Iterator[ItemJudgment]:
    if not items or not essay.annotators:
        return
    tokens = tokens_of(essay)
    by_rater: defaultdict[str, list[TokenEdit]] = defaultdict(list)
    for edit in normalised_edits(essay):
        if not edit.is_empty:
            by_rater[edit.rater].append(edit)
    for item_id, item in items:
        tokens_of_item = reach(item.span, tokens)
        for rater in essay.annotators:
            here = [edit for edit in by_rater[rater] if tokens_of_item and overlaps(edit, *tokens_of_item)]
            counting = here if match == "any" else [edit for edit in here if edit.tag in tags]
            if not counting:
                yield ItemJudgment(item_id, rater, OK, flags=CONTEXT if here else None)
                continue
            texts = [" ".join(edit.replacement) or DELETE for edit in counting if edit.replacement is not None]
            alternatives = dict.fromkeys(text.replace(LIST_SEPARATOR, "¦") for text in texts)
            yield ItemJudgment(item_id, rater, ERROR, alternatives=LIST_SEPARATOR.join(alternatives) or None)


def reach(span: Span, tokens: Sequence[Span]) -> tuple[int, int] | None:
    """The tokens [start, end) that a span touches, or the gap before `start`; None inside a word."""
    start, end = touched_tokens(span, tokens)
    return None if not len(span) and start < end else (start, end)


def overlaps(edit: TokenEdit, start: int, end: int) -> bool:
    """Whether a normalised edit affects the tokens [start, end), or the gap before `start`."""
    if start == end:
        return edit.start == edit.end == start
    if edit.start == edit.end:
        return start < edit.start < end
    return edit.start < end and start < edit.end
