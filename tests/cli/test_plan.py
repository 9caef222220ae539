import json

import pytest
from typer.testing import CliRunner, Result

from grater.cli.plan import app
from grater.errors import GraterError


def run(*args: object) -> Result:
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    if result.exception:
        raise result.exception
    return result


def test_four_ways_stand_side_by_side_in_eighty_columns() -> None:
    shown = run("--recall", 0.5, "--wage", 20, "--raters", 2).stdout
    for text in ("exhaustive", "verification", "sampling", "ours", "recall 0.50"):
        assert text in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_the_eighty_hours_of_the_paper() -> None:
    # T&C 2008, section 6: 1,000 errors at 10 %, 500 items in 4 hours
    value = json.loads(run("--missed", 0.02 / 0.9, "--errors", 1000, "--json").stdout)
    assert value["plans"][0]["items"] == 10_000
    assert value["plans"][0]["hours"] == pytest.approx(80)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "expected one of --missed RATE and --recall R"),
        (["--missed", "0.1", "--recall", "0.5"], "expected one of"),
        (["--recall", "0"], "expected --recall between 0 and 1"),
        (["--recall", "0.5", "--flagged", "1"], "expected --flagged between 0 and 1"),
        (["--recall", "0.5", "--width", "0"], "expected --width between 0 and 1"),
        (["--recall", "0.01"], "expected --missed between 0 and 1"),
        (["--recall", "0.5", "--items-per-hour", "0"], "above 0"),
    ],
)
def test_wrong_use_is_answered_in_one_line(args: list[str], message: str) -> None:
    with pytest.raises(GraterError, match=message):
        run(*args)
