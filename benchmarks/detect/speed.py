"""How fast: tokens a second from text to findings, and the first answer: `python -m benchmarks.detect speed`.

Processor time of one thread on half a megabyte of our own sentences, after loading; and wall time of `grater check`
on one sentence, from the start of the process.  Wanted (issue "Part 5"): 40,000 tokens a second from end to end,
first answer within 1.5 seconds.
"""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter, process_time

from benchmarks.detect.data import keep, table

from grater.detect.systems import load_system
from grater.model import Essay
from grater.text.analysis import analyse

SENTENCES = (
    "When I was a child, my family lived in a village near the sea, and every morning I walked to school with her.",
    "Many people think that technology has changed the way in which students learn about the world around them.",
    "On the other hand, it depends on the teacher whether the time spent at a computer is of any use for the class.",
    "In my opinion, the state should pay more attention to the problems of those who look for a job after school.",
)
N_REPEATED = 1200


def main(names: list[str]) -> dict[str, object]:
    text = "\n".join(
        f"{sentence} It happened {number} times." for number in range(N_REPEATED) for sentence in SENTENCES
    )
    n_tokens = sum(len(sentence.words) for sentence in analyse(text))
    rows = []
    for name in names:
        system = load_system(name)
        list(system.find([Essay("warm", text[:5000])]))
        started = process_time()
        n_findings = len(list(system.find([Essay("long", text)])))
        speed = n_tokens / (process_time() - started)
        first = first_answer(name)
        rows.append([name, f"{n_tokens:,}", f"{n_findings:,}", f"{speed:,.0f}", f"{first:.2f} s"])
    table(["system", "tokens", "candidates", "tokens/s", "first answer"], rows)
    result: dict[str, object] = {row[0]: row[1:] for row in rows}
    keep("speed", result)
    return result


def first_answer(name: str) -> float:
    """The best of three starts."""
    command = [sys.executable, "-m", "grater", "check", "-", "--system", name]
    times = []
    for _ in range(3):
        started = perf_counter()
        subprocess.run(command, input="He arrived to the station.", text=True, capture_output=True, check=True)
        times.append(perf_counter() - started)
    return min(times)


if __name__ == "__main__":
    main(["prep-maxent"])
