"""What `grater check` is worth: as a corrector, on textbook sentences, on native prose, and how sure it is.

The halves of CWEB-S (web pages of organisations) and CoNLL-2014 that nothing was fitted on, by hundreds of lines and
by document, are checked in texts of many lines, as tokens joined the way that people write; the first suggestion of
every mark is made, and the outcome is scored by ERRANT against the two annotators.  Brown says how often well-formed
text is marked.  Textbook sentences and native prose are our own (`tests/detect/textbook.txt`), written before the
rules.  *Stated* is the share of marks that feedback says is right, *found* the share that touches a correction of
either annotator, on texts that no share was fitted on.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from benchmarks.harness import DATA, ROOT, WORK, Size, Table

import grater
from grater.corpora import read_corpus
from grater.corpora.merge import attach_documents
from grater.corpora.source import open_source
from grater.corpora.text.tokens import token_spans
from grater.detect.detector import Detector, Finding
from grater.detect.feedback import feedback_on
from grater.detect.marks import change
from grater.detect.systems import default_systems, load_systems
from grater.model import Essay, Span

CONLL = DATA / "conll14"
TEXTBOOK = ROOT / "tests" / "detect" / "textbook.txt"
DIAGRAM = ROOT / "docs" / "images" / "reliability.svg"
LINES_OF_A_TEXT = 100
CLOSING = re.compile(r"[.,;:!?%)\]}]|'(?:s|re|ve|ll|m|d)|n'?t|''|\.\.\.", re.IGNORECASE)
HYPHEN = re.compile(r"(?<=[A-Za-z])(-)(?=[A-Za-z])")
FIRST_LETTERS = 40
"""By which a paragraph is recognised in tokenised text."""
OPENING = re.compile(r"[(\[{$#]|``")


@dataclass(frozen=True, slots=True)
class Text:
    """Lines of tokens joined as people write them; `spans` are the tokens of each line in `essay`.

    Where hyphens between letters are tokens (CWEB), so are those of corrections.
    """

    essay: Essay
    lines: tuple[tuple[str, ...], ...]
    spans: tuple[tuple[Span, ...], ...]
    has_split_hyphens: bool = False


def joined(
    name: str, lines: Sequence[Sequence[str]], *, has_split_hyphens: bool = False, goes_on: Collection[int] = ()
) -> Text:
    """The lines as paragraphs, except those that go on with the paragraph of the line before."""
    text, places = "", []
    for at, tokens in enumerate(lines):
        spans, is_in_quotes = [], False
        for number, token in enumerate(tokens):
            before = tokens[number - 1] if number else ""
            closes = bool(CLOSING.fullmatch(token)) or (token == '"' and is_in_quotes)
            touches = OPENING.fullmatch(before) or (before == '"' and is_in_quotes)
            is_hyphen = (has_split_hyphens and "-" in (token, before)) or "/" in (token, before)
            text += "" if not number or closes or touches or is_hyphen else " "
            is_in_quotes ^= token == '"'
            spans.append(Span(len(text), len(text) + len(token)))
            text += token
        text += " " if at + 1 in goes_on else "\n"
        places.append(tuple(spans))
    return Text(Essay(name, text), tuple(map(tuple, lines)), tuple(places), has_split_hyphens)


def corrected(text: Text, findings: Sequence[Finding]) -> list[str]:
    """The lines with the first suggestion of every mark made, as tokens."""
    changes = [change(text.essay.text, finding) for finding in findings]
    by_line: dict[int, list[tuple[int, int, list[str]]]] = defaultdict(list)
    for made in changes:
        for number, spans in enumerate(text.spans):
            if not made.replacements or not spans or not (spans[0].start <= made.span.start <= spans[-1].end):
                continue
            start = next((at for at, span in enumerate(spans) if span.end > made.span.start), len(spans))
            end = max(start, sum(span.start < made.span.end for span in spans))
            old = Span(min(made.span.start, spans[start].start), max(made.span.end, spans[end - 1].end))
            new = text.essay.text[old.start : made.span.start] + made.replacements[0]
            new += text.essay.text[made.span.end : old.end]
            words = [span.of(new) for span in token_spans(new)]
            if text.has_split_hyphens:
                words = [part for word in words for part in HYPHEN.split(word) if part]
            by_line[number].append((start, end, words))
    outcome = []
    for number, tokens in enumerate(text.lines):
        words, last = list(tokens), len(tokens) + 1
        for start, end, new in sorted(by_line[number], reverse=True):
            if end <= last:
                words[start:end], last = new, start
        outcome.append(" ".join(words))
    return outcome


def measure(size: Size) -> Iterator[Table]:
    WORK.mkdir(exist_ok=True)
    systems = load_systems(default_systems())
    n = 200 if size == "short" else None
    pairs, rows = list[Pair](), []
    for name, texts, source, references in (cweb("S", n), conll(n)):
        marked = [(text, found_in(systems, text)) for text in texts]
        rows.append(scored(name, marked, source, references))
        pairs += sure(marked, source, references)
    columns = ("text", "sentences", "marks", "precision", "recall", "F0.5")
    yield Table("As a corrector", columns, rows)
    yield Table("How sure", ("stated", "marks", "mean stated", "found"), reliability(pairs))
    if not n:
        DIAGRAM.write_text(diagram(reliability(pairs)), "utf-8")
    yield Table("By kind", ("system and kind", "marks", "mean stated", "found"), by_kind(pairs))
    yield Table("Brown", ("words", "marks", "marks per 1,000 words"), [brown(systems, 2_000 if n else 200_000)])


Corpus = tuple[str, list[Text], list[str], list[list[str]]]


def cweb(part: str, n: int | None, half: int = 1) -> Corpus:
    """Every other hundred of lines: confidence was fitted to the others (`grater.detect.feedback.RIGHT`)."""
    lines = [
        (DATA / "cweb" / f"CWEB-{part}.dev.{name}.txt").read_text("utf-8").splitlines()
        for name in ("source", "ann0", "ann1")
    ]
    kept = [[line for at, line in enumerate(own) if (at // LINES_OF_A_TEXT) % 2 == half][:n] for own in lines]
    source = [line.split() for line in kept[0]]
    texts = [
        joined(f"cweb{start}", source[start : start + LINES_OF_A_TEXT], has_split_hyphens=True)
        for start in range(0, len(source), LINES_OF_A_TEXT)
    ]
    return f"CWEB-{part}, held out", texts, kept[0], kept[1:]


def conll(n: int | None, half: int = 1) -> Corpus:
    """The half that thresholds were not fitted on, as in `figures context`."""
    documents = list(read_corpus(CONLL / "official" / "official-2014.0.sgml", format_name="nucle"))
    paragraphs = "\n".join(["", *(_letters(line) for essay in documents for line in essay.text.splitlines())])
    by_document: dict[str, list[Essay]] = defaultdict(list)
    sentences = read_corpus(CONLL / "official" / "official-2014.combined-withalt.m2")
    for sentence in attach_documents(sentences, documents):
        by_document[str(sentence.metadata.get("document"))].append(sentence)
    names = sorted(by_document)[half::2]
    kept = [sentence for name in names for sentence in by_document[name]][:n]
    texts = [
        joined(
            name,
            [sentence.text.split() for sentence in by_document[name]],
            goes_on=[
                at
                for at, sentence in enumerate(by_document[name])
                if f"\n{_letters(sentence.text)[:FIRST_LETTERS]}" not in paragraphs
            ],
        )
        for name in names
    ]
    if n:
        texts, kept = texts[:5], [sentence for name in names[:5] for sentence in by_document[name]]
    references = [[after(sentence, who) for sentence in kept] for who in ("0", "1")]
    return "CoNLL-2014, held out", texts, [sentence.text for sentence in kept], references


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def after(sentence: Essay, annotator: str) -> str:
    text = sentence.text
    edits = [edit for edit in sentence.edits if edit.rater == annotator and edit.replacements]
    last = len(text) + 1
    for edit in sorted(edits, key=lambda each: (each.span.start, each.span.end), reverse=True):
        if edit.span.end <= last:
            text = f"{text[: edit.span.start]}{edit.replacements[0]}{text[edit.span.end :]}"
            last = edit.span.start
    return " ".join(text.split())


def found_in(systems: Sequence[Detector], text: Text) -> list[Finding]:
    return [mark.findings[0] for mark in feedback_on(text.essay, systems, name="text").marks]


Marked = Sequence[tuple[Text, list[Finding]]]


def scored(name: str, marked: Marked, source: list[str], references: list[list[str]]) -> list[str | int | float]:
    lines = {"source": source, "check": [line for text, found in marked for line in corrected(text, found)]}
    lines |= {f"reference{number}": own for number, own in enumerate(references)}
    for key, own in lines.items():
        (WORK / f"{key}.txt").write_text("\n".join(own) + "\n", "utf-8")
    files = {key: WORK / f"{key}.txt" for key in lines}
    scores = grater.score(
        [files["reference0"], files["reference1"]],
        {"check": files["check"]},
        metric="errant",
        source=files["source"],
        resamples=0,
    )
    [own_scores] = scores.to_dict()["systems"]
    values = [round(own_scores[key]["value"], 3) for key in ("precision", "recall", "f0.5")]
    return [name, len(source), sum(len(found) for _, found in marked), *values]


@dataclass(frozen=True, slots=True)
class Pair:
    """What a mark says of itself, and whether it touches a correction."""

    kind: str
    stated: float | None
    is_right: bool
    finding: Finding
    text: str


def sure(marked: Marked, source: list[str], references: list[list[str]]) -> Iterator[Pair]:
    """Each mark with whether the words that it changes are changed by an annotator."""
    from grater.corpora.normalise import align

    at = 0
    for text, findings in marked:
        for number, spans in enumerate(text.spans):
            tokens = source[at + number].split()
            touched = set()
            for own in references:
                position = 0
                for old, new in align(tokens, own[at + number].split()):
                    if old != new:
                        touched.add(("gap" if old is None else "word", position))
                    position += old is not None
            if not spans:
                continue
            for finding in findings:
                span = finding.item.span
                if not spans[0].start <= span.start <= spans[-1].end:
                    continue
                if span.start == span.end:
                    place = next((k for k, own_span in enumerate(spans) if own_span.start >= span.start), len(spans))
                    is_right = bool(touched & {("gap", place), ("word", place), ("word", place - 1)})
                else:
                    places = [
                        k
                        for k, own_span in enumerate(spans)
                        if own_span.start < span.end and span.start < own_span.end
                    ]
                    near = {("gap", place + step) for place in places for step in (0, 1)}
                    is_right = bool(touched & ({("word", place) for place in places} | near))
                kind = f"{finding.decision.system} {finding.item.kind}"
                yield Pair(kind, finding.confidence, is_right, finding, text.essay.text)
        at += len(text.lines)


def reliability(pairs: Sequence[Pair]) -> list[list[str | int | float]]:
    by_tenth: dict[int, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if pair.stated is not None:
            by_tenth[min(9, int(pair.stated * 10))].append(pair)
    return [[f".{tenth}", *shares(own)] for tenth, own in sorted(by_tenth.items())]


def diagram(rows: Sequence[Sequence[str | int | float]]) -> str:
    """A reliability diagram: stated across, found upwards, circles as large as the marks are many."""

    def at(x: float, y: float) -> str:
        return f"{40 + 300 * x:.0f},{320 - 300 * y:.0f}"

    parts = [f'<polyline points="{at(0, 0)} {at(1, 1)}" stroke="#999" stroke-dasharray="4"/>']
    parts += [f'<polyline points="{at(0, y)} {at(1, y)}" stroke="#ddd"/>' for y in (0, 0.25, 0.5, 0.75, 1)]
    for _, n, stated, found in rows:
        x, y = at(float(stated), float(found)).split(",")
        parts.append(
            f'<circle cx="{x}" cy="{y}" r="{2 + float(n) ** 0.5 / 2:.1f}" fill="#2f6db5" fill-opacity=".7"/>'
        )
    for share in (0, 0.5, 1):
        (x, _), (_, y) = at(share, 0).split(","), at(0, share).split(",")
        parts += [f'<text x="{x}" y="340">{share:g}</text>', f'<text x="24" y="{int(y) + 4}">{share:g}</text>']
    parts += ['<text x="190" y="358">stated</text>', '<text x="190" y="14">found</text>']
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 380 366" width="380" height="366" font-size="12" '
        'font-family="sans-serif" text-anchor="middle" fill="#333"><rect width="380" height="366" fill="#fff"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def by_kind(pairs: Sequence[Pair]) -> list[list[str | int | float]]:
    kinds = Counter(pair.kind for pair in pairs)
    return [[kind, *shares([pair for pair in pairs if pair.kind == kind])] for kind, _ in kinds.most_common()]


def shares(pairs: Sequence[Pair]) -> list[int | float]:
    n = len(pairs)
    stated = [pair.stated for pair in pairs if pair.stated is not None]
    mean = round(sum(stated) / len(stated), 3) if stated else 0.0
    return [n, mean, round(sum(pair.is_right for pair in pairs) / n, 3)]


def brown(systems: Sequence[Detector], n_words: int) -> list[str | int | float]:
    """Every fifth line; one that begins in small letters is the rest of a sentence that was cut, and is left out."""
    every_fifth = islice(open_source(DATA / "native-test" / "brown.txt.xz").lines(), 0, None, 5)
    lines = [line.split() for line in every_fifth if not line[:1].islower()]
    words = marks = 0
    for start in range(0, len(lines), LINES_OF_A_TEXT):
        text = joined(f"brown{start}", lines[start : start + LINES_OF_A_TEXT])
        words += sum(map(len, text.lines))
        marks += len(found_in(systems, text))
        if words >= n_words:
            break
    return [words, marks, round(1000 * marks / words, 2)]
