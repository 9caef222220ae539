"""The figures of the preposition detectors (README.md): `python -m figures prepositions [PART ...]`.

- selection: which of 34 prepositions the writer used, in Brown (T&C 2008, Table 1), on which nothing was trained;
- learners: CoNLL-2014 against each of ten annotators (Bryant & Ng 2015), some of them, and their share.  An item is
  an error by a `Prep` edit on it, of *choice* unless the edit deletes, *extraneous* if it does.  `clean` leaves out,
  as T&C 2008 does, judgments of places where the annotator has another edit within two words;
- filters: what each filter does there, prepositions of all types together;
- protocol: 70 % of `native` for training, 30 % held out (T&C 2008, section 3.2), deduplicated by paragraph first;
- speed: tokens per CPU second from text to findings, and seconds to the first answer of `grater check`;
- curve: accuracy against the amount of training text; groups: each group of features left out.

The last three train models that are not pruned and take minutes each.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter, process_time

import numpy as np
import polars as pl

from figures.data import NATIVE, WORK, brown_essays, cell, conll14, lines_of, native_lines, need, table
from grater.corpora.judgments import items_of, judgments_from_edits, overlaps, reach
from grater.corpora.normalise import TokenEdit, normalised_edits
from grater.corpora.text.analysis import analyse, analyse_all
from grater.corpora.text.tokens import tokens_of
from grater.detect.decisions import DecisionRows
from grater.detect.detector import Detector, grouped
from grater.detect.linear import Vocabulary
from grater.detect.ngrams.counts import HELD_OUT
from grater.detect.prepositions.candidates import ANSWERS, NONE
from grater.detect.prepositions.detector import NAMES, PrepositionDetector
from grater.detect.prepositions.features import ALL, HASHING, TEMPLATES, stemmed
from grater.detect.prepositions.selection import result_of, tally_of
from grater.detect.systems import load_system
from grater.measure.evaluation.cases import Cases, Truth, cases_of
from grater.measure.evaluation.standard import Scored, against, each_rater, weighted
from grater.model import DELETE, Essay, Interval
from grater.tables import Judgments, Table
from grater.uncertainty import Basis, generator, wilson
from grater_train.events import Events, keep, kept, renumbered, renumbering, source_of
from grater_train.fitting import all_keys, fit_maxent, looked_up, numbered
from grater_train.prepositions import GAP_RATE, LAYOUT, batch_of, batches_of, gathered
from grater_train.stems import stem_numbers

SYSTEMS = ("prep-maxent", "prep-perceptron", "prep-lm", "prep-both", "context")
TC2008 = dict(
    zip(
        ("in", "for", "of", "on", "to", "with", "at", "by", "as", "from", "about"),
        (0.845, 0.698, 0.906, 0.751, 0.775, 0.675, 0.685, 0.747, 0.711, 0.591, 0.654),
        strict=True,
    )
)
"""F of Table 1, on Encarta and Reuters."""
SENTENCE = (
    "On the other hand, it depends on the teacher whether the time spent at a computer is of any use for the class."
)
NEAR = 2
AT_LEAST = (1, 2, 3, 5)
TYPES = ("choice", "extraneous", "missing")
BASIS = Basis()
KEPT = WORK / "events.npz"
BROWN = "native-test/brown.txt.xz"
TRAINED, TENTH, SHARES = 70, 12, (4, 7, 12, 22, 42, 100)
"""Folds of a hundred that are trained on: the papers' protocol, a tenth of the text, the points of the curve."""


def selection() -> None:
    found = {}
    for name, detector in preposition_detectors():
        sentences = (
            (essay.essay_id, each)
            for group in grouped(brown_essays())
            for essay, of_essay in zip(group, analyse_all(group), strict=True)
            for each in of_essay
        )
        found[name] = result_of(name, tally_of(detector.engine, sentences))
    rows = [[name, f"{test.n:,}", cell(test.accuracy), cell(test.majority)] for name, test in found.items()]
    table(["system", "n", "accuracy", "majority"], rows)
    of_each = {name: {row.preposition: row for row in test.by_preposition} for name, test in found.items()}
    rows = [[word, *(cell(of_each[name][word].f1) for name in found), f"{f:.3f}"] for word, f in TC2008.items()]
    table(["preposition", *found, "T&C 2008"], rows)


def preposition_detectors() -> Iterator[tuple[str, PrepositionDetector]]:
    for name in SYSTEMS:
        detector = load_system(name)
        if isinstance(detector, PrepositionDetector):
            yield name, detector


