"""docs/exhibits.md is complete: each table and figure of the papers has its row; commands and figures are real."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from grater.measure.agreement.difficulty import spread_of
from grater.measure.agreement.raters_needed import raters_needed
from grater.measure.agreement.summary import agreement
from grater.sheet import count, number
from grater.tables import Judgments, read_judgments
from tests.cli.running import require_known
from tests.conftest import Demo
from tests.each import for_each
from tests.real_data import data_path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "exhibits.md").read_text("utf-8")
EXHIBITS = [
    *(f"T&C Table {n}" for n in range(1, 8)),
    "T&C Figure 1",
    *(f"Lee Table {n}" for n in range(1, 6)),
    "Madnani Table 1",
    *(f"Madnani Figure {n}" for n in (1, 2)),
    *(f"T,C&M Table {n}" for n in range(1, 7)),
    *(f"T,C&M Figure {n}" for n in range(1, 5)),
    *(f"NUCLE Table {n}" for n in range(1, 6)),
    *(f"NUCLE Figure {n}" for n in range(1, 5)),
]
ROWS = {
    match[1]: match[2]
    for match in re.finditer(r"^\| ((?:T&C|Lee|Madnani|T,C&M|NUCLE) \w+ \d) \| (.+) \|$", PAGE, re.M)
}
COMMANDS = sorted(set(re.findall(r"`(grater [^`]+)`", PAGE)))


def test_every_exhibit_has_its_row_with_a_command_and_whose_data_it_is_and_is_held_to_its_content() -> None:
    assert set(ROWS) == set(EXHIBITS)
    for row in ROWS.values():
        _, command, ours = (cell.strip() for cell in re.split(r" \| ", row, maxsplit=2))
        assert command.startswith("`grater ")
        assert ours
    assert set(CONTENT) | set(SAME) | BY_EYE == set(EXHIBITS)
    for exhibit, other in SAME.items():
        assert command_in(exhibit) == command_in(other)


@for_each(COMMANDS)
def test_every_command_exists_with_its_options(line: str) -> None:
    require_known(shlex.split(line)[1:])


N, P = r"[\d,]+", r"[−-]?\.\d{3} \[[−-]?\.\d{3}, 1?\.\d{3}\]"
"""A count, and a number with its interval."""

CONTENT: dict[str, tuple[str, ...]] = {
    "T&C Table 1": (
        r"^preposition +n +precision +recall +F$",
        rf"^in +{N} +{P} +{P} +{P}$",
        rf"accuracy {P} on 1,350",
    ),
    "T&C Table 2": (
        rf"^writer – R1 +200 +\.760 \[.*\] +{P}",
        rf"^writer – R2 +200 +\.740 \[.*\] +{P}",
        rf"^writer – prep-maxent +200 +\.605 \[.*\] +{P}",
        rf"^R1 – R2 +200 +{P} +{P}",
    ),
    "T&C Table 3": (
        r"^A↓ B→ +Extraneous +OK +Wrong-Choice$",
        r"^Extraneous +17 +10 +4$",
        r"^OK +1 +955 +41$",
        r"^Wrong-Choice +1 +50 +149$",
        r"^all items +1,350 +.* \.625 \[",
        r"^without items flagged by any rater +1,228 +.* \.712 \[",
    ),
    "T&C Table 4": (
        rf"^A +1,350 +{P} +{P} +{P}$",
        rf"^B +1,350 +{P} +{P} +{P}$",
        r"^lowest to highest +\.\d+ to \.\d+",
    ),
    "T&C Figure 1": (r"^### Estimates from the sample", r"300 of 1,350 items were judged"),
    "T&C Table 5": (
        r"^Against majority, estimated for 1,350 items: 300 of 300 drawn items judged$",
        r"^The paper's normal intervals",
        rf"^prep-maxent +{P} +{P} +{P} +{N}",
    ),
    "T&C Table 6": (r"^Against majority, 1,350 items$", rf"^prep-maxent +{P} +{P} +{P} +{N}"),
    "T&C Table 7": (r"^exhaustive +613", r"^verification +245 .*precision only", r"^sampling +138", r"^ours +136"),
    "Lee Table 1": tuple(
        rf"^{name} +{N} +{P}$"
        for name in ("null-singular", "a-singular", "the-singular", "null-plural", "the-plural")
    ),
    "Lee Table 3": (r"1,210 items, 121 of 420 places \(7 cells per noun\)",),
    "Lee Table 4": (rf"^R1 +no-context +{N} +{P}$", rf"^R2 +in-context +{N} +{P}$"),
    "Lee Table 5": (
        r"^no-context \(Table 5\)$",
        r"^R1↓ R2→ +yes +no$",
        rf"^yes +{N} +{N}$",
        r"^stage +n +agree +kappa",
    ),
    "Madnani Figure 1": (r"agreement-histogram",),
    "Madnani Table 1": (r"^Against majority", r"^Weighted", rf"^prep-lm +{P} +{P}"),
    "Madnani Figure 2": (
        r"^prep-lm by agreement of raters$",
        *(rf"^{bin_} % +{N} +{P} +{P} +{P} +{P}$" for bin_ in ("50-75", "75-90", "90-100")),
    ),
    "T,C&M Figure 1": (
        r"^raters +items +agreement +kappa, writer +R1 +R2 +mean of experts$",
        rf"^3 +200 +{P} +\.835 \[",
        r"^Kappa of experts with the writer: \.720",
    ),
    "T,C&M Figure 2": (r"^raters +items +agreement +kappa, mean of experts +A +B$", r"^5 raters match the experts"),
    "T,C&M Table 4": tuple(
        rf"^\| {task}, crowd {gold} \(simulated\) \| 150 \| 10\.0 \| .* \| {n} \(\d {most}\) \| "
        for task, with_gold, without in (
            ("confused prepositions", (3, "to 5"), (5, "or more")),
            ("extraneous prepositions", (5, "or more"), (9, "or more")),
            ("determiners", (3, "to 3"), (5, "to 7")),
            ("collocations", (3, "to 5"), (5, "to 7")),
        )
        for gold, (n, most) in (("with gold", with_gold), ("without gold", without))
    ),
    "T,C&M Table 5": (
        r"^\| job \| items \| judgments \| raters \| hours \| cost \| per judgment \|$",
        r"^\| collocations, crowd without gold .* \| 150 \| 1,500 \| 60 \| 1\.9 \| 15\.00 USD \| 0\.01 USD \|$",
    ),
    "NUCLE Table 1": (r"^ArtOrDet +\d+", r"^Wcip +\d+", r"^Um +\d+"),
    "NUCLE Table 3": (
        r"^Identification +13,368$",
        r"^ +Cohen kappa +\.624 \[",
        r"^ +Cohen kappa +\.570",
        r"^ +Cohen kappa +\.528",
    ),
    "NUCLE Table 4": (r"^By prompt$",),
    "NUCLE Table 5": (
        r"^Documents +76$",
        r"^Word tokens +13,368$",
        r"^Edits +2,118$",
        r"^Tokens per sentence +14\.30$",
    ),
    "NUCLE Figure 2": (r"edits-per-document",),
    "NUCLE Figure 3": (r"edits-per-sentence",),
    "NUCLE Figure 4": (r"tags",),
}
"""What each exhibit's first command prints, or its report says: rows, labels, and cells of the seeded sample."""

