"""The corpus study of the NUCLE paper for any annotated corpus (Dahlmeier, Ng & Wu 2013, sections 5 and 6).

`corpus_statistics` gives documents, sentences, tokens, types and edits (Table 5), edits per document and per sentence
(Figures 2, 3), tags (Figure 4), by annotator, by metadata field, and for several corpora side by side, with intervals
on densities and shares.

There is one pass over each corpus, then every number comes from its counts.  The top level adds up the files and the
annotators; a text that stands in two files is counted in both.  A corpus can be divided by a metadata field (first
language, level, score, prompt); an essay without the field is in a row of its own, never dropped.

M2 calls its annotators 0, 1, ... in every file.  Where two files hold the same essays and use the same id, it cannot
be one reading: there the file's stem is the annotator (docs/corpora.md), or `STEM.ID` where several ids of a file
collide, as in `grater.corpora.merge`.  In files of different essays the same id is the same annotator.

A *fingerprint* says which data the numbers were made from: each essay is hashed, once by its id and text and once
with its edits, and the hashes are added up modulo 2^64, so fingerprints add as counts do, whatever the order of
essays or their division into files.  Two files with the same fingerprint of the text hold the same essays, annotated
apart.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeVar

from grater.corpora.merge import stems
from grater.corpora.statistics.counts import (
    Counting,
    EssayCounts,
    Portion,
    Tally,
    TallyRow,
    all_of,
    count_essay,
)
from grater.corpora.statistics.summary import Resampling, Summary, overview, portions, summarise, tag_shares
from grater.errors import UnknownName, UsageError
from grater.model import Essay, Json
from grater.registry import unknown
from grater.result import Result
from grater.sheet import Sheet
from grater.signature import Signature

if TYPE_CHECKING:
    import polars as pl

MOST_COLUMNS = 3
"""Corpora that stand side by side; more of them stand below each other."""


@dataclass(frozen=True, slots=True)
class Study:
    """The numbers of a corpus, and of its parts: by annotator, and by value of a metadata field where one was
    named."""

    name: str
    summary: Summary
    by_annotator: Mapping[str, Summary]
    field: str | None
    by_value: Mapping[str | None, Summary]

    def to_dict(self) -> dict[str, Json]:
        parts: dict[str, Json] = {name: summary.to_dict() for name, summary in self.by_annotator.items()}
        rows: list[Json] = [{"value": value, **summary.to_dict()} for value, summary in self.by_value.items()]
        by: dict[str, Json] = {"by": {"field": self.field, "rows": rows}} if self.field else {}
        return {**self.summary.to_dict(), "by_annotator": parts, **by}

    def parts(self) -> Iterator[tuple[str, str, Summary]]:
        """The whole and its parts, each with what it is divided by and the value of that."""
        yield "", "", self.summary
        for annotator, summary in self.by_annotator.items():
            yield "annotator", annotator, summary
        for value, summary in self.by_value.items():
            yield str(self.field), value or "", summary


@dataclass(frozen=True, slots=True, repr=False)
class CorpusStatistics(Result):
    """The study of all files together, of each, and how it was made; `same_text` names files of the same essays."""

    whole: Study
    files: tuple[Study, ...]
    same_text: tuple[tuple[str, ...], ...]
    signature: Signature

    def to_dict(self) -> dict[str, Json]:
        """The keys of `corpus stats`: the sums at the top level, then each file."""
        files: list[Json] = [{"name": file.name, **file.to_dict()} for file in self.files]
        same: list[Json] = [list(names) for names in self.same_text]
        scope = self.whole.summary.scope.to_dict()
        return {
            **self.whole.to_dict(),
            "files": files,
            "same_text": same,
            "scope": scope,
            "signature": str(self.signature),
        }

    def to_frame(self) -> pl.DataFrame:
        """One number per row: of which corpus, of which part of it, and what it measures."""
        import polars as pl  # the table on a terminal need not wait for it

        studies = self.files if len(self.files) == 1 else (*self.files, self.whole)
        rows = [
            (study.name, by, group, measure, estimate.value, estimate.low, estimate.high)
            for study in studies
            for by, group, summary in study.parts()
            for measure, estimate in summary.measures().items()
        ]
        numbers = dict.fromkeys(("value", "low", "high"), pl.Float64)
        schema = {**dict.fromkeys(("corpus", "by", "group", "measure"), pl.String), **numbers}
        return pl.DataFrame(rows, schema=schema, orient="row").fill_nan(None)

    def sheets(self) -> list[Sheet]:
        whole, short = self.whole, stems(file.name for file in self.files)
        files = {short[file.name]: file.summary for file in self.files}
        sheets = [self._overview(files)]
        if len(files) > MOST_COLUMNS:
            sheets.append(portions("Files", files))
        if len(whole.by_annotator) > 1 and not self._annotators_are_files():
            sheets.append(portions("Annotators", whole.by_annotator))
        if whole.field is not None:
            names = {value or f"(no {whole.field})": summary for value, summary in whole.by_value.items()}
            sheets.append(portions(f"By {whole.field}", names))
        if whole.summary.counts.by_tag:
            sheets.append(tag_shares(whole.summary))
        return [*sheets[:-1], replace(sheets[-1], notes=tuple(self._notes()), signature=str(self.signature))]

    def _overview(self, files: Mapping[str, Summary]) -> Sheet:
        if len(files) == 1:
            return overview(files)
        whole = {"all": self.whole.summary}
        return overview({**files, **whole} if len(files) <= MOST_COLUMNS else whole)

    def _annotators_are_files(self) -> bool:
        """Whether a row for each annotator would only repeat what stands there for each file."""
        one_each = all(len(file.by_annotator) == 1 for file in self.files)
        return one_each and len(self.whole.by_annotator) == len(self.files)

    def _notes(self) -> Iterator[str]:
        """What a reader must know to read the numbers right."""
        summary = self.whole.summary
        if summary.document_counts.unknown:
            yield f"Documents: {summary.document_counts.unknown_because}."
        if summary.counts.unread:
            yield f"No annotator is named for {summary.counts.unread:,} sentences; they are left out of shares."
        if summary.counts.tokens_read > summary.counts.tokens:
            yield "Edits are per reading: a text that two annotators read is counted once for each."
        short = stems(file.name for file in self.files)
        for names in self.same_text:
            yield f"{', '.join(short[name] for name in names)} have the same text; the totals count each."
        yield summary.scope.sentence


Value = TypeVar("Value", str, str | None)

NUMBER = re.compile(r"[-+]?\d{1,18}(\.\d+)?")
PIECE = re.compile(r"(\D*)(\d{0,18})")


def value_of(essay: Essay, field: str) -> str | None:
    """The essay's group as text, none where it is missing or blank."""
    value = essay.metadata.get(field)
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def in_order(values: Iterable[Value]) -> list[Value]:
    """Numbers by size, then words by the alphabet with the numbers in them by size (A2, A10), the missing last."""
    return sorted(values, key=_place)


