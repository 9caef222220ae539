"""A study of constructions on a terminal, and as JSON."""

from __future__ import annotations

from math import isnan

from rich.console import Console

from grater.agreement.compare import KappaTest
from grater.agreement.constructions import ConstructionStudy, Contrast, PartAgreement, SeveralRight
from grater.cli.output import number_table
from grater.model import Interval, Json
from grater.result import encode


def study_json(study: ConstructionStudy) -> dict[str, Json]:
    """Everything, with its limits."""
    return {
        "places": study.n_places,
        "raters": list(study.raters),
        "freedom": [
            {"rater": each.rater, "stage": each.stage, "n": each.n, "yes": each.yes.as_json()}
            for each in study.freedom
        ],
        "stages": [_part_json(part) for part in study.stages],
        "several": [_several_json(each) for each in study.several],
        "contrasts": [_contrast_json(each) for each in study.contrasts],
        "signature": str(study.signature),
    }


def _part_json(part: PartAgreement) -> dict[str, Json]:
    return {
        "name": part.name,
        "n": part.table.n,
        "raters": list(part.table.raters),
        "labels": list(part.table.labels),
        "confusion": part.table.cells.tolist(),
        "observed": part.observed.as_json(),
        "kappa": part.kappa.as_json(),
    }


def _several_json(each: SeveralRight) -> dict[str, Json]:
    return {
        "rater": each.rater,
        "places": each.n_places,
        "several_starred": each.several_starred.as_json(),
        "several_yes": each.several_yes.as_json(),
        "original_yes": each.original_yes.as_json(),
        "original_starred": each.original_starred.as_json(),
        "mean_starred": encode(each.mean_starred),
        "sets": [{"constructions": list(names), "n": n} for names, n in each.sets],
    }


def _contrast_json(each: Contrast) -> dict[str, Json]:
    return {
        "name": each.name,
        "first": _part_json(each.first),
        "second": _part_json(each.second),
        "paper": _test_json(each.paper),
        "ours": _test_json(each.ours),
    }


def _test_json(test: KappaTest) -> dict[str, Json]:
    return {
        "method": test.method,
        "difference": test.difference.as_json(),
        "z": encode(test.z),
        "p": encode(test.p),
    }


def render(study: ConstructionStudy, console: Console) -> None:
    """Print the tables of the paper and what goes with them."""
    _freedom(study, console)
    for part in study.stages:
        _confusion(part, console)
    _stages(study, console)
    _several(study, console)
    _contrasts(study, console)
    console.print(str(study.signature), style="dim", markup=False, soft_wrap=True)


def _freedom(study: ConstructionStudy, console: Console) -> None:
    table = number_table("How freely raters say yes (Table 4)", ("rater", "stage", "n", "yes"))
    for each in study.freedom:
        table.add_row(each.rater, each.stage, f"{each.n:,}", _percent(each.yes))
    console.print(table)


def _confusion(part: PartAgreement, console: Console) -> None:
    first, second = part.table.raters
    table = number_table(f"{part.name} (Table 5)", (f"{first}↓ {second}→", *part.table.labels))
    for label, cells in zip(part.table.labels, part.table.cells.tolist(), strict=True):
        table.add_row(label, *(f"{cell:,}" for cell in cells))
    console.print(table)


def _stages(study: ConstructionStudy, console: Console) -> None:
    if not study.stages:
        return
    table = number_table("Agreement by stage", ("stage", "n", "agree", "kappa"))
    for part in study.stages:
        table.add_row(part.name, f"{part.table.n:,}", _percent(part.observed), _plain(part.kappa))
    console.print(table)


def _several(study: ConstructionStudy, console: Console) -> None:
    names = ("rater", "places", "several yes*", "several yes", "original yes", "original yes*", "yes* a place")
    table = number_table("Several right constructions, and the original (section 4)", names)
    for each in study.several:
        shares = (each.several_starred, each.several_yes, each.original_yes, each.original_starred)
        table.add_row(each.rater, f"{each.n_places:,}", *map(_percent, shares), f"{each.mean_starred:.2f}")
    console.print(table)
    sets = study.several[-1].sets if study.several else ()
    if sets:
        named = "; ".join(f"{{{', '.join(names)}}} {n}" for names, n in sets)
        console.print(f"most frequent sets of yes*: {named}", markup=False, soft_wrap=True)


def _contrasts(study: ConstructionStudy, console: Console) -> None:
    if not study.contrasts:
        return
    table = number_table(
        "What agreement depends on (section 5)", ("", "kappa", "other kappa", "paper's z, p", "ours, p")
    )
    for each in study.contrasts:
        name = f"{each.first.name} against {each.second.name}"
        paper = f"{_number(each.paper.z)}, {_number(each.paper.p, 3)}"
        ours = f"{each.ours.method}, {_number(each.ours.p, 3)}"
        table.add_row(name, _plain(each.first.kappa), _plain(each.second.kappa), paper, ours)
    console.print(table)


def _percent(value: Interval) -> str:
    if isnan(value.value):
        return value.undefined_because
    return f"{100 * value.value:.1f} % [{100 * value.low:.1f}, {100 * value.high:.1f}]"


def _plain(value: Interval) -> str:
    return value.undefined_because if isnan(value.value) else f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}]"


def _number(value: float, decimals: int = 2) -> str:
    return "–" if isnan(value) else f"{value:.{decimals}f}"
