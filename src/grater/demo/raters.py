"""The raters of the sample study, simulated and labelled so wherever they are shown, and the items they judge.

The crowd.  The essays and what two annotators marked in them are our own writing; a crowd for each of 1,350
prepositions we could not write.  So raters are drawn: each has a skill, some are spammers, and a rater's judgment of
a preposition depends on the annotators.  Where both marked it a skilled rater nearly always calls it an error, where
neither did hardly ever, and where the two disagree the item gets a leaning of its own between the two: there the
crowd is split, as the crowds of the papers were.  With hidden gold (Madnani et al. 2011, section 3), raters below 70
% on the gold they met are ejected, their judgments untrusted, and others judge in their place.  Without, everybody's
judgments count (T,C&M 2013, 5.3).

Two raters of the studies of words.  Cloze (T&C 2008, 4.1): most blanks are clear, and everybody writes the writer's
word; in the others raters think of words that would fit, often of the same one.  Choice (4.2): where system
and writer differ, a rater finds the system's word as good in a third of the cases; the two mostly see it alike.
Constructions (Lee et al. 2009): the writer's own is nearly always accepted, those that are easily exchanged with it
often, others seldom; context narrows the choice.  The shares are near those that the papers report.

A blank of the cloze test is one preposition at random in a sentence, among those that nobody marked.  The nouns of
the constructions follow the paper's design on a corpus a thousand times smaller, so three phrases are enough to say
how a noun is mostly used.

The four crowd tasks of T,C&M 2013, 5.4, with hidden gold and without: confused prepositions, extraneous prepositions,
determiners and collocations.  For each task 150 places at random, as many as in the paper, two experts, and the crowd
twice.  For prepositions the experts are the two annotators: a preposition is confused where one would write another,
extraneous where one would delete it.  The annotators of the sample marked too few determiners (the places that the
article detector looks at) and collocations (pairs of words), so there the experts are simulated as well.  The cloze
crowd is that of 5.2: ten raters a blank, who mostly write the writer's word where the blank is clear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from grater.annotate.terms import TrustRule, is_below
from grater.corpora.judgments import judgments_from_edits
from grater.corpora.normalise import corrected_text
from grater.corpora.text.analysis import Sentence
from grater.corpora.text.prepositions import canonical
from grater.corpora.text.sentences import sentences_of
from grater.detect.articles.constructions import CONSTRUCTIONS, is_confusable
from grater.detect.articles.design import item_rows, places_in, select
from grater.detect.articles.phrases import ARTICLE, noun_phrases, place_of
from grater.detect.detector import Detector, Finding, analysed
from grater.detect.prepositions.candidates import PREP, preposition_places
from grater.measure.corrections.recall import FATES, GONE, REPLACED, THERE
from grater.model import DELETE, Edit, Essay, Item, Span
from grater.tables.schema import LEFT
from grater.uncertainty import Numbers, generator

Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
ERROR, OK = "error", "ok"
LEANINGS = {2: (0.93, 40.0), 1: (0.5, 3.0), 0: (0.03, 40.0)}
"""The probability that a perfect rater calls an item an error, by the number of annotators who marked it: its mean,
and how firm."""

RULE = TrustRule(minimum=0.7, least_seen=4)
GOLD_EVERY = 12
MINUTE = 60_000


N_EACH, N_RATERS, SPAMMERS = 10, 60, 0.2
"""Judgments per item, the pool of raters, and the share of spammers in it."""


def sample_crowd(marked: Mapping[str, int], *, has_gold: bool = True, seed: int = 0) -> pl.DataFrame:
    """Judgments of items, by how many of the two annotators marked each; the columns of the judgments table."""
    rng = generator(seed, "sample crowd", str(has_gold))
    leanings = np.array(
        [rng.beta(mean * firm, (1 - mean) * firm) for mean, firm in map(LEANINGS.__getitem__, marked.values())]
    )
    skills = np.where(rng.random(N_RATERS) < SPAMMERS, np.nan, rng.uniform(0.86, 1.0, N_RATERS))
    gold = rng.random(max(len(marked) // GOLD_EVERY, 1)) < 0.5  # what it says: errors and correct uses alike
    trusted = _trusted(skills, gold, rng) if has_gold else [True] * N_RATERS
    rows = list(_judged(list(marked), leanings, skills, trusted, rng))
    return pl.DataFrame(rows, schema=list(CROWD_COLUMNS), orient="row")


CROWD_COLUMNS = ("item", "rater", "label", "status", "seconds", "at", "group")


def gold_items(marked: Mapping[str, int], *, n: int = 75, seed: int = 0) -> list[str]:
    """Items fit for gold: both annotators say the same; half of them errors where there are enough."""
    rng = generator(seed, "sample gold")
    sides = [[item for item, n_marks in marked.items() if n_marks == wanted] for wanted in (2, 0)]
    chosen = [list(rng.permutation(side)[: n // 2 + n % 2]) for side in sides]
    return sorted(str(item) for side in chosen for item in side)[:n]


def _judged(
    items: Sequence[str], leanings: Numbers, skills: Numbers, trusted: Sequence[bool], rng: np.random.Generator
) -> Iterator[tuple[str, str, str, str, float, str, str]]:
    start = np.datetime64("2026-03-02T09:00:00.000")
    clock = 0
    for place, item in enumerate(items):
        valid = 0
        for rater in rng.permutation(len(skills)).tolist():
            if valid == N_EACH:
                break
            skill = skills[rater]
            is_spam = bool(np.isnan(skill))
            says_error = _says_error(leanings[place], skill, rng)
            status = "valid" if trusted[rater] else "untrusted"
            if status == "untrusted" and rng.random() < 0.7:
                continue  # ejected early: most of their places are taken by others
            valid += status == "valid"
            clock += int(rng.integers(1, 6)) * MINUTE // 40
            seconds = round(float(rng.gamma(3.0, 2.0 if is_spam else 6.0)) + 2, 1)
            at = str(start + np.timedelta64(clock, "ms")) + "Z"
            yield item, f"w{rater + 1:02d}", ERROR if says_error else OK, status, seconds, at, "crowd"


def _says_error(leaning: float, skill: float, rng: np.random.Generator) -> bool:
    if np.isnan(skill):
        return bool(rng.random() < 0.5)
    view = rng.random() < leaning
    return bool(view if rng.random() < skill else not view)


def _trusted(skills: Numbers, gold: Truths, rng: np.random.Generator) -> list[bool]:
    """Those who stay are right often enough on the gold they met."""
    seen = min(len(gold), 20)
    rights = [
        sum(_says_error(0.97 if is_error else 0.03, skill, rng) == is_error for is_error in gold[:seen])
        for skill in skills
    ]
    return [not is_below(RULE, seen=seen, right=int(right)) for right in rights]


RATERS = ("R1", "R2")
COLUMNS = ("item", "rater", "label", "group")
CLEAR = 0.7
OWN = {"R1": 0.27, "R2": 0.13}
"""The share of clear blanks, and how often each rater writes the writer's word in the others: together .78 and .74
(T&C 2008, Table 2)."""

FIRST_THOUGHT = 0.6
"""How often a rater who does not write the writer's word writes what comes to everybody's mind."""

AS_GOOD = {"system": 0.12, "equally good": 0.22, "equally bad": 0.04, "writer": 0.62}
CHANGES_MIND = 0.2

ACCEPTED = {"no-context": (0.93, 0.62, 0.3), "in-context": (0.88, 0.3, 0.08)}
"""How often a rater accepts the writer's own, one easily exchanged with it, another one."""

