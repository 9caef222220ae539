"""`grater judge`, with a program and with a model behind a chat endpoint; `job gold` and `job terms`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.request import OpenerDirector, Request

import pytest

from grater.annotate import content, status
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.store import open_store
from grater.annotate.tasks import TASKS
from grater.annotate.tasks.task import Unit
from grater.model import Essay
from grater.uncertainty import generator
from tests.annotate.store.crowds import make_crowd
from tests.annotate.study.files import write_essays, write_items
from tests.annotate.tasks.units import unit_for
from tests.chat_server import ChatServer, serving
from tests.cli.running import Capture, as_json, grater, invoked, refused

PROGRAM = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({"unit": asked["unit"], "fields": {"label": [asked["fields"][0]["choices"][1]["value"]]}}))
"""


@pytest.fixture
def crowd(tmp_path: Path) -> str:
    place = tmp_path / "study.db"
    with open_store(place, create=True) as store:
        make_crowd(store, n_units=4, n_gold=2, terms={"pay": {"cents": 5}}).work(n=4)
    return str(place)


def test_a_programs_judgments_are_its_own_and_a_failure_is_one_line(crowd: str, tmp_path: Path) -> None:
    assert "exit status 1" in refused("judge --job job --command false", crowd)
    assert "no item has 2 or more expert judgments" in refused("job gold", crowd, "job")
    (tmp_path / "rater.py").write_text(PROGRAM, "utf-8")
    command = f"{sys.executable} {tmp_path / 'rater.py'}"
    result = as_json("judge --job job --name robot", crowd, "--command", command)
    assert (result["judged"], result["job"]) == (4, "job by robot")


def test_terms_are_changed_and_the_protocol_is_shown(crowd: str, tmp_path: Path) -> None:
    path = tmp_path / "pay.csv"
    shown = invoked("job terms", crowd, "job", "--change", '{"limit": 7}', "--pay", path).stdout
    assert "Limit per rater: 7 units" in shown
    assert path.read_text("utf-8").splitlines()[1] == ",rater 0,0.20,EUR"
    assert "Did you mean 'limit'?" in refused("job terms", crowd, "job", "--change", '{"limits": 7}')


def test_errors_are_planted_in_the_good_essays_of_a_file(crowd: str, tmp_path: Path) -> None:
    good = tmp_path / "good.m2"
    good.write_text("S She waits at the stop .\nA 2 3|||Wcip|||in|||REQUIRED|||-NONE-|||0\n", "utf-8")
    with open_store(crowd) as store:
        add_job(store, NewJob(name="whole", task="marking"))
    assert "whole: 1 gold unit made" in invoked("job gold", crowd, "whole", "--planted", good).output
    with open_store(crowd) as store, store.read() as tx:
        assert "She waits in the stop ." in {essay.text for essay in content.all_essays(tx)}


ANSWER = '{"label": "1", "better": "at", "confidence": "high", "flags": []}'
TASKS_PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text("utf-8")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    with status.new_study(tmp_path / "study.db") as store:
        import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
        add_job(store, NewJob(name="ratings", task="usage", judgments=2, item_ids=("one", "two")))
    return tmp_path / "study.db"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(lambda _: ANSWER) as running:
        yield running


Command = tuple[str, *tuple[object, ...]]


@pytest.fixture
def command(study: Path, server: ChatServer) -> Command:
    """A model judges the only job of a study."""
    return "judge", study, "--endpoint", server.url, "--model-name", "tiny"