def _place(value: str | None) -> tuple[int, float, list[tuple[str, int]], str]:
    if value is None:
        return 2, 0.0, [], ""
    if NUMBER.fullmatch(value):
        return 0, float(value), [], value
    return 1, 0.0, [(word, int(digits or 0)) for word, digits in PIECE.findall(value)], value


def require_known(field: str, fields: Iterable[str]) -> None:
    """Refuse a field that no essay has, and name those there are."""
    known = sorted(fields)
    if not known:
        raise UsageError(f"cannot group by {field!r}: no essay here has any metadata")
    if field not in known:
        raise UnknownName(unknown("metadata field", field, known))


MODULUS, HALF = 1 << 64, 1 << 32


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Of the texts alone, and of the texts with their edits."""

    text: int = 0
    data: int = 0

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint((self.text + other.text) % MODULUS, (self.data + other.data) % MODULUS)

    def __str__(self) -> str:
        return f"{self.data:016x}"


def fingerprint(essay: Essay) -> Fingerprint:
    edits = [(edit.span.start, edit.span.end, edit.replacements, edit.tag, edit.rater) for edit in essay.edits]
    return Fingerprint(_hash(f"{essay.essay_id}\0{essay.text}"), _hash(f"{essay.text}\0{essay.annotators}\0{edits}"))


def _hash(content: str) -> int:
    return int.from_bytes(blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def same_text(by_name: Mapping[str, Fingerprint]) -> tuple[tuple[str, ...], ...]:
    """The names of corpora that hold the same essays, group by group."""
    by_text: dict[int, list[str]] = defaultdict(list)
    for name, mark in by_name.items():
        by_text[mark.text].append(name)
    return tuple(tuple(names) for text, names in by_text.items() if text and len(names) > 1)


def names_apart(
    annotators: Mapping[str, Sequence[str]], same_text: Iterable[Sequence[str]]
) -> dict[tuple[str, str], str]:
    """What (file, annotator) is called among all files, where that is not the annotator's id."""
    short, apart = stems(annotators), {}
    for files in same_text:
        times = Counter(annotator for file in files for annotator in annotators[file])
        for file in files:
            colliding = [annotator for annotator in annotators[file] if times[annotator] > 1]
            for annotator in colliding:
                apart[file, annotator] = short[file] if len(colliding) == 1 else f"{short[file]}.{annotator}"
    return apart


