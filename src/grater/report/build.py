"""A report from the tables of a study: every section that they can fill, and a line for each that they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan

import polars as pl

from grater import __version__
from grater.evaluate.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.evaluate.sampled.assist import CheapJudge
from grater.evaluate.selection import WRITER, exact_accuracy
from grater.evaluate.standard import Scored
from grater.model import Essay, Interval
from grater.report.agreement import agreement_section, experts_section
from grater.report.bins import bins_section
from grater.report.constructions import constructions_section
from grater.report.corpus import corpus_section
from grater.report.crowds import CrowdJob, crowds_section
from grater.report.difficulty import difficulty_section
from grater.report.document import ItemList, Report, Section, interval
from grater.report.items import CONTENTIOUS, Texts, item_lists, texts_of
from grater.report.programs import programs_section
from grater.report.raters import effort_section, raters_section
from grater.report.sampling import sampling_section
from grater.report.selection import choice_section, cloze_section
from grater.report.systems import ENOUGH, curves_section, n_behind, systems_section
from grater.report.usage import usage_section
from grater.sheet import number
from grater.statistics.bootstrap import Chance
from grater.tables import Judgments, Sample, Table, equal_in_number, read_gold


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Verdicts (`error`, `ok`, `unknown`) in `judgments` and `experts`; any table may be missing.

    `without_gold` are crowd judgments of the same items made without hidden gold; `on_gold` are the answers to it;
    `hours` says when judgments came, counted from the first.  `constructions`, `cloze` (with the writer's words as
    rater `writer`; those of systems are the suggestions of `cloze_words`), `choice` and `usage` are judgments in the
    labels of their tasks; `programs` are verdicts of programs, never among `judgments`.  `redundancy` is the number
    of judgments that every item was to have, where more were collected only if raters differed: shares and agreement
    are of these first judgments.  `places` has the essay of items beyond those of `items`.
    `cost`, `protocol` and `notes` (what a reader must know first) are ready to read.
    """

    title: str
    essays: Sequence[Essay] = ()
    judgments: Judgments | None = None
    experts: Judgments | None = None
    without_gold: Judgments | None = None
    decisions: Table | None = None
    items: Table | None = None
    gold: Table | None = None
    on_gold: Judgments | None = None
    sample: Sample | None = None
    constructions: Judgments | None = None
    construction_items: Table | None = None
    construction_decisions: Table | None = None
    cloze: Judgments | None = None
    cloze_words: Table | None = None
    choice: Judgments | None = None
    usage: Judgments | None = None
    programs: Judgments | None = None
    crowds: tuple[CrowdJob, ...] = ()
    hours: Sequence[float] = ()
    redundancy: int = 0
    cost: str = ""
    protocol: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    sample_judgments: Judgments | None = None
    judges: Sequence[CheapJudge] = ()
    places: Table | None = None
    chance: Chance = field(default_factory=Chance)
    most_items: int = 50

    @property
    def whereabouts(self) -> Table | None:
        """The table that says in which essay items stand."""
        return self.items if self.places is None else self.places


NEEDS = {
    "corpus": "What was annotated: needs essays.",
    "agreement": "How far raters agree: needs judgments.",
    "experts": "How experts agree: needs judgments of experts.",
    "raters-needed": "How many raters match an expert: needs judgments of experts beside those of the crowd.",
    "systems": "How good the systems are: needs decisions and judgments.",
    "thresholds": "Every threshold: needs decisions with scores.",
    "sampling": "What the sample says of the whole corpus: needs a sample.",
    "effort": "What it took: needs the times of judgments.",
}


def build(inputs: Inputs) -> Report:
    """Everything the inputs can say, in the order of the loop: corpus, raters, systems, effort."""
    evaluation = _evaluation(inputs)
    texts = texts_of(inputs.items, inputs.essays)
    lists = item_lists(evaluation, texts, most=inputs.most_items) if evaluation else []
    sections = list(_sections(inputs, evaluation, texts, lists))
    names = {section.name for section in sections}
    left_out = tuple(f"Not shown: {why[:1].lower()}{why[1:]}" for name, why in NEEDS.items() if name not in names)
    made = f"Made by grater {__version__}; every table has a signature that says how its numbers were made."
    headline = (*_headline(evaluation, sections), *inputs.notes)
    return Report(title=inputs.title, headline=headline, sections=sections, lists=lists, left_out=left_out, made=made)


def _evaluation(inputs: Inputs) -> Evaluation | None:
    if inputs.decisions is None or inputs.judgments is None:
        return None
    options = EvaluationOptions(chance=inputs.chance, redundancy=inputs.redundancy)
    return evaluate(inputs.decisions, inputs.judgments, items=inputs.items, options=options)


