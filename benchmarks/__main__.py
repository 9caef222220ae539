"""Answer the questions of docs/benchmarks.md: `python -m benchmarks [--short|--large] [QUESTION ...]`.

Without a name: every question that has a peer.  `--short` is a smoke test on small data and records nothing;
`--large` adds ten million judgments.  What a question found goes to benchmarks/results.json as soon as it is
answered, and docs/benchmarks.md is written from that file and benchmarks/page.md at the end; `python -m benchmarks
page` only writes it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from importlib import import_module

from benchmarks import results
from benchmarks.harness import Row, Table

RACES = ("agreement", "aggregation", "edits", "corrections", "reading", "startup")
OTHERS = ("scale", "study", "load", "pages", "browser", "coverage", "sampling", "crowd", "skills", "edit_types")
OTHERS += ("feedback", "recall", "preference")


def answer(question: str, size: str) -> list[Row | Table]:
    found = []
    for each in import_module(f"benchmarks.{question}").measure(size):
        print(results.shown(each), flush=True)
        found.append(each)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("questions", nargs="*", metavar="QUESTION", help=", ".join((*RACES, *OTHERS)))
    parser.add_argument("--short", dest="size", action="store_const", const="short", default="usual")
    parser.add_argument("--large", dest="size", action="store_const", const="large")
    asked = parser.parse_args()
    unknown = sorted({*asked.questions} - {*RACES, *OTHERS, "page"})
    if unknown:
        parser.error(f"no such question: {', '.join(unknown)}; there are {', '.join((*RACES, *OTHERS))}")
    failed = []
    for question in (asked.questions or RACES) if asked.questions != ["page"] else ():
        print(f"\n== {question} (load {os.getloadavg()[0]:.1f})", flush=True)
        started = time.perf_counter()
        try:
            found = answer(question, asked.size)
        except Exception:
            traceback.print_exc()
            failed.append(question)
            continue
        print(f"   {time.perf_counter() - started:.0f} seconds", flush=True)
        if asked.size != "short":
            results.keep(question, found)
    if asked.size != "short":
        results.write_page()
    if failed:
        print(f"\ncould not be answered: {', '.join(failed)}", file=sys.stderr)
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
