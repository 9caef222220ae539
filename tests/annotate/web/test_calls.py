"""The REST API: the same powers by token, the same refusals, described by OpenAPI."""

from __future__ import annotations

import json

from grater.annotate import judgments
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study


def test_a_program_judges_like_a_person(study: Study) -> None:
    program, job_id = Program(study, "worker"), study.jobs["usage"]
    lease = program.post(f"/jobs/{job_id}/next")["lease"]
    assert lease == program.get(f"/leases/{lease['lease_id']}")
    assert [field["name"] for field in lease["fields"]] == ["flags", "label", "better", "others", "confidence"]
    form = {
        "fields": {"label": ["1"], "better": ["on"], "confidence": ["low"]},
        "submission_id": "mine-1",
        "seconds": 2,
    }
    first = program.post(f"/leases/{lease['lease_id']}", form)
    assert first == {"submission_id": "mine-1", "status": "valid", "is_replay": False, "has_feedback": False}
    assert program.post(f"/leases/{lease['lease_id']}", form)["is_replay"] is True
    other = {**form, "fields": {"label": ["2"], "confidence": ["low"]}}
    program.post(f"/leases/{lease['lease_id']}", other, 409)
    with study.store.read() as tx:
        (row,) = judgments.table(tx, job_id)
    assert (row["label"], row["seconds"]) == ("1", 2.0)


def test_the_api_hides_what_pages_hide(study: Study) -> None:
    program = Program(study, "worker")
    for task in ("usage", "cloze", "error"):
        lease = program.post(f"/jobs/{study.jobs[task]}/next")["lease"]
        assert "zzz-suggested" not in json.dumps(lease)
        assert "unit" not in lease
    essay = program.post(f"/jobs/{study.jobs['marking']}/next")["lease"]
    assert (len(essay["tags"]), "edits" in essay) == (27, False)
    assert "password" not in json.dumps(Program(study, "manager").get("/people"))