def test_a_second_run_asks_nothing(
    command: Command, study: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sesame")
    result = as_json(*command, "--key-env", "MY_KEY")
    assert (result["job"], result["judged"], result["tokens"], result["refused"]) == ("ratings by tiny", 2, 220, [])
    assert server.headers[0]["Authorization"] == "Bearer sesame"
    assert as_json(*command, "--key-env", "MY_KEY")["judged"] == 0
    assert len(server.requests) == 2
    kept = study.with_name("study.db.answers.jsonl").read_text("utf-8")
    assert len(kept.splitlines()) == 2
    assert "sesame" not in kept


def test_limits_stop_a_run_and_cut_answers_are_reported(
    command: Command, server: ChatServer, capsys: Capture
) -> None:
    ran = grater(capsys, *command, "--most-tokens", 10)
    assert ran.status == 1
    assert "the limit of 10 is reached; run the same command again to continue" in ran.err
    assert server.requests == []
    server.faults = [reply('{"label": "1", "bet', finish_reason="length")]
    ran = grater(capsys, *command, "--answer-tokens", 50)
    assert ran.status == 0
    assert "an answer was cut at 50 tokens; allow longer ones" in ran.err


def reply(content: object, **more: object) -> str:
    return json.dumps({"choices": [{"message": {"content": content}, **more}], "usage": more.get("usage")})


FAULTS = {
    "parts": (reply([{"type": "text", "text": ANSWER}]), 2),
    "usage in words": (reply(ANSWER, usage="many"), 2),
    "negative usage": (reply(ANSWER, usage={"prompt_tokens": -100_000, "completion_tokens": True}), 2),
    "braces": (reply(f"<think>Is it {{in}} or {{at}}?</think> {ANSWER}"), 2),
    "half a character": (reply('{"label": "1", "better": "\ud800", "confidence": "high"}'), 3),
    "surrogate": (reply("\ud800"), 3),
    "deep": (reply('{"label": ' + "[" * 100_000), 3),
    "deep reply": ('{"choices": ' + "[" * 100_000, 3),
}


@pytest.mark.parametrize("name", FAULTS)
def test_any_reply_is_read_or_asked_for_again(
    command: Command, server: ChatServer, capsys: Capture, name: str
) -> None:
    fault, n_asked = FAULTS[name]
    server.faults = [fault]
    ran = grater(capsys, *command, "--json")
    result = json.loads(ran.out)
    assert (ran.status, result["judged"], result["refused"]) == (0, 2, [])
    assert 110 <= result["tokens"] < 100_000
    assert len(server.requests) == n_asked
    assert "\n" not in ran.err.rstrip("\n")


def silent_at_second(server: ChatServer) -> threading.Event:
    """Set when the question has come that is not answered before the test ends."""
    is_asked = threading.Event()

    def answer(_: object) -> str:
        if len(server.requests) == 2:
            is_asked.set()
            server.released.wait()
        return ANSWER

    server.answer = answer
    return is_asked


def test_a_silent_endpoint_ends_the_run_in_one_line_and_loses_nothing(
    command: Command, server: ChatServer, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked = silent_at_second(server)
    opened = OpenerDirector.open

    def patient(opener: OpenerDirector, request: Request, timeout: float) -> object:
        """An answer that will come is waited for, however busy the machine is."""
        assert timeout == 0.3
        return opened(opener, request, timeout=timeout if len(server.requests) == 1 else 300)

    monkeypatch.setattr(OpenerDirector, "open", patient)
    args = (*command, "--timeout", 0.3, "--retries", 0)
    line = refused(*args)
    assert "timed out; tried 1 time. 1 unit judged so far is kept; run the same command again to continue" in line
    assert is_asked.wait(300)
    again = grater(capsys, *args)
    assert (again.status, len(server.requests)) == (0, 3)
    assert "1 unit judged by tiny" in again.err


def test_a_killed_run_goes_on_with_the_unit_it_asked_about(command: Command, server: ChatServer) -> None:
    is_asked = silent_at_second(server)
    words = [sys.executable, "-m", "grater", *map(str, command)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        assert is_asked.wait(300)
        process.kill()
    assert as_json(*command)["judged"] == 1
    questions = [request["messages"][-1]["content"] for request in server.requests]
    assert questions[1] == questions[2] != questions[0]


def test_wrong_labels_are_one_line_a_unit_with_what_to_do(
    command: Command, server: ChatServer, capsys: Capture
) -> None:
    server.answer = lambda request: '{"label":\n"maybe"}' if "[[in]]" in str(request["messages"][1:]) else ANSWER
    ran = grater(capsys, *command)
    refused, done, advice = ran.err.splitlines()
    assert ran.status == 1
    assert re.match(r"unit [\w-]+: label: expected one of 0, 1, 2, e, found 'maybe'", refused)
    assert "1 unit judged by tiny" in done
    assert advice.startswith("1 unit is left open; to get other answers, change")
    n_asked = len(server.requests)
    assert grater(capsys, *command).status == 1
    assert len(server.requests) == n_asked, "what was paid for is not asked again"


def test_a_refused_answer_is_reported_with_its_unit_and_one_that_fits(study: Path, tmp_path: Path) -> None:
    program, code = tmp_path / "rater.py", "import json, sys\nfor line in sys.stdin:\n    print(json.dumps({}))\n"
    answer = "{'unit': json.loads(line)['unit'], %s}"
    program.write_text(code.format(answer % "'fields': {'label': ['ok']}"), "utf-8")
    judge = ("judge", study, "--command", f"{sys.executable} {program}")
    line = refused(*judge)
    assert re.search(r"answer 1, unit [\w-]+: label: expected one of 0, 1, 2, e, found 'ok'", line)
    [example] = re.findall(r"looks like (\{.*\})$", line, re.M)
    program.write_text(code.format(answer % f"**{example}"), "utf-8")
    invoked(*judge)


@pytest.mark.parametrize("task", sorted(TASKS))
def test_the_documented_answer_of_every_task_is_accepted(task: str) -> None:
    [cell] = re.findall(rf"^\| `{task}` \| `(\{{.*?\}})`.* \|$", TASKS_PAGE, re.M)
    fields = {name: [str(each) for each in values] for name, values in json.loads(cell)["fields"].items()}
    unit = Unit("u", Essay("e", "She waited on the stop."), ()) if task == "marking" else unit_for(task)
    shown = TASKS[task].show(unit, rng=generator(0, "docs"))
    assert TASKS[task].read(unit, fields, kept=shown.kept)
