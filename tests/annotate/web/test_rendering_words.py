"""Pages show words, never the values that a study stores."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grater.annotate import jobs, panels, units
from grater.annotate.gold import make_gold
from grater.annotate.panels import ENDINGS
from grater.annotate.protocol import set_terms
from grater.annotate.store.schema import GOLD_STATES, JOB_STATES, LEASE_STATES, STATUSES, TRUST_STATES
from grater.annotate.terms import POLICIES
from grater.annotate.trust import eject
from grater.annotate.web.rendering import shown
from tests.annotate.web.studies import served
from tests.annotate.web.test_crowd_numbers import plain

STORED = (*JOB_STATES, *LEASE_STATES, *STATUSES, *GOLD_STATES, *TRUST_STATES, *panels.ENDINGS, *panels.GIVEN_BACK)
PAGES = ("panels", "gold", "terms", "money", "raters", "crowd")
RAW = re.compile(r"\b(not-untrusted|screened-out|timed-out|ejected|forgiven|null-singular)\b")


@pytest.mark.parametrize("value", sorted(set(STORED)))
def test_every_stored_state_reads_as_words(value: str) -> None:
    assert re.fullmatch(r"[a-z]+( [a-z]+)*", shown(value))


@pytest.mark.parametrize("vocabulary", ["policy", "ending"])
def test_policies_and_endings_have_words(vocabulary: str) -> None:
    values = POLICIES if vocabulary == "policy" else ENDINGS
    assert not [value for value in values if re.search(r"[-_]", shown(value, vocabulary))]


def test_pages_of_a_crowd_job_show_no_raw_values(tmp_path: Path) -> None:
    """Pay by a policy with a hyphen, a place that was screened out, gold that no longer counts, a rater removed."""
    with served(tmp_path, tasks=("error",)) as study:
        job_id = study.jobs["error"]
        with study.store.write() as tx:
            job, item = jobs.get(tx, job_id), units.get(tx, units.ids_of_job(tx, job_id)[0]).unit.items[0].item
            assert make_gold(tx, job, item.item_id, ["error"], reason="So it is.")
            set_terms(tx, job_id, {"pay": {"cents": 7, "policy": "not-untrusted"}})
            place = panels.enter(tx, panels.add(tx, job_id, panels.NewPanel(provider="prolific")).panel_id, "p-1")
            panels.set_state(tx, place, "screened-out", actor=None)
            eject(tx, job, place.person_id)
            (unit_id,) = units.ids_of_job(tx, job_id, role="gold")
        owner = study.browser("owner")
        owner.get("/manage")
        owner.post(f"/manage/gold/{unit_id}/state", {"state": "forgiven"})
        pages = [plain(owner.get(f"/manage/jobs/{job_id}/{name}").text) for name in PAGES]
    assert "screened out" in pages[0]
    assert "not counted" in pages[1]
    assert [RAW.findall(page) for page in pages] == [[] for _ in PAGES]


def test_the_reason_for_removing_a_rater_is_a_phrase() -> None:
    assert shown("gold", "reason") == "too many wrong answers to gold"
    assert shown("Copied the answers of another rater.", "reason") == "Copied the answers of another rater."
