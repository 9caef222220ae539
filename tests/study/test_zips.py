"""An archive comes back from a zip, and a zip that is none harms nothing."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import pytest

from grater.errors import BadInput
from grater.store import Store
from grater.study import zips
from grater.study.archive import import_archive
from grater.study.export import export
from grater.study.importing import import_files
from grater.study.zips import unpacked
from tests.study.files import write_essays
from tests.study.test_export import contents


def zip_of(folder: Path, archive: Path, *, under: str = "") -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in contents(folder).items():
            packed.writestr(f"{under}{name}", data)
    return archive


@pytest.mark.parametrize("under", ["", "results/"])
def test_a_zip_of_an_export_makes_the_study_again(store: Store, tmp_path: Path, under: str) -> None:
    import_files(store, corpora=[write_essays(tmp_path)])
    export(store, tmp_path / "out")
    packed = zip_of(tmp_path / "out", tmp_path / "out.zip", under=under)
    with import_archive(packed, tmp_path / "copy.db") as copy:
        export(copy, tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt", "a\\outside.txt", "c:outside.txt"])
def test_a_member_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(zipfile.ZipInfo(name), "x")
    with pytest.raises(BadInput, match="leads out of the archive"), unpacked(tmp_path / "x.zip"):
        pass
    assert not (tmp_path / "outside.txt").exists()


def test_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("manifest.json")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(link, "/etc/hostname")
    with pytest.raises(BadInput, match="a link"), unpacked(tmp_path / "x.zip"):
        pass


def test_a_zip_that_grows_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "SMALL", 1000)
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("zeros.txt", bytes(1_000_000))  # a thousand times its packed size
    with pytest.raises(BadInput, match="grows to more than 100 times"), unpacked(tmp_path / "x.zip"):
        pass


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04 cut"])
def test_what_is_no_zip_is_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(BadInput, match="cannot be unpacked"), unpacked(tmp_path / "x.zip"):
        pass