def _sections(
    inputs: Inputs, evaluation: Evaluation | None, texts: Texts, lists: Sequence[ItemList]
) -> Iterator[Section]:
    if inputs.essays:
        yield corpus_section(inputs.essays)
    yield from _rater_sections(inputs)
    if inputs.usage is not None:
        yield usage_section(inputs.usage, places=inputs.whereabouts, seed=inputs.chance.seed)
    yield from _program_sections(inputs)
    crowds = crowds_section(
        inputs.crowds, places=inputs.whereabouts, n_resamples=inputs.chance.n_resamples, seed=inputs.chance.seed
    )
    if crowds is not None:
        yield crowds
    if evaluation and inputs.decisions is not None:
        yield systems_section(evaluation, chance=inputs.chance, experts=inputs.experts, items=inputs.items)
        yield bins_section(evaluation)
        curves = curves_section(evaluation, inputs.decisions)
        if curves:
            yield curves
        if inputs.sample is not None and inputs.judgments is not None:
            judged = inputs.sample_judgments or inputs.judgments
            yield sampling_section(
                inputs.decisions,
                inputs.sample,
                judged,
                items=inputs.items,
                chance=inputs.chance,
                judges=inputs.judges,
            )
    if inputs.judgments is not None:
        listed = {view.item_id for group in lists if group.name == CONTENTIOUS for view in group.items}
        yield difficulty_section(
            inputs.judgments,
            experts=inputs.experts,
            items=inputs.items,
            texts=texts,
            listed=listed,
            essays=inputs.essays,
        )
    yield from _native_text_sections(inputs)
    if inputs.hours or inputs.protocol:
        yield effort_section(inputs.hours, cost=inputs.cost, protocol=inputs.protocol)


def _native_text_sections(inputs: Inputs) -> Iterator[Section]:
    """The studies of native text and of constructions, where the inputs have them."""
    seed = inputs.chance.seed
    if inputs.cloze is not None:
        yield cloze_section(inputs.cloze, inputs.cloze_words, places=inputs.whereabouts, seed=seed)
    if inputs.choice is not None:
        yield choice_section(inputs.choice, accuracy=_exact_accuracy(inputs), places=inputs.whereabouts)
    if inputs.constructions is not None and inputs.construction_items is not None:
        yield constructions_section(
            inputs.constructions,
            inputs.construction_items,
            decisions=inputs.construction_decisions,
            chance=inputs.chance,
        )


def _exact_accuracy(inputs: Inputs) -> dict[str, Interval]:
    """The accuracy of each system by exact match with the writer, where blanks were filled."""
    if inputs.cloze is None or inputs.cloze_words is None:
        return {}
    rows = inputs.cloze.frame.filter(pl.col("rater").cast(pl.String) == WRITER).select("item", "label")
    return exact_accuracy(inputs.cloze_words, read_gold(rows, name="the writer's words"))


def _rater_sections(inputs: Inputs) -> Iterator[Section]:
    crowd, experts, places, seed = inputs.judgments, inputs.experts, inputs.whereabouts, inputs.chance.seed
    if experts is not None:
        yield agreement_section(experts, name="experts", title="How far experts agree", places=places, seed=seed)
    if crowd is None:
        return
    equal = equal_in_number(crowd, inputs.redundancy)
    yield agreement_section(equal, places=places, seed=seed)
    if experts is not None:
        yield experts_section(equal, experts, places=places)
        if inputs.without_gold is not None:
            title = "How many raters match an expert without hidden gold"
            name = "raters-needed-without-gold"
            yield experts_section(inputs.without_gold, experts, name=name, title=title, places=places)
    if not crowd.anonymous_raters:
        yield raters_section(crowd, gold=inputs.gold, on_gold=inputs.on_gold)


def _program_sections(inputs: Inputs) -> Iterator[Section]:
    people = inputs.experts or inputs.judgments
    if inputs.programs is not None and people is not None:
        section = programs_section(
            people, inputs.programs, items=inputs.items, places=inputs.whereabouts, seed=inputs.chance.seed
        )
        if section is not None:
            yield section


def _headline(evaluation: Evaluation | None, sections: list[Section]) -> Iterator[str]:
    """The three sentences that a reader takes home."""
    if evaluation and evaluation.different:
        yield from (f"{_told(scored)} on its own {scored.n:,} items." for scored in evaluation.whole.standard[:3])
        yield "The systems decided on different items and are not ranked."
    elif evaluation:
        best = max(evaluation.whole.standard, key=_merit)
        yield f"{_told(best)}."
        known = sorted(
            scored["precision"].value
            for by_system in evaluation.whole.by_rater.values()
            for scored in by_system
            if scored.system == best.system and n_behind(scored, "precision") >= ENOUGH
        )
        if len(known) > 1:
            spread = f"from {number(known[0])} to {number(known[-1])}"
            yield f"Held against one rater at a time, its precision is anything {spread}."
    for section in sections:
        if section.name == "agreement":
            yield section.words[0]


def _merit(scored: Scored) -> float:
    return -1.0 if isnan(scored["f0.5"].value) else scored["f0.5"].value


def _told(scored: Scored) -> str:
    return (
        f"{scored.system} flags errors with precision {interval(scored['precision'])} and recall "
        f"{interval(scored['recall'])} against the majority of raters"
    )
