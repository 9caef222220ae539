"""The figures of `context`: `python benchmarks/context.py [PART ...] [--model FILE] [--native FILE]`.

Parts: masked (Brown, each preposition and article hidden), native (flags per 1,000 words), learners (CoNLL-2014
beside the classical systems), extraneous (balanced), precision (what `--precision` promises and keeps), speed; all of
them without a name.  `calibrate` (only by name) fits calibrations on half of CoNLL-2014, by document, chooses shipped
thresholds on well-formed text (`--well-formed`), and writes the model anew, with new numbers for errors of `--only`
alone if it is given; everything about learners is then reported on the other half, and on all of it where nothing was
tuned on learners (P at a recall needs no threshold).

Errors of CoNLL-2014 are those of its two official annotators together (A7 and A3 of Bryant & Ng 2015): `Prep` on
prepositions, `ArtOrDet` on articles, `Nn` on nouns, `SVA` and `Vform` on verbs.  `any` counts a flag as right where
one of the two corrects that word in any way.  Intervals resample documents.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.detect.articles import learner_essays
from benchmarks.detect.data import brown_essays, cell, keep, lines_of, table

from grater.corpora.source import open_source
from grater.detect.context.calibration import NAMES, PRECISIONS
from grater.detect.context.detector import ContextDetector, from_file, log_shares, save
from grater.detect.context.heads import ARTICLE_GAP_HEAD, ARTICLE_HEAD, PREP_HEAD, Head
from grater.detect.context.network import Network, answer_sentences
from grater.detect.context.pieces import PieceVocabulary
from grater.detect.context.signs import shifts
from grater.detect.context.slots import slots_of
from grater.detect.context.tuning import PossibleFlag, calibrated, possible_flags, right_items, usual_share
from grater.detect.detector import Finding
from grater.detect.prepositions.candidates import COLUMN_OF, preposition_places
from grater.detect.systems import load_system
from grater.model import Edit, Essay, Interval, Item, Span
from grater.models import read_model, shipped, shipped_names
from grater.rng import generator
from grater.statistics.proportions import wilson
from grater.text.analysis import Sentence, analyse_all
from grater.text.prepositions import canonical

N_MASKED = {"prep": 20_000, "article": 10_000}
N_FLOAT = 5_000
EVERY = 5
"""Of Brown's sentences, every fifth is looked at; they hold over 20,000 prepositions."""
AS_GAP = 0.4
"""The weight of the gap beside the hole where an article is hidden, chosen on held-out sentences."""
OFFICIAL = ("A7", "A3")
TAGS = {
    "prep": ("Prep",),
    "prep-missing": ("Prep",),
    "article": ("ArtOrDet",),
    "number": ("Nn",),
    "verb-form": ("SVA", "Vform"),
}
CLASSICAL = {
    "prep": ("prep-maxent", "prep-both"),
    "prep-missing": ("prep-maxent", "prep-both"),
    "article": ("article",),
    "number": ("article",),
    "verb-form": (),
}
RECALL = 0.19
GUG = "gug/gug_annotations.tsv"
LIKE_FCE = (12, 24)
"""Pieces of the sentences whose speed is measured: 18 on average, as in the FCE."""
N_NATIVE_WORDS = 200_000
N_LINES = 100
"""Lines of well-formed text that are read as one essay: some 2,000 words of Brown, as long as its samples are."""

WRITTEN = ("academic", "bio", "letter", "news", "textbook", "voyage", "whow")
"""Genres of GUM that are written and edited."""

N_RESAMPLES = 1000
DELETERS = (2, 3, 5)
"""Of ten annotators, how many must delete a preposition for it to count as extraneous."""

BALANCED_RECALLS = (0.3, 0.4, 0.5, 0.6)
Values = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Hidden:
    """A word of a sentence that the network does not see, and the column of what stood there."""

    words: tuple[str, ...]
    index: int
    answer: int


