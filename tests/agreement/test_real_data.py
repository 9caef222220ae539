from pathlib import Path

import pytest

from tests.agreement.real_tables import DATA, DataSet, row

PAGE = Path(__file__).parents[2] / "docs" / "agreement.md"


@pytest.mark.data
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.name)
def test_page_has_the_numbers_that_come_out(data: DataSet) -> None:
    data.file()  # skips where the data is missing
    assert row(data) in PAGE.read_text(encoding="utf-8")
