from __future__ import annotations

from grater import __version__
from grater.signature import Signature, digest


def test_a_signature_names_measure_version_and_options_in_a_fixed_order() -> None:
    signature = Signature("m2", {"ref": "ab12", "beta": "0.5"})
    assert str(signature) == f"m2|grater:{__version__}|beta:0.5|ref:ab12"


def test_a_digest_knows_where_each_part_ends() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
