"""The figures of docs/context.md: `python -m benchmarks.context [PART ...] [--model FILE] [--native FILE]`.

Parts: masked (Brown, each preposition and article hidden), native (flags per 1,000 words), learners (CoNLL-2014
beside the classical systems), extraneous (balanced), precision (what `--precision` promises and keeps), speed; all of
them without a name.  Two more only by name: `usual` prints the share of corrections that are signs of errors;
`calibrate` fits calibrations on half of CoNLL-2014, chooses thresholds on well-formed text (`--well-formed`) and
writes the model anew, with new numbers for errors of `--only` alone if it is given.  Results lie in
benchmarks/work/detect as JSON.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

from benchmarks.context.calibrating import calibrate, usual
from benchmarks.context.extraneous import extraneous
from benchmarks.context.learners import learners, precision
from benchmarks.context.masked import masked
from benchmarks.context.native import native
from benchmarks.context.options import Options
from benchmarks.context.speed import speed

from grater.detect.context.calibration import NAMES
from grater.detect.context.detector import from_file
from grater.models import shipped, shipped_names

PARTS: dict[str, Callable[[Options], None]] = {
    "masked": masked,
    "native": native,
    "learners": learners,
    "extraneous": extraneous,
    "precision": precision,
    "speed": speed,
}
BY_NAME: dict[str, Callable[[Options], None]] = {**PARTS, "usual": usual, "calibrate": calibrate}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.context", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(BY_NAME))
    parser.add_argument("--model", type=Path, help="a model file; the one that comes with grater if not given")
    parser.add_argument("--float", type=Path, help="the network before it was quantised, as ONNX")
    parser.add_argument("--well-formed", type=Path, help="text, a sentence per line, to choose thresholds on")
    parser.add_argument("--only", nargs="+", default=(), choices=NAMES, help="names of error to calibrate anew")
    parser.add_argument("--native", type=Path, help="text, a paragraph per line, in place of Brown and the court's")
    wanted = parser.parse_args()
    for part in wanted.parts:
        if part not in BY_NAME:
            parser.error(f"expected one of {', '.join(BY_NAME)}, found {part!r}")
    os.environ["OMP_NUM_THREADS"] = "1"
    if wanted.model is None and "context" not in shipped_names():
        print("no model of kind context comes with grater yet; name one: --model FILE", file=sys.stderr)
        return 2
    path = wanted.model or shipped("context")
    options = Options(
        system=str(wanted.model) if wanted.model else "context",
        path=path,
        float_graph=wanted.float,
        well_formed=wanted.well_formed,
        native=wanted.native,
        only=wanted.only,
        detector=from_file(path),
    )
    for part in wanted.parts or PARTS:
        print(f"\n## {part}\n", flush=True)
        BY_NAME[part](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
