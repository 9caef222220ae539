"""What the check reports: findings, which are defects, and a census of what looks odd but is allowed.

NUCLE lets annotators mark overlapping spans (section 2), give one error several tags (section 4) and leave `Um`,
`Cit` and `Wa` without a correction; it also grows spans that start or end inside a word (section 3).  Such edits are
counted, never a defect.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, TypeAlias

from grater.errors import UsageError
from grater.model import Edit, Essay, Json, Span
from grater.result import Result, encode
from grater.sheet import Sheet, counted

if TYPE_CHECKING:
    import polars as pl

MOST_CHARACTERS = 60

_RULES = (
    "across-sentences changes-nothing coverage duplicate empty equals-text files-differ no-correction noop "
    "odd-characters redundancy same-id unknown-tag unreadable whitespace"
)
RULES = tuple(_RULES.split())

Known: TypeAlias = tuple[str, str, str]
"""A finding that was accepted before: rule, essay, message.  Lines and paths may move."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A defect of a corpus; `line` is that of the edit or essay in its file, where the format has lines."""

    rule: str
    essay_id: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.message} [{self.rule}]"


def shown(words: str) -> str:
    """Words in quotes, with what cannot be seen spelt out, cut where they are long."""
    return repr(words if len(words) <= MOST_CHARACTERS else words[: MOST_CHARACTERS - 1] + "…")


def described(edit: Edit, essay: Essay) -> str:
    """The edit in a few words: `Mec 'teh' → 'the'`, or `Mec after 'So' → ','` where it covers no character."""
    corrections = " or ".join(map(shown, edit.replacements)) or "no correction"
    if len(edit.span):
        return f"{edit.tag} {shown(edit.span.of(essay.text))} → {corrections}"
    words = essay.text[max(0, edit.span.start - MOST_CHARACTERS) : edit.span.start].split()
    where = f"after {shown(words[-1])}" if words else "at the start"
    return f"{edit.tag} {where} → {corrections}"


@dataclass(frozen=True, slots=True)
class Census:
    """Counts of allowed oddities; they add up.

    `overlaps` are pairs of edits by one rater whose spans share characters and differ; `second_tags` and
    `alternatives` are further edits of one rater on the same span, with another tag or with the same tag and another
    correction; `uncorrected` are edits without a correction whose tag owes none; `inside_words` are edits that start
    or end inside a word.
    """

    essays: int = 0
    edits: int = 0
    overlaps: int = 0
    second_tags: int = 0
    alternatives: int = 0
    uncorrected: int = 0
    inside_words: int = 0

    def __add__(self, other: Census) -> Census:
        names = [column.name for column in fields(self)]
        return Census(**{name: getattr(self, name) + getattr(other, name) for name in names})

    def notes(self) -> list[str]:
        """The oddities there are, in words."""
        sizes = ("essays", "edits")
        odd = {name.replace("_", " "): n for name, n in asdict(self).items() if n and name not in sizes}
        return ["allowed, and only counted: " + ", ".join(f"{n:,} {name}" for name, n in odd.items())] if odd else []


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult(Result):
    """The findings of several corpora, each with the name of its file, and the census of all of them."""

    findings: tuple[tuple[str, Finding], ...]
    census: Census

    @property
    def by_rule(self) -> dict[str, int]:
        """How many findings each rule has, the most first."""
        return dict(Counter(finding.rule for _, finding in self.findings).most_common())

    def chosen(self, *, only: Collection[str] = (), ignore: Collection[str] = ()) -> CheckResult:
        """The findings of some rules; each name must be a rule."""
        if unknown := sorted({*only, *ignore} - set(RULES)):
            raise UsageError(f"expected rules among {', '.join(RULES)}, found {', '.join(unknown)}")
        kept = [
            (name, finding)
            for name, finding in self.findings
            if (not only or finding.rule in only) and finding.rule not in ignore
        ]
        return CheckResult(tuple(kept), self.census)

    def without_known(self, known: Counter[Known]) -> CheckResult:
        """The findings that a baseline does not have; each of its findings excuses one."""
        left, new = known.copy(), []
        for name, finding in self.findings:
            key = (finding.rule, finding.essay_id, finding.message)
            if left[key] > 0:
                left[key] -= 1
            else:
                new.append((name, finding))
        return CheckResult(tuple(new), self.census)

    def to_dict(self) -> dict[str, Json]:
        findings: list[Json] = [{"file": name, **encode(finding)} for name, finding in self.findings]
        return {"findings": findings, "by_rule": encode(self.by_rule), "census": encode(self.census)}

    def to_frame(self) -> pl.DataFrame:
        """One finding per row."""
        import polars as pl  # the lines on a terminal need not wait for it

        types = {"file": pl.String, "rule": pl.String, "essay_id": pl.String, "line": pl.Int64, "message": pl.String}
        rows = [
            (name, finding.rule, finding.essay_id, finding.line, finding.message) for name, finding in self.findings
        ]
        return pl.DataFrame(rows, schema=types, orient="row")

    def sheets(self) -> list[Sheet]:
        rows = [
            (name, "" if finding.line is None else str(finding.line), finding.essay_id, finding.rule, finding.message)
            for name, finding in self.findings
        ]
        columns = ("file", "line", "essay", "rule", "message")
        sizes = f"{counted(self.census.essays, 'essay')}, {counted(self.census.edits, 'edit')}"
        return [Sheet("Findings", columns, tuple(rows), (f"{sizes}.", *self.census.notes()), name="findings")]


def census_of(essay: Essay, *, exempt: Collection[str]) -> Census:
    """The counts of one essay; `exempt` are the tags that owe no correction."""
    by_rater: defaultdict[str, list[Edit]] = defaultdict(list)
    for edit in essay.edits:
        by_rater[edit.rater].append(edit)
    return Census(
        essays=1,
        edits=len(essay.edits),
        overlaps=sum(map(_n_overlaps, by_rater.values())),
        second_tags=sum(map(_n_second_tags, by_rater.values())),
        alternatives=sum(map(_n_alternatives, by_rater.values())),
        uncorrected=sum(not any(edit.replacements) and edit.tag in exempt for edit in essay.edits),
        inside_words=sum(_is_inside_word(edit, essay.text) for edit in essay.edits),
    )


def _n_overlaps(edits: list[Edit]) -> int:
    """In the order of spans, all that came before a span overlap it but those that ended and those that are the same.

    However many spans are open at once, each is looked up once: an annotator's draft is checked at every save.
    """
    spans = sorted(edit.span for edit in edits)
    ends = sorted(span.end for span in spans)
    n_overlaps, n_same = 0, Counter[Span]()
    for n_before, span in enumerate(spans):
        if len(span):
            n_overlaps += n_before - bisect_right(ends, span.start) - n_same[span]
        n_same[span] += 1
    return n_overlaps


def _n_second_tags(edits: list[Edit]) -> int:
    return len({(edit.span, edit.tag) for edit in edits}) - len({edit.span for edit in edits})


def _n_alternatives(edits: list[Edit]) -> int:
    contents = {(edit.span, edit.tag, edit.replacements) for edit in edits}
    return len(contents) - len({(edit.span, edit.tag) for edit in edits})


def _is_inside_word(edit: Edit, text: str) -> bool:
    return any(
        0 < offset < len(text) and text[offset - 1].isalnum() and text[offset].isalnum()
        for offset in (edit.span.start, edit.span.end)
    )
