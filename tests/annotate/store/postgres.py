"""A private PostgreSQL for the tests: its own cluster in a temporary folder, on a free port, gone at the end.

Debian's package is enough (`apt-get install postgresql`); its server refuses to run as root, so root steps down to
the user `postgres` that the package made.  Where there is no PostgreSQL the tests skip, and say so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.folders import own_folder
from tests.ports import free_port

FOLDER = Path("/usr/lib/postgresql")
USER = "postgres"


@contextmanager
def running_cluster(*, on_disk: bool = False, like: Path | None = None) -> Iterator[str]:
    """The URL of a server that lives while this lasts, without a database name at its end.

    `like` is a folder in which `make_cluster` has made the files of a new one.
    """
    folder = _cluster_folder(on_disk=on_disk)
    data, port = folder / "data", free_port()
    # a hundred databases that nobody uses any more would be looked through again and again
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c max_connections=200 -c autovacuum=off"
    try:
        if like is None:
            _initialise(data)
        else:
            _copy(like, data)
        _pg_ctl(data, "-l", folder / "log", "-o", options, "start")
        yield f"postgresql://{USER}@127.0.0.1:{port}"
    finally:
        _end(folder)


def make_cluster(path: Path) -> None:
    """The files of a new cluster, to be copied: making them takes two seconds of CPU."""
    folder = _cluster_folder()
    _initialise(folder / "data")
    _copy(folder / "data", path)
    _end(folder)


def _cluster_folder(*, on_disk: bool = False) -> Path:
    _programs()
    folder = own_folder("grater-pg-", on_disk=on_disk, end=_end)
    if os.geteuid() == 0:
        shutil.chown(folder, USER)
    return folder


def _initialise(data: Path) -> None:
    """Not synced: the cluster need not survive the machine, and fsync stays on for what the tests commit."""
    _run(_programs() / "initdb", "-D", data, "-U", USER, "--auth=trust", "--no-sync", "--encoding=UTF8")


def _copy(data: Path, to: Path) -> None:
    """With the user whose files they are."""
    subprocess.run(["cp", "-a", data, to], check=True)


def _pg_ctl(data: Path, *command: object) -> None:
    """Wait for as long as it takes."""
    _run(_programs() / "pg_ctl", "-D", data, "-w", "-t", 600, *command)


def _end(folder: Path) -> None:
    """Stop the server of a cluster, if it runs, and remove its files."""
    data = folder / "data"
    if _is_served(data):
        _pg_ctl(data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


def _is_served(data: Path) -> bool:
    """Whether the process that its file names is its server, and not another that was given the same number."""
    try:
        pid = (data / "postmaster.pid").read_text().split()[0]
        return str(data) in Path(f"/proc/{pid}/cmdline").read_text()
    except (OSError, IndexError):
        return False


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
    _pg_ctl(Path(row[0]), "-m", "immediate", "-l", f"{row[0]}/../log", "restart")


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
