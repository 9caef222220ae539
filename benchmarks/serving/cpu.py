"""CPU seconds by process, from Linux's own books: of one process, of a PostgreSQL, of the whole machine."""

from __future__ import annotations

import os
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")
BUSY = (0, 1, 2, 5, 6, 7)
"""Of the numbers of `/proc/stat`: user, nice, system, two kinds of interrupts, and what a virtual machine's host took
for others; not idle, not waiting."""


def of_process(pid: int) -> float:
    """What a process has used so far, with those of its children that have ended."""
    numbers = _fields(pid)
    return sum(int(each) for each in numbers[11:15]) / TICK


def of_family(pid: int) -> float:
    """A process with all its living children: PostgreSQL has one for every connection."""
    return of_process(pid) + sum(of_process(child) for child in _children(pid))


def of_machine() -> float:
    first = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    return sum(int(first[place]) for place in BUSY) / TICK


def _children(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                is_child = int(_fields(int(folder.name))[1]) == pid
            except (FileNotFoundError, ProcessLookupError):  # it has ended since we looked
                continue
            found += [int(folder.name)] if is_child else []
    return found


def _fields(pid: int) -> list[str]:
    """The fields of `/proc/PID/stat` from the third on; the second, the name, may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