@dataclass(frozen=True, slots=True)
class Parts:
    """A corpus divided into portions, ready to be summarised."""

    name: str
    whole: Portion
    by_annotator: Mapping[str, Portion]
    field: str | None
    by_value: Mapping[str | None, Portion]

    def study(self, resampling: Resampling) -> Study:
        whole = summarise(self.whole, resampling)

        def summary(portion: Portion) -> Summary:
            # The only annotator's part, the only group, is the whole again: nothing to resample anew.
            return whole if portion == self.whole else summarise(portion, resampling)

        return Study(
            self.name,
            whole,
            {name: summary(self.by_annotator[name]) for name in in_order(self.by_annotator)},
            self.field,
            {value: summary(self.by_value[value]) for value in in_order(self.by_value)},
        )


def together(parts: Sequence[Parts], field: str | None, same_text: Iterable[Sequence[str]]) -> Parts:
    """Several corpora as one: counts added up, annotators told apart where two files have the same essays."""
    apart = names_apart({part.name: list(part.by_annotator) for part in parts}, same_text)
    by_annotator: dict[str, list[Portion]] = defaultdict(list)
    by_value: dict[str | None, list[Portion]] = defaultdict(list)
    for part in parts:
        for annotator, portion in part.by_annotator.items():
            by_annotator[apart.get((part.name, annotator), annotator)].append(portion)
        for value, portion in part.by_value.items():
            by_value[value].append(portion)
    return Parts(
        "all",
        all_of(part.whole for part in parts),
        {name: all_of(portions) for name, portions in by_annotator.items()},
        field,
        {value: all_of(portions) for value, portions in by_value.items()},
    )