FREER = {
    ("R1", "no-context"): 0.05,
    ("R2", "no-context"): -0.06,
    ("R1", "in-context"): -0.04,
    ("R2", "in-context"): 0.05,
}
"""By how much each rater is freer than the mean: R1 without context, R2 in it (Table 4)."""

SAME_VIEW = {"no-context": 0.62, "in-context": 0.68}
"""How often a rater sees an item as the other does; context makes it more."""

STARRED = (0.88, 0.25, 0.15)
"""How often an accepted construction is starred, for the same three."""


@dataclass(frozen=True, slots=True)
class Blank:
    """A hidden word: the one written, others that would fit (the likeliest first), and a system's choice."""

    item_id: str
    written: str
    others: Sequence[str]
    filled: str


def sample_cloze(blanks: Sequence[Blank], *, system: str, seed: int = 0) -> pl.DataFrame:
    """Two raters and a system, a program that fills blanks, on the same blanks."""
    rng = generator(seed, "sample cloze")
    rows = [(blank.item_id, rater, word, "expert") for blank in blanks for rater, word in _filled(blank, rng)]
    rows += [(blank.item_id, system, blank.filled, "program") for blank in blanks]
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def with_writer(filled: pl.DataFrame, blanks: Sequence[Blank]) -> pl.DataFrame:
    """People's words for the blanks, with the writer's own, as `grater lab cloze` reads them."""
    own = [(blank.item_id, "writer", blank.written, "writer") for blank in blanks]
    people = filled.filter(pl.col("group") != "program")
    return pl.concat([people, pl.DataFrame(own, schema=list(COLUMNS), orient="row")])


