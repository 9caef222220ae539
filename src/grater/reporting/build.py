"""A report from the tables of a study: every section that they can fill, and a line for each that they cannot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from grater import __version__
from grater.errors import UsageError
from grater.measure.evaluation.cases import items_of_kind
from grater.measure.evaluation.design import CheapJudge
from grater.measure.evaluation.evaluation import Evaluation, EvaluationOptions, evaluate
from grater.measure.evaluation.offered import SuggestionEffect
from grater.measure.evaluation.selection import WRITER, exact_accuracy
from grater.measure.evaluation.thresholds import Curve
from grater.model import EDIT, Essay
from grater.reporting.agreement import agreement_section, experts_section, usage_section
from grater.reporting.answer import Answer, answer_of, answer_section, examples_of, headline_figure, precise, quotable
from grater.reporting.corpus import annotators_section, corpus_section
from grater.reporting.correctors import Correctors, JudgedEdits, corrector_sections
from grater.reporting.difficulty import Factors, bins_section, difficulty_section
from grater.reporting.document import PARTS, Byline, Figure, ItemList, Report, Section, interval, part_of
from grater.reporting.items import CONTENTIOUS, Texts, item_lists, texts_of
from grater.reporting.raters import CrowdJob, crowds_section, effort_section, gold_met, raters_section
from grater.reporting.sampling import sampling_section
from grater.reporting.systems import curves_of, curves_section, sliders_of, systems_section
from grater.reporting.tasks import (
    choice_section,
    cloze_section,
    constructions_section,
    programs_section,
    suggestions_section,
)
from grater.reporting.versions import Version, earlier_versions, version_lists, versions_of, versions_section
from grater.sheet import counted
from grater.tables import Judgments, Sample, Table, equal_in_number, read_gold
from grater.uncertainty import Basis


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Verdicts (`error`, `ok`, `unknown`) in `judgments` and `experts`; any table may be missing.

    `without_gold` are crowd judgments of the same items made without hidden gold; `on_gold` are the answers to it;
    `hours` says when judgments came, counted from the first.  `constructions`, `cloze` (with the writer's words as
    rater `writer`; those of systems are the suggestions of `cloze_words`), `choice` and `usage` are judgments in the
    labels of their tasks; `programs` are verdicts of programs, never among `judgments`.  `redundancy` is the number
    of judgments that every item was to have, where more were collected only if raters differed: shares and agreement
    are of these first judgments.  `places` has the essay of items beyond those of `items`.  `earlier` names the
    earlier version of a system where its name does not show it (`grater.reporting.versions`).
    `worse` has `error` for an edit that its rater calls worse than the writer's words, else `ok`.
    `factors` works out what may make an item hard; without it no factors are shown.
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
    protocol: tuple[tuple[str, str, str], ...] = ()
    notes: tuple[str, ...] = ()
    sample_judgments: Judgments | None = None
    judges: Sequence[CheapJudge] = ()
    places: Table | None = None
    suggestions: SuggestionEffect | None = None
    correctors: Correctors | None = None
    worse: Judgments | None = None
    earlier: Mapping[str, str] = field(default_factory=dict)
    byline: Byline = field(default_factory=Byline)
    basis: Basis = field(default_factory=Basis)
    most_items: int = 50
    factors: Factors | None = None

    @property
    def located_items(self) -> Table | None:
        """The table of items with their essays."""
        return self.items if self.places is None else self.places


def of_kind(inputs: Inputs, kind: str) -> Inputs:
    """Only items of this kind, by the column `kind` of the items or of the decisions."""
    kept = items_of_kind(kind, inputs.items, inputs.decisions)
    is_kept = pl.col("item").cast(pl.String).is_in(kept["item"].implode())
    names = ("judgments", "experts", "decisions", "items", "gold")
    tables = {name: each for name in names if (each := getattr(inputs, name)) is not None}
    kept_rows = {name: replace(each, frame=each.frame.filter(is_kept)) for name, each in tables.items()}
    return replace(inputs, **kept_rows)


NEEDS = {
    "corpus": "Corpus: needs essays.",
    "agreement": "Agreement among raters: needs judgments.",
    "experts": "Agreement among experts: needs judgments by experts.",
    "raters-needed": "How many raters match an expert: needs judgments by experts and by a crowd.",
    "systems": "Systems in detail: needs decisions and judgments.",
    "thresholds": "Every threshold: needs decisions with scores.",
    "sampling": "Estimates from the sample: needs a sample, and items that nobody judged.",
    "effort": "Time and cost: needs judgments with times.",
}


def build(inputs: Inputs) -> Report:
    """All that the inputs allow: the answer, agreement, the systems in detail, the raters, the corpus."""
    known = _known(inputs)
    lists: list[ItemList] = []
    if known:
        lists += item_lists(known.evaluation, known.texts, most=inputs.most_items)
        lists += version_lists(known.evaluation, known.versions, known.texts, most=inputs.most_items)
    if inputs.correctors is not None:
        lists += inputs.correctors.missed
    edits = _judged_edits(inputs, known)
    if edits is not None and known:
        lists += edits.worse_lists(known.texts, most=inputs.most_items)
    sections = [section for section in _sections(inputs, known, lists, edits) if section is not None]
    sections.sort(key=lambda section: PARTS.index(part_of(section)))
    names = {section.name for section in sections}
    left_out = tuple(f"Not shown: {why[:1].lower()}{why[1:]}" for name, why in NEEDS.items() if name not in names)
    return Report(
        title=inputs.title,
        headline=(*_headline(known, sections), *inputs.notes),
        sections=sections,
        lists=lists,
        notes=inputs.notes,
        left_out=left_out,
        made=f"Made with grater {__version__}. The signature of each section records how its numbers were computed.",
        answer=answer_section(known.answer) if known else None,
        leader=known.answer.first.system if known and not known.evaluation.different else "",
        examples=examples_of(known.answer, lists) if known and not known.evaluation.different else (),
        sliders=sliders_of(known.curves, [each.system for each in known.answer.systems]) if known else (),
        byline=inputs.byline,
    )


def headline(inputs: Inputs) -> Figure:
    """The headline figure alone, of inputs with decisions and judgments."""
    known = _known(inputs)
    if known is None:
        raise UsageError("the headline figure shows systems against raters: expected decisions and judgments")
    return headline_figure(known.answer)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The sections on systems: the evaluation, and new versions."""

    evaluation: Evaluation
    versions: list[Version]
    answer: Answer
    texts: Texts
    curves: list[Curve]