def _hidden(sentence: Sentence) -> Iterator[tuple[str, Hidden]]:
    """Prepositions and articles; where a phrase has no article, a masked word is put in that should be none."""
    words = sentence.words
    for index in preposition_places(sentence):
        yield "prep", Hidden(words, index, COLUMN_OF[canonical(words[index]) or ""])
    for slot in slots_of(sentence):
        if slot.kind != "article" or not slot.index:
            continue
        if slot.is_gap:
            yield "article", Hidden((*words[: slot.index], "a", *words[slot.index :]), slot.index, 2)
        elif slot.index + 1 < len(words):
            yield "article", Hidden(words, slot.index, 1 if words[slot.index].lower() == "the" else 0)


def masked(options: Options) -> None:
    """Accuracy on Brown, one word hidden at a time; beside the float network where one is given."""
    drawn = _drawn()
    rows = []
    for head, listed in drawn.items():
        hits = _right(options.detector.network, options.detector, head, listed)
        rows.append(["int8", head, f"{len(hits):,}", cell(wilson(int(hits.sum()), len(hits)))])
        print(rows[-1], flush=True)
        if options.float_graph:
            network = Network(options.float_graph.read_bytes())
            few = _right(network, options.detector, head, listed[:N_FLOAT])
            difference = hits[:N_FLOAT].astype(float) - few.astype(float)
            half = 1.96 * float(difference.std()) / len(difference) ** 0.5
            print(f"{head}: int8 - float = {difference.mean():+.4f} ± {half:.4f}, paired, n {len(few):,}", flush=True)
            rows.append(["float", head, f"{len(few):,}", cell(wilson(int(few.sum()), len(few)))])
    table(["network", "hidden", "n", "accuracy"], rows)
    keep("context-masked", rows)


def _drawn() -> dict[str, list[Hidden]]:
    """A seeded sample of Brown's prepositions, and of its articles, in random order."""
    places: dict[str, list[Hidden]] = defaultdict(list)
    for group in _groups(islice(brown_essays(), 0, None, EVERY)):
        for sentences in analyse_all(group):
            for sentence in sentences:
                for head, hidden in _hidden(sentence):
                    places[head].append(hidden)
    drawn = {}
    for head, listed in places.items():
        order = generator(0, "context", head).permutation(len(listed))[: N_MASKED[head]]
        drawn[head] = [listed[number] for number in order.tolist()]
        print(f"{head}: {len(listed):,} in Brown, {len(drawn[head]):,} drawn", flush=True)
    return drawn


def _groups(essays: Iterable[Essay]) -> Iterator[list[Essay]]:
    waiting = iter(essays)
    while group := list(islice(waiting, 500)):
        yield group


def _right(network: Network, detector: ContextDetector, head: str, drawn: Sequence[Hidden]) -> Truths:
    chances = _hidden_prepositions if head == "prep" else _hidden_articles
    hits = []
    for start in range(0, len(drawn), 1000):
        block = drawn[start : start + 1000]
        hits.append(chances(network, detector, block).argmax(axis=1) == np.array([one.answer for one in block]))
    return np.concatenate(hits)


def _hidden_prepositions(network: Network, detector: ContextDetector, drawn: Sequence[Hidden]) -> Values:
    return _at_hole(network, detector, drawn, PREP_HEAD)[:, :34]


def _hidden_articles(network: Network, detector: ContextDetector, drawn: Sequence[Hidden]) -> Values:
    """Both questions that the network has for a place without an article: a hole that may be none, and a gap."""
    hole = _at_hole(network, detector, drawn, ARTICLE_HEAD)
    without = [(*one.words[: one.index], *one.words[one.index + 1 :]) for one in drawn]
    rows = answer_sentences(network, detector.vocabulary, without, asked=[(one.index,) for one in drawn])
    return (1 - AS_GAP) * hole + AS_GAP * log_shares(np.concatenate(rows), ARTICLE_GAP_HEAD)


