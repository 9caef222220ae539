"""The sample study of `grater demo`: one database, made by the same steps that a person would take.

The essays and what two annotators marked in them are our own writing (docs/sample.md); what the systems decided and
filled into blanks is real.  What is simulated is named so: the crowd (`grater.sample.raters`), and the two raters of
the cloze, choice and construction tests (`grater.sample.raters`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from grater.corpora import read_corpus
from grater.corpora.judgments import items_of, judgments_from_edits
from grater.detect.detector import Detector
from grater.detect.systems import load_system
from grater.errors import GraterError
from grater.model import Essay
from grater.report.build import build
from grater.report.drawing import FILE_TYPES, FileType
from grater.report.save import save_report
from grater.sample import sample_path
from grater.sample.items import sample_blanks, sample_noun_items
from grater.sample.raters import (
    CrowdWish,
    gold_items,
    sample_choice,
    sample_cloze,
    sample_constructions,
    sample_crowd,
    suggested,
    with_writer,
)
from grater.statistics.bootstrap import Chance
from grater.store import Store, dump, people
from grater.study.importing import import_files
from grater.study.reporting import names_of, study_inputs, with_names
from grater.study.samples import Wish, draw
from grater.study.status import new_study, open_study
from grater.study.systems import decide
from grater.study.tables import decision_frame, item_frame, study_tables
from grater.tables import read_decisions, read_gold, write_table

SYSTEMS = ("prep-maxent", "prep-perceptron", "prep-lm")
TITLE = "How good are three preposition detectors?"
SIMULATED = (
    "The essays and the marks of their two annotators are our own writing; the crowd and the raters of the cloze, "
    "choice and construction tests are simulated; only what the systems decided is real."
)
ANNOTATORS, CROWD, UNCHECKED = "annotators", "crowd (simulated)", "crowd without gold (simulated)"
N_SAMPLED = 300
KIND = "prep"
DEMO_RESAMPLES = 500
NAME, STUDY = "The sample study", "study.db"
TABLES = ("essays.jsonl", "items.csv", "decisions.csv", "judgments.csv", "crowd.csv", "gold.csv", "sample.csv")
"""Files of a demo that somebody may have files of the same name of."""


@dataclass(frozen=True, slots=True)
class DemoStudy:
    """What the demo made."""

    n_items: int
    n_expert: int
    n_crowd: int
    n_sampled: int
    systems: tuple[str, ...]
    headline: tuple[str, ...]
    page: Path


def make_study(
    out: Path, *, file_types: Sequence[FileType] = FILE_TYPES, n_resamples: int = DEMO_RESAMPLES
) -> DemoStudy:
    """Fill the study of a folder (`fresh_study`) and make its report."""
    detectors = [load_system(name) for name in SYSTEMS]
    store = open_study(out / STUDY)
    try:
        import_files(store, corpora=[out / "essays.jsonl"])
        decide(store, detectors)
        tables = _tables(store, out)
        import_files(store, judgments=[out / "judgments.csv"], job=ANNOTATORS)
        import_files(store, judgments=[out / "crowd.csv"], job=CROWD)
        import_files(store, judgments=[out / "crowd-without-gold.csv"], job=UNCHECKED)
        _words(store, out, detectors[0])
        drawn = draw(store, "sample", Wish(detectors[0].name, N_SAMPLED))
        write_table(drawn.sample, out / "sample.csv")
        headline, page = _report(store, out, file_types, Chance(n_resamples=n_resamples))
    finally:
        store.close()
    return DemoStudy(*tables, len(drawn.sample), tuple(each.name for each in detectors), headline, page)


def fresh_study(out: Path) -> None:
    """An empty study in place of an earlier demo's; nothing that a person made is lost.

    It is made first of all: whatever lies beside the study of a demo is the demo's own.
    """
    path = out / STUDY
    if path.exists():
        _require_untouched(path)
    elif existing := next((name for name in TABLES if (out / name).exists()), None):
        raise GraterError(f"{out / existing}: is no demo's, and would be lost; name another folder with --out")
    for suffix in ("", "-wal", "-shm", ".lock"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    new_study(path, name=NAME).close()


def _require_untouched(path: Path) -> None:
    """Refuse a study of somebody's own, and one that people have joined since the demo made it."""
    if not path.is_file():
        raise GraterError(f"{path}: expected a file or nothing, found a folder; name another with --out")
    with open_study(path) as store, store.read() as tx:
        is_ours = dump.meta_values(tx).get("name") == NAME
        has_joined = any(person.password_hash for person in people.all(tx))
    if not is_ours or has_joined:
        whose = "people have joined it" if is_ours else "it is no demo's"
        raise GraterError(f"{path}: {whose}; open it with grater serve {path}, or name another folder with --out")


