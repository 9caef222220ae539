"""The figures of `context` (README.md): `python -m figures context [PART ...] [--model FILE] [--calibrate TEXT]`.

Parts: masked (Brown, each preposition and article hidden), native (flags per 1,000 words), learners (CoNLL-2014
beside the classical systems), extraneous (balanced), precision (what `--precision` keeps), speed, usual (the share of
corrections that are signs of errors).  `any` counts a flag as right where one of the two official annotators corrects
that word in any way.  Intervals resample documents.  Precision at a recall needs no threshold and is measured on all
documents; what depends on thresholds, on the half that they were not fitted on.
"""

from __future__ import annotations

import argparse
import os
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

from figures.data import (
    EVERY,
    N_NATIVE_WORDS,
    OFFICIAL,
    TAGS,
    as_essays,
    brown_essays,
    cell,
    halves,
    learner_documents,
    learner_essays,
    lines_of,
    some,
    table,
)
from grater.corpora.text.analysis import Sentence, analyse_all
from grater.corpora.text.prepositions import canonical
from grater.detect.context.calibration import PRECISIONS, shifts
from grater.detect.context.detector import ContextDetector, from_file, log_shares, save
from grater.detect.context.heads import ARTICLE_GAP_HEAD, ARTICLE_HEAD, PREP_HEAD, Head
from grater.detect.context.network import answer_sentences
from grater.detect.context.pieces import PieceVocabulary
from grater.detect.context.slots import slots_of
from grater.detect.detector import Finding
from grater.detect.prepositions.candidates import COLUMN_OF, preposition_places
from grater.detect.systems import load_system
from grater.model import Essay, Interval, Item
from grater.models import read_model, shipped
from grater.uncertainty import generator, wilson
from grater_train.context.tuning import PossibleFlag, calibrated, possible_flags, right_items, usual_share

N_RESAMPLES = 1000
Values = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


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


def interval(scored: Scored, score: Callable[[Scored], float]) -> Interval:
    drawn = [score(scored.at(rows)) for rows in _resampled(scored)]
    return Interval(score(scored), float(np.nanquantile(drawn, 0.025)), float(np.nanquantile(drawn, 0.975)))


def _resampled(scored: Scored) -> Iterator[npt.NDArray[np.int64]]:
    rng = generator(0, "context", "documents")
    documents = np.unique(scored.document)
    rows = {document: np.flatnonzero(scored.document == document) for document in documents.tolist()}
    for _ in range(N_RESAMPLES):
        yield np.concatenate([rows[document] for document in rng.choice(documents, len(documents)).tolist()])


def paired(first: Scored, second: Scored, recall: float) -> str:
    """The difference of two systems in precision at a recall, on the same resampled documents."""
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
            precision_at(each.at(np.concatenate([of[document] for document in drawn])), recall)
            for each, of in zip((first, second), places, strict=True)
        ]
        differences.append(values[0] - values[1])
    value = precision_at(first, recall) - precision_at(second, recall)
    low, high = np.nanquantile(differences, [0.025, 0.975])
    return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


N_MASKED = {"prep": 20_000, "article": 10_000}
AS_GAP = 0.4
"""The weight of the gap beside the hole where an article is hidden, chosen on held-out sentences."""


def masked(detector: ContextDetector) -> None:
    """Accuracy on Brown, one word hidden at a time."""
    rows = []
    for head, drawn in _drawn().items():
        hits = 0
        for start in range(0, len(drawn), 1000):
            block = drawn[start : start + 1000]
            chances = (
                _at_hole(detector, block, PREP_HEAD)[:, :34] if head == "prep" else _hidden_articles(detector, block)
            )
            hits += int((chances.argmax(axis=1) == np.array([one.answer for one in block])).sum())
        rows.append([head, f"{len(drawn):,}", cell(wilson(hits, len(drawn)))])
    table(["hidden", "n", "accuracy"], rows)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A word of a sentence that the network does not see, and the column of what stood there."""

    words: tuple[str, ...]
    index: int
    answer: int


def _drawn() -> dict[str, list[Hidden]]:
    """A seeded sample of Brown's prepositions, and of its articles, in random order."""
    places: dict[str, list[Hidden]] = defaultdict(list)
    waiting = islice(brown_essays(), 0, None, EVERY)
    while group := list(islice(waiting, 500)):
        for sentences in analyse_all(group):
            for head, hidden in (each for sentence in sentences for each in _hidden(sentence)):
                places[head].append(hidden)
    orders = {head: generator(0, "context", head).permutation(len(listed)) for head, listed in places.items()}
    return {head: [listed[at] for at in orders[head][: N_MASKED[head]].tolist()] for head, listed in places.items()}


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


def _hidden_articles(detector: ContextDetector, drawn: Sequence[Hidden]) -> Values:
    """Both questions that the network has for a place without an article: a hole that may be none, and a gap."""
    without = [(*one.words[: one.index], *one.words[one.index + 1 :]) for one in drawn]
    asked = [(one.index,) for one in drawn]
    rows = answer_sentences(detector.network, detector.vocabulary, without, asked=asked)
    gap = log_shares(np.concatenate(rows), ARTICLE_GAP_HEAD)
    return (1 - AS_GAP) * _at_hole(detector, drawn, ARTICLE_HEAD) + AS_GAP * gap


