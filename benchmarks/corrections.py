"""How much it costs to score corrections: M2, ERRANT and GLEU beside the official programs.

M2: five outputs of CoNLL-2014 against its two annotators, ours from files to scores in one process.  The official
scorer needs Python 2.7: it is taken from `.peers/m2scorer` (a checkout of nusnlp/m2scorer, or $M2SCORER) and run by
$PYTHON2 or pyenv's.  ERRANT: annotator A1 of CoNLL-2014 against the official two, both as commands.  GLEU: JFLEG's
development part, beside a plain implementation of the published script, which the tests hold it to.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.harness import (
    ABSENT,
    DATA,
    GRATER,
    PEERS,
    ROOT,
    TIMER,
    WORK,
    Row,
    Size,
    by_turns,
    cost,
    peer,
    timed_in,
)

SYSTEMS = ("CAMB", "CUUI", "AMU", "IITB", "UFC")
CONLL = DATA / "conll14"
OFFICIAL = CONLL / "official" / "official-2014.combined.m2"

IN_PROCESS = """
import grater
reference, *files = sys.argv[1:]
def work():
    scores = grater.score(reference, {file: file for file in files}, metric="m2")
    by_name = {each["system"]: each["f0.5"]["value"] for each in scores.to_dict()["systems"]}
    return [by_name[file] for file in files]
tell("m2", work, 3)
"""
GLEU = """
from pathlib import Path
from grater.measure.corrections.gleu import METRIC, gleu_counts
from grater.measure.corrections.scores import MetricOptions
def work():
    source, hypothesis, *references = [Path(name).read_text("utf-8").splitlines() for name in sys.argv[1:]]
    counts = gleu_counts("s", source, hypothesis, list(zip(*references)))
    return float(METRIC.scores(METRIC.rows(counts).sum(axis=0), MetricOptions())[0])
tell("gleu", work, 5)
"""
PLAIN_GLEU = """
from pathlib import Path
from tests.measure.corrections import slow_gleu
def work():
    source, hypothesis, *references = [Path(name).read_text("utf-8").splitlines() for name in sys.argv[1:]]
    return slow_gleu.corpus_gleu(source, hypothesis, list(zip(*references)))[0]
tell("gleu", work, 3)
"""


def measure(size: Size) -> Iterator[Row]:
    WORK.mkdir(exist_ok=True)
    yield from m2(SYSTEMS[:1] if size == "short" else SYSTEMS)
    yield from errant(1 if size == "short" else 7)
    yield from gleu()
    if size != "short":
        outputs = [f"{name}={CONLL / 'systems' / name}.txt" for name in SYSTEMS]
        own = cost([*GRATER, "score", OFFICIAL, *(word for name in outputs for word in ("--hyp", name))])
        yield Row("M2 of five outputs with 5,000 resamples and paired tests, a command", own.cpu)


def m2(systems: Sequence[str]) -> Iterator[Row]:
    outputs = [CONLL / "systems" / f"{name}.txt" for name in systems]
    ours = timed_in(sys.executable, IN_PROCESS, OFFICIAL, *outputs)["m2"]
    theirs = [official(output, OFFICIAL) for output in outputs]
    yield _beside_official(f"M2 score, {len(systems)} outputs, from files", ours, theirs)


def official(output: Path, reference: Path) -> tuple[float, float] | None:
    """CPU seconds and F of the official scorer; None where it or Python 2 is missing."""
    script = Path(os.environ.get("M2SCORER") or PEERS / "m2scorer") / "scripts" / "m2scorer.py"
    pyenv = sorted(Path.home().glob(".pyenv/versions/2.7*/bin/python2.7"))
    python = os.environ.get("PYTHON2") or (str(pyenv[-1]) if pyenv else shutil.which("python2.7"))
    if not script.exists() or not python:
        return None
    done = cost([python, script, output, reference])
    return done.cpu, float(re.findall(r"F_0\.5\s*:\s*([\d.]+)", done.output)[-1])


def _beside_official(job: str, ours: dict[str, object], found: list[tuple[float, float] | None]) -> Row:
    theirs = [each for each in found if each is not None]
    if len(theirs) < len(found):
        return Row(job, float(str(ours["cpu"])), 0, "m2scorer", None, 20.0, note="no m2scorer, or no Python 2.7")
    values: list[float] = ours["value"]  # type: ignore[assignment]
    agrees = all(abs(own - other) < 6e-5 for own, (_, other) in zip(values, theirs, strict=True))
    return Row(job, float(str(ours["cpu"])), 0, "m2scorer", sum(cpu for cpu, _ in theirs), 20.0, agrees)


def errant(runs: int) -> Iterator[Row]:
    hypothesis = CONLL / "ten-annotators" / "A1.m2"
    command = [*GRATER, "score", OFFICIAL, hypothesis, "--metric", "errant", "--json"]
    program = peer("errant", "errant_compare")
    if program is None:
        yield Row("ERRANT compare, a command", cost(command).cpu, 0, "errant_compare", None, 2.0, note=ABSENT)
        return
    ours, theirs = by_turns(command, [program, "-hyp", hypothesis, "-ref", OFFICIAL], runs=runs)
    numbers = [float(number) for number in re.findall(r"[\d.]+", theirs.output.splitlines()[-3])]
    scores = json.loads(ours.output)["systems"][0]
    own = [round(scores[name]["value"], 4) for name in ("precision", "recall", "f0.5")]
    yield Row("ERRANT compare, a command", ours.cpu, 0, "errant_compare", theirs.cpu, 2.0, own == numbers[3:])


def gleu() -> Iterator[Row]:
    folder = DATA / "jfleg" / "dev"
    files = [folder / "dev.src", folder / "dev.ref3", *(folder / f"dev.ref{k}" for k in range(3))]
    root = f"sys.path.insert(0, {str(ROOT)!r})\n"
    ours, theirs = (timed_in(sys.executable, root + code, *files)["gleu"] for code in (GLEU, PLAIN_GLEU))
    agrees = abs(ours["value"] - theirs["value"]) < 1e-9
    yield Row("GLEU, 3 references, in memory", ours["cpu"], 0, "plain script", theirs["cpu"], 10.0, agrees)
    source, hypothesis, *references = files
    options = ["--hyp", hypothesis, "--source", source, "--metric", "gleu"]
    own, other = by_turns(
        [*GRATER, "score", *references, *options],
        [sys.executable, "-c", f"{TIMER}{root}{PLAIN_GLEU.replace(', 3)', ', 1)')}", *files],
        runs=2,
    )
    yield Row("GLEU, 3 references, a command", own.cpu, 0, "plain script", other.cpu)
