"""The form on which an essay is adjudicated: one choice for every place, and what the choices amount to.

For each place the adjudicator takes one annotator's edits, or says that nothing is wrong, or writes an edit of their
own.  What everybody overlooked is marked in the essay itself, on the desk of the marking page, and comes as the field
`more`.  A decision that was made before gives the same form again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from grater.errors import BadInput, Problem
from grater.model import Edit, Span
from grater.store.adjudications import ANNOTATOR
from grater.study.essay_adjudication import Place, Table, changed_tokens, sent_edit
from grater.tasks import Answer
from grater.tasks.marking import SET_ASIDE, TASK, edits_of, read_edits, tagset_of

NOTHING, OWN, MORE = "nothing", "own", "more"


def decided(table: Table, filled: Mapping[str, str]) -> tuple[Edit, ...]:
    """The edits that the choices come to; a place without a choice is a problem."""
    edits: list[Edit] = []
    open_places = []
    for number, place in enumerate(table.places, 1):
        choice = filled.get(f"choice {place.name}", "")
        by_letter = {opinion.rater: opinion.edits for opinion in place.opinions}
        if choice == OWN:
            edits.append(_own(table, place, filled, number))
        elif choice in by_letter:
            edits += by_letter[choice]
        elif choice != NOTHING:
            open_places.append(number)
    if open_places:
        named = ", ".join(map(str, open_places))
        raise BadInput(Problem("form", f"not decided yet: {named}"))
    by_content = {_content(edit): edit for edit in [*edits, *more_of(table, filled)]}
    return tuple(sorted(by_content.values(), key=lambda edit: edit.span))


def more_of(table: Table, filled: Mapping[str, str]) -> tuple[Edit, ...]:
    """What the adjudicator marked anew, held against the essay like an annotator's work."""
    return read_edits(table.unit.unit, filled.get(MORE) or "[]")


def _own(table: Table, place: Place, filled: Mapping[str, str], number: int) -> Edit:
    spans = {name_of(span): span for span in spans_of(place)}
    tags = tagset_of(table.unit.unit)
    span = spans.get(filled.get(f"words {place.name}", ""))
    tag = filled.get(f"tag {place.name}", "")
    if span is None or tag not in tags:
        raise BadInput(
            Problem("form", f"place {number}: choose the words and the kind of error for your own correction")
        )
    words = filled.get(f"correction {place.name}", "")
    is_left_open = not words and not (tags[tag].owes_correction and len(span))
    replacements = () if is_left_open else (words,)
    return Edit(span, replacements, tag, ANNOTATOR, filled.get(f"comment {place.name}", ""))


def spans_of(place: Place) -> tuple[Span, ...]:
    """The words that an edit of the adjudicator's own can stand for: those of any annotator, and all together."""
    return tuple(dict.fromkeys([*(edit.span for edit in place.edits), place.span]))


def name_of(span: Span) -> str:
    return f"{span.start}-{span.end}"


def earlier_choices(table: Table) -> dict[str, str]:
    """The form as it was decided before; at first only what all annotators say alike is filled in."""
    places = table.places
    filled = {f"choice {place.name}": place.opinions[0].rater for place in places if place.kind == "same"}
    if table.earlier is None:
        return filled
    (answer,) = table.earlier.answers
    gold = edits_of(answer, rater=ANNOTATOR)
    left = list(zip(gold, changed_tokens(table.unit.unit.essay, gold), strict=True))
    for place in places:
        there = [edit for edit, tokens in left if place.tokens.touches(tokens)]
        choice, taken = _earlier_choice(place, there)
        left = [(edit, tokens) for edit, tokens in left if edit not in taken]
        filled |= choice
    filled[MORE] = json.dumps([sent_edit(table.text, edit) for edit, _ in left])
    return filled | ({"set_aside": "1"} if answer.label == SET_ASIDE else {}) | {"comment": table.earlier.comment}


def _earlier_choice(place: Place, gold: Sequence[Edit]) -> tuple[dict[str, str], Sequence[Edit]]:
    """The choice at a place that gives these edits, or some of them, and which."""
    by_content = {_content(edit): edit for edit in gold}
    for opinion in sorted(place.opinions, key=lambda opinion: -len(opinion.edits)):
        said = {_content(edit) for edit in opinion.edits}
        if said <= set(by_content) and (said or not gold):
            return {f"choice {place.name}": opinion.rater}, [by_content[content] for content in said]
    own = next((edit for edit in gold if edit.span in spans_of(place) and len(edit.replacements) <= 1), None)
    if own is None:
        return {f"choice {place.name}": _nobody(place)}, ()
    choice = {
        f"choice {place.name}": OWN,
        f"words {place.name}": name_of(own.span),
        f"tag {place.name}": own.tag,
        f"correction {place.name}": own.replacements[0] if own.replacements else "",
        f"comment {place.name}": own.comment,
    }
    return choice, (own,)


def _nobody(place: Place) -> str:
    """The choice that nothing is wrong at a place: that of an annotator who says so, where there is one."""
    return next((opinion.rater for opinion in place.opinions if not opinion.edits), NOTHING)


def _content(edit: Edit) -> tuple[Span, tuple[str, ...], str, str]:
    return edit.span, edit.replacements, edit.tag, edit.comment


def answers_of(table: Table, edits: Sequence[Edit], *, is_aside: bool) -> tuple[Answer, ...]:
    """Through the task's own reader, so that a decision obeys the same rules as an annotator's work."""
    sent = json.dumps([sent_edit(table.text, edit) for edit in edits])
    return TASK.read(table.unit.unit, {"edits": [sent], "set_aside": ["1"] if is_aside else []}, kept={})


def readable_more(table: Table, filled: Mapping[str, str]) -> tuple[Edit, ...]:
    """What was marked anew, for the page; what cannot be read was complained about already."""
    try:
        return more_of(table, filled)
    except BadInput:
        return ()