def _at_hole(network: Network, detector: ContextDetector, drawn: Sequence[Hidden], head: Head) -> Values:
    """The log-probabilities of a head's answers where the hidden word stood."""
    places = [one.index for one in drawn]
    asked = [(place,) for place in places]
    rows = answer_sentences(network, detector.vocabulary, [one.words for one in drawn], masked=places, asked=asked)
    return log_shares(np.concatenate(rows), head)


def native_texts(file: Path | None) -> dict[str, Callable[[], Iterator[Essay]]]:
    """Well-formed text that the network did not learn from, or a file of your own."""
    if file is not None:
        return {file.stem: lambda: as_texts(open_source(file).lines())}
    return {
        "Brown": lambda: as_texts(lines_of("native-test/brown.txt.xz")),
        "Brown, sentence by sentence": brown_essays,
        "SCOTUS": lambda: as_texts(lines_of("native/scotus.txt.xz")),
        "GUM, essays": lambda: as_essays(_of_gum("essay")),
        "GUM, other writing": lambda: as_essays(_of_gum(*WRITTEN)),
    }


def _of_gum(*genres: str) -> Iterator[str]:
    """Documents of the training part of GUM in these genres, a sentence per line."""
    documents: dict[str, list[str]] = defaultdict(list)
    document = ""
    for line in lines_of("ud/gum-train.conllu.gz"):
        if line.startswith("# sent_id = "):
            document = line.rpartition("-")[0]
        elif line.startswith("# text = ") and document.split("_")[2] in genres:
            documents[document].append(line.removeprefix("# text = ").strip())
    return map("\n".join, documents.values())


def as_essays(texts: Iterable[str]) -> Iterator[Essay]:
    return (Essay(str(number), text.strip()) for number, text in enumerate(texts))


def as_texts(lines: Iterable[str]) -> Iterator[Essay]:
    """Essays of many lines each."""
    rest = map(str.strip, lines)
    return as_essays(map("\n".join, iter(lambda: list(islice(rest, N_LINES)), [])))


def some(essays: Iterable[Essay], n_words: int, *, every: int = 1) -> tuple[list[Essay], int]:
    """Essays up to a number of words."""
    taken, n = [], 0
    for essay in islice(essays, 0, None, every):
        taken.append(essay)
        n += len(essay.text.split())
        if n >= n_words:
            break
    return taken, n


def native(options: Options) -> None:
    """Flags per 1,000 words of well-formed text."""
    systems = [options.detector, *(load_system(name) for name in ("prep-maxent", "prep-both", "article"))]
    rows = []
    for name, read in native_texts(options.native).items():
        essays, n_words = some(read(), N_NATIVE_WORDS, every=EVERY if name.startswith("Brown") else 1)
        for system in systems:
            by_kind: dict[str, int] = defaultdict(int)
            for finding in system.find(essays):
                by_kind[finding.item.kind] += finding.decision.flagged
            rates = [f"{1000 * by_kind[kind] / n_words:.2f}" if kind in system.kinds else "–" for kind in TAGS]
            rows.append([name, f"{n_words:,}", system.name, f"{1000 * sum(by_kind.values()) / n_words:.2f}", *rates])
    table(["text", "words", "system", "flags per 1,000", *TAGS], rows)
    keep("context-native", rows)


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Items of one kind by one system: score, whether flagged, whether an error (of the kind, of any), document."""

    score: Values
    flagged: Truths
    is_error: Truths
    is_any: Truths
    document: npt.NDArray[np.int64]

    def at(self, rows: npt.NDArray[np.int64]) -> Scored:
        return Scored(
            self.score[rows], self.flagged[rows], self.is_error[rows], self.is_any[rows], self.document[rows]
        )


def precision_at(scored: Scored, recall: float, *, of_any: bool = False) -> float:
    """The precision where the highest scores reach a recall of the errors of the kind."""
    order = np.argsort(-scored.score, kind="stable")
    hits = np.cumsum(scored.is_error[order])
    if not len(hits) or not hits[-1]:
        return float("nan")
    place = int(np.searchsorted(hits, recall * hits[-1]))
    right = scored.is_any if of_any else scored.is_error
    return float(right[order][: place + 1].mean())


def flagged_scores(scored: Scored) -> tuple[float, float, float]:
    """Precision, precision of any correction, recall, at the system's own threshold."""
    flagged = scored.flagged
    if not flagged.any():
        return float("nan"), float("nan"), 0.0
    hits = float((flagged & scored.is_error).sum())
    return hits / flagged.sum(), float(scored.is_any[flagged].mean()), hits / max(1, int(scored.is_error.sum()))


