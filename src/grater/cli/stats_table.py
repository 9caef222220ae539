"""The corpus study on a terminal: NUCLE Table 5 and Figures 2-4 in eighty columns.

Up to three corpora stand side by side, more of them below each other.  Nothing is printed twice: a single corpus has
no column for the sum, a single annotator no row of their own.  What a number is per, and how its limits were made,
stands below.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isnan

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grater.cli.output import number_table, print_notes
from grater.corpora.merge import stems
from grater.corpora.statistics import CorpusStatistics, Summary
from grater.corpora.statistics.counts import TAIL
from grater.model import Interval

WIDTH = 80
MOST_COLUMNS = 3
MOST_ROWS = 40
BAR_WIDTH = 30
EIGHTHS = " ▏▎▍▌▋▊▉"
NONE = "–"


def render(statistics: CorpusStatistics, console: Console) -> None:
    """Print the whole study."""
    for table in tables(statistics):
        console.print(table, width=min(WIDTH, console.width))
    print_notes(console, notes(statistics))


def tables(statistics: CorpusStatistics) -> Iterator[Table]:
    whole, short = statistics.whole, stems(file.name for file in statistics.files)
    files = {short[file.name]: file.summary for file in statistics.files}
    if 1 < len(files) <= MOST_COLUMNS:
        yield side_by_side(files | {"all": whole.summary})
    else:
        yield overview(whole.summary)
    if len(files) > MOST_COLUMNS:
        yield portions("Files", files)
    if len(whole.by_annotator) > 1 and not _annotators_are_files(statistics):
        yield portions("Annotators", whole.by_annotator)
    if whole.field is not None:
        names = {value or f"(no {whole.field})": summary for value, summary in whole.by_value.items()}
        yield portions(f"By {whole.field}", names)
    if whole.summary.counts.by_tag:
        yield tag_bars(whole.summary)


def _annotators_are_files(statistics: CorpusStatistics) -> bool:
    """Whether a row for each annotator would only repeat what stands there for each file."""
    one_each = all(len(file.by_annotator) == 1 for file in statistics.files)
    return one_each and len(statistics.whole.by_annotator) == len(statistics.files)


def overview(summary: Summary) -> Table:
    """One corpus: every number with its limits."""
    table = number_table("Corpus", ["", "", "95 % limits"], is_first_cut=True)
    for section in sections(summary):
        for label, value, limits in section:
            table.add_row(label, value, Text(limits, style="dim"))
        table.add_section()
    return table


def side_by_side(summaries: Mapping[str, Summary]) -> Table:
    """Several corpora as columns; limits only of the density, to save room."""
    table = number_table("Corpora", ["", *summaries], is_first_cut=True)
    for section in zip(*map(sections, summaries.values()), strict=True):
        for cells in zip(*section, strict=True):
            label = cells[0][0]
            table.add_row(label, *(value for _, value, _ in cells))
            if label == DENSITY:
                table.add_row("  95 % limits", *(Text(limits, style="dim") for _, _, limits in cells))
        table.add_section()
    return table


def portions(title: str, summaries: Mapping[str, Summary]) -> Table:
    """Parts of a corpus below each other: files, annotators, first languages."""
    table = number_table(
        title, ["", "documents", "sentences", "tokens", "edits", "/100", "95 % limits"], is_first_cut=True
    )
    for name, summary in list(summaries.items())[:MOST_ROWS]:
        totals, density = summary.totals, summary.estimates.density
        sizes = [whole(n) for n in (totals.documents, totals.sentences, totals.tokens, totals.edits)]
        table.add_row(Text(name), *sizes, number(density.value), Text(limits_of(density), style="dim"))
    n_more = len(summaries) - MOST_ROWS
    if n_more > 0:
        table.add_row(f"and {n_more:,} more", *[""] * 6)
    return table


def tag_bars(summary: Summary) -> Table:
    """NUCLE Figure 4: tags by frequency, with the share of each and of all down to it."""
    table = number_table("Tags", ["", "edits", "share", "so far", "bar"], is_first_cut=True)
    table.columns[-1].justify = "left"
    table.columns[-1].header = ""
    by_tag, n_labels, n_so_far = summary.counts.by_tag, summary.counts.labels, 0
    tags = list(summary.estimates.tags)
    for tag in tags[:MOST_ROWS]:
        n_so_far += by_tag[tag]
        bar = Text(bar_of(by_tag[tag] / by_tag[tags[0]]), style="cyan")
        shares = [percent(n / n_labels) for n in (by_tag[tag], n_so_far)]
        table.add_row(Text(tag or "(no tag)"), whole(by_tag[tag]), *shares, bar)
    if len(tags) > MOST_ROWS:
        table.add_row(f"and {len(tags) - MOST_ROWS} more", whole(n_labels - n_so_far), "", "", "")
    return table


DENSITY = "Edits per 100 tokens"

Line = tuple[str, str, str]
"""A label, a value and its limits."""


def sections(summary: Summary) -> list[list[Line]]:
    return [_sizes(summary), _means(summary), _per_sentence(summary), _per_document(summary), _tags(summary)]


def _sizes(summary: Summary) -> list[Line]:
    totals = summary.totals
    return [
        ("Documents", whole(totals.documents), ""),
        ("Sentences", whole(totals.sentences), ""),
        ("Word tokens", whole(totals.tokens), ""),
        ("Word types", whole(summary.types), ""),
        ("Edits", whole(totals.edits), ""),
    ]


def _means(summary: Summary) -> list[Line]:
    totals, density = summary.totals, summary.estimates.density
    return [
        ("Sentences per document", number(totals.sentences_per_document), ""),
        ("Tokens per document", number(totals.tokens_per_document), ""),
        ("Tokens per sentence", number(totals.tokens_per_sentence), ""),
        ("Edits per document", number(totals.edits_per_document), ""),
        (DENSITY, number(density.value), limits_of(density)),
    ]


def _per_sentence(summary: Summary) -> list[Line]:
    names = {"0": "no edit", "1": "one", "2": "two", "more": "more"}
    shares = summary.estimates.sentences.items()
    histogram = summary.per_sentence
    return [
        *(_share(f"Sentences with {names[name]}", share) for name, share in shares),
        ("Most edits in a sentence", whole(histogram.highest if histogram.n else None), ""),
        _share("Edits inside one sentence", summary.estimates.inside),
    ]


def _per_document(summary: Summary) -> list[Line]:
    histogram = summary.per_document
    labels = ["Edits per document, median", "  most frequent number", "  most", f"  documents with over {TAIL}"]
    if histogram is None or not histogram.n:
        return [(label, NONE, "") for label in labels]
    numbers = [f"{histogram.median:g}", whole(histogram.mode), whole(histogram.highest), whole(histogram.above(TAIL))]
    return [(label, value, "") for label, value in zip(labels, numbers, strict=True)]


def _tags(summary: Summary) -> list[Line]:
    estimates = summary.estimates
    return [
        _share("Edits with the top 5 tags", estimates.top5),
        _share("Edits with the top 10 tags", estimates.top10),
        _share("Places with alternatives", estimates.alternatives),
    ]


def _share(label: str, share: Interval) -> Line:
    limits = NONE if isnan(share.low) else f"{percent(share.low)} to {percent(share.high)}"
    return label, percent(share.value), limits


def notes(statistics: CorpusStatistics) -> Iterator[str]:
    """What a reader must know to read the numbers right."""
    summary = statistics.whole.summary
    if summary.document_counts.unknown:
        yield f"Documents: {summary.document_counts.reason}."
    if summary.counts.unread:
        yield f"No annotator is named for {summary.counts.unread:,} sentences; they are in no density or share."
    if summary.counts.tokens_read > summary.counts.tokens:
        yield "Edits are per reading: a text that two annotators read is counted once for each."
    short = stems(file.name for file in statistics.files)
    for names in statistics.same_text:
        yield f"{', '.join(short[name] for name in names)} hold the same text; the sums count it once for each."
    yield str(statistics.signature)


def whole(n: int | None) -> str:
    return NONE if n is None else f"{n:,}"


def number(value: float | None) -> str:
    return NONE if value is None or isnan(value) else f"{value:,.2f}"


def percent(share: float) -> str:
    return NONE if isnan(share) else f"{100 * share:.2f} %"


def limits_of(interval: Interval) -> str:
    return NONE if isnan(interval.low) else f"{number(interval.low)} to {number(interval.high)}"


def bar_of(share: float) -> str:
    """A bar of unicode blocks, to an eighth of a column; anything above nothing shows."""
    n_eighths = max(round(share * BAR_WIDTH * 8), 1 if share > 0 else 0)
    return "█" * (n_eighths // 8) + EIGHTHS[n_eighths % 8].strip()
