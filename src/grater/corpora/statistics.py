"""The corpus study of the NUCLE paper for any annotated corpus (Dahlmeier, Ng & Wu 2013, sections 5 and 6).

`corpus_statistics` gives documents, sentences, tokens, types and edits (Table 5), edits per document and per sentence
(Figures 2, 3), tags (Figure 4), by annotator, by metadata field, and for several corpora side by side, with intervals
on densities and shares.

Each corpus is read once, and every number is computed from its counts. The top level sums over files and annotators;
a text in two files is counted in both. A corpus can be divided by a metadata field (first language, level, score,
prompt); essays without the field have a separate row.

M2 numbers its annotators 0, 1, ... in every file. If two files have the same essays and use the same id, these are
different readings: the annotator is then named by the file's stem (docs/corpora.md), or `STEM.ID` if several ids of a
file collide, as in `grater.corpora.merge`. In files of different essays, the same id is the same annotator.

A *fingerprint* identifies the data: each essay is hashed, once by its id and text and once with its edits, and the
hashes are summed modulo 2^64, so fingerprints are additive, whatever the order of essays or their division into
files. Two files with the same text fingerprint have the same essays with separate annotations.

Every density and share is a ratio of two sums over blocks (`counts`), with intervals from `grater.uncertainty`. The
top five and ten tags are those of the whole portion, even when a block is left out.

An annotator called `gold` or `adjudicated` stands for decisions on others' marks: if others read the text too, it is
left out, with a note.

NUCLE, section 4, observes that a few essays have many errors ("rich get richer"); `dispersion` tests this: edits per
block against chance, given the tokens (`grater.uncertainty`). Annotators who find the same errors would look like
overdispersion, so if several read a block, their mean is used; as far as they differ, the expected index is then
below 1, and p is too large rather than too small.

Word types are distinct tokens as written (`types`) and without regard to case (`types_folded`); the paper does not
say which it counts.

Tables show up to three corpora side by side, more of them below each other. Nothing is shown twice: a single corpus
has no total column, and a single annotator no separate row. Shares and densities have intervals.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from grater.corpora.counts import (
    TAIL,
    CorpusCounts,
    Counting,
    Documents,
    EssayCounts,
    Histogram,
    Portion,
    count_essay,
)
from grater.corpora.merge import stems
from grater.errors import UnknownName, UsageError, unknown
from grater.model import Essay, Interval, Json, hash_of, is_adjudicated
from grater.result import FLAT, HIDDEN, OPTIONAL, Data, Result, encode, in_json, key
from grater.sheet import UNDEFINED, Sheet, Signature, count, interval, number, p_value, undefined_notes
from grater.uncertainty import (
    Basis,
    Dispersion,
    Influence,
    Numbers,
    Scope,
    Units,
    density,
    dispersion,
    influence,
    ratio,
    share,
)

if TYPE_CHECKING:
    import polars as pl

FIXED = ("tokens_read", "sentences_read", "edits", "edits_inside", "places", "places_with_several", "labels")
SENTENCES = ("0", "1", "2", "more")
"""The bars of NUCLE Figure 3 that the text gives as shares."""

UNKNOWN_DOCUMENTS = (
    "sentences taken as independent: their documents are not known; name them by corpus convert --documents"
)

NO_COUNT = {
    "tokens_read": "no annotator read any text here",
    "sentences_read": "no annotator read any text here",
    "edits": "there is no edit here",
    "places": "there is no edit here",
    "labels": "there is no edit here",
}
"""What it means that there is nothing to divide by."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """The numbers of a portion that have intervals; tags are in order of frequency."""

    density: Interval
    inside: Interval
    alternatives: Interval
    sentences: Mapping[str, Interval]
    tags: Mapping[str, Interval]
    top5: Interval
    top10: Interval


def estimate(portion: Portion, unit: str) -> Estimates:
    """Ratios of sums over the blocks of a portion."""
    tags = by_frequency(portion.counts.by_tag)
    names = [*FIXED, *(f"sentences:{name}" for name in SENTENCES), *(f"tag:{tag}" for tag in tags)]
    at = {name: index for index, name in enumerate(names)}
    cells = []
    for block in sorted(portion.by_block):
        counts = portion.by_block[block]
        few = [counts.by_sentence.get(n_edits, 0) for n_edits in range(3)]
        n_more = sum(counts.by_sentence.values()) - sum(few)
        fixed = [getattr(counts, name) for name in FIXED]
        cells.append([*fixed, *few, n_more, *(counts.by_tag.get(tag, 0) for tag in tags)])
    units = Units(np.array(cells, dtype=np.float64).reshape(-1, len(names)), unit)
    # Two readings of a sentence are not two cases.
    readings = max(1.0, portion.counts.tokens_read / max(1, portion.counts.tokens))

    def parts(part: Sequence[str], whole: str, per: int = 1) -> Influence:
        above, below = [at[name] for name in part], at[whole]

        def score(sums: Numbers) -> Numbers:
            return per * ratio(sums[..., above].sum(axis=-1), sums[..., below])

        return influence(units, score, units.rows[:, below])

    def share_of(part: Sequence[str], whole: str) -> Interval:
        it = parts(part, whole)
        return share(it, n=float(it.den.sum()) / readings, undefined=NO_COUNT[whole])

    def top(n: int) -> Interval:
        """The share of the n most frequent tags; with at most n tags, exactly 1."""
        if 0 < len(tags) <= n:
            return Interval(1.0, 1.0, 1.0)
        return share_of([f"tag:{tag}" for tag in tags[:n]], "labels")

    return Estimates(
        density=density(parts(["edits"], "tokens_read", per=100), undefined=NO_COUNT["tokens_read"]),
        inside=share_of(["edits_inside"], "edits"),
        alternatives=share_of(["places_with_several"], "places"),
        sentences={name: share_of([f"sentences:{name}"], "sentences_read") for name in SENTENCES},
        tags={tag: share_of([f"tag:{tag}"], "labels") for tag in tags},
        top5=top(5),
        top10=top(10),
    )


def by_frequency(by_tag: Mapping[str, int]) -> list[str]:
    """Tags by descending frequency; ties in alphabetical order."""
    return sorted(by_tag, key=lambda tag: (-by_tag[tag], tag))


@dataclass(frozen=True, slots=True)
class Summary(Data):
    """All numbers of a portion; `n_blocks` blocks of documents or sentences are behind the intervals."""

    counts: CorpusCounts = field(metadata=HIDDEN)
    documents: Documents = field(metadata=HIDDEN)
    types: int
    types_folded: int
    estimates: Estimates = field(metadata=HIDDEN)
    n_blocks: int = field(metadata=HIDDEN)
    dispersion: Dispersion

    @property
    def n_documents_read(self) -> int | None:
        """Readings of documents."""
        return None if self.documents.unknown else self.documents.by_edits.total()

    @property
    def means(self) -> dict[str, float | None]:
        """The ratios of NUCLE Table 5; none where there is nothing to divide by, or documents are unknown."""
        counts, n = self.counts, self.documents.n
        return {
            "sentences per document": counts.sentences / n if n else None,
            "tokens per document": counts.tokens / n if n else None,
            "tokens per sentence": counts.tokens / counts.sentences if counts.sentences else None,
            "edits per document": counts.edits / self.n_documents_read if self.n_documents_read else None,
        }

    @property
    def per_document(self) -> Histogram | None:
        """Readings of a document by their number of edits (Figure 2); None if documents are unknown."""
        return None if self.documents.unknown else Histogram(self.documents.by_edits)

    @property
    def per_sentence(self) -> Histogram:
        """Readings of a sentence by their number of edits inside it (Figure 3)."""
        return Histogram(self.counts.by_sentence)

    @property
    def scope(self) -> Scope:
        """What the intervals generalise to."""
        return scope_of(self.documents)

    def measures(self) -> dict[str, Interval]:
        """Every number by name; numbers without an interval have no limits."""
        counts, estimates = self.counts, self.estimates
        plain = {
            "documents": self.documents.n,
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "types": self.types,
            "edits": counts.edits,
            **self.means,
        }
        return {
            **{name: Interval(nan if value is None else value, nan, nan) for name, value in plain.items()},
            "edits per 100 tokens": estimates.density,
            **{f"sentences with {name} edits": share for name, share in estimates.sentences.items()},
            "edits inside one sentence": estimates.inside,
            "spans with alternatives": estimates.alternatives,
            "edits with the top 5 tags": estimates.top5,
            "edits with the top 10 tags": estimates.top10,
            **{f"tag {tag}": share for tag, share in estimates.tags.items()},
        }

    @property
    @in_json(flat=True)
    def _numbers(self) -> dict[str, Json]:
        counts, estimates = self.counts, self.estimates
        return {
            "documents": self.documents.n,
            **({"reason": self.documents.unknown_because} if self.documents.unknown else {}),
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "edits": counts.edits,
            "readings": {
                "documents": self.n_documents_read,
                "sentences": counts.sentences_read,
                "tokens": counts.tokens_read,
            },
            "unread_sentences": counts.unread,
            "density": {**estimates.density.as_json(), "per": "100 tokens read by an annotator"},
            "by_tag": {tag: counts.by_tag[tag] for tag in estimates.tags},
            "tag_shares": encode(estimates.tags),
            "top5": estimates.top5.as_json(),
            "top10": estimates.top10.as_json(),
            "per_document": self._per_document(),
            "per_sentence": {
                "tokens": self.means["tokens per sentence"],
                "unit": "a sentence, once for each annotator who read it",
                **self.per_sentence.as_json(),
                "shares": encode(estimates.sentences),
            },
            "inside_sentence": {"edits": counts.edits_inside, "share": estimates.inside.as_json()},
            "alternatives": {
                "places": counts.places,
                "places_with_several": counts.places_with_several,
                "edits_with_several_corrections": counts.edits_with_several,
                "share": estimates.alternatives.as_json(),
            },
            "interval": {"unit": self.scope.unit, "blocks": self.n_blocks},
        }

    def _per_document(self) -> dict[str, Json]:
        histogram = self.per_document
        means: dict[str, Json] = {
            name: self.means[f"{name} per document"] for name in ("sentences", "tokens", "edits")
        }
        if histogram is None:
            return {**means, "reason": self.documents.unknown_because}
        unit = "a document, once for each annotator who read it"
        return {**means, "unit": unit, **histogram.as_json(), f"above_{TAIL}": histogram.above(TAIL)}


def scope_of(documents: Documents) -> Scope:
    """Documents as units; a sentence of an unknown document is a separate unit."""
    if not documents.known and documents.unknown:
        return Scope("sentence", documents.unknown, note=UNKNOWN_DOCUMENTS)
    alone = f"{documents.unknown:,} sentences without a document taken as independent" if documents.unknown else ""
    return Scope("document", documents.known + documents.unknown, note=alone)


def summarise(portion: Portion) -> Summary:
    blocks = [portion.by_block[block] for block in sorted(portion.by_block)]
    readings = np.array([max(counts.tokens_read / max(counts.tokens, 1), 1) for counts in blocks])
    edits, tokens = (np.array([getattr(counts, name) for counts in blocks]) for name in ("edits", "tokens_read"))
    return Summary(
        counts=portion.counts,
        documents=portion.documents,
        types=len(portion.words),
        types_folded=len({word.casefold() for word in portion.words}),
        estimates=estimate(portion, scope_of(portion.documents).unit),
        n_blocks=len(portion.by_block),
        dispersion=dispersion(edits / readings, tokens / readings),
    )


MOST_ROWS = 40
BAR_WIDTH = 30
EIGHTHS = " ▏▎▍▌▋▊▉"
DENSITY = "edits per 100 tokens"

Line = tuple[str, str]
"""A label and a value."""


def overview(summaries: Mapping[str, Summary]) -> Sheet:
    """Every number of one corpus, or of several side by side."""
    columns = [sections(summary) for summary in summaries.values()]
    rows, rules = list[tuple[str, ...]](), list[int]()
    for combined in zip(*columns, strict=True):
        rules.append(len(rows))
        rows += [(lines[0][0], *(value for _, value in lines)) for lines in zip(*combined, strict=True)]
    title = "Corpus" if len(summaries) == 1 else "Corpora"
    return Sheet(title, ("", *summaries), tuple(rows), name="corpus", rules=tuple(rules[1:]))


def portions(title: str, summaries: Mapping[str, Summary]) -> Sheet:
    """Parts of a corpus below each other: files, annotators, first languages."""
    rows: list[tuple[str, ...]] = []
    for name, summary in list(summaries.items())[:MOST_ROWS]:
        counts = summary.counts
        sizes = [_whole(n) for n in (summary.documents.n, counts.sentences, counts.tokens, counts.edits)]
        rows.append((name, *sizes, interval(summary.estimates.density, digits=2)))
    n_more = len(summaries) - MOST_ROWS
    if n_more > 0:
        rows.append((f"and {n_more:,} more", *[""] * 5))
    columns = ("", "documents", "sentences", "tokens", "edits", DENSITY)
    return Sheet(title, columns, tuple(rows), name=title.lower().replace(" ", "-"))


def tag_shares(summary: Summary) -> Sheet:
    """NUCLE Figure 4: tags by frequency, with each share and the cumulative share."""
    by_tag, n_labels, n_so_far = summary.counts.by_tag, summary.counts.labels, 0
    tags, rows = list(summary.estimates.tags), list[tuple[str, ...]]()
    for tag in tags[:MOST_ROWS]:
        n_so_far += by_tag[tag]
        share, bar = interval(summary.estimates.tags[tag]), bar_of(by_tag[tag] / by_tag[tags[0]])
        rows.append((tag or "(no tag)", count(by_tag[tag]), share, number(n_so_far / n_labels), bar))
    if len(tags) > MOST_ROWS:
        rows.append((f"and {len(tags) - MOST_ROWS} more", count(n_labels - n_so_far), "", "", ""))
    return Sheet("Tags", ("", "edits", "share", "cumulative", ""), tuple(rows), name="tags")


def sections(summary: Summary) -> list[list[Line]]:
    counts, estimates = summary.counts, summary.estimates
    names = {"0": "no edit", "1": "one", "2": "two", "more": "more"}
    histogram = summary.per_sentence
    tail = ["Edits per document, median", "  most frequent number", "  most", f"  documents with over {TAIL}"]
    documents = summary.per_document
    numbers = [UNDEFINED] * len(tail)
    if documents is not None and documents.n:
        highest = map(count, (documents.mode, documents.highest, documents.above(TAIL)))
        numbers = [f"{documents.median:g}", *highest]
    p = p_value(summary.dispersion.p)
    spread = f"{summary.dispersion.index:.2f}, p {p if p.startswith('<') else f'= {p}'}"  # `3.42, p < .0001`
    spread = UNDEFINED if isnan(summary.dispersion.index) else spread
    labelled = [(label.capitalize(), nan if mean is None else mean) for label, mean in summary.means.items()]
    means = [(label, number(mean, digits=2)) for label, mean in labelled]
    return [
        [
            ("Documents", _whole(summary.documents.n)),
            ("Sentences", _whole(counts.sentences)),
            ("Word tokens", _whole(counts.tokens)),
            ("Word types", _whole(summary.types)),
            ("Edits", _whole(counts.edits)),
        ],
        [*means, (DENSITY.capitalize(), interval(estimates.density, digits=2))],
        [
            *((f"Sentences with {names[name]}", interval(share)) for name, share in estimates.sentences.items()),
            ("Most edits in a sentence", _whole(histogram.highest if histogram.n else None)),
            ("Edits inside one sentence", interval(estimates.inside)),
        ],
        [*zip(tail, numbers, strict=True), (f"Dispersion over {summary.scope.unit}s (1 by chance)", spread)],
        [
            ("Edits with the top 5 tags", interval(estimates.top5)),
            ("Edits with the top 10 tags", interval(estimates.top10)),
            ("Spans with alternatives", interval(estimates.alternatives)),
        ],
    ]


def _whole(n: int | None) -> str:
    return UNDEFINED if n is None else count(n)


def bar_of(share: float) -> str:
    """A bar of Unicode blocks, to an eighth of a column; any positive share is visible."""
    n_eighths = max(round(share * BAR_WIDTH * 8), 1 if share > 0 else 0)
    return "█" * (n_eighths // 8) + EIGHTHS[n_eighths % 8].strip()


MOST_COLUMNS = 3
"""Corpora side by side; more than these are below each other."""


@dataclass(frozen=True, slots=True)
class Study(Data):
    """The numbers of a corpus and of its parts by annotator and, if a metadata field is named, by its values."""

    name: str = field(metadata=HIDDEN)
    summary: Summary = field(metadata=FLAT)
    by_annotator: Mapping[str, Summary]
    by_value: Mapping[str | None, Summary] = field(metadata=HIDDEN)
    field: str | None = field(metadata=HIDDEN)

    @property
    @in_json(optional=True)
    def by(self) -> dict[str, Json]:
        rows: list[Json] = [{"value": value, **summary.to_dict()} for value, summary in self.by_value.items()]
        return {"field": self.field, "rows": rows} if self.field else {}

    def parts(self) -> Iterator[tuple[str, str, Summary]]:
        """The whole and its parts, each with its grouping and its value."""
        yield "", "", self.summary
        for annotator, summary in self.by_annotator.items():
            yield "annotator", annotator, summary
        for value, summary in self.by_value.items():
            yield str(self.field), value or "", summary


@dataclass(frozen=True, slots=True, repr=False)
class CorpusStatistics(Result):
    """The study of all files together and of each; `same_text` groups files with the same essays."""

    whole: Study = field(metadata=FLAT)
    files: tuple[Study, ...] = field(
        metadata=key(write=lambda files: [{"name": file.name, **file.to_dict()} for file in files])
    )
    same_text: tuple[tuple[str, ...], ...]
    signature: Signature
    adjudicated: tuple[str, ...] = field(default=(), metadata=OPTIONAL)

    @property
    @in_json()
    def scope(self) -> Scope:
        return self.whole.summary.scope

    @property
    @in_json()
    def warnings(self) -> tuple[str, ...]:
        return self.scope.warnings

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
        """Whether a row per annotator would only repeat the row per file."""
        one_each = all(len(file.by_annotator) == 1 for file in self.files)
        return one_each and len(self.whole.by_annotator) == len(self.files)

    def _notes(self) -> Iterator[str]:
        """Notes for interpreting the numbers."""
        summary = self.whole.summary
        if summary.documents.unknown:
            yield f"Documents: {summary.documents.unknown_because}."
        if summary.counts.unread:
            yield f"No annotator is named for {summary.counts.unread:,} sentences; they are left out of shares."
        if summary.counts.tokens_read > summary.counts.tokens:
            yield "Edits are per reading: a text that two annotators read is counted once for each."
        for name in self.adjudicated:
            yield f"{name} holds adjudicated decisions and is not counted as an annotator."
        short = stems(file.name for file in self.files)
        for names in self.same_text:
            yield f"{', '.join(short[name] for name in names)} have the same text; the totals count each."
        yield from undefined_notes(summary.measures().values())
        yield summary.scope.sentence


Value = TypeVar("Value", str, str | None)

NUMBER = re.compile(r"[-+]?\d{1,18}(\.\d+)?")
PIECE = re.compile(r"(\D*)(\d{0,18})")


def value_of(essay: Essay, field: str) -> str | None:
    """The essay's group as text, None if missing or blank."""
    value = essay.metadata.get(field)
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def in_order(values: Iterable[Value]) -> list[Value]:
    """Numbers by size, then words in natural order (A2, A10), then missing values."""
    return sorted(values, key=_place)