def scored_items(findings: Sequence[Finding], essays: Sequence[Essay], kind: str) -> Scored:
    own = [finding for finding in findings if finding.item.kind == kind]
    items = [finding.item for finding in own]
    error, touched = error_items(essays, items, kind), any_items(essays, items)
    documents = {essay.essay_id: str(essay.metadata.get("document")) for essay in essays}
    names = sorted(set(documents.values()))
    ids = [item.item_id for item in items]
    return Scored(
        score=np.array([-1e9 if finding.decision.score is None else finding.decision.score for finding in own]),
        flagged=np.array([finding.decision.flagged for finding in own]),
        is_error=np.array([item in error for item in ids]),
        is_any=np.array([item in touched for item in ids]),
        document=np.array([names.index(documents[item.essay_id]) for item in items]),
    )


def error_items(essays: Sequence[Essay], items: Iterable[Item], kind: str) -> frozenset[str]:
    return right_items(essays, items, tags=TAGS[kind], raters=OFFICIAL)


def any_items(essays: Sequence[Essay], items: Iterable[Item]) -> frozenset[str]:
    tags = {edit.tag for essay in essays for edit in essay.edits}
    return right_items(essays, items, tags=tags, raters=OFFICIAL)


def learner_documents() -> list[Essay]:
    """The sentences of CoNLL-2014 joined to the essays that they come from, a line each, with their edits."""
    by_document: dict[str, list[Essay]] = defaultdict(list)
    for sentence in learner_essays():
        by_document[str(sentence.metadata.get("document"))].append(sentence)
    return [_joined(document, sentences) for document, sentences in by_document.items()]


def _joined(document: str, sentences: Sequence[Essay]) -> Essay:
    edits, start = list[Edit](), 0
    for sentence in sentences:
        for edit in sentence.edits:
            edits.append(replace(edit, span=Span(edit.span.start + start, edit.span.end + start)))
        start += len(sentence.text) + 1
    return Essay(
        document,
        "\n".join(sentence.text for sentence in sentences),
        edits=tuple(edits),
        annotators=sentences[0].annotators,
        metadata={"document": document},
    )


def halves(essays: Sequence[Essay]) -> tuple[list[Essay], list[Essay]]:
    """Documents in turn: one half to tune on, one to report."""
    documents = sorted({str(essay.metadata.get("document")) for essay in essays})
    tuned = set(documents[::2])
    return (
        [essay for essay in essays if str(essay.metadata.get("document")) in tuned],
        [essay for essay in essays if str(essay.metadata.get("document")) not in tuned],
    )


