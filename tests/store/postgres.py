"""A private PostgreSQL for the tests: its own cluster in a temporary folder, on a free port, gone at the end.

Debian's package is enough (`apt-get install postgresql`); its server refuses to run as root, so root steps down to
the user `postgres` that the package made.  Where there is no PostgreSQL the tests skip, and say so.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

FOLDER = Path("/usr/lib/postgresql")
USER = "postgres"


def in_memory() -> str | None:
    """A folder that is not on a disk, where there is one: a thousand commits need not wait for a thousand fsyncs."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def running_cluster(*, on_disk: bool = False) -> Iterator[str]:
    """The URL of a server that lives while this lasts, without a database name at its end."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="grater-pg-", dir=None if on_disk else in_memory()))
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
    data, port = folder / "data", _free_port()
    try:
        # --no-sync: the cluster need not survive the machine, and fsync stays on for what the tests commit
        _run(programs / "initdb", "-D", data, "-U", USER, "--auth=trust", "--no-sync", "--encoding=UTF8")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=200"
        _run(programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", options, "start")
        yield f"postgresql://{USER}@127.0.0.1:{port}"
    finally:
        if (data / "postmaster.pid").exists():
            _run(programs / "pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def new_database(server: str, *, template: str = "template1") -> str:
    """The URL of a fresh database on the server: an empty one, or a copy of another that nobody uses."""
    import psycopg

    name = f"t{uuid.uuid4().hex}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    return f"{server}/{name}"


def crash(server: str) -> None:
    """Every process of the server dies at once, as when the power goes, and a new one recovers what was committed."""
    import psycopg

    with psycopg.connect(f"{server}/postgres") as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    _run(_programs() / "pg_ctl", "-D", row[0], "-w", "-m", "immediate", "-l", f"{row[0]}/../log", "restart")


def lose_connections(location: str) -> None:
    """The server ends every connection to a database, whatever it was doing."""
    import psycopg

    with psycopg.connect(location, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _programs() -> Path:
    found = sorted(FOLDER.glob("*/bin/initdb"))
    if not found:
        pytest.skip(f"no PostgreSQL under {FOLDER}: its half of these tests did not run")
    pytest.importorskip("psycopg", reason="psycopg is missing: the PostgreSQL half of these tests did not run")
    return found[-1].parent


def _run(program: Path, *args: object) -> None:
    step_down = ["runuser", "-u", USER, "--"] if os.geteuid() == 0 else []
    command = [*step_down, str(program), *map(str, args)]
    # output to a file, not a pipe: the server would inherit the pipe and keep it open
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, stdout=output, stderr=output, check=False, cwd="/")
        if done.returncode:
            output.seek(0)
            raise RuntimeError(f"{program.name} failed: {output.read().decode(errors='replace')}")


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
