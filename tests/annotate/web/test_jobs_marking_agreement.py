"""What managers see of marked essays: agreement by place, kind and correction, and every mark of a unit."""

from __future__ import annotations

import io
import json
import re
import zipfile

from grater.annotate import credentials, jobs, leases, units
from grater.annotate.raters import rater_lines
from tests.annotate.web.studies import Patience, Study
from tests.annotate.web.test_work import start

TAGS = {"worker": "Vt", "annotator": "Mec"}


def mark_first_words(study: Study, who: str) -> None:
    """A mark on the first four letters of every essay, under the annotator's own tag."""
    browser, patience = study.browser(who), Patience()
    path = start(browser, study, "marking")
    while patience.at_work(path):
        with study.store.read() as tx:
            lease = leases.find(tx, path.rpartition("/")[2], person_id=study.people[who].person_id)
            assert lease is not None
            text = units.get(tx, lease.unit_id).unit.essay.text
        edit = {"start": 0, "end": 4, "quote": text[:4], "tag": TAGS[who], "replacements": ["So"], "comment": ""}
        path = browser.post(path, {"edits": json.dumps([edit])}).url.path


def test_agreement_on_marked_essays_is_that_on_marks_and_their_units_show_every_mark(study: Study) -> None:
    path = f"/manage/jobs/{study.jobs['marking']}/agreement"
    manager = study.browser("manager")
    mark_first_words(study, "worker")
    assert "No essay has been marked by two annotators yet." in manager.get(path).text
    mark_first_words(study, "annotator")
    page = manager.get(path).text
    assert "3 essays with two annotators or more" in page
    identified, _, classified = page.partition("<h2>Classification</h2>")
    assert '<td>Observed agreement</td><td><span class="when">1.000' in identified
    assert '<td>Observed agreement</td><td><span class="when">.000' in classified
    with study.store.write() as tx:
        token = credentials.make_token(tx, study.people["manager"].person_id)
    headers = {"authorization": f"Bearer {token}"}
    told = study.client().get(f"/api/v1/jobs/{study.jobs['marking']}/agreement", headers=headers).json()
    assert told["labels"] is None
    assert [told["marks"][name]["observed"] for name in ("identification", "classification")] == [1, 0]
    with zipfile.ZipFile(io.BytesIO(manager.post("/manage/export").content)) as archive:
        agreed = json.loads(archive.read("agreement.json"))["marking"]
    assert (agreed["identification"]["observed"], agreed["classification"]["observed"]) == (1, 0)
    with study.store.read() as tx:
        unit_id = units.ids_of_job(tx, study.jobs["marking"])[0]
        # Their labels are `marked` alone: raters are not said to agree because all essays have marks.
        assert [line.signals for line in rater_lines(tx, jobs.get(tx, study.jobs["marking"]))] == [None, None]
    page = manager.get(f"/manage/units/{unit_id}").text
    assert page.count("<summary>1 mark</summary>") == 2
    assert all(f'<strong class="said-code">{tag}</strong>' in page for tag in TAGS.values())
    for where in ("raters", f"raters/{study.people['worker'].person_id}", "crowd"):
        page = manager.get(path.replace("agreement", where)).text
        assert f'href="{path}">' in page, where
        assert not re.search("Raters by speed and agreement|Most frequent answer|marked 100", page), where