def _known(inputs: Inputs) -> _Known | None:
    decisions, judgments = inputs.decisions, inputs.judgments
    if decisions is None or judgments is None:
        return None
    options = EvaluationOptions(basis=inputs.basis, redundancy=inputs.redundancy)
    judgments = inputs.sample_judgments or judgments
    gold = gold_met(inputs.gold, inputs.on_gold or judgments)
    evaluation = evaluate(
        decisions,
        judgments,
        items=inputs.items,
        sample=inputs.sample,
        gold=gold,
        on_gold=inputs.on_gold,
        options=options,
    )
    versions = versions_of(evaluation, earlier_versions(evaluation.cases.systems, inputs.earlier))
    earlier = {version.new: version.old for version in versions}
    return _Known(
        evaluation=evaluation,
        versions=versions,
        answer=answer_of(evaluation, earlier=earlier),
        texts=texts_of(inputs.items, inputs.essays),
        curves=curves_of(evaluation),
    )


def _judged_edits(inputs: Inputs, known: _Known | None) -> JudgedEdits | None:
    """The judged edits of correctors, apart from other items; None where no edit was judged."""
    items = next((each for each in (inputs.items, inputs.decisions) if each and "kind" in each.frame.columns), None)
    kinds = items.frame["kind"].cast(pl.String).unique() if items and known else pl.Series()
    if known is None or EDIT not in kinds:
        return None
    own = inputs if len(kinds) == 1 else replace(of_kind(inputs, EDIT), sample=None, sample_judgments=None)
    better = known if own is inputs else _known(own)
    if better is None or own.decisions is None:
        return None
    worse = None
    if own.worse is not None:
        judged = better.evaluation.cases.judgments.frame.select(pl.col("item", "rater").cast(pl.String))
        labels = own.worse.frame.with_columns(pl.col("item", "rater").cast(pl.String))
        labels = labels.join(judged, on=["item", "rater"], how="semi")
        if len(labels):
            options = EvaluationOptions(basis=own.basis, redundancy=own.redundancy)
            of_worse = replace(own.worse, frame=labels)
            worse = evaluate(own.decisions, of_worse, items=own.items, sample=own.sample, options=options)
    return JudgedEdits(better.evaluation, worse, own.decisions)


