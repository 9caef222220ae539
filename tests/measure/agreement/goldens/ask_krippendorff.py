# mypy: ignore-errors
"""Alpha of the seeded tables by krippendorff: `.peers/krippendorff/bin/python ask_krippendorff.py < tables.json`."""

import json
import sys
from importlib.metadata import version

import krippendorff
import numpy as np

SCALES = ("nominal", "ordinal", "interval", "ratio")

if __name__ == "__main__":
    numbers = {
        name: {
            scale: float(krippendorff.alpha(np.array(rows, float).T, level_of_measurement=scale)) for scale in SCALES
        }
        for name, rows in json.load(sys.stdin).items()
    }
    json.dump({"tool": f"krippendorff {version('krippendorff')}", "alpha": numbers}, sys.stdout, indent=1)
