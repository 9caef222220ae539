"""A software bill of materials (CycloneDX 1.5, JSON) of grater, its models and training, and all that they need.

    python release/sbom.py [OUT.json]        or: make sbom

Names, versions, licences and who needs whom come from the metadata of the installed packages (`importlib.metadata`),
hashes from `constraints-hashes.txt` where a pin is the same version.  Equal environments give equal bytes: there is
no time in it, and the serial number is made from the contents.
"""

from __future__ import annotations

import json
import re
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement

FOLDER = Path(__file__).parent.parent
OURS = ("grater", "grater-models", "grater-train")
PIN = re.compile(r"(?P<name>[^=\s]+)==(?P<version>\S+)(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def needed_by(package: Distribution) -> list[str]:
    """The packages that one needs here, itself and its extras, as far as they are installed."""
    names = []
    for line in package.requires or ():
        wanted = Requirement(line)
        extras = ("", *wanted_extras(package))
        if wanted.marker is None or any(wanted.marker.evaluate({"extra": extra}) for extra in extras):
            names.append(canonical(wanted.name))
    return sorted({name for name in names if is_installed(name)})


def wanted_extras(package: Distribution) -> tuple[str, ...]:
    """The extras of grater itself, but for those who develop it."""
    if canonical(package.name) != "grater":
        return ()
    return tuple(extra for extra in package.metadata.get_all("Provides-Extra") or () if extra != "dev")


def is_installed(name: str) -> bool:
    try:
        distribution(name)
    except ModuleNotFoundError:
        return False
    return True


def reached() -> dict[str, Distribution]:
    """Our distributions that are installed, and whatever they need, directly or by others."""
    packages: dict[str, Distribution] = {}
    waiting = [name for name in OURS if is_installed(name)]
    while waiting:
        name = waiting.pop()
        if name not in packages:
            packages[name] = distribution(name)
            waiting += needed_by(packages[name])
    return dict(sorted(packages.items()))


def licence_of(package: Distribution) -> list[dict[str, Any]]:
    words = package.metadata.get("License-Expression")
    if words:
        return [{"expression": words}]
    name = (package.metadata.get("License") or "").strip().splitlines()
    classifiers = package.metadata.get_all("Classifier") or ()
    classified = [line.rpartition(" :: ")[2] for line in classifiers if line.startswith("License ::")]
    named = classified or [line for line in name[:1] if len(line) < 100]
    return [{"license": {"name": each}} for each in named]


def component(name: str, package: Distribution, hashes: dict[tuple[str, str], list[str]]) -> dict[str, Any]:
    reference = f"pkg:pypi/{name}@{package.version}"
    known = hashes.get((name, package.version), [])
    return {
        "type": "application" if name in OURS else "library",
        "bom-ref": reference,
        "name": name,
        "version": package.version,
        "purl": reference,
        **({"licenses": licence_of(package)} if licence_of(package) else {}),
        **({"hashes": [{"alg": "SHA-256", "content": each} for each in known]} if known else {}),
    }


def pinned_hashes(path: Path) -> dict[tuple[str, str], list[str]]:
    """By name and version: the hashes of the files for each machine."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return {
        (canonical(each["name"]), each["version"]): each["hashes"].split(" --hash=sha256:")[1:]
        for each in PIN.finditer(text)
    }


def bill(hashes: dict[tuple[str, str], list[str]]) -> dict[str, Any]:
    """The whole document."""
    packages = reached()
    components = {name: component(name, package, hashes) for name, package in packages.items()}
    reference = {name: each["bom-ref"] for name, each in components.items()}
    needs = [
        {"ref": reference[name], "dependsOn": [reference[other] for other in needed_by(package)]}
        for name, package in packages.items()
    ]
    itself = components.pop("grater")
    contents = {"metadata": {"component": itself}, "components": list(components.values()), "dependencies": needs}
    serial = uuid5(NAMESPACE_URL, json.dumps(contents, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.5", "serialNumber": f"urn:uuid:{serial}", "version": 1}
    return head | contents


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "dist" / "sbom.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    written = bill(pinned_hashes(FOLDER / "constraints-hashes.txt"))
    out.write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{out}: {len(written['components']) + 1} components")


if __name__ == "__main__":
    main()