def _sections(
    inputs: Inputs, known: _Known | None, lists: Sequence[ItemList], edits: JudgedEdits | None
) -> Iterator[Section | None]:
    """Every section, in this order within its part; None for one that turns out to have nothing to show."""
    yield from _agreement_sections(inputs)
    yield annotators_section(inputs.essays)
    if known:
        yield from _system_sections(inputs, known)
    if inputs.correctors is not None or edits is not None:
        yield from corrector_sections(inputs.correctors or Correctors(), edits, lists)
    if inputs.suggestions is not None:
        yield suggestions_section(inputs.suggestions)
    yield from _judgment_sections(inputs, lists)
    yield from _native_text_sections(inputs)
    if inputs.hours or inputs.protocol:
        yield effort_section(
            inputs.hours, cost=inputs.cost, protocol=inputs.protocol, has_judgments=inputs.judgments is not None
        )
    if inputs.essays:
        yield corpus_section(inputs.essays)


def _system_sections(inputs: Inputs, known: _Known) -> Iterator[Section | None]:
    evaluation, decisions = known.evaluation, inputs.decisions
    if decisions is None:
        return
    yield systems_section(evaluation, experts=inputs.experts, items=inputs.items)
    if known.versions:
        yield versions_section(evaluation, known.versions)
    yield bins_section(evaluation)
    yield curves_section(evaluation, known.curves)
    if evaluation.sample is not None and inputs.sample is not None:
        yield sampling_section(
            evaluation,
            evaluation.sample,
            decisions,
            inputs.sample,
            evaluation.cases.judgments,
            items=inputs.items,
            judges=inputs.judges,
        )


def _judgment_sections(inputs: Inputs, lists: Sequence[ItemList]) -> Iterator[Section | None]:
    """Hard items, programs and crowds compared with people, and the raters."""
    if inputs.judgments is not None:
        listed = {view.item_id for group in lists if group.name == CONTENTIOUS for view in group.items}
        yield difficulty_section(
            inputs.judgments,
            experts=inputs.experts,
            items=inputs.items,
            texts=texts_of(inputs.items, inputs.essays),
            listed=listed,
            essays=inputs.essays,
            factors=inputs.factors,
        )
    people = inputs.experts or inputs.judgments
    if inputs.programs is not None and people is not None:
        yield programs_section(people, inputs.programs, items=inputs.items, places=inputs.located_items)
    yield crowds_section(inputs.crowds, places=inputs.located_items)
    if inputs.judgments is not None and not inputs.judgments.anonymous_raters:
        yield raters_section(inputs.judgments, gold=inputs.gold, on_gold=inputs.on_gold)


def _native_text_sections(inputs: Inputs) -> Iterator[Section]:
    """The studies of native text and of constructions, where the inputs have them."""
    if inputs.cloze is not None:
        yield cloze_section(inputs.cloze, inputs.cloze_words, places=inputs.located_items)
    if inputs.choice is not None:
        accuracy = {}
        if inputs.cloze is not None and inputs.cloze_words is not None:
            rows = inputs.cloze.frame.filter(pl.col("rater").cast(pl.String) == WRITER).select("item", "label")
            accuracy = exact_accuracy(inputs.cloze_words, read_gold(rows, name="the writer's words"))
        yield choice_section(inputs.choice, accuracy=accuracy, places=inputs.located_items)
    if inputs.constructions is not None and inputs.construction_items is not None:
        decisions = inputs.construction_decisions
        yield constructions_section(inputs.constructions, inputs.construction_items, decisions=decisions)


def _agreement_sections(inputs: Inputs) -> Iterator[Section]:
    crowd, experts, places = inputs.judgments, inputs.experts, inputs.located_items
    if experts is not None:
        yield agreement_section(experts, name="experts", title="Agreement among experts", places=places)
    if crowd is not None:
        equal = equal_in_number(crowd, inputs.redundancy)
        yield agreement_section(equal, places=places)
        if experts is not None:
            yield experts_section(equal, experts, places=places)
            if inputs.without_gold is not None:
                title = "How many raters match an expert without hidden gold"
                name = "raters-needed-without-gold"
                yield experts_section(inputs.without_gold, experts, name=name, title=title, places=places)
    if inputs.usage is not None:
        yield usage_section(inputs.usage, places=places)


def _headline(known: _Known | None, sections: Sequence[Section]) -> Iterator[str]:
    """The conclusions for a reader; the first can be quoted."""
    if known and known.evaluation.different:
        scores = "; ".join(
            f"{each.system} flags errors with precision {interval(each['precision'])} and recall "
            f"{interval(each['recall'])} on its own {counted(each.n, 'item')}"
            for each in known.answer.systems[:3]
        )
        yield f"The systems decided on different items and are not ranked. Against the majority of raters, {scores}."
    elif known:
        yield quotable(known.answer)
        yield precise(known.answer)
    if known:
        yield from (version.words for version in known.versions)
    for section in () if known else sections:
        if section.name in ("agreement", "annotators"):
            yield section.words[0]