def suggested(filled: pl.DataFrame) -> pl.DataFrame:
    """Programs' words for the blanks, as the decisions that `grater lab cloze` reads."""
    programs = filled.filter(pl.col("group") == "program")
    return programs.select("item", system="rater", flagged=pl.lit(0), suggestion="label")


def sample_choice(blanks: Sequence[Blank], *, seed: int = 0) -> pl.DataFrame:
    """Two raters on the blanks where system and writer differ."""
    rng = generator(seed, "sample choice")
    labels, shares = list(AS_GOOD), list(AS_GOOD.values())
    rows = []
    for blank in blanks:
        if blank.filled == blank.written:
            continue
        view = str(rng.choice(labels, p=shares))
        for rater in RATERS:
            label = str(rng.choice(labels, p=shares)) if rng.random() < CHANGES_MIND else view
            rows.append((blank.item_id, rater, label, "expert"))
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def sample_constructions(items: Sequence[Mapping[str, object]], *, seed: int = 0) -> pl.DataFrame:
    """Two raters on the items of a study of constructions, as `grater lab nouns` makes them."""
    rng = generator(seed, "sample constructions")
    rows = []
    for item in items:
        _, stage, name = str(item["kind"]).split("/")
        # 0 for the writer's own construction, 1 for one easily exchanged with it, 2 for the others.
        own, other = CONSTRUCTIONS.index(str(item["original"])), CONSTRUCTIONS.index(name)
        near = 0 if own == other else 1 if is_confusable(other, own) else 2
        leaning = rng.random()
        for rater in RATERS:
            label = _accepted(rater, stage, near, leaning, rng)
            rows.append((str(item["item"]), rater, label, "expert", stage))
    return pl.DataFrame(rows, schema=[*COLUMNS, "stage"], orient="row")


def _filled(blank: Blank, rng: np.random.Generator) -> list[tuple[str, str]]:
    others = [word for word in blank.others if word != blank.written] or [blank.written]
    first_thought = str(rng.choice(others[:2]))
    is_clear = rng.random() < CLEAR
    words = []
    for rater in RATERS:
        if is_clear or rng.random() < OWN[rater]:
            words.append((rater, blank.written))
        else:
            words.append((rater, first_thought if rng.random() < FIRST_THOUGHT else str(rng.choice(others))))
    return words


def _accepted(rater: str, stage: str, near: int, leaning: float, rng: np.random.Generator) -> str:
    """A rater sees an item as everybody does, or for oneself."""
    view = leaning if rng.random() < SAME_VIEW[stage] else float(rng.random())
    if view >= ACCEPTED[stage][near] + FREER[rater, stage]:
        return "no"
    is_starred = stage == "in-context" and rng.random() < STARRED[near]
    return "yes*" if is_starred else "yes"


N_BLANKS = 200
"""As many as in the paper (T&C 2008, section 4.1)."""


