"""Folders in memory for what tests share: gone with their process, or, where that was killed, with the next run."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

LOCK = "owner.lock"

remove = partial(shutil.rmtree, ignore_errors=True)


def in_memory() -> str | None:
    """A folder that is not on a disk, where there is one: a thousand commits need not wait for a thousand fsyncs."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def made_once(path: Path, make: Callable[[], None]) -> Path:
    """The file or folder that `make` leaves at `path`: the first worker that needs it makes it, the others wait."""
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            make()
    return path


def own_folder(prefix: str, *, on_disk: bool = False, end: Callable[[Path], object] = remove) -> Path:
    """A new folder of this process; `end` is for those of the same prefix whose processes were killed."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=None if on_disk else in_memory()))
    atexit.register(remove, folder)
    # the lock is held until this process ends, however it ends, and nobody sees the file before it is locked
    fcntl.flock(os.open(folder / "new", os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX)
    (folder / "new").rename(folder / LOCK)
    for lock in folder.parent.glob(f"{prefix}*/{LOCK}"):
        _end_if_abandoned(lock, end)
    return folder


def _end_if_abandoned(lock: Path, end: Callable[[Path], object]) -> None:
    try:
        with lock.open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            end(lock.parent)
    except OSError:
        """In use, somebody else's, or removed by another process just now."""