def learners(options: Options) -> None:
    """Every kind beside the classical systems, on all of CoNLL-2014 by rank and on the held-out half by threshold."""
    essays = learner_documents()
    _, held_out = halves(essays)
    held_ids = {essay.essay_id for essay in held_out}
    everywhere = {options.detector.name: _ranked(options.detector, essays)}
    own = {options.detector.name: list(options.detector.find(essays))}
    rows = []
    for kind, names in CLASSICAL.items():
        for name in names:
            if name not in own:
                own[name] = everywhere[name] = list(load_system(name).find(essays))
        by_name = {name: scored_items(everywhere[name], essays, kind) for name in (options.detector.name, *names)}
        for name, scored in by_name.items():
            own_half = [finding for finding in own[name] if finding.item.essay_id in held_ids]
            at_own = flagged_scores(scored_items(own_half, held_out, kind))
            at_recall = _interval(scored, lambda each: precision_at(each, RECALL))
            of_any = precision_at(scored, RECALL, of_any=True)
            versus = "" if name == options.detector.name else _paired(by_name[options.detector.name], scored)
            rows.append(
                [
                    kind,
                    name,
                    f"{int(scored.is_error.sum())}",
                    cell(at_recall),
                    f"{of_any:.3f}",
                    versus,
                    *(f"{value:.3f}" for value in at_own),
                ]
            )
            print(rows[-1], flush=True)
    headers = [
        "kind",
        "system",
        "errors",
        f"P at R {RECALL}",
        "any",
        "context - this",
        "own P",
        "own P, any",
        "own R",
    ]
    table(headers, rows)
    keep("context-learners", rows)


def _ranked(detector: ContextDetector, essays: Sequence[Essay]) -> list[Finding]:
    """Findings whose scores are probabilities of being right, so that types of error can be ranked together."""
    by_essay: dict[str, dict[str, list[PossibleFlag]]] = defaultdict(lambda: defaultdict(list))
    for flag in possible_flags(detector, essays):
        by_essay[flag.item.essay_id][flag.item.item_id].append(flag)
    best: dict[str, float] = {}
    for by_item in by_essay.values():
        corrections = [[(flag.name, flag.margin) for flag in flags] for flags in by_item.values()]
        for item_id, own, shift in zip(by_item, corrections, shifts(corrections, detector.calibrations), strict=True):
            best[item_id] = max(detector.calibrations[name].probability(margin + shift) for name, margin in own)
    return [
        replace(finding, decision=replace(finding.decision, score=best[finding.item.item_id]))
        for finding in detector.find(essays)
    ]


def _resampled(scored: Scored) -> Iterator[npt.NDArray[np.int64]]:
    rng = generator(0, "context", "documents")
    documents = np.unique(scored.document)
    rows = {document: np.flatnonzero(scored.document == document) for document in documents.tolist()}
    for _ in range(N_RESAMPLES):
        yield np.concatenate([rows[document] for document in rng.choice(documents, len(documents)).tolist()])


def _interval(scored: Scored, score: Callable[[Scored], float]) -> Interval:
    drawn = [score(scored.at(rows)) for rows in _resampled(scored)]
    return Interval(score(scored), float(np.nanquantile(drawn, 0.025)), float(np.nanquantile(drawn, 0.975)))


def _paired(first: Scored, second: Scored) -> str:
    """The difference of two systems on the same resampled documents."""
    differences = []
    rng = generator(0, "context", "paired")
    documents = np.unique(np.concatenate([first.document, second.document]))
    places = [
        {document: np.flatnonzero(each.document == document) for document in documents.tolist()}
        for each in (first, second)
    ]
    for _ in range(N_RESAMPLES):
        drawn = rng.choice(documents, len(documents)).tolist()
        values = [
            precision_at(each.at(np.concatenate([of[document] for document in drawn])), RECALL)
            for each, of in zip((first, second), places, strict=True)
        ]
        differences.append(values[0] - values[1])
    value = precision_at(first, RECALL) - precision_at(second, RECALL)
    low, high = np.nanquantile(differences, [0.025, 0.975])
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


