"""Releases that people can trust: pins with hashes, a bill of materials, a wheel that works where nothing else is."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent
LINE = re.compile(r"(?P<name>[a-z0-9._-]+)==(?P<version>[^ ]+) --hash=sha256:[0-9a-f]{64}")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> dict[str, str]:
    lines = (FOLDER / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if "==" in line]
    return {canonical(name): version for name, version in pairs}


def test_every_pin_has_its_hash_and_the_file_names_no_address() -> None:
    first, *lines = (FOLDER / "constraints-hashes.txt").read_text(encoding="utf-8").splitlines()
    assert first.startswith("# Made by release/hashes.py from constraints.txt, for Python 3.")
    matches = [LINE.fullmatch(line) for line in lines]
    assert None not in matches
    assert {canonical(each["name"]): each["version"] for each in matches if each} == pins(), "run: make hashes"


@pytest.fixture(scope="module")
def sbom() -> dict[str, Any]:
    return runpy.run_path(str(FOLDER / "release" / "sbom.py"))


def test_the_bill_of_materials_names_every_package_with_its_hash_and_who_needs_it(sbom: dict[str, Any]) -> None:
    hashes = sbom["pinned_hashes"](FOLDER / "constraints-hashes.txt")
    bill = sbom["bill"](hashes)
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")
    components = {each["name"]: each for each in bill["components"]}
    assert {"numpy", "scipy", "polars", "typer", "rich", "fastapi", "sqlalchemy"} <= set(components)
    assert "pytest" not in components
    references = {each["bom-ref"] for each in components.values()} | {bill["metadata"]["component"]["bom-ref"]}
    assert {each["ref"] for each in bill["dependencies"]} == references
    assert {other for each in bill["dependencies"] for other in each["dependsOn"]} <= references
    assert components["numpy"]["hashes"][0]["content"] == hashes["numpy", components["numpy"]["version"]]
    assert sbom["bill"](hashes) == bill


@pytest.mark.slow
def test_a_built_wheel_works_in_an_environment_of_its_own(tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    built = pip(sys.executable, "wheel", "--no-deps", "--wheel-dir", str(tmp_path), str(FOLDER))
    if built.returncode:
        pytest.skip(f"the wheel was not built, perhaps without a network: {built.stderr.splitlines()[-1:]}")
    (wheel,) = tmp_path.glob("grater-*.whl")
    placed = pip(str(python), "install", "-c", str(FOLDER / "constraints.txt"), str(wheel))
    if placed.returncode:
        pytest.skip(f"nothing could be installed, perhaps without a network: {placed.stderr.splitlines()[-1:]}")
    command = tmp_path / "clean" / "bin" / "grater"
    text = "She is interested of music."
    done = subprocess.run(
        [command, "check", "-"], input=text, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "in" in done.stdout
    assert subprocess.run([command, "--version"], capture_output=True, cwd=tmp_path, check=False).returncode == 0


def pip(python: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "--disable-pip-version-check", "--quiet", *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)