def _tables(store: Store, out: Path) -> tuple[int, int, int]:
    """Items, decisions and judgments of every preposition, as the commands take them."""
    with store.read() as tx:
        places, decided = item_frame(tx), decision_frame(tx)
    prepositions = places.filter(pl.col("kind") == KIND)
    write_table(prepositions, out / "items.csv")
    columns = prepositions.select("item", "essay", "start", "end", "kind")
    decisions = decided.join(columns, on="item", how="inner", maintain_order="left")
    write_table(decisions, out / "decisions.csv")
    experts = judgments_from_edits(_essays(), items_of(read_decisions(out / "decisions.csv")), tags=["Wcip"])
    write_table(experts.frame.with_columns(group=pl.lit("expert")), out / "judgments.csv")
    marked = dict(
        experts.frame.group_by("item", maintain_order=True).agg((pl.col("label") == "error").sum()).iter_rows()
    )
    crowd = sample_crowd(marked)
    write_table(crowd, out / "crowd.csv")
    without = sample_crowd(marked, CrowdWish(has_gold=False)).with_columns(rater="x" + pl.col("rater").str.slice(1))
    write_table(without, out / "crowd-without-gold.csv")
    known = [(item, "error" if marked[item] else "ok") for item in gold_items(marked)]
    write_table(pl.DataFrame(known, schema=["item", "label"], orient="row"), out / "gold.csv")
    return len(prepositions), len(experts), len(crowd)


def _words(store: Store, out: Path, detector: Detector) -> None:
    """The cloze, choice and construction tests."""
    essays = _essays()
    blanks = sample_blanks(essays, detector)
    nouns = sample_noun_items(essays)
    filled = sample_cloze(blanks, system=detector.name)
    write_table(filled, out / "cloze-study.csv")
    write_table(with_writer(filled, blanks), out / "cloze.csv")
    write_table(suggested(filled), out / "cloze-words.csv")
    write_table(sample_choice(blanks), out / "choice.csv")
    write_table(pl.DataFrame(nouns), out / "nouns.csv")
    write_table(sample_constructions(nouns), out / "constructions.csv")
    import_files(store, items=[out / "nouns.csv"])
    for name, task in (("cloze-study", "cloze"), ("choice", "choice"), ("constructions", "construction")):
        import_files(store, judgments=[out / f"{name}.csv"], job=f"{task} (simulated)", task=task)


def _essays() -> list[Essay]:
    return list(read_corpus(sample_path()))


def _report(store: Store, out: Path, file_types: Sequence[FileType], chance: Chance) -> tuple[tuple[str, ...], Path]:
    with store.read() as tx:
        inputs = study_inputs(tx, title=TITLE, job_names=(ANNOTATORS, CROWD), kind=KIND, chance=chance)
        without = study_tables(tx, "the crowd without gold", job_names=(UNCHECKED,), kind=KIND)
        names = names_of(tx)  # nobody's: annotators and raters are invented
    inputs = replace(inputs, without_gold=without.judgments, gold=read_gold(out / "gold.csv"), notes=(SIMULATED,))
    report = build(with_names(inputs, names))
    written = save_report(report, out / "report", file_types=file_types)
    return report.headline, written[0]