def sample_blanks(essays: Sequence[Essay], detector: Detector, *, n: int = N_BLANKS, seed: int = 0) -> list[Blank]:
    """Blanks, each with the detector's word and its alternatives."""
    rng = generator(seed, "sample blanks")
    by_essay: dict[str, list[Finding]] = {}
    for finding in detector.find(essays):
        if finding.item.kind == PREP:
            by_essay.setdefault(finding.item.essay_id, []).append(finding)
    chosen = []
    for essay in essays:
        own = by_essay.get(essay.essay_id, [])
        fine = [each for each in own if not any(edit.span.touches(each.item.span) for edit in essay.edits)]
        by_sentence = [[each for each in fine if span.covers(each.item.span)] for span in sentences_of(essay)]
        chosen += [_blank(inside[int(rng.integers(len(inside)))]) for inside in by_sentence if inside]
    picked = sorted(rng.choice(len(chosen), size=min(n, len(chosen)), replace=False).tolist())
    return [chosen[place] for place in picked]


def _blank(finding: Finding) -> Blank:
    written = canonical(finding.target) or finding.target
    likely = [word for word, _ in finding.probabilities if word != DELETE]
    return Blank(finding.item.item_id, written, [word for word in likely if word != written], likely[0])


LEAST = 3


def sample_noun_items(essays: Sequence[Essay], *, seed: int = 0) -> list[dict[str, Any]]:
    """The rows of the table of items, ten for each noun phrase."""
    return [dict(row) for row in item_rows(select(places_in(essays), least=LEAST, seed=seed))]


# The crowd tasks

N_ITEMS = 150
PREPOSITION_TAG = "Wcip"
TASKS = {
    "confused prepositions": "prep-confused",
    "extraneous prepositions": "prep-extraneous",
    "determiners": "article",
    "collocations": "collocation",
}
"""The kinds of the four tasks, by what they are called."""


@dataclass(frozen=True, slots=True, eq=False)
class CrowdSample:
    """One task: its items, and the judgments of its jobs: of the annotators, the crowd with gold and without."""

    name: str
    items: pl.DataFrame
    jobs: Mapping[str, pl.DataFrame]


def crowd_tasks(essays: Sequence[Essay], *, seed: int = 0) -> list[CrowdSample]:
    """The four tasks."""
    read = [(essay, sentence) for essay, sentences in analysed(essays) for sentence in sentences]
    prepositions = [
        Item(essay.essay_id, sentence.spans[place], "prep")
        for essay, sentence in read
        for place in preposition_places(sentence)
    ]
    determiners = [
        Item(essay.essay_id, place_of(phrase, ARTICLE), TASKS["determiners"])
        for essay, sentence in read
        for phrase in noun_phrases(sentence)
        if phrase.is_checked
    ]
    pairs = [item for essay, sentence in read for item in _pairs(essay, sentence)]
    usage = _usage(essays, prepositions)
    sources = {
        "confused prepositions": _as_errors(prepositions, usage, "1", TASKS["confused prepositions"]),
        "extraneous prepositions": _as_errors(prepositions, usage, "0", TASKS["extraneous prepositions"]),
        "determiners": _simulated(list(dict.fromkeys(determiners)), generator(seed, "determiners")),
        "collocations": _simulated(pairs, generator(seed, "collocations")),
    }
    return [_task(name, judged, seed) for name, judged in sources.items()]


Judged = dict[Item, dict[str, str]]
"""Each annotator's answer for each item."""


def _usage(essays: Sequence[Essay], items: Sequence[Item]) -> Judged:
    """The annotators' judgments of prepositions, in the labels of usage."""
    by_id = {item.item_id: item for item in items}
    frame = judgments_from_edits(essays, by_id, tags=[PREPOSITION_TAG], labels="usage").frame
    judged: Judged = {item: {} for item in items}
    for item_id, rater, label in frame.select("item", "rater", "label").iter_rows():
        judged[by_id[item_id]][rater] = label
    return judged