def _place(value: str | None) -> tuple[int, float, list[tuple[str, int]], str]:
    if value is None:
        return 2, 0.0, [], ""
    if NUMBER.fullmatch(value):
        return 0, float(value), [], value
    return 1, 0.0, [(word, int(digits or 0)) for word, digits in PIECE.findall(value)], value


def require_known(field: str, fields: Iterable[str]) -> None:
    """Refuse a field that no essay has, listing the existing ones."""
    known = sorted(fields)
    if not known:
        raise UsageError(f"cannot group by {field!r}: no essay here has any metadata")
    if field not in known:
        raise UnknownName(unknown("metadata field", field, known))


MODULUS = 1 << 64


@dataclass(frozen=True, slots=True)
class Fingerprint:
    text: int = 0
    data: int = 0

    def __add__(self, other: Fingerprint) -> Fingerprint:
        return Fingerprint((self.text + other.text) % MODULUS, (self.data + other.data) % MODULUS)

    def __str__(self) -> str:
        return f"{self.data:016x}"


def fingerprint(essay: Essay) -> Fingerprint:
    edits = [(edit.span.start, edit.span.end, edit.replacements, edit.tag, edit.rater) for edit in essay.edits]
    return Fingerprint(
        hash_of(f"{essay.essay_id}\0{essay.text}"), hash_of(f"{essay.text}\0{essay.annotators}\0{edits}")
    )


