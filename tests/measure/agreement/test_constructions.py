"""Constructions of nouns: the tables of the paper, a study that gives back what went in, and systems held to them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from grater.errors import BadInput
from grater.measure.agreement.constructions import (
    CONSTRUCTIONS,
    IN_CONTEXT,
    NO_CONTEXT,
    construction_study,
)
from grater.model import Item, Span
from grater.reporting.tasks import constructions_section
from grater.tables import Judgments, Table, read_decisions, read_items, read_judgments
from grater.uncertainty import generator, wilson
from tests.cli.running import grater
from tests.measure.agreement.tables import judgments

N_PLACES = 368
# Lee et al. 2009, Table 5: cells (R1, R2) of yes yes, yes no, no yes, no no
TABLE_5 = {NO_CONTEXT: (846, 302, 108, 584), IN_CONTEXT: (462, 77, 260, 1041)}
ANSWERS = (("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no"))


def _items(n_places: int, **columns: list[str]) -> pl.DataFrame:
    rows = []
    for place, stage, name in product(range(n_places), TABLE_5, CONSTRUCTIONS):
        kind = f"construction/{stage}/{name}"
        item_id = Item("e", Span(place, place + 1), kind).item_id
        rest = {column: values[place] for column, values in columns.items()}
        rows.append({"item": item_id, "essay": "e", "start": place, "end": place + 1, "kind": kind, **rest})
    return pl.DataFrame(rows)


def _published() -> tuple[Judgments, Table]:
    items = _items(N_PLACES)
    rows = []
    for stage, cells in TABLE_5.items():
        answers = [answer for answer, n in zip(ANSWERS, cells, strict=True) for _ in range(n)]
        ids = items.filter(pl.col("kind").str.contains(stage, literal=True))["item"]
        for item_id, (first, second) in zip(ids, answers, strict=True):
            rows += [f"{item_id} R1 {first}", f"{item_id} R2 {second}"]
    return judgments(*rows), read_items(items)


def test_tables_4_and_5_and_note_5_of_the_paper_come_out() -> None:
    published = construction_study(*_published())
    # Lee et al. 2009, section 5: agreement 78 % and 82 %, kappa .55 and .60
    numbers = [number for part in published.stages for number in (part.observed.value, part.kappa.value)]
    assert numbers == pytest.approx([0.777174, 0.550228, 0.816848, 0.597853], abs=5e-7)
    assert [part.name for part in published.stages] == [NO_CONTEXT, IN_CONTEXT]
    assert published.n_places == N_PLACES
    # Table 4
    assert {(each.stage, each.rater): each.yes.value for each in published.freedom} == pytest.approx(
        {
            (NO_CONTEXT, "R1"): 0.623913,
            (NO_CONTEXT, "R2"): 0.518478,
            (IN_CONTEXT, "R1"): 0.292935,
            (IN_CONTEXT, "R2"): 0.392391,
        },
        abs=5e-7,
    )
    # Note 5: z = 1.71, p < .10
    [contrast] = published.contrasts
    assert (contrast.paper.z, contrast.paper.p) == pytest.approx((1.710226, 0.087224), abs=1e-6)
    assert contrast.ours.method == "paired by noun"


def _simulated(seed: int) -> Iterator[str]:
    """Two raters who always accept and star the original, a third of the time star one more, and agree on all."""
    rng = generator(seed, "constructions")
    for place in range(300):
        original = CONSTRUCTIONS[place % 5]
        other = CONSTRUCTIONS[(place + 1) % 5]
        is_double = bool(rng.random() < 1 / 3)
        for stage, name in product(TABLE_5, CONSTRUCTIONS):
            item_id = Item("e", Span(place, place + 1), f"construction/{stage}/{name}").item_id
            is_right = name == original or (is_double and name == other)
            label = ("yes*" if stage == IN_CONTEXT else "grey") if is_right else "no"
            yield from (f"{item_id} {rater} {label}" for rater in ("A", "B"))


def test_a_study_with_known_raters_gives_back_what_went_in() -> None:
    originals = [CONSTRUCTIONS[place % 5] for place in range(300)]
    items = read_items(_items(300, original=originals))
    found = construction_study(judgments(*_simulated(1)), items)
    together = found.several[-1]
    assert (together.rater, together.original_yes.value, together.original_starred.value) == ("all", 1.0, 1.0)
    assert together.several_starred.low < 1 / 3 < together.several_starred.high
    assert together.several_starred == together.several_yes
    assert together.mean_starred == pytest.approx(1 + together.several_starred.value)
    assert len(together.sets) == 5
    assert all(part.kappa.value == 1 for part in found.stages)


def test_mention_and_frequency_split_the_answers() -> None:
    n = 40
    of_nouns = {name: ["the-singular"] * n for name in ("original", "dominant")}
    items = _items(n, **of_nouns, anaphoric=["true", "false"] * (n // 2), entropy=["low"] * n)
    rng = generator(3, "constructions")
    rows = []
    for row in items.iter_rows(named=True):
        answer = "yes" if row["kind"].endswith("the-singular") or rng.random() < 0.3 else "no"
        other = answer if row["anaphoric"] == "true" or rng.random() < 0.6 else "no"
        rows += [f"{row['item']} A {answer}", f"{row['item']} B {other}"]
    found = construction_study(judgments(*rows), read_items(items))
    by_name = {contrast.name: contrast for contrast in found.contrasts}
    assert by_name["mention"].first.kappa.value == 1
    assert by_name["mention"].first.table.n == n // 2 * 5
    assert by_name["mention"].ours.difference.value > 0
    assert by_name["frequency"].first.table.n == n
    # Lee et al. 2009, section 5, compare frequent constructions for low-entropy nouns only, and the table says so
    shown = [row[0] for sheet in found.sheets() if sheet.name == "contrasts" for row in sheet.rows]
    assert "low-entropy nouns: most frequent construction against the others" in shown


def test_labels_of_another_task_are_refused() -> None:
    published, items = _published()
    frame = published.frame.with_columns(label=pl.lit("error"))
    with pytest.raises(BadInput, match="expected labels yes, no, yes\\*, grey, found 'error'"):
        construction_study(read_judgments(frame), items)


# Systems against every construction that raters accept (Lee et al. 2009, section 4)


ACCEPTED = {
    # noun: (written, yes of both raters, yes* of both)
    0: ("the-singular", ("the-singular", "a-singular"), ("the-singular",)),
    1: ("null-plural", ("null-plural", "the-plural"), ("the-plural",)),
    2: ("a-singular", ("the-singular",), ("the-singular",)),
    3: ("a-singular", ("a-singular",), ("a-singular",)),
}
CHOSEN = {0: "a-singular", 1: "the-plural", 2: None, 3: "the-singular"}
"""Right for the raters twice, never the original but where it leaves it, which they reject."""


@pytest.fixture
def tables(tmp_path: Path) -> list[object]:
    items, judged, decided = [], [], []
    for noun, (written, yes, best) in ACCEPTED.items():
        for name in CONSTRUCTIONS:
            item = f"n{noun}-{name}"
            kind = f"construction/in-context/{name}"
            items.append(
                {"item": item, "essay": "e", "start": noun, "end": noun + 1, "kind": kind, "original": written}
            )
            label = "yes*" if name in best else "yes" if name in yes else "no"
            judged += [{"item": item, "rater": rater, "label": label} for rater in "AB"]
        chosen = CHOSEN[noun]
        first = f"n{noun}-{CONSTRUCTIONS[0]}"
        decided.append({"item": first, "system": "S", "flagged": int(chosen is not None), "suggestion": chosen})
    for name, rows in (("items", items), ("judged", judged), ("decided", decided)):
        pl.DataFrame(rows).write_csv(tmp_path / f"{name}.csv")
    named = {"--decisions": "decided", "--judgments": "judged", "--items": "items"}
    return [part for option, name in named.items() for part in (option, tmp_path / f"{name}.csv")]


def evaluated(capsys: pytest.CaptureFixture[str], tables: list[object]) -> list[dict[str, object]]:
    done = grater(capsys, "evaluate", "--constructions", "--units", "item", *tables, "--json")
    systems: list[dict[str, object]] = json.loads(done.out)["systems"]
    return systems


EXPECTED = {rule: wilson(n, 4).as_json() for rule, n in (("original", 1), ("accepted", 2), ("starred", 1))}
"""It left the third noun as it was."""


def test_any_accepted_construction_is_right(tables: list[object], capsys: pytest.CaptureFixture[str]) -> None:
    [system] = evaluated(capsys, tables)
    assert system == {"system": "S", "n": 4, **EXPECTED}
    shown = grater(capsys, "evaluate", "--constructions", "--units", "item", *tables)
    assert "every accepted one" in shown.out
    assert "95 % intervals generalise to other items like these 4" in shown.out


def of_parts(folder: Path) -> Path:
    """The same choices as decisions on articles and number, in the columns of `grater decide --system article`."""
    rows = []
    for noun, chosen in CHOSEN.items():
        written = ACCEPTED[noun][0].split("-")
        article, number = (chosen or ACCEPTED[noun][0]).split("-")
        word = {"a": "an", "null": "-NONE-"}.get(article, article) if article != written[0] else None
        spans = {"article": (noun, noun, word), "number": (noun, noun + 1, "forms" if number != written[1] else None)}
        rows += [
            (f"{kind}{noun}", "article", int(change is not None), change, "e", start, end, kind)
            for kind, (start, end, change) in spans.items()
        ]
    names = ["item", "system", "flagged", "suggestion", "essay", "start", "end", "kind"]
    pl.DataFrame(rows, names, orient="row").write_csv(folder / "parts.csv")
    return folder / "parts.csv"


def test_decisions_on_articles_and_number_speak_for_the_noun(
    tables: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = ["--decisions", of_parts(tmp_path)]
    assert evaluated(capsys, [*parts, *tables[2:]]) == [{"system": "article", "n": 4, **EXPECTED}]
    both = evaluated(capsys, [*parts, *tables])
    assert [{**each, "system": ""} for each in both] == [{"system": "", "n": 4, **EXPECTED}] * 2


def test_a_report_scores_systems_against_every_accepted_construction(tables: list[object], tmp_path: Path) -> None:
    judged, items = read_judgments(tmp_path / "judged.csv"), read_items(tmp_path / "items.csv")
    section = constructions_section(judged, items, decisions=read_decisions(of_parts(tmp_path)))
    [sheet] = [each for each in section.sheets if each.name == "constructions-systems"]
    assert sheet.rows[0][:2] == ("article", "4")
    assert sheet.rows[0][3].startswith(".500")
    assert tables