def _as_errors(items: Sequence[Item], judged: Judged, wanted: str, kind: str) -> Judged:
    """One label of usage as the error that is asked about, the items under the kind of that question."""
    verdicts = {"0": "ok", "1": "ok", "2": "ok", wanted: "error"}
    return {
        replace(item, kind=kind): {rater: verdicts[label] for rater, label in judged[item].items()} for item in items
    }


ERRORS, SURE = 0.3, 0.93
"""The share of simulated items that are errors, and how often an expert sees what an item is."""


def _pairs(essay: Essay, sentence: Sentence) -> Iterator[Item]:
    """Every fifth pair of neighbouring words."""
    for place in range(1, len(sentence.words) - 2, 5):
        if sentence.words[place].isalpha() and sentence.words[place + 1].isalpha():
            span = Span(sentence.spans[place].start, sentence.spans[place + 1].end)
            yield Item(essay.essay_id, span, TASKS["collocations"])


def _simulated(items: Sequence[Item], rng: np.random.Generator) -> Judged:
    """Each item an error or not, as two simulated experts see it."""
    judged: Judged = {}
    for item in items:
        is_error = rng.random() < ERRORS
        sees = {rater: is_error == (rng.random() < SURE) for rater in ("A", "B")}
        judged[item] = {rater: "error" if says else "ok" for rater, says in sees.items()}
    return judged


def _task(name: str, judged: Judged, seed: int) -> CrowdSample:
    # Places at random that annotators have read, in the order of the text.
    read = [item for item, labels in judged.items() if labels]
    drawn = generator(seed, "sample crowds", name).permutation(len(read))[:N_ITEMS].tolist()
    chosen = sorted((read[place] for place in drawn), key=lambda item: (item.essay_id, item.span, item.kind))
    marked = {item.item_id: sum(label == "error" for label in judged[item].values()) for item in chosen}
    experts = [(item.item_id, rater, label, "expert") for item in chosen for rater, label in judged[item].items()]
    places = [(item.item_id, item.essay_id, item.span.start, item.span.end, item.kind) for item in chosen]
    tested, untested = (sample_crowd(marked, has_gold=has_gold, seed=seed + len(name)) for has_gold in (True, False))
    jobs = {
        f"{name}, annotators": pl.DataFrame(experts, schema=["item", "rater", "label", "group"], orient="row"),
        f"{name}, crowd with gold (simulated)": tested,
        f"{name}, crowd without gold (simulated)": untested.with_columns(rater="x" + pl.col("rater").str.slice(1)),
    }
    items = pl.DataFrame(places, schema=["item", "essay", "start", "end", "kind"], orient="row")
    return CrowdSample(name=name, items=items, jobs=jobs)


CROWD_CLEAR, CROWD_OWN = 0.75, {True: 0.93, False: 0.5}
"""The share of clear blanks, and how often a rater writes the writer's word in a clear one, and in another."""


def cloze_crowd(blanks: Sequence[Blank], *, n_raters: int = 40, seed: int = 0) -> pl.DataFrame:
    """Ten of a pool of raters for every blank (T,C&M 2013, 5.2)."""
    rng = generator(seed, "sample cloze crowd")
    rows = []
    for blank in blanks:
        own = CROWD_OWN[bool(rng.random() < CROWD_CLEAR)]
        others = list(blank.others) or [blank.written]
        for rater in sorted(rng.choice(n_raters, size=N_EACH, replace=False).tolist()):
            word = blank.written if rng.random() < own else str(rng.choice(others))
            rows.append((blank.item_id, f"w{rater + 1:02d}", word, "crowd"))
    return pl.DataFrame(rows, schema=["item", "rater", "label", "group"], orient="row")


N_RANKED, RANKED_TWICE = 220, 60
JUDGES = {"Ines": 0.5, "Jun": 0.8, "Kofi": 1.2}
"""The judges of rankings, and how far they are off, in errors."""