def learners() -> None:
    essays = conll14()
    decisions = decided(essays, [load_system(name) for name in SYSTEMS])
    judgments = judgments_from_edits(essays, items_of(decisions), tags={"Prep"}, name="CoNLL-2014")
    noisy = noisy_judgments(essays, decisions)
    for context, judged in (("all", judgments), ("clean", without(judgments, noisy))):
        for type_name in TYPES:
            print(f"\n### {type_name}, {context} contexts\n")
            scores = scored(of_type(decisions, type_name), judgments_of_type(judged, type_name))
            systems = [each.system for each in next(iter(scores.values()))]
            rows = []
            for judge, found in scores.items():
                counts = found[0].counts
                cells = [cell(each[score]) for each in found for score in ("precision", "recall")]
                rows.append([judge, f"{counts.hit + counts.miss:.0f}", *cells])
            table(["judge", "errors", *(f"{system} {score}" for system in systems for score in "PR")], rows)


def decided(essays: list[Essay], detectors: list[Detector]) -> Table:
    rows = DecisionRows(with_places=True)
    for detector in detectors:
        rows.add(essays, detector)
    return Table("decisions", rows.decisions(), "CoNLL-2014")


def of_type(decisions: Table, type_name: str) -> Table:
    """Flags of one type only, on the items that can have it."""
    kind = "prep-missing" if type_name == "missing" else "prep"
    flagged = pl.col("flagged") & (pl.col("type") == type_name).fill_null(value=False)
    return replace(decisions, frame=decisions.frame.filter(pl.col("kind") == kind).with_columns(flagged=flagged))


def judgments_of_type(judged: Judgments, type_name: str) -> Judgments:
    """An error is one only if its correction is of the type: a deletion for extraneous, another word for choice."""
    if type_name == "missing":
        return judged
    deletes = pl.col("alternatives").fill_null("").str.split("|").list.contains(DELETE)
    is_error = (pl.col("label") == "error") & (deletes if type_name == "extraneous" else ~deletes)
    label = pl.when(is_error).then(pl.lit("error")).otherwise(pl.lit("ok"))
    return replace(judged, frame=judged.frame.with_columns(label=label))


def noisy_judgments(essays: list[Essay], decisions: Table) -> set[tuple[str, str]]:
    """(item, rater) where the rater has another edit within two words, or one of another tag on the item."""
    by_essay = defaultdict(list)
    for item_id, item in items_of(decisions).items():
        by_essay[item.essay_id].append((item_id, item))
    found = set()
    for essay in essays:
        tokens = tokens_of(essay)
        edits = [edit for edit in normalised_edits(essay) if not edit.is_empty]
        for item_id, item in by_essay[essay.essay_id]:
            place = reach(item.span, tokens)
            if place:
                found |= {(item_id, edit.rater) for edit in edits if is_noise(edit, *place)}
    return found


def is_noise(edit: TokenEdit, start: int, end: int) -> bool:
    if overlaps(edit, start, end):
        return edit.tag != "Prep"
    return edit.start <= end + NEAR and edit.end >= start - NEAR


def without(judged: Judgments, noisy: set[tuple[str, str]]) -> Judgments:
    pairs = pl.DataFrame(sorted(noisy), schema=["item", "rater"], orient="row")
    return replace(judged, frame=judged.frame.join(pairs, on=["item", "rater"], how="anti", maintain_order="left"))


def scored(decisions: Table, judged: Judgments) -> dict[str, list[Scored]]:
    """Every system against each rater, at least so many of the raters, and weighted by their share."""
    cases = cases_of(decisions, judged)
    by_rater = each_rater(cases, basis=BASIS)
    found = dict(by_rater)
    for least in AT_LEAST:
        found[f"at least {least} of ten"] = against(cases, at_least(cases, least), basis=BASIS)
    share = Truth("share", cases.share, is_graded=True, is_of_votes=True)
    found["weighted by share"] = weighted(cases, share, basis=BASIS)
    return found


def at_least(cases: Cases, least: int) -> Truth:
    values = np.where(cases.n_votes > 0, (cases.n_error >= least).astype(float), np.nan)
    return Truth(f"at least {least}", values, is_graded=False)


def filters() -> None:
    """All filters, each left out in turn, none."""
    essays = conll14()
    for name, detector in preposition_detectors():
        kept = {f"without {name}": [each for each in NAMES if each != name] for name in NAMES}
        ways = {"all": NAMES, **kept, "none": []}
        systems = [replace(detector.with_filters(few), name=title, kinds=("prep",)) for title, few in ways.items()]
        decisions = decided(essays, systems)
        judged = judgments_from_edits(essays, items_of(decisions), tags={"Prep"}, name="CoNLL-2014")
        cases = cases_of(decisions, judged)
        share = Truth("share", cases.share, is_graded=True, is_of_votes=True)
        soft = {each.system: each for each in weighted(cases, share, basis=BASIS)}
        rows = []
        for one in against(cases, at_least(cases, 2), basis=BASIS):
            other, flags = soft[one.system], f"{one.counts.hit + one.counts.false_alarm:.0f}"
            scores = [one["precision"], one["recall"], other["precision"], other["recall"]]
            rows.append([one.system, flags, *map(cell, scores)])
        table([f"filters of {name}", "flags", "P (2 of 10)", "R (2 of 10)", "P weighted", "R weighted"], rows)


