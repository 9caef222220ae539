"""QR codes for authenticators: the same modules as another program draws, and a reader reads what was written."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import pytest

from grater.annotate.web.account import qr
from tests.annotate.web.studies import PASSWORD, Study

MADE_BY_OTHERS = [
    ("A", 0, "d555ce17b805c385"),
    ("People wait at a bus stop.", 1, "d50277dac98e552f"),
    ("otpauth://totp/grater:Ann?secret=ABCDEFGHIJKLMNOP&issuer=grater", 2, "443a9f5e8d17e6ec"),
    ("é" * 53, 3, "cead018124aaf298"),
    ("x" * 122, 4, "4703370c99f6b24b"),
    ("grater " * 20, 5, "888e3ff6468f4396"),
    ("x" * 180, 6, "b82d15115f216397"),
    ("0123456789" * 21, 7, "85b2b45ce68de611"),
    ("x" * 214, 0, "3955bc68f9b3f815"),
    ("y" * 412, 5, "b2a0ccd2ca91f5cd"),
]
"""Text, mask, and the hash of the modules that python-qrcode 8.2 draws (byte mode, level M): versions 1, 2, 5 to 11
and 15, with one block and several, of one length and of two, with and without padding and version information."""


def drawn(rows: qr.Matrix) -> str:
    return "\n".join("".join(".#"[module] for module in row) for row in rows)


@pytest.mark.parametrize(("text", "mask", "expected"), MADE_BY_OTHERS)
def test_modules_are_those_that_another_program_draws(text: str, mask: int, expected: str) -> None:
    assert hashlib.sha256(drawn(qr.matrix(text, mask=mask)).encode()).hexdigest()[:16] == expected


def test_what_is_too_long_is_refused_and_what_just_fits_is_not() -> None:
    assert len(qr.matrix("x" * 412, mask=0)) == 77
    with pytest.raises(ValueError, match="at most 412 bytes"):
        qr.matrix("x" * 413)


@pytest.mark.skipif(shutil.which("zbarimg") is None, reason="no reader of QR codes here: install Debian's zbar-tools")
@pytest.mark.parametrize("text", ["A", "otpauth://totp/grater:Ann%20Lee?secret=ABCDEFGH&issuer=grater", "x" * 412])
def test_a_reader_reads_what_was_written(text: str, tmp_path: Path) -> None:
    rows = qr.matrix(text)
    size, scale = len(rows) + 2 * qr.BORDER, 4
    wide = [[0] * size] * qr.BORDER
    bordered = [*wide, *([0] * qr.BORDER + [int(each) for each in row] + [0] * qr.BORDER for row in rows), *wide]
    lines = [" ".join(str(each) for each in row for _ in range(scale)) for row in bordered for _ in range(scale)]
    picture = tmp_path / "code.pbm"
    picture.write_text(f"P1\n{size * scale} {size * scale}\n" + "\n".join(lines) + "\n")
    read = subprocess.run(["zbarimg", "--quiet", "--raw", picture], capture_output=True, text=True, check=True)
    assert read.stdout.rstrip("\n") == text


def test_the_page_shows_the_code_and_the_key_as_text(bare: Study) -> None:
    owner = bare.browser("owner")
    owner.get("/me/second-factor")
    page = owner.post("/me/second-factor", {"password": PASSWORD}).text
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="qr"') == 1
    assert "otpauth://totp/grater:Owner?secret=" in page