def extraneous(options: Options) -> None:
    """Deleted by some of ten annotators, against as many prepositions that nobody touched, as if balanced."""
    essays = {essay.essay_id: essay for essay in learner_essays()}
    documents = sorted({str(essay.metadata.get("document")) for essay in essays.values()})
    margins, deleters, where = list[float](), list[int](), list[int]()
    for flag in possible_flags(options.detector, list(essays.values())):
        essay, span = essays[flag.item.essay_id], flag.item.span
        near = [edit for edit in essay.edits if edit.span.start <= span.end and span.start <= edit.span.end]
        raters = {edit.rater for edit in near if edit.tag == "Prep" and "" in edit.replacements and edit.span == span}
        if flag.name == "prep-extraneous" and (raters or not near):
            margins.append(flag.margin)
            deleters.append(len(raters))
            where.append(documents.index(str(essay.metadata.get("document"))))
    n_deleters, rows = np.array(deleters), []
    for least in DELETERS:
        kept = np.flatnonzero((n_deleters == 0) | (n_deleters >= least))
        is_wrong = n_deleters[kept] >= least
        scored = Scored(np.array(margins)[kept], is_wrong, is_wrong, is_wrong, np.array(where)[kept])
        at = [_interval(scored, partial(balanced_precision, recall=recall)) for recall in BALANCED_RECALLS]
        rows.append([f"{least}", f"{is_wrong.sum()}", f"{(~is_wrong).sum()}", *map(cell, at)])
    table(["deleted by at least", "deleted", "untouched", *(f"P at R {recall}" for recall in BALANCED_RECALLS)], rows)
    keep("context-extraneous", rows)


def balanced_precision(scored: Scored, recall: float) -> float:
    """The precision where the highest scores reach a recall, if there were as many right uses as wrong ones."""
    wrong = np.sort(scored.score[scored.is_error])[::-1]
    if not len(wrong):
        return float("nan")
    threshold = wrong[int(np.ceil(recall * len(wrong))) - 1]
    share, alarms = (wrong >= threshold).mean(), (scored.score[~scored.is_error] >= threshold).mean()
    return float(share / (share + alarms))


def precision(options: Options) -> None:
    """What --precision keeps on the half of CoNLL-2014 that it was not fitted on."""
    _, held_out = halves(learner_documents())
    rows = []
    for level in (None, *PRECISIONS):
        detector = options.detector if level is None else options.detector.with_precision(level)
        findings = list(detector.find(held_out))
        flags = [finding for finding in findings if finding.decision.flagged]
        n_right = n_any = 0
        for kind in TAGS:
            items = [finding.item for finding in flags if finding.item.kind == kind]
            n_right += len(error_items(held_out, items, kind)) if items else 0
            n_any += len(any_items(held_out, items)) if items else 0
        name = "shipped" if level is None else f"{level:g}"
        rows.append([name, str(len(flags)), cell(wilson(n_right, len(flags))), cell(wilson(n_any, len(flags)))])
    table(["--precision", "flags", "right: this kind", "right: any correction"], rows)
    keep("context-precision", rows)


def speed(options: Options) -> None:
    """Sentences per CPU second from text to decisions, the first answer of `grater check`, and memory."""
    kept, lengths = _like_fce(options.detector.vocabulary)
    list(options.detector.find(kept[:50]))
    started, at = process_time(), perf_counter()
    list(options.detector.find(kept))
    seconds, wall = process_time() - started, perf_counter() - at
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(kept):,} sentences of GUG, {np.mean(lengths):.1f} pieces each: {len(kept) / seconds:.0f} sentences, "
        f"{sum(lengths) / seconds:,.0f} pieces per CPU second ({len(kept) / wall:.0f} sentences per second); "
        f"peak {peak:.0f} MB"
    )
    first_answer(options)


def _like_fce(vocabulary: PieceVocabulary) -> tuple[list[Essay], list[int]]:
    """Sentences of learners (GUG, Heilman et al. 2014) of the FCE's length, and their pieces."""
    essays = [Essay(str(number), line.split("\t")[1]) for number, line in enumerate(lines_of(GUG)) if number]
    kept, lengths = [], []
    for essay, sentences in zip(essays, analyse_all(essays), strict=True):
        n = sum(len(vocabulary.encode(word)) for sentence in sentences for word in sentence.words)
        if len(sentences) == 1 and LIKE_FCE[0] <= n <= LIKE_FCE[1]:
            kept.append(essay)
            lengths.append(n)
    return kept, lengths


