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
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Literal

import pytest
from packaging.requirements import Requirement

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


@pytest.fixture(scope="module")
def core(installed: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels beside what grater cannot do without, linked from here, as pip would install them."""
    folder = tmp_path_factory.mktemp("core")
    waiting, seen = ["grater"], set[str]()
    while waiting:
        name = waiting.pop()
        for line in distribution(name).requires or () if name not in seen else ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name)
        seen.add(name)
    for name in seen - {"grater"}:
        for top in {file.parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
            (folder / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    for wheel, package in zip(installed, ("grater", "grater_models"), strict=True):
        (folder / package).symlink_to(wheel / package)
    return folder


def alone(core: Path, home: Path, *args: str, code: str = "main()") -> subprocess.CompletedProcess[str]:
    """A command where nothing else is installed."""
    begin = f"import sys; sys.path.insert(1, {str(core)!r}); from grater.cli import main, run; "
    command = [sys.executable, "-I", "-S", "-c", begin + code, *args]
    return subprocess.run(command, capture_output=True, text=True, cwd=home, check=False)


def test_every_command_has_its_help_where_no_extra_is_installed(core: Path, tmp_path: Path) -> None:
    code = """
from grater.cli import COMMANDS
failed = [path for path in COMMANDS if run([*path.split(), "--help"])]
sys.exit(f"no help: {failed}" if failed else 0)
"""
    done = alone(core, tmp_path, code=code)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Usage: grater") > 40


def test_the_commonest_jobs_need_no_extra(core: Path, tmp_path: Path) -> None:
    sentences = [
        f"S She is interested of music {n} .\nA 3 4|||R:PREP|||in|||REQUIRED|||-NONE-|||0\n" for n in range(6)
    ]
    (tmp_path / "ref.m2").write_text("\n".join(sentences), encoding="utf-8")
    lines = [f"She is interested {'in' if n % 2 else 'of'} music {n} .\n" for n in range(6)]
    (tmp_path / "ours.txt").write_text("".join(lines), encoding="utf-8")
    rows = [f"i{n},{rater},{'error' if n % 3 else 'ok'}\n" for n in range(12) for rater in ("Ann", "Bob")]
    (tmp_path / "judgments.csv").write_text("item,rater,label\n" + "".join(rows), encoding="utf-8")
    flags = [f"i{n},mine,{n % 2}\n" for n in range(12)]
    (tmp_path / "decisions.csv").write_text("item,system,flagged\n" + "".join(flags), encoding="utf-8")
    for words in (
        "check ours.txt --system prep-maxent",
        "score ref.m2 ours.txt --metric errant",
        "agree judgments.csv",
        "sample decisions.csv --system mine --n 6 --out sample.csv",
        "evaluate --decisions decisions.csv --judgments judgments.csv --sample sample.csv",
        "corpus stats ref.m2",
    ):
        done = alone(core, tmp_path, *words.split())
        assert done.returncode == 0, (words, done.stderr)
        assert done.stdout or done.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("study new study.db", "server"),
        ("serve study.db", "server"),
        ("report --decisions decisions.csv --judgments judgments.csv --out report", "report"),
        ("decide essay.txt --system context --out decisions.csv", "context"),
        ("decide essay.txt --system harper --out decisions.csv", "harper"),
        ("lab count essay.txt --engine spark --out counts", "spark"),
        ("corpus convert essay.txt essay.txt out.m2 --engine errant:en_core_web_sm", "errant"),
    ],
)
def test_a_missing_extra_is_one_line_that_can_be_pasted(core: Path, tmp_path: Path, words: str, extra: str) -> None:
    (tmp_path / "essay.txt").write_text("She is interested of music.\n", encoding="utf-8")
    (tmp_path / "decisions.csv").write_text("item,system,flagged\na,mine,1\nb,mine,0\n", encoding="utf-8")
    (tmp_path / "judgments.csv").write_text("item,rater,label\na,Ann,error\nb,Ann,ok\n", encoding="utf-8")
    done = alone(core, tmp_path, *words.split())
    assert done.returncode == 2, done.stdout
    assert done.stderr.count("\n") == 1, done.stderr
    assert f"pip install 'grater[{extra}]'" in done.stderr


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
