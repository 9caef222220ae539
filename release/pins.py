"""The lines of constraints-hashes.txt for what an installation needs, and for nothing that only developers need.

    pip install --dry-run --report - --quiet -c constraints.txt '.[server]' | python release/pins.py > pins.txt
    pip install --no-deps --require-hashes -r pins.txt

pip says on standard input what it would install.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HASHES = Path(__file__).parent.parent / "constraints-hashes.txt"


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


wanted = {canonical(each["metadata"]["name"]) for each in json.load(sys.stdin)["install"]}
for line in HASHES.read_text(encoding="utf-8").splitlines():
    if canonical(line.partition("==")[0]) in wanted:
        print(line)