def _at_hole(detector: ContextDetector, drawn: Sequence[Hidden], head: Head) -> Values:
    """The log-probabilities of a head's answers where the hidden word stood."""
    places = [one.index for one in drawn]
    asked, words = [(place,) for place in places], [one.words for one in drawn]
    rows = answer_sentences(detector.network, detector.vocabulary, words, masked=places, asked=asked)
    return log_shares(np.concatenate(rows), head)


N_LINES = 100
"""Lines of well-formed text that are read as one essay: some 2,000 words of Brown, as long as its samples are."""
WRITTEN = ("academic", "bio", "letter", "news", "textbook", "voyage", "whow")
"""Genres of GUM that are written and edited."""


def native(detector: ContextDetector) -> None:
    """Flags per 1,000 words of well-formed text."""
    systems = [detector, *(load_system(name) for name in ("prep-maxent", "prep-both", "article"))]
    rows = []
    for name, read in _native_texts().items():
        essays, n_words = some(read(), N_NATIVE_WORDS, every=EVERY if name.startswith("Brown") else 1)
        for system in systems:
            by_kind: dict[str, int] = defaultdict(int)
            for finding in system.find(essays):
                by_kind[finding.item.kind] += finding.decision.flagged
            rates = [f"{1000 * by_kind[kind] / n_words:.2f}" if kind in system.kinds else "–" for kind in TAGS]
            rows.append([name, f"{n_words:,}", system.name, f"{1000 * sum(by_kind.values()) / n_words:.2f}", *rates])
    table(["text", "words", "system", "flags per 1,000", *TAGS], rows)