class CorpusTally:
    """The counts of one corpus in the making: the whole, each annotator's part, each group's part."""

    def __init__(self, name: str, field: str | None) -> None:
        self.name = name
        self.field = field
        self.fields: set[str] = set()
        self.fingerprint = Fingerprint()
        self._whole = Tally()
        self._by_annotator: dict[str, Tally] = defaultdict(Tally)
        self._by_value: dict[str | None, Tally] = defaultdict(Tally)

    @classmethod
    def of(cls, name: str, essays: Iterable[Essay], field: str | None, counting: Counting) -> CorpusTally:
        tally = cls(name, field)
        for essay in essays:
            tally.add(essay, count_essay(essay, counting))
        return tally

    def add(self, essay: Essay, counted: EssayCounts) -> None:
        self.fields.update(essay.metadata)
        self.fingerprint += fingerprint(essay)
        self._whole.add(essay, counted.text, counted.by_annotator, counted.words)
        for annotator, reading in counted.by_annotator.items():
            self._by_annotator[annotator].add(essay, counted.text, {annotator: reading}, counted.words)
        if self.field is not None:
            group = self._by_value[value_of(essay, self.field)]
            group.add(essay, counted.text, counted.by_annotator, counted.words)

    def rows(self) -> Iterator[TallyRow]:
        """What was counted, as rows that add up over the parts of a corpus."""
        yield from self._whole.rows()
        for annotator, tally in self._by_annotator.items():
            yield from (replace(row, part="annotator", value=annotator) for row in tally.rows())
        for value, tally in self._by_value.items():
            yield from (replace(row, part="value", value=value) for row in tally.rows())
        yield from (TallyRow(what="field", part="corpus", key=field) for field in self.fields)
        for name in ("text", "data"):  # in halves, so that sums of many stay below 64 bits
            whole = getattr(self.fingerprint, name)
            yield TallyRow(what=name, part="corpus", key="low", n=whole % HALF)
            yield TallyRow(what=name, part="corpus", key="high", n=whole // HALF)

    @classmethod
    def from_rows(cls, name: str, field: str | None, rows: Iterable[TallyRow]) -> CorpusTally:
        """The tally of a corpus whose parts were counted apart."""
        tally = cls(name, field)
        parts = {"annotator": tally._by_annotator, "value": tally._by_value}
        for row in rows:
            if row.part == "all":
                tally._whole.add_row(row)
            elif row.part == "corpus":
                tally._add_row(row)
            else:
                parts[row.part][row.value].add_row(row)  # type: ignore[index]
        return tally

    def _add_row(self, row: TallyRow) -> None:
        if row.what == "field":
            self.fields.add(row.key)
            return
        n = row.n * (HALF if row.key == "high" else 1) % MODULUS
        self.fingerprint += Fingerprint(text=n) if row.what == "text" else Fingerprint(data=n)

    def parts(self) -> Parts:
        return Parts(
            self.name,
            self._whole.portion(),
            {annotator: tally.portion() for annotator, tally in self._by_annotator.items()},
            self.field,
            {value: tally.portion() for value, tally in self._by_value.items()},
        )


def corpus_statistics(
    corpora: Mapping[str, Iterable[Essay]],
    *,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
    seed: int = 0,
    resamples: int = 1000,
) -> CorpusStatistics:
    """The corpus study of named corpora; each is read once, and nothing of it is kept but counts."""
    counting = Counting(merge_alternatives, split_tags)
    tallies = [CorpusTally.of(name, essays, by, counting) for name, essays in corpora.items()]
    return statistics_of(tallies, by, counting, Resampling(seed, resamples))


def statistics_of(
    tallies: Sequence[CorpusTally], by: str | None, counting: Counting, resampling: Resampling
) -> CorpusStatistics:
    """The corpus study of corpora that have been counted."""
    if by is not None:
        require_known(by, {field for tally in tallies for field in tally.fields})
    parts = [tally.parts() for tally in tallies]
    files = tuple(part.study(resampling) for part in parts)
    prints = {tally.name: tally.fingerprint for tally in tallies}
    same = same_text(prints)
    whole = files[0] if len(files) == 1 else together(parts, by, same).study(resampling)
    data = sum(prints.values(), start=Fingerprint())
    return CorpusStatistics(whole, files, same, _signature(whole, counting, resampling, data))


def _signature(whole: Study, counting: Counting, resampling: Resampling, data: Fingerprint) -> Signature:
    options = {
        "alternatives": "merged" if counting.merge_alternatives else "apart",
        "tags": "split" if counting.split_tags else "given",
        "by": whole.field or "none",
        "interval": f"bootstrap-{resampling.level}",
        "unit": whole.summary.unit,
        "resamples": str(resampling.n_resamples),
        "seed": str(resampling.seed),
        "data": str(data),
    }
    return Signature("corpus-stats", options)