def first_answer(options: Options) -> None:
    times = []
    for _ in range(3):
        command = [sys.executable, "-c", PROGRAM, "check", "-", "--system", options.system]
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        answer = subprocess.run(command, input="He arrived to the station in Monday.", text=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        times.append((perf_counter() - started, cpu))
        memory = answer.stderr.strip().splitlines()[-1]
    wall, cpu = map(min, zip(*times, strict=True))
    print(f"first answer of grater check: {wall:.2f} s, {cpu:.2f} CPU s; its peak memory {memory} MB")


PROGRAM = """
import resource, sys
from grater.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, file=sys.stderr)
"""


def usual(options: Options) -> None:
    """The share of corrections that are signs of errors, on the half that calibrations come from."""
    essays, _ = halves(learner_documents())
    flags = list(possible_flags(options.detector, essays))
    for name, calibration in options.detector.calibrations.items():
        print(f"{name}: {usual_share(flags, name, calibration)}")


def calibrate(options: Options) -> None:
    """Fit the calibrations, choose thresholds, write the model."""
    essays, _ = halves(learner_documents())
    if options.well_formed is None:
        raise SystemExit("calibrate needs --well-formed FILE: sentences that the network did not learn from")
    with options.well_formed.open(encoding="utf-8") as lines:
        well_formed, _ = some(as_essays(lines), N_NATIVE_WORDS)
    fitted = calibrated(options.detector, essays, well_formed, tags=TAGS, raters=OFFICIAL)
    calibrations = {
        name: fitted[name] if name in (options.only or NAMES) else kept
        for name, kept in options.detector.calibrations.items()
    }
    for name, calibration in calibrations.items():
        print(name, calibration.as_json())
    graph = options.graph()
    save(
        options.path,
        graph=graph,
        pieces=options.detector.vocabulary.pieces,
        calibrations=calibrations,
        card=options.detector.card,
    )
    print(f"{options.path}: {options.path.stat().st_size / 1e6:.1f} MB")


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """What is measured."""

    system: str
    path: Path
    float_graph: Path | None
    well_formed: Path | None
    native: Path | None
    only: Sequence[str]
    detector: ContextDetector

    def graph(self) -> bytes:
        return read_model(self.path, kind="context").arrays["network"].tobytes()


PARTS: dict[str, Callable[[Options], None]] = {
    "masked": masked,
    "native": native,
    "learners": learners,
    "extraneous": extraneous,
    "precision": precision,
    "speed": speed,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python benchmarks/context.py", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join([*PARTS, "usual", "calibrate"]))
    parser.add_argument("--model", type=Path, help="a model file; the one that comes with grater if not given")
    parser.add_argument("--float", type=Path, help="the network before it was quantised, as ONNX")
    parser.add_argument("--well-formed", type=Path, help="text, a sentence per line, to choose thresholds on")
    parser.add_argument("--only", nargs="+", default=(), choices=NAMES, help="names of error to calibrate anew")
    parser.add_argument("--native", type=Path, help="text, a paragraph per line, in place of Brown and the court's")
    wanted = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    if wanted.model is None and "context" not in shipped_names():
        print("no model of kind context comes with grater yet; name one: --model FILE", file=sys.stderr)
        return 2
    path = wanted.model or shipped("context")
    system = str(wanted.model) if wanted.model else "context"
    options = Options(
        system=system,
        path=path,
        float_graph=wanted.float,
        well_formed=wanted.well_formed,
        native=wanted.native,
        only=wanted.only,
        detector=from_file(path),
    )
    for part in wanted.parts or PARTS:
        print(f"\n## {part}\n", flush=True)
        {**PARTS, "usual": usual, "calibrate": calibrate}[part](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