def same_text(by_name: Mapping[str, Fingerprint]) -> tuple[tuple[str, ...], ...]:
    """Groups of corpora with the same essays."""
    by_text: dict[int, list[str]] = defaultdict(list)
    for name, mark in by_name.items():
        by_text[mark.text].append(name)
    return tuple(tuple(names) for text, names in by_text.items() if text and len(names) > 1)


def names_apart(
    annotators: Mapping[str, Sequence[str]], same_text: Iterable[Sequence[str]]
) -> dict[tuple[str, str], str]:
    """The names of (file, annotator) in the combined corpus that differ from the annotator's id."""
    short, apart = stems(annotators), {}
    for files in same_text:
        times = Counter(annotator for file in files for annotator in annotators[file])
        for file in files:
            colliding = [annotator for annotator in annotators[file] if times[annotator] > 1]
            for annotator in colliding:
                apart[file, annotator] = short[file] if len(colliding) == 1 else f"{short[file]}.{annotator}"
    return apart


class CorpusTally:
    """A corpus being counted: the whole, each annotator's part, each group's part."""

    def __init__(self, name: str, field: str | None) -> None:
        self.name = name
        self.field = field
        self.fields: set[str] = set()
        self.adjudicated: set[str] = set()
        self.fingerprint = Fingerprint()
        self.whole = Portion()
        self.by_annotator: dict[str, Portion] = defaultdict(Portion)
        self.by_value: dict[str | None, Portion] = defaultdict(Portion)

    @classmethod
    def of(cls, name: str, essays: Iterable[Essay], field: str | None, counting: Counting) -> CorpusTally:
        tally = cls(name, field)
        for essay in essays:
            tally.add(essay, count_essay(essay, counting))
        return tally

    def add(self, essay: Essay, counted: EssayCounts) -> None:
        self.fields.update(essay.metadata)
        self.fingerprint += fingerprint(essay)
        by_annotator = counted.by_annotator
        self.adjudicated.update(set(filter(is_adjudicated, essay.annotators)) - by_annotator.keys())
        self.whole.add(essay, counted.text, by_annotator, counted.words)
        for annotator, reading in by_annotator.items():
            self.by_annotator[annotator].add(essay, counted.text, {annotator: reading}, counted.words)
        if self.field is not None:
            group = self.by_value[value_of(essay, self.field)]
            group.add(essay, counted.text, by_annotator, counted.words)

    def merge(self, other: CorpusTally, apart: Mapping[tuple[str, str], str] | None = None) -> None:
        """Add another part of the corpus or, with names for annotators who are not the same ones, another corpus."""
        is_other, names = apart is not None, apart or {}
        self.fields |= other.fields
        self.adjudicated |= other.adjudicated
        self.fingerprint += other.fingerprint
        self.whole.merge(other.whole, is_of_another_corpus=is_other)
        for annotator, portion in other.by_annotator.items():
            name = names.get((other.name, annotator), annotator)
            self.by_annotator[name].merge(portion, is_of_another_corpus=is_other)
        for value, portion in other.by_value.items():
            self.by_value[value].merge(portion, is_of_another_corpus=is_other)

    def study(self) -> Study:
        return Study(
            self.name,
            summarise(self.whole),
            {name: summarise(self.by_annotator[name]) for name in in_order(self.by_annotator)},
            {value: summarise(self.by_value[value]) for value in in_order(self.by_value)},
            self.field,
        )


