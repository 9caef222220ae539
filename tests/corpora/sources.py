"""Formats tried on strings, without files; and essays with anything in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

from grater.corpora.formats import FileFormat, Loss
from grater.corpora.m2 import token_spans_of_line
from grater.errors import BadInput
from grater.model import Edit, Essay, Json, Span, short_hash


@dataclass(frozen=True, slots=True)
class TextSource:
    text: str
    name: str = "test"

    def lines(self) -> Iterator[str]:
        start = 0
        while start < len(self.text):
            end = self.text.find("\n", start) + 1 or len(self.text)
            yield self.text[start:end]
            start = end


@dataclass(frozen=True, slots=True)
class Tried:
    """A format whose files are strings, all of one name."""

    format: FileFormat
    name: str = "test"

    def read(self, text: str) -> list[Essay]:
        return list(self.format.read(TextSource(text, self.name)))

    def write(self, *essays: Essay) -> tuple[str, list[Loss]]:
        losses: list[Loss] = []
        return "".join(self.format.write(essays, losses.append)), losses

    def write_and_report(self, *essays: Essay) -> tuple[str, list[str]]:
        """The same with losses in words."""
        text, losses = self.write(*essays)
        return text, [str(loss) for loss in losses]

    def problems_of(self, text: str) -> list[str]:
        with pytest.raises(BadInput) as caught:
            self.read(text)
        return [str(problem) for problem in caught.value.problems]


SHOWN = str.maketrans({"⏎": "\n", "⇥": "\t", "∅": "", "␣": " ", "␀": "\0"})


class Case(NamedTuple):
    """Of a snapshot: the section, what is damaged or written there, and what is answered."""

    base: str
    damage: str
    answers: list[str]


def cases_of(snapshot: Path) -> list[Case]:
    """The cases of a snapshot: `## section`, then `- case` with its answers below it, indented."""
    cases = []
    for section in re.split(r"^## ", snapshot.read_text("utf-8"), flags=re.M)[1:]:
        base, _, rest = section.partition("\n")
        for case in re.split(r"^- ", rest, flags=re.M)[1:]:
            damage, *answers = case.rstrip("\n").split("\n  ")
            cases.append(Case(base, damage.translate(SHOWN), answers))
    return cases


ODD = [*'"\n\r\t\u2028\ufeff\0|', "||", "|||", "-NONE-", "<i>", "</P>", "&lt;", "]]>", "\\n", "=>"]


WORD = st.sampled_from(["My", "cat", "don't", ".", "é🙂"])
PIECE = st.sampled_from(ODD) | st.text(max_size=4)
EXTRAS: list[dict[str, Json]] = [
    {"k": 1},
    {"more": ["x"]},
    {"sgml": {"elements": {"MISTAKE": [{"name": "SEE", "text": "p. <3>"}]}}},
    {"brat": {"id": "T7", "fragments": [[0, 1], [2, 3]]}},
    {"attributes": {"sure": "no"}, "c": [["w", ["NS", {}, ["i", {}, "a"], ["c", {}, "e"]], "nt"]]},
    {"m2_correction": "-NONE-", "m2_comment": ""},
]
METADATA: list[dict[str, Json]] = [
    {"language": "Thai", "age": 19},
    {"titled": True, "sgml": {"attributes": {"DOC": {"a": "<b>"}}, "references": [[0, 1]]}},
    {"brat": {"0": ["A1\tNegated T1", "*\tEquiv T1 T2"]}, "deep": [{"x": None}]},
    {"sortkey": "K", "answer": "answer1", "id": 7},
]


@st.composite
def any_essay(draw: st.DrawFn, *, name: str) -> Essay:
    """An essay with anything that the model allows; or a plain one as M2 or FCE may hold it whole."""
    kind = draw(st.sampled_from(["odd", "odd", "m2", "fce"]))
    is_odd = kind == "odd"
    words = st.lists(WORD | PIECE if is_odd else WORD, max_size=6).map(" ".join)
    text = draw(words)
    tokens = token_spans_of_line(text)
    bounds = sorted({0, len(text), *(at for span in tokens for at in (span.start, span.end))})
    place = st.integers(0, len(text)) if is_odd else st.sampled_from(bounds)
    names = words if is_odd else st.sampled_from("01" if kind == "m2" else "0")
    raters = draw(st.lists(names, unique=True, min_size=0 if is_odd else 1, max_size=3))
    edits = []
    for _ in range(draw(st.integers(0, 4 if raters else 0))):
        span = Span(*sorted(draw(st.tuples(place, place))))
        if is_odd:
            tag = draw(st.sampled_from(["Um", "UNK", "noop"]) | words)
            replacements, comment = draw(st.lists(words, max_size=3)), draw(words)
            extra = draw(st.sampled_from([{}, *EXTRAS]))
        else:
            tag, replacements, comment, extra = draw(st.sampled_from(["Nn", "Rloc"])), [draw(words)], "", {}
        edits.append(Edit(span, tuple(replacements), tag, draw(st.sampled_from(raters)), comment, extra))
    given = {"odd": f"{name}{text}", "m2": short_hash(text), "fce": f"{name}/answer1"}
    return Essay(
        essay_id=given[kind],
        text=text,
        edits=tuple(sorted(edits, key=lambda edit: raters.index(edit.rater))),
        annotators=tuple(raters),
        tokens=draw(st.sampled_from([None, tokens])) if is_odd else tokens if kind == "m2" else None,
        metadata=draw(st.sampled_from([{}, *METADATA])) if is_odd else {},
    )


any_corpus = st.lists(
    st.sampled_from("ab").flatmap(lambda name: any_essay(name=name)),
    min_size=1,
    max_size=2,
    unique_by=lambda essay: essay.essay_id,
)
