"""The study of `grater demo`: the whole loop on the bundled essays, ending in a report and in a living study.

No server or account is needed.  Essays by learners are read, counted and checked; our detectors look at every
preposition, and so does an earlier version of one of them; two annotators and a simulated crowd judge them; a
sample is drawn; the report says how good the detectors are.  Then people are let in (`demo.life`): raters at work
for pay, an adjudicator, annotators.  Everything stays in a folder: the study as one database, made by the same steps
that a person would take, every table, the report, and who can log in.

The essays and what two annotators marked in them are our own writing (docs/sample.md); what the systems decided and
filled into blanks is real.  Simulated data are named so: the crowds, and the two raters of the cloze, choice and
construction tests (`grater.demo.raters`).  The people of the living part are invented (`grater.demo.living`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from grater.annotate import jobs
from grater.annotate.archive import decision_frame
from grater.annotate.importing import import_files
from grater.annotate.protocol import set_terms
from grater.annotate.reporting import names_of, study_inputs, with_names
from grater.annotate.samples import NewSample, draw
from grater.annotate.status import new_study, study_name
from grater.annotate.store import Store, open_store, schema
from grater.annotate.systems import decide
from grater.annotate.tables import place_columns
from grater.corpora import read_corpus
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.corpora.merge import attach_documents
from grater.corpora.normalise import corrected_text
from grater.demo import living
from grater.demo.life import mark_with_suggestions, populate
from grater.demo.raters import (
    cloze_crowd,
    crowd_tasks,
    gold_items,
    sample_blanks,
    sample_choice,
    sample_cloze,
    sample_constructions,
    sample_crowd,
    sample_noun_items,
    sample_rankings,
    sample_recall,
    suggested,
    with_writer,
)
from grater.detect.context.detector import ContextDetector
from grater.detect.decisions import corrected_essays
from grater.detect.detector import Detector
from grater.detect.prepositions.candidates import MISSING, PREP
from grater.detect.prepositions.detector import PrepositionDetector
from grater.detect.systems import NEURAL, default_systems, load_system
from grater.errors import GraterError
from grater.files import complaining
from grater.measure.corrections.recall import estimate_recall, estimate_remaining
from grater.measure.preference import preference
from grater.model import Essay
from grater.model import Json as JsonValue
from grater.reporting.build import build
from grater.reporting.correctors import Correctors, corrector_sections
from grater.reporting.drawing import FILE_TYPES, FileType
from grater.reporting.preference import preference_section
from grater.reporting.save import save_report
from grater.result import HIDDEN, Data, in_json, key
from grater.tables import as_fates, as_remaining, read_decisions, read_gold, read_judgments, write_table
from grater.tables.rankings import read_rankings

CORRECTORS = ("article", "prep-maxent")
RECALL_TABLES = ("marks", "fates", "remaining")
SYSTEMS, EARLIER = ("prep-maxent", "prep-perceptron", "prep-lm"), "prep-maxent-v0.9"
TITLE = "How good are these preposition detectors?"
SIMULATED = (
    "The essays and the marks of their two annotators are our own writing; the crowds, the raters of the cloze, "
    "choice and construction tests, the judges of rankings and the use of suggestions are simulated; only what the "
    "systems decided is real."
)
ANNOTATORS, CROWD = "annotators", "crowd (simulated)"
N_SAMPLED = 300
KIND = "prep"
PAY: Mapping[str, JsonValue] = {"cents": 1, "currency": "USD"}
"""The cost of a judgment of the simulated crowds: T,C&M 2013, 5.1 name a cent."""
NAME, STUDY, LOGIN = "The sample study", "study.db", "login.txt"
VISITORS = {
    living.OWNER: "owner: the whole study",
    living.MANAGER: "manager: jobs, people, money",
    living.ADJUDICATOR: "adjudicator: where annotators and raters differ",
    living.ANNOTATORS[0]: "annotator: essays to mark",
    living.RATERS[0].name: "rater: prepositions, for pay",
}
"""As whom a visitor may look around."""

NO_ACCOUNT = f"{'(no account)':16} learner: check a text of your own at /check"

TABLES = ("essays.jsonl", "items.csv", "decisions.csv", "judgments.csv", "crowd.csv", "gold.csv", "sample.csv")
"""Files of a demo that somebody may have files of the same name of."""


@dataclass(frozen=True, slots=True)
class DemoStudy(Data):
    """The results of the demo."""

    n_items: int
    n_expert: int = field(metadata=HIDDEN)
    n_crowd: int = field(metadata=HIDDEN)
    n_sampled: int
    systems: tuple[str, ...]
    headline: tuple[str, ...]
    page: Path = field(metadata=key("report", write=str))
    login: str

    @property
    @in_json()
    def judgments(self) -> dict[str, int]:
        return {"annotators": self.n_expert, "crowd": self.n_crowd}


def make_study(out: Path, essays: Sequence[Essay], *, file_types: Sequence[FileType] = FILE_TYPES) -> DemoStudy:
    """Fill the study of a folder (`fresh_study`), make its report, and let people in."""
    detectors = _detectors()
    with open_store(out / STUDY) as store:
        import_files(store, corpora=[out / "essays.jsonl"])
        decide(store, [*detectors, earlier_version(detectors[0])])
        tables = _tables(store, out, essays)
        import_files(store, judgments=[out / "usage.csv"], job=ANNOTATORS, task="usage")
        import_files(store, judgments=[out / "crowd.csv"], job=CROWD)
        corrected = _outputs(out)
        _words(store, out, essays, detectors[0])
        _crowd_tasks(store, out, essays)
        sentences = list(attach_documents(read_corpus(out / "essays.m2"), essays))
        write_table(sample_rankings(sentences), out / "rankings.csv")
        for name, table in zip(RECALL_TABLES, sample_recall(sentences, corrected), strict=True):
            write_table(table, out / f"{name}.csv")
        mark_with_suggestions(store, essays)
        drawn = draw(store, NewSample(system=detectors[0].name, n=N_SAMPLED))
        write_table(drawn.sample, out / "sample.csv")
        judged = pl.read_csv(out / "judgments.csv", infer_schema=False)
        judged = judged.join(drawn.sample.frame, on="item", how="semi", maintain_order="left")
        write_table(judged, out / "sample-judgments.csv")
        headline, page = _report(store, out, essays, file_types)
        password = populate(store, essays, tables.marked)
    return DemoStudy(
        n_items=len(tables.marked),
        n_expert=tables.n_expert,
        n_crowd=tables.n_crowd,
        n_sampled=len(drawn.sample),
        systems=tuple(each.name for each in detectors),
        headline=headline,
        page=page,
        login=_note_login(out, password),
    )


def _detectors() -> list[Detector]:
    """The systems for prepositions, and where it can run the neural one, on prepositions alone."""
    detectors = [load_system(name) for name in SYSTEMS]
    if NEURAL in default_systems() and isinstance(neural := load_system(NEURAL), ContextDetector):
        detectors.append(replace(neural, kinds=(PREP, MISSING)))
    return detectors


def earlier_version(detector: Detector) -> Detector:
    """The detector as it was before single prepositions had thresholds of their own."""
    if not isinstance(detector, PrepositionDetector):
        raise GraterError(f"{detector.name}: expected a detector with thresholds")
    return replace(detector, name=EARLIER, thresholds=replace(detector.thresholds, by_preposition={}))


def _note_login(out: Path, password: str) -> str:
    """Who can log in, kept next to the study for its owner's eyes only; empty where nobody can."""
    if not password:
        return ""
    path = out / LOGIN
    path.touch(mode=0o600)
    who = "\n".join(f"{name:16} {role}" for name, role in VISITORS.items())
    path.write_text(f"Password for everyone: {password}\n\n{who}\n{NO_ACCOUNT}\n", "utf-8")
    return str(path)