def corpus_statistics(
    corpora: Mapping[str, Iterable[Essay]],
    *,
    by: str | None = None,
    merge_alternatives: bool = False,
    split_tags: bool = False,
) -> CorpusStatistics:
    """The corpus study of named corpora; each is read once, and only counts are kept."""
    counting = Counting(merge_alternatives, split_tags)
    tallies = [CorpusTally.of(name, essays, by, counting) for name, essays in corpora.items()]
    return statistics_of(tallies, by, counting)


def statistics_of(tallies: Sequence[CorpusTally], by: str | None, counting: Counting) -> CorpusStatistics:
    """The corpus study of corpora that have been counted."""
    if by is not None:
        require_known(by, {field for tally in tallies for field in tally.fields})
    files = tuple(tally.study() for tally in tallies)
    prints = {tally.name: tally.fingerprint for tally in tallies}
    same = same_text(prints)
    every = tallies[0] if len(tallies) == 1 else CorpusTally("all", by)
    apart = names_apart({tally.name: list(tally.by_annotator) for tally in tallies}, same)
    for tally in tallies if len(tallies) > 1 else ():
        every.merge(tally, apart)
    whole = files[0] if len(files) == 1 else every.study()
    options = {
        "alternatives": "merged" if counting.merge_alternatives else "apart",
        "tags": "split" if counting.split_tags else "given",
        "by": whole.field or "none",
        **Basis().signature(whole.summary.scope.unit),
        "data": str(every.fingerprint),
    }
    signature = Signature("corpus-stats", options)
    return CorpusStatistics(whole, files, same, signature, tuple(in_order(every.adjudicated)))
