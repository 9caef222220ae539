"""The folder of a process that was killed is removed by the next that needs one; those of the living stay."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.folders import own_folder

KILLED = """
import os, signal
from tests.folders import own_folder
print(own_folder("grater-killed-"), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_killed_process_is_removed_by_the_next() -> None:
    killed = subprocess.run([sys.executable, "-c", KILLED], capture_output=True, text=True, check=False)
    abandoned = Path(killed.stdout.strip())
    assert abandoned.is_dir()
    mine = [own_folder("grater-killed-") for _ in range(2)]
    assert not abandoned.exists()
    assert all(folder.is_dir() for folder in mine)
