# mypy: ignore-errors
"""What crowd-kit says of the tables; needs `make peers`, imports nothing of grater.  Raters and labels of the tables
first appear in the order of their names: in any other order crowd-kit 1.4.2 mixes up raters in MACE.

.peers/crowdkit/bin/python tests/measure/crowd/goldens/ask_crowdkit.py > tests/measure/crowd/goldens/crowdkit.json
"""

import json
import sys
import warnings
from importlib.metadata import version
from pathlib import Path

import pandas as pd
from crowdkit.aggregation import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene

NEVER = -1e300
TABLES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))


def chances(probas):
    probas = probas.sort_index().sort_index(axis=1)
    return [[round(float(chance), 9) for chance in row] for row in probas.to_numpy()]


def answers(rows):
    data = pd.DataFrame(rows, columns=["task", "worker", "label"])
    gold = pd.Series({"i01": "l02", "i02": "l02", "i03": "l01"})
    found = {"majority": chances(MajorityVote().fit(data).probas_)}
    for n in (1, 5, 30):
        found[f"dawid-skene {n}"] = chances(DawidSkene(n_iter=n, tol=NEVER).fit(data).probas_)
        found[f"one-coin {n}"] = chances(OneCoinDawidSkene(n_iter=n, tol=NEVER).fit(data).probas_)
    found["dawid-skene gold"] = chances(DawidSkene(n_iter=10, tol=NEVER).fit(data, gold).probas_)
    mace = MACE(n_restarts=1, n_iter=10, random_state=0).fit(data)
    found["mace"] = chances(mace.probas_)
    found["mace knows"] = [round(float(x), 9) for x in mace.spamming_[:, 1]]
    found["glad"] = chances(GLAD(n_iter=4, tol=NEVER).fit(data).probas_)
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tables = {name: answers(rows) for name, rows in TABLES.items()}
    lines = [
        f' "{name}": {{\n' + ",\n".join(f'  "{key}": {json.dumps(value)}' for key, value in table.items()) + "\n }"
        for name, table in tables.items()
    ]
    head = f' "tool": "crowd-kit {version("crowd-kit")}, pandas {version("pandas")}"'
    sys.stdout.write("{\n" + ",\n".join([head, *lines]) + "\n}\n")
