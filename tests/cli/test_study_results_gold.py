"""`study evaluate --sample --corrected`: a sampled study whose hidden gold was answered.

Every third item is flagged.  Raters follow flags: of flagged errors they call .95 errors and of flagged good items
.5, of the others .6 and .03.  What they say of each item is drawn once; expected numbers are worked out from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pytest

from grater.annotate import samples
from grater.annotate.store import open_store
from grater.errors import GraterError
from tests.annotate.store.crowds import evenly_hidden_gold
from tests.annotate.study.files import write_text
from tests.annotate.study.places import answer_all, places_in, write_places
from tests.cli.running import as_json, invoked

N_ESSAYS, N_PLACES, N_RATERS, N_GOLD = 12, 30, 3, 15
CALLED = {(True, True): 0.95, (True, False): 0.5, (False, True): 0.6, (False, False): 0.03}
"""How often raters call an item an error, by whether it is flagged and whether it is one."""
TERMS = '{"gold": {"minimum": 0}, "page": 2}'


@dataclass(frozen=True, slots=True)
class Place:
    """Whether the system flags an item, whether it is an error, and whether raters call it one."""

    is_flagged: bool
    is_error: bool
    is_called: bool


def _places() -> Iterable[Place]:
    rng = Random(3)
    for number in range(N_ESSAYS * N_PLACES):
        essay, at = divmod(number, N_PLACES)
        is_flagged = at % 3 == 0
        is_error = at % 2 == 0 if is_flagged else (at + essay) % 8 == 1
        yield Place(is_flagged, is_error, rng.random() < CALLED[is_flagged, is_error])


ITEMS = places_in(N_ESSAYS, N_PLACES)
PLACES = dict(zip(ITEMS, _places(), strict=True))


def _gold() -> dict[str, str]:
    """Fifteen items of each kind on each side, some of them drawn, too."""
    labels: dict[str, str] = {}
    for side in CALLED:
        names = [name for name, place in PLACES.items() if (place.is_flagged, place.is_error) == side]
        labels |= dict.fromkeys(Random(5).sample(names, N_GOLD), "error" if side[1] else "ok")
    return labels


GOLD = _gold()


@dataclass(frozen=True, slots=True)
class Judged:
    """A study, and of its drawn items and its gold those that somebody answered."""

    study: Path
    sample: frozenset[str]
    gold: frozenset[str]


@contextmanager
def same_order() -> Iterator[None]:
    """Units come in the same order in every run: how sure it is that raters err differently depends on it."""
    rng = Random(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.token_bytes", rng.randbytes)
        patch.setattr("secrets.token_urlsafe", lambda n: rng.randbytes(n).hex())
        patch.setattr("secrets.randbelow", rng.randrange)
        yield


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder = tmp_path_factory.mktemp("gold")
    study = folder / "study.db"
    flagged = {name for name, place in PLACES.items() if place.is_flagged}
    corpus, items, flags = write_places(folder, ITEMS, {"S": flagged})
    gold = write_text(folder / "g.csv", "item,label", *(f"{name},{label}" for name, label in GOLD.items()))
    with same_order():
        for command, *words in (
            ("study new", study),
            ("study import", study, corpus, "--items", items, "--decisions", flags),
            ("study sample --system S --n 120 --flagged 50", study),
            ("job new --task error --sample sample --judgments-per-item 1", study),
            ("study import --job error", study, "--gold", gold),
            ("job terms", study, "error", "--change", TERMS),
        ):
            invoked(str(command), *words)
    with open_store(study) as store:
        with evenly_hidden_gold(), same_order():
            answered = answer_all(store, "error", called_by_raters, n_raters=N_RATERS)
        with store.read() as tx:
            drawn = set(samples.named(tx, "sample").frame["item"])
    return Judged(study, frozenset(drawn & answered), frozenset(GOLD.keys() & answered))


def called_by_raters(item_id: str, _: str) -> str:
    return "error" if PLACES[item_id].is_called else "ok"


def called(names: Iterable[str], **wanted: bool) -> float:
    """The share of these items, flagged or errors as wanted, that raters call errors."""
    places = [PLACES[name] for name in names]
    calls = [place.is_called for place in places if all(getattr(place, key) == want for key, want in wanted.items())]
    return sum(calls) / len(calls)


def expected(judged: Judged) -> dict[str, float]:
    """Rogan & Gladen 1978 by hand: q = (p + sp - 1) / (se + sp - 1) on each side, weighted by its size."""
    totals = {}
    for is_flagged in (True, False):
        caught, false = (called(judged.gold, is_error=each, is_flagged=is_flagged) for each in (True, False))
        rate = (called(judged.sample, is_flagged=is_flagged) - false) / (caught - false)
        size = sum(place.is_flagged == is_flagged for place in PLACES.values())
        totals[is_flagged] = size * min(1.0, max(0.0, rate)), size
    (hits, flags), (misses, _) = totals[True], totals[False]
    return {"precision": hits / flags, "recall": hits / (hits + misses)}


def evaluated(judged: Judged, *words: object) -> Any:
    return as_json("study evaluate --sample sample", judged.study, *words)


def test_a_sampled_study_is_corrected_by_its_hidden_gold_and_the_truth_covered(judged: Judged) -> None:
    result = evaluated(judged, "--corrected")
    [system] = result["systems"]
    by_hand = expected(judged)  # raters err differently on the two sides, so each side is corrected by itself
    fixed = {name: result["corrected"]["S"][name]["value"] for name in by_hand}
    assert fixed == pytest.approx(by_hand)
    assert system["precision"]["value"] == pytest.approx(called(judged.sample, is_flagged=True))
    truth = sum(place.is_error for place in PLACES.values() if place.is_flagged) / (len(PLACES) / 3)
    corrected = result["corrected"]["S"]["precision"]
    assert corrected["low"] < truth < corrected["high"]
    ran = invoked("study evaluate --sample sample --corrected", judged.study)
    assert "they err differently there; each side is corrected by itself" in ran.stderr
    assert "Corrected for what raters get wrong" in ran.stdout


def test_drawn_items_that_became_gold_stay_in_the_sample(judged: Judged) -> None:
    result = evaluated(judged)
    n_gold = len(judged.sample & GOLD.keys())
    assert n_gold > 5
    assert result["sample"]["judged"] == len(judged.sample)
    assert f"{n_gold} of the drawn items are hidden gold; their judgments count" in result["warnings"]
    [job] = [job for job in as_json("study status", judged.study)["jobs"] if job["name"] == "error"]
    assert job["wanted"] == job["valid"] == len(judged.sample - GOLD.keys())


def test_gold_that_no_rule_gives_out_is_reported(judged: Judged, tmp_path: Path) -> None:
    name = next(iter(judged.sample - GOLD.keys()))
    gold = write_text(tmp_path / "gold.csv", "item,label", f"{name},ok")
    invoked("job new --task error --kind prep --name untested", judged.study)
    said = invoked("study import --job untested", judged.study, "--gold", gold).stderr
    assert "untested has no rule for gold yet, so raters will not see it; set one: grater job terms" in said


def test_a_program_that_judged_a_part_is_no_cheap_judge(judged: Judged, tmp_path: Path) -> None:
    rows = [f"{name},model,ok,program" for name in sorted(judged.sample)[:40]]
    table = write_text(tmp_path / "model.csv", "item,rater,label,group", *rows)
    invoked("study import --job model", judged.study, "--judgments", table)
    with pytest.raises(GraterError, match="model has judged 40 of the 360 items that systems decided on"):
        invoked("study evaluate --sample sample --assist model", judged.study)