def sample_rankings(sentences: Sequence[Essay], *, seed: int = 0) -> pl.DataFrame:
    """Judges rank six corrections of a sentence: those of the annotators, both together, parts of them, and none.

    Corrections are real.  A judge sees how many marks of either annotator are left, and errs by their own amount.
    """
    rng = generator(seed, "sample rankings")
    rows = []
    marked = [each for each in sentences if {edit.rater for edit in each.edits} == {"0", "1"}]
    chosen = [marked[at] for at in sorted(rng.permutation(len(marked))[:N_RANKED])]
    for place, sentence in enumerate(chosen):
        first, second = ([edit for edit in sentence.edits if edit.rater == rater] for rater in ("0", "1"))
        new = [edit for edit in second if not any(edit.span.touches(other.span) for other in first)]
        systems = {
            "eager": sorted([*first, *new], key=lambda edit: edit.span),
            "thorough": first,
            "careful": second,
            "half": first[::2],
            "grammar": [edit for edit in first if edit.tag in ("ArtOrDet", "Nn", "SVA", "Vt", "Vform")],
            "unchanged": [],
        }
        texts = {name: corrected_text(sentence.text, edits) for name, edits in systems.items()}
        spans = {edit.span for edit in sentence.edits}
        left = {texts[name]: len(spans - {edit.span for edit in edits}) for name, edits in systems.items()}
        for judge in rng.permutation(list(JUDGES))[: 2 if place < RANKED_TWICE else 1].tolist():
            seen = {text: round(n + float(rng.normal(0, JUDGES[judge]))) for text, n in left.items()}
            for name, text in texts.items():
                rank = sorted(set(seen.values())).index(seen[text]) + 1
                rows.append(
                    (sentence.essay_id, judge, name, rank, sentence.metadata["document"], text, sentence.text)
                )
    return pl.DataFrame(rows, schema=list(RANKING_COLUMNS), orient="row")


RANKING_COLUMNS = ("item", "rater", "system", "rank", "document", "output", "source")


JUDGE = "Lea"
"""Says what became of marked errors, by the rule of `sample_recall`."""


def sample_recall(
    sentences: Sequence[Essay], outputs: Mapping[str, Sequence[Essay]]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Marks of the two annotators, what became of each in the outputs of systems, and the errors that are left.

    Marks that touch are one error.  It is gone where a system wrote what an annotator did, replaced where it wrote
    something else there.  Of what is left, an edit at no mark was introduced.
    """
    marks, fates, left = [], [], []
    for at, sentence in enumerate(sentences):
        document = str(sentence.metadata["document"])
        errors: list[list[Edit]] = []
        for edit in sorted(sentence.edits, key=lambda edit: edit.span):
            near = [group for group in errors if any(edit.span.touches(other.span) for other in group)]
            apart = [group for group in errors if group not in near]
            errors = [*apart, [*(each for group in near for each in group), edit]]
        for number, group in enumerate(errors):
            tags = {edit.rater: edit.tag for edit in reversed(group)}
            marks += [(f"{sentence.essay_id}.{number}", rater, tag, document) for rater, tag in sorted(tags.items())]
        for system, corrected in outputs.items():
            changes = corrected[at].edits
            counts = dict.fromkeys(FATES, 0)
            for number, group in enumerate(errors):
                own = [each for each in changes if any(each.span.touches(edit.span) for edit in group)]
                written = {(edit.span, words) for edit in group for words in edit.replacements}
                is_gone = any((each.span, words) in written for each in own for words in each.replacements)
                fate = GONE if is_gone else REPLACED if own else THERE
                counts[fate] += 1
                fates.append((f"{sentence.essay_id}.{number}", system, JUDGE, fate))
            at_none = [each for each in changes if not any(each.span.touches(edit.span) for edit in sentence.edits)]
            n_words = len(corrected_text(sentence.text, changes).split())
            numbers = (counts[THERE], counts[REPLACED], len(at_none), n_words)
            left.append((sentence.essay_id, system, JUDGE, *numbers, document))
    return (
        pl.DataFrame(marks, schema=["item", "rater", "label", "document"], orient="row"),
        pl.DataFrame(fates, schema=["item", "system", "rater", "label"], orient="row"),
        pl.DataFrame(left, schema=["item", "system", "rater", *LEFT, "words", "document"], orient="row"),
    )
