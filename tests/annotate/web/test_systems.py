"""Systems and samples by the browser: only what is installed runs, and what goes wrong is told on the page."""

from __future__ import annotations

from pathlib import Path

from grater.annotate import content, samples
from grater.annotate.importing import import_files
from grater.model import Decision
from tests.annotate.web.programs import Program
from tests.annotate.web.studies import Study, new_units


def test_no_path_command_or_new_name_from_a_form_is_run(study: Study) -> None:
    manager = study.browser("manager")
    manager.get("/manage/systems")
    for system in ("", "command:touch /tmp/owned", "corrected:/etc/passwd", "../x.model", "new=prep-lm"):
        reply = manager.post("/manage/systems", {"system": system})
        assert (reply.status_code, "expected one of article" in reply.text) == (422, True), system
    with study.store.read() as tx:
        assert content.n_decisions(tx) == 0


def decided(study: Study, *systems: str) -> list[str]:
    """The items of a job, the first four of which the systems flag."""
    with study.store.write() as tx:
        ids = [new.items[0][0] for new in new_units(tx, "error")]
        flags = [Decision(each, system, place < 4) for system in systems for place, each in enumerate(ids)]
        content.add_decisions(tx, flags)
    return ids


def test_a_sample_is_drawn_shown_and_offered_for_a_job(study: Study) -> None:
    ids = decided(study, "mine")
    manager = study.browser("manager")
    page = manager.get("/manage/systems").text
    assert '<td>mine</td><td class="number">10</td><td class="number">4</td>' in page
    page = manager.post("/manage/samples", {"of": "mine", "n": "6", "flagged": "3", "name": "first"}).text
    assert "<strong>first</strong>: 6 items for mine" in page
    with study.store.read() as tx:
        drawn = set(samples.named(tx, "first").frame["item"])
    assert len(drawn & set(ids[:4])) == 3
    assert "<option selected>first</option>" in manager.get("/manage/jobs/new").text
    made = manager.post("/manage/jobs", {"task": "error", "name": "sampled", "judgments": "1", "sample": "first"})
    assert "<dd>0<small>of 6</small></dd>" in made.text


def test_a_sample_that_cannot_be_drawn_is_reported(study: Study) -> None:
    decided(study, "mine")
    manager = study.browser("manager")
    manager.get("/manage/systems")
    for form, words in (
        ({"of": "nobody", "n": "6"}, "nobody"),
        ({"of": "mine", "n": "0"}, "n: expected at least 1"),
        ({"of": "mine", "n": "600"}, "600"),
        ({"of": "mine", "n": "6", "name": "x" * 81}, "name: expected at most 80"),
        ({"of": "mine", "n": "6", "name": "a\u2028b"}, "name: expected 1 to 80"),
    ):
        reply = manager.post("/manage/samples", form)
        assert (reply.status_code, words in reply.text) == (422, True), words
    with study.store.read() as tx:
        assert samples.names(tx) == []


def test_the_earlier_version_of_a_system_is_chosen_for_the_report(study: Study, tmp_path: Path) -> None:
    ids = decided(study, "mine", "yours")
    rows = [f"{item},{rater},{'ok' if number % 3 else 'error'}" for rater in "AB" for number, item in enumerate(ids)]
    (tmp_path / "told.csv").write_text("\n".join(["item,rater,label", *rows]))
    import_files(study.store, judgments=[tmp_path / "told.csv"], job="told")
    manager = study.browser("manager")
    assert '<option value="yours=mine">mine</option>' in manager.get("/manage/export").text
    report = manager.post("/manage/report", {"earlier": ["", "yours=mine"]}).text
    assert "Compared with mine on the same" in report
    assert "Compared with" not in manager.post("/manage/report", {"earlier": ["", ""]}).text
    refused = manager.post("/manage/report", {"earlier": "yours"})
    assert (refused.status_code, "expected NEW=OLD, found" in refused.text) == (422, True)
    program = Program(study, "manager")
    assert b"Compared with mine on the same" in program.call("report", query="earlier=yours%3Dmine")
    assert "unknown system 'hers'" in str(program.call("report", query="earlier=yours%3Dhers", status=422))


def test_the_report_is_a_download_of_one_job(study: Study) -> None:
    manager = study.browser("manager")
    assert "Create the report" in manager.get("/manage/export").text
    reply = manager.post("/manage/report", {"title": "Bus <stops>", "job": "error"})
    assert reply.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "Bus &lt;stops&gt;" in reply.text
    assert manager.post("/manage/report", {"job": "nothing"}).status_code == 404
