# mypy: ignore-errors
"""Coefficients of the seeded tables by irrCAC: `.peers/irrcac/bin/python ask_irrcac.py < tables.json`.

`thin` is left out: irrCAC lets items with one judgment speak for the shares of labels, and grater does not.
"""

import json
import sys
from importlib.metadata import version

import pandas as pd
from irrCAC.raw import CAC

WEIGHTS = ("identity", "linear", "quadratic")


def numbers(rows, weights):
    frame = pd.DataFrame(rows)
    analysis = CAC(frame, weights=weights, categories=sorted(frame.stack().unique()), digits=12)
    asked = {"fleiss": analysis.fleiss, "gwet": analysis.gwet, "bp": analysis.bp}
    return {name: float(ask()["est"]["coefficient_value"]) for name, ask in asked.items()}


if __name__ == "__main__":
    tables = {name: rows for name, rows in json.load(sys.stdin).items() if name != "thin"}
    found = {name: {weights: numbers(rows, weights) for weights in WEIGHTS} for name, rows in tables.items()}
    json.dump({"tool": f"irrCAC {version('irrCAC')}", "coefficients": found}, sys.stdout, indent=1)
