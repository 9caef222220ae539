"""A marked essay before its adjudicator: every annotator's edits, and where they differ, place by place.

Annotators are letters: whose edit it is should not matter.  A place is a stretch of tokens on which the normalised
edits of the annotators touch (NUCLE, section 3: grown and trimmed, so that *conduct* to *conduct a* and *survey* to
*a survey* are the same edit).  At a place annotators may differ, in the paper's three senses and this order, in
whether there is an error (`identification`), of what `type` it is, and in its `correction`; where they do not, they
say the `same`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from grater.annotate.store import Tx, adjudications, judgments, submissions
from grater.annotate.store.adjudications import Adjudication
from grater.annotate.store.units import StudyUnit
from grater.annotate.tasks.form import TARGET
from grater.annotate.tasks.marking import SET_ASIDE, edits_of
from grater.annotate.tasks.task import Piece
from grater.corpora.normalise import TokenEdit, normalise
from grater.corpora.text.tokens import tokens_of
from grater.model import Edit, Essay, Json, Span

Kind: TypeAlias = Literal["identification", "type", "correction", "same"]
KINDS: tuple[Kind, ...] = ("identification", "type", "correction", "same")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What one annotator says at a place; no edits: nothing is wrong there."""

    rater: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """`span` covers every edit there in the raw text; `tokens` is what they change: no two places share it."""

    span: Span
    tokens: Span
    kind: Kind
    opinions: tuple[Opinion, ...]

    @property
    def name(self) -> str:
        """The same for the same edits, so that a form can come back to it."""
        return f"{self.tokens.start}-{self.tokens.end}"

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(edit for opinion in self.opinions for edit in opinion.edits)


def places_of(essay: Essay, by_rater: Mapping[str, Sequence[Edit]]) -> tuple[Place, ...]:
    """All places of an essay, identification first, then type, then correction, then what is the same."""
    token_edits = _normalised(essay, [edit for edits in by_rater.values() for edit in edits])
    places = [_place(cluster, tuple(by_rater)) for cluster in _clusters(token_edits)]
    return tuple(sorted(places, key=lambda place: (KINDS.index(place.kind), place.span)))


def changed_tokens(essay: Essay, edits: Sequence[Edit]) -> list[Span]:
    """The tokens that each edit changes; a gap between two where it inserts."""
    return [Span(each.start, each.end) for each in _normalised(essay, edits)]


def _normalised(essay: Essay, edits: Sequence[Edit]) -> list[TokenEdit]:
    tokens, is_tokenised = tokens_of(essay), essay.tokens is not None
    return [_first(normalise(edit, essay.text, tokens, is_tokenised=is_tokenised)) for edit in edits]


def _first(alternatives: Sequence[TokenEdit]) -> TokenEdit:
    """The first alternative that changes something speaks for the edit, as in `agreement.edits`."""
    return next((each for each in alternatives if not each.is_empty), alternatives[0])


def _clusters(token_edits: Sequence[TokenEdit]) -> list[list[TokenEdit]]:
    clusters: list[list[TokenEdit]] = []
    reach = Span(-2, -2)
    for each in sorted(token_edits, key=lambda token_edit: (token_edit.start, token_edit.end)):
        span = Span(each.start, each.end)
        if clusters and reach.touches(span):
            clusters[-1].append(each)
            reach = Span(reach.start, max(reach.end, span.end))
        else:
            clusters.append([each])
            reach = span
    return clusters


def _place(cluster: Sequence[TokenEdit], raters: Sequence[str]) -> Place:
    by_rater = {rater: [each for each in cluster if each.rater == rater] for rater in raters}
    edits = [each.edit for each in cluster]
    span = Span(min(edit.span.start for edit in edits), max(edit.span.end for edit in edits))
    tokens = Span(cluster[0].start, max(each.end for each in cluster))
    opinions = tuple(Opinion(rater, tuple(each.edit for each in mine)) for rater, mine in by_rater.items())
    return Place(span, tokens, _kind(list(by_rater.values())), opinions)


def _kind(said: Sequence[Sequence[TokenEdit]]) -> Kind:
    if not all(said):
        return "identification"
    if len({frozenset(each.tag for each in mine) for mine in said}) > 1:
        return "type"
    if len({frozenset((each.start, each.end, each.replacement) for each in mine) for mine in said}) > 1:
        return "correction"
    return "same"


AROUND = 90
"""Characters shown before and after a place."""


@dataclass(frozen=True, slots=True)
class Table:
    """What lies before the adjudicator: every annotator's edits and the earlier decision, if there is one."""

    unit: StudyUnit
    by_rater: Mapping[str, tuple[Edit, ...]]
    aside: tuple[str, ...]
    earlier: Adjudication | None

    @property
    def text(self) -> str:
        return self.unit.unit.essay.text

    @property
    def version(self) -> int:
        return self.earlier.version if self.earlier else 0

    @property
    def places(self) -> tuple[Place, ...]:
        return places_of(self.unit.unit.essay, self.by_rater)

    def corrected(self, place: Place, opinion: Opinion) -> tuple[Piece, ...]:
        """The same passage as it reads when one annotator is followed: the first correction of each edit put in.

        Edits without a correction leave the words; of two that overlap the first one counts.
        """
        before, _, after = self.around(place.span)
        pieces, at = [Piece(before)], place.span.start
        for edit in sorted(opinion.edits, key=lambda edit: edit.span):
            if edit.span.start < at or not edit.replacements:
                continue
            pieces += [Piece(self.text[at : edit.span.start]), Piece(edit.replacements[0], TARGET)]
            at = edit.span.end
        return (*pieces, Piece(self.text[at : place.span.end] + after))

    def around(self, span: Span) -> tuple[str, str, str]:
        """The words before a place, its own, and those behind it."""
        before, after = self.text[: span.start], self.text[span.end :]
        start = _cut(before[-AROUND:], is_front=True) if len(before) > AROUND else before
        end = _cut(after[:AROUND], is_front=False) if len(after) > AROUND else after
        return start, span.of(self.text), end


def table_of(tx: Tx, unit: StudyUnit) -> Table:
    """Every valid marking of the essay, under letters in the order in which they came."""
    by_rater: dict[str, tuple[Edit, ...]] = {}
    aside = []
    valid = [row for row in submissions.of_unit(tx, unit.unit_id) if row.status == "valid"]
    for number, row in enumerate(valid):
        letter = letter_of(number)
        (answer,) = judgments.answers_of(tx, row.submission_id)
        by_rater[letter] = edits_of(answer, rater=letter)
        if answer.label == SET_ASIDE:
            aside.append(letter)
    return Table(unit, by_rater, tuple(aside), adjudications.find(tx, unit.unit_id))


def letter_of(number: int) -> str:
    """What an annotator is called here: whose work it is should not matter."""
    return chr(ord("A") + number) if number < 26 else f"A{number}"


def sent_edit(text: str, edit: Edit) -> dict[str, Json]:
    """An edit as the marking page sends it."""
    return {
        "start": edit.span.start,
        "end": edit.span.end,
        "quote": edit.span.of(text),
        "tag": edit.tag,
        "replacements": list(edit.replacements),
        "comment": edit.comment,
    }


def _cut(words: str, *, is_front: bool) -> str:
    """Cut at a blank, so that no word is shown in half."""
    if is_front:
        return "… " + words.partition(" ")[2] if " " in words else "…" + words
    return words.rpartition(" ")[0] + " …" if " " in words else words + "…"
