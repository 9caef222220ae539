"""The figures of docs/detectors.md: `python -m benchmarks.detect [PART ...] [--system NAME ...]`.

Parts: selection, learners, extraneous, filters, speed, protocol, curve, groups; all of them without a name.
`protocol`, `curve` and `groups` train models and take minutes each.  Results lie in benchmarks/work/detect as JSON.
"""

from __future__ import annotations

import argparse
from importlib import import_module

PARTS = {
    "selection": "benchmarks.detect.selection",
    "learners": "benchmarks.detect.learners",
    "extraneous": "benchmarks.detect.extraneous",
    "filters": "benchmarks.detect.filters",
    "speed": "benchmarks.detect.speed",
    "protocol": "benchmarks.detect.protocol",
    "curve": "benchmarks.detect.curve",
    "groups": "benchmarks.detect.groups",
}
SYSTEMS = ["prep-maxent", "prep-perceptron", "prep-lm", "prep-both"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detect", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--system", action="append", metavar="NAME", help="systems to measure")
    wanted = parser.parse_args()
    for part in wanted.parts or PARTS:
        if part not in PARTS:
            parser.error(f"expected one of {', '.join(PARTS)}, found {part!r}")
        print(f"\n## {part}\n", flush=True)
        import_module(PARTS[part]).main(wanted.system or SYSTEMS)


if __name__ == "__main__":
    main()