def _native_texts() -> dict[str, Callable[[], Iterator[Essay]]]:
    """Well-formed text that the network did not learn from."""
    return {
        "Brown": lambda: _as_texts(lines_of("native-test/brown.txt.xz")),
        "Brown, sentence by sentence": brown_essays,
        "SCOTUS": lambda: _as_texts(lines_of("native/scotus.txt.xz")),
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


def _as_texts(lines: Iterable[str]) -> Iterator[Essay]:
    """Essays of many lines each."""
    rest = map(str.strip, lines)
    return as_essays(map("\n".join, iter(lambda: list(islice(rest, N_LINES)), [])))


CLASSICAL = {
    "prep": ("prep-maxent", "prep-both"),
    "prep-missing": ("prep-maxent", "prep-both"),
    "article": ("article",),
    "number": ("article",),
    "verb-form": (),
}
RECALL = 0.19


def learners(detector: ContextDetector) -> None:
    """Every kind beside the classical systems, on all of CoNLL-2014 by rank and on the held-out half by threshold."""
    essays = learner_documents()
    _, held_out = halves(essays)
    held_ids = {essay.essay_id for essay in held_out}
    everywhere = {detector.name: _ranked(detector, essays)}
    own = {detector.name: list(detector.find(essays))}
    rows = []
    for kind, names in CLASSICAL.items():
        for name in names:
            if name not in own:
                own[name] = everywhere[name] = list(load_system(name).find(essays))
        by_name = {name: scored_items(everywhere[name], essays, kind) for name in (detector.name, *names)}
        for name, scored in by_name.items():
            own_half = [finding for finding in own[name] if finding.item.essay_id in held_ids]
            at_own = flagged_scores(scored_items(own_half, held_out, kind))
            at_recall = interval(scored, lambda each: precision_at(each, RECALL))
            of_any = precision_at(scored, RECALL, of_any=True)
            versus = "" if name == detector.name else paired(by_name[detector.name], scored, RECALL)
            errors = f"{int(scored.is_error.sum())}"
            at_own = [f"{value:.3f}" for value in at_own]
            rows.append([kind, name, errors, cell(at_recall), f"{of_any:.3f}", versus, *at_own])
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


def precision(detector: ContextDetector) -> None:
    """What --precision keeps on the half of CoNLL-2014 that it was not fitted on."""
    _, held_out = halves(learner_documents())
    rows = []
    for level in (None, *PRECISIONS):
        detector = detector if level is None else detector.with_precision(level)
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


TEN = tuple(f"A{number}" for number in range(1, 11))
DELETED_BY = (
    ("one of the two", OFFICIAL, 1),
    ("two of ten", TEN, 2),
    ("three of ten", TEN, 3),
    ("five of ten", TEN, 5),
)
RECALLS = (0.3, 0.4, 0.5, 0.6)


def extraneous(detector: ContextDetector) -> None:
    """Deleted by some annotators, against as many prepositions that none of them touched, as if balanced."""
    uses = list(_uses(detector))
    documents = sorted({document for *_, document in uses})
    rows = []
    for name, raters, least in DELETED_BY:
        counted = [(each, len(each[1] & {*raters}) >= least) for each in uses]
        kept = [(each, is_wrong) for each, is_wrong in counted if is_wrong or not each[2] & {*raters}]
        is_wrong = np.array([is_wrong for _, is_wrong in kept])
        where = np.array([documents.index(each[3]) for each, _ in kept])
        scored = Scored(np.array([each[0] for each, _ in kept]), is_wrong, is_wrong, is_wrong, where)
        at = [interval(scored, partial(_balanced_precision, recall=recall)) for recall in RECALLS]
        rows.append([name, f"{is_wrong.sum()}", f"{(~is_wrong).sum()}", *map(cell, at)])
    table(["deleted by at least", "deleted", "untouched", *(f"P at R {recall}" for recall in RECALLS)], rows)


def _uses(detector: ContextDetector) -> Iterator[tuple[float, set[str], set[str], str]]:
    """Of each preposition the margin of deleting it, who deletes it, who changes anything there, its document."""
    essays = {essay.essay_id: essay for essay in learner_essays()}
    for flag in possible_flags(detector, list(essays.values())):
        if flag.name != "prep-extraneous":
            continue
        essay, span = essays[flag.item.essay_id], flag.item.span
        near = [edit for edit in essay.edits if edit.span.start <= span.end and span.start <= edit.span.end]
        deleters = {e.rater for e in near if e.tag == "Prep" and "" in e.replacements and e.span == span}
        yield flag.margin, deleters, {edit.rater for edit in near}, str(essay.metadata.get("document"))


def _balanced_precision(scored: Scored, recall: float) -> float:
    """The precision where the highest scores reach a recall, if there were as many right uses as wrong ones."""
    wrong = np.sort(scored.score[scored.is_error])[::-1]
    if not len(wrong):
        return float("nan")
    threshold = wrong[int(np.ceil(recall * len(wrong))) - 1]
    share, alarms = (wrong >= threshold).mean(), (scored.score[~scored.is_error] >= threshold).mean()
    return float(share / (share + alarms))


def usual(detector: ContextDetector) -> None:
    """The share of corrections that are signs of errors, on the half that calibrations come from."""
    essays, _ = halves(learner_documents())
    flags = list(possible_flags(detector, essays))
    for name, calibration in detector.calibrations.items():
        print(f"{name}: {usual_share(flags, name, calibration)}")


def calibrate(detector: ContextDetector, path: Path, well_formed: Path) -> None:
    """Fit calibrations on half of CoNLL-2014, choose thresholds on well-formed text, write the model anew."""
    essays, _ = halves(learner_documents())
    with well_formed.open(encoding="utf-8") as lines:
        sentences, _ = some(as_essays(lines), N_NATIVE_WORDS)
    calibrations = calibrated(detector, essays, sentences, tags=TAGS, raters=OFFICIAL)
    for name, calibration in calibrations.items():
        print(name, calibration.as_json())
    network = read_model(path, kind="context").arrays["network"].tobytes()
    pieces = detector.vocabulary.pieces
    save(path, graph=network, pieces=pieces, calibrations=calibrations, card=detector.card)


GUG = "gug/gug_annotations.tsv"
LIKE_FCE = (12, 24)
"""Pieces of the sentences whose speed is measured: 18 on average, as in the FCE."""


def speed(detector: ContextDetector) -> None:
    """Sentences per CPU second from text to decisions, the first answer of `grater check`, and memory."""
    kept, lengths = _like_fce(detector.vocabulary)
    list(detector.find(kept[:50]))
    started, at = process_time(), perf_counter()
    list(detector.find(kept))
    seconds, wall = process_time() - started, perf_counter() - at
    print(
        f"{len(kept):,} sentences of GUG, {np.mean(lengths):.1f} pieces each: {len(kept) / seconds:.0f} sentences, "
        f"{sum(lengths) / seconds:,.0f} pieces per CPU second ({len(kept) / wall:.0f} sentences per second)"
    )
    times = []
    for _ in range(3):
        at = perf_counter()
        command = [sys.executable, "-m", "grater", "check", "-", "--system", "context"]
        subprocess.run(command, input="He arrived to the station in Monday.", text=True, capture_output=True)
        times.append(perf_counter() - at)
    print(f"first answer of grater check: {min(times):.2f} s")


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


PARTS: dict[str, Callable[[ContextDetector], None]] = {
    each.__name__: each for each in (masked, native, learners, extraneous, precision, speed, usual)
}


def main(words: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m figures context", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--model", type=Path, help="a model file; the shipped one if not given")
    parser.add_argument("--calibrate", type=Path, metavar="TEXT", help="calibrate the model anew on well-formed text")
    wanted = parser.parse_args(words)
    os.environ["OMP_NUM_THREADS"] = "1"
    path = wanted.model or shipped("context")
    detector = from_file(path)
    if wanted.calibrate:
        calibrate(detector, path, wanted.calibrate)
    for part in wanted.parts or ([] if wanted.calibrate else PARTS):
        print(f"\n## {part}\n", flush=True)
        PARTS[part](detector)