SAME = {"T,C&M Table 1": "T&C Table 2", "T,C&M Table 2": "T&C Table 3", "T,C&M Table 3": "T&C Table 4"}
SAME |= {"T,C&M Figure 3": "Madnani Figure 1", "T,C&M Table 6": "Madnani Table 1"}
SAME |= {"T,C&M Figure 4": "Madnani Figure 2"}
BY_EYE = {"Lee Table 2", "NUCLE Figure 1", "NUCLE Table 2"}
"""Pages of the server, which tests in a browser hold, and a conversion, which tests of formats hold."""


def test_parts_of_the_report_are_called_as_the_report_calls_them(demo: Demo) -> None:
    report = (demo.folder / "report" / "report.html").read_text("utf-8")
    titles = re.findall(r'in the report, "([^"]+)"', PAGE)
    assert len(titles) >= 3
    assert [title for title in titles if title not in report] == []


def command_in(exhibit: str) -> str:
    return str(re.findall(r"`(grater [^`]+)`", ROWS[exhibit])[0])


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What every command prints, and the report that it writes, on what the demo left."""
    folder = tmp_path_factory.mktemp("exhibits")
    program = str(Path(sys.executable).parent / "grater")
    lines = ["grater demo --out demo --figures svg", *(line for line in COMMANDS if " serve " not in line)]
    texts = {}
    for line in lines:
        words = [*shlex.split(line)[1:], *(["--figures", "svg"] if " report" in line else [])]
        done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}\n{done.stderr[-2000:]}"
        report = folder / "report" / "report.md"
        texts[line] = done.stdout + done.stderr + (report.read_text("utf-8") if " report" in line else "")
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("exhibit", CONTENT)
def test_an_exhibit_has_the_rows_labels_and_cells_that_it_should(exhibit: str, printed: dict[str, str]) -> None:
    require_content(exhibit, printed[command_in(exhibit)])


@pytest.mark.parametrize("exhibit", ["T,C&M Table 4", "T,C&M Table 5"])
def test_the_report_of_the_demo_compares_four_crowds_with_and_without_gold(exhibit: str, demo: Demo) -> None:
    require_content(exhibit, (demo.folder / "report" / "report.md").read_text("utf-8"))


def require_content(exhibit: str, text: str) -> None:
    missing = [pattern for pattern in CONTENT[exhibit] if not re.search(pattern, text, re.M)]
    assert missing == [], text[:3000]


SNOW = {"item": "orig_id", "rater": "!amt_worker_ids", "label": "response"}
CROWDS = {
    "Snow 2008, entailment": "snow2008-rte.tsv",
    "Snow 2008, order of events": "snow2008-temp.tsv",
    "CrowdFlower weather": "CF_amt",
    "Sentence polarity": "SP_amt",
    "Dogs": "dog",
    "Sentiment": "sentiment",
}


def read(name: str) -> tuple[Judgments, Judgments]:
    """The crowd, and its gold as one expert."""
    path = data_path(f"crowd/{CROWDS[name]}")
    if path.is_dir():
        crowd = read_judgments(path / "label.csv", duplicates="first")
        gold = pl.read_csv(path / "truth.csv", infer_schema=False)
        gold = gold.rename(dict(zip(gold.columns, ("item", "label"), strict=False)))
    else:
        crowd = read_judgments(path, columns=SNOW)
        gold = pl.read_csv(path, separator="\t", infer_schema=False).select(item="orig_id", label="gold").unique()
    return crowd, read_judgments(gold.select("item", "label", rater=pl.lit("gold")), name="gold", duplicates="first")


def figures(crowd: Judgments, gold: Judgments) -> tuple[str, ...]:
    """Items, raters, judgments per item, alpha, share of items with 90 % agreement, kappa of 1, 3 and 5 with gold."""
    whole = agreement(crowd, most_raters=0)
    share = spread_of(crowd)["majority_share"].to_numpy()
    [curve] = raters_needed(crowd, gold).curves[:1]
    kappas = {point.n_raters: point.kappa.value for point in curve.points}
    n_items = crowd.frame["item"].n_unique()
    sizes = (count(n_items), count(crowd.frame["rater"].n_unique()), number(len(crowd) / n_items, digits=1))
    reached = (number(kappas[n], digits=2) if n in kappas else "–" for n in (1, 3, 5))
    return (*sizes, number(whole.alpha.value, digits=2), number(float((share >= 0.9).mean()), digits=2), *reached)


@pytest.mark.data
@pytest.mark.parametrize("name", CROWDS)
def test_the_figures_of_a_real_crowd_are_those_of_its_data(name: str) -> None:
    [row] = re.findall(rf"^\| {re.escape(name)} \| real \| (.*) \|$", PAGE, re.M)
    assert tuple(cell.strip() for cell in row.split("|")) == figures(*read(name))
