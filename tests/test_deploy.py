"""The files in deploy/ say what programs understand: options that exist, addresses that agree, units that load."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from grater.annotate.store.database import GLANCING_POOL, POOL
from grater.annotate.web.app import ROLES_OF
from grater.annotate.web.security import ANYBODY
from tests.cli.running import require_known

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("grater*"))


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
    return services


def test_the_servers_of_the_compose_file_have_options_that_exist(services: dict[str, Any]) -> None:
    require_known(services["app"]["command"])
    backup = re.search(r"grater (study backup .*); then", services["backup"]["command"][0])
    assert backup
    require_known(shlex.split(backup[1]))


def test_the_compose_file_agrees_with_itself(services: dict[str, Any]) -> None:
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    subnet = whole["networks"]["front"]["ipam"]["config"][0]["subnet"]
    assert f"--proxy={subnet}" in services["app"]["command"]
    of_server = 2 * (POOL + GLANCING_POOL)  # of two processes
    most = next(word for word in services["db"]["command"] if word.startswith("max_connections"))
    assert int(most.partition("=")[2]) > 5 * of_server > services["app"]["deploy"]["replicas"] * of_server
    assert {name for name, service in services.items() if service.get("ports")} == {"proxy"}
    for service in services.values():
        needed = service.get("depends_on", [])
        assert set(needed) <= set(services)
        assert set(service.get("networks", [])) <= set(whole["networks"])
    assert "app 8000" in (DEPLOY / "Caddyfile").read_text("utf-8")


def test_containers_are_locked_and_know_their_password_from_a_file(services: dict[str, Any]) -> None:
    whole = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
    for name, service in services.items():
        assert (service["read_only"], service["cap_drop"], bool(service["tmpfs"])) == (True, ["ALL"], True), name
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "proxy" else [])
        assert not any("PASSWORD" in key and not key.endswith("_FILE") for key in service.get("environment", {})), (
            name
        )
    assert set(services["proxy"]["networks"]).isdisjoint(services["db"]["networks"])
    assert whole["networks"]["back"]["internal"]
    images = [services[name]["image"] for name in ("db", "proxy")]
    assert all(re.fullmatch(r"\$\{[A-Z]+_IMAGE:-[^}]+\}", image) for image in images), "which .env may pin by digest"
    assert "ARG PYTHON_IMAGE" in (DEPLOY / "Dockerfile").read_text("utf-8")


def test_old_backups_go_only_after_a_new_one_was_made(services: dict[str, Any], tmp_path: Path) -> None:
    """The loop of the container, once, with a grater that fails and one that does not."""
    script = services["backup"]["command"][0].replace("$$", "$").replace("/backups", str(tmp_path))
    script = script.replace("/run/secrets/postgres_password", "/dev/null").replace("sleep 86400", "exit")
    old, programs = tmp_path / "old.backup", tmp_path / "bin"
    old.touch()
    os.utime(old, (0, 0))
    programs.mkdir()
    for status, is_kept in ((1, True), (0, False)):
        (programs / "grater").write_text(f"#!/bin/sh\nexit {status}\n")
        (programs / "grater").chmod(0o755)
        environment = {"PATH": f"{programs}:{os.environ['PATH']}"}
        subprocess.run(["sh", "-c", script], env=environment, check=True, capture_output=True)
        assert old.exists() == is_kept


@pytest.mark.parametrize("page", ["deploy", "team-postgresql"])
def test_pages_say_how_many_connections_a_process_opens(page: str) -> None:
    text = " ".join((DEPLOY.parent / "docs" / "howto" / f"{page}.md").read_text("utf-8").split())
    assert f"opens up to {POOL + GLANCING_POOL} connections" in text


def test_the_proxies_tell_where_people_come_from_and_leave_no_word_of_theirs() -> None:
    """A client's own X-Forwarded-For must be replaced, not continued: limits are counted by it."""
    assert "header_up X-Forwarded-For {remote_host}" in (DEPLOY / "Caddyfile").read_text("utf-8")
    assert "proxy_set_header X-Forwarded-For $remote_addr;" in (DEPLOY / "nginx.conf").read_text("utf-8")


def test_the_health_check_asks_a_page_that_is_open_to_anybody(services: dict[str, Any]) -> None:
    path = re.search(r"8000(/\w+)", services["app"]["healthcheck"]["test"][-1])
    assert path
    assert ROLES_OF[("GET", path[1])] == ANYBODY


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_of_systemd_name_options_that_exist(unit: Path) -> None:
    for command in re.findall(r"/opt/grater/bin/grater ([^'\n]+)", unit.read_text("utf-8")):
        require_known(shlex.split(command))


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    for unit in UNITS:
        text = unit.read_text("utf-8").replace("/opt/grater/bin/grater", "/bin/true")
        (tmp_path / unit.name.replace("@.", "@8001.")).write_text(text, "utf-8")
    files = sorted(str(path) for path in tmp_path.iterdir())
    done = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, check=False)
    complaints = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "grater" in line]
    assert complaints == []
