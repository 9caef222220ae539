"""The parts of a report: sections with words, figures and tables, and lists of the items behind the numbers.

A figure is a chart (a Vega-Lite specification), its title, and the words that say in plain language what it shows; a
table is a `grater.sheet.Sheet`.  The functions at the end write numbers and lists as prose has them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import isnan
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from grater import __version__, sheet
from grater.model import Interval, Json
from grater.sheet import UNDEFINED, Sheet, Signature, counted, listed
from grater.uncertainty import Scope

Spec: TypeAlias = Mapping[str, Any]
"""A Vega-Lite 5 specification: any JSON."""

Row: TypeAlias = Mapping[str, Any]

MADE = f"Made with grater {__version__}"
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
BIBTEX = str.maketrans({**{each: f"\\{each}" for each in "&%$#_"}, "{": "", "}": "", "\\": "/"})
"""Braces are left out, what LaTeX reads is escaped."""


@dataclass(frozen=True, slots=True, eq=False)
class Figure:
    """`name` is the file's stem; `words` come from the data; `source` is the exhibit of a paper that it follows.

    `narrow` is the same chart for the width of a phone, where the wide one would be too small to read.
    """

    name: str
    title: str
    words: str
    spec: Spec
    source: str = ""
    narrow: Spec | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """A question of the report with its answer in words, figures and tables.

    `warnings` come before the words, the gravest first; `scope` (what the intervals generalise to) below the last
    table.
    """

    name: str
    title: str
    words: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    sheets: tuple[Sheet, ...] = ()
    signature: str = ""
    scope: str = ""
    warnings: tuple[str, ...] = ()


class Measured(Protocol):
    """A result with its method, what its intervals generalise to, and what a reader must know."""

    @property
    def signature(self) -> Signature: ...

    @property
    def scope(self) -> Scope: ...

    @property
    def warnings(self) -> tuple[str, ...]: ...


def section_of(
    result: Measured,
    name: str,
    title: str,
    words: Iterable[str],
    *,
    figures: Iterable[Figure] = (),
    sheets: Iterable[Sheet] = (),
    warnings: Iterable[str] | None = None,
) -> Section:
    """The section of a result, with its signature, scope and warnings, or other `warnings` than these."""
    signature, scope = str(result.signature), result.scope.sentence
    return Section(
        name=name,
        title=title,
        words=tuple(words),
        figures=tuple(figures),
        sheets=tuple(_without(sheet, signature, scope) for sheet in sheets),
        signature=signature,
        scope=scope,
        warnings=sentences(result.warnings if warnings is None else warnings),
    )


def _without(sheet: Sheet, signature: str, scope: str) -> Sheet:
    """A table of the result without what the section says of all of its tables."""
    own = "" if sheet.signature == signature else sheet.signature
    return replace(sheet, signature=own, notes=tuple(note for note in sheet.notes if note != scope))


@dataclass(frozen=True, slots=True)
class ItemView:
    """One judged item as a reader meets it behind a number: `labels` by rater, `decisions` by system.

    `is_whole` is for a whole sentence, in `before`, with no place marked in it; its id is its number.
    """

    item_id: str
    before: str
    target: str
    after: str
    labels: tuple[tuple[str, str], ...]
    decisions: tuple[tuple[str, str], ...]
    is_whole: bool = False
    scores: Mapping[str, float] = field(default_factory=dict)
    """The scores of this item by each system that has scores."""

    @property
    def by_label(self) -> list[tuple[str, list[str]]]:
        """The raters who gave a label, the commonest label first."""
        raters: dict[str, list[str]] = {}
        for rater, label in self.labels:
            raters.setdefault(label, []).append(rater)
        return sorted(raters.items(), key=lambda pair: (-len(pair[1]), pair[0]))


@dataclass(frozen=True, slots=True, eq=False)
class ItemList:
    """The items behind one number: hits, misses, false alarms, contentious ones."""

    name: str
    title: str
    n_items: int
    items: tuple[ItemView, ...]
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Slider:
    """A system's scores at each of its thresholds, the strictest first; `own` is the place of its own flags.

    A point is the threshold (none for flags that no threshold gives), precision, recall, and what it says in words.
    """

    system: str
    flags_high: bool
    points: tuple[tuple[float | None, float, float, str], ...]
    own: int


PARTS = ("Answer", "Can we trust it?", "Detail", "Appendix")
TRUST = ("experts", "agreement", "raters-needed", "raters-needed-without-gold", "annotators", "sampling", "pairs")
APPENDIX = ("raters", "crowds", "effort", "corpus")


def part_of(section: Section) -> str:
    """The part of a report that a section belongs to."""
    return PARTS[1] if section.name in TRUST else PARTS[3] if section.name in APPENDIX else PARTS[2]


@dataclass(frozen=True, slots=True)
class Byline:
    """The author, date and study of a report; empty parts are not shown.  `date` is an ISO day, `2026-11-16`."""

    author: str = ""
    date: str = ""
    study: str = ""

    @property
    def day(self) -> str:
        """`16 November 2026`; whatever is not an ISO day stays as it is."""
        try:
            moment = date.fromisoformat(self.date)
        except ValueError:
            return self.date
        return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines under the title."""
        study = f"Study: {self.study}" if self.study else ""
        return tuple(part for part in (self.author, self.day, study, MADE) if part)

    def citation(self, title: str) -> str:
        """One line that a reader can put among their references."""
        year = f" ({self.date[:4]})" if self.date else ""
        begin = f"{self.author}{year}. {title}." if self.author else f"{title}{year}."
        report = f"Report of the study {self.study}" if self.study else "Report"
        rest = ", ".join(filter(None, (report, self.day)))
        return f"{begin.replace('?.', '?')} {rest}. {MADE}."

    def bibtex(self, title: str) -> str:
        """The same as an entry for BibTeX."""
        name = re.sub(r"\W+", "", (self.author or title).split()[-1] if (self.author or title).split() else "")
        published = ", ".join(filter(None, (f"Report of the study {self.study}" * bool(self.study), self.day)))
        fields = {"author": self.author, "title": title, "year": self.date[:4], "howpublished": published}
        fields["note"] = MADE
        rows = "".join(f"  {key} = {{{value.translate(BIBTEX)}}},\n" for key, value in fields.items() if value)
        return f"@misc{{{(name or 'report').lower()}{self.date[:4]},\n{rows}}}"


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The whole, in reading order: the `headline` in words, the `answer`, the sections, the lists of items.

    The first line of the headline is a sentence to quote, about the system `leader`; its last lines are the `notes`,
    what a reader must know first.  `examples` are a few sentences of the lists behind the scores of the leader, each
    under a heading of its own; `sliders` are what systems would score at other thresholds.  `left_out` lists the
    parts without data, and the data that they need.
    """

    title: str
    headline: tuple[str, ...]
    sections: Sequence[Section]
    lists: Sequence[ItemList] = ()
    left_out: tuple[str, ...] = ()
    made: str = ""
    lists_title: str = "The items behind the numbers"
    notes: tuple[str, ...] = ()
    answer: Section | None = None
    byline: Byline = field(default_factory=Byline)
    leader: str = ""
    examples: Sequence[ItemList] = ()
    sliders: Sequence[Slider] = ()
    files: tuple[Path, ...] = ()
    """The files written: the page first, the headline figure last."""

    def to_dict(self) -> dict[str, Json]:
        """Where the report is, and what a reader must know."""
        page = {"report": str(self.files[0])} if len(self.files) > 1 else {}
        return {**page, "files": [str(path) for path in self.files], "warnings": list(self.warnings)}

    def lines(self) -> list[str]:
        """The output of a command: the place of the report, or the headline if nothing was written."""
        if len(self.files) > 1:
            folder = self.files[0].parent
            return [f"the report is {self.files[0]}; {counted(len(self.figures), 'figure')} in {folder}/figures"]
        scope = next(filter(None, (section.scope for section in self.sections)), "")
        return [f"the figure is {self.files[0]}"] if self.files else [*self.headline, *filter(None, [scope])]

    def __repr__(self) -> str:
        parts = ", ".join(section.name for section in self.sections)
        warnings = [f"Warning: {line}" for line in self.warnings]
        more = f"and {len(self.sections)} sections: {parts}"
        return "\n".join([f"<Report {self.title!r}>", *self.headline[:1], *warnings, more])

    @property
    def also(self) -> tuple[str, ...]:
        """The lines of the headline after the first, without the notes."""
        return tuple(line for line in self.headline[1:] if line not in self.notes)

    @property
    def deduplicated(self) -> Report:
        """The same from top to bottom: every section begins with its finding, and none repeats a warning.

        The first sentence of the headline stands above all; the others lead the answer, or their own section.
        """
        shown: set[str] = set()
        shorter = []
        own = {line for section in self.sections for line in section.words}
        leading = tuple(line for line in self.also if line not in own)
        for section in self.parts:
            words = leading if section is self.answer else section.words
            warnings = tuple(line for line in section.warnings if line not in shown)
            words = tuple(line for line in words if line not in self.headline[:1])
            shorter.append(replace(section, words=words, warnings=warnings))
            shown.update(section.warnings)
        return replace(self, answer=shorter.pop(0) if self.answer else None, sections=shorter)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of every part, each once, those of the answer first."""
        return tuple(dict.fromkeys(line for section in self.parts for line in section.warnings))

    @property
    def parts(self) -> tuple[Section, ...]:
        """The answer, where there is one, and every section."""
        return (*([self.answer] if self.answer else []), *self.sections)

    @property
    def by_part(self) -> dict[str, list[Section]]:
        """The sections after the answer by part; empty parts are left out."""
        grouped = {part: [each for each in self.sections if part_of(each) == part] for part in PARTS}
        return {part: sections for part, sections in grouped.items() if sections}

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for section in self.parts for figure in section.figures)

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        return tuple(table for section in self.parts for table in section.sheets)

    @property
    def citation(self) -> str:
        return self.byline.citation(self.title)

    @property
    def bibtex(self) -> str:
        return self.byline.bibtex(self.title)


def interval(estimate: Interval, *, digits: int = 3) -> str:
    """`.630 [.550, .710]`; an undefined number is a dash, with its reason where there is one."""
    text = sheet.interval(estimate, digits=digits)
    return f"{text} ({estimate.undefined_because})" if isnan(estimate.value) and estimate.undefined_because else text


def sentence(text: str) -> str:
    """A remark as a separate sentence, with a capital and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def sentences(remarks: Iterable[str]) -> tuple[str, ...]:
    """Remarks as sentences, each once."""
    return tuple(dict.fromkeys(map(sentence, remarks)))


def percent_of(part: float, whole: float) -> str:
    """`30 %`."""
    return f"{100 * part / whole:.0f} %" if whole else UNDEFINED


def lead_words(first: str, alike: Sequence[str]) -> str:
    """How clear the first place of a ranking is; `alike` are the systems that do not differ significantly from it."""
    if alike:
        return f"The lead of {first} over {listed(alike)} may be chance."
    return f"The lead of {first} over every other system is significant."
