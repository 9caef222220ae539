"""`grater judge`, `job gold`, `job terms` as a person types them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from grater.annotate import content, jobs
from grater.annotate.plans import NewJob, add_job
from grater.annotate.programs import judge, program_job
from grater.annotate.store import open_store
from tests.annotate.store.crowds import make_crowd
from tests.cli.running import Capture, grater

PROGRAM = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"unit": asked["unit"], "fields": {"label": [asked["fields"][0]["choices"][1]["value"]]}}))
"""


@pytest.fixture
def study(tmp_path: Path) -> str:
    place = tmp_path / "study.db"
    with open_store(place, create=True) as store:
        make_crowd(store, n_units=4, n_gold=2, terms={"pay": {"cents": 5}}).work(n=4)
    return str(place)


def test_a_program_may_answer_each_question_at_once(study: str) -> None:
    def answers(questions: Iterable[str]) -> Iterator[str]:
        for question in questions:
            yield json.dumps({"unit": json.loads(question)["unit"], "fields": {"label": ["ok"]}})

    with open_store(study) as store:
        with store.write() as tx:
            job, person = program_job(tx, jobs.named(tx, "job"), "robot")
        assert judge(store, job, person, answers) == 4


def test_a_programs_judgments_are_its_own_and_a_failure_is_one_line(
    study: str, capsys: Capture, tmp_path: Path
) -> None:
    ran = grater(capsys, "judge", study, "--job", "job", "--command", "false")
    assert ran.status == 2
    assert "exit status 1" in ran.err
    ran = grater(capsys, "job", "gold", study, "job")
    assert ran.status == 2
    assert "no item has 2 or more expert judgments" in ran.err
    (tmp_path / "rater.py").write_text(PROGRAM, "utf-8")
    command = f"{sys.executable} {tmp_path / 'rater.py'}"
    ran = grater(capsys, "judge", study, "--job", "job", "--command", command, "--name", "robot", "--json")
    assert ran.status == 0, ran.err
    assert json.loads(ran.out)["judged"] == 4
    assert json.loads(ran.out)["job"] == "job by robot"


def test_terms_are_changed_and_the_protocol_is_shown(study: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "pay.csv"
    ran = grater(capsys, "job", "terms", study, "job", "--change", '{"limit": 7}', "--pay", str(path))
    assert ran.status == 0, ran.err
    assert "Limit per rater: 7 units" in ran.out
    assert path.read_text("utf-8").splitlines()[1] == ",rater 0,0.20,EUR"
    wrong = grater(capsys, "job", "terms", study, "job", "--change", '{"limits": 7}')
    assert wrong.status == 2
    assert "Did you mean 'limit'?" in wrong.err


def test_errors_are_planted_in_the_good_essays_of_a_file(study: str, tmp_path: Path, capsys: Capture) -> None:
    good = tmp_path / "good.m2"
    good.write_text("S She waits at the stop .\nA 2 3|||Wcip|||in|||REQUIRED|||-NONE-|||0\n", "utf-8")
    with open_store(study) as store:
        add_job(store, NewJob(name="whole", task="marking"))
    ran = grater(capsys, "job", "gold", study, "whole", "--planted", str(good))
    assert ran.status == 0, ran.err
    assert "whole: 1 gold unit made" in ran.err + ran.out
    with open_store(study) as store, store.read() as tx:
        assert "She waits in the stop ." in {essay.text for essay in content.all_essays(tx)}
