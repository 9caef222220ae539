from __future__ import annotations

import pytest

from grater import __version__
from grater.errors import UsageError
from grater.signature import Signature, digest, require_same


def test_a_signature_names_measure_version_and_options_in_a_fixed_order() -> None:
    signature = Signature("m2", {"ref": "ab12", "beta": "0.5"})
    assert str(signature) == f"m2|grater:{__version__}|beta:0.5|ref:ab12"


def test_numbers_made_in_the_same_way_may_be_compared() -> None:
    require_same(Signature("m2", {"beta": "0.5"}), Signature("m2", {"beta": "0.5"}))


def test_numbers_with_other_options_may_not_and_the_difference_is_named() -> None:
    with pytest.raises(UsageError, match=r"beta is 0\.5 in one and 1 in the other"):
        require_same(Signature("m2", {"beta": "0.5"}), Signature("m2", {"beta": "1"}))


def test_different_measures_may_not_be_compared() -> None:
    with pytest.raises(UsageError, match="cannot compare m2 with gleu"):
        require_same(Signature("m2"), Signature("gleu"))


def test_a_digest_knows_where_each_part_ends() -> None:
    assert digest(["ab", "c"]) != digest(["a", "bc"])
