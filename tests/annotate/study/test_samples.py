"""Samples of a study: kept as they were drawn, of one kind, and extended without judging anything twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from grater.annotate import samples
from grater.annotate.evaluation import evaluate_study
from grater.annotate.importing import import_files
from grater.annotate.samples import Drawn, NewSample, draw, extend, kind_of
from grater.annotate.store import Store
from grater.annotate.systems import decide
from grater.annotate.tables import decision_columns
from grater.detect.systems import load_system
from grater.errors import BadInput, Conflict, UsageError
from tests.annotate.study.files import write_essays, write_text
from tests.annotate.study.systems import write_systems, write_verdicts


@pytest.fixture
def decided(store: Store, tmp_path: Path) -> Store:
    import_files(store, corpora=[write_essays(tmp_path)])
    decide(store, [load_system(name) for name in write_systems(tmp_path)])
    return store


def items_of(drawn: Drawn) -> set[str]:
    return set(drawn.sample.frame["item"])


def test_a_sample_is_of_one_kind_says_what_it_covers_and_is_kept_row_by_row(decided: Store) -> None:
    drawn = draw(decided, NewSample(system="eager", n=6))
    with decided.read() as tx:
        kept = samples.named(tx, "sample")
        by_kind = {kind: set(decision_columns(tx, [kind])["item"]) for kind in ("prep", "prep-missing")}
    columns = ["item", "stratum", "probability", "stratum_size", "random", "system"]
    assert kept.frame.select(columns).rows() == drawn.sample.frame.select(columns).rows()
    assert kept.meta == drawn.sample.meta
    assert kind_of(drawn.sample) == "prep"  # unless another is named
    assert items_of(drawn) <= by_kind["prep"]
    gaps = draw(decided, NewSample(name="gaps", system="eager", n=1, kind="prep-missing"))
    assert items_of(gaps) <= by_kind["prep-missing"]
    kind, few = drawn.notes
    assert kind.startswith("the sample covers items of kind prep; eager also decides on prep-missing (")
    assert kind.endswith("left out")
    assert few.endswith("there: below 20 precision is rough")
    assert items_of(draw(decided, NewSample(system="eager", n=6))) == items_of(drawn)
    with pytest.raises(Conflict, match="another sample called 'sample'"):
        draw(decided, NewSample(system="eager", n=6, seed=1))


def test_only_what_nobody_judged_is_left(decided: Store, tmp_path: Path) -> None:
    left = draw(decided, NewSample(system="eager", n=6)).left
    assert set(left) == items_of(draw(decided, NewSample(system="eager", n=6)))
    import_files(decided, judgments=[write_verdicts(tmp_path / "j.csv", list(left[:4]))])
    again = draw(decided, NewSample(system="eager", n=6))
    assert again.left == left[4:]
    more = extend(decided, "sample", "both", "careful")
    assert items_of(more) >= items_of(again)
    assert set(more.left).isdisjoint(left[:4])


def test_a_system_is_added_with_no_more_items_than_the_wanted_width_needs(decided: Store, tmp_path: Path) -> None:
    left = draw(decided, NewSample(system="eager", n=6)).left
    with pytest.raises(UsageError, match="a target width needs judgments"):
        extend(decided, "sample", "wide", "careful", width=0.99)
    import_files(decided, judgments=[write_verdicts(tmp_path / "j.csv", list(left))])
    with pytest.raises(UsageError, match="between 0 and 1, found 7"):
        extend(decided, "sample", "wide", "careful", width=7)
    wide = extend(decided, "sample", "wide", "careful", width=0.99)
    narrow = extend(decided, "sample", "narrow", "careful", width=0.001)
    assert len(wide.left) < len(narrow.left)


def test_essays_added_after_the_draw_belong_to_another_corpus(decided: Store, tmp_path: Path) -> None:
    draw(decided, NewSample(system="eager", n=6))
    text = write_text(tmp_path / "more.txt", "We sat on the bench for an hour.")
    import_files(decided, corpora=[text])
    decide(decided, [load_system(f"late=command:{echo(tmp_path)}")])
    with pytest.raises(BadInput, match="drawn from another corpus"):
        extend(decided, "sample", "both", "late")


def echo(folder: Path) -> str:
    """A command that answers every essay with no edits."""
    program = write_text(
        folder / "echo.py",
        "import json, sys",
        "for line in sys.stdin:",
        "    print(json.dumps({'essay': json.loads(line)['essay'], 'edits': []}))",
    )
    return f"python3 {program}"


def test_a_study_without_decisions_has_nothing_to_draw(store: Store) -> None:
    with pytest.raises(UsageError, match="no decisions yet"):
        draw(store, NewSample(system="eager", n=6))


def test_what_was_judged_elsewhere_counts_for_the_sample(decided: Store, tmp_path: Path) -> None:
    left = draw(decided, NewSample(system="eager", n=6)).left
    import_files(decided, judgments=[write_verdicts(tmp_path / "elsewhere.csv", list(left[:4]))], job="earlier")
    import_files(decided, judgments=[write_verdicts(tmp_path / "now.csv", list(left[4:]))], job="later")
    with decided.read() as tx:
        estimates = evaluate_study(tx, "study", job_names=["later"], sample="sample")
    assert estimates.sample is not None
    assert (estimates.sample.n_drawn, estimates.sample.n_judged) == (6, 6)
    assert "4 of the drawn items were judged elsewhere in the study; those judgments are used" in estimates.warnings