def events() -> Events:
    """As `grater train prepositions --events` keeps them."""
    source = source_of([need(f"native/{name}.txt.xz") for name in NATIVE], gap_rate=GAP_RATE, seed=0)
    if not KEPT.exists():
        WORK.mkdir(parents=True, exist_ok=True)
        keep(gathered(batches_of(native_lines(), n_workers=2)), KEPT, source)
    return kept(KEPT, source)


def events_of(relative: str, vocabulary: Vocabulary) -> Events:
    """The prepositions of a test text in the numbers of a vocabulary."""
    batch = batch_of([line.strip() for line in lines_of(relative) if line.strip()], gap_rate=0)
    rows = renumbered(batch.rows, renumbering(batch.words, vocabulary), LAYOUT)
    return Events(stemmed(rows, stem_numbers(vocabulary)), batch.labels, batch.folds, vocabulary)


def accuracy(train: Events, tests: dict[str, Events], *, templates: tuple[int, ...] = ()) -> dict[str, Interval]:
    """A maximum-entropy model of some events, not pruned, on the prepositions of others."""
    dictionary, features = numbered(all_keys(HASHING, train.rows), templates=templates)
    weights = fit_maxent(features, train.labels, len(dictionary), len(ANSWERS), rng=generator(0, "benchmark"))
    del features
    found = {}
    for name, test in tests.items():
        is_prep = test.labels != NONE
        n_right = 0
        for block in np.array_split(np.flatnonzero(is_prep), max(1, is_prep.sum() // 20_000)):
            scores = weights[looked_up(all_keys(HASHING, test.rows[block]), dictionary)].sum(axis=1)
            n_right += int((scores[:, :NONE].argmax(axis=1) == test.labels[block]).sum())
        found[name] = wilson(n_right, int(is_prep.sum()))
    return found


def speed() -> None:
    text = "".join(f"{SENTENCE} It happened {number} times.\n" for number in range(4800))
    n_tokens, rows = sum(len(sentence.words) for sentence in analyse(text)), []
    for name in SYSTEMS:
        system = load_system(name)
        list(system.find([Essay("warm", text[:5000])]))
        started = process_time()
        n_findings = len(list(system.find([Essay("long", text)])))
        rate, starts = n_tokens / (process_time() - started), []
        for _ in range(3):
            started = perf_counter()
            command = [sys.executable, "-m", "grater", "check", "-", "--system", name]
            subprocess.run(command, input="He arrived to the station.", text=True, capture_output=True, check=True)
            starts.append(perf_counter() - started)
        rows.append([name, f"{n_tokens:,}", f"{n_findings:,}", f"{rate:,.0f}", f"{min(starts):.2f} s"])
    table(["system", "tokens", "candidates", "tokens/s", "first answer"], rows)


def protocol() -> None:
    whole = events()
    tests = {"30 % held out": whole.part(whole.folds >= TRAINED), "Brown": events_of(BROWN, whole.vocabulary)}
    found = accuracy(whole.part(whole.folds < TRAINED), tests)
    table(["test", "accuracy"], [[name, cell(value)] for name, value in found.items()])


def curve() -> None:
    whole = events()
    tests = {"held out": whole.part(whole.folds < HELD_OUT), "Brown": events_of(BROWN, whole.vocabulary)}
    rows = []
    for share in SHARES:
        train = whole.part((whole.folds >= HELD_OUT) & (whole.folds < share))
        rows.append([f"{int((train.labels != NONE).sum()):,}", *map(cell, accuracy(train, tests).values())])
    table(["prepositions", *tests], rows)


def groups() -> None:
    whole = events()
    train = whole.part((whole.folds >= HELD_OUT) & (whole.folds < TENTH))
    tests = {"held out": whole.part(whole.folds < HELD_OUT), "Brown": events_of(BROWN, whole.vocabulary)}
    prior, ways = ALL.index(ALL[-1]), dict[str, tuple[int, ...]](all=())
    for group in dict.fromkeys(template.group for template in TEMPLATES):
        left = (place for place, template in enumerate(TEMPLATES) if template.group != group)
        ways[f"without {group}"] = (*left, prior)
    rows = [[name, *map(cell, accuracy(train, tests, templates=way).values())] for name, way in ways.items()]
    table(["features", *tests], rows)


PARTS = {each.__name__: each for each in (selection, learners, filters, speed, protocol, curve, groups)}


def main(names: Sequence[str]) -> None:
    for part in names or PARTS:
        print(f"\n## {part}\n", flush=True)
        PARTS[part]()