def fresh_study(out: Path) -> None:
    """An empty study in place of an earlier demo's; nothing that a person made is lost.

    It is made first of all: the other files next to a demo's study belong to the demo.
    """
    path = out / STUDY
    if path.exists():
        _require_untouched(path)
    elif existing := next((name for name in TABLES if (out / name).exists()), None):
        raise GraterError(
            f"{out / existing}: is not part of a demo and would be lost; name another folder with --out"
        )
    for suffix in ("", "-wal", "-shm", ".lock"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    new_study(path, name=NAME).close()


def is_demo(path: Path) -> bool:
    """Whether a file is the study of a demo."""
    if not path.is_file():
        return False
    with open_store(path) as store, store.read() as tx:
        return study_name(tx) == NAME


def _require_untouched(path: Path) -> None:
    """Refuse a study of somebody's own, and one that people have visited since the demo made it."""
    if not path.is_file():
        raise GraterError(f"{path}: expected a file or nothing, found a folder; name another with --out")
    with open_store(path) as store, store.read() as tx:
        is_ours, is_visited = study_name(tx) == NAME, tx.first(schema.sessions.select()) is not None
    if not is_ours or is_visited:
        whose = "people have used this demo" if is_ours else "this study is not a demo"
        raise GraterError(f"{path}: {whose}; open it with grater serve {path}, or name another folder with --out")


@dataclass(frozen=True, slots=True)
class Tables:
    """The judgments: annotators' marks by item, and numbers."""

    marked: Mapping[str, int]
    n_expert: int
    n_crowd: int


def _tables(store: Store, out: Path, essays: Sequence[Essay]) -> Tables:
    """Items, decisions and judgments of every preposition, as the commands take them."""
    with store.read() as tx:
        prepositions, decided = place_columns(tx, [KIND]), decision_frame(tx)
    write_table(prepositions, out / "items.csv")
    columns = prepositions.select("item", "essay", "start", "end", "kind")
    current = decided.filter(pl.col("system") != EARLIER)
    write_table(current.join(columns, on="item", how="inner", maintain_order="left"), out / "decisions.csv")
    places_judged = items_of(read_decisions(out / "decisions.csv"))
    experts = judgments_from_edits(essays, places_judged, tags=["Wcip"])
    write_table(experts.frame.with_columns(group=pl.lit("expert")), out / "judgments.csv")
    usage = judgments_from_edits(essays, places_judged, tags=["Wcip"], labels="usage")
    write_table(usage.frame.with_columns(group=pl.lit("expert")), out / "usage.csv")
    marked = dict(
        experts.frame.group_by("item", maintain_order=True).agg((pl.col("label") == "error").sum()).iter_rows()
    )
    crowd = sample_crowd(marked)
    write_table(crowd, out / "crowd.csv")
    without = sample_crowd(marked, has_gold=False).with_columns(rater="x" + pl.col("rater").str.slice(1))
    write_table(without, out / "crowd-without-gold.csv")
    known = [(item, "error" if marked[item] else "ok") for item in gold_items(marked)]
    write_table(pl.DataFrame(known, schema=["item", "label"], orient="row"), out / "gold.csv")
    return Tables(marked=marked, n_expert=len(experts), n_crowd=len(crowd))


def _outputs(out: Path) -> dict[str, list[Essay]]:
    """The sentences of essays.m2 as corrected by two of our detectors, in plain text too."""
    sentences, outputs = list(read_corpus(out / "essays.m2")), {}
    for name in CORRECTORS:
        outputs[name] = list(corrected_essays(load_system(name), sentences))
        lines = [f"{corrected_text(each.text, each.edits)}\n" for each in outputs[name]]
        (out / f"{name}.txt").write_text("".join(lines), "utf-8")
    return outputs


def _words(store: Store, out: Path, essays: Sequence[Essay], detector: Detector) -> None:
    """The cloze, choice and construction tests."""
    blanks = sample_blanks(essays, detector)
    nouns = sample_noun_items(essays)
    filled = sample_cloze(blanks, system=detector.name)
    write_table(filled, out / "cloze-study.csv")
    write_table(with_writer(filled, blanks), out / "cloze.csv")
    write_table(cloze_crowd(blanks), out / "cloze-crowd.csv")
    write_table(suggested(filled), out / "cloze-words.csv")
    write_table(sample_choice(blanks), out / "choice.csv")
    write_table(pl.DataFrame(nouns), out / "nouns.csv")
    write_table(sample_constructions(nouns), out / "constructions.csv")
    import_files(store, items=[out / "nouns.csv"])
    for name, task in (("cloze-study", "cloze"), ("choice", "choice"), ("constructions", "construction")):
        import_files(store, judgments=[out / f"{name}.csv"], job=f"{task} (simulated)", task=task)


def _crowd_tasks(store: Store, out: Path, essays: Sequence[Essay]) -> None:
    """The four crowd tasks, each judged by the experts, by a crowd with hidden gold and by one without."""
    folder = out / "crowds"
    with complaining(folder):
        folder.mkdir(exist_ok=True)
    paid = [CROWD]
    for task in crowd_tasks(essays):
        write_table(task.items, folder / f"{task.name}.csv")
        import_files(store, items=[folder / f"{task.name}.csv"])
        for job, judgments in task.jobs.items():
            write_table(judgments, folder / f"{job}.csv")
            import_files(store, judgments=[folder / f"{job}.csv"], job=job)
            paid += [job] if "crowd" in job else []
    with store.write() as tx:
        for job in paid:
            set_terms(tx, jobs.named(tx, job).job_id, {"pay": dict(PAY)})


def _report(
    store: Store, out: Path, essays: Sequence[Essay], file_types: Sequence[FileType]
) -> tuple[tuple[str, ...], Path]:
    """The report of what was judged; the corpus is counted as it came, not with the marks of later jobs."""
    with store.read() as tx:
        inputs = study_inputs(tx, title=TITLE, kind=KIND)
        names = names_of(tx)  # nobody's: annotators and raters are invented
    without = read_judgments(out / "crowd-without-gold.csv", name="the crowd without gold")
    inputs = replace(
        inputs, essays=essays, without_gold=without, gold=read_gold(out / "gold.csv"), notes=(SIMULATED,)
    )
    report = build(with_names(inputs, names))
    preferred = preference_section(preference(read_rankings(out / "rankings.csv")))
    marks, fates, left = (out / f"{name}.csv" for name in RECALL_TABLES)
    recall = estimate_recall(read_judgments(marks), as_fates(fates))
    judged = Correctors(recall, estimate_remaining(as_remaining(left)))
    report = replace(report, sections=(*report.sections, *corrector_sections(judged, None, ()), preferred))
    written = save_report(report, out / "report", file_types=file_types)
    return report.headline, written[0]
