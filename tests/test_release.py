"""Releases that people can trust: pins with hashes, a bill of materials, a wheel that works where nothing else is."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import Any, Literal

import pytest

from grater.models import PACKAGED

FOLDER = Path(__file__).parent.parent
LINE = re.compile(r"(?P<name>[a-z0-9._-]+)==(?P<version>[^ ]+)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


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
    (numpy,) = (each["hashes"] for each in matches if each and each["name"] == "numpy")
    assert numpy.count("sha256") == 2, "one for x86-64 and one for ARM"


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
    contents = [each["content"] for each in components["numpy"]["hashes"]]
    assert contents == hashes["numpy", components["numpy"]["version"]]
    assert sbom["bill"](hashes) == bill


def test_our_distributions_have_one_version() -> None:
    versions = re.compile(r'^(?:__version__|version) = "(.+)"$', re.MULTILINE)
    files = ("src/grater/__init__.py", "models/pyproject.toml", "training/src/grater_train/__init__.py")
    assert len({versions.findall((FOLDER / file).read_text("utf-8"))[0] for file in files}) == 1


def test_no_extra_pulls_what_is_not_published_or_is_for_few() -> None:
    extras = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert not any(line.startswith(("grater-models", "grater-train")) for lines in extras.values() for line in lines)
    assert not re.search(r"\b(spark|train)\b", extras["all"][0])


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheels of grater and of its models, each unpacked into a folder of its own."""
    home = tmp_path_factory.mktemp("wheels")
    folders = (home / "grater", home / "models")
    for project, folder in zip((FOLDER, FOLDER / "models"), folders, strict=True):
        wheel = build(project, home / f"{folder.name}-wheel")
        placed = pip(sys.executable, "install", "--no-deps", "--no-compile", "--target", str(folder), str(wheel))
        assert placed.returncode == 0, placed.stderr
        wheel.rename(folder / "built.whl")
    return folders


def test_the_wheel_is_small_and_the_models_are_another(installed: tuple[Path, Path]) -> None:
    grater, models = (folder / "built.whl" for folder in installed)
    assert grater.stat().st_size <= 3_500_000
    assert models_in(grater) == ["tagger", "words"]
    assert models_in(models) == sorted(PACKAGED)
    assert not any("grater_train" in name for name in zipfile.ZipFile(grater).namelist())


def test_a_detector_without_its_model_says_what_to_install(installed: tuple[Path, Path], tmp_path: Path) -> None:
    grater, models = installed
    alone = check(tmp_path, grater)
    assert (alone.returncode, alone.stdout) == (2, "")
    assert alone.stderr == "the model of prep-maxent is not installed: pip install grater-models\n"
    both = check(tmp_path, grater, models)
    assert both.returncode == 0, both.stderr
    assert "interested in" in both.stdout


def check(home: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    """`grater check` of what is installed in some folders."""
    code = f"import grater.cli as cli; assert cli.__file__.startswith({str(path[0])!r}); cli.main()"
    return subprocess.run(
        [sys.executable, "-c", code, "check", "-", "--system", "prep-maxent"],
        input="She is interested of music.",
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))},
        capture_output=True,
        text=True,
        cwd=home,
        check=False,
    )


def test_the_source_distribution_has_what_its_own_tests_need_and_no_model(tmp_path: Path) -> None:
    source = build(FOLDER, tmp_path, "sdist")
    with tarfile.open(source) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert source.stat().st_size <= 10_000_000
    assert {"mkdocs.yml", "constraints-hashes.txt", "release/hashes.py", "models/pyproject.toml", "LICENSE"} <= names
    assert {"tests/test_release.py", "docs/index.md", ".ci/run", "deploy/Dockerfile", "benchmarks/page.md"} <= names
    assert sorted(Path(name).stem for name in names if name.endswith(".model")) == ["tagger", "words"]


def models_in(wheel: Path) -> list[str]:
    return sorted(Path(name).stem for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".model"))


def build(project: Path, out: Path, kind: Literal["wheel", "sdist"] = "wheel") -> Path:
    """A distribution of ours, built without a network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(out)]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = out.iterdir()
    return built


@pytest.mark.slow
def test_a_built_wheel_works_in_an_environment_of_its_own(tmp_path: Path) -> None:
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean" / "bin" / "python"
    wheels = [build(FOLDER, tmp_path / "grater"), build(FOLDER / "models", tmp_path / "models")]
    placed = pip(str(python), "install", "-c", str(FOLDER / "constraints.txt"), *map(str, wheels))
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
